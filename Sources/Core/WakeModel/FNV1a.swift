// SPDX-License-Identifier: Apache-2.0

/// 64-bit FNV-1a (RFC 9923): a hash that is the same in every run and on every machine. Not for
/// secrets: it can be inverted.
package struct FNV1a: Hashable, Sendable {
    /// The hash of the bytes so far.
    package private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    /// The hash of no bytes yet.
    package init() {}

    /// Takes one more byte.
    @inline(__always)
    package mutating func add(_ byte: UInt8) {
        value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
    }

    /// Takes the bytes of an integer, the lowest first.
    package mutating func add(integer number: some FixedWidthInteger) {
        for shift in stride(from: 0, to: number.bitWidth, by: 8) {
            add(UInt8(truncatingIfNeeded: number >> shift))
        }
    }

    /// The hash of the bytes.
    package static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
        var hash = FNV1a()
        for byte in bytes { hash.add(byte) }
        return hash.value
    }
}
