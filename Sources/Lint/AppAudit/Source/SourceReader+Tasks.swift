// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Reads background task handlers: whether they end their task on each path, and their expiration
/// handlers.
extension SourceReader {
    /// The types of background tasks.
    static let taskTypes: Set = [
        "BGTask", "BGAppRefreshTask", "BGProcessingTask", "BGContinuedProcessingTask",
        "BGHealthResearchTask",
    ]

    /// Reads the closure of a registration.
    mutating func readLaunchHandler(_ index: Int) {
        guard let closure = launchHandler(of: index) else { return }
        let names = text.parameters(ofClosure: closure)
        guard let task = names.first else { return }
        if task == "_" {
            see(.fault(.taskPathWithoutEnd), at: index)
            return
        }
        readTask(task, in: closure, isRefresh: nil)
        readCaptures(of: closure)
    }

    /// The scope of the closure in a registration.
    func launchHandler(of index: Int) -> SourceScope? {
        let range: Range<Int>
        if text.isObjectiveC {
            guard
                let open = text.tokens.indices[..<index].last(where: {
                    text.tokens[$0].isMark("[") && text.partners[$0] > index
                })
            else { return nil }
            range = open..<text.partners[open]
        } else {
            let end = text.partners[index + 1]
            guard end > index else { return nil }
            range = index..<end + 2
        }
        return text.scopes.first { scope in
            guard case .closure = scope.kind else { return false }
            return range.contains(scope.open)
        }
    }

    /// Reads a function with a task parameter.
    mutating func readTaskFunction(_ head: SourceScope.FunctionHead, _ scope: SourceScope) {
        for parameter in head.parameters {
            // Not a closure with such a parameter.
            let types = parameter.types.filter { $0 != "any" }
            guard types.count == 1, Self.taskTypes.contains(types[0]) else { continue }
            guard answers(for: parameter.name, head, scope, depth: 0) else { continue }
            readTask(
                parameter.name, in: scope,
                isRefresh: types == ["BGTask"] ? nil : types == ["BGAppRefreshTask"])
        }
    }

    /// Whether a function must end its task, not its caller, which may call it only to show
    /// progress. An initializer that ends no task need not.
    private func answers(
        for task: String, _ head: SourceScope.FunctionHead, _ scope: SourceScope, depth: Int
    ) -> Bool {
        guard depth < 4 else { return false }
        if text.isObjectiveC || uses(of: task, in: scope).contains(.end) { return true }
        guard head.name != "init" else { return false }
        let calls = text.places(of: head.name).filter {
            text[$0 - 1]?.isName("func") != true && !($0 > scope.open && $0 < scope.close)
        }
        // A function that is not called in this file is a handler if it has no other parameter.
        guard !calls.isEmpty else { return head.parameters.count == 1 }
        return calls.contains { getsTask($0, depth: depth) }
    }

    /// Whether the function at a token is passed as a handler, gets the task of a closure, or is
    /// the only use of a handler's task.
    private func getsTask(_ call: Int, depth: Int) -> Bool {
        let arguments = text.content(ofBracket: call + 1)
        // `launchHandler: handle`, `launchHandler: handle(task:)`
        if arguments.isEmpty || text.sees(":", ")", at: arguments.upperBound - 1) { return true }
        func takes(_ name: String, in scope: SourceScope) -> Bool {
            let names = aliases(of: name, in: text.content(ofBracket: scope.open))
            return arguments.contains { isValue($0, named: names) }
        }
        for scope in text.scopes(around: call) {
            guard case .function(let head) = scope.kind else { continue }
            let own = head.parameters.first { parameter in
                parameter.types.contains(where: Self.taskTypes.contains)
                    && takes(parameter.name, in: scope)
            }
            guard let own else { break }
            return uses(of: own.name, in: scope).filter { [.end, .handedOn].contains($0) }
                == [.handedOn]
                && answers(for: own.name, head, scope, depth: depth + 1)
        }
        return text.scopes(around: call).contains { scope in
            guard case .closure = scope.kind else { return false }
            return text.parameters(ofClosure: scope).contains { takes($0, in: scope) }
        }
    }

    /// The uses of a task in a function.
    private func uses(of task: String, in scope: SourceScope) -> [Use] {
        let body = text.content(ofBracket: scope.open)
        let names = aliases(of: task, in: body)
        return body.filter { isValue($0, named: names) }.map(use)
    }

