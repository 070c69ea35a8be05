// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Reads background work other than tasks: background time, transfers, and the work of silent push
/// handlers.
extension SourceReader {
    /// The time that iOS gives a handler of silent pushes, in seconds (Apple).
    private static let handlerSeconds = 30.0

    // MARK: Handlers of silent pushes

    /// Reads the work that the handler of a silent push starts, and its result.
    mutating func readWork(of scope: SourceScope, _ completion: String?) {
        let body = text.content(ofBracket: scope.open)
        if let late = body.first(where: { seconds(at: $0).map { $0 > Self.handlerSeconds } == true }
        ) {
            see(.fault(.longHandler), at: late)
        }
        let names = Self.parameters(of: scope, labelled: "didReceiveRemoteNotification")
        readAnswers(of: scope, completion, early: .earlyAnswer) { [self] body in
            if onlyLogs(body, completion) { return .fault(.answerForNothing) }
            if worksInForegroundOnly(body, completion) { return .fault(.answerInForeground) }
            return .fault(keepsPush(body, names) ? .alwaysNewPush : .alwaysNewData)
        }
    }

    /// Reads what a handler of pushes or fetches answers: `early` is the fault of an answer before
    /// its work has ended, `always` what a body with one answer only is.
    mutating func readAnswers(
        of scope: SourceScope, _ completion: String?, early: SourceObservation.Fault,
        always: (Range<Int>) -> SourceObservation.Subject
    ) {
        let body = text.content(ofBracket: scope.open)
        let answers = body.filter { index in
            [
                "newData", "noData", "failed", "UIBackgroundFetchResultNewData",
                "UIBackgroundFetchResultNoData", "UIBackgroundFetchResultFailed",
            ].contains(text.tokens[index].text)
        }
        let saysNewData = answers.allSatisfy {
            text.tokens[$0].text.lowercased().hasSuffix("newdata")
        }
        // What gets the completion handler may answer something else.
        let isHandedOn = body.contains {
            guard text.tokens[$0].text == completion, !text.isLabel($0), !isCall($0) else {
                return false
            }
            return [":", "(", ",", "="].contains(text[$0 - 1]?.text)
        }
        let answer = isHandedOn ? nil : earlyAnswer(completion, in: scope, body)
        if answer == nil, !isHandedOn { noteAnswersBeforeWork(completion, in: scope, body, early) }
        if let answer {
            see(.fault(early), at: answer)
        } else if let first = answers.first, saysNewData, !isHandedOn,
            !body.contains(where: { passesOn($0, completion, in: body) }),
            // A path without an answer is told of by itself.
            completion.map({ CompletionPaths(text, handler: $0, body: scope).gaps.isEmpty }) ?? true
        {
            see(always(body), at: first)
        }
    }

    /// Whether a call of the completion handler answers what something else tells: `done(result)`,
    /// where the function does not declare `result`.
    private func passesOn(_ index: Int, _ completion: String?, in body: Range<Int>) -> Bool {
        guard text.tokens[index].text == completion, text.sees("(", at: index + 1),
            text.sees(")", at: index + 3), let answer = text[index + 2], answer.isName
        else { return false }
        return !answer.text.hasPrefix("UIBackgroundFetchResult")
            && !text.places(of: answer.text, in: body).contains {
                text.sees("let", at: $0 - 1) || text.sees("var", at: $0 - 1)
                    || text.sees("UIBackgroundFetchResult", at: $0 - 1)
            }
    }

