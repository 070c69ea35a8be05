// SPDX-License-Identifier: Apache-2.0

/// Conditions: what their branches set or write differently is unknown behind them.
extension ShellText {
    /// An `if` or a `case`.
    struct Condition {
        let isCase: Bool
        var hasElse = false
        /// The variables and the files before it.
        let before: Known
        /// Those at the end of each branch.
        var ends: [Known] = []
    }

    /// The variables and the files that are known at some place.
    struct Known {
        var variables: [String: EmbeddedText]
        var files: [String: EmbeddedText]
    }

    private var known: Known {
        get { Known(variables: variables, files: files) }
        set { (variables, files) = (newValue.variables, newValue.files) }
    }

    /// Follows a line into a condition, to its next branch, or out of it.
    mutating func follow(_ line: Range<Int>) {
        let text = bytes[line].drop { $0 == 0x20 || $0 == 0x09 }
        forgetVariables(setUnderConditionIn: text)
        guard let first = text.first, "icef;".utf8.contains(first) else { return }
        // The rest of a line whose command was read.
        if first == UInt8(ascii: ";") {
            endBranch(isCase: true)
            return
        }
        let words = text.split { " \t\r;".utf8.contains($0) }
            .map { String(decoding: $0, as: UTF8.self) }
        switch words.first {
        case "if" where words.last != "fi" && (words.contains("then") || thenFollows(line)):
            conditions.append(Condition(isCase: false, before: known))
        case "case" where words.last == "in":
            conditions.append(Condition(isCase: true, before: known))
        case "elif", "else":
            endBranch(isCase: false)
            if words.first == "else", let last = conditions.lastIndex(where: { !$0.isCase }) {
                conditions[last].hasElse = true
            }
        case "fi": close(isCase: false)
        case "esac": close(isCase: true)
        default: return
        }
    }

    /// Forgets the variables that a line sets only under a condition, or one after another:
    /// `[ -n "$1" ] && TYPE=$1`, `if …; then TYPE=$1; fi`, `for TYPE in …`.
    private mutating func forgetVariables(setUnderConditionIn line: ArraySlice<UInt8>) {
        let words = line.split { " \t\r;()".utf8.contains($0) }
        guard let first = words.first.map({ String(decoding: $0, as: UTF8.self) }) else { return }
        if ["for", "select"].contains(first), words.count > 1 {
            variables[String(decoding: words[1], as: UTF8.self)] = nil
        }
        let isCondition =
            ["if", "[", "[[", "test", "case", "while", "until", "(("].contains(first)
            || line.contains(UInt8(ascii: ")")) && line.suffix(4).contains(UInt8(ascii: ";"))
        guard isCondition, !first.hasPrefix("#") else { return }
        for name in Self.assignments(in: line) { variables[name] = nil }
    }

    /// Words after which a command begins.
    private static let beginnings: Set<String> = [
        "then", "do", "else", "{", "!", "export", "local", "readonly", "declare", "typeset", "if",
        "while", "until", "elif",
    ]

    /// The variables that the commands of a line set: a word like `NAME=value` elsewhere is one of
    /// a command's arguments.
    private static func assignments(in line: ArraySlice<UInt8>) -> [String] {
        var names: [String] = []
        var isBeginning = true
        var place = line.startIndex
        while place < line.endIndex {
            if " \t\r".utf8.contains(line[place]) {
                place += 1
                continue
            }
            if ";()&|".utf8.contains(line[place]) {
                isBeginning = true
                place += 1
                continue
            }
            let word = line[place...].prefix { !" \t\r;()&|".utf8.contains($0) }
            place = word.endIndex
            let name = word.prefix(while: isName)
            let rest = word.dropFirst(name.count).drop { $0 == UInt8(ascii: "+") }
            if isBeginning, !name.isEmpty, rest.first == UInt8(ascii: "=") {
                names.append(String(decoding: name, as: UTF8.self))
                continue
            }
            // Options of `declare -g` and the like.
            let isOption = isBeginning && word.first == UInt8(ascii: "-")
            isBeginning = isOption || beginnings.contains(String(decoding: word, as: UTF8.self))
        }
        return names
    }

    /// Whether a line ends a branch of a `case` behind other text.
    func endsBranch(_ line: Range<Int>) -> Bool {
        let text = bytes[line].drop { $0 == 0x20 || $0 == 0x09 }
        guard let first = text.first, !"#;".utf8.contains(first),
            let end = text.lastIndex(where: { !" \t\r".utf8.contains($0) })
        else { return false }
        return end > text.startIndex && matches(";;", at: end - 1)
    }

    /// Whether `then` begins the line behind one.
    private func thenFollows(_ line: Range<Int>) -> Bool {
        let next = bytes[line.upperBound...].drop { " \t\r\n".utf8.contains($0) }
        return next.starts(with: "then".utf8)
    }

    /// Ends a branch of the innermost condition. The next one starts with what was known before.
    mutating func endBranch(isCase: Bool) {
        guard let last = conditions.lastIndex(where: { $0.isCase == isCase }) else { return }
        conditions.removeSubrange((last + 1)...)
        conditions[last].ends.append(known)
        known = conditions[last].before
    }

    private mutating func close(isCase: Bool) {
        guard let last = conditions.lastIndex(where: { $0.isCase == isCase }) else { return }
        var ends = conditions[last].ends + [known]
        if !isCase, !conditions[last].hasElse { ends.append(conditions[last].before) }
        known = Known(
            variables: Self.common(ends.map(\.variables)), files: Self.common(ends.map(\.files)))
        conditions.removeSubrange(last...)
    }

    /// The texts that have the same name in no two ways.
    private static func common(_ branches: [[String: EmbeddedText]]) -> [String: EmbeddedText] {
        var result: [String: EmbeddedText] = [:]
        var different: Set<String> = []
        for (name, text) in branches.joined() {
            if let other = result[name], other.bytes != text.bytes { different.insert(name) }
            result[name] = text
        }
        for name in different { result[name] = nil }
        return result
    }
}
