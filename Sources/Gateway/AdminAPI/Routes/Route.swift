// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird

/// A route: its path, the required access, its documentation, and its handler.
///
/// The router and the OpenAPI document are made from the same table of routes, so that they cannot
/// differ.
struct Route: Sendable {
    typealias Handler =
        @Sendable (_ request: Request, _ context: AdminRequestContext) async throws -> Response

    /// Answers a request whose body is complete. It runs on the event loop, which it must not keep
    /// waiting, and calls `receive` once, on any thread, with a function that makes the answer on
    /// the event loop.
    typealias DirectHandler =
        @Sendable (
            _ body: [UInt8], _ headers: HTTPFields, _ context: AdminRequestContext,
            _ receive: @escaping @Sendable (@escaping DirectAnswer) -> Void
        ) throws(Problem) -> Void

    /// Makes an answer, or throws what is refused.
    typealias DirectAnswer = @Sendable () throws -> BufferedResponse

    /// The access that a route requires.
    enum Access: Hashable, Sendable {
        /// No key.
        case open
        /// A key with this scope.
        case scope(Scope)
    }

    let method: HTTPRequest.Method
    /// The path with its parameters in braces, the notation of both OpenAPI and the router.
    let path: String
    let access: Access
    let operation: Operation
    let handler: Handler
    /// The handler of plain requests, without a task for each; `nil` for all but the busiest.
    var direct: DirectHandler?

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

    /// All problems with which the route can answer: its own, and those of authentication and
    /// bodies.
    var problems: Set<ProblemCode> {
        var codes = Set(operation.problems)
        // Unknown query parameters are invalid fields of any route.
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

    /// Whether a path matches this route.
    func matches(_ segments: [Substring]) -> Bool {
        let pattern = path.split(separator: "/")
        return pattern.count == segments.count
            && zip(pattern, segments).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
    }
}

/// The documentation of a route in the OpenAPI document.
struct Operation: Sendable {
    /// A parameter in the path, the query or a header.
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
        /// The maximum number of bytes.
        let limit: Int

        static func json(_ schema: Schema, limit: Int, isRequired: Bool = true) -> Body {
            Body(contents: [(JSONValue.mediaType, schema)], isRequired: isRequired, limit: limit)
        }
    }

    /// A successful answer.
    struct Answer: Sendable {
        let status: Int
        let description: String
        let mediaType: String
        /// `nil` for an answer without a body.
        let schema: Schema?
        /// The operations that can follow.
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

    /// An operation that uses a value of an answer, as a parameter or as a member of its body.
    struct Link: Sendable {
        let operationID: String
        /// The parameter; `nil` if the value is a member of the body.
        var parameter: String?
        /// The member of the body; `nil` if the value is a parameter.
        var member: String?
        /// A JSON pointer to the value in the answer.
        let pointer: String

        /// Links to `getWake`, `cancelWake` and the receipt of the wake whose id is at `pointer`.
        static func toWake(at pointer: String) -> [Link] {
            [
                Link(operationID: "getWake", parameter: "id", pointer: pointer),
                Link(operationID: "cancelWake", parameter: "id", pointer: pointer),
                Link(operationID: "confirmLaunches", member: "id", pointer: pointer),
            ]
        }
    }

    /// The operation id, which names the operation in generated clients.
    let id: String
    let summary: String
    var description = ""
    var parameters: [Parameter] = []
    var body: Body?
    var answers: [Answer]
    /// The problems of this operation, without those of every route.
    var problems: [ProblemCode] = []
}
