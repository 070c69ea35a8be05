// SPDX-License-Identifier: Apache-2.0

/// JSON that was written for people, with comments, or with dots for what was left out.
struct IllustratedJSON {
    /// The text with blanks in place of comments, and of commas before a closing bracket.
    private(set) var bytes: [UInt8]
    /// Whether there are comments.
    private(set) var hasComments = false
    /// Whether something was left out.
    private(set) var isAbridged = false

    /// Reads a text.
    init(_ text: [UInt8]) {
        bytes = text
        var isInString = false
        var comma: Int?
        var index = 0
        while index < text.count {
            let byte = text[index]
            let rest = text[index...]
            if isInString {
                if byte == UInt8(ascii: "\\") { index += 1 }
                if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\n") { isInString = false }
            } else if rest.starts(with: "//".utf8) && !isInAddress(index)
                || rest.starts(with: "/*".utf8)
            {
                index = clearComment(at: index)
                continue
            } else if rest.starts(with: "...".utf8) || rest.starts(with: "…".utf8) {
                isAbridged = true
            } else if let last = comma, byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") {
                bytes[last] = 0x20
                comma = nil
            } else if byte > 0x20 {
                isInString = byte == UInt8(ascii: "\"")
                comma = byte == UInt8(ascii: ",") ? index : nil
            }
            index += 1
        }
        let dots = [#""...""#, #""…""#].map { Array($0.utf8) }
        isAbridged =
            isAbridged
            || text.indices.contains { index in
                text[index] == UInt8(ascii: "\"")
                    && dots.contains { text[index...].starts(with: $0) }
            }
    }

    /// Whether the slashes at an offset are those of a URL, as in a second request.
    private func isInAddress(_ index: Int) -> Bool {
        index > 0 && bytes[index - 1] == UInt8(ascii: ":")
    }

    /// Clears a comment, and returns the offset behind it. A comment that begins with dots stands
    /// for what was left out.
    private mutating func clearComment(at start: Int) -> Int {
        let isLine = bytes[start + 1] == UInt8(ascii: "/")
        let text = bytes[(start + 2)...].drop { $0 == 0x20 || $0 == UInt8(ascii: "*") }
        if text.starts(with: "...".utf8) || text.starts(with: "…".utf8) { isAbridged = true }
        hasComments = true
        let end =
            isLine
            ? bytes[start...].firstIndex(of: UInt8(ascii: "\n"))
            : bytes.indices.dropFirst(start + 3).first {
                bytes[$0] == UInt8(ascii: "/") && bytes[$0 - 1] == UInt8(ascii: "*")
            }.map { $0 + 1 }
        for index in start..<(end ?? bytes.count) where bytes[index] != UInt8(ascii: "\n") {
            bytes[index] = 0x20
        }
        return end ?? bytes.count
    }
}
