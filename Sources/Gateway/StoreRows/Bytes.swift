// SPDX-License-Identifier: Apache-2.0

package import WakeModel

/// Writes numbers and texts one after the other, each in as many bytes as it needs.
package struct ByteWriter {
    package private(set) var bytes: [UInt8] = []

    package init() { bytes.reserveCapacity(256) }

    /// Begins anew, in the same memory.
    package mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    package mutating func put(byte: UInt8) { bytes.append(byte) }

    /// Eight bytes, the lowest first: for what is as good as random.
    package mutating func put(word: UInt64) {
        for shift in stride(from: 0 as UInt64, to: 64, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: word >> shift))
        }
    }

    /// Seven bits to a byte, the lowest first.
    package mutating func put(_ number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// The sign in the lowest bit, so that small numbers are short on either side of 0.
    package mutating func put(signed number: Int64) {
        put(UInt64(bitPattern: (number << 1) ^ (number >> 63)))
    }

    /// An instant by how far it is from another.
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

/// Reads what ``ByteWriter`` wrote. Behind the end it finds zeros, and says so in ``isWhole``.
package struct ByteReader {
    private let bytes: [UInt8]
    private var place = 0
    private var isTorn = false

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Whether all was read, and nothing behind the end.
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