    /// Whether a token is one of these names of a value, and neither a label nor a member.
    func isValue(_ index: Int, named names: Set<String>) -> Bool {
        text.tokens[index].isName && names.contains(text.tokens[index].text)
            && !text.isLabel(index) && text[index - 1]?.isMark(".") != true
    }

    /// Reads the uses of a task. `isRefresh` is `nil` if the type of the task does not show it.
    private mutating func readTask(_ task: String, in scope: SourceScope, isRefresh: Bool?) {
        let body = text.content(ofBracket: scope.open)
        guard !body.isEmpty else { return }
        let boxes = boxes(of: task, in: body)
        let seen = digest.entries.count
        defer { noteTypes(of: boxes, since: seen) }
        var names = aliases(of: task, in: body)
        for box in boxes { names.formUnion(castNames(from: box, in: body) + [box.name]) }
        let use = { [self] in self.use(of: $0, boxes) }
        var ends: Set<Int> = []
        var handedOn: [Int] = []
        var expiration: Int?
        let first = endOfParameters(scope)
        for index in body where index >= first && isValue(index, named: names) {
            switch use(index) {
            case .end: ends.insert(index)
            case .expiration: expiration = expiration ?? index
            case .other: continue
            case .handedOn:
                ends.insert(index)
                handedOn.append(index)
            }
        }
        var strictness = CompletionPaths.Strictness(exemptNames: Self.taskTypes)
        strictness.startsAnew = isLaunchHandler(scope)
        if let expiration, let closure = expirationClosure(expiration) {
            // The expiration handler ends no other path, nor one that checks its flags.
            if ends.contains(where: closure.contains) { strictness.doneFlags = flags(in: closure) }
            ends = ends.filter { !closure.contains($0) }
        }
        let settling = settling(ends, in: scope, &strictness)
        let gaps = CompletionPaths(text, body: scope, strictness, settles: settling.contains).gaps
        let behind = gaps.isEmpty ? gapBehind(ends, handedOn, in: scope, strictness) : nil
        let places = behind.map { [$0] } ?? gaps
        if !places.isEmpty {
            see(.fault(.taskPathWithoutEnd), atFirstOf: places)
        } else {
            let uses = TaskUses(ends: ends, handedOn: handedOn, expiration: expiration)
            noteOpenTask(scope, uses, strictness)
        }
        if handedOn.isEmpty {
            let closure = expiration.flatMap(expirationClosure)
            readEarlyEnd(ends, in: scope, closure)
        }
        let calls = RepeatedCalls(text, body: scope) { ends.contains($0) && use($0) == .end }
        let again = secondEnd(ends.filter { use($0) == .end }, calls, in: scope)
        if let again { see(.fault(.completedTwice), at: again) }
        let works = body.contains {
            let name = text.tokens[$0].text
            return name == "await"
                || isCall($0) && (!isIdleCall($0) || functions[name] != nil)
                    && !name.hasPrefix("setTaskCompleted")
        }
        if let expiration {
            // What is done at once has nothing to stop, unless this replaces one that ends it.
            let isDoneAtOnce =
                handedOn.isEmpty && !ends.isEmpty && !isAwaited(ends, in: scope)
                && !expirationIsSet(forWhatGets: scope)
            readExpiration(
                expiration, body, handedOn, isAwaited: isAwaited(ends, in: scope),
                mayIdle: isDoneAtOnce)
            digest.guarded.formUnion(functions(getting: handedOn, in: body))
        } else if !handedOn.isEmpty {
            readHandedOn(handedOn, in: scope)
            readKeptTask(handedOn, in: scope)
        } else if isAwaited(ends, in: scope) || isRefresh != true && isLongWork(body),
            !ends.isEmpty, !expirationIsSet(forWhatGets: scope)
        {
            see(.fault(.taskWithoutExpiration), inFunction: scope)
        }
        let castsToRefresh =
            body.contains { text.tokens[$0].isName("BGAppRefreshTask") } || asksForRefreshOnly
        if !handedOn.isEmpty {
            if schedulesNext(body, depth: 0, trusts: false) {
                digest.scheduled.formUnion(functions(getting: handedOn, in: body))
            }
        } else if isRefresh ?? castsToRefresh, works, !schedulesNext(body, depth: 0),
            !callsParameter(of: scope)
        {
            see(.fault(.refreshWithoutNext), inFunction: scope)
        }
    }