    /// The wait at a token, in seconds: `.now() + 60`, `sleep(60)`, `Task.sleep(for:
    /// .seconds(60))`, `scheduledTimer(withTimeInterval: 60`.
    private func seconds(at index: Int) -> Double? {
        switch text.tokens[index].text {
        case "deadline" where text.sees(":", ".", "now", "(", ")", "+", at: index + 1):
            if text.sees(".", "seconds", "(", at: index + 7) {
                return text.product(at: index + 10)?.number
            }
            return text.product(at: index + 7)?.number
        case "sleep" where text.sees("(", at: index + 1):
            if text.sees("for", ":", ".", "seconds", "(", at: index + 2) {
                return text.product(at: index + 7)?.number
            }
            if text.sees("nanoseconds", ":", at: index + 2) {
                return text.product(at: index + 4)?.number.map { $0 / 1e9 }
            }
            return text.product(at: index + 2)?.number
        case "scheduledTimer" where text.sees("(", at: index + 1):
            return text.product(at: index + 4)?.number
        // `dispatch_time(DISPATCH_TIME_NOW, (int64_t)(60 * NSEC_PER_SEC))`
        case "dispatch_time" where text.sees("(", "DISPATCH_TIME_NOW", ",", at: index + 1):
            var number = index + 4
            if text.sees("(", "int64_t", ")", at: number) { number += 3 }
            if text.sees("(", at: number) { number += 1 }
            guard text.sees("*", "NSEC_PER_SEC", at: number + 1) else { return nil }
            return text[number].flatMap { Double($0.text) }
        default: return nil
        }
    }

    // MARK: Time after leaving the foreground

    /// Reads `beginBackgroundTask(withName:expirationHandler:)`.
    mutating func readAssertion(_ index: Int) {
        guard isAssertion(index) else { return }
        if isThrownAway(index) {
            see(.fault(.assertionThrownAway), at: index)
        } else if lacksExpiration(index) {
            if !isEndedNext(index) { see(.fault(.assertionWithoutExpiration), at: index) }
        } else if let handler = assertionExpiration(index),
            !handler.contains(where: { mayEndTime(at: $0) })
        {
            see(.fault(.assertionExpirationWithoutEnd), at: index)
        }
        see(.backgroundAssertion, at: index)
        let isFollowed = isAmongFirst(index)
        if isFollowed {
            readCapturedTime(index)
            readRenewedTime(index)
        }
        let variable = assertionVariable(index)
        if let (name, _) = variable, handsTimeOn(name) { see(.handedTime, at: index) }
        if isFollowed, let (name, isLocal) = variable {
            readOverwrittenTime(index, name, isLocal: isLocal)
        }
        guard let (name, isLocal) = variable,
            !readLastingTime(index, name), isFollowed,
            isLocal || !readUnendedTime(index, name)
        else { return }
        readEarlyEndOfTime(index, name)
        if !isLocal { readKeptTime(index, name) }
        if isLocal {
            // One that only its expiration ends is intended to last.
            let lasts = assertionExpiration(index).map { handler in
                let end = handler.first { text.tokens[$0].text.hasPrefix("endBackgroundTask") }
                return end != nil
                    && function(around: index)?.1.contains { word in
                        text.tokens[word].isName(name) && word > handler.upperBound
                    } == false
            }
            if lasts == true { return }
            let strictness = CompletionPaths.Strictness(doneFlags: [name], countsThrows: true)
            let isUse = { [self] (word: Int) in
                text.tokens[word].isName(name) && !text.isLabel(word) && !asksWhetherInvalid(word)
                    && !isSetToNothing(word)
            }
            // `let end = { app.endBackgroundTask(id) }` may stand before the call.
            let definitions = function(around: index).map {
                LocalDefinitions(in: text, $0.1, thatHold: isUse)
            }
            readTimePaths(index, strictness) { [text] word in
                isUse(word) || definitions?.areUsed(at: word, in: text) == true
            }
        } else {
            readKeptPaths(index, name)
        }
    }

    /// Whether a call is one of the first of its function that ask for time: each of them is
    /// followed to the end of the function.
    private func isAmongFirst(_ index: Int) -> Bool {
        guard let (_, body) = function(around: index) else { return true }
        notes.followedBegins[body.lowerBound, default: 0] += 1
        return notes.followedBegins[body.lowerBound, default: 0] <= AuditLimits.beginsPerFunction
    }

