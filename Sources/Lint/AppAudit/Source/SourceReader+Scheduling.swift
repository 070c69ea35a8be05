// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Reads background tasks and the push types that an app requests.
extension SourceReader {
    /// Reads `BGTaskScheduler.shared.register(forTaskWithIdentifier: …)`, SwiftUI's
    /// `.backgroundTask(.appRefresh(…))`, and task requests.
    mutating func readScheduling(_ name: String, _ index: Int) {
        switch name {
        case "register" where text.sees("(", "forTaskWithIdentifier", ":", at: index + 1):
            seeRegistration(at: index, named: index + 4)
            seeTaskHandler(at: index, named: index + 4)
            seeValues(.registeredTask(nil, .unknown), of: index + 4)
            readLaunchHandler(index)
            readTaskCast(ofRegistrationAt: index, named: index + 4)
        case "registerForTaskWithIdentifier" where text.sees(":", at: index + 1):
            seeRegistration(at: index, named: index + 2)
            seeTaskHandler(at: index, named: index + 2)
            readLaunchHandler(index)
            readTaskCast(ofRegistrationAt: index, named: index + 2)
        case "registerPeriodicTask", "registerBGProcessingTask", "registerTask":
            readWorkmanager(name, index)
        case "taskIdentifier": readBackgroundService(index)
        case "backgroundTask" where text.sees("(", ".", "appRefresh", "(", at: index + 1):
            see(.backgroundWork(.appRefresh), at: index)
            // SwiftUI registers it when the scene is created, in time.
            see(.registeredTask(nil, .launch), at: index, named: index + 5)
            see(.sceneTask(nil), at: index, named: index + 5)
            seeTaskHandler(at: index, named: index + 5)
            readSceneTask(index)
        // SwiftUI hands it the events of a background session.
        case "backgroundTask" where text.sees("(", ".", "urlSession", at: index + 1):
            see(.backgroundSessionEvents, at: index)
        case "backgroundTask" where text.sees(".", at: index - 1) && text.sees("(", at: index + 1):
            digest.mayHideRegistrations = true
        case "BGAppRefreshTaskRequest": readRequest(.appRefresh, index)
        case "BGProcessingTaskRequest": readRequest(.processing, index)
        case "BGContinuedProcessingTaskRequest":
            readRequest(.continued, index)
            if isCall(index) { readContinuedRequest(index) }
        case "BGHealthResearchTaskRequest": readRequest(.healthResearch, index)
        default: return
        }
    }

    /// Reads a registration through the plugin of Flutter that registers it with the scheduler at
    /// once (workmanager, iOS setup): `WorkmanagerPlugin.registerPeriodicTask(withIdentifier: …)`.
    private mutating func readWorkmanager(_ name: String, _ index: Int) {
        let isOfPlugin =
            text.sees("WorkmanagerPlugin", ".", at: index - 2)
            && text.sees("(", "withIdentifier", ":", at: index + 1)
        guard isOfPlugin, imports.contains(where: { $0.hasPrefix("workmanager") }),
            digest.entries.count < AuditLimits.observationsPerFile, !isForOldSystems(index)
        else { return }
        let work: SourceObservation.BackgroundWork =
            name == "registerPeriodicTask" ? .appRefresh : .processing
        see(.backgroundWork(work), at: index)
        see(.registeredTask(nil, .unknown), at: index, named: index + 4)
    }

    /// Reads the identifier that a plugin of Flutter registers at launch in place of its own
    /// (flutter_background_service, iOS setup): `SwiftFlutterBackgroundServicePlugin.taskIdentifier
    /// = "…"`.
    private mutating func readBackgroundService(_ index: Int) {
        guard text.sees("SwiftFlutterBackgroundServicePlugin", ".", at: index - 2),
            imports.contains(where: { $0.hasPrefix("flutter_background_service") })
        else { return }
        see(.backgroundWork(.appRefresh), at: index)
        guard text.sees("=", at: index + 1), let identifier = text[index + 2],
            case .string(isInterpolated: false) = identifier.kind,
            !text.sees("+", at: index + 3), !text.sees(".", at: index + 3)
        else { return }
        see(.registeredTask(identifier.text, .unknown), at: index)
    }

