// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Determines which tokens in a handler of VoIP pushes may report the call.
extension SourceReader {
    /// Functions that report a call to the system.
    static let reports: Set = [
        "reportNewIncomingCall", "reportNewIncomingConversation",
        "reportNewIncomingVoIPPushPayload", "reportNewIncomingCallWithUUID",
    ]

    /// The names of the push, of values derived from it, and of the app's state.
    func inputNames(
        _ head: SourceScope.FunctionHead, _ body: Range<Int>
    ) -> Set<String> {
        var names: Set = ["dictionaryPayload", "applicationState", "CXCallObserver"]
        names.formUnion(
            head.parameters.filter { parameter in
                ["PKPushPayload", "AnyHashable", "NSDictionary"].contains {
                    parameter.types.contains($0)
                }
            }
            .map(\.name))
        for index in body where text.sees("=", at: index + 1) {
            let line = text.tokens[index].position.line
            let value = (index + 2..<body.upperBound).prefix {
                text.tokens[$0].position.line == line && !text.tokens[$0].isMark("{")
            }
            if text.tokens[index].isName,
                value.contains(where: { names.contains(text.tokens[$0].text) })
            {
                names.insert(text.tokens[index].text)
            }
        }
        return names
    }

    /// The tokens in a handler that report a call, or pass the push to something that could.
    ///
    /// A call whose result is tested (`guard let call = Call(payload)`) is a query, and counts only
    /// if its name means more.
    func possibleReports(
        in body: Range<Int>, _ inputs: Set<String>, _ head: SourceScope.FunctionHead
    ) -> Set<Int> {
        var questions: Set<Int> = []
        for index in body {
            let token = text.tokens[index]
            let isStart =
                token.isName("if") || token.isName("guard") || token.isName("switch")
                || token.isName("while") || token.isMark("=")
            guard isStart else { continue }
            var next = index + 1
            let line = token.position.line
            while next < body.upperBound {
                let word = text.tokens[next]
                if word.isMark(";") || word.isName("else") { break }
                if word.isMark("{"), !token.isMark("=") || !makesValue(next) { break }
                if token.isMark("="), word.position.line > line,
                    !text.tokens[next - 1].isMark("("), !word.isMark("."), !word.isMark(")")
                {
                    break
                }
                if text.partners[next] > next {
                    questions.formUnion(next...text.partners[next])
                    next = text.partners[next]
                }
                questions.insert(next)
                next += 1
            }
        }
        // Closure parameters are completions, unless their names mean more.
        let closures = Set(head.parameters.map(\.name).filter { !Self.speaksOfHandling($0) })
        let completions = Set(
            head.parameters.filter { !Self.closureTypes.isDisjoint(with: $0.types) }.map(\.name))
        let holdsReport = namesReport(body)
        let candidates = body.filter { index in
            let token = text.tokens[index]
            guard token.isName, isCall(index), !closures.contains(token.text) else { return false }
            if Self.reports.contains(token.text) { return true }
            if let older = olderHandler(calledAt: index) { return mayReport(older) }
            // A later part of a message that ends a call: `[calls endCall:id reason:reason]`.
            if let first = firstPart(of: index), endsCall(first, inputs, completions),
                !reportsCall(index)
            {
                return false
            }
            guard !isIdleCall(index), !endsCall(index, inputs, completions), !reportsNothing(index),
                !stopsWaiting(index, inputs), !callsScript(index), !showsAlert(index),
                !setsOption(index, inputs), !requestsTransaction(index),
                !holdsReport || !postsNotification(index)
            else {
                return false
            }
            return !questions.contains(index) || Self.speaksOfHandling(token.text)
                || functions[token.text] == nil && Self.makesCall(token.text)
        }
        return withoutPreparations(
            withoutEmptyDefinitions(Set(candidates), in: body), in: body, inputs)
    }

    /// The handler in the form of iOS 8 that the one with a completion handler calls, if this file
    /// has no others.
    func olderHandler(calledAt index: Int) -> SourceScope? {
        guard text.tokens[index].isName("pushRegistry"), let call = text.call(at: index),
            case .own = call.owner
        else { return nil }
        let handlers = text.scopes.filter { scope in
            guard case .function(let head) = scope.kind else { return false }
            return Self.isVoIPHandler(head)
        }
        guard handlers.count == 2,
            let older = handlers.first(where: { scope in
                guard case .function(let head) = scope.kind else { return false }
                return isSuperseded(head)
            }), !text.content(ofBracket: older.open).contains(index)
        else { return nil }
        return older
    }