    private func lacksExpiration(_ index: Int) -> Bool {
        if text.isObjectiveC {
            return ["nil", "NULL"].contains { none in
                text.sees(":", none, "]", at: index + 1)
                    || (index..<index + 12).contains {
                        text.sees("expirationHandler", ":", none, at: $0)
                    }
            }
        }
        let close = text.partners[index + 1]
        // A closure after the name or after the arguments.
        guard close > index, !text.sees("{", at: index + 1) else { return false }
        if text.sees("{", at: close + 1) { return text.sees("}", at: close + 2) }
        // Without a label, as in old versions of Swift: `beginBackgroundTaskWithExpirationHandler({
        // … })`.
        if text.sees("{", at: index + 2) { return text.sees("}", at: index + 3) }
        let label = (index..<close).first { text.tokens[$0].isName("expirationHandler") }
        guard let label else { return true }
        return text.sees(":", "nil", at: label + 1) || text.sees(":", "{", "}", at: label + 1)
    }

    /// Whether the next statement gives the time back, so that it cannot run out.
    private func isEndedNext(_ index: Int) -> Bool {
        let opening = text.isObjectiveC ? message(around: index) : index + 1
        guard let opening, text.partners[opening] > index else { return false }
        let close = text.partners[opening]
        return (close + 1..<min(close + 8, text.tokens.count))
            .prefix { !text.tokens[$0].isMark("{") && !text.tokens[$0].isMark("}") }
            .contains { text.tokens[$0].isName("endBackgroundTask") }
    }

    /// The tokens of the expiration handler, if it is part of the call.
    func assertionExpiration(_ index: Int) -> Range<Int>? {
        if text.isObjectiveC {
            return (index..<index + 12).lazy.compactMap { text.sees(":", "^", at: $0) ? $0 : nil }
                .first.flatMap { closure(at: $0 + 1) }
        }
        if text.sees("{", at: index + 1) { return closure(at: index + 1) }
        let close = text.partners[index + 1]
        guard close > index else { return nil }
        if text.sees("{", at: close + 1) { return closure(at: close + 1) }
        if text.sees("{", at: index + 2) { return closure(at: index + 2) }
        return (index..<close).first { text.sees("expirationHandler", ":", "{", at: $0) }
            .flatMap { closure(at: $0 + 2) }
    }

    /// The variable for the result, `let id = UIApplication.shared.beginBackgroundTask …`, and
    /// whether it is local.
    private func assertionVariable(_ index: Int) -> (name: String, isLocal: Bool)? {
        let line = text.tokens[index].position.line
        var equals = message(around: index).map { $0 - 1 } ?? index
        while let token = text[equals], token.position.line == line, !token.isMark("=") {
            equals -= 1
        }
        guard text[equals]?.isMark("=") == true, let name = text[equals - 1], name.isName,
            let (_, body) = function(around: index)
        else { return nil }
        if text.sees(".", at: equals - 2) { return (name.text, false) }
        let isLocal = text.places(of: name.text, in: body).contains { word in
            ["let", "var", "UIBackgroundTaskIdentifier"].contains { text.sees($0, at: word - 1) }
        }
        return (name.text, isLocal)
    }

    // MARK: Transfers

