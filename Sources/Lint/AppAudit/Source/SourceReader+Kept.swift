// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Reads tasks and identifiers that properties keep.
extension SourceReader {
    /// Reads the end of time in the background: `id = .invalid; app.endBackgroundTask(id)` ends
    /// nothing, nor does `app.endBackgroundTask(.invalid)`.
    mutating func readAssertionEnd(_ index: Int) {
        if mayEndTimeOfApplication(index) { see(.backgroundAssertionEnd, at: index) }
        guard isCall(index), let (head, body) = function(around: index) else { return }
        var name = index + 2
        if namesInvalid(name) {
            // That nothing keeps the identifier is told of already.
            guard !isInThrownAwayTime(index) else { return }
            see(.fault(.assertionEndedInvalid), at: index)
            return
        }
        if text.sees("self", ".", at: name) { name += 2 }
        guard let token = text[name], token.isName,
            text.sees(")", at: name + 1) || text.sees("]", at: name + 1)
        else { return }
        let isLocal =
            head.parameters.contains { $0.name == token.text }
            || text.places(of: token.text, in: body).contains {
                text.sees("let", at: $0 - 1) || text.sees("var", at: $0 - 1)
                    || text.sees("UIBackgroundTaskIdentifier", at: $0 - 1)
            }
        let around = Set(text.scopes(around: index).map(\.open))
        let last = text.places(of: token.text, in: body.lowerBound..<index).last { word in
            text.sees("=", at: word + 1)
                && !(isLocal && text.sees(".", at: word - 1))
                && text.scopes(around: word).first { _ in true }.map { around.contains($0.open) }
                    == true
        }
        // The two may be in different branches, or the identifier is tested in between.
        guard let last, namesInvalid(last + 2), !isMuchLater(index, than: last, token.text, body),
            !(last..<index).contains(where: {
                ["case", "default", "else"].contains(where: text.tokens[$0].isName)
                    || text.tokens[$0].isName(token.text) && isCompared($0)
            })
        else { return }
        see(.fault(.assertionEndedInvalid), at: index)
    }

    /// Functions that run their closure next, before others have much time to set what it uses.
    private static let promptCallees: Set = [
        "async", "sync", "Task", "detached", "run", "perform", "performAndWait",
    ]

    /// Whether a word is in a closure that is kept for later, or that the rest of the function
    /// precedes, and another word is not: what it uses may have been set again by then.
    private func isMuchLater(
        _ index: Int, than other: Int, _ name: String, _ body: Range<Int>
    ) -> Bool {
        text.scopes(around: index).contains { scope in
            guard case .closure(let callee) = scope.kind, scope.open > other else { return false }
            let isSetAgain = (scope.close..<max(scope.close, body.upperBound)).contains {
                text.sees(name, "=", at: $0) && !namesInvalid($0 + 2)
            }
            if isSetAgain, ["async", "Task", "detached"].contains(callee) { return true }
            return callee.map(Self.promptCallees.contains) != true
                && !isDispatched(blockAt: scope.open)
        }
    }

    /// Whether an Objective-C block is run next by a queue: `dispatch_async(queue, ^{`.
    private func isDispatched(blockAt open: Int) -> Bool {
        let bracket = (max(0, open - AuditLimits.headWords)..<open).last {
            text.partners[$0] > open
        }
        guard text.isObjectiveC, let bracket, text.sees("(", at: bracket) else { return false }
        return ["dispatch_async", "dispatch_sync"].contains { text.sees($0, at: bracket - 1) }
    }

    /// Whether a name is an operand of a comparison: `id != .invalid`, `Invalid == self.id`.
    private func isCompared(_ index: Int) -> Bool {
        var first = index
        while text.sees(".", at: first - 1), text[first - 2]?.isName == true { first -= 2 }
        return ["==", "!="].contains {
            text.sees($0, at: index + 1) || text.sees($0, at: first - 1)
        }
    }

