// SPDX-License-Identifier: Apache-2.0

import Gateway
import HTTPTypes
import Hummingbird
import PayloadRules
import StrictJSON
import WakeModel

/// `POST /v1/validate`: validates a push. Nothing is sent or stored.
struct ValidateRoutes {
    /// The maximum number of header fields in a draft.
    static let maximumHeaderCount = JSONMembers.maximumCount

    let services: Services

    var routes: [Route] {
        let limit = services.configuration.bodyByteCount
        return [
            Route(
                .post, "/v1/validate", .scope(.wake),
                Operation(
                    id: "validate", summary: "Check a push of any type against Apple's rules",
                    description: "Finds what `rouse validate` finds. Nothing is sent or kept.",
                    body: .json(.named(.validationRequest), limit: limit),
                    answers: [
                        Operation.Answer(200, "The findings.", .named(.validationReport))
                    ])
            ) { request, context in
                let (text, _) = try await request.readBody(limit: limit, context)
                let draft = try Self.draft(text, now: services.gateway.now)
                return Self.json(PushValidator().report(on: draft)).response(status: .ok)
            }
        ]
    }

    /// Parses a request. Throws ``Problem`` with `malformed-body` and `invalid-field`.
    static func draft(_ text: [UInt8], now: WallInstant) throws(Problem) -> PushDraft {
        let members = try Members(parsing: text)
        do throws(InvalidField) {
            try members.check(names: [
                "payload", "payload_text", "headers", "headers_are_complete", "target",
            ])
            var draft = PushDraft(
                payload: try payload(members), headers: try headers(members), now: now)
            draft.headersAreComplete = try members.boolean("headers_are_complete") ?? false
            let target: Target? = try members.choice("target")
            draft.target = target == .watchOS ? .watchOS : .phone
            return draft
        } catch {
            throw Problem(error)
        }
    }

    private enum Target: String, CaseIterable {
        case phone
        case watchOS = "watchos"
    }

    private static func payload(_ members: Members) throws(InvalidField) -> [UInt8] {
        if let text = try members.string("payload_text") {
            guard !members.has("payload") else {
                throw InvalidField(
                    field: "payload_text", problem: "is given together with payload",
                    remedy: "Give one of the two.")
            }
            return Array(text.utf8)
        }
        guard let payload = members.raw("payload") else {
            throw InvalidField(
                field: "payload", problem: "is missing",
                remedy: "Add it to the body, or give it as text in payload_text.")
        }
        return Array(payload)
    }

    private static func headers(_ members: Members) throws(InvalidField) -> [PushDraft.Header] {
        guard let value = members.raw("headers") else { return [] }
        let fields: JSONMembers
        do throws(JSONFault) {
            fields = try JSONMembers(Array(value))
        } catch {
            throw InvalidField(
                field: "headers", problem: "is not an object of up to \(maximumHeaderCount) texts",
                remedy: "Write it as {\"apns-push-type\": \"background\"}.")
        }
        var headers: [PushDraft.Header] = []
        for (name, value) in fields.members {
            guard let text = JSONText.decode(value) else {
                throw InvalidField(
                    field: "headers", problem: "has a value that is not a JSON string",
                    remedy: "Put every value into quotes, numbers too.")
            }
            headers.append(PushDraft.Header(name, text))
        }
        return headers
    }

    private static func json(_ report: PushReport) -> JSONValue {
        func count(_ severity: Severity) -> JSONValue {
            .integer(Int64(report.diagnostics.count { $0.severity == severity }))
        }
        return .object([
            ("valid", .boolean(!report.diagnostics.contains { $0.severity == .error })),
            ("push_type", .string(report.pushType)),
            ("push_type_is_inferred", .boolean(report.pushTypeIsInferred)),
            ("diagnostics", .array(report.diagnostics.map(\.json))),
            (
                "summary",
                .object([
                    ("errors", count(.error)), ("warnings", count(.warning)),
                    ("notes", count(.note)),
                ])
            ),
        ])
    }
}

extension ValidateRoutes {
    /// The schema of a request in the OpenAPI document.
    static var requestSchema: Schema {
        .object(
            [
                .optional(
                    "payload",
                    .meant(
                        .anyObject(),
                        "The payload; it is judged byte for byte, a wrong one too.")),
                .optional("payload_text", .string("Instead: the payload as text, JSON or not.")),
                .optional(
                    "headers",
                    .map(
                        of: .string(), "Header fields; `:path` and `:authority` too.",
                        count: maximumHeaderCount)),
                .optional(
                    "headers_are_complete",
                    .boolean("Whether headers are all that is sent, so that one can be missing.")),
                .optional("target", .words(["phone", "watchos"], "The device; phone by default.")),
            ], "Either payload or payload_text must be there.",
            rules: [.exactlyOne(["payload", "payload_text"])])
    }

    /// The schema of a report in the OpenAPI document.
    static var reportSchema: Schema {
        .object([
            .required("valid", .boolean("Whether there is no error.")),
            .required("push_type", .string("The push type that the rules judged by.")),
            .required("push_type_is_inferred", .boolean("Whether the payload gave it.")),
            .required("diagnostics", .array(of: .named(.diagnostic))),
            .required(
                "summary",
                .object([
                    .required("errors", .count()), .required("warnings", .count()),
                    .required("notes", .count()),
                ])),
        ])
    }
}
