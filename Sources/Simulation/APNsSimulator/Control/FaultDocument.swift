// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// A ``Fault`` as the control endpoint takes it: one flat JSON object.
///
/// `kind` is `delay` or `drip` (with `milliseconds`), `reject` (with `reason`), `goaway` (with
/// `reason`, `code` and `lastStream`, all optional), `reset` (with `code`), `limit-streams` (with
/// `streams`), `close`, `never-answer` or `refuse-tls`. `deviceToken` or `share` narrow it down;
/// `stage` and `count` are optional.
struct FaultDocument: Codable {
    var kind: String
    var milliseconds: Int?
    var reason: String?
    var code: String?
    var lastStream: String?
    var streams: Int?
    var deviceToken: String?
    var share: Double?
    var stage: String?
    var count: Int?

    /// The longest pause, in milliseconds: one hour.
    private static let longestPause = 3_600_000

    /// The fault, or what is wrong with the document.
    func fault() throws(InvalidField) -> Fault {
        Fault(try parsedKind(), for: try target(), at: try parsedStage(), count: try checkedCount())
    }

    private func parsedKind() throws(InvalidField) -> Fault.Kind {
        switch kind {
        case "delay": .delay(milliseconds: try pause())
        case "drip": .drip(millisecondsPerByte: try pause())
        case "reject": .reject(try Self.known(try required(reason, "reason")))
        case "goaway":
            .goAway(
                .init(
                    reason: try knownReason(),
                    code: try errorCode() ?? .noError, lastStream: try parsedLastStream()))
        case "reset": .resetStream(try required(try errorCode(), "code"))
        case "limit-streams":
            .limitStreams(
                try inRange(try required(streams, "streams"), 0...Int(Int32.max), "streams"))
        case "close": .closeConnection
        case "never-answer": .neverAnswer
        case "refuse-tls": .refuseTLS
        default:
            throw InvalidField(
                field: "kind", problem: "is no kind of fault",
                remedy: "Use delay, drip, reject, goaway, reset, limit-streams, close, "
                    + "never-answer or refuse-tls.")
        }
    }

    private func knownReason() throws(InvalidField) -> RejectionReason? {
        guard let reason else { return nil }
        return try Self.known(reason)
    }

    /// A reason that APNs has: with another one a client would be tested against what never comes.
    static func known(_ text: String) throws(InvalidField) -> RejectionReason {
        let reason = RejectionReason(rawValue: text)
        guard reason.entry != nil else {
            throw InvalidField(
                field: "reason", problem: "is no reason of APNs",
                remedy: "Write one as Apple does, such as TooManyRequests.")
        }
        return reason
    }

    private func target() throws(InvalidField) -> Fault.Target {
        if let deviceToken {
            return .deviceToken(try ControlRouter.deviceToken(deviceToken, "deviceToken"))
        }
        guard let share else { return .all }
        guard (0...1).contains(share) else {
            throw InvalidField(
                field: "share", problem: "is not between 0 and 1",
                remedy: "Write 0.1 for a tenth of all requests.")
        }
        return .share(share)
    }

    private func parsedStage() throws(InvalidField) -> Fault.Stage? {
        guard let stage else { return nil }
        guard let parsed = Fault.Stage(rawValue: stage) else {
            throw InvalidField(
                field: "stage", problem: "is no stage of a request",
                remedy: "Use connection, headers, body or answer.")
        }
        return parsed
    }

    private func checkedCount() throws(InvalidField) -> Int? {
        guard let count else { return nil }
        return try inRange(count, 1...Int(Int32.max), "count")
    }

    private func pause() throws(InvalidField) -> Int {
        try inRange(
            try required(milliseconds, "milliseconds"), 0...Self.longestPause, "milliseconds")
    }

    private func errorCode() throws(InvalidField) -> HTTP2ErrorCode? {
        guard let code else { return nil }
        if let known = HTTP2ErrorCode(name: code) { return known }
        guard let number = UInt32(code) else {
            throw InvalidField(
                field: "code", problem: "is no HTTP/2 error code",
                remedy: "Use a name of RFC 9113 such as REFUSED_STREAM, or a number as text.")
        }
        return HTTP2ErrorCode(rawValue: number)
    }

    private func parsedLastStream() throws(InvalidField) -> Fault.GoAway.LastStream {
        switch lastStream {
        case nil, "this": return .thisOne
        case "before": return .theOneBefore
        case "highest": return .highestSeen
        case .some(let text):
            guard let number = Int(text), (0...Int(Int32.max)).contains(number) else {
                throw InvalidField(
                    field: "lastStream", problem: "names no stream",
                    remedy: "Use this, before, highest, or a stream id as text.")
            }
            return .number(number)
        }
    }

    private func required<Value>(
        _ value: Value?, _ field: String
    ) throws(InvalidField) -> Value {
        guard let value else {
            throw InvalidField(
                field: field, problem: "is missing", remedy: "A fault of kind \(kind) needs it.")
        }
        return value
    }

    private func inRange(
        _ value: Int, _ range: ClosedRange<Int>, _ field: String
    ) throws(InvalidField) -> Int {
        guard range.contains(value) else {
            throw InvalidField(
                field: field, problem: "is out of range",
                remedy: "Use \(range.lowerBound) to \(range.upperBound).")
        }
        return value
    }
}
