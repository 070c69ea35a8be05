// SPDX-License-Identifier: Apache-2.0

/// A page as it fits a terminal: no row is wider, and all rows fit.
///
/// A row that the terminal breaks by itself, or one that scrolls away, would leave the next frame
/// to begin in the wrong place.
struct LiveFrame: Hashable, Sendable {
    /// The rows that are shown, with their colours.
    let rows: [String]
    /// What they were made for.
    let size: TerminalSize

    /// Breaks the lines of a page at blanks, and leaves out what does not fit below; the last row
    /// then says how much that is.
    init(_ page: [String], on size: TerminalSize) {
        self.size = size
        // A character in the last column leaves the cursor in a place that terminals disagree on,
        // and the cursor needs a row of its own below the last.
        let width = max(1, size.columns - 1)
        let height = max(1, size.rows - 1)
        let rows = page.flatMap { StyledLine($0).broken(at: width) }
        guard rows.count > height else {
            self.rows = rows
            return
        }
        let left = rows.count - (height - 1)
        let remark = StyledLine("… \(left) more lines are not shown.").broken(at: width)[0]
        self.rows = rows.prefix(height - 1) + [remark]
    }

    /// The characters that put it in the place of an earlier frame, below which the cursor is.
    func text(over old: LiveFrame?) -> String {
        let start =
            switch old {
            case nil: ""
            // What a terminal does to its rows when it changes is not known.
            case let old? where old.size != size: "\u{1b}[H\u{1b}[2J"
            case let old? where old.rows.isEmpty: ""
            case let old?: "\u{1b}[\(old.rows.count)A"
            }
        return start + rows.map { "\u{1b}[K\($0)\n" }.joined() + "\u{1b}[J"
    }
}
