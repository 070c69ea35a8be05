// SPDX-License-Identifier: Apache-2.0

/// Finds tasks that a handler ends at once, and a closure behind it again.
extension SourceReader {
    /// An end of a task that comes behind another one.
    func secondEnd(_ ends: Set<Int>, _ calls: RepeatedCalls, in handler: SourceScope) -> Int? {
        calls.first ?? endAgain(ends, in: handler) ?? calls.callOfTimeout(in: handler)
    }

    /// The first end of a task in a closure that a handler hands on behind an end on each path.
    private func endAgain(_ ends: Set<Int>, in handler: SourceScope) -> Int? {
        guard ends.count > 1, let first = ends.sorted().first(where: { isDirect($0, in: handler) }),
            !leaves(at: first)
        else { return nil }
        let last = max(first, handler.close)
        let exit = (first..<last).first { word in
            if case .directive = text.tokens[word].kind { return true }
            return isExit(word) && isDirect(word, in: handler)
        }
        return ends.filter { first < $0 && $0 < exit ?? last }.sorted().first { end in
            !isDirect(end, in: handler) && runsLater(end, of: handler, behind: first)
        }
    }

    /// Whether a token is in a function's body, and in none of its blocks.
    private func isDirect(_ index: Int, in function: SourceScope) -> Bool {
        text.scopes(around: index).first { _ in true }?.open == function.open
            && !isInArguments(index, of: function)
    }

    /// Whether a token is in the arguments of a call, or in an expression in brackets.
    private func isInArguments(_ index: Int, of function: SourceScope) -> Bool {
        (function.open + 1..<index).suffix(AuditLimits.headWords).contains { open in
            text.tokens[open].isMark("(") && text.partners[open] > index
        }
    }

    private func isExit(_ index: Int) -> Bool {
        ["return", "throw", "fatalError"].contains { text.tokens[index].isName($0) }
            && !text.sees(".", at: index - 1)
    }

    /// Whether a statement leaves the function, or has a condition: `return
    /// task.setTaskCompleted(success: true)`, `if (done) [task setTaskCompletedWithSuccess:YES];`.
    private func leaves(at index: Int) -> Bool {
        let exits: Set = ["return", "?", ":", "&&", "||"]
        let before = text.isObjectiveC ? text[index - 2] : text[index - 1]
        guard let word = before?.text else { return false }
        return exits.contains(word) || text.isObjectiveC && [")", "else"].contains(word)
    }

    /// Whether a closure around an end runs behind the first one: one that is passed to a call, or
    /// set as a property, and that asks for nothing which the first end may have changed.
    private func runsLater(_ end: Int, of handler: SourceScope, behind first: Int) -> Bool {
        var isInClosure = false
        for scope in text.scopes(around: end) {
            if scope.open == handler.open { return isInClosure }
            switch scope.kind {
            case .closure(let callee):
                guard scope.open > first, callee != nil || isSet(closureAt: scope.open),
                    !bindsAgain(end, in: scope)
                else { return false }
                isInClosure = true
            case .control:
                guard scope.open > first, !text.namesFlag(scope.head..<scope.open) else {
                    return false
                }
            case .function, .type: return false
            }
        }
        return false
    }

    /// Whether a closure has another value of the name at a token, or asks for a flag before it.
    private func bindsAgain(_ index: Int, in closure: SourceScope) -> Bool {
        let name = text.tokens[index].text
        if text.parameters(ofClosure: closure).contains(name) { return true }
        let before = closure.open..<index
        return text.places(of: name, in: before).contains {
            text.sees("let", at: $0 - 1) || text.sees("var", at: $0 - 1)
        }
            || text.places(of: "guard", in: before).contains { word in
                text.namesFlag(word..<min(index, text.firstBrace(word, before) ?? word))
            }
    }

    /// Whether a closure is the new value of a member, other than the expiration handler:
    /// `operation.completionBlock = {`.
    private func isSet(closureAt open: Int) -> Bool {
        let start = text.sees("^", at: open - 1) ? open - 1 : open
        return text.sees("=", at: start - 1) && text.sees(".", at: start - 3)
            && !text.sees("expirationHandler", at: start - 2)
    }
}
