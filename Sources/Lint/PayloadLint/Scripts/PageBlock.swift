// SPDX-License-Identifier: Apache-2.0

/// A block of code in a page.
struct PageBlock: Hashable {
    /// The block, from the start of the line that opens it.
    let whole: Range<Int>
    /// What is in it.
    let content: Range<Int>
    /// The language that the page names, in lower case; empty if it names none.
    let language: String

    /// Whether a file is a page in Markdown, reStructuredText or AsciiDoc.
    static func isPage(_ name: String) -> Bool {
        isRestructured(name) || isAsciiDoc(name)
            || [".md", ".mdx", ".markdown"].contains { name.lowercased().hasSuffix($0) }
    }

    private static func isRestructured(_ name: String) -> Bool {
        name.lowercased().hasSuffix(".rst")
    }

    private static func isAsciiDoc(_ name: String) -> Bool {
        [".adoc", ".asciidoc"].contains { name.lowercased().hasSuffix($0) }
    }

    /// The blocks of a page.
    static func all(in bytes: [UInt8], name: String) -> [PageBlock] {
        let lines = lines(of: bytes)
        if isRestructured(name) { return indented(lines, of: bytes) }
        return isAsciiDoc(name) ? delimited(lines, of: bytes) : fenced(lines, of: bytes)
    }

    /// The lines with their line ends.
    private static func lines(of bytes: [UInt8]) -> [Range<Int>] {
        var lines: [Range<Int>] = []
        var start = 0
        while start < bytes.count {
            let end = bytes[start...].firstIndex(of: 0x0a).map { $0 + 1 } ?? bytes.count
            lines.append(start..<end)
            start = end
        }
        return lines
    }

    /// The blocks between fences (CommonMark 0.31 §4.5). The end of the page ends the last one.
    private static func fenced(_ lines: [Range<Int>], of bytes: [UInt8]) -> [PageBlock] {
        var blocks: [PageBlock] = []
        var open: (fence: [UInt8], line: Range<Int>, language: String)?
        for range in lines {
            let line = bytes[range].drop { $0 == 0x20 || $0 == 0x09 }
            let fence = line.prefix(3)
            if let block = open {
                guard line.starts(with: block.fence) else { continue }
                blocks.append(
                    PageBlock(
                        whole: block.line.lowerBound..<range.upperBound,
                        content: block.line.upperBound..<range.lowerBound,
                        language: block.language))
                open = nil
            } else if fence.elementsEqual("```".utf8) || fence.elementsEqual("~~~".utf8) {
                let info = line.drop { $0 == fence.first }
                // With a backtick it is code within a line.
                guard !info.contains(UInt8(ascii: "`")) else { continue }
                open = (Array(fence), range, word(in: info))
            }
        }
        if let open {
            blocks.append(
                PageBlock(
                    whole: open.line.lowerBound..<bytes.count,
                    content: open.line.upperBound..<bytes.count, language: open.language))
        }
        return blocks
    }

    /// The blocks between two equal lines of hyphens or points (AsciiDoc, "Listing Blocks" and
    /// "Literal Blocks"). Below a line of text, hyphens make it a title.
    private static func delimited(_ lines: [Range<Int>], of bytes: [UInt8]) -> [PageBlock] {
        var blocks: [PageBlock] = []
        var open: (start: Int, line: Range<Int>, language: String)?
        var before: ArraySlice<UInt8> = []
        for range in lines {
            let line = trimmed(bytes[range])
            defer { before = line }
            if let block = open {
                guard line == trimmed(bytes[block.line]) else { continue }
                blocks.append(
                    PageBlock(
                        whole: block.start..<range.upperBound,
                        content: block.line.upperBound..<range.lowerBound,
                        language: block.language))
                open = nil
            } else if line.count >= 4, let mark = line.first, "-.".utf8.contains(mark),
                line.allSatisfy({ $0 == mark }),
                before.first.map({ "[.+".utf8.contains($0) }) ?? true
            {
                let hasAttributes = before.first == UInt8(ascii: "[")
                open = (
                    hasAttributes ? before.startIndex : range.lowerBound, range,
                    language(inAttributes: before)
                )
            }
        }
        return blocks
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

    /// The indented lines after a directive for code, or after a line that ends with two colons
    /// (reStructuredText, "Literal Blocks").
    private static func indented(_ lines: [Range<Int>], of bytes: [UInt8]) -> [PageBlock] {
        var blocks: [PageBlock] = []
        var index = 0
        while index < lines.count {
            let opening = lines[index]
            index += 1
            let text = bytes[opening].drop { $0 == 0x20 }
            guard let language = language(openedBy: text) else { continue }
            let indent = text.startIndex - opening.lowerBound
            // Options of the directive, as `:linenos:`.
            if text.starts(with: "..".utf8) {
                while index < lines.count,
                    bytes[lines[index]].first(where: { $0 > 0x20 }) == UInt8(ascii: ":")
                {
                    index += 1
                }
            }
            var content: Range<Int>?
            while index < lines.count {
                let line = bytes[lines[index]]
                if let start = line.firstIndex(where: { $0 > 0x20 }) {
                    guard start - line.startIndex > indent else { break }
                    content = (content?.lowerBound ?? line.startIndex)..<line.endIndex
                }
                index += 1
            }
            guard let content else { continue }
            blocks.append(
                PageBlock(
                    whole: opening.lowerBound..<content.upperBound, content: content,
                    language: language))
        }
        return blocks
    }

    private static func language(openedBy line: ArraySlice<UInt8>) -> String? {
        for name in [".. code-block::", ".. code::", ".. sourcecode::"]
        where line.starts(with: name.utf8) {
            return word(in: line.dropFirst(name.utf8.count))
        }
        let end = line.reversed().drop { $0 <= 0x20 }
        return end.starts(with: "::".utf8) && !line.starts(with: "..".utf8) ? "" : nil
    }

    private static func word(in text: ArraySlice<UInt8>) -> String {
        String(decoding: text.drop { $0 <= 0x20 }.prefix { $0 > 0x20 }, as: UTF8.self).lowercased()
    }
}
