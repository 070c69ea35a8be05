// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Reads the registries that apps register for VoIP pushes with, and the providers of their calls.
extension SourceReader {
    /// Reads `registry.desiredPushTypes = [.voIP]`, `[registry setDesiredPushTypes:types]`.
    mutating func readPushTypes(_ index: Int) {
        guard text.sees("=", at: index + 1) || text.sees(":", at: index + 1) else {
            see(.otherPushTypes, at: index)
            return
        }
        let line = text.tokens[index].position.line
        let value = text.tokens[(index + 2)...].prefix(AuditLimits.headWords)
            .prefix { $0.position.line <= line + 3 && !$0.isMark("}") }
        guard value.contains(where: { $0.isName("voIP") || $0.isName("PKPushTypeVoIP") }) else {
            see(.otherPushTypes, at: index)
            return
        }
        var occasion = lateOccasion(of: index)
        let function = occasion == .unknown ? calledFunction(around: index) : nil
        // A controller of the first view loads it at each launch of an app without scenes.
        if occasion == .viewController { occasion = .unknown }
        see(.voipRegistration(occasion), at: index)
        if function != nil { noteCallers(of: index) }
    }

    /// Reads where a registry is made.
    mutating func readPushRegistry(_ index: Int) {
        guard startOfMaking(index) != nil else { return }
        see(.pushRegistry, at: index)
        readMaking(of: "PKPushRegistry", index, .pushRegistryWithoutDelegate)
    }

    /// Reads whether an object of a type that is made gets a delegate.
    mutating func readMaking(of type: String, _ index: Int, _ fault: SourceObservation.Fault) {
        guard let start = startOfMaking(index), isWhole(makingAt: index),
            let name = nameOfMade(type, before: assignment(of: start)),
            let isOnlyHere = hasNoDelegate(name, type)
        else { return }
        see(.fault(fault), at: index)
        if !isOnlyHere { digest.entries[digest.entries.count - 1].unusedNames = names(name) }
    }

    /// The start of the expression that makes an object: `PKPushRegistry(queue: .main)`,
    /// `[[PKPushRegistry alloc] initWithQueue:queue]`, `[PKPushRegistry new]`.
    func startOfMaking(_ index: Int) -> Int? {
        if text.isObjectiveC {
            guard let word = text[index + 1], word.isName("alloc") || word.isName("new"),
                text.sees("[", at: index - 1)
            else { return nil }
            return word.isName("alloc") ? index - 2 : index - 1
        }
        let isMade = text.sees("(", at: index + 1) || text.sees(".", "init", "(", at: index + 1)
        guard isMade else { return nil }
        let hasModule =
            text.sees("PushKit", ".", at: index - 2) || text.sees("CallKit", ".", at: index - 2)
        return hasModule ? index - 2 : index
    }

    /// Whether nothing is called of an object where it is made: `Type(…).then { … }`.
    private func isWhole(makingAt index: Int) -> Bool {
        if text.isObjectiveC {
            guard let message = message(around: index), text.partners[message] > index else {
                return false
            }
            let outer = text.sees("[", at: message - 1) ? message - 1 : message
            return text.sees(";", at: text.partners[outer] + 1)
        }
        let open = text.sees("(", at: index + 1) ? index + 1 : index + 3
        return text.partners[open] > open && !text.sees(".", at: text.partners[open] + 1)
    }

    /// The names of a property, and of its variable in Objective-C.
    private func names(_ name: String) -> Set<String> {
        let bare = name.hasPrefix("_") ? String(name.dropFirst()) : name
        return text.isObjectiveC ? [bare, "_" + bare] : [name]
    }

    /// The members that give an object of these types no delegate.
    private static let plainMembers = [
        "desiredPushTypes", "setDesiredPushTypes", "report", "invalidate",
        "configuration", "setConfiguration",
    ]

