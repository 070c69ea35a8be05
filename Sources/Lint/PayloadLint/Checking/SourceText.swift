// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import StrictJSON

/// A text with findings: converts places to lines and columns.
struct SourceText: Sendable {
    let bytes: [UInt8]
    /// The line number of the text's first line in the file.
    var firstLine = 1
    /// Whether the text is one line of a file, so that all places are on that line.
    var isSingleLine = false
    /// The comments in the text that ignore findings.
    var ignores = InlineIgnores()

    /// The line and the column of a place.
    func position(of place: FilePlace) -> (line: Int, column: Int) {
        switch place {
        case .position(let line, let column): return (line, column)
        case .offset(let offset):
            let position = TextPosition(offset: offset, in: bytes)
            if isSingleLine { return (firstLine, position.column) }
            return (firstLine + position.line - 1, position.column)
        }
    }

    /// Whether a shell expansion starts at a place: `$NAME`, `$(…)`, or a command in backquotes.
    func isExpansion(at place: FilePlace) -> Bool {
        guard case .offset(let offset) = place, offset < bytes.count else { return false }
        return bytes[offset] == UInt8(ascii: "$") || bytes[offset] == UInt8(ascii: "`")
    }

    /// Whether a text is at a place.
    func has(_ text: StaticString, at place: FilePlace) -> Bool {
        guard case .offset(let offset) = place, offset < bytes.count else { return false }
        return text.withUTF8Buffer { bytes[offset...].starts(with: $0) }
    }

    /// The line of a place, without its line end.
    func line(at place: FilePlace) -> [UInt8] {
        switch place {
        case .offset(let offset):
            let offset = min(offset, bytes.count)
            let start = bytes[..<offset].lastIndex(where: Self.isLineEnd).map { $0 + 1 } ?? 0
            return Array(bytes[start...].prefix { !Self.isLineEnd($0) })
        case .position(let line, _):
            var number = firstLine
            var start = 0
            while number < line, let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
                start = end + 1
                number += 1
            }
            return Array(bytes[start...].prefix { !Self.isLineEnd($0) })
        }
    }

    private static func isLineEnd(_ byte: UInt8) -> Bool { byte == 0x0a || byte == 0x0d }
}
