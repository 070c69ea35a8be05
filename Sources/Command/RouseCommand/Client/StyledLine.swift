// SPDX-License-Identifier: Apache-2.0

/// A line of text with colours, whose characters are counted as a terminal shows them.
struct StyledLine {
    private struct Cell {
        let character: Character
        let columns: Int
        /// The sequences that are in force there.
        let style: String
    }

    /// Shown for a control character. Some of the text comes from a gateway's callers, and what
    /// moves the cursor does not belong into a line.
    private static let placeholder: Character = "\u{fffd}"

    private let cells: [Cell]

    /// Reads a line, in which ``Console/coloured(_:_:)`` may have put colours.
    init(_ text: String) {
        var cells: [Cell] = []
        var style = ""
        var rest = Substring(text)
        while let character = rest.first {
            if character == "\u{1b}",
                let sequence = Console.colourSequences.first(where: rest.hasPrefix)
            {
                style = sequence == Console.plain ? "" : style + sequence
                rest = rest.dropFirst(sequence.count)
                continue
            }
            rest = rest.dropFirst()
            let printable = String(character).printable
            let shown =
                character.isWhitespace
                ? " " : printable == String(character) ? character : Self.placeholder
            cells.append(
                Cell(
                    character: shown, columns: DisplayWidth.columns(of: shown), style: style))
        }
        self.cells = cells
    }

    /// The line in rows of at most `width` columns, broken at blanks where there are some. What
    /// goes on begins below the text behind a label.
    func broken(at width: Int) -> [String] {
        var rows: [String] = []
        var rest = cells[...]
        var indent = 0
        repeat {
            var end = Self.end(of: rest, within: width - indent)
            var next = end
            if end < rest.endIndex {
                let lead = rest.prefix { $0.character == " " }.endIndex
                if rest[end].character != " ", lead < end,
                    let blank = rest[lead..<end].lastIndex(where: { $0.character == " " })
                {
                    end = blank
                    next = blank
                }
                next = rest[next...].firstIndex { $0.character != " " } ?? rest.endIndex
                let last = rest[..<end].lastIndex { $0.character != " " }
                end = last.map { $0 + 1 } ?? rest.startIndex
            }
            rows.append(String(repeating: " ", count: indent) + Self.text(rest[..<end]))
            rest = rest[next...]
            indent = min(indentation, width / 2)
        } while !rest.isEmpty
        return rows
    }

    /// Where the text of the line begins: behind its label, or further in.
    private var indentation: Int {
        max(Console.fieldIndent, cells.prefix { $0.character == " " }.count)
    }

    /// The end of what fits, with one character at least.
    private static func end(of cells: ArraySlice<Cell>, within width: Int) -> Int {
        var columns = 0
        for (index, cell) in zip(cells.indices, cells) {
            columns += cell.columns
            if columns > width { return max(index, cells.startIndex + 1) }
        }
        return cells.endIndex
    }

    private static func text(_ cells: ArraySlice<Cell>) -> String {
        var text = ""
        var style = ""
        for cell in cells {
            if cell.style != style {
                if !style.isEmpty { text += Console.plain }
                text += cell.style
                style = cell.style
            }
            text.append(cell.character)
        }
        return style.isEmpty ? text : text + Console.plain
    }
}
