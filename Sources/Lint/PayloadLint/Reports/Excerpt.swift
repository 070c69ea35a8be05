// SPDX-License-Identifier: Apache-2.0

/// A part of a source line around a column, for a terminal.
struct Excerpt: Hashable {
    /// The part. Tabs are replaced by spaces, and control characters by U+FFFD.
    let line: String
    /// The number of cells before the column.
    let caretIndent: Int

    /// Creates the part of a line around a column, from 1 in Unicode scalars.
    init(_ source: [UInt8], column: Int, width: Int = LintLimits.excerptColumns) {
        let scalars = Array(String(decoding: source, as: UTF8.self).unicodeScalars)
        let target = min(max(0, column - 1), scalars.count)
        // Two thirds of the width after the caret, because the text after it is more useful.
        var start = 0
        if scalars.count > width {
            start = min(max(0, target - width / 3), scalars.count - width)
        }
        let end = min(scalars.count, start + width)
        var line = start > 0 ? "…" : ""
        var indent = start > 0 ? 1 : 0
        for index in start..<end {
            let scalar = Self.shown(scalars[index])
            line.unicodeScalars.append(scalar)
            if index < target { indent += Self.cells(scalar) }
        }
        if end < scalars.count { line += "…" }
        self.line = line
        caretIndent = indent
    }

    /// Whether a character controls the terminal or the direction of the text.
    static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate: true
        default:
            (0x202a...0x202e).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
        }
    }

    private static func shown(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        if scalar == "\t" { return " " }
        return isControl(scalar) ? "\u{fffd}" : scalar
    }

    /// The number of cells of a character: two for wide East Asian characters and most emoji, none
    /// for combining marks.
    private static func cells(_ scalar: Unicode.Scalar) -> Int {
        switch scalar.value {
        case 0x20..<0x300: return 1
        case 0x1100...0x115f, 0x2e80...0xa4cf, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe30...0xfe6f,
            0xff00...0xff60, 0xffe0...0xffe6, 0x1f300...0x1f64f, 0x1f900...0x1f9ff,
            0x20000...0x3fffd:
            return 2
        default:
            switch scalar.properties.generalCategory {
            case .nonspacingMark, .enclosingMark, .format: return 0
            default: return 1
            }
        }
    }
}
