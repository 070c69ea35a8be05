// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Reads a property list in XML: Apple's document type, and the part of XML 1.0 that such documents
/// use.
///
/// Namespaces, custom entities and encodings other than UTF-8 are refused. The place of a value is
/// that of its element.
struct XMLPropertyListReader {
    private let file: String
    private let allowsNothing: Bool
    private var cursor: TextCursor
    private var valueCount = 0

    /// Creates a reader of these bytes, which reads an empty `<plist>` as an empty dictionary if it
    /// may hold nothing.
    init(_ bytes: [UInt8], file: String, allowsNothing: Bool = false) {
        self.file = file
        self.allowsNothing = allowsNothing
        cursor = TextCursor(bytes)
    }

    /// Reads the whole document.
    mutating func read() throws(ReadingFailure) -> AppProperty {
        try skipProlog()
        let root = try startTag()
        guard root.name == "plist" else { throw failure("`<plist>` was expected", root.position) }
        let value: AppProperty
        if let tag = root.isEmpty ? nil : try nextTag(in: "plist") {
            value = try self.value(tag, pointer: "", depth: 0)
            guard try closingTag() == "plist" else { throw failure("`</plist>` was expected") }
        } else {
            guard allowsNothing else {
                throw failure("`<plist>` holds nothing", root.isEmpty ? root.position : nil)
            }
            value = AppProperty(.dictionary([:]), at: AppPlace(file: file, root.position))
        }
        try skipMiscellany()
        guard cursor.isAtEnd else { throw failure("something follows `</plist>`") }
        return value
    }

    // MARK: Values

    private mutating func value(
        _ tag: Tag, pointer: String, depth: Int
    ) throws(ReadingFailure) -> AppProperty {
        valueCount += 1
        guard depth < AuditLimits.propertyListDepth else {
            throw failure("containers are nested too deeply", tag.position)
        }
        guard valueCount <= AuditLimits.propertyListValues else {
            throw failure("the list has too many values", tag.position)
        }
        let place = AppPlace(file: file, tag.position, pointer: pointer)
        switch tag.name {
        case "dict": return AppProperty(try dictionary(tag, place, depth), at: place)
        case "array": return AppProperty(try array(tag, place, depth), at: place)
        case "true", "false":
            let text = try content(of: tag)
            guard text.allSatisfy(\.isWhitespace) else {
                throw failure("`<\(tag.name)>` has content", tag.position)
            }
            return AppProperty(.boolean(tag.name == "true"), at: place)
        case "string": return AppProperty(.string(try content(of: tag)), at: place)
        case "integer":
            let text = try content(of: tag)
            guard let number = Self.integer(text) else {
                throw failure("`<integer>` holds no integer", tag.position)
            }
            return AppProperty(.integer(number), at: place)
        case "real":
            guard let number = Double(Self.trimmed(try content(of: tag))) else {
                throw failure("`<real>` holds no number", tag.position)
            }
            return AppProperty(.real(number), at: place)
        case "date", "data":
            _ = try content(of: tag)
            return AppProperty(.opaque, at: place)
        default:
            throw failure("`<\(tag.name)>` is no value of a property list", tag.position)
        }
    }

    private mutating func dictionary(
        _ tag: Tag, _ place: AppPlace, _ depth: Int
    ) throws(ReadingFailure) -> AppProperty.Value {
        var members: [String: AppProperty] = [:]
        guard !tag.isEmpty else { return .dictionary(members) }
        while let keyTag = try nextTag(in: tag.name) {
            guard keyTag.name == "key" else {
                throw failure("`<key>` was expected in `<dict>`", keyTag.position)
            }
            let key = try content(of: keyTag)
            guard let valueTag = try nextTag(in: tag.name) else {
                throw failure("the key `\(key)` has no value", keyTag.position)
            }
            guard valueTag.name != "key" else {
                throw failure("the key `\(key)` has no value", valueTag.position)
            }
            members[key] = try value(
                valueTag, pointer: place.pointer(appending: key), depth: depth + 1)
        }
        return .dictionary(members)
    }

    private mutating func array(
        _ tag: Tag, _ place: AppPlace, _ depth: Int
    ) throws(ReadingFailure) -> AppProperty.Value {
        var elements: [AppProperty] = []
        guard !tag.isEmpty else { return .array(elements) }
        while let child = try nextTag(in: tag.name) {
            elements.append(
                try value(
                    child, pointer: place.pointer(appending: "\(elements.count)"),
                    depth: depth + 1))
        }
        return .array(elements)
    }

    private static func integer(_ text: String) -> Int64? {
        let text = trimmed(text)
        let digits = text.drop { $0 == "-" || $0 == "+" }
        guard digits.hasPrefix("0x") || digits.hasPrefix("0X") else { return Int64(text) }
        guard text.count - digits.count <= 1 else { return nil }
        guard let number = Int64(digits.dropFirst(2), radix: 16) else { return nil }
        return text.hasPrefix("-") ? -number : number
    }

    private static func trimmed(_ text: String) -> String {
        let start = text.drop(while: \.isWhitespace)
        guard let last = start.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(start[...last])
    }

    // MARK: Tags

    private struct Tag {
        let name: String
        /// Whether it is an empty-element tag: `<dict/>`.
        let isEmpty: Bool
        let position: TextCursor.Position
    }

    /// The next element in a container; `nil` at the container's closing tag, which is consumed.
    private mutating func nextTag(in container: String) throws(ReadingFailure) -> Tag? {
        try skipMiscellany()
        guard cursor.sees("</") else { return try startTag() }
        let position = cursor.position
        guard try closingTag() == container else {
            throw failure("`</\(container)>` was expected", position)
        }
        return nil
    }

