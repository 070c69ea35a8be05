// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Finds what runs only after a pause of a second or more.
extension SourceReader {
    /// What a mention of a function tells of the time at which its calls are made.
    enum DelayedUse {
        /// The code behind a pause.
        struct Pause {
            let entry: SourceDigest.Entry
            /// The place of the function's head.
            let function: AppPlace
            /// The type, if the function runs when its screen is shown.
            let screen: String?
        }

        /// It is behind a pause.
        case delayed(Pause)
        /// It is in a function of this name, whose mentions show the time.
        case inside(String)
        /// It may run at any time.
        case unknown
    }

    /// The maximum number of mentions of a function in a file.
    private static let mentionsOfOne = 32
    private static let screenStarts: Set = ["viewDidLoad", "viewWillAppear", "viewDidAppear"]

    /// The mentions of functions in this file, of the ones of other types with their names too;
    /// `nil` if one may run at any time.
    func delayedUses(of names: Set<String>) -> [String: [DelayedUse]]? {
        // A selector may be made of a text.
        let isText = text.tokens.contains { token in
            token.isString && names.contains(String(token.text.prefix { $0 != ":" && $0 != "(" }))
        }
        // What has another name in Objective-C, or is seen by it, may be called by that.
        let isSeen =
            !text.isObjectiveC
            && (!text.places(of: "objcMembers").isEmpty
                || text.places(of: "objc").contains { text.sees("(", at: $0 + 1) })
        guard !isText, !isSeen else { return nil }
        var uses: [String: [DelayedUse]] = [:]
        for name in names {
            let mentions = mentions(of: name)
            guard mentions.count <= Self.mentionsOfOne else { return nil }
            for index in mentions where text.isObjectiveC || !text.isLabel(index) {
                guard let use = delayedUse(index, of: name) else { continue }
                if case .unknown = use { return nil }
                uses[name, default: []].append(use)
            }
        }
        return uses
    }

    /// What a mention of a function tells; `nil` if it is in the function itself, which needs
    /// another caller.
    private func delayedUse(_ index: Int, of name: String) -> DelayedUse? {
        var isBehindPause = isDelayedSelector(index)
        guard isBehindPause || isCall(index) else { return .unknown }
        for scope in text.scopes(around: index) {
            switch scope.kind {
            case .control(let keyword):
                // What comes again may come from elsewhere.
                if ["for", "while", "repeat"].contains(keyword), !isBehindPause { return .unknown }
            case .closure:
                if isBehindPause || isDispatched(scope) { continue }
                // What is decided only then may have been reported until then.
                guard isPause(scope), !isConditional(index, in: scope) else { return .unknown }
                isBehindPause = true
            case .function(let head):
                guard outerFunction(of: index)?.open == scope.open else { return .unknown }
                if isBehindPause { return pause(index, in: scope, head) }
                if head.name == name { return nil }
                return isCalledByTextAlone(head, scope) ? .inside(head.name) : .unknown
            case .type: return .unknown
            }
        }
        return .unknown
    }

    private func pause(
        _ index: Int, in function: SourceScope, _ head: SourceScope.FunctionHead
    ) -> DelayedUse {
        let type = owner(around: function.head)?.name
        return .delayed(
            DelayedUse.Pause(
                entry: SourceDigest.Entry(
                    observation: SourceObservation(.lateReport, at: text.place(of: index))),
                function: text.place(of: function.head),
                screen: Self.screenStarts.contains(head.name) ? type : nil))
    }

    /// Whether only the app's own text calls a function that it calls somewhere: it overrides none,
    /// has no name of a callback, and is no action of a screen.
    private func isCalledByTextAlone(
        _ head: SourceScope.FunctionHead, _ function: SourceScope
    ) -> Bool {
        let others: Set = [
            "init", "deinit", "dealloc", "load", "initialize", "main", "awakeFromNib",
        ]
        guard !others.contains(head.name), WordFilter.canFind(head.name),
            !Self.callbackNames.contains(where: head.name.hasPrefix)
        else { return false }
        guard !text.isObjectiveC else {
            return !text.tokens[function.head..<function.open].contains {
                ["IBAction", "IBSegueAction"].contains($0.text)
            }
        }
        let words = modifiers(before: function.head)
        let isPrivate = words.contains("private") || words.contains("fileprivate")
        // A protocol that is not known may have it called by others.
        let isOwn =
            isPrivate || text.type(around: function.head) == nil
            || plainType(around: function.head) != nil
        return isOwn && words.isDisjoint(with: ["override", "IBAction", "IBSegueAction"])
            && (isPrivate || words.isDisjoint(with: ["objc", "public", "open", "dynamic"]))
    }

