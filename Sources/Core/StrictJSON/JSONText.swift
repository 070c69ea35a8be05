// SPDX-License-Identifier: Apache-2.0

/// Bytes of JSON text: characters, hexadecimal digits, escapes.
package enum JSONText {
    /// The value of a hexadecimal digit in either case.
    package static func hexDigitValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// The length of the well-formed character of two to four bytes that begins at `offset`, or
    /// `nil` (The Unicode Standard, table 3-7).
    package static func multibyteLength(_ bytes: [UInt8], at offset: Int) -> Int? {
        let second: ClosedRange<UInt8>
        let length: Int
        switch bytes[offset] {
        case 0xc2...0xdf: (length, second) = (2, 0x80...0xbf)
        case 0xe0: (length, second) = (3, 0xa0...0xbf)
        case 0xed: (length, second) = (3, 0x80...0x9f)
        case 0xe1...0xef: (length, second) = (3, 0x80...0xbf)
        case 0xf0: (length, second) = (4, 0x90...0xbf)
        case 0xf1...0xf3: (length, second) = (4, 0x80...0xbf)
        case 0xf4: (length, second) = (4, 0x80...0x8f)
        default: return nil
        }
        guard offset + length <= bytes.count, second.contains(bytes[offset + 1]) else { return nil }
        for index in (offset + 2)..<(offset + length) {
            guard bytes[index] & 0xc0 == 0x80 else { return nil }
        }
        return length
    }

    /// The decoded text of a string's bytes between the quotes, in UTF-8. A lone surrogate becomes
    /// the three bytes that UTF-8 would give it if it could, so that different texts stay
    /// different.
    ///
    /// `content` is what the scanner has accepted; nothing is checked again.
    package static func unescaped(_ content: ArraySlice<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(content.count)
        var index = content.startIndex
        while index < content.endIndex {
            guard content[index] == UInt8(ascii: "\\") else {
                text.append(content[index])
                index += 1
                continue
            }
            let escape = content[index + 1]
            guard escape == UInt8(ascii: "u") else {
                text.append(character(ofShortEscape: escape))
                index += 2
                continue
            }
            var scalar = UInt32(unit(in: content, at: index + 2))
            index += 6
            if (0xd800...0xdbff).contains(scalar), index + 6 <= content.endIndex,
                content[index] == UInt8(ascii: "\\"), content[index + 1] == UInt8(ascii: "u")
            {
                let trail = UInt32(unit(in: content, at: index + 2))
                if (0xdc00...0xdfff).contains(trail) {
                    scalar = 0x10000 + (scalar - 0xd800) << 10 + (trail - 0xdc00)
                    index += 6
                }
            }
            append(scalar, to: &text)
        }
        return text
    }

    private static func character(ofShortEscape escape: UInt8) -> UInt8 {
        switch escape {
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0c
        case UInt8(ascii: "n"): 0x0a
        case UInt8(ascii: "r"): 0x0d
        case UInt8(ascii: "t"): 0x09
        default: escape
        }
    }

    /// The value of four hexadecimal digits that the scanner has accepted.
    package static func unit(in content: ArraySlice<UInt8>, at index: Int) -> UInt16 {
        content[index..<(index + 4)].reduce(0) { $0 << 4 | UInt16(hexDigitValue($1) ?? 0) }
    }

    private static func append(_ scalar: UInt32, to text: inout [UInt8]) {
        func tail(_ shift: UInt32) -> UInt8 { 0x80 | UInt8((scalar >> shift) & 0x3f) }
        switch scalar {
        case ..<0x80: text.append(UInt8(scalar))
        case ..<0x800: text += [0xc0 | UInt8(scalar >> 6), tail(0)]
        case ..<0x10000: text += [0xe0 | UInt8(scalar >> 12), tail(6), tail(0)]
        default: text += [0xf0 | UInt8(scalar >> 18), tail(12), tail(6), tail(0)]
        }
    }
}

extension JSONText {
    /// The text of a string with its quotes, or `nil` when it is not a JSON string (RFC 8259 §7):
    /// bad UTF-8, a bare control character, an unknown escape, half a surrogate pair.
    package static func decode(_ quoted: ArraySlice<UInt8>) -> String? {
        let quote = UInt8(ascii: "\"")
        guard quoted.count >= 2, quoted.first == quote, quoted.last == quote else { return nil }
        let content = quoted.dropFirst().dropLast()
        // SAFETY: the bytes are only read, inside the closure.
        if content.withUnsafeBufferPointer({ isPlain($0) }) {
            return String(validating: content, as: UTF8.self)
        }
        guard let document = try? JSONScanner.scan(Array(quoted)), document.kind(0) == .string,
            !document.summary.traits.contains(.loneSurrogate)
        else { return nil }
        return String(validating: document.text(0), as: UTF8.self)
    }

    /// Whether a text needs no escape.
    package static func isPlain(_ text: String) -> Bool {
        var text = text
        // SAFETY: the bytes are only read, inside the closure.
        return text.withUTF8 { isPlain($0) }
    }

    /// Nearly all texts need no escape, so all of it is checked without a branch: faster than to
    /// stop at the first byte that needs one. Not generic, because the callers' modules would call
    /// it unspecialized.
    private static func isPlain(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var special: UInt8 = 0
        for byte in bytes {
            special |=
                (byte < 0x20 ? 1 : 0) | (byte == UInt8(ascii: "\"") ? 1 : 0)
                | (byte == UInt8(ascii: "\\") ? 1 : 0)
        }
        return special == 0
    }

    /// The text at an offset, as a noun for a message.
    static func describe(_ bytes: [UInt8], at offset: Int) -> String {
        guard offset < bytes.count else { return "the end of the text" }
        let byte = bytes[offset]
        switch byte {
        case 0x09: return "a tab"
        case 0x0a: return "a line break"
        case 0x0d: return "a carriage return"
        case 0x20: return "a space"
        case UInt8(ascii: "`"): return "a backquote"
        case 0x21...0x7e: return "`\(Character(Unicode.Scalar(byte)))`"
        default:
            let length = byte < 0x80 ? 1 : multibyteLength(bytes, at: offset) ?? 1
            let text = String(decoding: bytes[offset..<(offset + length)], as: UTF8.self)
            let value = text.unicodeScalars.first?.value ?? UInt32(byte)
            let digits = String(value, radix: 16, uppercase: true)
            let zeros = String(repeating: "0", count: max(0, 4 - digits.count))
            return "the \(value < 0xa0 ? "control character" : "character") U+\(zeros)\(digits)"
        }
    }
}
