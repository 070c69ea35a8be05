// SPDX-License-Identifier: Apache-2.0

/// Blocks between fences of Markdown.
extension PageBlock {
    /// The blocks between fences (CommonMark 0.31 §4.5), also in quotes (§5.1) and lists (§5.2).
    /// The end of the page or of the quote ends the last one.
    ///
    /// A fence with more than three blanks before it is code, unless it is in a list. Here it opens
    /// a block if a fence below closes it: pages have more containers than CommonMark.
    static func fenced(_ lines: [Range<Int>], of bytes: [UInt8]) -> [PageBlock] {
        var blocks: [PageBlock] = []
        var unclosed: Set<[Int]> = []
        var index = 0
        while index < lines.count {
            let opening = lines[index]
            index += 1
            guard let fence = Fence(bytes, opening), !unclosed.contains(fence.kind) else {
                continue
            }
            var end = index
            var marks: [Int] = []
            var isClosed = false
            while end < lines.count, !isClosed,
                let text = fence.withoutQuotes(bytes, lines[end], &marks)
            {
                isClosed = fence.isClosed(by: text)
                end += 1
            }
            guard isClosed || fence.column < 4 else {
                unclosed.insert(fence.kind)
                continue
            }
            index = end
            let content = opening.upperBound..<lines[isClosed ? end - 1 : end, or: bytes.count]
            blocks.append(
                PageBlock(
                    whole: opening.lowerBound..<lines[end, or: bytes.count], content: content,
                    language: fence.language, quoteMarks: marks.filter(content.contains)))
        }
        return blocks
    }
}

/// The line that opens a block between fences.
private struct Fence {
    private var mark: UInt8 = 0
    private var length = 0
    /// The number of blanks before it, in a quote behind its mark.
    private(set) var column = 0
    /// The number of the quotes around it.
    private var quotes = 0
    private(set) var language = ""

    /// What decides which fences close it.
    var kind: [Int] { [Int(mark), length, column, quotes] }

    /// Reads a line, unless it opens no block.
    init?(_ bytes: [UInt8], _ line: Range<Int>) {
        var text = bytes[line]
        while let rest = Self.behindQuote(text) {
            quotes += 1
            text = rest
        }
        let start = text.startIndex
        var rest = text.drop(while: Self.isBlank)
        if let item = Self.behindListMark(rest) { rest = item }
        guard let mark = rest.first, "`~".utf8.contains(mark) else { return nil }
        self.mark = mark
        length = rest.prefix { $0 == mark }.count
        column = Self.column(of: text[start..<rest.startIndex])
        let info = rest.dropFirst(length)
        // Backticks with a backtick behind them are code within a line.
        guard length >= 3, mark == UInt8(ascii: "~") || !info.contains(mark) else { return nil }
        language = PageBlock.word(in: info)
    }

    /// A line without the marks of the quotes around the block, whose offsets are added; `nil` if
    /// the quotes end before it.
    func withoutQuotes(
        _ bytes: [UInt8], _ line: Range<Int>, _ marks: inout [Int]
    ) -> ArraySlice<UInt8>? {
        var text = bytes[line]
        for _ in 0..<quotes {
            guard let rest = Self.behindQuote(text) else { return nil }
            marks += text[..<rest.startIndex].indices.filter { bytes[$0] == UInt8(ascii: ">") }
            text = rest
        }
        return text
    }

    /// Whether a line closes the block.
    func isClosed(by line: ArraySlice<UInt8>) -> Bool {
        let text = line.drop(while: Self.isBlank)
        guard text.first == mark else { return false }
        let rest = text.drop { $0 == mark }
        return rest.startIndex - text.startIndex >= length && rest.allSatisfy { $0 <= 0x20 }
            && abs(Self.column(of: line[..<text.startIndex]) - column) < 4
    }

    private static func behindQuote(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let rest = text.drop(while: isBlank)
        guard rest.first == UInt8(ascii: ">") else { return nil }
        return rest.dropFirst(rest.dropFirst().first == 0x20 ? 2 : 1)
    }

    /// What is behind `-`, `*`, `+` or a number with a point or a bracket; `nil` if there is none.
    private static func behindListMark(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let digits = text.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        let marks = digits.isEmpty ? "-*+" : ".)"
        let rest = text.dropFirst(digits.count)
        guard let mark = rest.first, marks.utf8.contains(mark),
            rest.dropFirst().first.map(isBlank) == true
        else { return nil }
        return rest.dropFirst().drop(while: isBlank)
    }

    /// The width of what is before a place, with tabs to every fourth column (§2.2).
    private static func column(of text: ArraySlice<UInt8>) -> Int {
        text.reduce(0) { $1 == 0x09 ? ($0 / 4 + 1) * 4 : $0 + 1 }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}

extension [Range<Int>] {
    /// The start of an element; `end` behind the last one.
    fileprivate subscript(index: Int, or end: Int) -> Int {
        index < count ? self[index].lowerBound : end
    }
}
