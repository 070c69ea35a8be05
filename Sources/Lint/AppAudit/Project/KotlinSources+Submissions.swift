// SPDX-License-Identifier: Apache-2.0

import PayloadRules

extension KotlinSources {
    /// The places where nothing looks at the error of a request for a background task, nor at the
    /// result: `scheduler.submitTaskRequest(request, error = null)` as a statement.
    ///
    /// The tokens are read as those of Swift, which they are but for some literals.
    static func droppedErrors(in bytes: [UInt8], of file: String) -> [AppPlace] {
        let text = SourceText(bytes, path: file)
        var places: [AppPlace] = []
        /// The open braces.
        var open: [Int] = []
        for index in text.tokens.indices {
            let token = text.tokens[index]
            if token.isMark("{"), text.partners[index] > index { open.append(index) }
            if token.isMark("}"), open.last == text.partners[index] { open.removeLast() }
            guard token.isName("submitTaskRequest"), text.sees("(", at: index + 1),
                text.partners[index + 1] > index, places.count < AuditLimits.observationsPerFile
            else { continue }
            let close = text.partners[index + 1]
            let last = text.sees(",", at: close - 1) ? close - 2 : close - 1
            let isDropped =
                text.sees(",", "null", at: last - 1)
                || text.sees("error", "=", "null", at: last - 2)
            guard isDropped, let first = start(of: index, text) else { continue }
            if isStatement(first..<close + 1, in: open.suffix(AuditLimits.scopeDepth)[...], text) {
                places.append(text.place(of: index))
            }
        }
        return places
    }

    /// The first token of the chain that a call ends: `scheduler` of `scheduler.shared().submit`.
    private static func start(of call: Int, _ text: SourceText) -> Int? {
        var first = call
        while text.sees(".", at: first - 1) {
            first -= 2
            if text.sees("?", at: first) { first -= 1 }
            if text.sees(")", at: first), text.partners[first] >= 0 {
                first = text.partners[first] - 1
            }
            guard text[first]?.isName == true else { return nil }
        }
        return first
    }

    /// Whether an expression, or a statement of control, stands by itself, and nothing has its
    /// value: it is not the last one of a lambda, nor of a branch whose value something has.
    private static func isStatement(
        _ range: Range<Int>, in open: ArraySlice<Int>, _ text: SourceText
    ) -> Bool {
        guard beginsStatement(range.lowerBound, text), let block = open.last else { return false }
        let line = text.tokens[range.upperBound - 1].position.line
        if let next = text[range.upperBound], !next.isMark("}") {
            return next.isName && !infixes.contains(next.text) && next.position.line > line
        }
        switch head(of: block, text) {
        case .function: return true
        case .loop: return true
        case .branch(let first):
            guard let whole = control(from: first, text) else { return false }
            return isStatement(whole, in: open.dropLast(), text)
        case .other: return false
        }
    }

    /// What a block is of.
    private enum Head {
        case function
        case loop
        /// A part of `if` or `try`, which begins at a token.
        case branch(Int)
        case other
    }

    private static func head(of open: Int, _ text: SourceText) -> Head {
        var open = open
        for _ in 0..<AuditLimits.scopeDepth {
            guard open > 0 else { return .other }
            var head = open - 1
            if text.tokens[head].isMark(")"), text.partners[head] > 0 {
                head = text.partners[head] - 1
            }
            guard head >= 0 else { return .other }
            switch text.tokens[head].text {
            case "init": return .function
            case "for", "while": return .loop
            case "try": return .branch(head)
            case "if" where !text.sees("else", at: head - 1): return .branch(head)
            case "if", "else", "catch", "finally":
                // `} else if (…) {`, `} catch (…) {`
                let before = text.sees("else", at: head - 1) ? head - 2 : head - 1
                guard text.sees("}", at: before), text.partners[before] > 0 else { return .other }
                open = text.partners[before]
            default:
                // `fun submit(…): Unit {`, not `fun submit() = run {`
                let start = (0...head).reversed().prefix(AuditLimits.headWords).first {
                    ["fun", "{", "}", "="].contains(text.tokens[$0].text)
                }
                return start.map { text.tokens[$0].isName("fun") } == true ? .function : .other
            }
        }
        return .other
    }

    /// The tokens of an `if` or a `try` with all of its blocks; `nil` if a branch has none, or if
    /// there are too many.
    private static func control(from first: Int, _ text: SourceText) -> Range<Int>? {
        var index = first
        for _ in 0..<AuditLimits.scopeDepth {
            index += 1
            if text.sees("if", at: index) { index += 1 }
            if text.sees("(", at: index), text.partners[index] > index {
                index = text.partners[index] + 1
            }
            guard text.sees("{", at: index), text.partners[index] > index else { return nil }
            index = text.partners[index] + 1
            guard let next = text[index], ["else", "catch", "finally"].contains(next.text) else {
                return first..<index
            }
        }
        return nil
    }

    /// Whether a token is the first of a statement: nothing on the line before goes on with it.
    private static func beginsStatement(_ index: Int, _ text: SourceText) -> Bool {
        guard let before = text[index - 1] else { return false }
        if before.isMark("{") || before.isMark(";") { return true }
        // `if (isOn)`, and its branch on the next line.
        if before.isMark(")"), text.partners[index - 1] > 0,
            let head = text[text.partners[index - 1] - 1]?.text,
            ["if", "while", "for"].contains(head)
        {
            return false
        }
        let goesOn = before.kind == .mark && ![")", "]", "}"].contains(before.text)
        return before.position.line < text.tokens[index].position.line && !goesOn
            && !infixes.contains(before.text)
    }

    /// Words that go on in the next line.
    private static let infixes: Set = [
        "and", "or", "xor", "in", "is", "as", "to", "throw", "return", "else", "shl", "shr",
    ]
}
