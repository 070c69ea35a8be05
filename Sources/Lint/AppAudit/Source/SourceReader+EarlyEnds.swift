// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Finds handlers of background tasks that end the task while the work that they began still runs.
extension SourceReader {
    /// Reads where a handler ends its task, here or behind work of another file.
    mutating func readEarlyEnd(
        _ ends: Set<Int>, in handler: SourceScope, _ expiration: Range<Int>?
    ) {
        if let end = earlyEnd(ends, in: handler, expiration) {
            see(.fault(.earlyEnd), at: end)
        } else if let (work, end) = workElsewhere(ends, in: handler, expiration) {
            noteBegunWork(work, endedAt: end, .earlyEnd)
        }
    }

    /// Reads SwiftUI's `.backgroundTask(.appRefresh("a")) { … }`.
    mutating func readSceneTask(_ index: Int) {
        let close = text.partners[index + 1]
        guard close > index, text.sees("{", at: close + 1) else { return }
        let body = text.content(ofBracket: close + 1)
        if let work = unawaitedWork(in: body) {
            if functions[text.tokens[work].text] == nil, mayCallElsewhere(work) {
                noteBegunWork(work, endedAt: work, .earlyEnd)
            } else {
                see(.fault(.earlyEnd), at: work)
            }
        }
        guard !body.isEmpty, !schedulesNext(body, depth: 0) else { return }
        see(.fault(.refreshWithoutNext), at: index)
        noteCalled(body)
    }

    /// Whether a closure in a handler calls one of its functions.
    func isCalledLater(_ name: String, in handler: SourceScope) -> Bool {
        text.places(of: name, in: text.content(ofBracket: handler.open)).contains { use in
            isCall(use)
                && text.scopes(around: use).prefix { $0.open != handler.open }.contains {
                    if case .closure = $0.kind { true } else { false }
                }
        }
    }

    /// The first end of a task behind work that the handler began and that nothing waits for. All
    /// ends have to stand in the handler itself: one in a closure may wait for the work.
    ///
    /// `start` is the token behind which the work begins; `nil` stands for the handler's start.
    private func earlyEnd(
        _ ends: Set<Int>, in handler: SourceScope, _ expiration: Range<Int>?,
        behind start: Int? = nil
    ) -> Int? {
        let body = text.content(ofBracket: handler.open)
        return endedWork(ends, in: handler, expiration, behind: start) { [self] word in
            beginsUnawaited(word, in: body) || isCancelled(word, in: body, expiration)
        }?.end
    }

    /// The call of a function of another file behind which a handler ends its task, with the end:
    /// the function may return before its work.
    private func workElsewhere(
        _ ends: Set<Int>, in handler: SourceScope, _ expiration: Range<Int>?
    ) -> (work: Int, end: Int)? {
        endedWork(ends, in: handler, expiration, behind: nil, where: mayCallElsewhere)
    }

    private func endedWork(
        _ ends: Set<Int>, in handler: SourceScope, _ expiration: Range<Int>?, behind start: Int?,
        where begins: (Int) -> Bool
    ) -> (work: Int, end: Int)? {
        let body = text.content(ofBracket: handler.open)
        let rest = (start.map { $0 + 1 } ?? body.lowerBound)..<body.upperBound
        guard !ends.isEmpty, ends.allSatisfy({ isOnPath($0, of: handler) }),
            // Work with time of its own goes on.
            !rest.contains(where: { index in
                ["beginBackgroundTask", "performExpiringActivity"]
                    .contains { text.tokens[index].text.hasPrefix($0) }
            })
        else { return nil }
        let makesTime = makesTime(rest)
        for end in ends.sorted() where !follows(end, in: body, where: waits) {
            // What `defer` does comes last.
            let isDeferred = text.scopes(around: end).prefix { $0.open != handler.open }.contains {
                if case .control("defer") = $0.kind { true } else { false }
            }
            let last = isDeferred ? body.upperBound - 1 : end
            if isDeferred, body.contains(where: { waits($0) && isOnPath($0, of: handler) }) {
                continue
            }
            let saysPlainly = endsPlainly(end, in: body)
            let work = (rest.lowerBound..<max(rest.lowerBound, last)).first { word in
                precedes(word, last, in: handler) && expiration?.contains(word) != true
                    && begins(word) && (!isOfApp(word) || saysPlainly && !makesTime)
                    && isLastCall(word, before: last, ends, of: handler, in: body)
            }
            if let work { return (work, end) }
        }
        return nil
    }

