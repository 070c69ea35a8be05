// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Reads push handlers.
extension SourceReader {
    /// Functions whose closures run later.
    static let laterCallees: Set = [
        "Task", "detached", "async", "asyncAfter", "dataTask", "downloadTask", "uploadTask", "sink",
    ]

    /// Reads a handler of pushes that wake the app. The form without a completion handler is for
    /// macOS.
    mutating func readNotificationHandler(
        _ head: SourceScope.FunctionHead, _ scope: SourceScope
    ) {
        let isHandler =
            head.has("didReceiveRemoteNotification") || head.name == "didReceiveRemoteNotification"
        guard isHandler else { return }
        let completion = head.parameters.first { $0.label == "fetchCompletionHandler" }
        guard completion != nil || head.isAsync || imports.contains("AppKit") else {
            if head.name == "application" { see(.oldNotificationHandler, at: scope.head) }
            return
        }
        let type = text.type(around: scope.head)
        if isMistypedHandler(head, scope) {
            see(.fault(.mistypedHandler), at: scope.head)
            digest.entries[digest.entries.count - 1].unusedNames = ["didReceiveRemoteNotification"]
            return
        }
        see(
            .remoteNotificationHandler(inSceneDelegate: type?.isSceneDelegate == true),
            at: scope.head)
        readPlace(of: scope, head)
        if showsPushes(scope) { see(.silentPushCheck, at: scope.head) }
        if importsOthers { see(.foreignModule, at: scope.head) }
        guard !isOfProtocol(scope) else { return }
        // A handler that returns whether it handled the push leaves others to its caller.
        let answers = answers(scope)
        if !answers || !mayReturnNo(scope) { readWork(of: scope, completion?.name) }
        guard !answers else { return }
        // A function with another name is called by a handler, which may complete for it.
        guard
            ["application", "didReceiveRemoteNotification"].contains(head.name)
                || isSwizzledHandler(head)
        else { return }
        guard let completion else { return }
        // Notificare's library completes in place of a delegate that only has the function.
        if text.content(ofBracket: scope.open).isEmpty, !imports.isDisjoint(with: Self.completers) {
            return
        }
        if let scene = sceneGetting(completion.name, in: scope) {
            see(.fault(.pushHandedToScene), at: scene)
        }
        let noted = digest.handovers.count
        let isTold = readPaths(to: completion.name, in: scope, .pathWithoutCompletion)
        noteOpenHandler(
            scope, of: .background, ([], [:]), completion: completion.name, since: noted,
            isTold: isTold)
    }

    /// Whether a handler makes a notification of its own, or has widgets drawn again, and asks
    /// nowhere for the state of the app: its pushes show nothing by themselves.
    private func showsPushes(_ scope: SourceScope) -> Bool {
        let body = text.content(ofBracket: scope.open)
        return body.contains { index in
            Self.displays.contains(text.tokens[index].text) && isCall(index)
                && !text.tokens[index].isConditional
        } && !body.contains { Self.states.contains(text.tokens[$0].text) }
    }

    private static let states: Set = ["applicationState", "activationState", "isActive"]
    private static let displays: Set = [
        "UNNotificationRequest", "reloadAllTimelines", "requestWithIdentifier",
    ]

    private static let completers: Set = ["NotificareKit", "NotificarePushKit"]

    /// Whether a method of Objective-C takes the place of the delegate's at run time: its selector
    /// is a prefix and the delegate's, `ABC_application:didReceiveRemoteNotification:
    /// fetchCompletionHandler:`, its parameters are of the same kinds, and the file refers to it.
    private func isSwizzledHandler(_ head: SourceScope.FunctionHead) -> Bool {
        let parameters = head.parameters
        guard text.isObjectiveC, head.name.hasSuffix("_application"), parameters.count == 3,
            parameters.dropFirst().map(\.label)
                == ["didReceiveRemoteNotification", "fetchCompletionHandler"],
            parameters[0].types == ["UIApplication"], parameters[1].types.first == "NSDictionary",
            parameters[2].types.contains("UIBackgroundFetchResult")
        else { return false }
        return text.places(of: head.name).contains { index in
            text.seesSelector(at: index - 2)
                && text.sees(
                    ":", "didReceiveRemoteNotification", ":", "fetchCompletionHandler", ":", ")",
                    at: index + 1)
        }
    }

