// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Determines the time at which code runs, as far as its context shows.
extension SourceReader {
    private static let viewCallees: Set = ["onAppear", "task", "onChange", "onReceive"]
    private static let viewFunctions: Set = [
        "viewDidLoad", "viewWillAppear", "viewDidAppear", "viewIsAppearing",
    ]
    private static let launchLabels = [
        "didFinishLaunchingWithOptions", "willFinishLaunchingWithOptions",
    ]
    private static let launchFunctions: Set = [
        "applicationDidFinishLaunching", "applicationWillFinishLaunching",
    ]

    /// The time at which the token at an index runs.
    func occasion(of index: Int) -> SourceObservation.Occasion {
        var isLater = false
        if isBareBranch(index) || isGrantedChoice(index) { return .permission }
        for scope in text.scopes(around: index) {
            switch scope.kind {
            case .control("if"):
                if let occasion = occasion(ofCondition: scope.head..<scope.open, around: index),
                    occasion != .flag || !isRepeated(index, besides: scope)
                {
                    return occasion
                }
            // The branch for a denied permission: `if !granted { … }`, `guard granted else { … }`.
            case .control("else") where followsPermission(scope): return .permission
            case .control("guard") where asksForPermission(scope.head..<scope.open, around: index):
                return .unknown
            case .control("switch")
            where asksForPermission(scope.head..<scope.open, around: index)
                || hasStatusCases(scope):
                return isGranted(caseOf: index, in: scope) || followsGuard(index, inCaseOf: scope)
                    ? .permission : .unknown
            case .control: continue
            case .closure(let callee):
                if let callee, Self.viewCallees.contains(callee), isOfSwiftUI(index) {
                    return .view
                }
                if let callee, Self.laterCallees.contains(callee) { isLater = true }
                if followsGuard(index, in: scope) { return .permission }
            case .function(let head):
                if followsGuard(index, in: scope) { return .permission }
                let occasion = occasion(of: head, around: index)
                return occasion == .launch && isLater ? .afterLaunch : occasion
            case .type:
                return .unknown
            }
        }
        return .unknown
    }

    /// Whether a token is in code of SwiftUI.
    private func isOfSwiftUI(_ index: Int) -> Bool {
        imports.contains("SwiftUI")
            || text.type(around: index)?.inherited.contains {
                ["View", "App", "Scene", "ViewModifier"].contains($0)
            } == true
    }

    private func occasion(
        of head: SourceScope.FunctionHead, around index: Int
    ) -> SourceObservation.Occasion {
        let type = text.type(around: index)
        if Self.launchLabels.contains(where: head.has)
            || Self.launchFunctions.contains(head.name)
            || (head.name == "init" && type?.inherited.contains("App") == true)
        {
            return .launch
        }
        if Self.viewFunctions.contains(head.name) { return .viewController }
        if head.name.hasPrefix("scene"), type?.isSceneDelegate == true { return .scene }
        return .unknown
    }

    private func occasion(
        ofCondition range: Range<Int>, around index: Int
    ) -> SourceObservation.Occasion? {
        if asksForPermission(range, around: index) {
            // A negated condition is met if the permission is denied.
            return isNegated(range) || hasOtherReason(range, around: index) ? nil : .permission
        }
        let flags: Set = ["isRegisteredForRemoteNotifications", "UserDefaults", "AppStorage"]
        let asksForFlag = range.prefix(AuditLimits.headWords).contains { word in
            text.tokens[word].isName && flags.contains(text.tokens[word].text)
                // A check for the existence of a function does not imply an earlier call.
                && !text.seesSelector(at: word - 2)
        }
        return asksForFlag && !asksForSetting(range) ? .flag : nil
    }

    /// Whether a condition asks for what the user has switched on: `defaults.bool(forKey: wanted)`.
    private func asksForSetting(_ range: Range<Int>) -> Bool {
        let words = range.prefix(AuditLimits.headWords)
        // `isFirstLaunch`, `needsRegistration`
        let occasions = [
            "first", "need", "should", "once", "launch", "install", "fresh", "initial",
        ]
        return !isNegated(range)
            && !words.contains { word in
                let name = text.tokens[word].text.lowercased()
                return ["nil", "isregisteredforremotenotifications"].contains(name)
                    || occasions.contains(where: name.contains)
            }
            && words.contains { word in
                ["bool", "boolForKey"].contains(text.tokens[word].text)
                    || text.sees("==", "true", at: word)
            }
    }

