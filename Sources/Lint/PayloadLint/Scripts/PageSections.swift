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
        while start < bytes.count {
            if let block = blocks.first(where: { $0.whole.contains(start) }) {
                start = block.whole.upperBound
                previous = nil
                continue
            }
            let end = bytes[start...].firstIndex(of: 0x0a) ?? bytes.count
            let line = bytes[start..<end].filter { $0 > 0x20 }
            if let mark = line.first, "#=".utf8.contains(mark) {
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

    /// Whether no section begins between two offsets.
    func areTogether(_ first: Int, _ second: Int) -> Bool {
        !headings.contains { first <= $0 && $0 < second }
    }

    /// Whether the text around a block, in its section, speaks of a push that is not visible.
    func namesOtherType(around block: Range<Int>) -> Bool {
        let heading = headings.last { $0 < block.lowerBound } ?? 0
        let next = headings.first { $0 >= block.upperBound } ?? bytes.count
        let before = max(heading, block.lowerBound - Self.reach)..<block.lowerBound
        let after =
            block
            .upperBound..<max(
                block.upperBound, min(next, block.upperBound + Self.reach / 2))
        return [before, after].contains { range in
            let text = String(decoding: bytes[range], as: UTF8.self).lowercased()
                .filter(\.isLetter)
            return Self.words.contains { text.contains($0) }
        }
    }

    /// How far the words that explain a block are from it, in bytes.
    private static let reach = 600

    /// The words for pushes that are not visible, without what is between them.
    private static let words = [
        "voip", "pushkit", "callkit", "background", "silent", "liveactivit", "widget",
        "locationpush", "locationquery", "complication", "fileprovider", "mdm", "pushtotalk",
        "ptt", "passkit", "wallet",
    ]
}
