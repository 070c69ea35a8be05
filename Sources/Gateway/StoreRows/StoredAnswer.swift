// SPDX-License-Identifier: Apache-2.0

package import Gateway
import WakeModel

// The encoding of an answer in its idempotency key's row: version 1. As in a wake's own row,
// instants are relative to the acceptance, and that to the wake's number.

/// The version that is written.
private let answerVersion: UInt8 = 1

extension ByteWriter {
    /// Writes all of an answer but the number of its wake.
    package mutating func put(_ answer: AdmittedWake) {
        put(byte: answerVersion)
        put(word: UInt64(bitPattern: answer.id.low))
        put(answer.acceptedAt, from: WakeRow.instant(of: answer.id.number))
        put(answer.deadline, from: answer.acceptedAt)
        put(UInt64(bitPattern: PackedDecision(answer.decision).bits))
        let other = answer.decision.otherWake
        put(byte: other == nil ? 0 : 1)
        if let other {
            put(word: UInt64(bitPattern: other.number))
            put(word: UInt64(bitPattern: other.low))
        }
    }
}

extension ByteReader {
    /// Reads what ``ByteWriter`` wrote of an answer.
    package mutating func answer(wake number: Int64) throws(StoreFailure) -> AdmittedWake {
        guard byte() == answerVersion else { throw .damaged("answer") }
        let low = Int64(bitPattern: word())
        let accepted = instant(from: WakeRow.instant(of: number))
        let deadline = instant(from: accepted)
        let decision = PackedDecision(bits: Int64(bitPattern: self.number()))
        var other: WakeID?
        if byte() != 0 {
            let number = Int64(bitPattern: word())
            other = WakeID(number: number, low: Int64(bitPattern: word()))
        }
        guard isWhole else { throw .damaged("answer") }
        return AdmittedWake(
            id: WakeID(number: number, low: low), acceptedAt: accepted, deadline: deadline,
            decision: try decision.decision(carrier: other))
    }
}

extension WakeDecision {
    /// The wake that the decision names.
    fileprivate var otherWake: WakeID? {
        switch self {
        case .coalesced(let carrier, _, _, _): carrier
        case .sameCall(let wake): wake
        case .send, .deferred, .expired, .suppressed: nil
        }
    }
}
