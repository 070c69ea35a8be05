// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Reads what runs when an app leaves the foreground.
extension SourceReader {
    /// Reads the app delegate's function for it, which iOS does not call in an app with scenes, if
    /// it asks for background work, and that of a scene.
    mutating func readBackgroundCallback(
        _ head: SourceScope.FunctionHead, _ scope: SourceScope
    ) {
        let body = text.content(ofBracket: scope.open)
        switch head.name {
        case "sceneDidEnterBackground", "sceneWillResignActive":
            if !body.isEmpty { see(.sceneCallback, at: scope.head) }
        case "sceneDidBecomeActive", "sceneWillEnterForeground":
            // Work that is asked for before need not be asked for again.
            if schedulesNext(body, depth: 0, trusts: false) { see(.sceneCallback, at: scope.head) }
        case "applicationDidEnterBackground":
            guard isInAppDelegate(scope), !callsWhatLaunchCalls(body),
                schedulesNext(body, depth: 0, trusts: false)
                    || body.contains(where: isAssertion)
            else { return }
            see(.applicationCallback, at: scope.head)
        default: return
        }
    }

    /// Reads a name by which other code learns that the app leaves the foreground.
    mutating func readSceneName(_ name: String, _ index: Int) {
        // `appDelegate.applicationDidEnterBackground(application)`, `life.onLeave =
        // applicationDidEnterBackground`
        if name == "applicationDidEnterBackground", isDeclaration(index) || isOfKnownBase(index) {
            return
        }
        if name == "scenePhase" {
            let isPassedOver = notes.asksForActiveAlone ?? asksForActiveAlone()
            notes.asksForActiveAlone = isPassedOver
            if isPassedOver { return }
        }
        see(.sceneCallback, at: index)
    }

    /// The ends of the names of notifications by which code learns that the app leaves the
    /// foreground.
    static let leavingNotifications = [
        "DidEnterBackgroundNotification", "WillResignActiveNotification",
        "WillDeactivateNotification",
    ]

    /// Whether a call is of the base class, which is the system's or that of a known framework.
    private func isOfKnownBase(_ index: Int) -> Bool {
        guard text.sees("super", ".", at: index - 2),
            let base = text.type(around: index)?.inherited.first
        else { return false }
        return ["UIResponder", "NSObject"].contains(base) || PluginManifests.hosts.contains(base)
    }

    /// Whether a file asks of the phase of its scene only whether it is active.
    private func asksForActiveAlone() -> Bool {
        func places(of phase: String) -> [Int] {
            text.places(of: phase).filter { place in
                // `.background(color)` is of a view.
                text.sees(".", at: place - 1) && !text.sees("(", at: place + 1)
                    && !text.sees("{", at: place + 1)
            }
        }
        let active = text.places(of: "active").filter { text.sees(".", at: $0 - 1) }
        return !active.isEmpty && active.allSatisfy(leavesOthers(at:))
            && places(of: "background").isEmpty && places(of: "inactive").isEmpty
    }

    /// Whether nothing is done where a scene is not active: `guard phase == .active else { return
    /// }`, or `if phase == .active {` alone in a closure, without `else`.
    private func leavesOthers(at active: Int) -> Bool {
        guard text.sees("==", at: active - 2),
            let keyword = (max(0, active - 16)..<active).last(where: { word in
                ["if", "guard", "switch", "?"].contains(text.tokens[word].text)
            }),
            let block = text.block(after: keyword, keyword..<text.tokens.count),
            block.open > active
        else { return false }
        return text.tokens[keyword].isName("guard")
            ? block.body.count == 1 && text.sees("return", at: block.body.lowerBound)
            : text.tokens[keyword].isName("if")
                && (text.sees("in", at: keyword - 1) || text.sees("{", at: keyword - 1))
                && text.sees("}", at: text.partners[block.open] + 1)
    }

    private func isDeclaration(_ index: Int) -> Bool {
        text.isObjectiveC
            ? text.sees(")", at: index - 1) && function(around: index) == nil
            : text.sees("func", at: index - 1)
    }

