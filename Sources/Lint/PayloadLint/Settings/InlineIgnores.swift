// SPDX-License-Identifier: Apache-2.0

package import PayloadRules

/// Comments that exempt a line from rules: `// rouse:ignore CF026 reason`, or behind `#`, `/*` and
/// `<!--`.
///
/// After code such a comment applies to its own line; alone in a line, to the next line that is not
/// blank and no such comment. Several rules are separated by commas or blanks; what follows the
/// rules is the reason, for people.
package struct InlineIgnores: Sendable {
    private static let mark = Array("rouse:ignore".utf8)
    private static let openings = ["//", "#", "/*", "<!--", "--", ";"].map { Array($0.utf8) }

    private var rules: [Int: RuleSelection] = [:]

    /// No comments.
    package init() {}

    /// Reads the comments of a text.
    package init(_ text: [UInt8]) {
        guard text.contains(text: "rouse:ignore") else { return }
        var waiting = RuleSelection()
        var number = 0
        var start = text.startIndex
        // Line by line: a file may have as many lines as bytes.
        while start <= text.endIndex {
            let end = text[start...].firstIndex(of: UInt8(ascii: "\n")) ?? text.endIndex
            let line = text[start..<end]
            start = end + 1
            number += 1
            let found = Self.rules(in: line)
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

    /// Whether a comment exempts a line, counted from 1, from a rule.
    package func cover(_ rule: RuleID, line: Int) -> Bool {
        rules[line]?.contains(rule) ?? false
    }

    /// The rules that a line's comment names, and whether the comment is alone in its line.
    private static func rules(
        in line: ArraySlice<UInt8>
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
            return (named(in: rest.dropFirst(mark.count)), code.allSatisfy(isBlank))
        }
        return nil
    }

    private static func named(in text: ArraySlice<UInt8>) -> RuleSelection {
        var selection = RuleSelection()
        let words = String(decoding: text, as: UTF8.self).split { $0 == " " || $0 == "\t" }
        var isListed = true
        for word in words {
            let names = word.split(separator: ",").map(String.init)
            // A reason may begin with a word that is a family's name.
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
