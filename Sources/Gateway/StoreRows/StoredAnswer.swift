// SPDX-License-Identifier: Apache-2.0

package import Gateway
import WakeModel

// The encoding of an answer in the row of its idempotency key: version 1. As in the row of a wake,
// instants are relative to the acceptance, and the acceptance to the wake's number.

/// The version that is written.
private let answerVersion: UInt8 = 1

extension ByteWriter {
    /// Writes an answer without the number of its wake.
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
    /// Reads an answer that ``ByteWriter`` wrote. Throws `damaged` for another version or invalid
    /// bytes.
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
    /// The other wake that the decision refers to.
    fileprivate var otherWake: WakeID? {
        switch self {
        case .coalesced(let carrier, _, _, _): carrier
        case .sameCall(let wake): wake
        case .send, .deferred, .expired, .suppressed: nil
        }
    }
}
