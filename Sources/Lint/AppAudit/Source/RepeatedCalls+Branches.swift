// SPDX-License-Identifier: Apache-2.0

/// Finds calls in closures behind a branch that makes the same call.
extension RepeatedCalls {
    /// The first call in a closure behind an `if` that makes the call and goes on: `if isEmpty {
    /// done(.noData) }`, `load { done(.newData) }`.
    func callBehindBranch(in body: SourceScope) -> Int? {
        let range = text.content(ofBracket: body.open)
        let calls = range.filter(isCall)
        guard calls.count > 1, calls.count <= 16,
            // `let done = once(done)`
            !calls.contains(where: { isDeclared(text.tokens[$0].text, in: range) })
        else { return nil }
        for call in calls {
            let around = text.scopes(around: call).prefix { $0.open >= body.open }.map { $0 }
            guard around.count > 1, case .control("if") = around[0].kind,
                goesOn(behind: call, around[0])
            else { continue }
            let branch = around[0]
            let outer = around[1]
            let later = calls.first { other in
                guard other > branch.close, other < outer.close,
                    let closure = text.scopes(around: other)
                        .first(where: {
                            $0.parent >= 0 && text.scopes[$0.parent].open == outer.open
                        })
                else { return false }
                // `migrate { done in done(true) }` calls another function.
                return !text.sees(text.tokens[other].text, "in", at: closure.open + 1)
                    && runs(closure, behind: branch)
            }
            if let later { return later }
        }
        return nil
    }

    /// The first call in the closure for the end of a Combine `sink` that makes it on each path, if
    /// the closure for values makes it too, and goes on: the end comes behind the last value.
    func callBehindValue(in body: SourceScope) -> Int? {
        let range = text.content(ofBracket: body.open)
        for word in text.places(of: "sink", in: range) {
            guard let sink = text.closures(ofSink: word) else { continue }
            let value = text.content(ofBracket: sink.value)
            let calls = value.filter(isCall)
            // What ends the subscription gets no end: `running[key] = nil`, `stop()`.
            let enders = [
                "nil", "=", "cancel", "remove", "stop", "dispose", "clear", "reset", "release",
                "drop", "finish", "end",
            ]
            let mayCancel = value.contains { index in
                guard !isCall(index) else { return false }
                let name = text.tokens[index].text
                // A function of the object may end it too.
                return enders.contains(where: name.hasPrefix)
                    || text.sees("self", ".", at: index - 2) && text.sees("(", at: index + 1)
            }
            guard !calls.isEmpty, !mayCancel,
                // The parts of conditional compilation are alternatives.
                !text.directives.contains(where: {
                    min(sink.end, sink.value)..<max(sink.end, sink.value) ~= $0
                }),
                let again = text.content(ofBracket: sink.end).first(where: isCall),
                let end = text.scopes(around: again).first(where: { $0.open == sink.end }),
                callsOnEachPath(end),
                !isDeclared(text.tokens[again].text, in: range),
                ![again, calls[0]].contains(where: { call in
                    text.scopes(around: call).contains { scope in
                        scope.open >= min(sink.end, sink.value)
                            && text.parameters(ofClosure: scope).contains(text.tokens[call].text)
                    }
                })
            else { continue }
            return again
        }
        return nil
    }

    /// The call in a closure that runs when a time is over, if the closure of some work makes the
    /// same call: both are made when the work ends in time.
    func callOfTimeout(in body: SourceScope) -> Int? {
        let range = text.content(ofBracket: body.open)
        let calls = range.filter(isCall)
        guard calls.count > 1, calls.count <= 16,
            !calls.contains(where: { isDeclared(text.tokens[$0].text, in: range) })
        else { return nil }
        let plain = calls.compactMap { call in
            plainClosure(around: call, in: body).map { (call, closure: $0) }
        }
        let timeout = plain.first { isTimeout($0.closure) }
        guard let (call, closure) = timeout else { return nil }
        let isRepeated = calls.contains { other in
            guard let work = closureOfWork(around: other, in: body) else { return false }
            return work.open != closure.open
                // The parts of conditional compilation are alternatives.
                && !text.directives.contains(where: { directive in
                    (min(call, other)..<max(call, other)).contains(directive)
                })
        }
        return isRepeated ? call : nil
    }

