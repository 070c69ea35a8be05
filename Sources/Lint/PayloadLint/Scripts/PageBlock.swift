// SPDX-License-Identifier: Apache-2.0

/// A block of code in a page.
struct PageBlock: Hashable {
    /// The block, from the start of the line that opens it.
    let whole: Range<Int>
    /// What is in it.
    let content: Range<Int>
    /// The language that the page names, in lower case; empty if it names none.
    let language: String
    /// The offsets of the marks of quotes in the content.
    var quoteMarks: [Int] = []

    /// The content, with blanks in place of the marks of quotes.
    func text(in bytes: [UInt8]) -> [UInt8] {
        var text = Array(bytes[content])
        for mark in quoteMarks { text[mark - content.lowerBound] = 0x20 }
        return text
    }

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
        if isAsciiDoc(name) { return delimited(lines, of: bytes) }
        let blocks = fenced(lines, of: bytes)
        return (blocks + bare(lines, of: bytes, besides: blocks))
            .sorted { $0.whole.lowerBound < $1.whole.lowerBound }
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

    static func word(in text: ArraySlice<UInt8>) -> String {
        String(decoding: text.drop { $0 <= 0x20 }.prefix { $0 > 0x20 }, as: UTF8.self).lowercased()
    }
}