    /// Whether a value is the invalid identifier: `.invalid`, `UIBackgroundTaskInvalid`.
    func namesInvalid(_ value: Int) -> Bool {
        text.sees("UIBackgroundTaskInvalid", at: value) || text.sees(".", "invalid", at: value)
            || text.sees("UIBackgroundTaskIdentifier", ".", "invalid", at: value)
    }

    /// Reads a task that its handler only keeps in a property: whether this file sets its
    /// expiration handler and ends it.
    mutating func readKeptTask(_ uses: [Int], in scope: SourceScope) {
        guard !uses.isEmpty else { return }
        var names: Set<String> = []
        for index in uses {
            guard text.sees("=", at: index - 1), let name = text[index - 2], name.isName else {
                return
            }
            names.insert(name.text)
        }
        let isEnded = text.tokens.contains {
            $0.isName && $0.text.hasPrefix("setTaskCompleted")
        }
        if isEnded {
            let expires = text.tokens.indices.contains {
                text.sees(".", "expirationHandler", at: $0)
                    || text.tokens[$0].isName("setExpirationHandler")
            }
            if !expires { see(.fault(.taskWithoutExpiration), at: scope.head) }
            return
        }
        // Nothing in the file uses it, and no other file can.
        let isUsed = text.tokens.indices.contains { index in
            guard text.tokens[index].isName, names.contains(text.tokens[index].text),
                !text.sees("=", at: index + 1)
            else { return false }
            return text[index - 1]?.isName("var") != true
        }
        let isPrivate = text.tokens.indices.contains { index in
            (text.sees("private", at: index) || text.sees("fileprivate", at: index))
                && (text.sees("var", at: index + 1)
                    || text.sees("weak", "var", at: index + 1))
                && (index..<index + 4).contains { text[$0].map { names.contains($0.text) } == true }
        }
        if !isUsed, isPrivate { see(.fault(.taskPathWithoutEnd), at: scope.head) }
    }

    /// What settles a path in a function that gets a task: its ends, and if a property keeps the
    /// task each call, for other functions may end it then.
    func settling(
        _ ends: Set<Int>, in scope: SourceScope, _ strictness: inout CompletionPaths.Strictness
    ) -> Set<Int> {
        guard isEndedThroughProperty(in: scope) else { return ends }
        strictness.entersClosures = false
        let body = text.content(ofBracket: scope.open)
        let expiration = body.first { text.sees("expirationHandler", "=", at: $0) }
            .flatMap(expirationClosure)
        return ends.union(
            body.filter {
                isCall($0) && !isIdleCall($0) && expiration?.contains($0) != true
            })
    }

    /// Whether this file keeps tasks of the type that a function gets in a property, and ends what
    /// the property has: `self.task = task`, and elsewhere `self.task?.setTaskCompleted(…)`.
    private func isEndedThroughProperty(in scope: SourceScope) -> Bool {
        guard case .function(let head) = scope.kind, !text.isObjectiveC else { return false }
        let types = Set(head.parameters.flatMap(\.types)).intersection(Self.taskTypes)
        return (types.isEmpty ? [] : types.union(["BGTask"])).contains { type in
            text.places(of: type).contains { place in
                guard text.sees(":", at: place - 1), text.sees("var", at: place - 3),
                    let name = text[place - 2]?.text
                else { return false }
                let uses = text.places(of: name)
                let isKept = uses.contains {
                    text.sees("=", at: $0 + 1) && text[$0 + 2]?.isName == true
                        && !text.sees("nil", at: $0 + 2) && !text.sees("let", at: $0 - 1)
                }
                return isKept && uses.contains(where: endsProperty)
            }
        }
    }

    /// Whether a name of a property is the start of what ends the task there:
    /// `task?.setTaskCompleted(…)`, `if let kept = task { kept.setTaskCompleted(…)`.
    private func endsProperty(_ index: Int) -> Bool {
        let isOptional = text.sees("?", at: index + 1) || text.sees("!", at: index + 1)
        if isOptional || text.sees("self", ".", at: index - 2),
            text.sees(".", "setTaskCompleted", at: index + (isOptional ? 2 : 1))
        {
            return true
        }
        let start = text.sees("self", ".", at: index - 2) ? index - 2 : index
        guard text.sees("=", at: start - 1), text.sees("let", at: start - 3),
            let name = text[start - 2]?.text, let (_, body) = function(around: index)
        else { return false }
        return (index..<max(index, body.upperBound)).contains {
            text.sees(name, ".", "setTaskCompleted", at: $0)
        }
    }