    /// Reads `URLSessionConfiguration.background(withIdentifier:)` and its use.
    mutating func readBackgroundSession(_ index: Int) {
        let isSwift =
            text.sees(".", at: index - 1) && text.sees("(", "withIdentifier", ":", at: index + 1)
            && namesConfiguration(before: index - 1)
            // A selector creates no session.
            && !text.sees(")", at: index + 4)
        let isObjectiveC = text.tokens[index].text.hasPrefix("backgroundSessionConfiguration")
        guard isSwift || isObjectiveC, !isDecoded(index) else { return }
        if isObjectiveC, let body = surroundings(of: index) { readDelegate(ofSession: index, body) }
        if namesSessionAnew(index) { see(.fault(.sessionOfNewName), at: index) }
        let start = text.sees("URLSessionConfiguration", at: index - 2) ? index - 2 : index - 1
        if isSwift, text.sees("(", "configuration", ":", at: start - 3),
            let word = [start - 4, start - 6].first(where: { sessionBracket($0) == start - 3 })
        {
            if let body = surroundings(of: index), isEnded(word, in: body) { return }
            see(.backgroundSession, at: index)
            readSession(word)
            return
        }
        guard isSwift, text.sees("=", at: start - 1),
            let configuration = variable(before: start - 1),
            let body = surroundings(of: index)
        else {
            see(.backgroundSession, at: index)
            return
        }
        let sessions = body.filter { word in
            sessionBracket(word).map {
                text.sees("(", "configuration", ":", configuration, at: $0)
            } == true
        }
        let lasting = sessions.filter { !isEnded($0, in: body) }
        guard sessions.isEmpty || !lasting.isEmpty else { return }
        see(.backgroundSession, at: index)
        for word in lasting { readSession(word) }
    }

    /// The index of the bracket of `URLSession(` and `URLSession.init(`.
    func sessionBracket(_ word: Int) -> Int? {
        guard text.sees("URLSession", at: word) else { return nil }
        return text.sees(".", "init", at: word + 1) ? word + 3 : word + 1
    }

    /// Whether a configuration is one that a library reads from an archive. A storyboard decodes
    /// views.
    private func isDecoded(_ index: Int) -> Bool {
        guard let (head, _) = function(around: index) else { return false }
        let isView = text.type(around: index)?.inherited.contains { type in
            ["Controller", "View", "Cell"].contains(where: type.hasSuffix)
        }
        if isView == true { return false }
        return head.name == "initWithCoder" || head.name == "init" && head.has("coder")
    }

    /// Whether the dot before `background` is one of `URLSessionConfiguration`, or of a type that
    /// is left out.
    private func namesConfiguration(before dot: Int) -> Bool {
        guard let last = text[dot - 1] else { return false }
        return last.isName("URLSessionConfiguration") || last.isMark("=") || last.isMark(":")
            || last.isMark("(") || last.isName("return")
    }

    /// The name of the variable before an equals sign: `let a =`, `let a: URLSession =`.
    func variable(before equals: Int) -> String? {
        guard let last = text[equals - 1], last.isName else { return nil }
        if text.sees(":", at: equals - 2), let name = text[equals - 3], name.isName,
            !endsLabel(equals - 2)
        {
            return name.text
        }
        return last.text
    }

    /// Whether a colon ends the label of a case, and stands before no type: `case x:`.
    private func endsLabel(_ colon: Int) -> Bool {
        if text.isObjectiveC || text.sees("default", at: colon - 1) { return true }
        for index in (0..<colon).suffix(AuditLimits.headWords).reversed() {
            let token = text.tokens[index]
            if token.isName("case") { return true }
            if token.isName("let") || token.isName("var"), !text.sees("case", at: index - 1) {
                return false
            }
            if ["{", "}", ";"].contains(where: token.isMark) { return false }
        }
        return false
    }

    /// The tokens of the function or closure around a token.
    private func surroundings(of index: Int) -> Range<Int>? {
        for scope in text.scopes(around: index) {
            switch scope.kind {
            case .function, .closure: return text.content(ofBracket: scope.open)
            case .control: continue
            case .type: return nil
            }
        }
        return nil
    }

    /// Reads a background session: `URLSession(configuration: …`.
    private mutating func readSession(_ word: Int) {
        let arguments = text.content(ofBracket: sessionBracket(word) ?? word + 1)
        let label = arguments.first { text.tokens[$0].isName("delegate") }
        if label == nil || label.map({ text.sees(":", "nil", at: $0 + 1) }) == true {
            // The app takes over the transfers of an extension, with a session of its own.
            guard text.places(of: "sharedContainerIdentifier").isEmpty else { return }
            see(.fault(.sessionWithoutDelegate), at: word)
        } else if let label, text.sees(":", "self", at: label + 1) {
            see(.delegatedSession, at: word)
        }
        if let session = sessionName(word) { readTransfers(session, madeAt: word) }
    }

