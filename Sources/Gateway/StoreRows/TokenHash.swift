// SPDX-License-Identifier: Apache-2.0

package import WakeModel

/// Computes the number of a device: SipHash-1-3 of its queue and token (Aumasson and Bernstein,
/// "SipHash: a fast short-input PRF", 2012) with a secret key of the store, so that nobody can
/// choose tokens with the same number.
package struct TokenHash: Hashable {
    private let key0: UInt64
    private let key1: UInt64

    package init(_ key0: Int64, _ key1: Int64) {
        self.key0 = UInt64(bitPattern: key0)
        self.key1 = UInt64(bitPattern: key1)
    }

    /// The number of a device in a queue, from 1 to 2⁶².
    package func number(of token: DeviceToken, queue: Int64) -> Int64 {
        var state = State(key0, key1)
        state.absorb(UInt64(bitPattern: queue))
        var hex = token.hex
        // SAFETY: each word is loaded from eight bytes within the digits.
        hex.withUTF8 { digits in
            let bytes = UnsafeRawBufferPointer(digits)
            let whole = bytes.count & ~7
            for offset in stride(from: 0, to: whole, by: 8) {
                let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                state.absorb(UInt64(littleEndian: word))
            }
            var rest: UInt64 = 0
            for offset in whole..<bytes.count {
                rest |= UInt64(bytes[offset]) << (8 * UInt64(offset & 7))
            }
            state.absorb(rest | UInt64(bytes.count &+ 8) << 56)
        }
        return Int64(bitPattern: state.finish() >> 2) + 1
    }

    private struct State {
        private var v0: UInt64
        private var v1: UInt64
        private var v2: UInt64
        private var v3: UInt64

        init(_ key0: UInt64, _ key1: UInt64) {
            v0 = key0 ^ 0x736f_6d65_7073_6575
            v1 = key1 ^ 0x646f_7261_6e64_6f6d
            v2 = key0 ^ 0x6c79_6765_6e65_7261
            v3 = key1 ^ 0x7465_6462_7974_6573
        }

        mutating func absorb(_ word: UInt64) {
            v3 ^= word
            round()
            v0 ^= word
        }

        mutating func finish() -> UInt64 {
            v2 ^= 0xff
            for _ in 0..<3 { round() }
            return v0 ^ v1 ^ v2 ^ v3
        }

        private mutating func round() {
            v0 = v0 &+ v1
            v1 = Self.rotate(v1, 13) ^ v0
            v0 = Self.rotate(v0, 32)
            v2 = v2 &+ v3
            v3 = Self.rotate(v3, 16) ^ v2
            v0 = v0 &+ v3
            v3 = Self.rotate(v3, 21) ^ v0
            v2 = v2 &+ v1
            v1 = Self.rotate(v1, 17) ^ v2
            v2 = Self.rotate(v2, 32)
        }

        private static func rotate(_ word: UInt64, _ bits: UInt64) -> UInt64 {
            word << bits | word >> (64 - bits)
        }
    }
}