    /// Whether something in a handler may report the call.
    private func mayReport(_ handler: SourceScope) -> Bool {
        guard case .function(let head) = handler.kind else { return true }
        let body = text.content(ofBracket: handler.open)
        return !possibleReports(in: body, inputNames(head, body), head).isEmpty
    }

    /// The candidates without calls of local functions and closures that contain none.
    private func withoutEmptyDefinitions(_ candidates: Set<Int>, in body: Range<Int>) -> Set<Int> {
        let empty = LocalDefinitions.names(in: text, body, thatLack: candidates.contains)
        guard !empty.isEmpty else { return candidates }
        return candidates.filter { index in
            text[index - 1]?.isMark(".") == true || !empty.contains(text.tokens[index].text)
        }
    }

    /// The first part of the Objective-C message of which a token is a later part.
    private func firstPart(of index: Int) -> Int? {
        guard let open = message(around: index), let site = text.call(inBracket: open),
            site.name < index, text.isLabel(index)
        else { return nil }
        return site.name
    }

    /// Whether a call cancels something scheduled, regardless of the push: `timeout.cancel()`,
    /// `[self.timer invalidate]`.
    private func stopsWaiting(_ index: Int, _ inputs: Set<String>) -> Bool {
        guard let verb = Self.nameParts(text.tokens[index].text).first,
            ["cancel", "invalidate"].contains(verb)
        else { return false }
        return !arguments(ofCall: index).contains { inputs.contains(text.tokens[$0].text) }
    }

    /// Whether a call only passes the push to JavaScript or Dart, which run after the handler has
    /// returned, or creates the value that is passed.
    private func callsScript(_ index: Int) -> Bool {
        guard text.isObjectiveC else {
            switch text.tokens[index].text {
            case "notifyListeners", "sendPluginResult": return true
            case "sendEvent": return text.sees("(", "withName", ":", at: index + 1)
            case "invokeMethod": return text.sees("(", at: index + 1)
            default: return false
            }
        }
        // The parts of the message, and nested messages.
        var around = message(around: index)
        while let open = around {
            let words = text.content(ofBracket: open)
            var word = words.lowerBound
            while word < words.upperBound {
                if Self.scriptMessages.contains(text.tokens[word].text) { return true }
                word = text.skipBracket(word, words)
            }
            around = message(around: open)
        }
        let name = text.tokens[index].text
        return name.hasPrefix("setKeepCallback") || name.hasPrefix("resultWithStatus")
            || name.hasPrefix("messageAs")
    }

    private static let scriptMessages: Set = [
        "sendPluginResult", "sendEventWithName", "invokeMethod", "notifyListeners",
        "resultWithStatus",
    ]

    /// Whether a call asks for an action of a known call: `CXCallController().request(end) { }`.
    private func requestsTransaction(_ index: Int) -> Bool {
        let name = text.tokens[index].text
        guard ["request", "requestTransaction"].contains(name), functions[name] == nil else {
            return false
        }
        if text.sees("CXCallController", "(", ")", ".", at: index - 4) { return true }
        return text.call(at: index)?.owner == .typed("CXCallController")
    }

    /// Whether a call only posts a notification in the app.
    func postsNotification(_ index: Int) -> Bool {
        guard text.tokens[index].text.hasPrefix("post") else { return false }
        return (max(0, index - 6)..<index).contains {
            ["NotificationCenter", "NSNotificationCenter"].contains(text.tokens[$0].text)
        }
    }

    /// The candidates without those on each path that do not use the push, such as
    /// `configureAudio()`, if others use it.
    private func withoutPreparations(
        _ candidates: Set<Int>, in body: Range<Int>, _ inputs: Set<String>
    ) -> Set<Int> {
        guard body.contains(where: { reportsCall($0) }) else { return candidates }
        let level = text.scopeIndices[body.lowerBound]
        return candidates.filter { index in
            text.scopeIndices[index] != level || reportsCall(index)
                || Self.speaksOfHandling(text.tokens[index].text)
                || arguments(ofCall: index).contains { inputs.contains(text.tokens[$0].text) }
        }
    }