    /// Whether the scheduler calls it for each task: the closure of a registration, or a function
    /// that is passed to one.
    private func isLaunchHandler(_ scope: SourceScope) -> Bool {
        guard case .function(let head) = scope.kind else { return true }
        return text.places(of: "launchHandler").contains { index in
            guard text.sees(":", at: index + 1) else { return false }
            let name = text.sees("self", ".", at: index + 2) ? index + 4 : index + 2
            return text.sees(head.name, at: name)
        }
    }

    /// The first path without an end in the functions that get a closure that ends a task, or the
    /// task.
    private mutating func gapBehind(
        _ ends: Set<Int>, _ handedOn: [Int], in scope: SourceScope,
        _ strictness: CompletionPaths.Strictness
    ) -> Int? {
        guard strictness.entersClosures else { return nil }
        let fault = SourceObservation.Subject.fault(.taskPathWithoutEnd)
        let closures = ends.subtracting(handedOn).sorted()
        return gap(behind: closures, in: scope, fault, strictness, settles: ends.contains)
            ?? gap(
                behind: handedOn, in: scope, fault, strictness, kind: .task,
                settles: ends.contains)
    }

    /// Whether these names of a task end it in a body.
    func endsTask(_ names: Set<String>, in body: Range<Int>) -> Bool {
        body.contains { isValue($0, named: names) && use(of: $0) == .end }
    }

    /// Whether a token ends a task or hands it on.
    func settlesTask(_ index: Int, named names: Set<String>) -> Bool {
        isValue(index, named: names) && [.end, .handedOn].contains(use(of: index))
    }

    /// Whether a function calls a closure parameter other than a completion: its caller may request
    /// the next task.
    private func callsParameter(of scope: SourceScope) -> Bool {
        guard case .function(let head) = scope.kind else { return false }
        return text.content(ofBracket: scope.open).contains { index in
            isCall(index) && text[index - 1]?.isMark(".") != true
                && head.parameters.contains { parameter in
                    parameter.name == text.tokens[index].text
                        && !parameter.name.lowercased().contains("complet")
                }
        }
    }

    /// Whether all requests in this file are for refresh tasks.
    private var asksForRefreshOnly: Bool {
        let requests = text.tokens.filter { $0.isName && $0.text.hasSuffix("TaskRequest") }
        return requests.contains { $0.text == "BGAppRefreshTaskRequest" }
            && requests.allSatisfy { $0.text == "BGAppRefreshTaskRequest" }
    }

    /// The names that a closure sets, and the name of a task's state.
    private func flags(in closure: Range<Int>) -> Set<String> {
        let set = closure.filter { text.tokens[$0].isName && text.sees("=", at: $0 + 1) }
        return Set(set.map { text.tokens[$0].text }).union(["isCancelled"])
    }

    /// Whether a task ends only after a wait, so that it can expire before.
    private func isAwaited(_ ends: Set<Int>, in scope: SourceScope) -> Bool {
        let isLater = ends.contains { end in
            for around in text.scopes(around: end) {
                if around.open == scope.open { return false }
                switch around.kind {
                case .closure: return true
                // `func finish() { task.setTaskCompleted(success: true) }`, `load { finish() }`
                case .function(let local) where isCalledLater(local.name, in: scope): return true
                case .function, .control, .type: continue
                }
            }
            return false
        }
        guard !isLater, !ends.isEmpty else { return isLater }
        return text.content(ofBracket: scope.open).contains(where: waits)
    }

    /// Whether a handler works on a processing task, which may take minutes, so that it can expire
    /// though nothing is awaited. A call or two may be done at once.
    private func isLongWork(_ body: Range<Int>) -> Bool {
        let requests = text.tokens.filter { $0.isName && $0.text.hasSuffix("TaskRequest") }
        guard requests.contains(where: { $0.text == "BGProcessingTaskRequest" }),
            requests.allSatisfy({ $0.text == "BGProcessingTaskRequest" }),
            !body.contains(where: { text.tokens[$0].isName("BGAppRefreshTask") })
        else { return false }
        // The first calls that do something, up to three.
        func steps(_ body: Range<Int>) -> [Int] {
            let words = body.prefix(AuditLimits.headWords).lazy.filter { index in
                isCall(index) && !text.tokens[index].text.hasPrefix("setTaskCompleted")
                    && !doesNothing(index) && !schedulesNext(index..<index + 1, depth: 0)
            }
            return Array(words.prefix(3))
        }
        let own = steps(body)
        if own.count > 2 { return true }
        let inner = own.compactMap { functions[text.tokens[$0].text] }
            .map { steps(text.content(ofBracket: $0.open)).count }
        return own.count + inner.reduce(0, +) > 2
    }

