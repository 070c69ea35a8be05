// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Reads a UTF-8 text once, and tracks the position.
struct TextCursor {
    /// The text.
    let bytes: [UInt8]
    /// The offset in bytes, from 0 to the length of the text.
    private(set) var offset = 0
    /// The line, from 1. Lines end with LF, CR or CR LF.
    private(set) var line = 1
    /// The column in characters (Unicode scalars), from 1.
    private(set) var column = 1

    /// A position in a text.
    struct Position: Hashable, Sendable {
        var offset = 0
        var line = 1
        var column = 1
    }

    /// Creates a cursor at the start of a text, after the byte order mark.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        if bytes.starts(with: [0xef, 0xbb, 0xbf]) { offset = 3 }
    }

    /// The current position.
    var position: Position { Position(offset: offset, line: line, column: column) }

    /// Whether the cursor is at the end.
    var isAtEnd: Bool { offset >= bytes.count }

    /// The byte at the cursor; 0 at the end.
    var byte: UInt8 { offset < bytes.count ? bytes[offset] : 0 }

    /// The byte at a distance from the cursor; 0 beyond the end.
    func byte(ahead distance: Int) -> UInt8 {
        offset + distance < bytes.count ? bytes[offset + distance] : 0
    }

    /// Whether this text is at the cursor.
    func sees(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard bytes.count - offset >= count else { return false }
        return text.withUTF8Buffer { text in
            for index in 0..<count where bytes[offset + index] != text[index] { return false }
            return true
        }
    }

    /// Consumes one byte.
    mutating func advance() {
        guard offset < bytes.count else { return }
        switch bytes[offset] {
        case 0x0a:
            line += 1
            column = 1
        case 0x0d where byte(ahead: 1) != 0x0a:
            line += 1
            column = 1
        case 0x80...0xbf: break
        default: column += 1
        }
        offset += 1
    }

    /// Consumes some bytes.
    mutating func advance(by count: Int) {
        for _ in 0..<count { advance() }
    }

    /// Consumes this text if it is at the cursor.
    mutating func take(_ text: StaticString) -> Bool {
        guard sees(text) else { return false }
        advance(by: text.utf8CodeUnitCount)
        return true
    }

    /// Consumes the bytes that satisfy a condition.
    mutating func take(while isMeant: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let start = offset
        while !isAtEnd, isMeant(bytes[offset]) { advance() }
        return bytes[start..<offset]
    }

    /// Moves to the start of a text; returns `false` if it does not occur.
    mutating func advance(to text: StaticString) -> Bool {
        while !isAtEnd {
            if sees(text) { return true }
            advance()
        }
        return false
    }
}

extension AppPlace {
    /// Creates the place of a position in a file.
    init(file: String, _ position: TextCursor.Position, pointer: String = "") {
        self.init(
            file: file, line: position.line, column: position.column, offset: position.offset,
            pointer: pointer)
    }

    /// The place's pointer with one more component (RFC 6901), unless it becomes too long.
    func pointer(appending step: String) -> String {
        guard pointer.utf8.count + step.utf8.count < AuditLimits.pointerBytes else {
            return pointer
        }
        var result = pointer + "/"
        for scalar in step.unicodeScalars {
            switch scalar {
            case "~": result += "~0"
            case "/": result += "~1"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
