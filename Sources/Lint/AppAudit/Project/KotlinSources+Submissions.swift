// SPDX-License-Identifier: Apache-2.0

import PayloadRules

extension KotlinSources {
    /// The places where nothing looks at the error of a request for a background task, nor at the
    /// result: `scheduler.submitTaskRequest(request, error = null)` as a statement.
    ///
    /// The tokens of Kotlin are those of Swift, but for what is in texts.
    static func droppedErrors(in bytes: [UInt8], of file: String) -> [AppPlace] {
        let text = SourceText(bytes, path: file)
        return text.places(of: "submitTaskRequest").filter { index in
            guard text.sees("(", at: index + 1), text.partners[index + 1] > index else {
                return false
            }
            let close = text.partners[index + 1]
            let last = text.sees(",", at: close - 1) ? close - 2 : close - 1
            let isDropped =
                text.sees(",", "null", at: last - 1)
                || text.sees("error", "=", "null", at: last - 2)
            return isDropped && isStatement(index, close, in: text)
        }
        .map(text.place)
    }

    /// Whether a call is a statement whose value nothing has.
    private static func isStatement(_ call: Int, _ close: Int, in text: SourceText) -> Bool {
        var first = call
        while text.sees(".", at: first - 1) {
            first -= 2
            if text.sees("?", at: first) { first -= 1 }
            if text.sees(")", at: first), text.partners[first] >= 0 {
                first = text.partners[first] - 1
            }
            guard text[first]?.isName == true else { return false }
        }
        guard let before = text[first - 1] else { return false }
        // `if (isOn)`, and its branch on the next line.
        let head = before.isMark(")") ? text[text.partners[first - 1] - 1]?.text : nil
        guard !["if", "while", "for"].contains(head) else { return false }
        let line = text.tokens[first].position.line
        let isFirst = before.isMark("{")
        let goesOn = before.kind == .mark && ![")", "]", "}"].contains(before.text)
        guard
            isFirst
                || before.position.line < line && !goesOn
                    && !["return", "else"].contains(before.text)
        else { return false }
        guard let next = text[close + 1] else { return true }
        if next.isMark("}") { return isBlock(around: first, text) }
        return next.isName && next.position.line > text.tokens[close].position.line
    }

    /// Whether the innermost braces around a token are those of a function or of a statement, not
    /// of a lambda or an expression, whose last value somebody may have.
    private static func isBlock(around index: Int, _ text: SourceText) -> Bool {
        var open = index - 1
        while open >= 0, !(text.tokens[open].isMark("{") && text.partners[open] > index) {
            open -= 1
        }
        guard open > 0 else { return false }
        var head = open - 1
        if text.tokens[head].isMark(")"), text.partners[head] > 0 {
            head = text.partners[head] - 1
        }
        switch text.tokens[head].text {
        case "try", "else", "finally", "if", "for", "while", "catch":
            // `val isDone = try { … }`
            let before = text[head - 1]
            return before.map { $0.isMark("{") || $0.isMark("}") || $0.isMark(";") } == true
                || before.map { $0.kind != .mark || [")", "]"].contains($0.text) } == true
                    && before?.position.line != text.tokens[head].position.line
        case "init": return true
        default:
            // `fun submit(…): Unit {`, not `fun submit() = run {`
            let start = (0...head).reversed().prefix(AuditLimits.headWords).first {
                ["fun", "{", "}", "="].contains(text.tokens[$0].text)
            }
            return start.map { text.tokens[$0].isName("fun") } == true
        }
    }
}