    /// The closure that makes a call on each path when some work ends. The body begins it, in a
    /// statement of its own or of a closure that runs at once or next, unless a word before it may
    /// keep it from that.
    private func closureOfWork(around call: Int, in body: SourceScope) -> SourceScope? {
        var work: SourceScope?
        var inner = call
        for scope in text.scopes(around: call) {
            if work != nil, isAsked(inner) { return nil }
            if scope.open == body.open { return work }
            let asks = (scope.open..<inner).contains { Self.asking.contains(text.tokens[$0].text) }
            if work != nil, asks { return nil }
            inner = scope.open
            switch scope.kind {
            case .control(let keyword) where work == nil && keyword != "defer": continue
            case .closure:
                guard let callee = callee(of: scope),
                    !text.parameters(ofClosure: scope).contains(text.tokens[call].text),
                    !text.sees("=", at: scope.open - 1), !text.sees("=", "^", at: scope.open - 2)
                else { return nil }
                if work != nil {
                    guard ["async", "dispatch_async", "Task"].contains(callee) else { return nil }
                } else if isWork(scope) {
                    guard callsOnEachPath(scope) else { return nil }
                    work = scope
                } else if callee != "async", callee != "dispatch_async" {
                    return nil
                }
            default: return nil
            }
        }
        return nil
    }

    /// Whether an operator in the line before a closure may keep it from being handed on: `isOn &&
    /// load {`.
    private func isAsked(_ open: Int) -> Bool {
        let line = text.tokens[open].position.line
        return (max(0, open - AuditLimits.headWords)..<open).contains { index in
            text.tokens[index].position.line == line
                && (["&&", "||", "??"].contains(text.tokens[index].text)
                    || text.sees("?", at: index) && !text.sees(".", at: index + 1))
        }
    }

    /// Words of what may keep a call from being made.
    private static let asking: Set = [
        "if", "guard", "switch", "while", "for", "return", "throw", "defer",
    ]

    /// The closure in a body's own statement that makes a call whatever happens.
    private func plainClosure(around call: Int, in body: SourceScope) -> SourceScope? {
        guard
            text.sees("(", at: call + 1) || text.sees(".", at: call + 1)
                || text.isObjectiveC && text.sees("[", at: call - 1),
            let next = text[call - 1],
            !["?", ":", "&&", "||", "??", "="].contains(next.text),
            !(text.isObjectiveC && next.isMark(")")),
            let closure = text.scopes(around: call).first(where: { _ in true }),
            closure.parent >= 0, text.scopes[closure.parent].open == body.open,
            case .closure = closure.kind, callee(of: closure) != nil,
            !text.parameters(ofClosure: closure).contains(text.tokens[call].text),
            !text.sees("=", at: closure.open - 1), !text.sees("=", "^", at: closure.open - 2),
            !(closure.open..<call).contains(where: { Self.asking.contains(text.tokens[$0].text) })
        else { return nil }
        return closure
    }

    /// Whether a closure runs once when a time is over, and nothing can stop it.
    private func isTimeout(_ closure: SourceScope) -> Bool {
        let before = (0..<closure.open).suffix(AuditLimits.headWords)
        switch callee(of: closure) {
        case "asyncAfter"?, "dispatch_after"?:
            let name = before.last {
                ["asyncAfter", "dispatch_after"].contains(text.tokens[$0].text)
            }
            return name.map(startsStatement) == true
        case "scheduledTimer":
            guard
                let call = before.last(where: {
                    text.sees("Timer", ".", "scheduledTimer", "(", at: $0)
                }), startsStatement(call)
            else { return false }
            return text.content(ofBracket: call + 3).contains {
                text.sees("repeats", ":", "false", at: $0)
            }
        default: return false
        }
    }

    /// Whether a call, with the names that it is a member of, is a statement by itself, whose value
    /// nobody keeps.
    private func startsStatement(_ name: Int) -> Bool {
        var start = name
        while text.sees(".", at: start - 1), start >= 2 {
            let owner = start - 2
            // `DispatchQueue.global(qos: .utility).asyncAfter`
            start =
                text.partners[owner] >= 0 && text.partners[owner] < owner
                ? text.partners[owner] - 1 : owner
        }
        guard let last = text[start - 1] else { return true }
        if ["{", "}", ";", "in"].contains(last.text) || text.sees("_", "=", at: start - 2) {
            return true
        }
        return last.position.line < text.tokens[start].position.line
            && !["=", "(", "[", ",", ":", "return"].contains(last.text)
    }

