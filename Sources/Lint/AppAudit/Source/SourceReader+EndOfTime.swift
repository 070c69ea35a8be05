// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Determines what ends time in the background.
extension SourceReader {
    /// Whether a token in an expiration handler may end the time. The end of a task of
    /// `BGTaskScheduler` is another one.
    func mayEndTime(at index: Int, depth: Int = 0) -> Bool {
        guard !text.tokens[index].text.hasPrefix("setTaskCompleted") else { return false }
        // `id.map(UIApplication.shared.endBackgroundTask)`
        if text.tokens[index].isName("endBackgroundTask"), !isCall(index) { return true }
        if text.sees("?", "(", at: index + 1) || runsUnseen(index) { return true }
        guard isCall(index), !doesNothing(index), !endsTimer(index), !answersSystem(index) else {
            return false
        }
        guard depth < Self.handovers, let helper = calledFunction(index) else { return true }
        return text.content(ofBracket: helper.open).contains {
            mayEndTime(at: $0, depth: depth + 1)
        }
    }

    /// Whether a call that is not of this file gets an identifier of time, which it may end.
    func handsTimeOn(_ name: String) -> Bool {
        if let known = notes.handedTime[name] { return known }
        let isHanded = text.places(of: name).prefix(AuditLimits.headWords).contains { place in
            let isArgument =
                ["(", ",", ":"].contains { text.sees($0, at: place - 1) }
                && [")", ",", "]"].contains { text.sees($0, at: place + 1) }
            guard isArgument, let (_, body) = function(around: place),
                let call = text.calls(around: place, in: body).first?.name
            else { return false }
            let callee = text.tokens[call].text
            return functions[callee] == nil && !callee.hasPrefix("endBackgroundTask")
                && !callee.hasPrefix("beginBackgroundTask")
                && !Self.collecting.contains(callee) && !isIdleCall(call)
        }
        notes.handedTime[name] = isHanded
        return isHanded
    }

    /// Functions of collections that an identifier is kept in.
    private static let collecting: Set = [
        "addObject", "append", "index", "insert", "indexOfObject", "remove", "removeObject",
        "removeValue", "updateValue",
    ]

    /// Whether a call is one of the completion handler that the system gave a function of the app's
    /// delegate: `fetchCompletionHandler`.
    private func answersSystem(_ index: Int) -> Bool {
        guard !text.sees(".", at: index - 1), let function = outerFunction(of: index),
            case .function(let head) = function.kind, head.name == "application",
            let completion = head.parameters.last, text.tokens[index].isName(completion.name),
            isOfDelegate(function)
        else { return false }
        let hides = text.scopes(around: index).prefix { $0.open > function.open }.contains {
            guard case .closure = $0.kind else { return false }
            let head = text.content(ofBracket: $0.open).prefix(AuditLimits.headWords)
            let end = head.first { text.tokens[$0].isName("in") }
            return end.map { text.tokens[head.lowerBound..<$0] }?
                .contains { $0.isName(completion.name) } == true
        }
        guard !hides else { return false }
        return ["fetchCompletionHandler", "performFetchWithCompletionHandler"]
            .contains(completion.label)
            || head.has("handleEventsForBackgroundURLSession")
                && completion.label == "completionHandler"
    }

    /// Whether a function is one of the class that this file makes the delegate of the app, and
    /// that it launches.
    private func isOfDelegate(_ function: SourceScope) -> Bool {
        guard let name = owner(around: function.head)?.name else { return false }
        let isDelegate =
            text.isObjectiveC
            || text.scopes.contains { scope in
                guard case .type(let head) = scope.kind, head.name == name else { return false }
                return head.inherited.contains("UIApplicationDelegate")
            }
        return isDelegate
            && text.scopes.contains { scope in
                guard case .function(let head) = scope.kind,
                    head.has("didFinishLaunchingWithOptions")
                else { return false }
                return owner(around: scope.head)?.name == name
            }
    }