    /// Whether a condition can be met by something else than the permission: `granted || isSilent`.
    private func hasOtherReason(_ range: Range<Int>, around index: Int) -> Bool {
        let marks = range.filter { text.tokens[$0].isMark("||") }
        return !marks.isEmpty
            && zip([range.lowerBound] + marks, marks + [range.upperBound]).contains {
                !asksForPermission($0..<$1, around: index)
            }
    }

    /// Whether the code that runs if a condition is not met makes the same call.
    private func isRepeated(_ index: Int, besides branch: SourceScope) -> Bool {
        let name = text.tokens[index].text
        return text.tokens.indices.contains { other in
            guard other > branch.close, text.tokens[other].isName(name), isCall(other),
                let inner = text.scopes(around: other).first(where: { _ in true })
            else { return false }
            if case .control("else") = inner.kind, inner.head == branch.close + 1 { return true }
            return text.scopeIndices[other] == text.scopeIndices[branch.head]
        }
    }

    /// Whether the function around a token looks at the background modes of Info.plist before it.
    func asksForModes(before index: Int) -> Bool {
        guard let (_, body) = function(around: index) else { return false }
        if let known = notes.modes[body.lowerBound] { return known.map { $0 < index } == true }
        let first = body.first { text.tokens[$0].text == "UIBackgroundModes" }
        notes.modes[body.lowerBound] = .some(first)
        return first.map { $0 < index } == true
    }

    /// Whether a token is in the case of a granted permission: `switch granted { case true:`,
    /// `switch settings.authorizationStatus { case .authorized:`.
    private func isGranted(caseOf index: Int, in scope: SourceScope) -> Bool {
        guard let label = caseLabel(before: index, in: scope),
            let end = (label..<index).first(where: { text.tokens[$0].isMark(":") })
        else { return false }
        let names = text.tokens[label..<end].map(\.text)
        return names.contains { ["true", "authorized"].contains($0) }
            && !names.contains { ["false", "denied", "notDetermined"].contains($0) }
    }

    /// The `case` or `default` of a switch that a token is in.
    func caseLabel(before index: Int, in scope: SourceScope) -> Int? {
        let inside = text.scopeIndices[scope.open + 1]
        return (scope.open + 1..<max(index, scope.open + 1)).last {
            (text.tokens[$0].isName("case") || text.tokens[$0].isName("default"))
                && text.scopeIndices[$0] == inside
        }
    }

    /// Whether a call is what runs with the permission in a conditional expression: `granted ?
    /// register() : explain()`.
    private func isGrantedChoice(_ index: Int) -> Bool {
        var start = message(around: index) ?? index
        while text.sees(".", at: start - 1) {
            start -= 2
            if text.sees("?", at: start) || text.sees("!", at: start) { start -= 1 }
            if start > 0, text.sees(")", at: start), text.partners[start] > 0 {
                start = text.partners[start] - 1
            }
        }
        let isElse = text.sees(":", at: start - 1)
        var mark = start - 1
        if isElse {
            mark =
                (max(0, start - AuditLimits.headWords)..<start - 1).last {
                    text.tokens[$0].isMark("?") && text.scopeIndices[$0] == text.scopeIndices[index]
                } ?? -1
        }
        guard text.sees("?", at: mark) else { return false }
        let line = text.tokens[mark].position.line
        var first = mark
        while first > 0, text.tokens[first - 1].position.line == line,
            ![";", "{", "(", "[", "="].contains(where: text.tokens[first - 1].isMark),
            !text.tokens[first - 1].isName("in")
        {
            first =
                text.partners[first - 1] >= 0 && text.partners[first - 1] < first
                ? text.partners[first - 1] : first - 1
        }
        let condition = first..<mark
        return !condition.isEmpty && asksForPermission(condition, around: index)
            && isNegated(condition) == isElse
    }

