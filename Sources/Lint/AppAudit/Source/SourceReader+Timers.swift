// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Reads timers and loops that start when the app leaves the foreground.
extension SourceReader {
    static let leavingFunctions: Set = [
        "applicationDidEnterBackground", "sceneDidEnterBackground", "applicationWillResignActive",
        "sceneWillResignActive",
    ]

    /// Reads a timer that starts when the app is about to be suspended.
    mutating func readTimer(_ index: Int) {
        guard startsTimer(index) else { return }
        if let body = bodyThatLeaves(around: index) ?? helperThatLeaves(around: index) {
            if !asksForTime(body), !isStopped(index, in: body) {
                see(.fault(.timerInBackground), at: index)
            }
        }
    }

    /// Whether a body keeps under a name what it starts at a token, and stops it further on:
    /// `poll = Task { … }`, then `poll.cancel()`.
    func isStopped(_ index: Int, in body: Range<Int>) -> Bool {
        let closure = text.scopes(around: index).prefix { $0.open >= body.lowerBound }.last {
            if case .closure = $0.kind { true } else { false }
        }
        let start = closure?.open ?? index
        let line = text.tokens[start].position.line
        let equals = (body.lowerBound..<start).reversed()
            .prefix { text.tokens[$0].position.line == line && !text.tokens[$0].isMark(";") }
            .first { text.tokens[$0].isMark("=") }
        guard let name = equals.flatMap(variable) else { return false }
        let places = text.places(of: name, in: start..<body.upperBound)
        // Among so many uses some may stop it.
        guard places.count <= AuditLimits.headWords else { return true }
        return places.contains { word in
            if text.sees("invalidate", "]", at: word + 1) { return true }
            let dot = text.sees("?", at: word + 1) ? word + 2 : word + 1
            return ["cancel", "invalidate"].contains { text.sees(".", $0, at: dot) }
        }
    }

    func asksForTime(_ body: Range<Int>) -> Bool {
        if let known = notes.asksForTime[body.lowerBound] { return known }
        let asks = body.contains { text.tokens[$0].text.hasPrefix("beginBackgroundTask") }
        notes.asksForTime[body.lowerBound] = asks
        return asks
    }

    /// Whether a name starts a timer: `Timer.scheduledTimer`, `Timer.publish(…).autoconnect()`,
    /// `DispatchSource.makeTimerSource` whose timer is resumed; or whether it is the wait of a loop
    /// that does not end, or of a function that calls itself.
    func startsTimer(_ index: Int) -> Bool {
        switch text.tokens[index].text {
        case "sleep", "sleepForTimeInterval": return isCall(index) && isInEndlessLoop(index)
        case "asyncAfter": return callsItself(after: index)
        case "publish":
            guard text.sees("Timer", ".", at: index - 2), text.sees("(", "every", at: index + 1)
            else { return false }
            return text.sees(".", "autoconnect", at: text.partners[index + 1] + 1)
        case "makeTimerSource":
            guard text.sees("DispatchSource", ".", at: index - 2), text.sees("=", at: index - 3),
                let timer = variable(before: index - 3), let (_, body) = function(around: index)
            else { return false }
            return (index..<body.upperBound).contains { word in
                guard text.tokens[word].isName(timer) else { return false }
                let dot = text.sees("?", at: word + 1) ? word + 2 : word + 1
                return text.sees(".", "resume", at: dot) || text.sees(".", "activate", at: dot)
            }
        case "dispatch_source_create":
            guard text.sees("(", "DISPATCH_SOURCE_TYPE_TIMER", at: index + 1),
                let (_, body) = function(around: index)
            else { return false }
            return (index..<body.upperBound).contains {
                text.tokens[$0].isName("dispatch_resume")
                    || text.tokens[$0].isName("dispatch_activate")
            }
        default:
            return text[index - 1]?.isMark(".") == true
                || text[index - 1]?.isName("NSTimer") == true
        }
    }