    /// Whether a condition in a closure decides whether a token runs, other than one for the object
    /// itself.
    private func isConditional(_ index: Int, in closure: SourceScope) -> Bool {
        (closure.open..<index).contains { word in
            let token = text.tokens[word]
            guard ["if", "guard", "switch", "while"].contains(where: token.isName) else {
                return false
            }
            return !["self", "strongSelf"].contains { text.sees("let", $0, at: word + 1) }
        }
    }

    // MARK: Pauses

    /// The functions of the system that run something after a pause, and the labels for it.
    private static let pauses: [String: Set<String>] = [
        "asyncAfter": ["deadline", "wallDeadline"],
        "perform": ["afterDelay"],
        "performSelector": ["afterDelay"],
        "scheduledTimer": ["withTimeInterval", "timeInterval"],
        "scheduledTimerWithTimeInterval": ["scheduledTimerWithTimeInterval"],
    ]

    /// Whether a closure is the one that a function of the system runs after a pause.
    func isPause(_ closure: SourceScope) -> Bool {
        if let bracket = bracket(around: closure), text.isObjectiveC,
            text.sees("dispatch_after", "(", "dispatch_time", "(", at: bracket - 1)
        {
            return tellsPause(text.content(ofBracket: bracket + 2))
        }
        guard let (_, body) = function(around: closure.open),
            let site = text.calls(around: closure.open + 1, in: body).first,
            site.arguments.contains(where: { $0.range.contains(closure.open) })
        else { return false }
        return isPause(site)
    }

    private func isPause(_ site: CallSite) -> Bool {
        let name = text.tokens[site.name].text
        guard let labels = Self.pauses[name], functions[name] == nil else { return false }
        return site.arguments.contains { labels.contains($0.label ?? "") && tellsPause($0.range) }
    }

    /// Whether a name is that of the selector which is called after a pause: `perform(
    /// #selector(ring), with: nil, afterDelay: 2)`.
    private func isDelayedSelector(_ index: Int) -> Bool {
        let first = max(0, index - 8)
        let selectors = (first..<index).filter {
            text.tokens[$0].text == "selector" && text.sees("(", at: $0 + 1)
        }
        guard let selector = selectors.last,
            text.partners[selector + 1] > index, let (_, body) = function(around: index),
            let site = text.calls(around: selector, in: body).first
        else { return false }
        return isPause(site)
    }

    /// Whether a closure is run next by a queue, whatever happens.
    private func isDispatched(_ closure: SourceScope) -> Bool {
        guard case .closure(let callee) = closure.kind else { return false }
        if text.isObjectiveC {
            return bracket(around: closure).map { text.sees("dispatch_async", at: $0 - 1) } == true
        }
        return callee == "async" && functions["async"] == nil
            && (text.sees("async", at: closure.open - 1)
                || text.sees("async", "(", "execute", ":", at: closure.open - 4))
    }

    /// The innermost bracket around a closure.
    func bracket(around closure: SourceScope) -> Int? {
        (max(0, closure.open - AuditLimits.headWords)..<closure.open).last {
            text.partners[$0] > closure.open
        }
    }

    /// Whether an expression is a second or more, or later than now by that much, as its numbers
    /// tell.
    private func tellsPause(_ expression: Range<Int>) -> Bool {
        let names: Set = [
            "now", "DispatchTime", "DispatchWallTime", "seconds", "Double", "TimeInterval",
            "DISPATCH_TIME_NOW", "NSEC_PER_SEC", "int64_t", "afterDelay", "deadline",
            "wallDeadline", "withTimeInterval", "timeInterval",
        ]
        var seconds: Double?
        var index = expression.lowerBound
        while index < expression.upperBound {
            let token = text.tokens[index]
            switch token.kind {
            case .number:
                // A fraction is a token of its own, as in `1.5` and `2.f`.
                var digits = token.text
                if text.sees(".", at: index + 1), let fraction = text[index + 2],
                    fraction.kind == .number || fraction.isName("f")
                {
                    digits += "." + fraction.text
                    index += 2
                }
                let number = Double(digits.filter { !"_fF".contains($0) })
                guard seconds == nil, let number else { return false }
                seconds = number
            case .name:
                guard names.contains(token.text) else { return false }
            case .mark:
                guard "()+*.:,".contains(token.text) else { return false }
            case .string, .directive: return false
            }
            index += 1
        }
        return seconds.map { $0 >= 1 } ?? false
    }

    // MARK: Handlers

