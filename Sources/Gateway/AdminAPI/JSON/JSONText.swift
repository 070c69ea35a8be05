// SPDX-License-Identifier: Apache-2.0

/// Decodes JSON strings (RFC 8259 §7).
enum JSONText {
    /// The text of a string with its quotes, or `nil` when it is not a JSON string: bad UTF-8, a
    /// bare control character, an unknown escape, half a surrogate pair.
    static func decode(_ quoted: ArraySlice<UInt8>) -> String? {
        let quote = UInt8(ascii: "\"")
        guard quoted.count >= 2, quoted.first == quote, quoted.last == quote else { return nil }
        let inner = quoted.dropFirst().dropLast()
        if isPlain(inner) { return String(validating: inner, as: UTF8.self) }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(inner.count)
        var index = inner.startIndex
        while index < inner.endIndex {
            let byte = inner[index]
            index += 1
            guard byte >= 0x20, byte != quote else { return nil }
            if byte != UInt8(ascii: "\\") {
                decoded.append(byte)
            } else if let scalar = escape(in: inner, at: &index) {
                decoded.append(contentsOf: Array(String(Character(scalar)).utf8))
            } else {
                return nil
            }
        }
        return String(validating: decoded, as: UTF8.self)
    }

    /// Whether a text needs no escaping. Nearly all need none, so all of it is checked without a
    /// branch: faster than to stop at the first byte that needs some.
    static func isPlain(_ text: some Collection<UInt8>) -> Bool {
        func check(_ bytes: some Collection<UInt8>) -> Bool {
            var special: UInt8 = 0
            for byte in bytes {
                special |=
                    (byte < 0x20 ? 1 : 0) | (byte == UInt8(ascii: "\"") ? 1 : 0)
                    | (byte == UInt8(ascii: "\\") ? 1 : 0)
            }
            return special == 0
        }
        return text.withContiguousStorageIfAvailable { check($0) } ?? check(text)
    }

    /// The character of the escape that begins behind the backslash.
    private static func escape(in text: ArraySlice<UInt8>, at index: inout Int) -> Unicode.Scalar? {
        guard index < text.endIndex else { return nil }
        let letter = text[index]
        index += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"):
            return Unicode.Scalar(letter)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{c}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return unicodeEscape(in: text, at: &index)
        default: return nil
        }
    }

    /// Four hexadecimal digits, and four more behind `\u` when the first are a high surrogate.
    private static func unicodeEscape(
        in text: ArraySlice<UInt8>, at index: inout Int
    ) -> Unicode.Scalar? {
        guard let first = codeUnit(in: text, at: &index) else { return nil }
        guard UTF16.isLeadSurrogate(first) else { return Unicode.Scalar(first) }
        guard text[index...].starts(with: Array("\\u".utf8)) else { return nil }
        index += 2
        guard let second = codeUnit(in: text, at: &index), UTF16.isTrailSurrogate(second) else {
            return nil
        }
        return Unicode.Scalar(
            0x10000 + (UInt32(first) - 0xd800) << 10 + (UInt32(second) - 0xdc00))
    }

    private static func codeUnit(in text: ArraySlice<UInt8>, at index: inout Int) -> UInt16? {
        guard index + 4 <= text.endIndex else { return nil }
        var unit: UInt16 = 0
        for digit in text[index..<index + 4] {
            guard let value = Character(Unicode.Scalar(digit)).hexDigitValue else { return nil }
            unit = unit << 4 | UInt16(value)
        }
        index += 4
        return unit
    }
}
