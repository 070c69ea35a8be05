// SPDX-License-Identifier: Apache-2.0

import Gateway
import HTTPTypes
import Hummingbird
import PayloadRules
import StrictJSON
import WakeModel

/// One problem document (RFC 9457), thrown by routes and written by ``ProblemMiddleware``.
struct Problem: Error {
    /// The media type of problem documents.
    static let mediaType = "application/problem+json"
    /// How long a caller is asked to wait when the store cannot be written, in seconds.
    static let unavailablePauseSeconds = 5
    /// How long a caller is asked to wait when the store has too much to do, in seconds.
    static let overloadedPauseSeconds = 1

    let code: ProblemCode
    /// This occurrence, in words without secrets.
    var detail: String
    /// The member, parameter or header that is to blame, where it is one.
    var field: String?
    /// The findings of the rules.
    var diagnostics: [Diagnostic] = []
    /// What APNs answered, where it was asked.
    var apns: APNsAnswer?
    /// Whether what APNs was asked can have been done, where it gave no answer.
    var certainty: Certainty?
    /// The name of the key that was shown and is known, for the log; `nil` where the caller's key
    /// was accepted, and where it is not known.
    var callerName: String?
    /// Header fields that belong to the answer.
    var headers = HTTPFields()

    init(_ code: ProblemCode, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    /// A value that cannot be what its field needs.
    init(_ error: InvalidField) {
        self.init(.invalidField, error.description)
        field = error.field
    }

    /// What the store could not do.
    init(_ failure: StoreFailure) {
        guard failure.kind != .damaged else {
            self.init(.damagedRow, failure.message)
            return
        }
        let isOverloaded = failure.kind == .overloaded
        self.init(isOverloaded ? .overloaded : .unavailable, failure.message)
        headers[.retryAfter] = String(
            isOverloaded ? Self.overloadedPauseSeconds : Self.unavailablePauseSeconds)
    }

    /// What is wrong with the JSON of a body.
    init(_ fault: JSONFault) {
        self.init(
            fault.isTooMuch ? .bodyTooLarge : .malformedBody,
            "\(fault.problem), at byte \(fault.offset).")
    }

    /// The same, to be tried again after so many seconds.
    func retrying(afterSeconds seconds: Int) -> Problem {
        var problem = self
        problem.headers[.retryAfter] = String(seconds)
        return problem
    }

    /// The document.
    var document: JSONValue {
        .object([
            ("type", .string(code.type)),
            ("title", .string(code.title)),
            ("status", .integer(Int64(code.status))),
            ("code", .string(code.rawValue)),
            ("detail", .string(detail)),
            ("field", field.map { .string($0) }),
            ("diagnostics", diagnostics.isEmpty ? nil : .array(diagnostics.map(\.json))),
            ("apns", apns?.json),
            ("certainty", certainty.map { .string($0.rawValue) }),
        ])
    }

    /// The document as an answer.
    var response: Response {
        document.response(
            status: HTTPResponse.Status(code: code.status), mediaType: Self.mediaType,
            headers: headers)
    }
}

extension Diagnostic {
    /// The finding as JSON for answers.
    var json: JSONValue {
        .object([
            ("rule", .string(rule.rawValue)),
            ("severity", .string(severity.rawValue)),
            ("message", .string(message)),
            ("fix", .string(fix)),
            ("header", header.map { .string($0) }),
            ("pointer", .string(pointer)),
            ("line", .integer(Int64(line))),
            ("column", .integer(Int64(column))),
            ("offset", .integer(Int64(offset))),
        ])
    }
}