    /// Reads time in the background that is given back early. What another file does may have time
    /// of its own.
    mutating func readEarlyEndOfTime(_ begin: Int, _ name: String) {
        guard let end = earlyEndOfTime(begin, name) else { return }
        see(.fault(.assertionEndedEarly), othersThatAskForTime, at: end)
    }

    /// The first end of time in the background behind work that began in it, where the function
    /// that asks for the time also ends it, and nothing waits for the work.
    private func earlyEndOfTime(_ begin: Int, _ name: String) -> Int? {
        guard
            let scope = text.scopes(around: begin).first(where: { scope in
                if case .control = scope.kind { false } else { true }
            }), case .function = scope.kind
        else { return nil }
        let call = message(around: begin).map { text.partners[$0] } ?? text.partners[begin + 1]
        let expiration = assertionExpiration(begin)
        let start = max(begin, call, expiration?.upperBound ?? 0)
        guard start < scope.close else { return nil }
        // `let finish = { app.endBackgroundTask(id) }`
        let before = scope.open + 1..<max(scope.open + 1, begin)
        let closures =
            1...4 ~= text.places(of: "endBackgroundTask", in: before).count
            ? LocalDefinitions(in: text, before, thatHold: endsTimeAtOnce(at:))
            : LocalDefinitions()
        let ends = (start..<scope.close).filter { word in
            guard isCall(word) else { return false }
            return text.tokens[word].isName("endBackgroundTask")
                || closures.areUsed(at: word, in: text)
                || calledFunction(word).map(endsTimeAtOnce) == true
        }
        // So many are of many tasks.
        guard ends.count <= AuditLimits.headWords else { return nil }
        // `let old = id; id = app.beginBackgroundTask { … }; app.endBackgroundTask(old)`
        let areOwn = ends.allSatisfy { end in
            text.tokens[end].text != "endBackgroundTask"
                || (end + 2..<min(end + 6, text.tokens.count)).contains { word in
                    [name, "_" + name].contains(text.tokens[word].text)
                        && [")", "]"].contains { text.sees($0, at: word + 1) }
                }
        }
        return areOwn ? earlyEnd(Set(ends), in: scope, expiration, behind: start) : nil
    }

    /// Whether a token ends time in a closure that a name is set to, and waits for nothing there.
    private func endsTimeAtOnce(at index: Int) -> Bool {
        guard text.tokens[index].isName("endBackgroundTask"),
            let closure = text.scopes(around: index).first(where: { scope in
                if case .control = scope.kind { false } else { true }
            })
        else { return false }
        var start = closure.open - 1
        if text.sees(")", at: start), text.partners[start] >= 0 { start = text.partners[start] - 1 }
        if text.sees("^", at: start) { start -= 1 }
        return text.sees("=", at: start) && !(closure.open..<index).contains(where: waits)
    }

    /// Whether a function ends time in no closure, which may run behind the work.
    private func endsTimeAtOnce(_ function: SourceScope) -> Bool {
        text.places(of: "endBackgroundTask", in: text.content(ofBracket: function.open))
            .contains { isOnPath($0, of: function) }
    }

    /// The first `Task { await load() }` in the closure of SwiftUI's `backgroundTask`, where
    /// nothing waits for it, or the last call, if it begins work or may do so in another file: the
    /// system ends the task when the closure returns.
    private func unawaitedWork(in body: Range<Int>) -> Int? {
        let isOwn = { [text] (word: Int) in
            text.scopes(around: word).first { _ in true }?.open == body.lowerBound - 1
        }
        let waitsHere = body.contains { word in
            waits(word)
                && text.scopes(around: word).prefix { $0.open >= body.lowerBound }.allSatisfy {
                    if case .control = $0.kind { true } else { false }
                }
        }
        guard !waitsHere else { return nil }
        let task = body.first { word in
            ["Task", "detached"].contains(text.tokens[word].text) && isOwn(word)
                && beginsTask(word, in: body)
        }
        if let task { return task }
        var last: Int?
        var word = body.lowerBound
        // What is in brackets is an argument.
        while word < body.upperBound {
            if isOwn(word), isCall(word), !isIdleCall(word), !speaksOfSchedule(word) { last = word }
            word = text.skipBracket(word, body)
        }
        return last.flatMap { callsBegunWork($0) || mayCallElsewhere($0) ? $0 : nil }
    }

    /// Whether something is made whose name tells of time in the background: `BackgroundTime()`.
    private func makesTime(_ body: Range<Int>) -> Bool {
        body.contains { index in
            text.tokens[index].text.first?.isUppercase == true && isCall(index)
                && namesTime(text.tokens[index])
        }
    }

