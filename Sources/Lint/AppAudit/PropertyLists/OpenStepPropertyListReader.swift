// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Reads a property list in the OpenStep format: `{ key = value; }`, `( a, b )`, `<0fbd77>`,
/// strings with and without quotes, comments as in C.
struct OpenStepPropertyListReader {
    private let file: String
    private var cursor: TextCursor
    private var valueCount = 0

    /// Creates a reader of these bytes.
    init(_ bytes: [UInt8], file: String) {
        self.file = file
        cursor = TextCursor(bytes)
    }

    /// Reads the whole text.
    mutating func read() throws(ReadingFailure) -> AppProperty {
        try skipBlanks()
        let value = try value(pointer: "", depth: 0)
        try skipBlanks()
        guard cursor.isAtEnd else { throw failure("something follows the list's end") }
        return value
    }

    private mutating func value(
        pointer: String, depth: Int
    ) throws(ReadingFailure) -> AppProperty {
        valueCount += 1
        guard depth < AuditLimits.propertyListDepth else {
            throw failure("containers are nested too deeply")
        }
        guard valueCount <= AuditLimits.projectValues else {
            throw failure("the list has too many values")
        }
        let place = AppPlace(file: file, cursor.position, pointer: pointer)
        if cursor.take("{") { return AppProperty(try dictionary(place, depth), at: place) }
        if cursor.take("(") { return AppProperty(try array(place, depth), at: place) }
        if cursor.take("<") {
            _ = cursor.take { $0 != UInt8(ascii: ">") }
            guard cursor.take(">") else { throw failure("data does not end", place) }
            return AppProperty(.opaque, at: place)
        }
        return AppProperty(.string(try text()), at: place)
    }

    private mutating func dictionary(
        _ place: AppPlace, _ depth: Int
    ) throws(ReadingFailure) -> AppProperty.Value {
        var members: [String: AppProperty] = [:]
        while true {
            try skipBlanks()
            if cursor.take("}") { return .dictionary(members) }
            guard !cursor.isAtEnd else { throw failure("a dictionary does not end", place) }
            let key = try text()
            try skipBlanks()
            guard cursor.take("=") else { throw failure("`=` was expected") }
            try skipBlanks()
            members[key] = try value(pointer: place.pointer(appending: key), depth: depth + 1)
            try skipBlanks()
            guard cursor.take(";") else { throw failure("`;` was expected") }
        }
    }

    private mutating func array(
        _ place: AppPlace, _ depth: Int
    ) throws(ReadingFailure) -> AppProperty.Value {
        var elements: [AppProperty] = []
        while true {
            try skipBlanks()
            if cursor.take(")") { return .array(elements) }
            guard !cursor.isAtEnd else { throw failure("an array does not end", place) }
            elements.append(
                try value(
                    pointer: place.pointer(appending: "\(elements.count)"), depth: depth + 1))
            try skipBlanks()
            guard cursor.take(",") || cursor.sees(")") else {
                throw failure("`,` or `)` was expected")
            }
        }
    }

    // MARK: Texts

    private mutating func text() throws(ReadingFailure) -> String {
        let quote = cursor.byte
        if quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
            return try quotedText(quote)
        }
        let bytes = cursor.take(while: Self.isPlain)
        guard !bytes.isEmpty else {
            throw failure(cursor.isAtEnd ? "the text ends early" : "a value was expected")
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether a byte needs no quotes.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"),
            UInt8(ascii: "/"), UInt8(ascii: ":"), UInt8(ascii: "."), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    private mutating func quotedText(_ quote: UInt8) throws(ReadingFailure) -> String {
        let start = cursor.position
        cursor.advance()
        var content: [UInt8] = []
        while true {
            content += cursor.take { $0 != quote && $0 != UInt8(ascii: "\\") }
            guard !cursor.isAtEnd else {
                throw failure("a text does not end", AppPlace(file: file, start))
            }
            let isEnd = cursor.byte == quote
            cursor.advance()
            if isEnd { break }
            content += try escaped().utf8
        }
        guard let text = String(validating: content, as: UTF8.self) else {
            throw failure("the text is not UTF-8", AppPlace(file: file, start))
        }
        return text
    }

    /// The character after a backslash.
    private mutating func escaped() throws(ReadingFailure) -> String {
        let byte = cursor.byte
        switch byte {
        case UInt8(ascii: "U"): return try escapedUTF16()
        case UInt8(ascii: "0")...UInt8(ascii: "7"):
            var number: UInt32 = 0
            for _ in 0..<3 where (UInt8(ascii: "0")...UInt8(ascii: "7")).contains(cursor.byte) {
                number = number * 8 + UInt32(cursor.byte - UInt8(ascii: "0"))
                cursor.advance()
            }
            return Unicode.Scalar(number).map { String(Character($0)) } ?? ""
        default: break
        }
        guard !cursor.isAtEnd else { throw failure("the text ends early") }
        cursor.advance()
        switch byte {
        case UInt8(ascii: "a"): return "\u{07}"
        case UInt8(ascii: "b"): return "\u{08}"
        case UInt8(ascii: "f"): return "\u{0c}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "v"): return "\u{0b}"
        case 0x20...0x7e, 0x0a: return String(Character(Unicode.Scalar(byte)))
        default: throw failure("the escape is not known")
        }
    }

    /// `\Uhhhh`, with the second half of a surrogate pair.
    private mutating func escapedUTF16() throws(ReadingFailure) -> String {
        var units = [try codeUnit()]
        if UTF16.isLeadSurrogate(units[0]), cursor.take("\\") { units.append(try codeUnit()) }
        guard let text = String(validating: units, as: UTF16.self) else {
            throw failure("half of a surrogate pair without the other")
        }
        return text
    }

    private mutating func codeUnit() throws(ReadingFailure) -> UInt16 {
        guard cursor.take("U") else { throw failure("`U` and four digits were expected") }
        var count = 0
        let digits = cursor.take { byte in
            count += 1
            return count <= 4 && Character(Unicode.Scalar(byte)).isHexDigit
        }
        guard let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16),
            digits.count == 4
        else { throw failure("four hexadecimal digits were expected") }
        return unit
    }

    // MARK: Blanks

    private mutating func skipBlanks() throws(ReadingFailure) {
        while true {
            _ = cursor.take { $0 == 0x20 || (0x09...0x0d).contains($0) }
            if cursor.take("//") {
                _ = cursor.take { $0 != 0x0a && $0 != 0x0d }
            } else if cursor.sees("/*") {
                let start = cursor.position
                cursor.advance(by: 2)
                guard cursor.advance(to: "*/") else {
                    throw failure("a comment does not end", AppPlace(file: file, start))
                }
                cursor.advance(by: 2)
            } else {
                return
            }
        }
    }

    private func failure(_ message: String, _ place: AppPlace? = nil) -> ReadingFailure {
        ReadingFailure(place: place ?? AppPlace(file: file, cursor.position), message: message)
    }
}
