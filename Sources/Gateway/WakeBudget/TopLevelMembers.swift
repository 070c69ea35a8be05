// SPDX-License-Identifier: Apache-2.0

/// The positions of a JSON object's members in its text.
///
/// This is no check of JSON: `PayloadRules` has done that before. Text that is not an object, or
/// too damaged to separate its members, has no members.
struct TopLevelMembers {
    /// One member of the object.
    struct Member {
        /// The key in UTF-8, its escapes resolved. An unpaired surrogate, which has no form in
        /// UTF-8, is encoded as its three bytes.
        let key: [UInt8]
        /// From the key's opening quote to the value's end.
        let place: Range<Int>
    }

    /// The members, in the order of the text.
    private(set) var members: [Member] = []

    private let text: [UInt8]
    private var offset = 0

    /// Finds the members; `nil` when the text is not one object.
    init?(_ text: [UInt8]) {
        self.text = text
        skipSpace()
        guard take(UInt8(ascii: "{")) else { return nil }
        skipSpace()
        if !take(UInt8(ascii: "}")) {
            repeat {
                skipSpace()
                guard let member = takeMember() else { return nil }
                members.append(member)
                skipSpace()
            } while take(UInt8(ascii: ","))
            guard take(UInt8(ascii: "}")) else { return nil }
        }
        skipSpace()
        guard offset == text.count else { return nil }
    }

    // MARK: Steps

    private var next: UInt8? { offset < text.count ? text[offset] : nil }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        offset += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = next, Self.isSpace(byte) { offset += 1 }
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d
    }

    private mutating func takeMember() -> Member? {
        let start = offset
        guard let key = takeKey() else { return nil }
        skipSpace()
        guard take(UInt8(ascii: ":")) else { return nil }
        skipSpace()
        guard skipValue() else { return nil }
        return Member(key: key, place: start..<offset)
    }

    // MARK: Values

    private mutating func skipValue() -> Bool {
        switch next {
        case UInt8(ascii: "\""): skipString()
        case UInt8(ascii: "{"), UInt8(ascii: "["): skipNested()
        default: skipScalar()
        }
    }

    private mutating func skipString() -> Bool {
        offset += 1
        while let byte = next {
            offset += byte == UInt8(ascii: "\\") ? 2 : 1
            if byte == UInt8(ascii: "\"") { return true }
        }
        return false
    }

    private mutating func skipNested() -> Bool {
        var depth = 0
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                guard skipString() else { return false }
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
            offset += 1
            if depth == 0 { return true }
        }
        return false
    }

    /// A number or a literal: everything up to a space, a comma or the object's end.
    private mutating func skipScalar() -> Bool {
        let start = offset
        while let byte = next, !Self.isSpace(byte), byte != UInt8(ascii: ","),
            byte != UInt8(ascii: "}")
        {
            offset += 1
        }
        return offset > start
    }

    // MARK: Keys

    private mutating func takeKey() -> [UInt8]? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        var key: [UInt8] = []
        while let byte = next {
            offset += 1
            switch byte {
            case UInt8(ascii: "\""): return key
            case UInt8(ascii: "\\"):
                guard let scalar = takeEscape() else { return nil }
                Self.append(scalar, to: &key)
            default: key.append(byte)
            }
        }
        return nil
    }

    /// The character of an escape; the backslash was taken.
    private mutating func takeEscape() -> UInt32? {
        guard let letter = next else { return nil }
        offset += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return UInt32(letter)
        case UInt8(ascii: "b"): return 0x08
        case UInt8(ascii: "f"): return 0x0c
        case UInt8(ascii: "n"): return 0x0a
        case UInt8(ascii: "r"): return 0x0d
        case UInt8(ascii: "t"): return 0x09
        case UInt8(ascii: "u"): break
        default: return nil
        }
        guard let unit = takeCodeUnit() else { return nil }
        guard unit >> 10 == 0x36 else { return unit }
        // A high surrogate; with the low one behind it, if there is one, it is one character.
        let afterHigh = offset
        if take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")), let low = takeCodeUnit(),
            low >> 10 == 0x37
        {
            return 0x1_0000 + (unit & 0x3ff) << 10 + low & 0x3ff
        }
        offset = afterHigh
        return unit
    }

    private mutating func takeCodeUnit() -> UInt32? {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = next, let value = Self.value(ofDigit: digit) else { return nil }
            unit = unit << 4 | value
            offset += 1
        }
        return unit
    }

    private static func value(ofDigit digit: UInt8) -> UInt32? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(digit - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(digit - UInt8(ascii: "A") + 10)
        default: nil
        }
    }

    /// UTF-8 as RFC 3629 §3 builds it, for surrogates as well.
    private static func append(_ scalar: UInt32, to key: inout [UInt8]) {
        func tail(_ shift: UInt32) -> UInt8 {
            UInt8(truncatingIfNeeded: scalar >> shift) & 0x3f | 0x80
        }
        switch scalar {
        case ..<0x80: key.append(UInt8(truncatingIfNeeded: scalar))
        case ..<0x800: key += [UInt8(truncatingIfNeeded: scalar >> 6) | 0xc0, tail(0)]
        case ..<0x1_0000:
            key += [UInt8(truncatingIfNeeded: scalar >> 12) | 0xe0, tail(6), tail(0)]
        default:
            key += [UInt8(truncatingIfNeeded: scalar >> 18) | 0xf0, tail(12), tail(6), tail(0)]
        }
    }
}