    /// Sees a registration, at the time that its context shows, or the calls in this file. Other
    /// files may call its function too.
    private mutating func seeRegistration(at index: Int, named expression: Int) {
        if isOfContinuedTask(index) {
            see(.registeredTask(nil, .unknown), at: index, named: expression)
            return
        }
        let own = occasionOfRegistration(index)
        guard own == .unknown, let function = calledFunction(around: index) else {
            see(.registeredTask(nil, own), at: index, named: expression)
            return
        }
        let uses = uses(of: function)
        let occasions = Set(
            uses.map { use -> SourceObservation.Occasion in
                if case .occasion(let occasion) = use { occasion } else { .unknown }
            })
        let late = occasions.allSatisfy(\.isLate) ? occasions.first : nil
        let isElsewhere = !["application", "init"].contains(function.name) && uses.isEmpty
        see(
            .registeredTask(nil, late ?? (isElsewhere ? .elsewhere : .unknown)), at: index,
            named: expression)
        noteCallers(of: index)
        noteRepetition(of: index)
    }

    /// Notes whether the last observation is a registration of one task, however its function is
    /// called.
    private mutating func noteRepetition(of index: Int) {
        guard let entry = digest.entries.last,
            case .registeredTask(let name, _) = entry.observation.subject,
            name != nil || entry.reference.map(isFixed) == true
        else { return }
        digest.entries[digest.entries.count - 1].isRegisteredAlways = registersAlways(index)
    }

    private mutating func seeTaskHandler(at index: Int, named expression: Int) {
        let seen = digest.entries.count
        see(.taskHandler(nil), at: index, named: expression)
        noteCallers(of: index)
        for entry in digest.entries.indices.dropFirst(seen) {
            guard let reference = digest.entries[entry].reference else { continue }
            digest.entries[entry].isReferenceFixed = isFixed(reference)
        }
    }

    /// Whether the handler in a registration names continued processing and no other kind of task:
    /// such a task may be registered at any time.
    private func isOfContinuedTask(_ index: Int) -> Bool {
        var end = text.partners[message(around: index) ?? index + 1]
        if !text.isObjectiveC, text.sees("{", at: end + 1) { end = text.partners[end + 1] }
        guard end > index else { return false }
        let kinds = Set((index..<end).map { text.tokens[$0].text }).intersection(Self.taskTypes)
        return kinds.subtracting(["BGTask"]) == ["BGContinuedProcessingTask"]
    }

    /// The time at which the token at an index runs, also if only its function or its closure shows
    /// that the launch is over.
    func lateOccasion(of index: Int) -> SourceObservation.Occasion {
        if isCalledByScript(index) { return .afterLaunch }
        let own = occasion(of: index)
        guard own == .unknown else {
            // What has a value runs its subscriber at once.
            let mayRunAtOnce =
                own == .afterLaunch
                && text.scopes(around: index).contains { scope in
                    if case .closure("sink") = scope.kind { true } else { false }
                }
            return mayRunAtOnce ? .unknown : own
        }
        for scope in text.scopes(around: index) {
            switch scope.kind {
            case .closure(let callee?) where Self.userCallees.contains(callee): return .event
            case .function(let head):
                // The system may call these in the background too.
                if Self.lateLabels.contains(where: head.has) { return .afterLaunch }
                let isEvent =
                    Self.lateFunctions.contains(head.name)
                    || modifiers(before: scope.head).contains("IBAction")
                return isEvent ? .event : .unknown
            case .type: return .unknown
            case .closure, .control: continue
            }
        }
        return .unknown
    }

    /// Functions of SwiftUI whose closures the user starts.
    private static let userCallees: Set = [
        "Button", "onTapGesture", "onLongPressGesture", "refreshable", "onSubmit", "onOpenURL",
    ]

    /// Functions of delegates that are called once the app has launched.
    private static let lateFunctions: Set = [
        "applicationDidBecomeActive", "applicationWillResignActive",
        "applicationDidEnterBackground", "applicationWillEnterForeground", "sceneDidBecomeActive",
        "sceneWillResignActive", "sceneDidEnterBackground", "sceneWillEnterForeground",
        "viewDidDisappear", "viewWillDisappear", "viewDidLayoutSubviews",
    ]
    private static let lateLabels = [
        "didReceiveRemoteNotification", "didRegisterForRemoteNotificationsWithDeviceToken",
        "performFetchWithCompletionHandler",
    ]

