// SPDX-License-Identifier: Apache-2.0

/// Statements and their blocks.
extension SourceText {
    /// Whether a condition names a flag by its words, which may say that something was done before.
    func namesFlag(_ condition: Range<Int>) -> Bool {
        let words = [
            "done", "called", "complete", "finish", "once", "handled", "ended", "latch", "claim",
            "expired",
        ]
        return condition.contains { index in
            guard tokens[index].isName else { return false }
            return words.contains(where: tokens[index].text.lowercased().hasLetters)
        }
    }

    /// The end of a statement: the end of its line, or of its brackets; in Objective-C the
    /// semicolon.
    func statementEnd(_ start: Int, _ range: Range<Int>) -> Int {
        var index = start + 1
        var line = tokens[start].position.line
        while index < range.upperBound {
            let token = tokens[index]
            if token.isMark(";") || !isObjectiveC && token.position.line != line { break }
            if partners[index] > index {
                index = min(partners[index], range.upperBound - 1)
                line = tokens[index].position.line
            }
            index += 1
        }
        return index
    }

    /// Whether an Objective-C brace starts statements that run immediately: `@synchronized(self)
    /// {`, `@autoreleasepool {`. After a caret they run later.
    func isPlainBlock(_ open: Int) -> Bool {
        guard isObjectiveC, let before = self[open - 1] else { return false }
        guard before.isMark(")"), partners[open - 1] >= 0 else {
            return before.isMark(";") || before.isMark("{") || before.isMark("}")
                || before.isName("autoreleasepool")
        }
        return self[partners[open - 1] - 1]?.isName("synchronized") == true
    }

    /// The block after a keyword: its tokens, and the index after it. In Objective-C it may be one
    /// statement without braces.
    func block(
        after start: Int, _ range: Range<Int>
    ) -> (open: Int, body: Range<Int>, next: Int)? {
        if isObjectiveC {
            var index = start + 1
            if sees("(", at: index) { index = skipBracket(index, range) }
            guard index < range.upperBound else { return nil }
            if !tokens[index].isMark("{") {
                let end = objectiveCStatementEnd(index, range)
                return (index, index..<end, end)
            }
            let body = content(ofBracket: index)
            return (index, body, max(body.upperBound, index) + 1)
        }
        guard let open = firstBrace(start, range) else { return nil }
        let body = content(ofBracket: open)
        return (open, body, max(body.upperBound, open) + 1)
    }

    func objectiveCStatementEnd(_ start: Int, _ range: Range<Int>) -> Int {
        var index = start
        while index < range.upperBound {
            if tokens[index].isMark(";") { return index + 1 }
            index = skipBracket(index, range)
        }
        return range.upperBound
    }

    func skipBracket(_ index: Int, _ range: Range<Int>) -> Int {
        partners[index] > index ? min(partners[index] + 1, range.upperBound) : index + 1
    }

    /// The opening brace of a statement's block: the first one outside other brackets.
    func firstBrace(_ start: Int, _ range: Range<Int>) -> Int? {
        var index = start + 1
        while index < range.upperBound {
            if tokens[index].isMark("{") { return index }
            index = skipBracket(index, range)
        }
        return nil
    }

    /// The names of a closure's parameters: `{ [weak self] task in`, `^(BGTask *task) {`; `$0` if
    /// there are none.
    func parameters(ofClosure closure: SourceScope) -> [String] {
        if isObjectiveC {
            guard sees(")", at: closure.open - 1), partners[closure.open - 1] >= 0 else {
                return []
            }
            return content(ofBracket: partners[closure.open - 1])
                .filter { tokens[$0].isName && (sees(",", at: $0 + 1) || sees(")", at: $0 + 1)) }
                .map { tokens[$0].text }
        }
        var index = behindAttributes(of: closure)
        if sees("[", at: index) { index = partners[index] + 1 }
        guard index > closure.open else { return [] }
        // The parameters of a closure behind it are others.
        let head = (index..<tokens.count).prefix(16)
            .prefix { !tokens[$0].isMark("{") && !tokens[$0].isMark("}") }
        guard let end = head.first(where: { tokens[$0].isName("in") }) else { return ["$0"] }
        let names = (index..<end).filter { tokens[$0].isName }.map { tokens[$0].text }
        // `{ [weak self] in run($0) }`
        return names.isEmpty ? ["$0"] : names
    }

    /// The index after the attributes of a closure: `{ @Sendable [weak self] t in`.
    func behindAttributes(of closure: SourceScope) -> Int {
        var index = closure.open + 1
        while sees("@", at: index), self[index + 1]?.isName == true { index += 2 }
        return index
    }
}
