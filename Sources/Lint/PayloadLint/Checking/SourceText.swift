// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import StrictJSON

/// The part of a source line around a finding.
package struct SourceLine: Hashable, Sendable {
    /// The part: as much as a report can show.
    package let bytes: [UInt8]
    /// The column of the finding in the part, from 1 in Unicode scalars.
    package let column: Int
}

/// A text with findings: converts places to lines and columns.
struct SourceText: Sendable {
    let bytes: [UInt8]
    /// The line number of the text's first line in the file.
    let firstLine: Int
    /// Whether the text is one line of a file, so that all places are on that line.
    let isSingleLine: Bool
    /// The comments in the text that ignore findings.
    var ignores = InlineIgnores()
    /// The lines; `nil` for a short text, which is read when a place in it is asked for.
    private let index: LineIndex?

    /// Creates a text.
    init(_ bytes: [UInt8], firstLine: Int = 1, isSingleLine: Bool = false) {
        self.bytes = bytes
        self.firstLine = firstLine
        self.isSingleLine = isSingleLine
        index = bytes.count > LintLimits.unindexedBytes ? LineIndex(bytes) : nil
    }

    /// Creates the text of a document, with the comments in it.
    init(_ bytes: [UInt8], of document: PushDocument) {
        self.init(bytes)
        guard document.hasComments else { return }
        ignores = InlineIgnores(bytes)
        for block in document.blocks where !ignores.isEmpty {
            let first = position(of: .offset(block.lowerBound)).line
            let last = position(of: .offset(max(block.lowerBound, block.upperBound - 1))).line
            ignores.extend(over: first...last)
        }
    }

    private var lines: LineIndex { index ?? LineIndex(bytes) }

    /// The line and the column of a place.
    func position(of place: FilePlace) -> (line: Int, column: Int) {
        switch place {
        case .position(let line, let column): return (line, column)
        case .offset(let offset):
            let position = lines.position(of: offset, in: bytes)
            return (isSingleLine ? firstLine : firstLine + position.line - 1, position.column)
        }
    }

    /// Whether a shell expansion starts at a place: `$NAME`, `$(…)`, or a command in backquotes.
    func isExpansion(at place: FilePlace) -> Bool {
        guard case .offset(let offset) = place, offset < bytes.count else { return false }
        return bytes[offset] == UInt8(ascii: "$") || bytes[offset] == UInt8(ascii: "`")
    }

    /// Whether a key at a place begins with a shell expansion, or with a variable of an editor.
    func isNamedByExpansion(at place: FilePlace) -> Bool {
        guard case .offset(let offset) = place else { return false }
        return isExpansion(at: .offset(offset + 1)) || has("\"{{", at: place)
    }

    /// Whether a text is at a place.
    func has(_ text: StaticString, at place: FilePlace) -> Bool {
        guard case .offset(let offset) = place, offset < bytes.count else { return false }
        return text.withUTF8Buffer { bytes[offset...].starts(with: $0) }
    }

    /// Whether a remark behind the text of a date names its form, or the page shows how the app
    /// decodes by hand.
    func explainsDate(at place: FilePlace, isInPage: Bool) -> Bool {
        if isInPage, bytes.contains(text: "init(from decoder") { return true }
        guard case .offset(let offset) = place, offset < bytes.count else { return false }
        let line = bytes[offset...].prefix { !Self.isLineEnd($0) }.dropFirst()
        let rest = line.drop { $0 != UInt8(ascii: "\"") }.dropFirst()
        let remark = String(decoding: rest, as: UTF8.self).lowercased()
        guard ["//", "#", "/*"].contains(where: { remark.contains($0) }) else { return false }
        let letters = remark.filter { $0.isLetter || $0.isNumber }
        return letters.contains("iso8601") || letters.contains("rfc3339")
    }

    /// The line of a place, without its line end, as far as a report can show it: a file of one
    /// line may have a finding in every hundred bytes.
    func line(at place: FilePlace) -> SourceLine {
        let offset =
            switch place {
            case .offset(let offset): min(offset, bytes.count)
            case .position(let line, let column):
                lines.offset(ofLine: line - firstLine + 1, column: column, in: bytes)
            }
        let reach = LintLimits.excerptColumns * 2 * Self.longestScalar
        var start = max(0, offset - reach)
        if let end = bytes[start..<offset].lastIndex(where: Self.isLineEnd) {
            start = end + 1
        } else {
            while start > 0, start < offset, bytes[start] & 0xc0 == 0x80 { start += 1 }
        }
        var end = min(bytes.count, offset + reach)
        if let stop = bytes[offset..<end].firstIndex(where: Self.isLineEnd) {
            end = stop
        } else {
            while end < bytes.count, end > offset, bytes[end] & 0xc0 == 0x80 { end -= 1 }
        }
        let column = bytes[start..<offset].count { $0 & 0xc0 != 0x80 } + 1
        return SourceLine(bytes: Array(bytes[start..<end]), column: column)
    }

    /// The length of the longest character in UTF-8, in bytes.
    private static let longestScalar = 4

    private static func isLineEnd(_ byte: UInt8) -> Bool { byte == 0x0a || byte == 0x0d }
}