    /// Reads the functions that a handler hands its task to: those of this file may set its
    /// expiration handler.
    mutating func readHandedOn(_ uses: [Int], in scope: SourceScope) {
        let body = text.content(ofBracket: scope.open)
        for index in uses {
            guard let call = text.calls(around: index, in: body).first,
                let helper = calledFunction(call.name),
                case .function(let head) = helper.kind,
                head.parameters.contains(where: { setsExpiration(of: $0.name, in: helper) })
            else { continue }
            if isLate(index, in: body) { see(.fault(.lateExpiration), at: call.name) }
        }
    }

    /// Whether a handler waits for something before a token: with `await` or while it blocks its
    /// thread, or in a closure that runs later. Other code takes no time, as far as its text tells.
    func isLate(_ index: Int, in body: Range<Int>) -> Bool {
        let runsLater = text.scopes(around: index).prefix { $0.open >= body.lowerBound }.contains {
            guard case .closure(let callee?) = $0.kind else { return false }
            return Self.slowCallees.contains(callee)
        }
        return runsLater
            || follows(index, in: body) { waits($0) && !awaitsNothing($0, in: body, depth: 0) }
    }

    /// Whether an `await` is for a function of the same type, and so of its actor, that waits for
    /// nothing itself.
    private func awaitsNothing(_ index: Int, in body: Range<Int>, depth: Int) -> Bool {
        guard depth < 3, text.tokens[index].isName("await"), isInNoClosure(index, of: body) else {
            return false
        }
        let name = text.sees("self", ".", at: index + 1) ? index + 3 : index + 1
        guard text.sees("(", at: name + 1), text.sees(".", at: name - 1) == (name > index + 1),
            let function = text[name].flatMap({ onlyFunction($0.text) }),
            case .function(let head) = function.kind, head.isAsync,
            text.statementEnd(index, body) == text.partners[name + 1] + 1,
            !text.content(ofBracket: name + 1).contains(where: isCall),
            let caller = outerFunction(of: index), isOnSameActor(caller, function)
        else { return false }
        let inner = text.content(ofBracket: function.open)
        return !inner.contains { waits($0) && !awaitsNothing($0, in: inner, depth: depth + 1) }
    }

    /// Whether a token is in no closure of a body.
    private func isInNoClosure(_ index: Int, of body: Range<Int>) -> Bool {
        text.scopes(around: index).prefix { $0.open >= body.lowerBound }.allSatisfy {
            if case .control = $0.kind { true } else { false }
        }
    }

    /// Whether two functions stand in one type, and nothing gives one of them an actor of its own.
    private func isOnSameActor(_ first: SourceScope, _ second: SourceScope) -> Bool {
        let own: Set = ["private", "fileprivate", "internal", "public", "final"]
        return first.parent == second.parent && first.parent >= 0
            && [first, second].allSatisfy { modifiers(before: $0.head).isSubset(of: own) }
    }

    /// Whether a token in a body runs only after an earlier statement that waits.
    func follows(_ index: Int, in body: Range<Int>, where waits: (Int) -> Bool) -> Bool {
        let around = text.scopes(around: index).prefix { $0.open >= body.lowerBound }
        let open = Set(around.map(\.open) + [body.lowerBound - 1])
        return (body.lowerBound..<max(body.lowerBound, index)).contains { word in
            // The statement of the token itself, as in `await run(task)`.
            guard waits(word), text.statementEnd(word, body) <= index,
                // A part for debug builds is in no other.
                !text.tokens[word].isConditional || text.tokens[index].isConditional
                    || text.isBuiltForIOS(word)
            else { return false }
            for scope in text.scopes(around: word) {
                if open.contains(scope.open) {
                    guard case .control("switch") = scope.kind else { return true }
                    return caseLabel(before: word, in: scope) == caseLabel(before: index, in: scope)
                }
                guard case .control = scope.kind, !leaves(scope) else { return false }
            }
            return false
        }
    }

