// SPDX-License-Identifier: Apache-2.0

import StrictJSON

/// JSON that was written for people, with comments, or with dots for what was left out, or that an
/// editor has given quotation marks of typography.
struct IllustratedJSON {
    /// The text with blanks in place of comments, and of commas before a closing bracket.
    private(set) var bytes: [UInt8]
    /// Whether there are comments.
    private(set) var hasComments = false
    /// Whether something was left out.
    private(set) var isAbridged = false
    /// Whether all that was left out are members or elements in place of which a line has dots, so
    /// that the others can be read.
    private(set) var hasOthers = false
    /// The offset of the first closing bracket with a comma before it, and no comment between them
    /// that might stand for what follows the comma.
    private(set) var bracketBehindComma: Int?
    /// Whether strings have quotation marks that are none in JSON; ``bytes`` has those of JSON.
    var hasTypographicQuotes: Bool { typographicQuote != nil }
    /// The offset of the first of them.
    private(set) var typographicQuote: Int?

    /// Reads a text.
    init(_ text: [UInt8]) {
        bytes = text
        straightenQuotes()
        let text = bytes
        var isInString = false
        var comma: Int?
        var isCommentBehindComma = false
        var isCut = false
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
                isCommentBehindComma = true
                continue
            } else if rest.starts(with: "...".utf8) || rest.starts(with: "…".utf8) {
                if let line = Self.lineOfDots(at: index, in: text) {
                    for place in line { bytes[place] = 0x20 }
                    isCut = true
                    index = line.upperBound
                    continue
                }
                isAbridged = true
            } else if let last = comma, byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") {
                bytes[last] = 0x20
                comma = nil
                if !isCommentBehindComma { bracketBehindComma = bracketBehindComma ?? index }
            } else if byte > 0x20 {
                isInString = byte == UInt8(ascii: "\"")
                comma = byte == UInt8(ascii: ",") ? index : nil
                isCommentBehindComma = false
            }
            index += 1
        }
        let dots = [#""...""#, #""…""#].map { Array($0.utf8) }
        isAbridged =
            isAbridged
            || text.indices.contains { index in
                bytes[index] == UInt8(ascii: "\"")
                    && dots.contains { bytes[index...].starts(with: $0) }
            }
        hasOthers = isCut && !isAbridged
        isAbridged = isAbridged || isCut
    }

    /// The dots at an offset, and a comma behind them, if nothing else is in their line.
    private static func lineOfDots(at start: Int, in text: [UInt8]) -> Range<Int>? {
        let before = text[..<start].last { $0 > 0x20 || $0 == 0x0a }
        guard before == 0x0a else { return nil }
        let end = text[start...].firstIndex(of: 0x0a) ?? text.count
        let line = String(decoding: text[start..<end].filter { $0 > 0x20 }, as: UTF8.self)
        return ["...", "...,", "…", "…,"].contains(line) ? start..<end : nil
    }

    /// Whether a text is the dots that stand for what was left out.
    static func isDots(_ text: some StringProtocol) -> Bool { text == "..." || text == "…" }

    /// Whether JSON has a key of dots, so that other keys may be there.
    static func hasKeyOfDots(_ text: [UInt8]) -> Bool {
        guard text.contains(text: #""...""#) || text.contains(text: #""…""#),
            let document = try? JSONScanner.scan(text)
        else { return false }
        return document.nodes.indices.contains { node in
            document.kind(node) == .key
                && isDots(String(decoding: document.text(node), as: UTF8.self))
        }
    }

    /// Whether a text has quotation marks of typography.
    static func hasTypographicQuotes(_ text: [UInt8]) -> Bool {
        text.contains(0xe2) && text.indices.contains { isTypographicQuote(text[$0...]) }
    }

    /// Whether a text begins with one of `“`, `”`, `„` and `‟`.
    private static func isTypographicQuote(_ text: ArraySlice<UInt8>) -> Bool {
        text.starts(with: [0xe2, 0x80])
            && text.dropFirst(2).first.map { 0x9c...0x9f ~= $0 } == true
    }

    /// Replaces quotation marks of typography around strings by those of JSON and blanks outside
    /// of the string, so that all offsets stay.
    private mutating func straightenQuotes() {
        guard Self.hasTypographicQuotes(bytes) else { return }
        let quote = UInt8(ascii: "\"")
        // The first byte of the mark that opened the string.
        var opening: UInt8?
        var index = 0
        while index < bytes.count {
            let isMark = Self.isTypographicQuote(bytes[index...])
            switch (opening, bytes[index]) {
            case (quote?, UInt8(ascii: "\\"))
            where Self.isTypographicQuote(bytes[(index + 1)...]):
                // The mark of a string inside of this one.
                typographicQuote = typographicQuote ?? index
                bytes.replaceSubrange(
                    index..<index + 4, with: [0x20, 0x20, UInt8(ascii: "\\"), quote])
                index += 3
            case (_?, UInt8(ascii: "\\")): index += 1
            case (_?, UInt8(ascii: "\n")): opening = nil
            case (nil, quote): opening = quote
            case (_?, quote): opening = nil
            case (nil, _) where isMark:
                bytes.replaceSubrange(index..<index + 3, with: [0x20, 0x20, quote])
                typographicQuote = typographicQuote ?? index
                opening = 0xe2
                index += 2
            case (0xe2?, _) where isMark:
                bytes.replaceSubrange(index..<index + 3, with: [quote, 0x20, 0x20])
                opening = nil
                index += 2
            default: break
            }
            index += 1
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
