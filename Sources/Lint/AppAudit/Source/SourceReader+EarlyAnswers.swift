// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Finds handlers of silent pushes that answer while their own work still runs.
extension SourceReader {
    static let requests: Set = ["dataTask", "downloadTask", "uploadTask"]

    /// The first answer behind work that has not ended: a task that nothing waits for, or a request
    /// with a closure. An asynchronous handler returns its answer.
    func earlyAnswer(_ completion: String?, in handler: SourceScope, _ body: Range<Int>) -> Int? {
        unwaitedAnswers(completion, in: handler, body).first { call in
            let isOfNewData = says(["newData", "UIBackgroundFetchResultNewData"], call, body)
            let last = isPlain(call, body) ? lastCall(of: handler, before: call, body) : call
            return (body.lowerBound..<call).contains { word in
                guard precedes(word, call, in: handler) else { return false }
                if isOfNewData, beginsWork(word, completion, in: body) { return true }
                if isOfNewData, callsWork(word, completion, in: handler) { return true }
                return beginsLongWork(word, in: body) && !text.sees("=", at: word - 1)
                    && !isGiven(completion, word, in: body)
                    && text.statementEnd(word, body) > last
            }
        }
    }

    /// Notes the calls before answers whose functions, of other files, may return before their
    /// work.
    mutating func noteAnswersBeforeWork(
        _ completion: String?, in handler: SourceScope, _ body: Range<Int>,
        _ fault: SourceObservation.Fault
    ) {
        var left = Self.answeredCalls
        for answer in unwaitedAnswers(completion, in: handler, body).prefix(left)
        where isPlain(answer, body) {
            let last = lastCall(of: handler, before: answer, body)
            // The call that may wait may be the work itself.
            let calls = (last..<max(last, answer)).lazy.filter { [self] word in
                precedes(word, answer, in: handler) && mayCallElsewhere(word)
                    && !isGiven(completion, word, in: body)
            }
            for word in Array(calls.prefix(left)) {
                noteBegunWork(word, endedAt: answer, fault)
                left -= 1
            }
        }
    }

    /// The calls before an answer that are followed.
    private static let answeredCalls = 8

    /// Whether a statement has the completion handler.
    private func isGiven(_ completion: String?, _ word: Int, in body: Range<Int>) -> Bool {
        (word..<text.statementEnd(word, body)).contains { text.tokens[$0].text == completion }
    }

    /// The last call before an answer that may wait for work, or be the work; the body's start if
    /// there is none.
    private func lastCall(
        of handler: SourceScope, before answer: Int, _ body: Range<Int>
    ) -> Int {
        let rest = body.lowerBound..<max(body.lowerBound, answer)
        return lastCall(of: handler, in: rest) ?? body.lowerBound
    }

    /// Whether an answer reads nothing that may wait.
    private func isPlain(_ answer: Int, _ body: Range<Int>) -> Bool {
        let value =
            text.sees("(", at: answer + 1)
            ? text.content(ofBracket: answer + 1)
            : answer..<max(answer, text.statementEnd(answer, body))
        return value.allSatisfy { index in
            !text.tokens[index].isName
                || ["return", "UIBackgroundFetchResult"].contains(text.tokens[index].text)
                || Self.answerNames.contains(text.tokens[index].text)
        }
    }

    private static let answerNames: Set = [
        "newData", "noData", "failed", "UIBackgroundFetchResultNewData",
        "UIBackgroundFetchResultNoData", "UIBackgroundFetchResultFailed",
    ]
    /// The answers that there is new data, or that there is none.
    private static let doneNames = answerNames.filter { !$0.lowercased().hasSuffix("failed") }

    /// The answers on the paths of a handler that nothing waits before.
    private func unwaitedAnswers(
        _ completion: String?, in handler: SourceScope, _ body: Range<Int>
    ) -> some Sequence<Int> {
        let asksForTime = body.contains {
            text.tokens[$0].text.hasPrefix("beginBackgroundTask")
        }
        return (asksForTime ? body.lowerBound..<body.lowerBound : body).lazy.filter { call in
            isAnswer(call, completion) && isOnPath(call, of: handler)
                && says(Self.doneNames, call, body) && !follows(call, in: body, where: waits)
                && !isInForeground(call, of: handler)
        }
    }