    /// Reads the handler of background fetch, the predecessor of background tasks.
    mutating func readFetchHandler(_ head: SourceScope.FunctionHead, _ scope: SourceScope) {
        guard
            let completion = head.parameters.first(where: {
                $0.label == "performFetchWithCompletionHandler"
            })
        else { return }
        see(.legacyFetch, at: scope.head)
        // Only the app itself calls one of another class.
        if owner(around: scope.head) != nil, !isInAppDelegate(scope) {
            see(.legacyFetchCall, at: scope.head)
        }
        guard head.name == "application", !answers(scope), !isOfProtocol(scope) else { return }
        readPaths(to: completion.name, in: scope, .fault(.fetchPathWithoutCompletion))
        readAnswers(of: scope, completion.name, early: .earlyFetchAnswer) { _ in .alwaysNewFetch }
    }

    /// Whether a function is a default of a protocol of this file, which the system does not call.
    func isOfProtocol(_ scope: SourceScope) -> Bool {
        guard let type = text.type(around: scope.head) else { return false }
        return text.places(of: type.name).contains { text.sees("protocol", at: $0 - 1) }
    }

    /// Whether a function returns whether something was for it.
    func answers(_ scope: SourceScope) -> Bool {
        text.tokens[scope.head..<scope.open].contains { $0.isName("Bool") || $0.isName("BOOL") }
    }

    private func mayReturnNo(_ scope: SourceScope) -> Bool {
        let body = text.content(ofBracket: scope.open)
        return body.contains { index in
            text.tokens[index].isName("return")
                && !["true", "YES"].contains(text[index + 1]?.text)
        }
    }

    /// Finds paths without a call of the completion handler, or with two. The gaps of a handler are
    /// one fault. Returns whether there is one.
    @discardableResult
    private mutating func readPaths(
        to completion: String, in scope: SourceScope, _ subject: SourceObservation.Subject
    ) -> Bool {
        let hasGap = readGaps(to: completion, in: scope, subject)
        readRepeatedCompletion(completion, in: scope)
        return hasGap
    }

    /// Finds paths without a call of the completion handler. Returns whether there is one.
    @discardableResult
    mutating func readGaps(
        to completion: String, in scope: SourceScope, _ subject: SourceObservation.Subject
    ) -> Bool {
        let gaps = CompletionPaths(text, handler: completion, body: scope).gaps
        let inHelper = gaps.isEmpty ? gapInHelper(of: scope, completion, subject) : nil
        if !gaps.isEmpty { quietly { _ = $0.gapInHelper(of: scope, completion, subject) } }
        let places = inHelper.map { [$0] } ?? gaps
        see(subject, atFirstOf: places)
        return !places.isEmpty
    }

    /// Finds a path on which a completion handler is called twice.
    mutating func readRepeatedCompletion(_ name: String, in scope: SourceScope) {
        let calls = RepeatedCalls(text, body: scope) { [self] index in
            text.tokens[index].isName(name)
                && (text.sees("(", at: index + 1) && text[index - 1]?.isMark(".") != true
                    || isCompleted(byReportAt: index))
        }
        if let first = calls.first ?? calls.callOfTimeout(in: scope) {
            see(.fault(.completedTwice), at: first)
        }
    }

    /// The first path without a call in the functions that get a completion handler.
    mutating func gapInHelper(
        of scope: SourceScope, _ completion: String, _ subject: SourceObservation.Subject,
        _ strictness: CompletionPaths.Strictness = CompletionPaths.Strictness()
    ) -> Int? {
        let isCall = { [text] (index: Int) in
            text.tokens[index].isName(completion) && !text.isLabel(index)
        }
        let calls = text.content(ofBracket: scope.open).filter(isCall)
        return gap(behind: calls, in: scope, subject, strictness, settles: isCall)
    }

    /// The function of this file with a name; `nil` if there are several.
    func onlyFunction(_ name: String) -> SourceScope? {
        overloaded.contains(name) ? nil : functions[name]
    }

