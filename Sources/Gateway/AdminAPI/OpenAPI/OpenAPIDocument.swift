// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization
import WakeModel

/// Writes the OpenAPI 3.1 document from the table of routes.
struct OpenAPIDocument {
    let routes: [Route]

    /// The document.
    var json: JSONValue {
        .object([
            ("openapi", .string("3.1.0")),
            ("info", info),
            (
                "servers",
                .array([
                    .object([
                        ("url", .string("/")),
                        ("description", .string("The gateway that this document is from.")),
                    ])
                ])
            ),
            ("tags", .array(OperationTag.allCases.map(\.json))),
            ("paths", .object(paths)),
            ("webhooks", .object([("events", .object([("post", webhook)]))])),
            (
                "components",
                .object([
                    (
                        "schemas",
                        .object(Component.allCases.map { ($0.rawValue, $0.schema.json) })
                    ),
                    ("securitySchemes", securitySchemes),
                ])
            ),
        ])
    }

    private var info: JSONValue {
        let codes = ProblemCode.allCases.map { code in
            "- `\(code.rawValue)` (\(code.status)): \(code.meaning)"
        }
        return .object([
            ("title", .string("Rouse")),
            ("version", .string(RouseVersion.current)),
            (
                "description",
                .string(
                    "Wakes iOS apps: silent and VoIP pushes over APNs.\n\nEvery error is a problem "
                        + "document (RFC 9457) with a stable `code`:\n\n"
                        + codes.joined(separator: "\n"))
            ),
            (
                "license",
                .object([("name", .string("Apache-2.0")), ("identifier", .string("Apache-2.0"))])
            ),
        ])
    }

    private var securitySchemes: JSONValue {
        .object([
            (
                "key",
                .object([
                    ("type", .string("http")), ("scheme", .string("bearer")),
                    (
                        "description",
                        .string(
                            "An API key, made by `rouse keys create`. Scopes: "
                                + Scope.allCases.map(\.rawValue).joined(separator: ", ")
                                + "; admin includes the others.")
                    ),
                ])
            )
        ])
    }

    /// Operations by path, in the order of the table.
    private var paths: [(String, JSONValue?)] {
        var order: [String] = []
        var operations: [String: [(String, JSONValue?)]] = [:]
        for route in routes {
            if operations[route.path] == nil { order.append(route.path) }
            operations[route.path, default: []].append(
                (route.method.rawValue.lowercased(), operation(route)))
        }
        return order.map { ($0, .object(operations[$0] ?? [])) }
    }

    private func operation(_ route: Route) -> JSONValue {
        let operation = route.operation
        var description = operation.description
        var security: [JSONValue] = []
        if case .scope(let scope) = route.access {
            description += (description.isEmpty ? "" : "\n\n") + "Scope: `\(scope.rawValue)`."
            security = [.object([("key", .array([]))])]
        }
        return .object([
            ("operationId", .string(operation.id)),
            ("tags", .array([.string(OperationTag(path: route.path).rawValue)])),
            ("summary", .string(operation.summary)),
            ("description", description.isEmpty ? nil : .string(description)),
            (
                "parameters",
                operation.parameters.isEmpty
                    ? nil : .array(operation.parameters.map(parameter))
            ),
            ("requestBody", operation.body.map { body($0, example: bodyExamples[operation.id]) }),
            ("responses", .object(responses(route))),
            ("security", .array(security)),
        ])
    }

    private func parameter(_ parameter: Operation.Parameter) -> JSONValue {
        .object([
            ("name", .string(parameter.name)),
            ("in", .string(parameter.place.rawValue)),
            ("required", .boolean(parameter.place == .path || parameter.isRequired)),
            ("description", .string(parameter.description)),
            ("schema", parameter.schema.json),
        ])
    }

    private func body(_ body: Operation.Body, example: String?) -> JSONValue {
        .object([
            ("required", .boolean(body.isRequired)),
            ("description", .string("Up to \(body.limit) bytes.")),
            (
                "content",
                .object(
                    body.contents.map { content in
                        let example = content.mediaType == JSONValue.mediaType ? example : nil
                        return (content.mediaType, self.content(content.schema, example: example))
                    })
            ),
        ])
    }

    private func content(_ schema: Schema, example: String? = nil) -> JSONValue {
        .object([
            ("schema", schema.json), ("example", example.map { .raw(Array($0.utf8)) }),
        ])
    }

