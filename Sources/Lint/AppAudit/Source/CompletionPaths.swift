// SPDX-License-Identifier: Apache-2.0

/// Looks for paths through a function's body on which its completion handler is not called.
///
/// It follows statements, not types: whatever mentions the handler counts as a call of it, and a
/// closure that mentions it must do so on all of its own paths.
struct CompletionPaths {
    private let text: SourceText
    /// The handler's name.
    private let name: String
    /// The words at which such paths end.
    private(set) var gaps: [Int] = []
    /// The statements that are looked at: nested closures are looked at for each level.
    private var wordsLeft = 200_000

    /// Looks at the body of a function.
    init(_ text: SourceText, handler name: String, body: SourceScope) {
        self.text = text
        self.name = name
        let end = body.close >= 0 ? body.close : text.tokens.count
        let isSettled = walk(body.open + 1..<end, isSettled: false, depth: 0)
        if !isSettled { gaps.append(body.head) }
    }

    /// Follows statements. Returns whether the handler has been called, or the path has ended, at
    /// the end of each path through them.
    private mutating func walk(_ range: Range<Int>, isSettled: Bool, depth: Int) -> Bool {
        var isSettled = isSettled
        var index = range.lowerBound
        while index < range.upperBound {
            wordsLeft -= 1
            guard wordsLeft > 0, depth < AuditLimits.scopeDepth else { return true }
            let token = text.tokens[index]
            guard token.isName else {
                if token.isMark("{") {
                    index = closure(at: index, &isSettled, depth)
                } else {
                    index += 1
                }
                continue
            }
            switch token.text {
            case name: isSettled = true
            case "return":
                let statement = index..<statementEnd(index, range)
                if !isSettled, !mentions(statement) { gaps.append(index) }
                return true
            case "throw", "fatalError", "preconditionFailure":
                return true
            case "break", "continue":
                return isSettled
            case "func":
                index = skipFunction(index, range, &isSettled)
                continue
            case "defer", "if", "guard", "switch", "do", "for", "while", "repeat":
                index = control(token.text, index, range, &isSettled, depth)
                continue
            default: break
            }
            index += 1
        }
        return isSettled
    }

    private func mentions(_ range: Range<Int>) -> Bool {
        text.tokens[range].contains { $0.isName(name) }
    }

    /// The end of the line of a statement, or of the brackets that it opens.
    private func statementEnd(_ start: Int, _ range: Range<Int>) -> Int {
        var index = start + 1
        var line = text.tokens[start].position.line
        while index < range.upperBound, text.tokens[index].position.line == line {
            if text.partners[index] > index {
                index = min(text.partners[index], range.upperBound - 1)
                line = text.tokens[index].position.line
            }
            index += 1
        }
        return index
    }

    // MARK: Blocks

    /// A closure: if it mentions the handler, it settles what follows and must settle itself.
    private mutating func closure(at open: Int, _ isSettled: inout Bool, _ depth: Int) -> Int {
        let body = text.content(ofBracket: open)
        guard !body.isEmpty else { return open + 1 }
        if mentions(body) {
            if !walk(body, isSettled: isSettled, depth: depth + 1) { gaps.append(open) }
            isSettled = true
        }
        return body.upperBound + 1
    }

    /// A function inside of the function: calling it may call the handler.
    private func skipFunction(_ start: Int, _ range: Range<Int>, _ isSettled: inout Bool) -> Int {
        guard let open = firstBrace(start, range) else { return start + 1 }
        let body = text.content(ofBracket: open)
        if mentions(body) { isSettled = true }
        return max(body.upperBound, open) + 1
    }

    /// A statement with blocks. Returns the index behind it.
    private mutating func control(
        _ keyword: String, _ start: Int, _ range: Range<Int>, _ isSettled: inout Bool, _ depth: Int
    ) -> Int {
        guard let open = firstBrace(start, range), open + 1 <= range.upperBound else {
            return start + 1
        }
        let body = text.content(ofBracket: open)
        // What stands before the brace is worked out on every path.
        if keyword != "defer", mentions(start..<open) { isSettled = true }
        let next = max(body.upperBound, open) + 1
        switch keyword {
        case "defer":
            if mentions(body) { isSettled = true }
            return next
        case "guard":
            _ = walk(body, isSettled: isSettled, depth: depth + 1)
            return next
        case "for", "while":
            _ = walk(body, isSettled: isSettled, depth: depth + 1)
            return next
        case "repeat":
            isSettled = walk(body, isSettled: isSettled, depth: depth + 1)
            return next
        case "switch":
            isSettled = cases(body, isSettled: isSettled, depth: depth + 1)
            return next
        default:
            return chain(keyword, body, next, range, &isSettled, depth)
        }
    }

    /// `if … else if … else …` and `do … catch …`: settled if every branch is.
    private mutating func chain(
        _ keyword: String, _ body: Range<Int>, _ next: Int, _ range: Range<Int>,
        _ isSettled: inout Bool, _ depth: Int
    ) -> Int {
        var isEveryBranchSettled = walk(body, isSettled: isSettled, depth: depth + 1)
        var isExhaustive = keyword == "do"
        var next = next
        let continuation = keyword == "do" ? "catch" : "else"
        while next < range.upperBound, text.tokens[next].isName(continuation),
            let open = firstBrace(next, range)
        {
            let isLast = keyword == "if" && open == next + 1
            let branch = text.content(ofBracket: open)
            if !walk(branch, isSettled: isSettled, depth: depth + 1) {
                isEveryBranchSettled = false
            }
            next = max(branch.upperBound, open) + 1
            if isLast {
                isExhaustive = true
                break
            }
        }
        if isExhaustive, isEveryBranchSettled { isSettled = true }
        return next
    }

    /// The cases of a switch, which the language makes exhaustive.
    private mutating func cases(_ body: Range<Int>, isSettled: Bool, depth: Int) -> Bool {
        var isEveryCaseSettled = true
        var start: Int?
        var index = body.lowerBound
        while index <= body.upperBound {
            let token = index < body.upperBound ? text.tokens[index] : nil
            let isLabel = token.map { $0.isName("case") || $0.isName("default") } ?? true
            if isLabel {
                if let start, !walk(start..<index, isSettled: isSettled, depth: depth) {
                    isEveryCaseSettled = false
                }
                // Behind the label's colon the statements begin.
                while index < body.upperBound, !text.tokens[index].isMark(":") {
                    index = skipBracket(index, body)
                }
                start = index + 1
            }
            guard index < body.upperBound else { break }
            index = skipBracket(index, body)
        }
        return isEveryCaseSettled && start != nil
    }

    private func skipBracket(_ index: Int, _ range: Range<Int>) -> Int {
        text.partners[index] > index ? min(text.partners[index] + 1, range.upperBound) : index + 1
    }

    /// The brace that begins a statement's block: the first outside of other brackets.
    private func firstBrace(_ start: Int, _ range: Range<Int>) -> Int? {
        var index = start + 1
        while index < range.upperBound {
            if text.tokens[index].isMark("{") { return index }
            index = skipBracket(index, range)
        }
        return nil
    }
}