    /// The equals sign before an object that is made, or before the closure that returns it and is
    /// called at once: `let provider: CXProvider = { … return CXProvider(configuration: c) }()`.
    private func assignment(of start: Int) -> Int {
        guard let scope = text.scopes(around: start).first(where: { _ in true }),
            case .closure = scope.kind,
            text.sees("return", at: start - 1) || start == scope.open + 1,
            text.sees("=", at: scope.open - 1), text.sees("(", ")", at: scope.close + 1)
        else { return start - 1 }
        return scope.open - 1
    }

    /// The name that gets an object: `let registry =`, `self.registry =`, `registry:
    /// PKPushRegistry =`.
    private func nameOfMade(_ type: String, before equals: Int) -> String? {
        guard text.sees("=", at: equals) else { return nil }
        var index = equals - 1
        if text.sees("?", at: index) || text.sees("!", at: index) { index -= 1 }
        if text.sees(type, at: index), text.sees(":", at: index - 1) { index -= 2 }
        guard let name = text[index], name.isName else { return nil }
        guard text.sees(".", at: index - 1) else { return name.text }
        return text.sees("self", at: index - 2) ? name.text : nil
    }

    /// Whether nothing in this file gives an object of this name a delegate, nor hands it on.
    /// `true` if no other file can, `nil` if this one does or may.
    private func hasNoDelegate(_ name: String, _ type: String) -> Bool? {
        guard text.places(of: name).count <= AuditLimits.headWords else { return nil }
        var declarations: [Bool] = []
        for name in names(name) {
            for index in text.places(of: name) {
                switch use(ofMade: index, type) {
                case .delegate, .other: return nil
                case .declaration(let isOwn): declarations.append(isOwn)
                case .plain: continue
                }
            }
        }
        return !declarations.isEmpty && !declarations.contains(false)
    }

    /// What is done with an object where it is named.
    private enum MadeUse {
        /// It is declared, so that other files may name it or not.
        case declaration(isOwn: Bool)
        /// It gets a delegate.
        case delegate
        /// Something that gives it none.
        case plain
        /// Something that may give it one.
        case other
    }

    private func use(ofMade index: Int, _ type: String) -> MadeUse {
        if text.isLabel(index) || text.sees("func", at: index - 1) { return .plain }
        if let before = text[index - 1], before.isName("let") || before.isName("var") {
            // A local variable, or a property.
            guard isInType(index) else { return .declaration(isOwn: true) }
            let words = modifiers(before: index - 1)
            return .declaration(
                isOwn: words.contains("private") || words.contains("fileprivate"))
        }
        var end = index + 1
        while text.sees("?", at: end) || text.sees("!", at: end) { end += 1 }
        if text.sees(".", at: end) {
            let isGiven =
                text.sees("delegate", at: end + 1) || text.sees("setDelegate", at: end + 1)
            if isGiven { return .delegate }
            let member = text[end + 1]?.text ?? ""
            return Self.plainMembers.contains(where: member.hasPrefix) ? .plain : .other
        }
        // A parameter of the delegate's functions has the same name more often than not.
        if text.sees(":", type, at: index + 1) { return .plain }
        if text.sees(type, "*", at: index - 2) {
            // A variable, or a property.
            return .declaration(isOwn: text.sees("=", at: index + 1))
        }
        if text.sees("=", at: end) || text.sees("==", at: end) || text.sees("!=", at: end) {
            return .plain
        }
        // `self.registry = registry`
        if text.sees("=", at: index - 1), text[index - 2]?.text == text.tokens[index].text {
            return .plain
        }
        guard text.isObjectiveC else { return .other }
        if text.sees(type, "*", ")", at: index - 3) { return .plain }
        let receiver = text.sees("self", ".", at: index - 2) ? index - 2 : index
        guard text.sees("[", at: receiver - 1), let message = text[index + 1], message.isName else {
            return .other
        }
        if message.text == "setDelegate" { return .delegate }
        return Self.plainMembers.contains(where: message.text.hasPrefix) ? .plain : .other
    }

    /// Whether a token is in a type, and in no function of it.
    private func isInType(_ index: Int) -> Bool {
        for scope in text.scopes(around: index) {
            if case .type = scope.kind { return true }
            return false
        }
        return false
    }
}
