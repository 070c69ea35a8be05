// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import StrictJSON

/// Determines the kind of an input by its first bytes.
enum InputSniffer {
    /// The kind of an input.
    enum Judgement: Hashable {
        /// One document.
        case document
        /// One document per line.
        case lines
        /// Not text.
        case binary
    }

    /// Determines the kind by the first bytes. The extension of the name only distinguishes a
    /// single document from a file of lines with one line.
    static func judge(_ head: [UInt8], isWhole: Bool, name: String) -> Judgement {
        if isBinary(head.prefix(LintLimits.textSampleBytes)) { return .binary }
        return hasLines(head, isWhole: isWhole, name: name) ? .lines : .document
    }

    /// Whether the bytes are not text in any encoding of JSON: zero bytes at positions where UTF-16
    /// and UTF-32 have none, or more than a third control characters and invalid UTF-8.
    static func isBinary(_ sample: ArraySlice<UInt8>) -> Bool {
        guard !sample.isEmpty, !isWideText(sample) else { return false }
        var doubtful = 0
        for byte in sample {
            switch byte {
            case 0: return true
            case 0x09, 0x0a, 0x0c, 0x0d, 0x1b: continue
            case 0x01...0x1f, 0x7f: doubtful += 1
            default: continue
            }
        }
        let broken = String(decoding: sample, as: UTF8.self).unicodeScalars.reduce(0) {
            $0 + ($1 == "\u{fffd}" ? 1 : 0)
        }
        return (doubtful + broken) * 3 > sample.count
    }

    /// Whether the bytes start like UTF-16 or UTF-32: with a byte order mark, or with an ASCII
    /// character in one of these encodings. Rule G005 reports it.
    static func isWideText(_ sample: ArraySlice<UInt8>) -> Bool {
        let bytes = Array(sample.prefix(4))
        guard bytes.count == 4 else { return false }
        if bytes.starts(with: [0xfe, 0xff]) || bytes.starts(with: [0xff, 0xfe]) { return true }
        let isZero = bytes.map { $0 == 0 }
        let isText = zip(bytes, isZero).allSatisfy { $1 || (0x09...0x7e).contains($0) }
        return isText
            && (isZero == [true, false, true, false] || isZero == [false, true, false, true]
                || isZero == [true, true, true, false] || isZero == [false, true, true, true])
    }

    private static func hasLines(_ head: [UInt8], isWhole: Bool, name: String) -> Bool {
        guard !PageBlock.isPage(name) else { return false }
        var lines: [ArraySlice<UInt8>] = []
        let text = head.afterByteOrderMark
        var rest = text
        while lines.count < 2, let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            let line = rest[..<end]
            if !isBlank(line) { lines.append(line) }
            rest = rest[(end + 1)...]
        }
        let hasMore = !isBlank(rest) || !isWhole
        guard let first = lines.first else { return isWhole && isNamedLines(name) && hasMore }
        guard first.first(where: { !isSpace($0) }) == UInt8(ascii: "{") else { return false }
        // One of the first two lines may be invalid in a file of lines.
        let isFirstWhole = isJSON(first)
        if lines.count == 1, !hasMore { return isFirstWhole && isNamedLines(name) }
        if isFirstWhole { return true }
        if isWhole, isJSON(text) { return false }
        let second = lines.count == 2 ? lines[1] : rest
        return (lines.count == 2 || isWhole) && isJSON(second)
            && second.first(where: { !isSpace($0) }) == UInt8(ascii: "{")
    }

    /// Whether a line is a JSON document.
    private static func isJSON(_ line: ArraySlice<UInt8>) -> Bool {
        do throws(JSONSyntaxError) {
            _ = try JSONScanner.scan(Array(line))
            return true
        } catch {
            return false
        }
    }

    private static func isNamedLines(_ name: String) -> Bool {
        [".jsonl", ".ndjson"].contains { name.lowercased().hasSuffix($0) }
    }

    private static func isBlank(_ line: ArraySlice<UInt8>) -> Bool { line.allSatisfy(isSpace) }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0d || byte == 0x0a
    }
}
