// SPDX-License-Identifier: Apache-2.0

package import PayloadRules

/// Comments that ignore rules for a line: `// rouse:ignore CF026 reason`, or after `#`, `/*`,
/// `<!--` and `..`.
///
/// After code, such a comment applies to its own line; alone on a line, to the next line that is
/// not blank and not such a comment. Several rules are separated by commas or blanks; the text
/// after the rules is the reason.
package struct InlineIgnores: Sendable {
    private static let mark = Array("rouse:ignore".utf8)
    private static let openings = ["//", "#", "/*", "<!--", "--", ";", ".."].map { Array($0.utf8) }

    private var rules: [Int: RuleSelection] = [:]

    /// Creates an empty set of comments.
    package init() {}

    /// Reads the comments of a text. In source code, what a string literal contains is no comment.
    package init(_ text: [UInt8], isSourceCode: Bool = false) {
        guard text.contains(text: "rouse:ignore") else { return }
        var waiting = RuleSelection()
        var number = 0
        var start = text.startIndex
        // Line by line, because a file can have as many lines as bytes.
        while start <= text.endIndex {
            let end = text[start...].firstIndex(of: UInt8(ascii: "\n")) ?? text.endIndex
            let line = text[start..<end]
            start = end + 1
            number += 1
            let found = Self.rules(in: line, isSourceCode)
            if let found, found.isAlone {
                waiting.formUnion(found.rules)
                rules[number, default: RuleSelection()].formUnion(found.rules)
            } else if line.contains(where: { !Self.isBlank($0) }) {
                if let found { waiting.formUnion(found.rules) }
                if !waiting.isEmpty { rules[number] = waiting }
                waiting = RuleSelection()
            }
        }
    }

    /// Whether there are no such comments.
    var isEmpty: Bool { rules.isEmpty }

    /// Applies what is ignored in the first of some lines to all of them: a comment in front of a
    /// block of a page is for the block.
    mutating func extend(over lines: ClosedRange<Int>) {
        guard let ignored = rules[lines.lowerBound] else { return }
        for line in lines { rules[line, default: RuleSelection()].formUnion(ignored) }
    }

    /// Whether a comment ignores a rule for a line, from 1.
    package func cover(_ rule: RuleID, line: Int) -> Bool {
        rules[line]?.contains(rule) ?? false
    }

    /// The rules in a line's comment, and whether the comment is alone on its line.
    private static func rules(
        in line: ArraySlice<UInt8>, _ isSourceCode: Bool
    ) -> (rules: RuleSelection, isAlone: Bool)? {
        var start = line.startIndex
        while let offset = line[start...].firstIndex(of: mark[0]) {
            defer { start = offset + 1 }
            let rest = line[offset...]
            guard rest.starts(with: mark) else { continue }
            var before = line[..<offset]
            while let last = before.last, isBlank(last) { before = before.dropLast() }
            guard let opening = openings.first(where: { before.suffix($0.count).elementsEqual($0) })
            else { continue }
            let code = before.dropLast(opening.count)
            if isSourceCode, endsInString(code) { continue }
            return (named(in: rest.dropFirst(mark.count)), code.allSatisfy(isBlank))
        }
        return nil
    }

    /// Whether a string literal begins in some code and does not end there.
    private static func endsInString(_ code: ArraySlice<UInt8>) -> Bool {
        let quote = UInt8(ascii: "\"")
        var isInside = false
        var isEscaped = false
        for (index, byte) in zip(code.indices, code) {
            let before = index > code.startIndex ? code[index - 1] : 0
            if byte == quote, !isEscaped {
                // Literals of several lines, raw ones, and characters of C are not counted.
                guard before != UInt8(ascii: "#"), before != UInt8(ascii: "'"),
                    !code[index...].starts(with: [quote, quote, quote])
                else { return false }
                isInside.toggle()
            }
            isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
        }
        return isInside
    }

    private static func named(in text: ArraySlice<UInt8>) -> RuleSelection {
        var selection = RuleSelection()
        var comment = String(decoding: text, as: UTF8.self)
        for end in ["-->", "*/"] {
            guard let range = comment.firstRange(of: end) else { continue }
            comment.removeSubrange(range.lowerBound...)
        }
        let words = comment.split { " \t\r".contains($0) }
        var isListed = true
        for word in words {
            let names = word.split(separator: ",").map(String.init)
            // A reason may start with a word that is the name of a family.
            let isID = word.last.map { $0.isNumber || $0 == "," } == true
            guard isListed || isID, !names.isEmpty, let rules = try? RuleSelection(names) else {
                break
            }
            selection.formUnion(rules)
            isListed = word.hasSuffix(",")
        }
        return selection
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0d
    }
}