    /// Whether an answer is given only to an app that is in use, which is not suspended: in `if
    /// state == .active {`, `if isInForeground {`, `guard state == .background else {`.
    private func isInForeground(_ answer: Int, of handler: SourceScope) -> Bool {
        text.scopes(around: answer).prefix { $0.open != handler.open }.contains { scope in
            let condition = scope.head..<scope.open
            if case .control("guard") = scope.kind {
                return condition.contains { text.sees("==", ".", "background", at: $0) }
            }
            return condition.contains { index in
                guard text.tokens[index].isName else { return false }
                let parts = Self.nameParts(text.tokens[index].text)
                return parts.contains("active") || parts.contains("foreground")
                    || text.sees("!=", ".", "background", at: index + 1)
            }
        }
    }

    private func isAnswer(_ call: Int, _ completion: String?) -> Bool {
        guard let completion else { return text.tokens[call].isName("return") }
        return text.tokens[call].isName(completion) && isCall(call) && !text.isLabel(call)
    }

    /// Whether an answer has one of some names.
    private func says(_ names: Set<String>, _ call: Int, _ body: Range<Int>) -> Bool {
        let answer =
            text.sees("(", at: call + 1)
            ? text.content(ofBracket: call + 1) : call + 1..<text.statementEnd(call, body)
        return answer.contains { names.contains(text.tokens[$0].text) }
    }

    /// Whether a token of a function is in no closure there.
    func isOnPath(_ index: Int, of function: SourceScope) -> Bool {
        for scope in text.scopes(around: index) {
            if scope.open == function.open { return true }
            guard case .control = scope.kind else { return false }
        }
        return false
    }

    /// Whether a word runs before a call whenever the call runs.
    func precedes(_ word: Int, _ call: Int, in function: SourceScope) -> Bool {
        for scope in text.scopes(around: word) {
            if scope.open == function.open { return true }
            guard case .control = scope.kind, scope.open < call, call < scope.close else {
                return false
            }
        }
        return false
    }

    /// Whether a word begins a task, or a request, that does not complete the push itself.
    private func beginsWork(_ word: Int, _ completion: String?, in body: Range<Int>) -> Bool {
        let name = text.tokens[word].text
        if name == "add" { return addsCloudOperation(word, completion, in: body) }
        guard name == "Task" || Self.requests.contains(name), isCall(word),
            let before = text[word - 1]
        else { return false }
        // What is kept may be waited for.
        if name == "Task", before.isMark("=") || before.isMark(".") { return false }
        var open = word + 1
        if text.sees("(", at: open), text.partners[open] > open { open = text.partners[open] + 1 }
        guard text.sees("{", at: open), text.partners[open] < body.upperBound else { return false }
        let closure = text.content(ofBracket: open)
        guard !closure.contains(where: { text.tokens[$0].text == completion }) else { return false }
        if name != "Task" { return !closure.isEmpty }
        return closure.contains { index in
            guard text.tokens[index].isName("await") else { return false }
            return (index..<text.statementEnd(index, closure)).contains {
                isCall($0) && !isIdleCall($0)
            }
        }
    }

    /// Whether a word calls a function of this file that begins such work on each of its paths.
    private func callsWork(_ word: Int, _ completion: String?, in handler: SourceScope) -> Bool {
        guard isCall(word), let helper = calledFunction(word), helper.open != handler.open,
            case .function(let head) = helper.kind, !head.isAsync,
            text[word + 1].map({ $0.isMark("(") }) == true,
            !text.content(ofBracket: word + 1).contains(where: {
                text.tokens[$0].text == completion
            }), !text.sees("{", at: text.partners[word + 1] + 1)
        else { return false }
        let body = text.content(ofBracket: helper.open)
        return !body.contains { text.tokens[$0].text.hasPrefix("beginBackgroundTask") }
            && body.contains { index in
                precedes(index, body.upperBound - 1, in: helper)
                    && beginsWork(index, completion, in: body)
            }
    }

    /// Whether a database of CloudKit gets an operation that a body makes, none of whose closures
    /// completes the push: `database.add(operation)`.
    private func addsCloudOperation(
        _ word: Int, _ completion: String?, in body: Range<Int>
    ) -> Bool {
        guard text.sees(".", at: word - 1), text.sees("(", at: word + 1), isCall(word),
            let name = text[word + 2], name.isName, text.sees(")", at: word + 3)
        else { return false }
        let made = (body.lowerBound..<word).suffix(AuditLimits.headWords).last { place in
            text.sees("let", name.text, "=", at: place)
                && text[place + 3].map {
                    $0.text.hasPrefix("CK") && $0.text.hasSuffix("Operation")
                } == true
        }
        guard let made else { return false }
        // One that lives longer goes on when the app is suspended.
        return !(made..<word).contains {
            completion != nil && text.tokens[$0].text == completion
                || text.tokens[$0].isName("isLongLived")
        }
    }
}