    private mutating func startTag() throws(ReadingFailure) -> Tag {
        let position = cursor.position
        guard cursor.take("<") else {
            throw failure(cursor.isAtEnd ? "the text ends early" : "a tag was expected")
        }
        let name = try name()
        while true {
            skipSpace()
            if cursor.take("/>") { return Tag(name: name, isEmpty: true, position: position) }
            if cursor.take(">") { return Tag(name: name, isEmpty: false, position: position) }
            try skipAttribute()
        }
    }

    private mutating func closingTag() throws(ReadingFailure) -> String {
        try skipMiscellany()
        guard cursor.take("</") else {
            throw failure(cursor.isAtEnd ? "the text ends early" : "a closing tag was expected")
        }
        let name = try name()
        skipSpace()
        guard cursor.take(">") else { throw failure("`>` was expected") }
        return name
    }

    private mutating func name() throws(ReadingFailure) -> String {
        let bytes = cursor.take { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"),
                UInt8(ascii: "."), UInt8(ascii: ":"):
                true
            default: false
            }
        }
        guard !bytes.isEmpty else {
            throw failure(cursor.isAtEnd ? "the text ends early" : "a name was expected")
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private mutating func skipAttribute() throws(ReadingFailure) {
        _ = try name()
        skipSpace()
        guard cursor.take("=") else { throw failure("`=` was expected") }
        skipSpace()
        let quote = cursor.byte
        guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            throw failure("a quoted value was expected")
        }
        cursor.advance()
        _ = cursor.take { $0 != quote && $0 != UInt8(ascii: "<") }
        guard cursor.byte == quote else { throw failure("an attribute's value does not end") }
        cursor.advance()
    }

    // MARK: Text

    /// The text of an element up to its closing tag, which is consumed.
    private mutating func content(of tag: Tag) throws(ReadingFailure) -> String {
        guard !tag.isEmpty else { return "" }
        var content: [UInt8] = []
        while true {
            content += cursor.take { $0 != UInt8(ascii: "<") && $0 != UInt8(ascii: "&") }
            if cursor.byte == UInt8(ascii: "&") {
                content += try reference().utf8
            } else if cursor.sees("<!--") {
                try skipComment()
            } else if cursor.take("<![CDATA[") {
                let start = cursor.offset
                guard cursor.advance(to: "]]>") else { throw failure("a CDATA section is open") }
                content += cursor.bytes[start..<cursor.offset]
                cursor.advance(by: 3)
            } else if cursor.sees("</") {
                let position = cursor.position
                guard try closingTag() == tag.name else {
                    throw failure("`</\(tag.name)>` was expected", position)
                }
                break
            } else {
                throw failure(
                    cursor.isAtEnd
                        ? "`<\(tag.name)>` does not end" : "`<\(tag.name)>` holds an element",
                    cursor.isAtEnd ? tag.position : cursor.position)
            }
        }
        guard let text = String(validating: content, as: UTF8.self) else {
            throw failure("the text is not UTF-8", tag.position)
        }
        return text
    }

    /// A character reference, or one of XML's five predefined entities.
    private mutating func reference() throws(ReadingFailure) -> String {
        let position = cursor.position
        cursor.advance()
        let name = String(
            decoding: cursor.take { $0 != UInt8(ascii: ";") && $0 > 0x20 && $0 < 0x7f },
            as: UTF8.self)
        guard cursor.take(";") else { throw failure("a bare `&`; write `&amp;`", position) }
        switch name {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        default: break
        }
        guard name.hasPrefix("#") else {
            throw failure("the entity `&\(name);` is not known", position)
        }
        let isHexadecimal = name.hasPrefix("#x")
        let digits = name.dropFirst(isHexadecimal ? 2 : 1)
        guard let number = UInt32(digits, radix: isHexadecimal ? 16 : 10), number != 0,
            let scalar = Unicode.Scalar(number)
        else { throw failure("`&\(name);` is no character", position) }
        return String(Character(scalar))
    }

    // MARK: Skipped content

    private mutating func skipProlog() throws(ReadingFailure) {
        let start = cursor.position
        if cursor.sees("<?xml") {
            let from = cursor.offset
            guard cursor.advance(to: "?>") else { throw failure("the declaration is open", start) }
            let text = String(decoding: cursor.bytes[from..<cursor.offset], as: UTF8.self)
            if text.contains("encoding"), !text.lowercased().contains("utf-8") {
                throw failure("the encoding is not UTF-8; save the file as UTF-8", start)
            }
            cursor.advance(by: 2)
        }
        try skipMiscellany()
        if cursor.take("<!DOCTYPE") {
            _ = cursor.take { $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "[") }
            guard cursor.take(">") else {
                throw failure("the document type has declarations of its own or does not end")
            }
        }
        try skipMiscellany()
    }

    /// Skips white space, comments and processing instructions.
    private mutating func skipMiscellany() throws(ReadingFailure) {
        while true {
            skipSpace()
            if cursor.sees("<!--") {
                try skipComment()
            } else if cursor.sees("<?") {
                guard cursor.advance(to: "?>") else { throw failure("an instruction is open") }
                cursor.advance(by: 2)
            } else {
                return
            }
        }
    }

    private mutating func skipComment() throws(ReadingFailure) {
        let start = cursor.position
        cursor.advance(by: 4)
        guard cursor.advance(to: "-->") else { throw failure("a comment does not end", start) }
        cursor.advance(by: 3)
    }

    private mutating func skipSpace() {
        _ = cursor.take { $0 == 0x20 || $0 == 0x09 || $0 == 0x0a || $0 == 0x0d }
    }

    private func failure(
        _ message: String, _ position: TextCursor.Position? = nil
    ) -> ReadingFailure {
        ReadingFailure(
            place: AppPlace(file: file, position ?? cursor.position), message: message)
    }
}