    /// The parameter types of functions that JavaScript or Dart call, which start after the launch.
    private static let bridgeTypes: Set = [
        "RCTPromiseResolveBlock", "RCTPromiseRejectBlock", "RCTResponseSenderBlock",
        "FlutterMethodCall", "FlutterResult", "CAPPluginCall", "CDVInvokedUrlCommand",
    ]

    /// Whether a token is in a function that a script calls.
    private func isCalledByScript(_ index: Int) -> Bool {
        for scope in text.scopes(around: index) {
            switch scope.kind {
            case .closure("setMethodCallHandler"): return true
            case .function(let head):
                return head.parameters.contains { !Self.bridgeTypes.isDisjoint(with: $0.types) }
            case .type: return false
            case .closure, .control: continue
            }
        }
        return false
    }

    /// Notes what functions of other files code calls, which may request the next task.
    mutating func noteCalled(_ body: Range<Int>) {
        guard !digest.entries.isEmpty else { return }
        digest.entries[digest.entries.count - 1].called = Set(
            body.filter { isCall($0) && functions[text.tokens[$0].text] == nil }
                .map { text.tokens[$0].text })
    }

    /// Notes the functions of this file that request a task, or call one that does.
    private mutating func noteSchedulers() {
        guard !notes.knowsSchedulers else { return }
        notes.knowsSchedulers = true
        digest.schedulers = Set(
            functions.filter { name, scope in
                schedulesNext(text.content(ofBracket: scope.open), depth: 0, trusts: false)
            }
            .keys)
    }

    private mutating func readRequest(_ work: SourceObservation.BackgroundWork, _ index: Int) {
        noteSchedulers()
        readTaskRequest(index)
        readLateValue(ofRequestAt: index)
        let use = useOfRequest(index)
        guard use != .none else {
            seeUnsubmittedRequest(index)
            return
        }
        let seen = digest.entries.count
        defer {
            if case .kept(let name) = use {
                for entry in digest.entries.indices.dropFirst(seen) {
                    digest.entries[entry].keeper = name
                }
            }
        }
        see(.backgroundWork(work), at: index)
        let open = bracket(ofMaking: index)
        if text.sees("(", "identifier", ":", at: open) {
            see(.requestedTask(nil, work), at: index, named: open + 3)
        } else if text.sees("alloc", "]", "initWithIdentifier", ":", at: index + 1) {
            see(.requestedTask(nil, work), at: index, named: index + 5)
        }
        for entry in digest.entries.indices.dropFirst(seen) {
            digest.entries[entry].askers = callChain(of: index)
            guard let reference = digest.entries[entry].reference else { continue }
            digest.entries[entry].isReferenceFixed = isFixed(reference)
        }
        guard text.sees("(", "identifier", ":", at: open) else { return }
        let first = digest.entries.count
        seeValues(.requestedTask(nil, work), of: open + 3)
        for entry in digest.entries.indices.dropFirst(first) {
            digest.entries[entry].isReferenceFixed =
                digest.entries[entry].reference.map(isFixed) == true
        }
    }

    /// Reads `task as! BGAppRefreshTask`.
    mutating func readCast(_ index: Int) {
        if text.sees("!", at: index + 1), let type = text[index + 2],
            Self.taskTypes.contains(type.text)
        {
            see(.fault(.forcedTaskCast), at: index)
        }
    }

    // MARK: Submitting

    static let foregroundFunctions: Set = [
        "applicationDidBecomeActive", "applicationWillEnterForeground", "sceneDidBecomeActive",
        "sceneWillEnterForeground",
    ]

    /// What the expression that begins at `first`, and drops the errors of the submission at
    /// `index`, makes of them: what certainly is a statement by itself looks at no result.
    private func dropped(by first: Int, _ index: Int) -> SourceObservation.Fault {
        // Behind an error that was looked at, it may be another try.
        let isRetry = text.scopes(around: index).contains { scope in
            if case .control("catch") = scope.kind { true } else { false }
        }
        return isRetry || isElsewhere(index) || !isStatement(from: first, of: index)
            ? .ignoredSubmitError : .droppedSubmitError
    }

