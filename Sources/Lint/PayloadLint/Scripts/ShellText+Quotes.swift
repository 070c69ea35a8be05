// SPDX-License-Identifier: Apache-2.0

/// Quotes.
extension ShellText {
    /// Goes behind a closing quote, if there is one.
    mutating func closeQuote(at end: Int) {
        if end >= bytes.count { isQuoteOpen = true }
        index = min(end + 1, bytes.count)
    }

    /// Parses `"…"`, in which a backslash quotes only some characters.
    mutating func readQuoted(into word: inout Word) {
        index += 1
        readText(ofQuotesUntil: nil, into: &word)
        closeQuote(at: index)
    }

    /// Parses what is in such quotes until an offset, or until the straight quote that ends them.
    private mutating func readText(ofQuotesUntil end: Int?, into word: inout Word) {
        let limit = end ?? bytes.count
        while index < limit, end != nil || bytes[index] != UInt8(ascii: "\"") {
            switch bytes[index] {
            case UInt8(ascii: "\\") where index + 1 < limit:
                if bytes[index + 1] == 0x0a {
                    index += 2
                    continue
                }
                if "\"\\$`".utf8.contains(bytes[index + 1]) { index += 1 }
                word.text.append(file.slice(index..<index + 1))
                index += 1
            case UInt8(ascii: "$"), UInt8(ascii: "`"): word.text.append(readExpansion())
            default:
                let next =
                    bytes[(index + 1)..<limit].firstIndex { "\"\\$`".utf8.contains($0) } ?? limit
                word.text.append(file.slice(index..<next))
                index = next
            }
        }
    }

    /// Parses `$'…'`, with the escapes of C.
    mutating func readEscaped(into word: inout Word) {
        index += 1
        while index < bytes.count, bytes[index] != UInt8(ascii: "'") {
            if bytes[index] == UInt8(ascii: "\\"), index + 1 < bytes.count {
                let stands: [UInt8: String] = [
                    UInt8(ascii: "n"): "\n", UInt8(ascii: "t"): "\t", UInt8(ascii: "r"): "\r",
                ]
                if let text = stands[bytes[index + 1]] {
                    word.text.append(text, standingAt: index)
                } else {
                    word.text.append(file.slice(index + 1..<index + 2))
                }
                index += 2
            } else {
                word.text.append(file.slice(index..<index + 1))
                index += 1
            }
        }
        closeQuote(at: index)
    }

    /// Parses a word in typographic quotation marks as if they were straight; `false` if there is
    /// none, or if they do not end.
    mutating func readTypographic(into word: inout Word) -> Bool {
        guard bytes[index] == 0xe2, index + 2 < bytes.count, bytes[index + 1] == 0x80 else {
            return false
        }
        // ‘ to ‛, and “ to ‟.
        let marks: [ClosedRange<UInt8>] = [0x98...0x9b, 0x9c...0x9f]
        guard let kind = marks.first(where: { $0.contains(bytes[index + 2]) }) else { return false }
        var end = index + 3
        while end + 2 < bytes.count,
            !(bytes[end] == 0xe2 && bytes[end + 1] == 0x80 && kind.contains(bytes[end + 2]))
        {
            end += 1
        }
        guard end + 2 < bytes.count else { return false }
        index += 3
        if kind == marks[1] {
            readText(ofQuotesUntil: end, into: &word)
        } else {
            word.text.append(file.slice(index..<end))
        }
        index = end + 3
        word.hasTypographicQuotes = true
        return true
    }

    /// Whether a command writes the value of a variable to a file or to another command.
    func passesVariableOn(_ line: Range<Int>) -> Bool {
        bytes[line].contains(UInt8(ascii: "$"))
            && bytes[line].contains { "|>".utf8.contains($0) }
    }
}