    /// Whether a token is in the course of a loop that only the end of its task ends: `while true
    /// {`, `while !Task.isCancelled {`, `repeat { … } while true`.
    private func isInEndlessLoop(_ index: Int) -> Bool {
        for scope in text.scopes(around: index) {
            guard case .control(let keyword) = scope.kind else { return false }
            let condition: Range<Int>
            switch keyword {
            case "while": condition = scope.head + 1..<scope.open
            case "repeat", "do":
                guard text.sees("while", at: scope.close + 1) else { continue }
                let start = scope.close + 2
                condition = start..<max(start, text.expressionEnd(start))
            default: continue
            }
            let words = text.tokens[condition].map(\.text).filter { !["(", ")", ";"].contains($0) }
            let isEndless =
                [["true"], ["YES"], ["TRUE"], ["1"], ["!", "Task", ".", "isCancelled"]].contains(
                    words)
            return isEndless && !leavesLoop(scope)
        }
        return false
    }

    /// Whether a statement leaves a loop other than when its task is cancelled.
    private func leavesLoop(_ loop: SourceScope) -> Bool {
        text.content(ofBracket: loop.open).contains { word in
            if throwsOut(word, of: loop) { return true }
            guard ["break", "return", "throw"].contains(text.tokens[word].text),
                text.tokens[word].isName
            else { return false }
            guard let around = text.scopes(around: word).first(where: { _ in true }),
                case .control = around.kind, around.open > loop.open
            else { return true }
            // `guard !Task.isCancelled else { return }`
            return !text.tokens[around.head..<around.open].contains { $0.isName("isCancelled") }
        }
    }

    /// Whether an error of a `try` ends a loop. `Task.sleep` fails only if its task is cancelled.
    private func throwsOut(_ word: Int, of loop: SourceScope) -> Bool {
        guard text.tokens[word].isName("try"), !text.isObjectiveC,
            !text.sees("?", at: word + 1), !text.sees("!", at: word + 1),
            !text.sees("Task", at: text.sees("await", at: word + 1) ? word + 2 : word + 1)
        else { return false }
        return !text.scopes(around: word).prefix { $0.open > loop.open }.contains { scope in
            if case .control("do") = scope.kind {
                text.sees("catch", at: scope.close + 1)
            } else {
                false
            }
        }
    }

    /// Whether a delayed closure calls the function that it is in: `asyncAfter(…) { self.poll() }`.
    private func callsItself(after index: Int) -> Bool {
        guard text.sees("(", at: index + 1) else { return false }
        let close = text.partners[index + 1]
        guard close > index, text.sees("{", at: close + 1),
            let (head, body) = function(around: index)
        else { return false }
        let closure = text.content(ofBracket: close + 1)
        // Any condition may end it.
        return !overloaded.contains(head.name)
            && !body.contains {
                ["guard", "if", "return", "switch"].contains(text.tokens[$0].text)
            }
            && closure.contains { text.tokens[$0].isName(head.name) && isCall($0) }
    }

    /// The tokens of the function in whose course a token runs, if it does not look at the state of
    /// the app.
    func helper(around index: Int) -> Range<Int>? {
        guard let scope = functionInCourse(of: index), case .function(let head) = scope.kind,
            !overloaded.contains(head.name)
        else { return nil }
        let body = text.content(ofBracket: scope.open)
        // It may do so only while the app is active.
        let looksAtState =
            notes.looksAtState[scope.open]
            ?? body.contains {
                let name = text.tokens[$0].text.lowercased()
                return ["foreground", "applicationstate", "isactive"].contains(
                    where: name.hasLetters)
            }
        notes.looksAtState[scope.open] = looksAtState
        return looksAtState ? nil : body
    }