    /// Whether a token is in `#if` that builds for devices may not have.
    private func isElsewhere(_ index: Int) -> Bool {
        text.tokens[index].isConditional && !text.isBuiltForIOS(index)
    }

    /// Whether a call, with what is before it from `first` on, is a statement whose value nothing
    /// has: `try? scheduler.submit(request)`, `_ = try? …`, but not `if (try? …) == nil`, nor the
    /// only expression of a function or a closure with a result.
    private func isStatement(from first: Int, of index: Int) -> Bool {
        var first = first
        if text.sees("_", "=", at: first - 2), !text.sees("let", at: first - 3),
            !text.sees("var", at: first - 3)
        {
            first -= 2
        }
        let end: Int
        if text.isObjectiveC {
            end = text.partners[first] + 1
            guard text.sees(";", at: end) else { return false }
        } else {
            guard text.sees("(", at: index + 1), text.partners[index + 1] > index else {
                return false
            }
            end = text.partners[index + 1] + 1
            let line = text.tokens[end - 1].position.line
            // An operator may stand on the next line.
            if let next = text[end] {
                guard
                    next.isMark("}") || next.isMark(";")
                        || next.isName && next.position.line > line
                else { return false }
            }
        }
        guard let before = text[first - 1] else { return true }
        let isFirst = before.isMark("{") || before.isName("in")
        // A line that does not go on in the next one.
        let isEnd =
            before.position.line < text.tokens[first].position.line && !before.isName("return")
            && (before.kind != .mark || [")", "]", "!"].contains(before.text))
        guard
            isFirst || before.isMark("}") || before.isMark(";") || isEnd && !text.isObjectiveC
        else { return false }
        return !(isFirst && text.sees("}", at: end) && mayBeResult(index))
    }

    /// Whether the only expression around a token may be the result of a function or a closure.
    private func mayBeResult(_ index: Int) -> Bool {
        guard text.scopeIndices[index] >= 0 else { return true }
        let scope = text.scopes[text.scopeIndices[index]]
        switch scope.kind {
        case .function:
            var last = scope.open - 1
            while ["async", "throws"].contains(text[last]?.text) { last -= 1 }
            return !text.sees(")", at: last)
        case .closure(let callee): return callee.map(Self.runsForNothing) != true
        case .control, .type: return false
        }
    }

    /// Whether a function runs a closure and has no use for its result, by its name.
    private static func runsForNothing(_ callee: String) -> Bool {
        ["async", "asyncAfter", "Task", "detached", "main", "onChange", "onAppear"]
            .contains(callee)
    }

    /// Reads `try? BGTaskScheduler.shared.submit(request)`.
    mutating func readSubmission(_ index: Int) {
        guard let start = schedulerStart(index) else { return }
        if text.sees("try", "!", at: start - 2) {
            guard !text.tokens[index].isConditional || text.isBuiltForIOS(index) else { return }
            see(.fault(.forcedSubmission), at: index)
        } else if text.sees("try", "?", at: start - 2) {
            see(.fault(dropped(by: start - 2, index)), at: index)
        } else if isCaughtByNothing(index) {
            see(.fault(isElsewhere(index) ? .ignoredSubmitError : .droppedSubmitError), at: index)
        } else if let call = ignoringCall(of: index) {
            see(.fault(.droppedSubmitError), at: call)
        }
        if text.isObjectiveC,
            let open = text.tokens.indices[..<index].last(where: {
                text.partners[$0] > index
            }), text.sees("error", ":", "nil", "]", at: text.partners[open] - 3)
        {
            see(.fault(dropped(by: open, index)), at: index)
        }
        if isInActivePhase(index) {
            see(.fault(.repeatedSubmission), at: index)
            return
        }
        guard let (head, body) = function(around: index), !looksAtPending(body) else { return }
        let isRepeated =
            Self.foregroundFunctions.contains(head.name)
            || text.tokens.indices.contains { word in
                text.tokens[word].isName(head.name) && isCall(word) && isInActivePhase(word)
            }
            || Self.foregroundFunctions.contains { name in
                guard let caller = functions[name] else { return false }
                let words = text.content(ofBracket: caller.open)
                return !looksAtPending(words)
                    && words.contains { text.tokens[$0].isName(head.name) && isCall($0) }
            }
        if isRepeated { see(.fault(.repeatedSubmission), at: index) }
    }

