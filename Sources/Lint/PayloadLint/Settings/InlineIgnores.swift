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
    /// The first comments with what is no rule, which ignores nothing, by their lines: that word,
    /// or nothing for a comment without any.
    private var misread: [(line: Int, text: String)] = []

    /// Creates an empty set of comments.
    package init() {}

    /// Reads the comments of a text. In source code, what a string literal contains is no comment.
    package init(_ text: [UInt8], isSourceCode: Bool = false) {
        guard text.contains(text: "rouse:ignore") else { return }
        let text = isSourceCode ? Self.withoutLiterals(text) : text
        var waiting = RuleSelection()
        var number = 0
        var start = text.startIndex
        // Line by line, because a file can have as many lines as bytes.
        while start <= text.endIndex {
            let end = text[start...].firstIndex(of: UInt8(ascii: "\n")) ?? text.endIndex
            let line = text[start..<end]
            start = end + 1
            number += 1
            let found = Self.rules(in: line, hasQuotes: !isSourceCode)
            if let unknown = found?.unknown, misread.count < LintLimits.misreadComments {
                misread.append((number, unknown))
            }
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

    /// What comments name that is no rule, as clauses, of a file at this path.
    package func misreadClauses(at path: String) -> [String] {
        misread.map { line, text in
            "the comment in \(path):\(line) names "
                + (text.isEmpty ? "no rule to ignore" : "`\(text.prefix(40))`, which is no rule")
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
        in line: ArraySlice<UInt8>, hasQuotes: Bool
    ) -> (rules: RuleSelection, unknown: String?, isAlone: Bool)? {
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
            if hasQuotes, isQuoted(code, before: rest) { continue }
            let named = named(in: rest.dropFirst(mark.count))
            return (named.rules, named.unknown, code.allSatisfy(isBlank))
        }
        return nil
    }

    /// Whether what follows some text of a line is inside of a quoted text, which ends on the line.
    private static func isQuoted(
        _ text: ArraySlice<UInt8>, before rest: ArraySlice<UInt8>
    ) -> Bool {
        [UInt8(ascii: "\""), UInt8(ascii: "'")].contains { quote in
            !text.count { $0 == quote }.isMultiple(of: 2) && rest.contains(quote)
        }
    }

    /// Source code with blanks for what string literals contain. Line feeds stay.
    private static func withoutLiterals(_ text: [UInt8]) -> [UInt8] {
        let (quote, hash, backslash) = (UInt8(ascii: "\""), UInt8(ascii: "#"), UInt8(ascii: "\\"))
        let (slash, star, newline) = (UInt8(ascii: "/"), UInt8(ascii: "*"), UInt8(ascii: "\n"))
        var result = text
        var index = 0
        func sees(_ bytes: [UInt8], at start: Int) -> Bool { text[start...].starts(with: bytes) }
        func skip(to end: [UInt8]) {
            while index < text.count, !sees(end, at: index) { index += 1 }
        }
        while index < text.count {
            switch text[index] {
            case slash where sees([slash, slash], at: index): skip(to: [newline])
            case slash where sees([slash, star], at: index):
                index += 2
                skip(to: [star, slash])
            // A character of C: `'"'`, `'\"'`.
            case UInt8(ascii: "'") where sees([quote, UInt8(ascii: "'")], at: index + 1): index += 3
            case UInt8(ascii: "'") where sees([backslash, quote], at: index + 1): index += 3
            case quote:
                let hashes = text[..<index].reversed().prefix { $0 == hash }.count
                let isLong = sees([quote, quote, quote], at: index)
                let end =
                    [UInt8](repeating: quote, count: isLong ? 3 : 1)
                    + [UInt8](repeating: hash, count: hashes)
                index += isLong ? 3 : 1
                while index < text.count, !sees(end, at: index),
                    isLong || text[index] != newline
                {
                    let isEscape = text[index] == backslash && hashes == 0
                    for place in index..<min(index + (isEscape ? 2 : 1), text.count)
                    where text[place] != newline {
                        result[place] = UInt8(ascii: " ")
                    }
                    index += isEscape ? 2 : 1
                }
                index += text[min(index, text.count)...].starts(with: end) ? end.count : 0
            default: index += 1
            }
        }
        return result
    }

    /// The rules that a comment names; of a list of which one is unknown the others hold.
    private static func named(
        in text: ArraySlice<UInt8>
    ) -> (rules: RuleSelection, unknown: String?) {
        var selection = RuleSelection()
        var unknown: String?
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
            guard isListed || isID, !names.isEmpty else { break }
            let known = names.compactMap { try? RuleSelection([$0]) }
            for rules in known { selection.formUnion(rules) }
            if known.count < names.count, isListed {
                unknown = unknown ?? names.first { (try? RuleSelection([$0])) == nil }
            }
            isListed = word.hasSuffix(",")
            if known.isEmpty, !isListed { break }
        }
        return (selection, words.isEmpty ? "" : unknown)
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0d
    }
}