    /// Reads a handler of VoIP pushes.
    mutating func readVoIPHandler(_ head: SourceScope.FunctionHead, _ scope: SourceScope) {
        guard Self.isVoIPHandler(head) else {
            readPayloadFunction(head, scope)
            return
        }
        let takesMetadata = text.tokens[scope.head..<scope.open]
            .contains { $0.isName("PKVoIPPushMetadata") }
        see(.voipHandler(takesMetadata: takesMetadata), at: scope.head)
        guard !isSuperseded(head) else { return }
        let body = text.content(ofBracket: scope.open)
        let completion = head.parameters.last {
            $0.label == "completion" || $0.label == "withCompletionHandler"
        }?.name
        readVoIPPaths(head, scope, body, completion: completion)
        let known = digest.entries.count
        readLateReports(scope, body)
        let isTold = digest.entries.dropFirst(known).contains {
            $0.observation.subject == .lateReport
        }
        guard !isTold else { return }
        if let report = lateReportOnPath(of: scope) {
            see(.lateReport, at: report)
        } else {
            followLatePaths(of: scope)
        }
    }

    static func isVoIPHandler(_ head: SourceScope.FunctionHead) -> Bool {
        head.name == "pushRegistry"
            && head.parameters.contains { parameter in
                parameter.label.hasPrefix("didReceiveIncomingPushWith")
                    || parameter.label.hasPrefix("didReceiveIncomingVoIPPushWith")
            }
    }

    /// Whether a handler has the form of iOS 8 beside one with a completion handler, which iOS
    /// calls instead.
    func isSuperseded(_ head: SourceScope.FunctionHead) -> Bool {
        func hasCompletion(_ head: SourceScope.FunctionHead) -> Bool {
            head.isAsync || head.has("completion") || head.has("withCompletionHandler")
        }
        guard !hasCompletion(head) else { return false }
        return text.scopes.contains { other in
            guard case .function(let newer) = other.kind else { return false }
            return Self.isVoIPHandler(newer) && hasCompletion(newer)
        }
    }

    /// Reads a function that gets the push from a handler and reports the call.
    private mutating func readPayloadFunction(
        _ head: SourceScope.FunctionHead, _ scope: SourceScope
    ) {
        let body = text.content(ofBracket: scope.open)
        guard head.parameters.contains(where: { $0.types == ["PKPushPayload"] }),
            holdsReport(body), !hasResult(scope) || isCalledForNothing(head.name)
        else { return }
        let completion = head.parameters.last { $0.label.lowercased().contains("completion") }
        readVoIPPaths(head, scope, body, completion: completion?.name)
    }

    /// Whether a function has a result, which may tell its caller that it did nothing.
    private func hasResult(_ scope: SourceScope) -> Bool {
        let open = (scope.head..<scope.open).first { text.tokens[$0].isMark("(") }
        guard let open, text.partners[open] > open else { return false }
        if text.isObjectiveC { return !text.sees("void", ")", at: open + 1) }
        return text.tokens[text.partners[open]..<scope.open].contains { $0.isMark("->") }
    }

    /// Whether a call in this file does not ask for the result of a function.
    private func isCalledForNothing(_ name: String) -> Bool {
        mentions(of: name).contains { index in
            isCall(index) && text.call(at: index).map(text.usesValue) == false
        }
    }

    /// The words of a camel-case name in lower case: `DDLogError` has `dd`, `log`, `error`.
    static func nameParts(_ name: String) -> [String] {
        var words: [String] = []
        let letters = Array(name)
        for (index, letter) in letters.enumerated() where letter.isLetter || letter.isNumber {
            let isAfterSmall = index > 0 && !letters[index - 1].isUppercase
            let isBeforeSmall = index + 1 < letters.count && letters[index + 1].isLowercase
            if words.isEmpty || letters[index - 1] == "_"
                || letter.isUppercase && (isAfterSmall || isBeforeSmall)
            {
                words.append("")
            }
            words[words.count - 1] += letter.lowercased()
        }
        return words
    }