    private func isNegated(_ range: Range<Int>) -> Bool {
        range.prefix(AuditLimits.headWords).contains { index in
            let token = text.tokens[index]
            // `granted && !error`
            if token.isMark("!") { return text[index + 1]?.isName("error") != true }
            if token.isMark("!=") || token.isMark("==") {
                // `granted != false` asks for the same as `granted == true`.
                let isNo = ["false", "NO"].contains(text[index + 1]?.text)
                if isNo { return token.isMark("==") }
            }
            if ["false", "NO"].contains(token.text) {
                return ["==", "!="].contains { text.sees($0, at: index - 1) }
                    ? text.sees("==", at: index - 1) : !text.sees("??", at: index - 1)
            }
            return token.isMark("!=")
                || token.isName
                    && (["denied", "false", "notDetermined", "NO"].contains(token.text)
                        || token.text.hasSuffix("StatusDenied")
                        || token.text.hasSuffix("StatusNotDetermined"))
        }
    }

    /// Whether a branch is the `else` of a condition that a denied permission meets.
    private func followsPermission(_ branch: SourceScope) -> Bool {
        guard let close = text[branch.head - 1], close.isMark("}") else { return false }
        let first = text.partners[branch.head - 1]
        guard first >= 0, let condition = text.scopes.first(where: { $0.open == first }),
            case .control("if") = condition.kind
        else { return false }
        let range = condition.head..<condition.open
        return isNegated(range) && asksForPermission(range, around: branch.head)
    }

    /// Whether a condition depends on the permission for alerts.
    private func asksForPermission(_ range: Range<Int>, around index: Int) -> Bool {
        let words = range.prefix(AuditLimits.headWords).filter { text.tokens[$0].isName }
        let names = words.map { text.tokens[$0].text }
        if words.contains(where: asksForAlerts(at:)) || names.contains("authorizationStatus") {
            return true
        }
        let answers = permissionNames(around: index)
        // `granted`, and no member of an answer that says more.
        let bare = words.filter { !text.sees(".", at: $0 + 1) }
        return bare.contains { answers.contains(text.tokens[$0].text) }
            || words.contains { isStatus($0, before: index) }
    }

    /// The names of the result of `requestAuthorization` around a token: the first parameter of its
    /// closure, or the constant that it is assigned to.
    private func permissionNames(around index: Int) -> Set<String> {
        var names: Set<String> = []
        for scope in text.scopes(around: index) {
            if answersRequest(scope) {
                var parameter = scope.open + 1
                if text.sees("[", at: parameter), text.partners[parameter] > 0 {
                    parameter = text.partners[parameter] + 1
                }
                if text.sees("(", at: parameter) { parameter += 1 }
                if let token = text[parameter], token.isName { names.insert(token.text) }
            }
            if let name = permissionName(ofBlock: scope) { names.insert(name) }
            guard case .function(let head) = scope.kind else { continue }
            if let first = head.parameters.first, ["Bool", "BOOL"].contains(first.types.first),
                isAnswer(named: head.name)
            {
                names.insert(first.name)
            }
            for word in (scope.open..<index).suffix(AuditLimits.headWords)
            where asksForAlerts(at: word) {
                var start = startOfValue(word)
                let line = text.tokens[start].position.line
                while start > scope.open, text.tokens[start].position.line == line { start -= 1 }
                for declared in start..<word where text.tokens[declared].isName("let") {
                    if let name = text[declared + 1], name.isName { names.insert(name.text) }
                }
            }
            break
        }
        return names
    }

    /// The start of the value that a call is the end of: `try await center.call(…)`, also over
    /// several lines; the equals sign before it if there is one.
    private func startOfValue(_ call: Int) -> Int {
        var start = call
        while text.sees(".", at: start - 1) {
            start -= 2
            if text.sees("?", at: start) || text.sees("!", at: start) { start -= 1 }
            if start > 0, text.sees(")", at: start), text.partners[start] > 0 {
                start = text.partners[start] - 1
            }
        }
        while start > 0,
            text.tokens[start - 1].isName("await") || text.tokens[start - 1].isName("try")
                || ["?", "!", "("].contains(where: text.tokens[start - 1].isMark)
        {
            start -= 1
        }
        return text.sees("=", at: start - 1) ? start - 1 : start
    }

