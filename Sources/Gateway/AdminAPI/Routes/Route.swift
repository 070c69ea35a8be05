// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird

/// One route: what is served, who may ask, what is documented of it, and what answers.
///
/// The routes are the one table that the server serves by and that the OpenAPI document is made
/// from, so that neither can say what the other does not.
struct Route: Sendable {
    typealias Handler =
        @Sendable (_ request: Request, _ context: AdminRequestContext) async throws -> Response

    /// Who may ask.
    enum Access: Hashable, Sendable {
        /// Everybody who reaches the listener.
        case open
        /// A key with this scope.
        case scope(Scope)
    }

    let method: HTTPRequest.Method
    /// The path with its parameters in braces, as OpenAPI and the router both write it.
    let path: String
    let access: Access
    let operation: Operation
    let handler: Handler

    init(
        _ method: HTTPRequest.Method, _ path: String, _ access: Access, _ operation: Operation,
        _ handler: @escaping Handler
    ) {
        self.method = method
        self.path = path
        self.access = access
        self.operation = operation
        self.handler = handler
    }

    /// Every problem that the route can answer with: its own, and what comes with a key or a body.
    var problems: Set<ProblemCode> {
        var codes = Set(operation.problems)
        // A query parameter that the route does not define is an invalid field of any route.
        codes.formUnion([
            .malformedRequest, .invalidField, .requestTimeout, .headersTooLarge, .internalError,
            .foreignOrigin, .unavailable,
        ])
        if access != .open { codes.formUnion([.unauthorized, .forbidden, .rateLimited]) }
        if operation.body != nil {
            codes.formUnion([.malformedBody, .bodyTooLarge, .unsupportedMediaType])
        }
        return codes
    }

    /// Whether a path is one of this route's.
    func matches(_ segments: [Substring]) -> Bool {
        let pattern = path.split(separator: "/")
        return pattern.count == segments.count
            && zip(pattern, segments).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
    }
}

/// What the OpenAPI document says of a route.
struct Operation: Sendable {
    /// A parameter of path, query or header.
    struct Parameter: Sendable {
        enum Place: String, Sendable {
            case path
            case query
            case header
        }

        let name: String
        let place: Place
        let schema: Schema
        let description: String
        var isRequired = false
    }

    /// The body of a request.
    struct Body: Sendable {
        /// By media type.
        let contents: [(mediaType: String, schema: Schema)]
        let isRequired: Bool
        /// The most bytes.
        let limit: Int

        static func json(_ schema: Schema, limit: Int, isRequired: Bool = true) -> Body {
            Body(contents: [(JSONValue.mediaType, schema)], isRequired: isRequired, limit: limit)
        }
    }

    /// An answer that is not a problem.
    struct Answer: Sendable {
        let status: Int
        let description: String
        let mediaType: String
        /// `nil` for an answer without a body.
        let schema: Schema?
        /// What can be asked next.
        let links: [Link]

        init(
            _ status: Int, _ description: String, _ schema: Schema?,
            mediaType: String = JSONValue.mediaType, links: [Link] = []
        ) {
            self.links = links
            self.status = status
            self.description = description
            self.schema = schema
            self.mediaType = mediaType
        }
    }

    /// An operation that takes a value out of an answer: a parameter, or a member of its body.
    struct Link: Sendable {
        let operationID: String
        /// The parameter; `nil` where the value goes into the body.
        var parameter: String?
        /// The member of the body.
        var member: String?
        /// A JSON pointer into the answer.
        let pointer: String

        /// `getWake`, `cancelWake` and a receipt, for the wake whose id is at `pointer`.
        static func toWake(at pointer: String) -> [Link] {
            [
                Link(operationID: "getWake", parameter: "id", pointer: pointer),
                Link(operationID: "cancelWake", parameter: "id", pointer: pointer),
                Link(operationID: "confirmLaunches", member: "id", pointer: pointer),
            ]
        }
    }

    /// The operation's name for generated clients.
    let id: String
    let summary: String
    var description = ""
    var parameters: [Parameter] = []
    var body: Body?
    var answers: [Answer]
    /// Its own problems, besides those of every route like it.
    var problems: [ProblemCode] = []
}
