// SPDX-License-Identifier: Apache-2.0

/// Determines what certainly only logs.
extension SourceReader {
    /// Whether code certainly does nothing but log, besides calling a completion handler. A getter
    /// may do more, but rarely does.
    func onlyLogs(_ body: Range<Int>, _ completion: String?) -> Bool {
        onlyLogs(body, completion, besides: [])
    }

    private func onlyLogs(
        _ body: Range<Int>, _ completion: String?, besides excused: Set<Int>
    ) -> Bool {
        body.allSatisfy { index in
            if excused.contains(index) { return true }
            let token = text.tokens[index]
            if token.isMark("=") { return declares(index) }
            if hidesCall(index) || token.isName("await") || token.isName("try") { return false }
            return !isCall(index) || token.text == completion || isConversion(index)
                || isCertainLog(index)
        }
    }

    /// Whether the handler of a push only logs, besides what it does while the app is in the
    /// foreground, for which iOS wakes no app.
    func worksInForegroundOnly(_ body: Range<Int>, _ completion: String?) -> Bool {
        let parts = partsForForeground(in: body)
        return !parts.isEmpty && onlyLogs(body, completion, besides: parts)
    }

    /// The tokens of what runs only in the foreground, and of the question for it: `if
    /// application.applicationState == .active {`.
    private func partsForForeground(in body: Range<Int>) -> Set<Int> {
        var found: Set<Int> = []
        for index in body where text.tokens[index].isName("if") && !found.contains(index) {
            guard let block = text.block(after: index, body), text.sees("{", at: block.open) else {
                continue
            }
            let open = block.open
            let active = "UIApplicationStateActive"
            let isAsked =
                text.sees("applicationState", "==", ".", "active", at: open - 4)
                || text.sees("applicationState", "==", active, ")", at: open - 4)
                || text.sees("applicationState", "]", "==", active, ")", at: open - 5)
            let others: Set = ["||", "!"]
            guard isAsked,
                !(index..<open).contains(where: { others.contains(text.tokens[$0].text) })
            else { continue }
            // `[UIApplication sharedApplication].applicationState == UIApplicationStateActive) {`
            let isShared = text.sees("UIApplication", "sharedApplication", "]", at: open - 8)
            found.formUnion(open - (isShared ? 8 : 5)..<max(open, block.body.upperBound))
        }
        return found
    }

    private func isConversion(_ index: Int) -> Bool {
        ["String", "Int", "Double", "Bool"].contains(text.tokens[index].text)
            && !text.sees(".", at: index - 1)
            || text.tokens[index].isName("stringWithFormat")
    }

    /// Whether it is a call of a logger of the system, or of a library that only logs:
    /// `Logger.push.info(…)`, `os_log(…)`.
    func isCertainLog(_ index: Int) -> Bool {
        let name = text.tokens[index].text
        guard text.sees(".", at: index - 1) else {
            return functions[name] == nil
                && (Self.logFunctions.contains(name) || name.hasPrefix("os_log")
                    || Self.lumberjack.contains(name))
        }
        guard Self.logVerbs.contains(name) else { return false }
        var owner = index
        while text.sees(".", at: owner - 1) {
            owner -= 2
            if text.sees("?", at: owner) { owner -= 1 }
            if text.sees(")", at: owner), text.partners[owner] > 0 {
                owner = text.partners[owner] - 1
            }
            if text.sees("self", ".", at: owner - 2) { break }
        }
        guard let first = text[owner], first.isName else { return false }
        if Self.loggers.contains(first.text) { return !isType(first.text) }
        return owner == index - 2 && isLogger(first.text)
    }

    /// Whether each declaration of a name in this file is of a logger.
    private func isLogger(_ name: String) -> Bool {
        let declared = text.places(of: name).filter {
            text.sees("let", at: $0 - 1) || text.sees("var", at: $0 - 1)
        }
        return !declared.isEmpty
            && declared.allSatisfy { place in
                guard text.sees("=", at: place + 1) || text.sees(":", at: place + 1),
                    let type = text[place + 2]?.text
                else { return false }
                return Self.loggers.contains(type) && !isType(type)
            }
    }

    private func isType(_ name: String) -> Bool {
        text.scopes.contains { scope in
            // An extension adds loggers to the type of the system.
            guard case .type(let head) = scope.kind, head.name == name else { return false }
            return !text.tokens[scope.head].isName("extension")
        }
    }

    /// Whether a call ends nothing and starts nothing: an idle one, or one of a function of this
    /// file that only logs, and that no type overrides.
    func doesNothing(_ index: Int) -> Bool {
        guard let helper = calledFunction(index) else { return isIdleCall(index) }
        if let known = notes.onlyLogs[helper.open] { return known }
        let onlyLogs = isFixed(helper) && onlyLogs(text.content(ofBracket: helper.open), nil)
        notes.onlyLogs[helper.open] = onlyLogs
        return onlyLogs
    }

    /// Whether a call is of a function of this file that only submits a further request for a task,
    /// which stops none that runs.
    func onlyAsksAgain(_ index: Int) -> Bool {
        // Another file may have a function of this name with other parameters.
        guard let helper = calledFunction(index), case .function(let head) = helper.kind,
            let site = text.call(at: index), site.arguments.count == head.parameters.count,
            zip(site.arguments, head.parameters).allSatisfy({ ($0.label ?? "_") == $1.label })
        else { return false }
        if let known = notes.asksAgain[helper.open] { return known }
        let asksAgain =
            !isAlsoValue(head.name) && onlyAsksAgain(text.content(ofBracket: helper.open))
            && (isFixed(helper) || hasPrivateInitializersOnly(around: helper))
        notes.asksAgain[helper.open] = asksAgain
        return asksAgain
    }