    /// The tokens of the function around a token, if a function of its type that runs when the app
    /// leaves the foreground calls it.
    private func helperThatLeaves(around index: Int) -> Range<Int>? {
        guard let body = helper(around: index), let (head, _) = function(around: index) else {
            return nil
        }
        if let known = notes.runsOnLeaving[body.lowerBound] { return known ? body : nil }
        let type = text.type(around: index)?.name
        let isCalled = text.places(of: head.name).contains { word in
            guard isCall(word), !body.contains(word),
                text[word - 1]?.isName("func") != true, text.type(around: word)?.name == type,
                text[word - 1]?.isMark(".") != true || text.sees("self", ".", at: word - 2),
                !text.isObjectiveC || text.sees("[", "self", at: word - 2),
                let caller = functionInCourse(of: word), case .function(let own) = caller.kind
            else { return false }
            return Self.leavingFunctions.contains(own.name)
                && !asksForTime(text.content(ofBracket: caller.open))
        }
        notes.runsOnLeaving[body.lowerBound] = isCalled
        return isCalled ? body : nil
    }

    /// The function in whose own course a token runs, and not in a closure that is kept.
    private func functionInCourse(of index: Int) -> SourceScope? {
        for scope in text.scopes(around: index) {
            switch scope.kind {
            case .function: return scope
            case .control, .closure("async"), .closure("Task"), .closure("detached"): continue
            case .closure, .type: return nil
            }
        }
        return nil
    }

    /// The tokens of the function or closure around a token, if it runs when the app leaves the
    /// foreground.
    func bodyThatLeaves(around index: Int) -> Range<Int>? {
        for scope in text.scopes(around: index) {
            let body = text.content(ofBracket: scope.open)
            switch scope.kind {
            case .function(let head): return Self.leavingFunctions.contains(head.name) ? body : nil
            // `addObserver(forName: UIApplication.didEnterBackgroundNotification, …) { _ in`
            case .closure("addObserver"), .closure("onReceive"), .closure("sink"):
                let before = (0..<scope.open).suffix(40)
                let start = before.last {
                    text.tokens[$0].isMark("{") || text.tokens[$0].isMark("}")
                }
                let head = (start ?? before.lowerBound)..<scope.open
                if head.contains(where: {
                    text.tokens[$0].isName("didEnterBackgroundNotification")
                }) {
                    return body
                }
            case .control:
                if scenePhase(in: scope, around: index) == "background" { return body }
            default: continue
            }
        }
        return nil
    }

    /// The phase of a SwiftUI scene in a condition around a token: `if phase == .background {`, or
    /// the case of `switch newValue {`, in `.onChange(of: scenePhase)`.
    func scenePhase(in scope: SourceScope, around index: Int) -> String? {
        let condition = (scope.head..<scope.open).prefix(AuditLimits.headWords)
        guard namesPhase(condition) || isInPhaseChange(scope) else { return nil }
        switch scope.kind {
        case .control("if"):
            let equals = condition.first { text.sees("==", ".", at: $0) }
            return equals.flatMap { text[$0 + 2]?.text }
        case .control("switch"):
            let label = labels(of: scope).last { $0 < index }
            return label.flatMap { text.sees(".", at: $0 + 1) ? text[$0 + 2]?.text : nil }
        default: return nil
        }
    }

    /// The labels of the cases of a `switch`.
    private func labels(of scope: SourceScope) -> [Int] {
        if let known = notes.labels[scope.open] { return known }
        let inside = text.scopeIndices[scope.open + 1]
        let labels = text.content(ofBracket: scope.open).filter {
            (text.tokens[$0].isName("case") || text.tokens[$0].isName("default"))
                && text.scopeIndices[$0] == inside
        }
        notes.labels[scope.open] = labels
        return labels
    }

    private func namesPhase(_ words: Range<Int>) -> Bool {
        words.contains { text.tokens[$0].text.lowercased().hasSuffix("phase") }
    }

    private func isInPhaseChange(_ scope: SourceScope) -> Bool {
        for around in text.scopes(around: scope.head) {
            guard case .closure("onChange") = around.kind else { continue }
            let close = around.open - 1
            guard text.sees(")", at: close), text.partners[close] >= 0 else { return false }
            return namesPhase(text.partners[close]..<close)
        }
        return false
    }
}
