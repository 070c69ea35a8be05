// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import StrictJSON

/// Reads commands and payloads in comments of source code.
extension DocumentReader {
    /// Replaces the marks of documentation comments, `*` and `///`, at the starts of lines by
    /// spaces, so that each place stays where it is.
    static func withoutCommentMarks(_ bytes: [UInt8]) -> [UInt8] {
        var result = bytes
        var isStart = true
        for index in bytes.indices {
            let byte = bytes[index]
            if byte == UInt8(ascii: "\n") {
                isStart = true
            } else if isStart, byte != UInt8(ascii: " "), byte != UInt8(ascii: "\t") {
                isStart = false
                let isLine = bytes[index...].starts(with: "///".utf8)
                let isBlock =
                    byte == UInt8(ascii: "*") && !bytes[index...].starts(with: "*/".utf8)
                for mark in index..<index + (isLine ? 3 : isBlock ? 1 : 0) {
                    result[mark] = UInt8(ascii: " ")
                }
            }
        }
        return result
    }

    /// What is read of such commands without bodies that are no JSON: a command in a comment shows
    /// what is sent, and its remarks stand for fields.
    static func withoutIllustrations(_ document: PushDocument, in text: [UInt8]) -> PushDocument {
        var document = document
        document.faults.removeAll { $0.rule == "G001" }
        document.items.removeAll { (try? JSONScanner.scan($0.draft.payload)) == nil }
        if document.items.isEmpty, document.faults.isEmpty,
            let command = text.firstRange(of: "curl".utf8)
        {
            document.unread.append(.init(start: command.lowerBound, .incomplete))
        }
        return document
    }

    /// Reads the comments of source code that hold one payload and nothing else, or a text that is
    /// such a payload with remarks. Returns `nil` if there are none.
    func readCommentedObjects(_ bytes: [UInt8], name: String) -> PushDocument? {
        guard bytes.contains(text: "\"aps\"") else { return nil }
        var result = PushDocument(kind: .payload)
        result.hasComments = true
        var isForSimulator = true
        let comments = Self.comments(in: bytes)
        for (start, text) in comments.isEmpty ? [(0, bytes)] : comments {
            let inner = text.drop { $0 <= 0x20 }
            guard inner.first == UInt8(ascii: "{"), inner.last(where: { $0 > 0x20 }) == 0x7d,
                text.contains(text: "\"aps\""),
                case .pushes(let document) = read(text, "jsonc", besideFile: name),
                document.barePayload(assuming: assumptions) != nil || document.kind == .apns
            else { continue }
            isForSimulator = isForSimulator && document.kind == .apns
            for var item in document.items {
                item.isIllustration = true
                item.isInPage = true
                item.places.isEditable = false
                item.places.shift(by: start)
                result.items.append(item)
            }
        }
        if isForSimulator { result.kind = .apns }
        return result.items.isEmpty ? nil : result
    }

    /// The comments of source code that stand alone on their lines, with blanks in place of their
    /// marks, and their offsets.
    private static func comments(in bytes: [UInt8]) -> [(start: Int, text: [UInt8])] {
        let text = withoutCommentMarks(bytes)
        var found: [(start: Int, text: [UInt8])] = []
        var start = 0
        // The lines of the current comment, and whether it is between `/*` and `*/`.
        var current: (range: Range<Int>, isBlock: Bool)?
        func finish() {
            if let current,
                Array(bytes[current.range]).contains(text: "\"aps\"")
            {
                let inner = withoutMarks(
                    Array(text[current.range]), mark: current.isBlock ? "/*" : "//")
                found.append((current.range.lowerBound, inner))
            }
            current = nil
        }
        while start < bytes.count {
            let end = bytes[start...].firstIndex(of: 0x0a) ?? bytes.count
            let line = bytes[start..<end].drop { $0 <= 0x20 }
            if let open = current, open.isBlock {
                current?.range = open.range.lowerBound..<end
            } else if line.starts(with: "/*".utf8) {
                finish()
                current = (start..<end, true)
            } else if line.starts(with: "//".utf8) {
                current = ((current?.range.lowerBound ?? start)..<end, false)
            } else {
                finish()
            }
            if current?.isBlock == true, let close = line.firstRange(of: "*/".utf8) {
                // What stands behind it is code.
                if line[close.upperBound...].contains(where: { $0 > 0x20 }) { current = nil }
                finish()
            }
            start = end + 1
        }
        finish()
        return found
    }

    /// A comment with blanks in place of the mark with which its lines, or the first one, begin.
    private static func withoutMarks(_ comment: [UInt8], mark: String) -> [UInt8] {
        var result = comment
        var isStart = true
        var index = 0
        while index < comment.count {
            let rest = comment[index...]
            if isStart && rest.starts(with: mark.utf8) || rest.starts(with: "*/".utf8) {
                var end = index + 2
                // The mark of documentation has another asterisk.
                while end < comment.count, isStart, comment[end] == UInt8(ascii: "*") { end += 1 }
                for place in index..<end { result[place] = 0x20 }
                index = end
                isStart = false
                continue
            }
            if comment[index] == 0x0a {
                isStart = true
            } else if comment[index] > 0x20 {
                isStart = false
            }
            index += 1
        }
        return result
    }
}
