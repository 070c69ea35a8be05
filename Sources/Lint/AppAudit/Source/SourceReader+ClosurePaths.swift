// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Finds paths through a closure of a handler of VoIP pushes that complete it without a report.
extension SourceReader {
    /// The first path through the closure with the reports that calls the completion handler and
    /// reports nothing: `parse(push) { call in guard let call else { completion(); return } … }`.
    func completionWithoutReport(
        _ completion: String?, in body: Range<Int>, _ reports: Set<Int>,
        _ strictness: CompletionPaths.Strictness
    ) -> Int? {
        let certain = reports.filter { reportsCall($0) }
        guard let completion, let first = certain.min(),
            let closure = outerClosure(of: first, in: body)
        else { return nil }
        let inside = text.content(ofBracket: closure.open)
        // What gets the closure may report the call before, and so may anything else outside.
        let around = Set(text.calls(around: first, in: body).map(\.name))
        guard certain.allSatisfy(inside.contains),
            reports.allSatisfy({ inside.contains($0) || around.contains($0) }),
            around.allSatisfy(onlyRunsClosure),
            // What is asked may report the call itself: `guard shouldRing(push) else {`.
            !inside.contains(where: { word in
                !reports.contains(word) && isCall(word)
                    && calledFunction(word).map(holdsReport) == true
            })
        else { return nil }
        var strictness = strictness
        strictness.countsEnd = false
        let gaps = CompletionPaths(text, body: closure, strictness, settles: reports.contains).gaps
        return gaps.sorted().first { gap in
            guard let block = self.block(at: gap), inside.contains(block.open),
                // The handler's own object is there for each push.
                !asksOnlyForSelf(block.head..<block.open)
            else { return false }
            let words = text.content(ofBracket: block.open)
            return !words.contains { runsUnseen($0) }
                && words.contains { text.tokens[$0].isName(completion) && isCall($0) }
        }
    }

    /// Whether a condition asks whether the object is there, and for nothing else.
    func asksOnlyForSelf(_ condition: Range<Int>) -> Bool {
        !condition.contains { text.tokens[$0].isMark(",") }
            && condition.contains {
                text.sees("let", "self", at: $0) || text.sees("=", "self", at: $0)
            }
    }

    /// Whether a call reports nothing itself: of a queue or a task, or of a function of this file
    /// without a report.
    private func onlyRunsClosure(_ call: Int) -> Bool {
        if ["async", "sync", "Task", "withLock"].contains(text.tokens[call].text) { return true }
        return calledFunction(call).map { lateReports(in: $0, depth: 0) == [] } == true
    }

    /// The outermost closure of a body around a token.
    private func outerClosure(of index: Int, in body: Range<Int>) -> SourceScope? {
        var closure: SourceScope?
        for scope in text.scopes(around: index) where scope.open >= body.lowerBound {
            if case .closure = scope.kind { closure = scope }
        }
        return closure
    }

    /// The block of `if`, `guard` or `else` at whose brace, or in which, a path ends.
    func block(at gap: Int) -> SourceScope? {
        let block =
            text.tokens[gap].isMark("{")
            ? text.scope(openedAt: gap) : text.scopes(around: gap).first { _ in true }
        guard let block, case .control = block.kind else { return nil }
        return block
    }
}