    /// Whether an earlier statement starts the work that an expiration handler cancels:
    /// `queue.addOperation(work)`, `work.start()`, `Task { … }` that nothing keeps. What a handler
    /// gets from the start itself, as in `let work = Task { … }`, has to be started before.
    func followsStart(_ index: Int, in body: Range<Int>) -> Bool {
        guard let closure = expirationClosure(index) else { return false }
        let cancelled = Set(
            closure.filter { text.tokens[$0].isName }.map { text.tokens[$0].text }
        ).subtracting(Self.commonNames)
        return (body.lowerBound..<max(body.lowerBound, index)).contains { word in
            // `task.progress.completedUnitCount += 1`
            if text.sees("completedUnitCount", "+=", at: word) { return runs(word, before: index) }
            guard text.scopeIndices[word] == text.scopeIndices[index] else { return false }
            switch text.tokens[word].text {
            case "Task":
                guard let last = text[word - 1], !last.isMark("="), !last.isMark(".") else {
                    return false
                }
                return hasEndingClosure(word, before: index)
            case "addOperation", "addOperations", "start", "resume":
                let takesWork = text.tokens[word].text.hasPrefix("add")
                guard isCall(word),
                    takesWork || text.isObjectiveC || text.sees("(", ")", at: word + 1),
                    let names = started(word)
                else { return false }
                return !names.isDisjoint(with: cancelled)
                    || !takesWork && endsTask(inClosuresOf: names, before: word, in: body)
            default:
                // `work.run { task.setTaskCompleted(success: $0) }`
                guard isCall(word), let owner = text[word - 2], text.sees(".", at: word - 1),
                    cancelled.contains(owner.text), text[word - 3]?.isMark("=") != true,
                    Self.startingVerbs.contains(where: text.tokens[word].text.hasPrefix)
                else { return false }
                return hasEndingClosure(word, before: index)
            }
        }
    }

    /// Whether an earlier statement hands the task to a function that works on it:
    /// `work.execute(task: task)`.
    func followsWork(_ handedOn: [Int], _ index: Int, in body: Range<Int>) -> Bool {
        handedOn.contains { use in
            guard use < index, text.scopeIndices[use] == text.scopeIndices[index],
                let call = text.calls(around: use, in: body).first?.name,
                isCall(call), !isIdleCall(call),
                Self.startingVerbs.contains(where: text.tokens[call].text.hasPrefix)
            else { return false }
            // A function of this file may set the expiration handler of what it gets.
            guard let helper = functions[text.tokens[call].text] else { return true }
            return !text.content(ofBracket: helper.open).contains {
                text.tokens[$0].text.hasSuffix("xpirationHandler")
            }
        }
    }

    /// Whether earlier calls hand what is started a closure that completes the task: `job.onReady {
    /// task.setTaskCompleted(success: true) }`.
    private func endsTask(
        inClosuresOf names: Set<String>, before start: Int, in body: Range<Int>
    ) -> Bool {
        (body.lowerBound..<start).contains { word in
            guard isCall(word), text.sees(".", at: word - 1) else { return false }
            let owner = text.sees("?", at: word - 2) ? word - 3 : word - 2
            return names.contains(text.tokens[owner].text) && hasEndingClosure(word, before: start)
        }
    }

    /// Whether a call gets a closure that completes the task, which ends before a later statement.
    private func hasEndingClosure(_ call: Int, before index: Int) -> Bool {
        guard
            let open = (call + 1..<min(call + 12, index)).first(where: {
                text.tokens[$0].isMark("{")
            }), text.partners[open] < index
        else { return false }
        return text.content(ofBracket: open).contains {
            text.tokens[$0].text.hasPrefix("setTaskCompleted")
        }
    }

