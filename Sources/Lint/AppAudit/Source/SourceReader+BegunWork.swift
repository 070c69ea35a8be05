// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Finds functions that begin work and return while it still runs.
extension SourceReader {
    /// The longest chain of such functions of a file that is followed.
    private static let chainOfWork = 3

    /// What a file has in which a function may ask for time of its own, or use a session whose
    /// transfers go on without the app.
    private static let ownTime = timeAskers.union([
        "backgroundSessionConfigurationWithIdentifier"
    ])

    /// The calls that ask for time in the background.
    private static let timeAskers: Set = [
        "beginBackgroundTask", "beginBackgroundTaskWithName",
        "beginBackgroundTaskWithExpirationHandler", "performExpiringActivity",
        "performExpiringActivityWithReason",
    ]

    /// What other files must not name for an end of this one to be early: their work may have time
    /// of its own.
    var othersThatAskForTime: SourceDigest.OtherUses {
        SourceDigest.OtherUses(
            ends: Self.timeAskers,
            absent: Self.timeAskers.filter { text.places(of: $0).isEmpty })
    }

    /// Whether a call, whose value nobody uses, is of a function of this file that returns while
    /// its work still runs.
    func callsBegunWork(_ word: Int, depth: Int = 0) -> Bool {
        guard functions[text.tokens[word].text] != nil, isPlainCall(word),
            let function = calledFunction(word)
        else { return false }
        return returnsBeforeWork(function, depth: depth)
    }

    /// Whether a call is a statement of its own, and gets no closure.
    func isPlainCall(_ word: Int) -> Bool {
        guard isCall(word), startsStatement(word) else { return false }
        let open = message(around: word) ?? word + 1
        let close = text.partners[open]
        guard close > open else { return false }
        return !text.sees(".", at: close + 1) && !text.sees("{", at: close + 1)
            && !(open..<close).contains { text.tokens[$0].isMark("{") }
    }

    /// Whether the receivers of a call, and its name, begin a statement: `self?.loader.load()`.
    private func startsStatement(_ word: Int) -> Bool {
        var start = message(around: word) ?? word
        while !text.isObjectiveC, text.sees(".", at: start - 1) {
            start -= 2
            while text.sees("?", at: start) || text.sees("!", at: start) { start -= 1 }
            if start > 0, text.sees(")", at: start), text.partners[start] > 0 {
                start = text.partners[start] - 1
            }
        }
        if !text.isObjectiveC, text.sees("try", at: start - 1) { start -= 1 }
        guard start > 0, let last = text[start - 1] else { return false }
        if ["{", "}", ";"].contains(where: last.isMark) || last.isName("in") { return true }
        return !text.isObjectiveC && last.position.line < text.tokens[start].position.line
            && !["=", ",", "(", "[", "+", "&&", "||", "??", "?", ":", "."].contains(
                where: last.isMark)
            && !["return", "await", "try"].contains(where: last.isName)
    }

    /// Whether a function, which gets nothing to tell of its end, begins work whenever it is called
    /// with something to work on, and waits for none.
    func returnsBeforeWork(_ function: SourceScope, depth: Int = 0) -> Bool {
        let question = FunctionNotes.BegunWork(function: function.open, depth: depth)
        if let known = notes.begunWork[question] { return known }
        // A function may call itself.
        notes.begunWork[question] = false
        let begins = beginsOnly(function, depth)
        notes.begunWork[question] = begins
        return begins
    }

    private func beginsOnly(_ function: SourceScope, _ depth: Int) -> Bool {
        guard depth < Self.chainOfWork, case .function(let head) = function.kind, !head.isAsync,
            !head.parameters.contains(where: mayTellEnd),
            !asksForOwnTime
        else { return false }
        let body = text.content(ofBracket: function.open)
        let names = Set(head.parameters.map(\.name))
        // `let time = BackgroundTime("sync")`
        guard
            !body.contains(where: {
                namesTime(text.tokens[$0]) || waits($0) && isOnPath($0, of: function)
            })
        else { return false }
        let last = lastCall(of: function, in: body, depth: depth + 1) ?? body.lowerBound
        return body.contains { word in
            beginsLongWork(word, in: body, depth: depth + 1)
                && isBegun(word, in: function, unless: names)
                && text.statementEnd(word, body) > last
        }
    }

    /// The last call on a path of a function that may wait for work, or be the work: none behind it
    /// only logs, schedules or begins more.
    func lastCall(of function: SourceScope, in body: Range<Int>, depth: Int = 0) -> Int? {
        body.last { index in
            isCall(index) && isOnPath(index, of: function)
                && !isHarmless(index, in: body, depth: depth)
        }
    }

    /// Whether a name tells of time in the background, which another file may ask for.
    func namesTime(_ token: SwiftToken) -> Bool {
        token.isName
            && !Self.timeWords.isDisjoint(with: Self.nameParts(token.text))
    }

    private static let timeWords: Set = [
        "background", "expiring", "assertion", "keepalive", "alive", "awake",
    ]

