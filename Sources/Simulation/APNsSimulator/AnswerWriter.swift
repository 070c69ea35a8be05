// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// Puts a verdict into the words of APNs' answers (facts §3.1).
struct AnswerWriter: Sendable {
    var environment: APNsEnvironment
    /// Fixes the ids that the simulator generates.
    var seed: UInt64

    /// Two sequences of generated ids that never meet: even and odd indices.
    private enum Sequence: UInt64 {
        case apnsID = 0
        case uniqueID = 1
    }

    /// The answer to request number `number`, which carried `apnsID`, if any.
    func response(
        to verdict: RequestJudge.Verdict, apnsID: String?, number: Int
    ) -> WireResponse {
        switch verdict {
        case .accepted:
            return WireResponse(
                status: 200, apnsID: apnsID ?? id(.apnsID, number),
                apnsUniqueID: environment == .sandbox ? id(.uniqueID, number) : nil)
        case .rejected(let reason, let timestamp):
            let echo = apnsID.flatMap { RequestJudge.isUUID($0) ? $0 : nil }
            return WireResponse(
                status: Self.status(of: reason), apnsID: echo ?? id(.apnsID, number),
                apnsUniqueID: nil, body: Self.body(reason: reason, timestamp: timestamp))
        case .call, .done: preconditionFailure("A push was taken for a request about a channel.")
        }
    }

    /// The answer to a request of the broadcast API, which carried `requestID`, if any.
    func response(
        to verdict: RequestJudge.Verdict, requestID: String?, isBroadcast: Bool, number: Int
    ) -> WireResponse {
        let echo = requestID.flatMap { RequestJudge.isUUID($0) ? $0 : nil }
        var response = WireResponse(status: 500, requestID: echo ?? id(.apnsID, number))
        switch verdict {
        case .done(let reply):
            response.status = reply.status
            response.channelID = reply.channelID
            response.body = reply.body
            if isBroadcast, environment == .sandbox {
                response.apnsUniqueID = id(.uniqueID, number)
            }
        case .rejected(let reason, _):
            response.status = Self.status(of: reason)
            response.body = Self.body(reason: reason)
        case .accepted, .call: preconditionFailure("A request about a channel was not carried out.")
        }
        return response
    }

    /// The `apns-id` of a request that carried none.
    func generatedID(number: Int) -> String { id(.apnsID, number) }

    /// The status in the table of `RejectionReason`; 500 for a reason that is not there.
    static func status(of reason: RejectionReason) -> Int { reason.entry?.status ?? 500 }

    /// `{"reason":"…"}`, with `timestamp` in milliseconds when there is one.
    static func body(reason: RejectionReason, timestamp: WallInstant? = nil) -> [UInt8] {
        var json = "{\"reason\":\(quoted(reason.rawValue))"
        if let timestamp { json += ",\"timestamp\":\(timestamp.millisecondsSinceEpoch)" }
        return Array((json + "}").utf8)
    }

    private func id(_ sequence: Sequence, _ number: Int) -> String {
        let index = UInt64(number) * 4 + sequence.rawValue * 2
        return APNsID(
            entropy: SplitMix64.value(seed: seed, index: index),
            SplitMix64.value(seed: seed, index: index + 1)
        ).description
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case _ where scalar.value < 0x20:
                let hex = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