    /// Whether the function that passes its task on has set the expiration handler before.
    private func expirationIsSet(forWhatGets scope: SourceScope) -> Bool {
        guard case .function(let head) = scope.kind else { return false }
        let own = text.content(ofBracket: scope.open)
        return text.places(of: "expirationHandler").contains { index in
            guard !own.contains(index),
                text.sees("=", at: index + 1), text.sees(".", at: index - 1),
                let task = text[index - 2], task.isName,
                let around = text.scopes(around: index).first(where: { _ in true })
            else { return false }
            return text.content(ofBracket: around.open).contains { word in
                guard text.sees("(", at: word + 1) else { return false }
                let name = text.tokens[word].text
                if name == head.name {
                    return text.content(ofBracket: word + 1).contains {
                        isValue($0, named: [task.text])
                    }
                }
                return functions[name] == nil && isCall(word)
                    && text.sees(task.text, ")", at: word + 2)
            }
        }
    }

    private static let taskMembers: Set = [
        "updateTitle", "isEqual", "isKind", "isMember", "copy", "class", "identifier", "progress",
        "responds", "description",
    ]

    /// What is done with a task where it is named.
    enum Use {
        case end
        case expiration
        case handedOn
        case other
    }

    /// What is done with the task at a token.
    func use(of index: Int) -> Use {
        if text.isObjectiveC, text[index - 1]?.isMark("[") == true {
            if text.sees("setExpirationHandler", at: index + 1) { return .expiration }
            guard let name = text[index + 1], name.isName else { return .other }
            if name.text.hasPrefix("setTaskCompleted") { return .end }
            return Self.taskMembers.contains(where: name.text.hasPrefix) ? .other : .handedOn
        }
        guard let next = text[index + 1] else { return .other }
        if next.isMark("?"), text.sees(".", at: index + 2) { return member(at: index + 3) }
        if next.isMark(".") { return member(at: index + 2) }
        // `task as? BGAppRefreshTask`, and the declaration of its name.
        if next.isName("as") || next.isName("is") || next.isName("in") || next.isMark("=") {
            guard next.isName("as"), let last = text[index - 1] else { return .other }
            // `run(with: task as! BGAppRefreshTask)`
            if last.isMark(":") || last.isMark(",") { return .handedOn }
            guard last.isMark("(") else { return .other }
            if text[index - 2]?.isName == true { return .handedOn }
            // `(task as? BGAppRefreshTask)?.setTaskCompleted(…)`
            let close = text.partners[index - 1]
            guard close > index else { return .other }
            let isOptional = text.sees("?", at: close + 1) || text.sees("!", at: close + 1)
            return member(at: close + (isOptional ? 3 : 2))
        }
        if let last = text[index - 1], last.isName("let") || last.isName("var") { return .other }
        return .handedOn
    }

    private func member(at index: Int) -> Use {
        switch text[index]?.text {
        case "setTaskCompleted", "setTaskCompletedWithSuccess": .end
        case "expirationHandler": .expiration
        // A function of an extension may end it, and set its handler.
        case let name?
        where (text.sees("(", at: index + 1) || text.sees("{", at: index + 1))
            && !Self.taskMembers.contains(where: name.hasPrefix):
            .handedOn
        default: .other
        }
    }

    /// The names of the task, including `guard let refresh = task as? BGAppRefreshTask`.
    private func aliases(of task: String, in body: Range<Int>) -> Set<String> {
        var names: Set = [task]
        for index in body where text.tokens[index].isName(task) {
            if text.sees("as", at: index + 1), text.sees("=", at: index - 1),
                let name = text[index - 2], name.isName
            {
                names.insert(name.text)
            }
        }
        return names
    }

    /// The tokens of the closure in `task.expirationHandler = { … }`, or `[task
    /// setExpirationHandler:^{ … }]`.
    func expirationClosure(_ index: Int) -> Range<Int>? {
        if text.sees("setExpirationHandler", ":", at: index + 1) {
            return closure(at: index + 3)
        }
        return (index..<index + 6).first { text[$0]?.isMark("=") == true }
            .flatMap { closure(at: $0 + 1) }
    }

