// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import StrictJSON

/// Reads pushes from pages in Markdown.
extension DocumentReader {
    /// Reads the commands of a text, and, if it is a page, its blocks of JSON that are about
    /// pushes. Returns `nil` if there are none.
    func readScript(_ bytes: [UInt8], name: String) -> PushDocument? {
        let commands = readCommands(bytes, name: name)
        guard Self.isPage(name), forcedKind == nil, Self.mentionsPush(bytes) else {
            return commands
        }
        var result = commands ?? PushDocument(kind: .request, hasComments: true)
        for (block, isJSON) in Self.blocks(of: bytes) {
            guard let document = read(block: Array(bytes[block]), isJSON: isJSON) else { continue }
            for var item in document.items {
                item.places.shift(by: block.lowerBound)
                result.items.append(item)
            }
            for var fault in document.faults {
                fault.place = fault.place.shifted(by: block.lowerBound)
                result.faults.append(fault)
            }
        }
        return commands == nil && result.items.isEmpty && result.faults.isEmpty ? nil : result
    }

    /// Whether a file is a page in Markdown.
    static func isPage(_ name: String) -> Bool {
        [".md", ".mdx", ".markdown"].contains { name.lowercased().hasSuffix($0) }
    }

    /// Reads a block that begins like an object and is about a push; `nil` for another one, and for
    /// one that was abridged or commented for people. Only one that says to be JSON, or nothing of
    /// what it is, has errors of syntax.
    private func read(block: [UInt8], isJSON: Bool) -> PushDocument? {
        guard block.first(where: { $0 > 0x20 }) == UInt8(ascii: "{"), Self.mentionsPush(block)
        else { return nil }
        do throws(JSONSyntaxError) {
            return read(try JSONScanner.scan(block))
        } catch {
            guard isJSON, let next = block.dropFirst(error.offset).first,
                "}],:\"".utf8.contains(next), !Self.isTemplate(block), !Self.isAbridged(block),
                // Several objects one after another.
                (try? JSONScanner.scan(Array(block.prefix(error.offset)))) == nil
            else { return nil }
            return bare(block, .payload)
        }
    }

    /// Whether a text has a string that stands for what was left out.
    private static func isAbridged(_ block: [UInt8]) -> Bool {
        let text = String(decoding: block, as: UTF8.self)
        return text.contains(#""...""#) || text.contains(#""…""#)
    }

    /// The ranges between the fences of a page (CommonMark 0.31 §4.5), and whether they may be
    /// JSON by the word behind the fence. The end of the page ends the last one.
    private static func blocks(of bytes: [UInt8]) -> [(Range<Int>, isJSON: Bool)] {
        var blocks: [(Range<Int>, isJSON: Bool)] = []
        var open: (fence: [UInt8], start: Int, isJSON: Bool)?
        var start = 0
        while start < bytes.count {
            let end = bytes[start...].firstIndex(of: 0x0a) ?? bytes.count
            let line = bytes[start..<end].drop { $0 == 0x20 || $0 == 0x09 }
            let fence = line.prefix(3)
            if let block = open {
                if line.starts(with: block.fence) {
                    blocks.append((block.start..<start, block.isJSON))
                    open = nil
                }
            } else if fence.elementsEqual("```".utf8) || fence.elementsEqual("~~~".utf8) {
                let info = line.drop { $0 == fence.first }
                // With a backtick it is code within a line.
                if !info.contains(UInt8(ascii: "`")) {
                    let word = String(
                        decoding: info.drop { $0 <= 0x20 }.prefix { $0 > 0x20 }, as: UTF8.self)
                    open = (
                        Array(fence), min(end + 1, bytes.count),
                        ["", "json"].contains(word.lowercased())
                    )
                }
            }
            start = end + 1
        }
        if let open { blocks.append((open.start..<bytes.count, open.isJSON)) }
        return blocks
    }
}