    /// What the handlers of VoIP pushes of a file lead to.
    struct PushLeads {
        /// The places of the heads of functions that are called.
        var functions: Set<AppPlace> = []
        /// The types of screens that are shown.
        var screens: Set<String> = []

        mutating func formUnion(_ other: Self) {
            functions.formUnion(other.functions)
            screens.formUnion(other.screens)
        }
    }

    /// What the handlers of VoIP pushes lead to that call, besides functions of this file, only
    /// those of the system that report nothing.
    func leadsOfVoIPHandlers() -> PushLeads {
        text.scopes.reduce(into: PushLeads()) { leads, scope in
            guard case .function(let head) = scope.kind, Self.isVoIPHandler(head),
                let found = self.leads(of: scope)
            else { return }
            leads.formUnion(found)
        }
    }

    /// The maximum number of functions that a handler is followed into.
    private static let calledFunctions = 16

    private func leads(of handler: SourceScope) -> PushLeads? {
        var leads = PushLeads()
        var pending = [handler]
        var known: Set = [handler.open]
        while let next = pending.popLast() {
            leads.functions.insert(text.place(of: next.head))
            guard case .function(let head) = next.kind else { return nil }
            let parameters = Set(head.parameters.map(\.name))
            let body = text.content(ofBracket: next.open)
            let shown = shownScreens(in: body)
            leads.screens.formUnion(shown.values)
            let isHidden = body.contains { runsUnseen($0) || text.tokens[$0].isName("super") }
            guard !isHidden else { return nil }
            for index in body where isCall(index) {
                // Parts of a message, and what completes.
                if text.isObjectiveC, !text.sees("(", at: index + 1), text.call(at: index) == nil {
                    continue
                }
                if parameters.contains(text.tokens[index].text) { continue }
                if text.scopes(around: index).contains(where: { scope in
                    guard scope.open > next.open, case .closure = scope.kind else { return false }
                    return isPause(scope)
                }) {
                    continue
                }
                if let called = calledFunction(index) {
                    if known.insert(called.open).inserted { pending.append(called) }
                    continue
                }
                let isScreen =
                    shown[index] != nil || leads.screens.contains(text.tokens[index].text)
                guard isScreen || isSilentCall(index, in: body) else { return nil }
            }
            guard known.count <= Self.calledFunctions else { return nil }
        }
        return leads
    }

    /// Whether a call is one of the system that reports no call.
    func isSilentCall(_ index: Int, in body: Range<Int>) -> Bool {
        let name = text.tokens[index].text
        if Self.systemCalls.contains(name), functions[name] == nil { return true }
        return isKnownSilent(index, in: body)
    }

    private static let systemCalls: Set = [
        "storyboardWithName", "instantiateViewControllerWithIdentifier", "alloc", "init",
        "initWithUUIDString", "UIStoryboard", "instantiateViewController", "post", "object",
        "postNotificationName", "beginBackgroundTask", "sharedApplication", "performSelector",
        "perform", "asyncAfter", "Name", "Notification", "seconds", "selector", "scheduledTimer",
        "scheduledTimerWithTimeInterval",
    ]

    /// The types of screens that calls show, and the function makes: `present(screen, …)`.
    private func shownScreens(in body: Range<Int>) -> [Int: String] {
        var types: [String: String] = [:]
        var shown: [Int: String] = [:]
        for index in body {
            if text.sees("=", at: index + 1), let type = madeType(index, in: body) {
                types[text.tokens[index].text] = type
            }
            guard ["present", "presentViewController"].contains(text.tokens[index].text),
                let type = text[index + 2].flatMap({ types[$0.text] }),
                text.sees("animated", ":", at: index + 3)
                    || text.sees(",", "animated", at: index + 3)
            else { continue }
            shown[index] = type
        }
        return shown
    }

    /// The type of a new local object: `let call = Call()`, `let call = make() as! Call`, `Call
    /// *call = …`.
    private func madeType(_ name: Int, in body: Range<Int>) -> String? {
        guard !text.isObjectiveC else {
            return text.sees("*", at: name - 1)
                ? text[name - 2].flatMap { $0.isName ? $0.text : nil } : nil
        }
        guard text.sees("let", at: name - 1) else { return nil }
        let value = name + 2..<max(name + 2, text.statementEnd(name, body))
        if let type = text[name + 2], type.isName, type.text.first?.isUppercase == true,
            text.sees("(", at: name + 3), text.partners[name + 3] == value.upperBound - 1
        {
            return type.text
        }
        guard let cast = value.last(where: { text.sees("as", "!", at: $0) }),
            cast + 3 == value.upperBound
        else { return nil }
        return text[cast + 2].flatMap { $0.isName ? $0.text : nil }
    }
}