    /// Whether a word begins work whose words tell that it may take long: a request, `await
    /// loader.load()`, and not `await counter.add(1)`.
    func beginsLongWork(_ word: Int, in body: Range<Int>, depth: Int = 0) -> Bool {
        guard beginsUnawaited(word, in: body, depth: depth) else { return false }
        let name = text.tokens[word].text
        if functions[name] != nil || Self.requests.contains(where: name.hasPrefix) { return true }
        // What a queue does is as often short.
        let verbs = ["Task", "detached"].contains(name) ? Self.longVerbs : Self.transferVerbs
        return (word..<text.statementEnd(word, body)).contains { index in
            isCall(index) && index != word && !isIdleCall(index)
                && !verbs.isDisjoint(with: Self.nameParts(text.tokens[index].text))
        }
    }

    private static let transferVerbs: Set = [
        "backup", "download", "export", "fetch", "import", "load", "request", "send", "sync",
        "synchronize", "upload",
    ]
    private static let longVerbs = transferVerbs.union([
        "check", "poll", "process", "pull", "push", "query", "refresh", "reload", "retrieve",
        "update",
    ])

    /// Words of names that may wait, though they speak of a schedule: `submitAndWait`.
    private static let joining: Set = ["join", "run", "sync", "wait"]

    /// Whether a call only logs, schedules or begins more, so that it waits for no work.
    func isHarmless(_ index: Int, in body: Range<Int>, depth: Int = 0) -> Bool {
        let name = text.tokens[index].text
        return name == "resume" || isCertainLog(index) || doesNothing(index)
            || functions[name] == nil && speaksOfSchedule(index)
                && Self.joining.isDisjoint(with: Self.nameParts(name))
            || beginsUnawaited(index, in: body, depth: depth)
            || functions[name].map { schedulesNext(text.content(ofBracket: $0.open), depth: 0) }
                == true
    }

    /// Whether a function of the file may ask for time of its own, or use such a session.
    private var asksForOwnTime: Bool {
        if let known = notes.asksForOwnTime { return known }
        let asks =
            Self.ownTime.contains { !text.places(of: $0).isEmpty }
            || text.places(of: "background").contains {
                text.sees("(", "withIdentifier", at: $0 + 1)
            }
        notes.asksForOwnTime = asks
        return asks
    }

    /// Whether a parameter may be called when the work has ended, or is a task.
    private func mayTellEnd(_ parameter: SourceScope.FunctionHead.Parameter) -> Bool {
        let name = parameter.name.lowercased()
        return parameter.types.contains { $0 == "escaping" || $0 == "Void" || $0.hasPrefix("BG") }
            || ["complet", "handler", "callback", "done", "finish", "block", "task"]
                .contains(where: name.contains)
    }

    /// Whether a word runs in each call of a function that has something to work on: `if let user {
    /// load(user) }`, and not `if isForced {`.
    private func isBegun(
        _ word: Int, in function: SourceScope, unless parameters: Set<String>
    ) -> Bool {
        for scope in text.scopes(around: word) {
            if scope.open == function.open { return true }
            switch scope.kind {
            case .control("do"): continue
            case .control("if"):
                let condition = scope.head..<scope.open
                let binds = condition.contains {
                    text.tokens[$0].isName("let") && !text.sees("case", at: $0 - 1)
                }
                let isChoice = condition.contains { index in
                    parameters.contains(text.tokens[index].text)
                        || ["&&", "||", "==", "!=", "!"].contains(where: text.tokens[index].isMark)
                }
                guard binds, !isChoice else { return false }
            default: return false
            }
        }
        return false
    }

    /// Whether a word calls a function that may be in another file, and may begin work.
    func mayCallElsewhere(_ word: Int) -> Bool {
        let name = text.tokens[word].text
        guard functions[name] == nil, isPlainCall(word), !waits(word), !isIdleCall(word),
            !isCertainLog(word), !speaksOfSchedule(word), name.first?.isLowercase == true
        else { return false }
        // A property may be of another type than one of its name.
        switch text.call(at: word)?.owner {
        case .own?, .typed?: return true
        case .named?, .unknown?, nil: return false
        }
    }

    /// Whether a name tells of a request for a task: `scheduleAppRefresh`, `submitNext`.
    func speaksOfSchedule(_ word: Int) -> Bool {
        text.tokens[word].isName
            && Self.nameParts(text.tokens[word].text).contains(where: Self.scheduling.contains)
    }

    private static let scheduling: Set = [
        "schedule", "reschedule", "plan", "submit", "scheduler", "planner",
    ]

    /// Notes a call behind which a task is ended, or a push answered, for the file of its function:
    /// if that returns before its work, the end is too early.
    mutating func noteBegunWork(
        _ word: Int, endedAt end: Int, _ fault: SourceObservation.Fault
    ) {
        guard let site = text.call(at: word) else { return }
        let handover = handover(site, [], .fault(fault), .working(text.place(of: end)))
        let known = (digest.handovers.count, digest.entries.count)
        noteHandover(handover)
        guard digest.handovers.count > known.0 else { return }
        see(.fault(fault), at: end)
        guard digest.entries.count > known.1 else { return }
        digest.entries[known.1].begun = handover
    }
}