    /// The name of a session: `let session = URLSession(…`, or the property whose closure creates
    /// it.
    private func sessionName(_ word: Int) -> String? {
        if text.sees("=", at: word - 1) { return variable(before: word - 1) }
        guard let scope = text.scopes(around: word).first(where: { _ in true }),
            case .closure = scope.kind, text.sees("=", at: scope.open - 1)
        else { return nil }
        return variable(before: scope.open - 1)
    }

    /// Whether a session is created only to end earlier transfers: `session.invalidateAndCancel()`
    /// in the same function.
    private func isEnded(_ index: Int, in body: Range<Int>) -> Bool {
        guard text.sees("=", at: index - 1), let name = text[index - 2], name.isName else {
            return false
        }
        let uses = body.filter { $0 > index && text.tokens[$0].isName(name.text) }
        let isInvalidated = uses.contains {
            text.sees(".", "invalidateAndCancel", at: $0 + 1)
                || text.sees(".", "finishTasksAndInvalidate", at: $0 + 1)
        }
        if isInvalidated { return true }
        // `session.getAllTasks { tasks in tasks.forEach { $0.cancel() } }`, and nothing else
        let isLocal = text.sees("let", at: index - 3)
        return isLocal && !uses.isEmpty
            && uses.allSatisfy { text.sees(".", "getAllTasks", at: $0 + 1) }
            && body.contains { text.sees(".", "cancel", "(", at: $0) }
    }

    /// Whether a name stands for the same at two places: in the function that declares it, or for
    /// the property of a type.
    private func isSame(_ name: String, _ first: Int, _ second: Int) -> Bool {
        let declaring = [first, second].map { index in
            function(around: index).flatMap { _, body in
                body.contains { text.sees("let", name, at: $0) || text.sees("var", name, at: $0) }
                    ? body : nil
            }
        }
        return declaring[0] == declaring[1]
            && owner(around: first)?.name == owner(around: second)?.name
    }

    /// `session.downloadTask(with: url) { … }`: such a session takes no closures, which the form
    /// that is waited for has too: `await session.data(from: url)`.
    private mutating func readTransfers(_ session: String, madeAt word: Int) {
        for index in text.places(of: session)
        where isSame(session, word, index) && text.sees(".", at: index + 1) {
            guard let call = text[index + 2] else { continue }
            let first = text.sees("self", ".", at: index - 2) ? index - 2 : index
            let isTransfer = ["data", "download", "upload"].contains(call.text)
            if isTransfer, text.sees("await", at: first - 1), text.sees("(", at: index + 3),
                ["from", "for"].contains(text[index + 4]?.text), text.sees(":", at: index + 5)
            {
                see(.fault(.closureInBackgroundSession), at: index + 2)
            }
            guard
                ["dataTask", "downloadTask", "uploadTask"].contains(call.text),
                text.sees("(", at: index + 3)
            else { continue }
            let close = text.partners[index + 3]
            let hasClosure =
                close > index
                && (text.sees("{", at: close + 1)
                    || text.content(ofBracket: index + 3).contains {
                        text.tokens[$0].isName("completionHandler") && text.isLabel($0)
                    })
            if hasClosure {
                see(.fault(.closureInBackgroundSession), at: index + 2)
            } else if close > index, call.text == "uploadTask",
                text.call(at: index + 2)?.arguments.contains(where: { argument in
                    argument.label == "from"
                        && !text.sees("nil", at: argument.range.lowerBound + 2)
                }) == true
            {
                see(.fault(.dataInBackgroundSession), at: index + 2)
            }
        }
    }
}
