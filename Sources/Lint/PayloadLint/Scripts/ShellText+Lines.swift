// SPDX-License-Identifier: Apache-2.0

/// Lines that go on in the next one.
extension ShellText {
    /// Whether a backslash continues a line, or was meant to: a page may show it with another
    /// backslash, and a remark may be behind it.
    func isContinuation(at place: Int) -> Bool {
        let behind = place + (matches("\\\\", at: place) ? 2 : 1)
        let end = bytes[min(behind, bytes.count)...].firstIndex { !" \t".utf8.contains($0) }
        guard let end else { return false }
        return isLineEnd(at: end) || end > behind && bytes[end] == UInt8(ascii: "#")
    }

    /// Whether a command that begins here is in a list of words, which may be in several lines:
    /// `args=( curl -v`, `args=(sudo curl -v`.
    var isInArray: Bool {
        var depth = 0
        for place in bytes[..<index].indices.suffix(400).reversed() {
            if bytes[place] == UInt8(ascii: ")") { depth += 1 }
            guard bytes[place] == UInt8(ascii: "(") else { continue }
            if depth == 0 { return place > 0 && bytes[place - 1] == UInt8(ascii: "=") }
            depth -= 1
        }
        return false
    }

    /// Whether a line ends at an offset.
    func isLineEnd(at place: Int) -> Bool {
        guard place < bytes.count else { return false }
        return bytes[place] == 0x0a
            || (bytes[place] == 0x0d && place + 1 < bytes.count && bytes[place + 1] == 0x0a)
    }

    /// The offset of a comment behind a backslash, if the next line goes on with an option, an
    /// address or a text.
    func remark(at backslash: Int) -> Int? {
        let line = bytes[backslash...].prefix { $0 != 0x0a }
        let next = bytes[min(line.endIndex + 1, bytes.count)...].drop { " \t".utf8.contains($0) }
        guard let first = next.first,
            "-'\"$<".utf8.contains(first) || next.starts(with: "http".utf8)
        else { return nil }
        let place = line.dropFirst().firstIndex { !" \t\\".utf8.contains($0) }
        return place.flatMap { bytes[$0] == UInt8(ascii: "#") ? $0 : nil }
    }
}