    /// The request that the gateway posts to configured webhook endpoints.
    private var webhook: JSONValue {
        func header(_ name: String, _ schema: Schema, _ description: String) -> JSONValue {
            .object([
                ("name", .string(name)), ("in", .string("header")), ("required", .boolean(true)),
                ("description", .string(description)), ("schema", schema.json),
            ])
        }
        func answer(_ description: String) -> JSONValue {
            .object([("description", .string(description))])
        }
        return .object([
            ("operationId", .string("receiveEvents")),
            ("tags", .array([.string(OperationTag.events.rawValue)])),
            ("summary", .string("Outcomes, dead tokens and held apps, as they come about")),
            (
                "description",
                .string(
                    "Signed as Standard Webhooks 1.0 say. An event can come twice: tell events "
                        + "apart by their `id`.")
            ),
            (
                "parameters",
                .array([
                    header("webhook-id", .string(), "Stands for one set of events."),
                    header(
                        "webhook-timestamp", .string(pattern: "^[0-9]+$"),
                        "When it was signed, in seconds since 1970."),
                    header(
                        "webhook-signature", .string(),
                        "One signature, or several with spaces between them, each `v1,` and "
                            + "HMAC-SHA256 in Base64."),
                ])
            ),
            (
                "requestBody",
                .object([
                    ("required", .boolean(true)),
                    (
                        "content",
                        .object([(JSONValue.mediaType, content(.named(.webhookMessage)))])
                    ),
                ])
            ),
            (
                "responses",
                .object([
                    ("2XX", answer("All events were taken.")),
                    ("400", answer("It will never be taken; the others of its message may be.")),
                    ("default", answer("It is sent again, for three days.")),
                ])
            ),
        ])
    }

    /// Responses by status. Problems with the same status share an entry that lists their codes.
    private func responses(_ route: Route) -> [(String, JSONValue?)] {
        var entries: [(Int, JSONValue)] = route.operation.answers.map { answer in
            (
                answer.status,
                .object([
                    ("description", .string(answer.description)),
                    (
                        "content",
                        answer.schema.map { .object([(answer.mediaType, content($0))]) }
                    ),
                    ("links", answer.links.isEmpty ? nil : .object(answer.links.map(link))),
                ])
            )
        }
        let byStatus = Dictionary(grouping: route.problems, by: \.status)
        for (status, codes) in byStatus where !entries.contains(where: { $0.0 == status }) {
            entries.append((status, problems(codes.sorted { $0.rawValue < $1.rawValue })))
        }
        return entries.sorted { $0.0 < $1.0 }.map { ("\($0.0)", $0.1) }
    }

    private func link(_ link: Operation.Link) -> (String, JSONValue?) {
        let value = JSONValue.string("$response.body#\(link.pointer)")
        return (
            link.operationID,
            .object([
                ("operationId", .string(link.operationID)),
                ("parameters", link.parameter.map { .object([($0, value)]) }),
                ("requestBody", link.member.map { .object([($0, value)]) }),
            ])
        )
    }

    private func problems(_ codes: [ProblemCode]) -> JSONValue {
        var headers: [(String, JSONValue?)] = []
        func header(_ name: String, _ description: String, _ schema: Schema, if holds: Bool) {
            guard holds else { return }
            headers.append(
                (
                    name,
                    .object([
                        ("description", .string(description)), ("schema", schema.json),
                    ])
                ))
        }
        header(
            "Retry-After", "Seconds to wait.", .count(),
            if: codes.contains { [.overloaded, .rateLimited, .unavailable].contains($0) })
        header(
            "WWW-Authenticate", "How to authenticate.", .string(),
            if: codes.contains { [.unauthorized, .forbidden].contains($0) })
        return .object([
            (
                "description",
                .string(
                    codes.map { "`\($0.rawValue)`: \($0.meaning) \($0.remedy)" }
                        .joined(separator: "\n\n"))
            ),
            ("headers", headers.isEmpty ? nil : .object(headers)),
            (
                "content",
                .object([(Problem.mediaType, content(.named(.problem)))])
            ),
        ])
    }
}

/// `GET /openapi.json`: the OpenAPI document.
struct OpenAPIRoute {
    /// All other routes.
    let documented: [Route]

    var route: Route {
        let bare = Route(.get, "/openapi.json", .open, operation) { _, _ in
            throw Problem(.internalError, "This route exists for its documentation.")
        }
        let document = WrittenOnce { OpenAPIDocument(routes: documented + [bare]).json.bytes }
        return Route(.get, "/openapi.json", .open, operation) { _, _ in
            Response(
                status: .ok, headers: [.contentType: JSONValue.mediaType],
                body: ResponseBody(byteBuffer: document.bytes))
        }
    }

    /// The document, about 300 KB. It is written on the first request, so that it does not delay
    /// the start. All answers share it: copies would add up for a caller that asks often and does
    /// not read.
    private final class WrittenOnce: Sendable {
        private let written = Mutex<ByteBuffer?>(nil)
        private let write: @Sendable () -> [UInt8]

        init(_ write: @escaping @Sendable () -> [UInt8]) { self.write = write }

        var bytes: ByteBuffer {
            written.withLock { written in
                let bytes = written ?? ByteBuffer(bytes: write())
                written = bytes
                return bytes
            }
        }
    }

    private var operation: Operation {
        Operation(
            id: "getOpenAPI", summary: "This document",
            answers: [Operation.Answer(200, "OpenAPI 3.1.", .anyObject())])
    }
}
