// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import StrictJSON

/// Reads commands in documentation comments.
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
}
