// SPDX-License-Identifier: Apache-2.0

package import Gateway
import WakeModel

/// The columns of an attempt's result.
package struct AttemptColumns {
    /// The result of an attempt whose row is damaged: the push may have reached APNs.
    package static let damaged = SendFailure(
        certainty: .unknown, description: "The store's row of this attempt is damaged.")

    package let result: String
    package var status: Int64?
    package var reason: String?
    package var since: Int64?
    package var detail: String?

    package init(_ attempt: AttemptResult) {
        switch attempt {
        case .accepted(let apnsUniqueID):
            result = "accepted"
            detail = apnsUniqueID
        case .refused(let refusal):
            result = "refused"
            status = Int64(refusal.status)
            reason = refusal.reason?.rawValue
            since = refusal.tokenDeadSince?.millisecondsSinceEpoch
        case .unanswered(let failure):
            result = failure.certainty.rawValue
            detail = failure.description
        case .abandoned:
            result = "abandoned"
        }
    }

    package init(
        result: String, status: Int64?, reason: String?, since: Int64?, detail: String?
    ) {
        self.result = result
        self.status = status
        self.reason = reason
        self.since = since
        self.detail = detail
    }

    package func attempt() throws(StoreFailure) -> AttemptResult {
        switch result {
        case "accepted": return .accepted(apnsUniqueID: detail)
        case "refused":
            return .refused(
                EndColumns(
                    status: status, reason: reason, since: since, detail: nil, carrier: nil
                ).refusal)
        case "abandoned": return .abandoned
        default:
            guard let certainty = Certainty(rawValue: result) else { throw .damaged("result") }
            return .unanswered(SendFailure(certainty: certainty, description: detail ?? ""))
        }
    }
}

extension IdempotencyKey {
    /// The first bytes of a key's digest, in hexadecimal.
    package static func name(ofKey key: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        let text = key.prefix(8).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 0xf)]] }
        return String(decoding: text, as: UTF8.self)
    }
}
