// SPDX-License-Identifier: Apache-2.0

import StrictJSON

/// Payloads of a page in Markdown that stand in its text, without fences.
extension PageBlock {
    /// The objects with `aps` outside of other blocks: their braces are alone on lines, below a
    /// line of prose, and nothing in them is other than JSON but for commas.
    static func bare(
        _ lines: [Range<Int>], of bytes: [UInt8], besides blocks: [PageBlock]
    ) -> [PageBlock] {
        guard bytes.contains(text: "\"aps\"") else { return [] }
        var found: [PageBlock] = []
        var rest = blocks[...]
        var isBelowProse = true
        var index = 0
        while index < lines.count {
            let line = lines[index]
            rest = rest.drop { $0.whole.upperBound <= line.lowerBound }
            if let block = rest.first, block.whole.contains(line.lowerBound) {
                isBelowProse = false
                index += 1
                continue
            }
            if isBelowProse, isAlone(UInt8(ascii: "{"), bytes[line]),
                let end = end(ofObjectFrom: index, lines, bytes)
            {
                let range = line.lowerBound..<lines[end].upperBound
                if isPayload(Array(bytes[range])) {
                    found.append(PageBlock(whole: range, content: range, language: ""))
                    index = end + 1
                    continue
                }
            }
            if let last = bytes[line].last(where: { $0 > 0x20 }) {
                isBelowProse = endsProse(last) && bytes[line].firstRange(of: "<<".utf8) == nil
            }
            index += 1
        }
        return found
    }

    /// The most lines of such an object.
    private static let mostLines = 200

    private static func isAlone(_ mark: UInt8, _ line: ArraySlice<UInt8>) -> Bool {
        line.filter { $0 > 0x20 } == [mark]
    }

    /// Whether a line that ends so is prose, and no part of a command, a program or a template.
    private static func endsProse(_ last: UInt8) -> Bool {
        97...122 ~= last | 0x20 || 0x30...0x39 ~= last || last >= 0x80
            || ".:!?)*_`".utf8.contains(last)
    }

    /// The last line of an object, which is a brace alone; `nil` if there is none.
    private static func end(
        ofObjectFrom start: Int, _ lines: [Range<Int>], _ bytes: [UInt8]
    ) -> Int? {
        var depth = 0
        for index in start..<min(lines.count, start + mostLines) {
            var isInString = false
            var isEscaped = false
            for byte in bytes[lines[index]] {
                if isEscaped {
                    isEscaped = false
                } else if isInString {
                    isEscaped = byte == UInt8(ascii: "\\")
                    isInString = byte != UInt8(ascii: "\"")
                } else {
                    isInString = byte == UInt8(ascii: "\"")
                    if byte == UInt8(ascii: "{") { depth += 1 }
                    if byte == UInt8(ascii: "}") { depth -= 1 }
                }
            }
            guard depth > 0 else {
                return depth == 0 && isAlone(UInt8(ascii: "}"), bytes[lines[index]]) ? index : nil
            }
        }
        return nil
    }

    /// Whether a text is an object with `aps`, and JSON but for commas.
    private static func isPayload(_ text: [UInt8]) -> Bool {
        let readable = IllustratedJSON(text)
        guard !readable.hasComments, !readable.isAbridged else { return false }
        let document =
            (try? JSONScanner.scan(readable.bytes))
            ?? readable.withCommas.flatMap { try? JSONScanner.scan($0.bytes) }
        return document?.last("aps", of: 0) != nil
    }
}