    /// Whether a call is of a function of the app's own, here or in another file.
    private func isOfApp(_ word: Int) -> Bool {
        let name = text.tokens[word].text
        if functions[name] != nil { return true }
        return !Self.systemStarts.contains(name) && !Self.requests.contains(name)
            && mayCallElsewhere(word)
    }

    private static let systemStarts: Set = [
        "addOperation", "addOperations", "addOperationWithBlock", "async", "detached",
        "dispatch_async",
    ]

    /// Whether the end of a task says only whether it succeeded, and reads nothing that may wait:
    /// `task.setTaskCompleted(success: true)`, and not `success: sync.outcome`.
    private func endsPlainly(_ end: Int, in body: Range<Int>) -> Bool {
        if text.tokens[end].text.hasPrefix("endBackgroundTask") { return true }
        let words = (end..<text.statementEnd(end, body)).filter { text.tokens[$0].isName }
        return words.dropFirst().allSatisfy { word in
            let name = text.tokens[word].text
            return ["success", "true", "false", "YES", "NO"].contains(name)
                || name.hasPrefix("setTaskCompleted")
        }
    }

    /// Whether between work that a word begins and the end of a task nothing is called that may
    /// wait for it, or that may be the work.
    private func isLastCall(
        _ word: Int, before end: Int, _ ends: Set<Int>, of handler: SourceScope,
        in body: Range<Int>
    ) -> Bool {
        let start = text.statementEnd(word, body)
        // The end's own arguments too: `setTaskCompleted(success: result.get())`.
        let last = max(start, text.statementEnd(end, body))
        return (start..<last).allSatisfy { index in
            if waits(index), isOnPath(index, of: handler) { return false }
            guard isCall(index), isOnPath(index, of: handler) else { return true }
            let name = text.tokens[index].text
            if ends.contains(index) || name.hasPrefix("setTaskCompleted") { return true }
            // It runs until something stops it.
            if name.hasPrefix("CFRunLoop") { return false }
            return isHarmless(index, in: body)
        }
    }

    /// Whether a word begins work of Swift, Foundation or Dispatch that goes on behind it.
    func beginsUnawaited(_ word: Int, in body: Range<Int>, depth: Int = 0) -> Bool {
        let name = text.tokens[word].text
        switch name {
        case "Task", "detached": return beginsTask(word, in: body)
        case "addOperation", "addOperations", "addOperationWithBlock":
            return isCall(word) && functions[name] == nil && !isForMainQueue(word, in: body)
                && !(word..<text.statementEnd(word, body)).contains {
                    text.tokens[$0].text.hasPrefix("waitUntil")
                        && !text.sees("waitUntilFinished", ":", "false", at: $0)
                        && !text.sees("waitUntilFinished", ":", "NO", at: $0)
                }
        case "async": return functions[name] == nil && dispatchesWork(word)
        case "dispatch_async":
            guard text.sees("(", at: word + 1), text.partners[word + 1] > word else { return false }
            let arguments = text.content(ofBracket: word + 1)
            return arguments.first.map { !isMainQueue($0) } == true
                && closure(in: arguments).map(doesWork) == true
        case _ where Self.requests.contains(name):
            return isCall(word) && functions[name] == nil && takesWork(word)
        case _ where text.isObjectiveC && Self.requests.contains { name.hasPrefix($0 + "With") }:
            return text.call(at: word)?.arguments.last.flatMap { closure(in: $0.range) }
                .map(doesWork) == true
        default: return callsBegunWork(word, depth: depth)
        }
    }

    /// `Task { try await load() }`, which nothing awaits.
    private func beginsTask(_ word: Int, in body: Range<Int>) -> Bool {
        guard isCall(word), let work = trailingClosure(of: word),
            !text.sees("@", "MainActor", at: work.lowerBound), !asksScheduler(work)
        else { return false }
        if text.sees(".", at: word - 1), text.tokens[word].text != "detached" { return false }
        // `let work = Task {`, `await work.value`
        let start = text.sees("Task", ".", at: word - 2) ? word - 2 : word
        if text.sees("=", at: start - 1), let kept = text[start - 2], kept.isName,
            text.places(of: kept.text, in: body).contains(where: {
                text.sees(".", "value", at: $0 + 1) || text.sees(".", "result", at: $0 + 1)
            })
        {
            return false
        }
        return work.contains { index in
            // What only shows the result is short.
            guard text.tokens[index].isName("await"), !text.sees("MainActor", ".", at: index + 1)
            else { return false }
            return (index..<text.statementEnd(index, work)).contains {
                isCall($0) && !isIdleCall($0)
            }
        }
    }