    /// Whether a closure may run when some work ends, by the name of what gets it.
    private func isWork(_ closure: SourceScope) -> Bool {
        guard let callee = callee(of: closure), runsOnce(callee) else { return false }
        let others: Set = [
            "asyncAfter", "dispatch_after", "scheduledTimer", "addObserver", "sink", "receive",
            "subscribe", "async", "dispatch_async",
        ]
        // What runs only if the work does not end, or fails.
        let exceptions = ["expir", "cancel", "timeout", "fail", "error", "catch"]
        return !others.contains(callee) && !callee.hasPrefix("beginBackgroundTask")
            && !exceptions.contains(where: callee.lowercased().contains)
    }

    /// Whether a body has a value of this name.
    private func isDeclared(_ name: String, in range: Range<Int>) -> Bool {
        text.places(of: name, in: range).contains {
            text.sees("let", at: $0 - 1) || text.sees("var", at: $0 - 1)
        }
    }

    /// Whether a branch without `else` goes on behind a call in it.
    private func goesOn(behind call: Int, _ branch: SourceScope) -> Bool {
        let leaving: Set = [
            "return", "throw", "break", "continue", "goto", "fatalError", "preconditionFailure",
            "abort", "exit", "await",
        ]
        return !text.sees("else", at: branch.close + 1) && !text.sees("else", at: branch.head - 1)
            && !text.namesFlag(branch.head..<branch.open)
            && !text.content(ofBracket: branch.open).contains {
                leaving.contains(text.tokens[$0].text)
            }
    }

    /// Whether a closure is an argument of a call that runs behind a branch, whatever the branch
    /// asks for, as far as is known.
    private func runs(_ closure: SourceScope, behind branch: SourceScope) -> Bool {
        guard let callee = callee(of: closure), runsOnce(callee) else { return false }
        let between = branch.close + 1..<closure.open
        let leaving: Set = ["return", "throw", "guard", "func", "case", "default"]
        guard !between.contains(where: { leaving.contains(text.tokens[$0].text) }),
            // The parts of conditional compilation are alternatives.
            !text.directives.contains(where: { branch.head..<closure.open ~= $0 })
        else { return false }
        let statement = statementStart(of: closure, behind: branch)..<closure.open
        // `manager?.load { … }` may not run, and `let end = { … }` only later.
        guard !statement.contains(where: { ["?", "&&", "||"].contains(text.tokens[$0].text) }),
            !text.sees("=", at: closure.open - 1), !text.sees("=", "^", at: closure.open - 2)
        else { return false }
        // What gets the closure may do nothing in the branch's case.
        let asked = values(in: branch.head..<branch.close)
        return values(in: statement).isDisjoint(with: asked) && callsOnEachPath(closure)
    }

    /// Whether what gets a closure may run it, and no more than once, by its name: not a type that
    /// keeps it, nor one that listens or runs it for each element.
    private func runsOnce(_ callee: String) -> Bool {
        let isKept = callee.first?.isUppercase == true && callee != "Task"
        return !isKept && !SourceReader.selections.contains(callee)
            && !["enumerate", "concurrentPerform", "dispatch_apply", "blockOperation"]
                .contains(where: callee.hasPrefix)
            && !(callee.hasPrefix("on") && callee.dropFirst(2).first?.isUppercase == true)
    }

    /// The values that are named in a range, without members of other values, labels and keywords.
    private func values(in range: Range<Int>) -> Set<String> {
        let plain: Set = ["self", "let", "var", "if", "try", "await"]
        return Set(
            range.filter { index in
                text.tokens[index].isName && !text.isLabel(index)
                    && (!text.sees(".", at: index - 1) || text.sees("self", ".", at: index - 2))
            }
            .map { text.tokens[$0].text }
        )
        .subtracting(plain)
    }

    /// The name of the function that gets a closure.
    private func callee(of closure: SourceScope) -> String? {
        guard case .closure(let callee) = closure.kind else { return nil }
        return text.isObjectiveC ? text.receiver(ofBlock: closure.open) : callee
    }

    /// The first token of the statement that a closure is part of.
    private func statementStart(of closure: SourceScope, behind branch: SourceScope) -> Int {
        var start = closure.open
        if let bracket = (branch.close + 1..<closure.open).first(where: {
            text.partners[$0] > closure.open
        }) {
            start = bracket
        }
        while start > branch.close + 1 {
            let last = start - 1
            if ["{", "}", ";"].contains(where: text.tokens[last].isMark) { break }
            if text.partners[last] > branch.close, text.partners[last] < last {
                start = text.partners[last]
                continue
            }
            let isNewLine = text.tokens[last].position.line < text.tokens[start].position.line
            if isNewLine, !text.isObjectiveC, !text.sees(".", at: start) { break }
            start = last
        }
        return start
    }
}
