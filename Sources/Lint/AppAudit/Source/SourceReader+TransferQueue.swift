// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Finds completion handlers of the events of background sessions that are called on the queue of
/// the session, and not on the main one.
extension SourceReader {
    /// A property that keeps the completion handler of such events, or one that is called.
    struct TransferKeeper: Hashable, Sendable {
        let name: String
        /// The type around the assignment or the call.
        let type: String?
        /// Whether it is one of the own object.
        let isOwn: Bool

        /// Whether a call of one may be of the property that another one is.
        func isCalled(by call: TransferKeeper) -> Bool {
            name == call.name && (isOwn && call.isOwn ? type == call.type : true)
        }
    }

    /// Reads the end of a background session's events in the delegate of a session with a queue of
    /// its own.
    mutating func readEndOfEvents(_ head: SourceScope.FunctionHead, _ scope: SourceScope) {
        let isEnd =
            text.isObjectiveC
            ? head.name == "URLSessionDidFinishEventsForBackgroundURLSession"
            : head.name == "urlSessionDidFinishEvents" && head.has("forBackgroundURLSession")
        // Many are of many sessions.
        guard isEnd, text.places(of: head.name).count <= 16, !isOfMainActor(scope),
            hasOnlyOwnQueues(owner(around: scope.head)?.name)
        else { return }
        let body = text.content(ofBracket: scope.open)
        guard !body.contains(where: { text.tokens[$0].text.hasPrefix("isMainThread") }),
            digest.entries.count < AuditLimits.observationsPerFile
        else { return }
        for call in body where isDirectly(call, in: scope) {
            guard let keeper = calledKeeper(call, body) else { continue }
            see(.fault(.transferCompletionOffMain), at: call)
            digest.entries[digest.entries.count - 1].transferKeeper = keeper
            return
        }
    }

    /// The property that gets a completion handler: `self.done = handler`, `shared.done = handler`,
    /// `handlers[identifier] = handler`, `[shared setDone:handler]`.
    func transferKeeper(_ use: Int) -> TransferKeeper? {
        let isCopied = text.sees("[", at: use - 1) && text.sees("copy", "]", at: use + 1)
        let equals = isCopied ? use - 2 : use - 1
        let type = owner(around: use)?.name
        if text.isObjectiveC, text.sees(":", at: equals), text.sees("]", at: use + 1),
            let setter = text[equals - 1]?.text, setter.hasPrefix("set"), setter.count > 3
        {
            let name = setter.dropFirst(3)
            return TransferKeeper(
                name: name.prefix(1).lowercased() + name.dropFirst(), type: type,
                isOwn: text.sees("[", "self", at: equals - 3))
        }
        guard text.sees("=", at: equals) else { return nil }
        var last = equals - 1
        if text.sees("]", at: last), text.partners[last] > 0 { last = text.partners[last] - 1 }
        return keeper(at: last, type)
    }

    /// The property whose name is at a token.
    private func keeper(at index: Int, _ type: String?) -> TransferKeeper? {
        guard let name = text[index], name.isName else { return nil }
        let isOfSelf = text.sees("self", at: index - 2) && !text.sees(".", at: index - 3)
        let bare = name.text.hasPrefix("_") ? String(name.text.dropFirst()) : name.text
        return TransferKeeper(
            name: bare, type: type, isOwn: !text.sees(".", at: index - 1) || isOfSelf)
    }

    /// The property whose value a token calls without arguments: itself, or a local name of it.
    private func calledKeeper(_ call: Int, _ body: Range<Int>) -> TransferKeeper? {
        guard text.tokens[call].isName else { return nil }
        let open = text.sees("?", at: call + 1) || text.sees("!", at: call + 1) ? 2 : 1
        guard text.sees("(", ")", at: call + open) else { return nil }
        let type = owner(around: call)?.name
        guard !text.sees(".", at: call - 1), let equals = localValue(of: call, body) else {
            return functions[text.tokens[call].text] == nil ? keeper(at: call, type) : nil
        }
        // `= (UIApplication.shared.delegate as? AppDelegate)?.done`, `= handlers.removeValue(…)`
        let end = text.statementEnd(equals, body)
        let value = (equals + 1..<end).prefix {
            !text.tokens[$0].isMark(",") && !text.tokens[$0].isMark("{")
                && !text.tokens[$0].isName("else")
        }
        var index = value.last ?? equals
        while index > equals {
            if text.sees(")", at: index) || text.sees("]", at: index), text.partners[index] > equals
            {
                index = text.partners[index] - 1
                if text.sees("removeValue", at: index) { index -= 2 }
                continue
            }
            if text.tokens[index].isName { return keeper(at: index, type) }
            guard ["?", "!", ";"].contains(where: text.tokens[index].isMark) else { return nil }
            index -= 1
        }
        return nil
    }

    /// The equals sign of the declaration of a local name: `let done =`, `void (^done)(void) =`.
    private func localValue(of call: Int, _ body: Range<Int>) -> Int? {
        let name = text.tokens[call].text
        for index in body where index < call && text.tokens[index].isName(name) {
            if text.sees("let", at: index - 1) || text.sees("var", at: index - 1) {
                return text.sees("=", at: index + 1) ? index + 1 : nil
            }
            if text.isObjectiveC, text.sees("^", at: index - 1), text.sees(")", "(", at: index + 1)
            {
                let close = text.partners[index + 2]
                return close > 0 && text.sees("=", at: close + 1) ? close + 1 : nil
            }
        }
        return nil
    }

