// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// What the text of a page says about the blocks in it.
struct PageSections {
    private let bytes: [UInt8]
    /// The offsets of headings, and of lines between sections.
    private let headings: [Int]

    /// Reads a page with these blocks, which have no headings in them.
    init(_ bytes: [UInt8], blocks: [PageBlock]) {
        self.bytes = bytes
        var headings: [Int] = []
        var start = 0
        var previous: Int?
        var rest = blocks[...]
        while start < bytes.count {
            rest = rest.drop { $0.whole.upperBound <= start }
            if let block = rest.first, block.whole.contains(start) {
                start = block.whole.upperBound
                previous = nil
                continue
            }
            let end = bytes[start...].firstIndex(of: 0x0a) ?? bytes.count
            let line = bytes[start..<end].filter { $0 > 0x20 }
            if Self.isHeading(line) {
                headings.append(start)
            } else if line.count > 2, let mark = line.first, "-~^*_".utf8.contains(mark),
                line.allSatisfy({ $0 == mark })
            {
                // It underlines a title, or is a line between sections.
                headings.append(previous ?? start)
            }
            previous = line.isEmpty ? nil : start
            start = end + 1
        }
        self.headings = headings
    }

    /// Whether a line without its blanks is a title by itself: of Markdown, AsciiDoc or HTML, or
    /// all in bold letters.
    private static func isHeading(_ line: [UInt8]) -> Bool {
        guard let mark = line.first else { return false }
        let isBold =
            line.starts(with: "**".utf8) && line.suffix(2).elementsEqual("**".utf8)
            && line.contains { $0 != mark }
        return "#=".utf8.contains(mark) || isBold
            || line.starts(with: "<h".utf8) && line.count > 3
                && UInt8(ascii: "1")...UInt8(ascii: "6") ~= line[2]
    }

    /// The place in ``headings`` of the first one at an offset or behind it.
    private func place(ofHeadingFrom offset: Int) -> Int {
        var range = headings.indices
        while !range.isEmpty {
            let middle = (range.lowerBound + range.upperBound) / 2
            range =
                headings[middle] < offset
                ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }

    /// Whether no section begins between two offsets.
    func areTogether(_ first: Int, _ second: Int) -> Bool {
        let place = place(ofHeadingFrom: first)
        return place == headings.count || headings[place] >= second
    }

    /// Whether the text around a block, in its section, speaks of a push that is not visible.
    func namesOtherType(around block: Range<Int>) -> Bool {
        let own = place(ofHeadingFrom: block.lowerBound)
        let heading = own > 0 ? headings[own - 1] : 0
        let following = place(ofHeadingFrom: block.upperBound)
        let next = following < headings.count ? headings[following] : bytes.count
        let before = max(heading, block.lowerBound - Self.reach)..<block.lowerBound
        let after =
            block
            .upperBound..<max(
                block.upperBound, min(next, block.upperBound + Self.reach / 2))
        return [before, after].contains { range in
            let words = String(decoding: bytes[range], as: UTF8.self).lowercased()
                .split { !$0.isLetter }
            let text = words.joined()
            return words.contains { Self.words.contains(String($0)) }
                || Self.phrases.contains { text.contains($0) }
        }
    }

    /// How far the words that explain a block are from it, in bytes.
    private static let reach = 600

    /// The words for pushes that are not visible.
    private static let words: Set<String> = [
        "voip", "background", "silent", "silently", "widget", "widgets", "mdm", "ptt", "wallet",
        "passkit", "pushtotalk",
    ]
    /// Those of several words, or with endings, without what is between them.
    private static let phrases = [
        "pushkit", "callkit", "liveactivit", "locationpush", "locationquery", "complication",
        "fileprovider", "pushtotalk",
    ]
}