    /// Whether a name is called: `name(`, `name {`, or `[object name` in Objective-C.
    func isCall(_ index: Int) -> Bool {
        guard text.tokens[index].isName, !Self.keywords.contains(text.tokens[index].text) else {
            return false
        }
        if text.sees("(", at: index + 1) || isOptionalCall(index) { return true }
        if text.sees("{", at: index + 1) {
            // `switch result {`, `for item in items {`, `if call.isVideo {`
            if let scope = text.scope(openedAt: index + 1) {
                if case .control = scope.kind { return false }
                return true
            }
            // An empty block is not known.
            let before = text[index - 1]
            return !["switch", "in", "if", "while"].contains { before?.isName($0) == true }
        }
        guard text.isObjectiveC, let last = text[index - 1], let next = text[index + 1] else {
            return false
        }
        guard last.isName || last.isMark("]") || last.isMark(")") else { return false }
        return next.isMark(":") || (next.isMark("]") && text.partners[index + 1] >= 0)
    }

    /// Whether it is `handler?(value)`; with a blank before the mark it is a conditional
    /// expression.
    private func isOptionalCall(_ index: Int) -> Bool {
        guard !text.isObjectiveC,
            text.sees("?", "(", at: index + 1) || text.sees("!", "(", at: index + 1)
        else { return false }
        let name = text.tokens[index]
        return text.tokens[index + 1].position.offset == name.position.offset + name.text.utf8.count
    }

    private static let keywords: Set = [
        "if", "guard", "else", "switch", "while", "for", "return", "let", "var", "case", "do",
        "defer", "in", "catch", "repeat", "try", "await", "throw", "as", "is", "where", "some",
    ]

    /// Whether a call does not process a push or a task: by its name, or because it is a log call:
    /// `FileLog.shared.add(…)`.
    func isIdleCall(_ index: Int) -> Bool {
        if Self.isIdle(text.tokens[index].text), !isMethod(index) { return true }
        if speaksOfKnownCall(index) || cancelsRequest(index) { return true }
        // `condition: .onQueue(main)` creates a value of an omitted type.
        if text.sees(".", at: index - 1), let before = text[index - 2],
            ["(", ",", ":", "=", "["].contains(where: before.isMark)
        {
            return true
        }
        var owner = index
        while text[owner - 1]?.isMark(".") == true, let before = text[owner - 2] {
            owner -= 2
            if before.isMark("?") || before.isMark("!") { owner -= 1 }
            // `UNUserNotificationCenter.current().add(request)`
            if text.sees(")", at: owner), text.partners[owner] >= 0 {
                owner = text.partners[owner] - 1
            }
            guard let name = text[owner], name.isName else { return false }
            // `CallLog.shared.reportIncomingCall(…)`
            let isLog =
                Self.nameParts(name.text).contains(where: Self.logWords.contains)
                && !Self.speaksOfReport(text.tokens[index].text)
            if isLog || Self.idleOwners.contains(name.text) || isNotificationCenter(owner) {
                return true
            }
        }
        guard let open = message(around: index) else { return false }
        // A message to the result of a message is sent to its receiver's.
        var receiver = open + 1
        while text.sees("[", at: receiver) { receiver += 1 }
        return Self.idleOwners.contains(text.tokens[receiver].text)
            || isNotificationCenter(receiver)
            // `[[Calls shared] report…]`: the first message only returns an object.
            || text.sees("[", at: open - 1) && text.partners[open] == index + 1
    }

    /// Whether a local name stands for the center of notifications: `let center =
    /// UNUserNotificationCenter.current()`.
    private func isNotificationCenter(_ index: Int) -> Bool {
        guard text[index - 1]?.isMark(".") != true, let name = text[index]?.text,
            let (_, body) = function(around: index)
        else { return false }
        return (max(body.lowerBound, index - AuditLimits.headWords)..<index).contains { word in
            guard text.tokens[word].isName(name), text.sees("=", at: word + 1),
                ["let", "var", "*"].contains(text[word - 1]?.text ?? "")
            else { return false }
            return text.sees("UNUserNotificationCenter", at: word + 2)
                || text.sees("[", "UNUserNotificationCenter", at: word + 2)
        }
    }

    /// Whether a name that starts with an upper-case letter is a function, not a type:
    /// `model.IncomingCall(…)`, or a function of this file.
    private func isMethod(_ index: Int) -> Bool {
        let name = text.tokens[index].text
        guard name.first?.isUppercase == true, !Self.idleCalls.contains(name),
            !Self.nameParts(name).contains("log")
        else { return false }
        if functions[name] != nil { return true }
        guard text.sees(".", at: index - 1), let owner = text[index - 2], owner.isName,
            owner.text.first?.isLowercase == true
        else { return false }
        // A module may have such a name too.
        return !imports.contains(owner.text)
    }