    /// `DispatchQueue.global().async { work() }`, on another queue than the main one.
    private func dispatchesWork(_ word: Int) -> Bool {
        guard text.sees(".", at: word - 1), !isMainQueue(word - 2),
            let work = trailingClosure(of: word),
            // A group may wait for it.
            !text.sees("(", "group", at: word + 1)
        else { return false }
        return doesWork(work)
    }

    private func takesWork(_ word: Int) -> Bool {
        trailingClosure(of: word).map(doesWork) == true
    }

    /// Whether a name is that of the main queue, as it or a place that sets it says.
    private func isMainQueue(_ index: Int) -> Bool {
        let words = ["main", "mainQueue", "dispatch_get_main_queue"]
        guard let name = text[index], name.isName else { return false }
        if words.contains(name.text) { return true }
        if Self.nameParts(name.text).contains(where: { ["main", "ui"].contains($0) }) {
            return true
        }
        return text.places(of: name.text).prefix(AuditLimits.headWords).contains { place in
            (place + 1..<place + 9).contains { next in
                text[next].map { words.contains($0.text) } == true
                    && text.tokens[next].position.line == text.tokens[place].position.line
            }
        }
    }

    /// Whether the receiver of an operation is the main queue: `OperationQueue.main.addOperation`,
    /// `[[NSOperationQueue mainQueue] addOperation:a]`.
    private func isForMainQueue(_ word: Int, in body: Range<Int>) -> Bool {
        if !text.isObjectiveC { return text.sees(".", at: word - 1) && isMainQueue(word - 2) }
        guard let open = message(around: word) else { return false }
        return (open..<word).contains(where: isMainQueue)
    }

    private func doesWork(_ closure: Range<Int>) -> Bool {
        !asksScheduler(closure)
            && closure.contains { isCall($0) && !isIdleCall($0) && !doesNothing($0) }
    }

    /// Whether code asks for the next task, or calls what may, by its name.
    private func asksScheduler(_ closure: Range<Int>) -> Bool {
        schedulesNext(closure, depth: 0) || closure.contains(where: speaksOfSchedule)
    }

    /// The closure behind a call's name or its arguments.
    private func trailingClosure(of word: Int) -> Range<Int>? {
        var open = word + 1
        if text.sees("(", at: open), text.partners[open] > open { open = text.partners[open] + 1 }
        return text.sees("{", at: open) && text.partners[open] > open
            ? text.content(ofBracket: open) : nil
    }

    /// The first closure or block in some arguments.
    private func closure(in arguments: Range<Int>) -> Range<Int>? {
        arguments.first { text.tokens[$0].isMark("{") }.map { text.content(ofBracket: $0) }
    }

    /// Functions whose closures run for each element of what may be empty, or for as long as
    /// something is observed.
    static let selections: Set = [
        "first", "last", "min", "max", "filter", "map", "compactMap", "flatMap", "sorted",
        "contains", "reduce", "sink", "assign", "make", "allSatisfy", "forEach", "observe",
        "addObserver", "lazy", "enumerateObjectsUsingBlock", "enumerateKeysAndObjectsUsingBlock",
    ]

    /// Whether a name gets what a function with a closure returns, and the expiration handler
    /// cancels that: `let request = client.load { … }`, `task.expirationHandler = {
    /// request.cancel() }`.
    private func isCancelled(
        _ word: Int, in body: Range<Int>, _ expiration: Range<Int>?
    ) -> Bool {
        guard let expiration, text.tokens[word].isName, text.sees("=", at: word + 1) else {
            return false
        }
        let value = word + 2..<max(word + 2, text.statementEnd(word, body))
        guard let open = value.first(where: { text.tokens[$0].isMark("{") }),
            let callee = value.first(where: { isCall($0) && $0 < open }),
            text.tokens[callee].text.first?.isUppercase != true,
            !value.contains(where: { Self.selections.contains(text.tokens[$0].text) }),
            text.scopes(around: open + 1).contains(where: { scope in
                guard scope.open == open, case .closure = scope.kind else { return false }
                return true
            })
        else { return false }
        let name = text.tokens[word].text
        return text.places(of: name, in: expiration).contains { use in
            var next = use + 1
            while text.sees("?", at: next) || text.sees("!", at: next) { next += 1 }
            return text.sees(".", "cancel", at: next)
                || text.sees("[", at: use - 1) && text.sees("cancel", "]", at: use + 1)
        }
    }
}