    /// The start of the Objective-C message that contains a token: each part of a selector
    /// resembles a call.
    func message(around index: Int) -> Int? {
        guard text.isObjectiveC else { return nil }
        return text.tokens.indices[..<index].suffix(AuditLimits.headWords).last {
            text.tokens[$0].isMark("[") && text.partners[$0] > index
        }
    }

    /// The tokens between the brackets of a call or a message.
    private func arguments(ofCall index: Int) -> Range<Int> {
        if let open = message(around: index) { return text.content(ofBracket: open) }
        return text.content(ofBracket: index + 1)
    }

    /// Whether a token reports a call, or calls a function of this file that does.
    func reportsCall(_ index: Int) -> Bool {
        let name = text.tokens[index].text
        if Self.reports.contains(name) { return true }
        guard isCall(index) else { return false }
        return Self.speaksOfReport(name) && !speaksOfKnownCall(index)
            || functions[name].map(holdsReport) == true
    }

    /// Whether a function of this file contains a report.
    func holdsReport(_ function: SourceScope) -> Bool {
        if let known = notes.holdsReport[function.open] { return known }
        let holds = holdsReport(text.content(ofBracket: function.open))
        notes.holdsReport[function.open] = holds
        return holds
    }

    /// Whether these tokens name a function of the system that reports a call.
    func namesReport(_ words: Range<Int>) -> Bool {
        words.contains { Self.reports.contains(text.tokens[$0].text) }
    }

    /// Whether these tokens contain a report.
    func holdsReport(_ words: Range<Int>) -> Bool {
        words.contains {
            Self.reports.contains(text.tokens[$0].text)
                || isCall($0) && Self.speaksOfReport(text.tokens[$0].text)
                    && !speaksOfKnownCall($0)
        }
    }

    /// Whether a function reports a call, by its name: `reportIncomingCall`, `showIncoming`.
    static func speaksOfReport(_ name: String) -> Bool {
        let words = nameParts(name)
        let others = ["end", "ended", "update", "updated", "missed", "outgoing", "notification"]
        guard !words.contains(where: others.contains) else { return false }
        if words.contains("report") {
            return words.contains { ["call", "incoming", "new"].contains($0) }
        }
        return words.contains("incoming")
            && words.contains { ["display", "show", "present"].contains($0) }
    }

    /// Whether a call is of a function of this file that, with those that it calls, only logs,
    /// calls a script or completes.
    private func reportsNothing(_ index: Int, depth: Int = 0) -> Bool {
        let name = text.tokens[index].text
        let isPlain = text[index - 1]?.isMark(".") != true || text.sees("self", ".", at: index - 2)
        // `Script.shared.report(push)`: the type may be in this file too.
        guard depth < Self.handovers,
            let function = isPlain ? onlyFunction(name) : calledFunction(index),
            case .function(let head) = function.kind
        else { return false }
        if let known = notes.reportsNothing[function.open] { return known }
        // What calls itself is asked once.
        notes.reportsNothing[function.open] = false
        let body = text.content(ofBracket: function.open)
        let closures = Set(head.parameters.map(\.name).filter { !Self.speaksOfHandling($0) })
        let calls = body.filter(isCall)
        let isSilent =
            !calls.isEmpty
            && calls.allSatisfy {
                isIdleCall($0) || callsScript($0) || showsAlert($0)
                    || closures.contains(text.tokens[$0].text)
                    || Self.screenFunctions.contains(text.tokens[$0].text)
                    || reportsNothing($0, depth: depth + 1)
            }
            && !setsForeignValue(in: body) && !body.contains(where: hidesCall)
        notes.reportsNothing[function.open] = isSilent
        return isSilent
    }

    /// Functions of the system that only change the screen.
    private static let screenFunctions: Set = [
        "reloadData", "performSegue", "pushViewController", "popViewController",
        "popToRootViewController", "dismiss", "setNeedsDisplay", "setNeedsLayout",
        "layoutIfNeeded", "instantiateViewController", "addSubview", "beginUpdates", "endUpdates",
        "endRefreshing", "stopAnimating", "startAnimating",
    ]