    /// Whether a call reports the end or an update of an existing call to CallKit, not a new one:
    /// `reportCall(with:endedAt:reason:)`, `reportCall(with:updated:)`.
    func speaksOfKnownCall(_ index: Int) -> Bool {
        // A wrapper in another file.
        let name = text.tokens[index].text
        if name.hasPrefix("reportCallEnded"), functions[name] == nil { return true }
        let arguments: Range<Int>
        if let open = message(around: index) {
            arguments = text.content(ofBracket: open)
            guard arguments.contains(where: { text.tokens[$0].isName("reportCallWithUUID") }) else {
                return false
            }
        } else {
            guard text.tokens[index].isName("reportCall"), text.sees("(", at: index + 1) else {
                return false
            }
            arguments = text.content(ofBracket: index + 1)
        }
        return arguments.contains {
            ["endedAt", "endedAtDate", "updated"].contains(text.tokens[$0].text)
                && text.sees(":", at: $0 + 1)
        }
    }

    /// Words in the names of loggers.
    static let logWords: Set = ["log", "logger", "logging", "analytics", "crashlytics"]

    /// Types whose methods report no call: system types, and libraries that only pass a push to a
    /// script, which runs after the handler has returned.
    private static let idleOwners: Set = [
        "RNVoipPushNotificationManager", "FlutterVoipPushNotificationPlugin",
        "UserDefaults", "NSUserDefaults", "UNUserNotificationCenter", "JSONSerialization",
        "NSJSONSerialization", "ProcessInfo", "NSProcessInfo", "UIDevice", "Bundle", "NSBundle",
        "FileManager", "NSFileManager", "NSString", "NSMutableString", "NSDictionary",
        "NSMutableDictionary", "NSArray", "NSMutableArray", "NSNumber", "NSDate", "NSUUID",
        "NSURL", "NSData", "NSSet",
    ]

    /// Names of functions that do not process a push: they log, or read or create a value.
    static func isIdle(_ name: String) -> Bool {
        if idleCalls.contains(name) { return true }
        let words = nameParts(name)
        // `addToAppLogs("…")`
        let addsToLogs =
            words.first == "add"
            && words.drop { $0 != "to" }.contains("logs")
        if words.contains("log") || addsToLogs || words.last == "print" || words.first == "track"
            || ["assert", "precondition", "dispatchPrecondition", "uuid"]
                .contains(where: name.hasPrefix)
        {
            return true
        }
        // A value composed of others.
        return name.first?.isUppercase == true && name != "Task"
    }

    private static let idleCalls: Set = [
        "print", "os_log", "debugPrint", "dump", "log", "debug", "info", "error", "warn",
        "warning", "trace", "notice", "verbose", "fault", "critical", "breadcrumb",
        "addBreadcrumb", "jsonObject", "decode", "data", "object", "bool", "integer", "string",
        "value", "first", "filter", "map", "compactMap", "contains", "hasPrefix", "hasSuffix",
        "components", "split", "joined", "trimmingCharacters", "lowercased", "uppercased",
        "replacingOccurrences", "removeValue", "stringWithFormat", "objectForKey", "valueForKey",
        "objectForKeyedSubscript", "isEqualToString", "isEqual", "isKindOfClass",
        "respondsToSelector", "alloc", "init", "new", "sharedApplication", "sharedInstance",
        "length", "count", "integerValue", "boolValue", "description", "copy", "selector",
        "setObject", "setValue", "addObject", "dictionaryWithCapacity", "arrayWithObjects",
        "timeIntervalSince", "forKey", "synchronize", "removeObject", "removeObjectForKey",
        "sizeof", "currentNotificationCenter", "date", "UUID", "UUIDString", "class",
        // Closures that these run later are read in place.
        "async", "asyncAfter", "dispatch_async", "dispatch_after", "dispatch_time",
        "dispatch_get_main_queue", "dispatch_get_global_queue",
        // A notification is not a call.
        "presentLocalNotificationNow", "scheduleLocalNotification", "addNotificationRequest",
        "registerUserNotificationSettings", "requestAuthorization", "eventSink",
        "requestAuthorizationWithOptions", "setNotificationCategories",
    ]
}
