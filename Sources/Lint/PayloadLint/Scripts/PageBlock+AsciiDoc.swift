// SPDX-License-Identifier: Apache-2.0

/// Blocks of AsciiDoc.
extension PageBlock {
    /// The blocks between two equal lines of hyphens or points (AsciiDoc, "Listing Blocks" and
    /// "Literal Blocks"), or between fences of backticks. Below a line of text, hyphens make it a
    /// title.
    static func delimited(_ lines: [Range<Int>], of bytes: [UInt8]) -> [PageBlock] {
        var blocks: [PageBlock] = []
        var open: (start: Int, line: Range<Int>, end: ArraySlice<UInt8>, language: String)?
        // The lines in front of a block that belong to it: attributes and a title.
        var head: (start: Int, language: String)?
        var before: ArraySlice<UInt8> = []
        for range in lines {
            let line = trimmed(bytes[range])
            if let block = open {
                guard line == block.end else { continue }
                blocks.append(
                    PageBlock(
                        whole: block.start..<range.upperBound,
                        content: block.line.upperBound..<range.lowerBound,
                        language: block.language))
                open = nil
                head = nil
                before = []
            } else if let end = delimiter(line, behind: before) {
                let start = head?.start ?? range.lowerBound
                let own = word(in: line.dropFirst(end.count))
                open = (start, range, end, own.isEmpty ? head?.language ?? "" : own)
            } else if !line.starts(with: "//".utf8) {
                // A comment can be anywhere between them.
                before = line
                if let mark = line.first, mark == UInt8(ascii: "[") || isTitle(line) {
                    let language = language(inAttributes: line)
                    head = (
                        head?.start ?? range.lowerBound,
                        language.isEmpty ? head?.language ?? "" : language
                    )
                } else {
                    head = nil
                }
            }
        }
        return blocks
    }

    /// The line that ends the block that a line opens; `nil` if it opens none.
    private static func delimiter(
        _ line: ArraySlice<UInt8>, behind before: ArraySlice<UInt8>
    ) -> ArraySlice<UInt8>? {
        let fence = line.prefix(3)
        if fence.elementsEqual("```".utf8) { return fence }
        guard line.count >= 4, let mark = line.first, "-.".utf8.contains(mark),
            line.allSatisfy({ $0 == mark }), before.first.map({ "[.+".utf8.contains($0) }) ?? true
        else { return nil }
        return line
    }

    private static func isTitle(_ line: ArraySlice<UInt8>) -> Bool {
        line.first == UInt8(ascii: ".")
            && line.dropFirst().first.map { $0 > 0x20 && $0 != UInt8(ascii: ".") } == true
    }

    /// The language in `[source,json]` or `[,json]`; empty if there is none.
    private static func language(inAttributes line: ArraySlice<UInt8>) -> String {
        guard line.first == UInt8(ascii: "["), line.last == UInt8(ascii: "]") else { return "" }
        let parts = line.dropFirst().dropLast().split(
            separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        guard parts.count > 1, parts[0].isEmpty || parts[0].starts(with: "source".utf8) else {
            return ""
        }
        return word(in: parts[1])
    }

    /// A line without blanks and line ends around it.
    private static func trimmed(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let start = line.drop { $0 <= 0x20 }
        return start.dropLast(start.reversed().prefix { $0 <= 0x20 }.count)
    }
}