    /// Whether a statement runs in the course of the block of another one, and in no closure there.
    private func runs(_ word: Int, before index: Int) -> Bool {
        var scope = text.scopeIndices[word]
        while scope != text.scopeIndices[index] {
            guard scope >= 0, case .control = text.scopes[scope].kind else { return false }
            scope = text.scopes[scope].parent
        }
        return true
    }

    /// The beginnings of names of functions that start work and get what runs at its end.
    private static let startingVerbs = [
        "run", "start", "perform", "execute", "fetch", "load", "sync", "refresh",
        "process", "download", "upload", "update",
    ]

    /// Names that tell nothing of the work.
    private static let commonNames: Set = [
        "self", "Self", "task", "true", "false", "nil", "YES", "NO", "weak", "in",
        "shared", "UIApplication",
    ]

    /// The names of what a call starts, and of the queue that runs it.
    private func started(_ word: Int) -> Set<String>? {
        if text.isObjectiveC {
            guard let open = message(around: word) else { return nil }
            return Set(
                text.content(ofBracket: open).filter { $0 != word && text.tokens[$0].isName }
                    .map { text.tokens[$0].text })
        }
        let mark = text.sees("?", at: word - 2) ? word - 3 : word - 2
        guard text.sees(".", at: word - 1), let owner = text[mark], owner.isName else {
            return nil
        }
        let arguments =
            text.sees("(", at: word + 1) ? text.content(ofBracket: word + 1) : word..<word
        return Set(
            arguments.filter { text.tokens[$0].isName }.map { text.tokens[$0].text } + [owner.text])
    }

    /// Whether a token waits: `await`, `group.wait()`, `dispatch_group_wait(group, time)`,
    /// `sleep(1)`, `queue.addOperations(all, waitUntilFinished: true)`.
    func waits(_ index: Int) -> Bool {
        let name = text.tokens[index].text
        if name == "await" { return text.tokens[index].isName }
        if text.sees("waitUntilFinished", ":", "true", at: index) { return true }
        // `RunLoop.current.run(mode: .default, before: .distantFuture)`
        let runsLoop =
            name == "run"
            && text.tokens[..<index].suffix(4).contains { $0.text.hasSuffix("RunLoop") }
        return isCall(index)
            && (runsLoop || Self.waiting.contains(name) || name.hasSuffix("_wait")
                || name.hasPrefix("CFRunLoopRun"))
    }

    /// The functions of the system that block a thread, as far as their names say no more.
    private static let waiting: Set = [
        "wait", "waitUntilFinished", "waitUntilAllOperationsAreFinished", "sleep", "usleep",
        "nanosleep", "sleepForTimeInterval", "sleepUntilDate",
    ]

    /// The functions that run their closures after a wait.
    private static let slowCallees: Set = [
        "asyncAfter", "dispatch_after", "dataTask", "downloadTask", "uploadTask", "scheduledTimer",
    ]

    /// Whether the last statement of a block leaves the function.
    func leaves(_ scope: SourceScope) -> Bool {
        let words = text.content(ofBracket: scope.open)
        let inside = words.isEmpty ? -1 : text.scopeIndices[words.lowerBound]
        return words.contains { word in
            guard text.tokens[word].isName("return") || text.tokens[word].isName("throw"),
                text.scopeIndices[word] == inside
            else { return false }
            // A semicolon may follow.
            let end = text.statementEnd(word, words)
            return end >= words.upperBound - (text.sees(";", at: end) ? 1 : 0)
        }
    }

    private func setsExpiration(of task: String, in scope: SourceScope) -> Bool {
        text.content(ofBracket: scope.open).contains { index in
            text.tokens[index].isName(task)
                && (text.sees(".", "expirationHandler", "=", at: index + 1)
                    || text.sees("setExpirationHandler", at: index + 1))
        }
    }

    /// The functions that get a task at these tokens of a body.
    func functions(getting tasks: [Int], in body: Range<Int>) -> Set<String> {
        Set(
            tasks.compactMap { text.calls(around: $0, in: body).first }
                .map { text.tokens[$0.name].text })
    }
}