    /// The tokens of the closure that starts at a token: `{ … }`, `^{ … }`, `^(BOOL done) { … }`.
    func closure(at start: Int) -> Range<Int>? {
        var open = start
        if text.sees("^", at: open) {
            open += 1
            if text.sees("(", at: open), text.partners[open] > open {
                open = text.partners[open] + 1
            }
        }
        return text.sees("{", at: open) ? text.content(ofBracket: open) : nil
    }

    /// Reads an expiration handler.
    private mutating func readExpiration(
        _ index: Int, _ body: Range<Int>, _ handedOn: [Int], isAwaited: Bool, mayIdle: Bool
    ) {
        // A late one is told already, and what gets the task may end it at once.
        var asksInVain = false
        if isLate(index, in: body) {
            see(.fault(.lateExpiration), at: index)
        } else if followsStart(index, in: body) || followsWork(handedOn, index, in: body) {
            see(.fault(.expirationAfterStart), at: index)
        } else {
            asksInVain = handedOn.isEmpty
        }
        guard let closure = expirationClosure(index) else { return }
        // What a task of Swift calls is looked at by itself, if it waits for nothing.
        let waits = closure.contains {
            text.tokens[$0].isName("await") || text.tokens[$0].isName("throw")
        }
        let calls = closure.filter {
            isCall($0) && !doesNothing($0) && !(asksInVain && onlyAsksAgain($0))
                && (waits || !text.sees("Task", "{", at: $0))
        }
        let assigns = closure.contains(where: mayChangeSomething)
        // One that is set again may be the first of two.
        guard !assigns, text.places(of: "expirationHandler", in: body).count < 2 else { return }
        if calls.isEmpty {
            if !mayIdle { see(.fault(.idleExpiration), at: index) }
        } else if isAwaited,
            calls.allSatisfy({ text.tokens[$0].text.hasPrefix("setTaskCompleted") })
        {
            // What runs its closure at once leaves nothing to stop: `context.performAndWait {`.
            let runsAtOnce =
                text.places(of: "await", in: body).isEmpty
                && !text.places(of: "performAndWait", in: body).isEmpty
            if !runsAtOnce { see(.fault(.taskLeftRunning), at: index) }
        }
    }

    /// Whether these tokens, or functions of this file that they call, request the next task, or
    /// may do so in another file, if that is trusted.
    func schedulesNext(_ body: Range<Int>, depth: Int, trusts: Bool = true) -> Bool {
        guard depth < 3 else { return false }
        for index in body where text.tokens[index].isName && !isInCatch(index, of: body) {
            let name = text.tokens[index].text.lowercased()
            // What is made of a type has its name: `let request = UNNotificationRequest(…)`.
            if name == "request", !isCall(index) { continue }
            // So has one to a server or to Core Data: `URLRequest(url: …)`, `NSFetchRequest`.
            if name.hasLetters("urlrequest") || name.hasLetters("fetchrequest") { continue }
            // A notification is no task, and may be what a task looks for.
            if isConstantOfScheduler(index, name) { continue }
            if ["schedul", "submit", "request"].contains(where: name.hasLetters),
                !name.hasLetters("notification")
                    || ["task", "refresh", "background", "fetch", "sync"]
                        .contains(where: name.hasLetters)
            {
                return true
            }
            // A function in another file may request it.
            guard isCall(index) else { continue }
            guard let scope = functions[text.tokens[index].text] else {
                if trusts, name.hasPrefix("handle") { return true }
                continue
            }
            let body = text.content(ofBracket: scope.open)
            if schedulesNext(body, depth: depth + 1, trusts: trusts) { return true }
        }
        return false
    }

    /// Whether a token is a constant that is only passed on, and named after the scheduler:
    /// `log(Event.schedulerPing)`.
    private func isConstantOfScheduler(_ index: Int, _ name: String) -> Bool {
        name.hasLetters("scheduler") && text.sees(".", at: index - 1)
            && (text.sees(")", at: index + 1) || text.sees(",", at: index + 1))
    }

    /// Whether a token of a body runs only after an error.
    private func isInCatch(_ index: Int, of body: Range<Int>) -> Bool {
        for scope in text.scopes(around: index) where scope.open >= body.lowerBound {
            if case .control("catch") = scope.kind { return true }
        }
        return false
    }
}