    /// Whether a closure gets the answer of the user: `requestAuthorization { granted, _ in`, or
    /// `let answer: (Bool, Error?) -> Void = { granted, _ in` that is passed by its name.
    private func answersRequest(_ scope: SourceScope) -> Bool {
        guard case .closure(let callee) = scope.kind, !text.isObjectiveC else { return false }
        if let callee {
            let call = (0..<scope.open).suffix(AuditLimits.headWords).last {
                text.tokens[$0].isName(callee)
            }
            let isAsked = call.map { asksForAlerts(at: $0) || isRequested(before: $0) } == true
            if isAsked || answersForAlerts(callee) { return true }
        }
        guard text.sees("=", at: scope.open - 1) else { return false }
        let line = text.tokens[scope.open].position.line
        let words = (0..<scope.open).suffix(AuditLimits.headWords)
        return words.contains { word in
            text.tokens[word].position.line == line
                && (text.sees("let", at: word) || text.sees("var", at: word))
                && text[word + 1].map { isAnswer(named: $0.text) } == true
        }
    }

    /// Whether a call asks for the permission to show alerts: `requestAuthorization(options: o)`,
    /// `requestPushPermission`, `notifications.requestPermission`.
    func asksForAlerts(at index: Int) -> Bool {
        let name = text.tokens[index].text
        guard name.hasPrefix("request") || name.hasPrefix("ask") else { return false }
        if name == "requestAuthorization", text.sees("(", "options", ":", at: index + 1) {
            return true
        }
        let words = Self.nameParts(name)
        guard ["request", "ask"].contains(words.first),
            words.contains(where: { $0.hasPrefix("permission") || $0 == "authorization" })
        else { return false }
        if getsKindOfAlerts(index) { return true }
        guard words.allSatisfy({ Self.requestWords.contains($0) || Self.alertWords.contains($0) })
        else { return false }
        if words.contains(where: Self.alertWords.contains) { return true }
        switch text.call(at: index)?.owner {
        case .typed(let owner)?, .named(let owner)?:
            return Self.nameParts(owner).contains {
                Self.alertWords.contains($0) || $0.hasPrefix("permission") || $0 == "center"
            }
        case .own?:
            guard let function = onlyFunction(name) else { return true }
            return text.content(ofBracket: function.open).contains { word in
                Self.nameParts(text.tokens[word].text).contains(where: Self.alertWords.contains)
                    || text.sees("requestAuthorization", "(", "options", at: word)
            }
        case .unknown?, nil: return false
        }
    }

    private static let requestWords: Set = [
        "request", "ask", "authorization", "permission", "permissions", "for", "the", "to", "if",
        "needed", "user", "users", "with", "options", "and", "register", "show", "send",
    ]
    private static let alertWords: Set = [
        "notification", "notifications", "push", "pushes", "alert", "alerts", "apns",
    ]

    /// Whether a function of this file asks for the permission, and hands the answer to a closure
    /// that it gets.
    private func answersForAlerts(_ name: String) -> Bool {
        if let known = notes.answersForAlerts[name] { return known }
        // A function may call itself.
        notes.answersForAlerts[name] = false
        let answers = handsAnswerOn(name)
        notes.answersForAlerts[name] = answers
        return answers
    }

    private func handsAnswerOn(_ name: String) -> Bool {
        guard let function = onlyFunction(name), case .function(let head) = function.kind,
            let closure = head.parameters.last
        else { return false }
        let body = text.content(ofBracket: function.open)
        guard let request = body.first(where: asksForAlerts(at:)) else { return false }
        return (request..<body.upperBound).contains {
            text.sees(closure.name, "(", at: $0)
                && permissionNames(around: $0).contains(text.tokens[$0 + 2].text)
        }
    }

    /// Whether a function or closure is passed by its name to the request for the permission:
    /// `requestAuthorization(options: o, completionHandler: didAnswer)`.
    private func isAnswer(named name: String) -> Bool {
        text.places(of: "completionHandler").contains { index in
            guard text.sees(":", at: index + 1) else { return false }
            let value = text.sees("self", ".", at: index + 2) ? index + 4 : index + 2
            guard text.sees(name, at: value), !text.sees(".", at: value + 1) else { return false }
            return (max(0, index - AuditLimits.headWords)..<index).contains { word in
                ["requestAuthorization", "requestAuthorizationWithOptions"]
                    .contains(text.tokens[word].text)
                    && (text.isObjectiveC
                        ? text[word + 1]?.isMark(":") == true
                        : text.content(ofBracket: word + 1).contains(index))
            }
        }
    }

