// SPDX-License-Identifier: Apache-2.0

extension JSONScanner {
    /// Reads a string from its opening quote to behind its closing one.
    mutating func scanString(as kind: JSONNode.Kind) throws(JSONSyntaxError) {
        let start = position
        var traits: JSONNode.Traits = []
        position += 1
        while true {
            position = endOfPlainText(from: position)
            guard position < bytes.count else { break }
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position += 1
                append(kind, from: start, to: position, traits: traits)
                return
            case UInt8(ascii: "\\"):
                try scanEscape(&traits)
            case 0x80...:
                try skipMultibyteCharacter()
            default:
                throw unexpected(
                    "a character or the closing quote",
                    hint: "Write control characters as escapes: \\n, \\t or \\u00XX.")
            }
        }
        throw unexpected(
            "the closing quote", hint: "The string is not closed; the text was probably cut.")
    }

    /// The first place from `start` on that holds something else than plain ASCII text, or the end.
    private func endOfPlainText(from start: Int) -> Int {
        let text = bytes.span
        var index = start
        while index < text.count {
            let byte = text[index]
            guard byte >= 0x20, byte < 0x80, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\")
            else { break }
            index += 1
        }
        return index
    }

    private mutating func scanEscape(_ traits: inout JSONNode.Traits) throws(JSONSyntaxError) {
        traits.insert(.escaped)
        position += 1
        switch current {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
            UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 1
        case UInt8(ascii: "u"):
            position += 1
            let unit = try scanFourHexDigits()
            if UTF16.isLeadSurrogate(unit), try skipTrailSurrogate() {
                noteAvoidableEscape(&traits)
            } else if UTF16.isLeadSurrogate(unit) || UTF16.isTrailSurrogate(unit) {
                traits.insert(.loneSurrogate)
            } else if unit >= 0x20, unit != 0x22, unit != 0x5c, unit != 0x7f {
                noteAvoidableEscape(&traits)
            }
        default:
            throw unexpected(
                "one of `\"`, `\\`, `/`, `b`, `f`, `n`, `r`, `t`, `u` after a backslash",
                hint: "Write a backslash itself as two.")
        }
    }

    private mutating func noteAvoidableEscape(_ traits: inout JSONNode.Traits) {
        traits.insert(.avoidableEscape)
        summary.avoidableEscapeCount += 1
    }

    private mutating func scanFourHexDigits() throws(JSONSyntaxError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = JSONText.hexDigitValue(current) else {
                throw unexpected("four hexadecimal digits after `\\u`")
            }
            unit = unit << 4 | UInt16(digit)
            position += 1
        }
        return unit
    }

    /// Skips the trail surrogate's escape at the position and returns whether there is one.
    private mutating func skipTrailSurrogate() throws(JSONSyntaxError) -> Bool {
        guard position + 1 < bytes.count, bytes[position] == UInt8(ascii: "\\"),
            bytes[position + 1] == UInt8(ascii: "u")
        else { return false }
        let start = position
        position += 2
        guard UTF16.isTrailSurrogate(try scanFourHexDigits()) else {
            position = start
            return false
        }
        return true
    }

    /// Skips one character of two to four bytes, after Unicode's table of well-formed UTF-8
    /// (The Unicode Standard, table 3-7).
    mutating func skipMultibyteCharacter() throws(JSONSyntaxError) {
        guard let length = JSONText.multibyteLength(bytes, at: position) else {
            throw badEncoding()
        }
        position += length
    }
}