    /// Whether what a call returns is not kept: `_ = application.beginBackgroundTask …`, or a
    /// statement of its own in a function without a result.
    func isThrownAway(_ index: Int) -> Bool {
        var first = message(around: index) ?? index
        while text.sees(".", at: first - 1), !text.isObjectiveC {
            first -= 2
            while text.sees("?", at: first) || text.sees("!", at: first) { first -= 1 }
            if text.sees(")", at: first), text.partners[first] > 0 {
                first = text.partners[first] - 1
            }
        }
        guard
            text.tokens[first..<index].contains(where: { token in
                ["UIApplication", "sharedApplication", "application"].contains(token.text)
            })
        else { return false }
        while text.sees("await", at: first - 1) { first -= 1 }
        if text.sees("_", "=", at: first - 2) { return true }
        guard let last = text[first - 1] else { return false }
        let isStatement =
            last.isMark(";") || last.isMark("{") || last.isMark("}")
            || !text.isObjectiveC && last.position.line < text.tokens[first].position.line
                && (last.isMark(")") || last.isMark("]") || last.isName)
        guard isStatement, !["return", "in", "else", "try", "is", "as"].contains(last.text) else {
            return false
        }
        for scope in text.scopes(around: index) {
            switch scope.kind {
            case .control:
                // The value of `let id = if isLong { … } else { … }`.
                var head = scope.head
                if text.sees("else", at: head - 1) { head -= 1 }
                while text.sees("}", at: head - 1), text.sees("else", at: head),
                    let last = text.scope(openedAt: text.partners[head - 1]),
                    case .control = last.kind
                {
                    head = last.head
                    if text.sees("else", at: head - 1) { head -= 1 }
                }
                if text.sees("=", at: head - 1) || text.sees("return", at: head - 1) {
                    return false
                }
            case .function:
                return text.isObjectiveC
                    || !(scope.head..<scope.open).contains { text.sees("->", at: $0) }
            case .closure(let callee):
                guard let callee, ["async", "asyncAfter"].contains(callee) else { return false }
                let call = (0..<scope.open).suffix(AuditLimits.headWords).last {
                    text.tokens[$0].isName(callee)
                }
                return call.flatMap { text.call(at: $0) }.map(text.usesValue) == false
            case .type: return false
            }
        }
        return false
    }

    /// Whether a call only stops a timer: `self.timer?.invalidate()`.
    private func endsTimer(_ index: Int) -> Bool {
        guard text.tokens[index].isName("invalidate") else { return false }
        var owner = text.isObjectiveC ? index - 1 : index - 2
        if text.sees("?", at: owner) || text.sees("!", at: owner) { owner -= 1 }
        guard let name = text[owner], name.isName,
            Self.nameParts(name.text).contains("timer")
        else { return false }
        // `var timer: BackgroundTimer?` may be of the app's.
        return text.places(of: name.text).allSatisfy { place in
            !text.sees("var", at: place - 1) || !text.sees(":", at: place + 1)
                || ["Timer", "NSTimer", "DispatchSourceTimer"].contains(text[place + 2]?.text)
        }
    }

    /// Whether a function ends time in the background.
    func endsTime(_ function: SourceScope) -> Bool {
        if let known = notes.endsTime[function.open] { return known }
        let ends = text.content(ofBracket: function.open).contains {
            text.tokens[$0].isName("endBackgroundTask")
        }
        notes.endsTime[function.open] = ends
        return ends
    }

    /// The calls of functions of this file that end time in the background.
    private var endCalls: [Int] {
        if let known = notes.endCalls { return known }
        let calls = text.tokens.indices.filter { word in
            isCall(word) && text[word - 1]?.isName("func") != true
                && functions[text.tokens[word].text].map(endsTime) == true
        }
        notes.endCalls = calls
        return calls
    }

    /// Whether a function ends the time of a property only in closures, and another function calls
    /// what ends it, such as the one that runs when the app returns.
    func endsLaterElsewhere(_ ends: [Int], _ scope: SourceScope) -> Bool {
        let isLater = ends.allSatisfy { end in
            for around in text.scopes(around: end) {
                if case .closure = around.kind { return true }
                if around.open == scope.open { return false }
            }
            return false
        }
        return isLater
            && endCalls.contains {
                !text.tokens[$0].isName("endBackgroundTask")
                    && !(scope.open...scope.close).contains($0)
            }
    }

    /// Whether all that declares a name in this file makes it the application: `let host =
    /// UIApplication.shared`, `var host: UIApplication`, `UIApplication *host`.
    func isApplication(named name: String) -> Bool {
        if let known = notes.applications[name] { return known }
        let declarations = text.places(of: name).compactMap { index -> Bool? in
            if text.isObjectiveC {
                guard text.sees("*", at: index - 1), text[index - 2]?.isName == true else {
                    return nil
                }
                return text.sees("UIApplication", at: index - 2)
            }
            if text.sees(":", at: index + 1) {
                // `f(host: host)` declares nothing.
                guard text[index + 2]?.text.first?.isUppercase == true else { return nil }
                return text.sees("UIApplication", at: index + 2)
                    && !text.sees(".", at: index + 3)
            }
            let isDeclared = text.sees("let", at: index - 1) || text.sees("var", at: index - 1)
            guard isDeclared else { return nil }
            return text.sees("=", "UIApplication", ".", "shared", at: index + 1)
                && !text.sees(".", at: index + 5)
        }
        let isApplication = !declarations.isEmpty && declarations.allSatisfy { $0 }
        notes.applications[name] = isApplication
        return isApplication
    }
}