    /// Whether a function gets a push, and nothing else but what completes.
    static func takesPushAlone(_ head: SourceScope.FunctionHead) -> Bool {
        let others = head.parameters.filter { !takesPush($0) }
        return head.parameters.count == others.count + 1
            && others.allSatisfy {
                !$0.types.filter(["escaping", "Void", "void"].contains).isEmpty
            }
    }

    /// Whether a parameter is a push, or its payload.
    private static func takesPush(_ parameter: SourceScope.FunctionHead.Parameter) -> Bool {
        parameter.types == ["PKPushPayload"] || parameter.types == ["NSDictionary"]
            || parameter.types.contains("AnyHashable")
    }

    /// Whether a call shows an alert, or adds a button to one: `present(alert, animated: true)`.
    private func showsAlert(_ index: Int) -> Bool {
        let name = text.tokens[index].text
        if name == "addAction" { return true }
        guard ["present", "presentViewController"].contains(name),
            text.sees("(", at: index + 1) || text.sees(":", at: index + 1),
            let alert = text[index + 2], alert.isName
        else { return false }
        return (max(0, index - AuditLimits.headWords)..<index).contains {
            text.sees(alert.text, "=", "UIAlertController", at: $0)
                || text.sees(alert.text, "=", "[", "UIAlertController", at: $0)
        }
    }

    /// Whether a call sets or reads an option, by its name, and does not get the push:
    /// `setConfigInt(1, forKey: "count")`.
    private func setsOption(_ index: Int, _ inputs: Set<String>) -> Bool {
        let words: Set = [
            "config", "preference", "preferences", "defaults", "setting", "settings",
        ]
        return Self.nameParts(text.tokens[index].text).contains(where: words.contains)
            && !arguments(ofCall: index).contains { inputs.contains(text.tokens[$0].text) }
    }

    /// Whether a completion handler is handed to a report of a library that always calls it:
    /// `RNCallKeep.reportNewIncomingCall(…, withCompletionHandler: completion)`.
    func isCompleted(byReportAt index: Int) -> Bool {
        guard text.sees("withCompletionHandler", ":", at: index - 2),
            let open = (max(0, index - AuditLimits.headWords)..<index).last(where: {
                text.partners[$0] > index
            })
        else { return false }
        return text.sees("RNCallKeep", "reportNewIncomingCall", at: open + 1)
            || text.sees("RNCallKeep", ".", "reportNewIncomingCall", at: open - 3)
    }

    /// Whether a function sets a value that is neither new nor a property of an object that it
    /// makes: `content.title = name` is one.
    func setsForeignValue(in body: Range<Int>) -> Bool {
        if text.isObjectiveC { return body.contains(where: setsForeignProperty) }
        let equals = body.filter { text.tokens[$0].isMark("=") && !declares($0) }
        if equals.isEmpty { return false }
        let made = Set(
            body.filter { text.tokens[$0].isName("let") && text.sees("=", at: $0 + 2) }
                .map { text.tokens[$0 + 1].text })
        return equals.contains { place in
            var name = place - 1
            while text.sees(".", at: name - 1) { name -= 2 }
            guard name < place - 1, let owner = text[name] else { return true }
            return !owner.isName || !made.contains(owner.text)
        }
    }

    /// Whether an equals sign initializes a new name: `let channel = …`, `if let view = …`.
    func declares(_ equals: Int) -> Bool {
        let line = text.tokens[equals].position.line
        return (max(0, equals - AuditLimits.headWords)..<equals).reversed()
            .prefix { word in
                text.tokens[word].position.line == line
                    && !["{", "}", ";", "else"].contains { text.sees($0, at: word) }
            }
            .contains { text.tokens[$0].isName("let") || text.tokens[$0].isName("var") }
    }

    /// Whether a closure computes the assigned value: `let name = queue.sync { … }`, but not `let
    /// later = { … }` or `let task = Task { … }`.
    private func makesValue(_ brace: Int) -> Bool {
        guard brace + 1 < text.tokens.count, text.scopeIndices[brace + 1] >= 0 else { return false }
        let scope = text.scopes[text.scopeIndices[brace + 1]]
        guard scope.open == brace, case .closure(let callee?) = scope.kind else { return false }
        return !Self.laterCallees.contains(callee)
    }

