// SPDX-License-Identifier: Apache-2.0

package import Gateway
import WakeBudget
import WakeModel

// The encoding of a device's calls in the column `calls`: version 1, then for each call its
// fingerprint and the two halves of its wake's id.

/// The version that is written.
private let callsVersion: UInt8 = 1

extension CountedCall {
    /// The calls as bytes, in their order.
    package static func encoded(_ calls: [CountedCall]) -> [UInt8] {
        var writer = ByteWriter()
        writer.put(byte: callsVersion)
        for call in calls {
            writer.put(word: call.call.bits)
            writer.put(word: UInt64(bitPattern: call.wake.number))
            writer.put(word: UInt64(bitPattern: call.wake.low))
        }
        return writer.bytes
    }

    /// Decodes the result of ``encoded(_:)``; no bytes are no calls.
    package static func decode(_ bytes: [UInt8]) throws(StoreFailure) -> [CountedCall] {
        guard !bytes.isEmpty else { return [] }
        var reader = ByteReader(bytes)
        guard reader.byte() == callsVersion, bytes.count % 24 == 1 else { throw .damaged("calls") }
        return (0..<bytes.count / 24).map { _ in
            let call = CallFingerprint(bits: reader.word())
            let number = Int64(bitPattern: reader.word())
            return CountedCall(
                call: call, wake: WakeID(number: number, low: Int64(bitPattern: reader.word())))
        }
    }
}