    /// Whether a token runs each time the app becomes active, whatever is pending.
    func runsWhenActive(_ index: Int) -> Bool {
        if isInActivePhase(index) { return true }
        guard let (head, body) = function(around: index) else { return false }
        return Self.foregroundFunctions.contains(head.name) && !looksAtPending(body)
    }

    /// The first `try? schedule()` in this file, where `schedule` throws the error of the `submit`
    /// at a token.
    private func ignoringCall(of index: Int) -> Int? {
        guard
            let scope = text.scopes(around: index).first(where: { scope in
                guard case .control(let word) = scope.kind else { return true }
                return word == "do"
            }), case .function(let head) = scope.kind, !overloaded.contains(head.name),
            text.tokens[scope.head..<scope.open].contains(where: { $0.isName("throws") })
        else { return nil }
        return text.tokens.indices.first { word in
            guard text.tokens[word].isName(head.name), isCall(word) else { return false }
            let isOwn = text.sees(".", at: word - 1)
            if isOwn, !text.sees("self", at: word - 2), !text.sees("Self", at: word - 2) {
                return false
            }
            let first = isOwn ? word - 2 : word
            return text.sees("try", "?", at: first - 2)
                || text.sees("try", "?", "await", at: first - 3)
        }
    }

    /// Whether a token runs each time a SwiftUI scene becomes active.
    private func isInActivePhase(_ index: Int) -> Bool {
        text.scopes(around: index).contains { scope in
            guard case .control = scope.kind, scenePhase(in: scope, around: index) == "active"
            else { return false }
            return !looksAtPending(text.content(ofBracket: scope.open))
        }
    }

    /// Whether a call cancels requests for later tasks, and no work.
    func cancelsRequest(_ index: Int) -> Bool {
        let name = text.tokens[index].text
        return name == "cancelAllTaskRequests" || name == "cancelTaskRequestWithIdentifier"
            || name == "cancel" && text.sees("(", "taskRequestWithIdentifier", at: index + 1)
    }

    private func looksAtPending(_ words: Range<Int>) -> Bool {
        words.contains {
            let name = text.tokens[$0].text.lowercased()
            return name.hasLetters("pendingtaskrequests") || name.hasPrefix("cancel")
        }
    }

    /// The start of the expression that calls `submit` on the scheduler: its type, or a name in the
    /// file.
    private func schedulerStart(_ index: Int) -> Int? {
        if text.sees("BGTaskScheduler", ".", "shared", ".", at: index - 4) { return index - 4 }
        if text.sees("[", "BGTaskScheduler", "sharedScheduler", "]", at: index - 4)
            || text.sees("[", "BGTaskScheduler", ".", "sharedScheduler", at: index - 4)
        {
            return index - 4
        }
        guard text.sees(".", at: index - 1), let owner = text[index - 2], owner.isName else {
            return nil
        }
        let isScheduler = text.tokens.indices.contains { word in
            guard text.tokens[word].isName(owner.text) else { return false }
            return text.sees("=", "BGTaskScheduler", at: word + 1)
                || text.sees(":", "BGTaskScheduler", at: word + 1)
        }
        guard isScheduler else { return nil }
        return text.sees("self", ".", at: index - 4) ? index - 4 : index - 2
    }

    /// Whether a call is in a `do` whose only `catch` is empty.
    private func isCaughtByNothing(_ index: Int) -> Bool {
        for scope in text.scopes(around: index) {
            guard case .control("do") = scope.kind else {
                if case .control = scope.kind { continue }
                return false
            }
            return text.sees("catch", "{", "}", at: scope.close + 1)
        }
        return false
    }

    /// The function around a token, and its tokens.
    func function(around index: Int) -> (SourceScope.FunctionHead, Range<Int>)? {
        for scope in text.scopes(around: index) {
            if case .function(let head) = scope.kind {
                return (head, text.content(ofBracket: scope.open))
            }
        }
        return nil
    }
}