    /// Whether a token is in no closure of a function.
    private func isDirectly(_ index: Int, in function: SourceScope) -> Bool {
        for scope in text.scopes(around: index) {
            if scope.open == function.open { return true }
            guard case .control = scope.kind else { return false }
        }
        return false
    }

    /// Whether a function, or its type, says that it is of the main actor.
    private func isOfMainActor(_ scope: SourceScope) -> Bool {
        guard !text.isObjectiveC else { return false }
        return text.scopes(around: scope.open).contains { around in
            switch around.kind {
            case .function, .type: modifiers(before: around.head).contains("MainActor")
            case .control, .closure: false
            }
        }
    }

    /// Whether this file makes background sessions with an object of this type as their delegate,
    /// and all sessions of it have queues of their own.
    private func hasOnlyOwnQueues(_ type: String?) -> Bool {
        var isBackground = false
        let makers =
            text.isObjectiveC
            ? text.places(of: "sessionWithConfiguration")
            : text.places(of: "URLSession").filter {
                sessionBracket($0).map { text.sees("(", at: $0) } == true
            }
        guard text.places(of: "underlyingQueue").isEmpty else { return false }
        for maker in makers.prefix(AuditLimits.headWords) {
            let name = text.isObjectiveC ? maker : (sessionBracket(maker) ?? maker) - 1
            guard let site = text.call(at: name) else { return false }
            func argument(_ label: String) -> Range<Int>? {
                site.arguments.first { $0.label == label }.map { argument in
                    text.isObjectiveC
                        ? argument.range
                        : min(
                            argument.range.lowerBound + 2, argument.range.upperBound)..<argument
                            .range.upperBound
                }
            }
            guard let delegate = argument("delegate") else { continue }
            guard isSelf(delegate), owner(around: maker)?.name == type,
                let queue = argument("delegateQueue"), isOwnQueue(queue)
            else { return false }
            let configuration = argument(
                text.isObjectiveC ? "sessionWithConfiguration" : "configuration")
            isBackground = isBackground || configuration.map(isBackgroundConfiguration) == true
        }
        return isBackground
    }

    private func isSelf(_ value: Range<Int>) -> Bool {
        guard value.count == 1, let name = text[value.lowerBound] else { return false }
        // `__weak __typeof(self) weakSelf = self;`
        return name.isName("self")
            || text.places(of: name.text).contains { text.sees("=", "self", ";", at: $0 + 1) }
    }

    /// The name of a variable or of an own property: `queue`, `self.queue`.
    private func variableName(_ value: Range<Int>) -> String? {
        let isOfSelf = value.count == 3 && text.sees("self", ".", at: value.lowerBound)
        guard value.count == 1 || isOfSelf else { return nil }
        return text[value.upperBound - 1].flatMap { $0.isName ? $0.text : nil }
    }

    /// Whether all that this file sets a name to is accepted, and it does at least once; `nil` for
    /// a declaration without a value is none.
    private func isAlwaysSet(_ name: String, to accepts: (Int) -> Bool) -> Bool {
        let bare = name.hasPrefix("_") ? String(name.dropFirst()) : name
        let values = [bare, "_" + bare].flatMap { text.places(of: $0) }.compactMap { index in
            if text.sees("=", at: index + 1) { return index + 2 }
            // `let queue: OperationQueue =`
            let isTyped = text.sees(":", at: index + 1) && text.sees("=", at: index + 3)
            return isTyped && !text.isLabel(index) ? index + 4 : nil
        }
        return !values.isEmpty
            && values.allSatisfy { accepts($0) || text.sees("nil", at: $0) }
            && values.contains(where: accepts)
    }

    /// Whether a delegate's queue is none, so that the session makes one, or one that this file
    /// makes.
    private func isOwnQueue(_ value: Range<Int>) -> Bool {
        if value.count == 1, text.sees("nil", at: value.lowerBound) { return true }
        if makesQueue(value.lowerBound) { return true }
        return variableName(value).map { isAlwaysSet($0, to: makesQueue) } == true
    }

    /// Whether a value is a new queue: `OperationQueue()`, `[[NSOperationQueue alloc] init]`.
    private func makesQueue(_ index: Int) -> Bool {
        text.sees("OperationQueue", "(", ")", at: index) && !text.sees(".", at: index + 3)
            || text.sees("[", "[", "NSOperationQueue", "alloc", "]", "init", "]", at: index)
            || text.sees("[", "NSOperationQueue", "new", "]", at: index)
    }

    /// Whether a configuration is one of a background session.
    private func isBackgroundConfiguration(_ value: Range<Int>) -> Bool {
        func isBackground(_ index: Int) -> Bool {
            if text.isObjectiveC {
                return text.sees("[", "NSURLSessionConfiguration", at: index)
                    && text[index + 2]?.text.hasPrefix("backgroundSessionConfiguration") == true
            }
            let dot = text.sees("URLSessionConfiguration", at: index) ? index + 1 : index
            return text.sees(".", "background", "(", "withIdentifier", ":", at: dot)
        }
        return isBackground(value.lowerBound)
            || variableName(value).map { isAlwaysSet($0, to: isBackground) } == true
    }
}
