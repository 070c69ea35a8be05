// SPDX-License-Identifier: Apache-2.0

/// Reads the JSON of APNs' answers piece by piece: see ``RejectionBody``.
struct AnswerReader {
    /// A value.
    enum Value {
        case text(String)
        /// A number or a word.
        case scalar(String)
        /// An object or an array, passed over.
        case nested
    }

    let bytes: [UInt8]
    var position = 0

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func take() -> UInt8? {
        defer { position += 1 }
        return next
    }

    mutating func skip(_ byte: UInt8) -> Bool {
        skipWhiteSpace()
        guard next == byte else { return false }
        position += 1
        return true
    }

    mutating func value() -> Value? {
        skipWhiteSpace()
        switch next {
        case UInt8(ascii: "\""): return string().map(Value.text)
        case UInt8(ascii: "{"), UInt8(ascii: "["): return skipNested() ? .nested : nil
        default: return scalar().map(Value.scalar)
        }
    }

    /// A string with its escapes resolved; `nil` if it does not end or is not well-formed.
    mutating func string() -> String? {
        guard skip(UInt8(ascii: "\"")) else { return nil }
        var text: [UInt8] = []
        while let byte = take() {
            switch byte {
            case UInt8(ascii: "\""): return String(validating: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let scalar = escaped() else { return nil }
                text += String(scalar).utf8
            default: text.append(byte)
            }
        }
        return nil
    }

    /// The character after a backslash (RFC 8259 §7).
    private mutating func escaped() -> Unicode.Scalar? {
        switch take() {
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{c}"
        case UInt8(ascii: "u"): return unicode()
        case .some(let byte) where Array("\"\\/".utf8).contains(byte):
            return Unicode.Scalar(byte)
        default: return nil
        }
    }

    /// Four hexadecimal digits, or a pair of surrogates; `nil` for half a pair.
    private mutating func unicode() -> Unicode.Scalar? {
        guard let first = fourDigits() else { return nil }
        guard (0xd800...0xdbff).contains(first) else { return Unicode.Scalar(first) }
        guard take() == UInt8(ascii: "\\"), take() == UInt8(ascii: "u"),
            let second = fourDigits(), (0xdc00...0xdfff).contains(second)
        else { return nil }
        return Unicode.Scalar(0x10000 + (first - 0xd800) << 10 + (second - 0xdc00))
    }

    private mutating func fourDigits() -> UInt32? {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = take(), let digit = Character(Unicode.Scalar(byte)).hexDigitValue
            else { return nil }
            value = value << 4 | UInt32(digit)
        }
        return value
    }

    /// Passes over an object or an array by counting brackets, so that no depth can exhaust
    /// the stack. False if it does not end.
    private mutating func skipNested() -> Bool {
        var depth = 0
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                guard string() != nil else { return false }
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
            position += 1
            if depth == 0 { return true }
        }
        return false
    }

    /// A number or a word, up to the next delimiter.
    private mutating func scalar() -> String? {
        let start = position
        while let byte = next, !Self.delimiters.contains(byte) { position += 1 }
        return start == position
            ? nil : String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func skipWhiteSpace() {
        while let byte = next, Self.whiteSpace.contains(byte) { position += 1 }
    }

    private static let whiteSpace: [UInt8] = [0x20, 0x09, 0x0a, 0x0d]
    private static let delimiters: [UInt8] = whiteSpace + Array(",}]{[\":".utf8)
}