    /// The first parameter of the block of `requestAuthorizationWithOptions:completionHandler:`, or
    /// of one that is passed to it by its name: `void (^answer)(BOOL, NSError *) = ^(BOOL granted,
    /// NSError *error) {`.
    private func permissionName(ofBlock scope: SourceScope) -> String? {
        guard case .closure = scope.kind, text.isObjectiveC, text.sees(")", at: scope.open - 1),
            text.partners[scope.open - 1] >= 0,
            isPassedOn(blockAt: scope.open) || isNamedAnswer(blockAt: scope.open)
        else { return nil }
        return (text.partners[scope.open - 1]..<scope.open - 1).prefix {
            !text.tokens[$0].isMark(",")
        }
        .last.flatMap { text.tokens[$0].isName ? text.tokens[$0].text : nil }
    }

    private func isPassedOn(blockAt open: Int) -> Bool {
        message(around: open).map { message in
            (message..<open).contains {
                text.tokens[$0].isName("requestAuthorizationWithOptions")
            }
        } == true
    }

    private func isNamedAnswer(blockAt open: Int) -> Bool {
        let caret = text.partners[open - 1] - 1
        guard text.sees("=", "^", at: caret - 1), text.sees(")", at: caret - 2),
            text.partners[caret - 2] > 0
        else { return false }
        let name = text.partners[caret - 2] - 2
        return text.sees("^", at: name - 1)
            && text[name].map { isAnswer(named: $0.text) } == true
    }

    /// Whether a message is a branch without braces: `if (granted) [app register…];`.
    private func isBareBranch(_ index: Int) -> Bool {
        guard let open = message(around: index), text.sees(")", at: open - 1),
            text.partners[open - 1] > 0, text.sees("if", at: text.partners[open - 1] - 1)
        else { return false }
        let condition = text.partners[open - 1]..<open
        return asksForPermission(condition, around: index) && !isNegated(condition)
    }

    /// Whether a branch that leaves without the permission precedes a token in the same scope: `if
    /// (!granted) return;`, `if !granted { return }`.
    private func followsRefusal(_ index: Int, in scope: SourceScope) -> Bool {
        (scope.open + 1..<max(index, scope.open + 1)).suffix(AuditLimits.headWords).contains {
            word in
            guard text.tokens[word].isName("if"),
                text.scopeIndices[word] == text.scopeIndices[scope.open + 1],
                let end = endOfRefusal(word), end < index,
                !text.scopes(around: index).contains(where: { $0.head == word })
            else { return false }
            let condition = word..<end
            // What leaves before the user was asked does not depend on the answer.
            return !condition.contains {
                text.tokens[$0].isMark("&&") || text.tokens[$0].isMark(",")
                    || text.tokens[$0].text.lowercased().hasSuffix("notdetermined")
            }
                && isNegated(condition) && asksForPermission(condition, around: index)
        }
    }

    /// The end of the condition of a branch that only leaves.
    private func endOfRefusal(_ word: Int) -> Int? {
        if text.isObjectiveC, text.sees("(", at: word + 1), text.partners[word + 1] > word,
            text.sees("return", ";", at: text.partners[word + 1] + 1)
        {
            return text.partners[word + 1]
        }
        let branch = text.scopes.first { $0.head == word }
        guard let branch, case .control("if") = branch.kind, leaves(branch),
            !text.sees("else", at: branch.close + 1)
        else { return nil }
        return branch.open
    }

    /// Whether a `guard` on the permission precedes a token in the same case of a switch.
    private func followsGuard(_ index: Int, inCaseOf scope: SourceScope) -> Bool {
        guard let label = caseLabel(before: index, in: scope) else { return false }
        return followsGuard(index, in: label..<index)
    }

    /// Whether a `guard` on the permission precedes a token in the same scope.
    private func followsGuard(_ index: Int, in scope: SourceScope) -> Bool {
        let words = (scope.open + 1..<max(index, scope.open + 1)).suffix(AuditLimits.headWords)
        return followsGuard(index, in: words) || followsRefusal(index, in: scope)
    }

    private func followsGuard(_ index: Int, in words: Range<Int>) -> Bool {
        for word in words where text.tokens[word].isName("guard") {
            guard
                let end = words.suffix(from: word).first(where: {
                    text.tokens[$0].isName("else")
                })
            else { continue }
            if asksForPermission(word..<end, around: index) { return true }
        }
        return false
    }
}