    /// The only call that gets the completion handler of a push, if it is one of a scene's
    /// delegate, and there may be no scene: `scene?.handle(push, done)`.
    func sceneGetting(_ completion: String, in handler: SourceScope) -> Int? {
        let body = text.content(ofBracket: handler.open)
        let uses = text.places(of: completion, in: body).filter { !text.isLabel($0) }
        guard !text.isObjectiveC, uses.count == 1, let use = uses.first,
            let call = text.calls(around: use, in: body).last
        else { return nil }
        var start = call.name
        var isOptional = false
        while text.sees(".", at: start - 1) {
            start -= 2
            while text.sees("?", at: start) {
                isOptional = true
                start -= 1
            }
            if start > 0, text.sees(")", at: start), text.partners[start] > 0 {
                start = text.partners[start] - 1
            }
        }
        return isOptional && leadsToScene(start..<call.name, depth: 0) ? call.name : nil
    }

    /// Whether some words name the scenes, or what this file takes from them.
    private func leadsToScene(_ words: Range<Int>, depth: Int) -> Bool {
        words.prefix(AuditLimits.headWords).contains { word in
            guard text.tokens[word].isName else { return false }
            let name = text.tokens[word].text
            if ["connectedScenes", "windowScene"].contains(name) { return true }
            if let known = notes.leadsToScene[name] { return known }
            guard depth < 3 else { return false }
            notes.leadsToScene[name] = false
            let bodies = bodies(of: name)
            let leads =
                !bodies.isEmpty
                && bodies.allSatisfy { body in
                    guard let body else { return false }
                    return !body.contains(where: chooses) && leadsToScene(body, depth: depth + 1)
                }
            notes.leadsToScene[name] = leads
            return leads
        }
    }

    /// The bodies of the functions and computed properties of a name; `nil` for one that is stored.
    private func bodies(of name: String) -> [Range<Int>?] {
        text.places(of: name).prefix(AuditLimits.headWords).compactMap { place in
            let isFunction = text.sees("func", at: place - 1)
            guard isFunction || text.sees("var", at: place - 1) else { return nil }
            let line = text.tokens[place].position.line
            let open = (place..<text.tokens.count).prefix(AuditLimits.headWords).first { index in
                text.tokens[index].isMark("{")
                    && (isFunction || text.tokens[index].position.line == line)
            }
            guard let open, !(place..<open).contains(where: { text.tokens[$0].isMark("=") }) else {
                return .some(nil)
            }
            return .some(text.content(ofBracket: open))
        }
    }

    /// Whether a token chooses among values: `scene ?? other`, `isOn ? scene : other`, `[a, b]`.
    private func chooses(_ index: Int) -> Bool {
        let token = text.tokens[index]
        return token.isMark("??") || token.isMark("[") || token.isName("if")
            || token.isName("else")
            || token.isMark("?") && !text.sees("as", at: index - 1)
                && !text.sees(".", at: index + 1)
    }

    /// Whether a body calls a function that the app calls when it launches too.
    private func callsWhatLaunchCalls(_ body: Range<Int>) -> Bool {
        let calls = body.filter { functions[text.tokens[$0].text] != nil && isCall($0) }
        return Set(calls.map { text.tokens[$0].text }).contains { name in
            text.places(of: name).prefix(AuditLimits.headWords).contains { other in
                guard let scope = text.scopes(around: other).first(where: { _ in true }),
                    case .function(let head) = scope.kind
                else { return false }
                return isCall(other) && head.has("didFinishLaunchingWithOptions")
            }
        }
    }

    /// Whether a function is of a class that is an app delegate, as far as the file shows.
    func isInAppDelegate(_ scope: SourceScope) -> Bool {
        guard let type = owner(around: scope.head) else { return false }
        return type.name.hasSuffix("AppDelegate")
            || type.inherited.contains("UIApplicationDelegate")
    }
}
