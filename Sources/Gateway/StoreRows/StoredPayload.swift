// SPDX-License-Identifier: Apache-2.0

package import Gateway
import WakeBudget
import WakeModel

// The encoding of a wake in the column `payload`: the payload itself, or, if others were merged
// into the wake, a byte that cannot start JSON, the payload, and its parts. A part has its wakes,
// traits, expiration, collapse id and payload. Its payload is omitted if it is that of the wake.

/// The first byte of a payload with parts.
private let partsVersion: UInt8 = 1

/// The optional fields of a part, and its traits: bits 0 and 1 are the urgency, bit 2 the
/// coalescing.
private struct PartTraits: OptionSet {
    let rawValue: UInt8

    static let isUnion = PartTraits(rawValue: 1 << 2)
    static let isFolded = PartTraits(rawValue: 1 << 3)
    static let expiration = PartTraits(rawValue: 1 << 4)
    static let collapseID = PartTraits(rawValue: 1 << 5)
    static let samePayload = PartTraits(rawValue: 1 << 6)
}

extension WakeRow {
    /// The value of the column `payload`; empty for no payload.
    package var storedPayload: [UInt8] {
        guard !parts.isEmpty else { return payload }
        var writer = ByteWriter()
        writer.put(byte: partsVersion)
        writer.put(payload)
        writer.put(UInt64(parts.count))
        for part in parts {
            var traits = PartTraits(rawValue: part.urgency.rawValue)
            if part.coalescing == .union { traits.insert(.isUnion) }
            if part.isFolded { traits.insert(.isFolded) }
            if case .at = part.expiration { traits.insert(.expiration) }
            if part.collapseID != nil { traits.insert(.collapseID) }
            if part.payload == payload { traits.insert(.samePayload) }
            writer.put(byte: traits.rawValue)
            writer.put(UInt64(part.wakes.count))
            for wake in part.wakes {
                writer.put(word: UInt64(bitPattern: wake.number))
                writer.put(word: UInt64(bitPattern: wake.low))
            }
            if case .at(let instant) = part.expiration { writer.put(instant, from: acceptedAt) }
            if let collapseID = part.collapseID { writer.put(collapseID.value) }
            if part.payload != payload { writer.put(part.payload) }
        }
        return writer.bytes
    }

    /// Sets the payload and its parts from the value of the column `payload`. Throws
    /// ``Gateway/StoreFailure/Kind/damaged`` for invalid bytes.
    package mutating func takePayload(stored bytes: [UInt8]) throws(StoreFailure) {
        guard bytes.first == partsVersion else {
            payload = bytes
            return
        }
        var reader = ByteReader(bytes)
        _ = reader.byte()
        payload = reader.part()
        let count = reader.number()
        guard count <= UInt64(MergedPart.maximumCount) else { throw .damaged("parts") }
        for _ in 0..<count { parts.append(try reader.part(of: self)) }
        guard reader.isWhole else { throw .damaged("parts") }
    }
}

extension ByteReader {
    fileprivate mutating func part(of wake: WakeRow) throws(StoreFailure) -> MergedPart {
        let bits = byte()
        let traits = PartTraits(rawValue: bits)
        let count = number()
        guard let urgency = Urgency(rawValue: bits & 3),
            count <= UInt64(MergedPart.maximumWakeCount)
        else { throw .damaged("parts") }
        var wakes: [WakeID] = []
        for _ in 0..<count {
            let number = Int64(bitPattern: word())
            wakes.append(WakeID(number: number, low: Int64(bitPattern: word())))
        }
        let expiration: Expiration =
            traits.contains(.expiration) ? .at(instant(from: wake.acceptedAt)) : .immediately
        let collapseID = traits.contains(.collapseID) ? try collapseID() : nil
        return MergedPart(
            wakes: wakes, isFolded: traits.contains(.isFolded),
            payload: traits.contains(.samePayload) ? wake.payload : part(),
            expiration: expiration, collapseID: collapseID, urgency: urgency,
            coalescing: traits.contains(.isUnion) ? .union : .replace)
    }
}
