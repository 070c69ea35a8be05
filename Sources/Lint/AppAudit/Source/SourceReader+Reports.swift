// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// What in a handler of VoIP pushes may report the call.
extension SourceReader {
    /// Calls that report a phone call to the system.
    static let reports: Set = [
        "reportNewIncomingCall", "reportNewIncomingConversation",
        "reportNewIncomingVoIPPushPayload", "reportNewIncomingCallWithUUID",
    ]

    /// The push, what is made of it, and the state that the app happens to be in.
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

    /// The words in a handler that report a call, or hand the push on to something that could.
    ///
    /// A call whose value is asked for (`guard let call = Call(payload)`) is a question, and counts
    /// only if its name speaks of more.
    func possibleReports(
        in body: Range<Int>, _ inputs: Set<String>, completion: String?
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
        let candidates = body.filter { index in
            let token = text.tokens[index]
            guard token.isName, isCall(index), token.text != completion else { return false }
            if Self.reports.contains(token.text) { return true }
            guard !isIdleCall(index), !endsCall(token.text), !onlyLogs(index) else {
                return false
            }
            return !questions.contains(index) || Self.speaksOfHandling(token.text)
        }
        return withoutPreparations(Set(candidates), in: body, inputs)
    }

    /// The candidates without those that each path meets and that have nothing to do with the push,
    /// such as `configureAudio()`, where others have.
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

    /// The words between the brackets of a call or a message.
    private func arguments(ofCall index: Int) -> Range<Int> {
        if let open = message(around: index) { return text.content(ofBracket: open) }
        return text.content(ofBracket: index + 1)
    }

    /// Whether a word reports a call, or calls a function of this file that does.
    private func reportsCall(_ index: Int) -> Bool {
        let name = text.tokens[index].text
        if Self.reports.contains(name) { return true }
        guard isCall(index) else { return false }
        return Self.speaksOfReport(name)
            || functions[name].map { holdsReport(text.content(ofBracket: $0.open)) } == true
    }

    /// Whether there is a report among these words.
    func holdsReport(_ words: Range<Int>) -> Bool {
        words.contains {
            Self.reports.contains(text.tokens[$0].text)
                || isCall($0) && Self.speaksOfReport(text.tokens[$0].text)
        }
    }

    /// Whether a function reports a call, by its name: `reportIncomingCall`, `showIncoming`.
    private static func speaksOfReport(_ name: String) -> Bool {
        let words = nameParts(name)
        let others = ["end", "ended", "update", "updated", "missed", "outgoing", "notification"]
        guard !words.contains(where: others.contains) else { return false }
        if words.contains("report") {
            return words.contains { ["call", "incoming", "new"].contains($0) }
        }
        return words.contains("incoming")
            && words.contains { ["display", "show", "present"].contains($0) }
    }

    /// Whether a call is one of a function of this file that writes a log and does nothing else.
    private func onlyLogs(_ index: Int) -> Bool {
        guard text[index - 1]?.isMark(".") != true || text.sees("self", ".", at: index - 2),
            let function = onlyFunction(text.tokens[index].text)
        else { return false }
        let body = text.content(ofBracket: function.open)
        let calls = body.filter(isCall)
        return !calls.isEmpty && calls.allSatisfy(isIdleCall)
            && !body.contains { text.tokens[$0].isMark("=") }
    }

    /// Whether a closure makes the value that is assigned: `let name = queue.sync { … }`, and not
    /// `let later = { … }` or `let task = Task { … }`.
    private func makesValue(_ brace: Int) -> Bool {
        guard brace + 1 < text.tokens.count, text.scopeIndices[brace + 1] >= 0 else { return false }
        let scope = text.scopes[text.scopeIndices[brace + 1]]
        guard scope.open == brace, case .closure(let callee?) = scope.kind else { return false }
        return !Self.laterCallees.contains(callee)
    }

    /// Whether a function ends a call, by its name, and does not report one in this file.
    private func endsCall(_ name: String) -> Bool {
        let verbs = ["end", "dismiss", "hangUp", "hangup", "reject", "decline", "stop"]
        let isEnd = verbs.contains { verb in
            guard name.hasPrefix(verb) else { return false }
            return name.dropFirst(verb.count).first.map(\.isUppercase) ?? true
        }
        guard isEnd, !name.lowercased().contains("report") else { return false }
        guard let scope = functions[name] else { return true }
        return !text.content(ofBracket: scope.open).contains {
            Self.reports.contains(text.tokens[$0].text)
        }
    }

    /// Whether a function that answers something does more than that, by its name:
    /// `handlePush`, `didReceiveIncomingCall`, and not `pushType`, `isReported` or `string`.
    private static func speaksOfHandling(_ name: String) -> Bool {
        let words = nameParts(name)
        guard let first = words.first, !["is", "has", "was", "can", "should"].contains(first) else {
            return false
        }
        return words.contains { word in
            verbs.contains { word.hasPrefix($0) && endings.contains(word.dropFirst($0.count)) }
        }
    }

    private static let verbs = [
        "report", "handle", "process", "receive", "present", "display", "show", "ring", "notify",
        "deliver", "forward", "perform", "dispatch", "start",
    ]
    private static let endings: Set<Substring> = ["", "s", "d", "ed", "ing"]
}
