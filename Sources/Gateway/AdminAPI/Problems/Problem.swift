// SPDX-License-Identifier: Apache-2.0

import Gateway
import HTTPTypes
import Hummingbird
import PayloadRules
import StrictJSON
import WakeModel

/// A problem document (RFC 9457). Routes throw it; ``ProblemMiddleware`` writes it.
struct Problem: Error {
    /// The media type of problem documents.
    static let mediaType = "application/problem+json"
    /// The `Retry-After` of an answer while the store cannot be written, in seconds.
    static let unavailablePauseSeconds = 5
    /// The `Retry-After` of an answer while the store is overloaded, in seconds.
    static let overloadedPauseSeconds = 1

    let code: ProblemCode
    /// The explanation of this occurrence, without secrets.
    var detail: String
    /// The member, parameter or header that is invalid; `nil` if the problem is not about one.
    var field: String?
    /// The findings of the validation rules.
    var diagnostics: [Diagnostic] = []
    /// The answer of APNs; `nil` if there was none.
    var apns: APNsAnswer?
    /// Whether APNs may have executed the request; `nil` if APNs answered or was not asked.
    var certainty: Certainty?
    /// The name of a known key that was refused, for the log; `nil` if the key was accepted or is
    /// unknown.
    var callerName: String?
    /// Header fields of the answer.
    var headers = HTTPFields()

    init(_ code: ProblemCode, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    /// Creates the problem for an invalid value.
    init(_ error: InvalidField) {
        self.init(.invalidField, error.description)
        field = error.field
    }

    /// Creates the problem for a failure of the store.
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

    /// Creates the problem for a body that is not valid JSON.
    init(_ fault: JSONFault) {
        self.init(
            fault.isTooMuch ? .bodyTooLarge : .malformedBody,
            "\(fault.problem), at byte \(fault.offset).")
    }

    /// Returns a copy with `Retry-After`.
    func retrying(afterSeconds seconds: Int) -> Problem {
        var problem = self
        problem.headers[.retryAfter] = String(seconds)
        return problem
    }

    /// The problem document as JSON.
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

    /// The HTTP response with the document.
    var buffered: BufferedResponse {
        document.buffered(
            status: HTTPResponse.Status(code: code.status), mediaType: Self.mediaType,
            headers: headers)
    }
}

extension Diagnostic {
    /// The finding as JSON.
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