    /// Whether a call ends one that was reported, by its name, or by the reason that it gets if it
    /// does not get the push too, and the function reports none in this file.
    private func endsCall(
        _ index: Int, _ inputs: Set<String>, _ completions: Set<String>
    ) -> Bool {
        let name = text.tokens[index].text
        let isEnd = Self.endingVerbs.contains { verb in
            guard name.hasPrefix(verb) else { return false }
            return name.dropFirst(verb.count).first.map(\.isUppercase) ?? true
        }
        let getsPush = arguments(ofCall: index).contains { inputs.contains(text.tokens[$0].text) }
        guard isEnd || name.hasPrefix("disconnect") && !getsPush || !getsPush && getsReason(index),
            !name.lowercased().contains("report")
        else { return false }
        // What gets the completion handler, in another file, may report the call before it ends it.
        guard let scope = functions[name] else {
            return !arguments(ofCall: index).contains {
                completions.contains(text.tokens[$0].text)
            }
        }
        return !namesReport(text.content(ofBracket: scope.open)) && !leadsToReport(scope)
    }

    private static let closureTypes: Set = ["escaping", "Void", "void"]
    private static let endingVerbs = [
        "end", "dismiss", "hangUp", "hangup", "reject", "decline", "stop",
    ]

    /// Whether a call gets why a call ended: `close(reason: .remoteEnded)`.
    private func getsReason(_ index: Int) -> Bool {
        let reasons: Set = [
            "remoteEnded", "unanswered", "answeredElsewhere", "declinedElsewhere",
        ]
        let words = arguments(ofCall: index)
        var word = words.lowerBound
        while word < words.upperBound {
            let name = text.tokens[word].text
            if name.hasPrefix("CXCallEndedReason")
                || reasons.contains(name) && text.sees(".", at: word - 1)
            {
                return true
            }
            word = text.skipBracket(word, words)
        }
        return false
    }

    /// Whether a function with a result also handles the push, by its name: `handlePush`,
    /// `didReceiveIncomingCall`, but not `pushType`, `isReported` or `string`.
    private static func speaksOfHandling(_ name: String) -> Bool {
        let words = nameParts(name)
        guard let first = words.first, !["is", "has", "was", "can", "should"].contains(first) else {
            return false
        }
        return words.contains { word in
            verbs.contains { word.hasPrefix($0) && endings.contains(word.dropFirst($0.count)) }
        }
    }

    /// Whether a function with a result makes a call, which it may report: `addIncomingCall`.
    private static func makesCall(_ name: String) -> Bool {
        let words = nameParts(name)
        return words.last == "call"
            && ["add", "make", "create", "new", "begin", "accept"].contains(words.first)
    }

    private static let verbs = [
        "report", "handle", "process", "receive", "present", "display", "show", "ring", "notify",
        "deliver", "forward", "perform", "dispatch", "start",
    ]
    private static let endings: Set<Substring> = ["", "s", "d", "ed", "ing"]

    /// The first path without a report in a function that reports the call for the handler, or for
    /// another function.
    func reportGap(
        behind helper: SourceScope, _ head: SourceScope.FunctionHead,
        _ strictness: CompletionPaths.Strictness, depth: Int
    ) -> Int? {
        let question = FunctionNotes.ReportGap(
            function: helper.open, depth: depth, strictness: strictness)
        if let known = notes.reportGaps[question] { return known }
        let body = text.content(ofBracket: helper.open)
        var own = strictness
        own.startsAnew = false
        own.inputNames = inputNames(head, body)
        // The type of the push is a parameter, and not what else has its name.
        own.exemptNames = Self.voipStrictness.exemptNames.union(
            head.parameters.map(\.name).filter(strictness.exemptNames.contains))
        if Self.isVoIPHandler(head), let type = head.parameters.last?.name {
            own.exemptNames.insert(type)
        }
        let inner = possibleReports(in: body, own.inputNames, head)
        let gap =
            CompletionPaths(text, body: helper, own, settles: inner.contains).gaps.min()
            ?? reportGap(inHelpersOf: helper, inner, strictness, depth: depth + 1)
        notes.reportGaps[question] = .some(gap)
        return gap
    }
}