    /// Whether a variable or a parameter has the name of a function.
    private func isAlsoValue(_ name: String) -> Bool {
        text.places(of: name).contains {
            text.sees("let", at: $0 - 1) || text.sees("var", at: $0 - 1)
                || text.sees(":", at: $0 + 1)
        }
    }

    private func onlyAsksAgain(_ body: Range<Int>) -> Bool {
        guard !text.places(of: "submit", in: body).isEmpty else { return false }
        var requests: Set<String> = []
        return body.allSatisfy { index in
            let token = text.tokens[index]
            if token.isMark("=") {
                if let request = request(madeAt: index) { requests.insert(request) }
                return declaresPlainly(index) || sets(requests, index)
            }
            if hidesCall(index) || token.isName("await") { return false }
            return !isCall(index) || isConversion(index) || isCertainLog(index)
                || Self.requestTypes.contains(token.text)
                || ["submit", "cancel"].contains(token.text)
                    && text.sees("BGTaskScheduler", ".", "shared", ".", at: index - 4)
        }
    }

    /// Whether an equals sign stands behind a new name: `let date = …`.
    func declaresPlainly(_ equals: Int) -> Bool {
        text.sees("let", at: equals - 2) || text.sees("var", at: equals - 2)
    }

    /// The name of a new request for a task: `let request = BGAppRefreshTaskRequest(…)`.
    private func request(madeAt equals: Int) -> String? {
        guard declaresPlainly(equals), let type = text[equals + 1]?.text,
            type.hasPrefix("BG"), Self.requestTypes.contains(type)
        else { return nil }
        return text[equals - 1]?.text
    }

    /// Whether an equals sign sets a value of one of some requests: `request.earliestBeginDate =`.
    private func sets(_ requests: Set<String>, _ equals: Int) -> Bool {
        guard text.sees(".", at: equals - 2), !text.sees(".", at: equals - 4),
            let value = text[equals - 1]?.text, let owner = text[equals - 3]?.text
        else { return false }
        return requests.contains(owner) && Self.requestValues.contains(value)
    }

    /// Whether a function is of a class of this file whose initializers are all private, so that
    /// only this file could have a subclass, and has none.
    private func hasPrivateInitializersOnly(around function: SourceScope) -> Bool {
        guard let type = text.scopes(around: function.open).first(where: { _ in true }),
            case .type(let head) = type.kind, text.tokens[type.head].text == "class"
        else { return false }
        if let known = notes.hasPrivateInitializersOnly[type.open] { return known }
        let isPrivate = hasPrivateInitializersOnly(type, head)
        notes.hasPrivateInitializersOnly[type.open] = isPrivate
        return isPrivate
    }

    private func hasPrivateInitializersOnly(
        _ type: SourceScope, _ head: SourceScope.TypeHead
    ) -> Bool {
        let hasOther = text.scopes.contains { scope in
            guard case .type(let other) = scope.kind else { return false }
            return other.inherited.contains(head.name)
                || other.name == head.name && scope.open != type.open
        }
        guard !hasOther else { return false }
        let initializers = text.scopes.filter { scope in
            guard case .function(let function) = scope.kind else { return false }
            return function.name == "init"
                && text.scopes(around: scope.open).first(where: { _ in true })?.open == type.open
        }
        return !initializers.isEmpty
            && initializers.allSatisfy {
                let words = modifiers(before: $0.head)
                return words.contains("private") && !words.contains("convenience")
            }
    }

    private static let requestTypes: Set = [
        "BGAppRefreshTaskRequest", "BGProcessingTaskRequest", "Date", "addingTimeInterval",
    ]

    /// Whether nothing takes the place of a function: it is private, in a final class, or in what
    /// has no subclasses.
    private func isFixed(_ function: SourceScope) -> Bool {
        guard !text.isObjectiveC else { return false }
        let own = modifiers(before: function.head)
        if own.contains("private") || own.contains("fileprivate") { return true }
        guard let type = text.scopes(around: function.open).first(where: { _ in true }),
            case .type = type.kind
        else { return false }
        return ["struct", "actor", "enum"].contains(text.tokens[type.head].text)
            || modifiers(before: type.head).contains("final")
    }

    /// Whether a call is of a logger by its name, or by that of what it is of.
    func speaksOfLog(_ index: Int) -> Bool {
        var word = index
        while Self.logWords.isDisjoint(with: Self.nameParts(text.tokens[word].text)) {
            guard text.sees(".", at: word - 1), text[word - 2]?.isName == true else { return false }
            word -= 2
        }
        return true
    }

    private static let logFunctions: Set = ["print", "debugPrint", "dump", "NSLog"]
    private static let lumberjack: Set = [
        "DDLogError", "DDLogWarn", "DDLogInfo", "DDLogDebug", "DDLogVerbose",
    ]
    private static let loggers: Set = ["Logger", "OSLog"]
    private static let logVerbs: Set = [
        "log", "info", "debug", "error", "notice", "warning", "trace", "fault", "critical",
    ]
}
