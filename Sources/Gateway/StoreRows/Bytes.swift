// SPDX-License-Identifier: Apache-2.0

package import WakeModel

/// Writes numbers and texts with a variable length. ``ByteReader`` reads them.
package struct ByteWriter {
    package private(set) var bytes: [UInt8] = []

    package init() { bytes.reserveCapacity(256) }

    /// Removes all bytes and keeps the capacity.
    package mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    package mutating func put(byte: UInt8) { bytes.append(byte) }

    /// Writes 8 bytes, little-endian; for random values.
    package mutating func put(word: UInt64) {
        for shift in stride(from: 0 as UInt64, to: 64, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: word >> shift))
        }
    }

    /// Writes 7 bits per byte, the lowest first (LEB128).
    package mutating func put(_ number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// Writes a signed number with the sign in the lowest bit, so that small absolute values are
    /// short.
    package mutating func put(signed number: Int64) {
        put(UInt64(bitPattern: (number << 1) ^ (number >> 63)))
    }

    /// Writes an instant as its distance from another, in milliseconds.
    package mutating func put(_ instant: WallInstant, from base: WallInstant) {
        put(signed: instant.millisecondsSinceEpoch &- base.millisecondsSinceEpoch)
    }

    package mutating func put(_ text: String) {
        put(UInt64(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    package mutating func put(_ part: [UInt8]) {
        put(UInt64(part.count))
        bytes.append(contentsOf: part)
    }
}

/// Reads what ``ByteWriter`` wrote. Beyond the end it returns zeros, and ``isWhole`` is `false`.
package struct ByteReader {
    private let bytes: [UInt8]
    private var place = 0
    private var isTorn = false

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Whether all bytes were read, and none beyond the end.
    package var isWhole: Bool { !isTorn && place == bytes.count }

    package mutating func byte() -> UInt8 {
        guard place < bytes.count else {
            isTorn = true
            return 0
        }
        place += 1
        return bytes[place - 1]
    }

    package mutating func word() -> UInt64 {
        var word: UInt64 = 0
        for index in 0..<8 as Range<UInt64> { word |= UInt64(byte()) << (8 * index) }
        return word
    }

    package mutating func number() -> UInt64 {
        var number: UInt64 = 0
        for shift in stride(from: 0 as UInt64, to: 64, by: 7) {
            let byte = byte()
            number |= UInt64(byte & 0x7f) << shift
            if byte & 0x80 == 0 { return number }
        }
        isTorn = true
        return number
    }

    package mutating func signed() -> Int64 {
        let number = number()
        return Int64(bitPattern: number >> 1) ^ -Int64(number & 1)
    }

    package mutating func instant(from base: WallInstant) -> WallInstant {
        WallInstant(millisecondsSinceEpoch: base.millisecondsSinceEpoch &+ signed())
    }

    package mutating func part() -> [UInt8] {
        let count = number()
        guard count <= UInt64(bytes.count - place) else {
            isTorn = true
            return []
        }
        defer { place += Int(count) }
        return Array(bytes[place..<place + Int(count)])
    }

    package mutating func text() -> String { String(decoding: part(), as: UTF8.self) }
}
