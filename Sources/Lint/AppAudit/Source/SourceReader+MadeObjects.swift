// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Finds registries of VoIP pushes and providers of calls that never get what they need to work.
extension SourceReader {
    /// An object that other files may use.
    struct MadeObject: Hashable, Sendable {
        let type: String
        let fault: SourceObservation.Fault
    }

    /// Reads whether an object of a type that is made gets a delegate, and a registry its types.
    mutating func readMaking(of type: String, _ index: Int) {
        guard let start = startOfMaking(index), isWhole(makingAt: index),
            let name = nameOfMade(type, before: assignment(of: start)),
            let uses = uses(ofMade: name, type), let fault = uses.fault(type)
        else { return }
        let count = digest.entries.count
        see(.fault(fault), at: index)
        guard !uses.sharedNames.isEmpty, digest.entries.count > count else { return }
        digest.entries[digest.entries.count - 1].unusedNames = uses.sharedNames
        digest.entries[digest.entries.count - 1].made = MadeObject(type: type, fault: fault)
    }

    /// Whether a property of another file with this name may get here what such an object lacks.
    func mayComplete(_ made: MadeObject, named name: String) -> Bool {
        // A box of this type may do something with its task.
        if made.fault == .taskPathWithoutEnd { return hasNoFunctions(name) == false }
        let places = text.places(of: name)
        guard places.count <= AuditLimits.headWords else { return true }
        return places.contains { index in
            switch use(ofMade: index, made.type) {
            case .declaration, .plain, .token: false
            case .delegate: made.fault != .pushRegistryWithoutTypes
            case .types: made.fault == .pushRegistryWithoutTypes
            case .alias, .other: true
            }
        }
    }

    /// Whether nothing is called of an object where it is made, and its own initializer makes it:
    /// `Type(…).then { … }`, and one of an extension does more.
    private func isWhole(makingAt index: Int) -> Bool {
        if text.isObjectiveC {
            guard let message = message(around: index), text.partners[message] > index else {
                return false
            }
            let outer = text.sees("[", at: message - 1) ? message - 1 : message
            let name = text[text.partners[message] + 1]?.text ?? ""
            let isOwn =
                outer == message
                || ["init", "initWithQueue", "initWithConfiguration"].contains(name)
            return isOwn && text.sees(";", at: text.partners[outer] + 1)
        }
        let open = text.sees("(", at: index + 1) ? index + 1 : index + 3
        let labels = text.call(at: open - 1).map { $0.arguments.map(\.label) } ?? []
        let next = text[text.partners[open] + 1]
        // An operator may give it anything.
        let isEnd =
            next?.kind != .mark
            || [")", "]", "}", ";", ",", "@"].contains { next?.isMark($0) == true }
        return text.partners[open] > open && isEnd
            && labels.allSatisfy { ["queue", "configuration"].contains($0) }
    }

    /// The names of a property, and of its variable in Objective-C.
    private func names(_ name: String) -> Set<String> {
        let bare = name.hasPrefix("_") ? String(name.dropFirst()) : name
        return text.isObjectiveC ? [bare, "_" + bare] : [name]
    }

    /// The members that give an object of these types nothing.
    private static let plainMembers = [
        "report", "invalidate", "configuration", "setConfiguration", "pendingCallActions",
        "pendingTransactions",
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

    /// What a file does with an object that it makes.
    private struct MadeUses {
        var hasDelegate = false
        var hasTypes = false
        var emptiesTypes = false
        var readsToken = false
        /// Whether it is only a local variable.
        var isLocal = true
        /// The names that other files may use; empty if none can.
        var sharedNames: Set<String> = []

        /// What the object lacks.
        func fault(_ type: String) -> SourceObservation.Fault? {
            guard type == "PKPushRegistry" else {
                return hasDelegate ? nil : .callsWithoutDelegate
            }
            // One that only knows the token needs no delegate, and one that is made to empty the
            // types ends what another one began.
            if emptiesTypes, !hasTypes { return isLocal ? nil : .pushRegistryWithoutTypes }
            if !hasDelegate { return readsToken && !hasTypes ? nil : .pushRegistryWithoutDelegate }
            return hasTypes ? nil : .pushRegistryWithoutTypes
        }
    }

    /// The maximum number of names that an object is followed under.
    private static let namesOfOne = 4

    /// What this file does with an object of this name; `nil` if it does or may do more.
    private func uses(ofMade name: String, _ type: String) -> MadeUses? {
        var uses = MadeUses()
        var pending = [name]
        var known: Set = [name]
        while let next = pending.popLast() {
            var isDeclared = false
            var isShared = false
            for name in names(next) {
                // A setter of its own may complete it.
                let setter = "set" + name.prefix(1).uppercased() + name.dropFirst()
                guard !text.isObjectiveC || text.functions[setter] == nil else { return nil }
                guard text.places(of: name).count <= AuditLimits.headWords else { return nil }
                for index in text.places(of: name) {
                    switch use(ofMade: index, type) {
                    case .declaration(let isOwn, let isLocal):
                        isDeclared = true
                        if !isOwn { isShared = true }
                        if !isLocal { uses.isLocal = false }
                    case .delegate: uses.hasDelegate = true
                    case .types(let isEmpty):
                        if isEmpty { uses.emptiesTypes = true } else { uses.hasTypes = true }
                    case .token: uses.readsToken = true
                    case .alias(let other):
                        if known.insert(other).inserted { pending.append(other) }
                    case .plain: continue
                    case .other: return nil
                    }
                }
            }
            guard known.count <= Self.namesOfOne else { return nil }
            if isDeclared, !isShared { continue }
            uses.isLocal = false
            uses.sharedNames.formUnion(names(next))
        }
        return uses
    }

    /// What is done with an object where it is named.
    private enum MadeUse {
        /// It is declared, so that other files may name it or not.
        case declaration(isOwn: Bool, isLocal: Bool)
        /// It gets a delegate.
        case delegate
        /// A registry gets its types, or loses them.
        case types(isEmpty: Bool)
        /// A registry is asked for the token.
        case token
        /// It gets another name.
        case alias(String)
        /// Something that gives it nothing.
        case plain
        /// Something that may give it anything.
        case other
    }

    private func use(ofMade index: Int, _ type: String) -> MadeUse {
        if text.isLabel(index) || text.sees("func", at: index - 1) { return .plain }
        // `[weak provider] in`
        if text.sees("weak", at: index - 1) || text.sees("unowned", at: index - 1) { return .plain }
        if let before = text[index - 1], before.isName("let") || before.isName("var") {
            // `guard let registry else`
            let isBinding = ["if", "guard", "while", "case"].contains {
                text.sees($0, at: index - 2)
            }
            if isBinding { return .plain }
            return hasOwnSetter(index) ? .other : declaration(index)
        }
        var end = index + 1
        while text.sees("?", at: end) || text.sees("!", at: end) { end += 1 }
        if text.sees(".", at: end) { return member(end + 1) }
        // A parameter of the delegate's functions has the same name more often than not.
        if text.sees(":", type, at: index + 1) { return .plain }
        if text.sees(type, "*", at: index - 2) {
            // A variable, or a property.
            let isLocal = text.sees("=", at: index + 1) && function(around: index) != nil
            let isOwn = isLocal || text.sees("static", at: index - 3)
            return .declaration(isOwn: isOwn, isLocal: isLocal)
        }
        // `@synthesize voip = voipRegistry_;`
        if text.sees("synthesize", at: index - 1), text.sees("=", at: index + 1),
            let other = text[index + 2]
        {
            return .alias(other.text)
        }
        if text.sees("=", at: end) || text.sees("==", at: end) || text.sees("!=", at: end) {
            return .plain
        }
        if text.sees("=", at: index - 1) { return alias(index) }
        guard text.isObjectiveC else { return .other }
        if text.sees(type, "*", ")", at: index - 3) { return .plain }
        if isOwnGetter(index) { return .plain }
        let receiver = text.sees("self", ".", at: index - 2) ? index - 2 : index
        guard text.sees("[", at: receiver - 1), let message = text[index + 1], message.isName else {
            return .other
        }
        if message.text == "setDelegate" { return .delegate }
        if message.text == "setDesiredPushTypes" { return .types(isEmpty: false) }
        if message.text == "pushTokenForType" { return .token }
        return Self.plainMembers.contains(where: message.text.hasPrefix) ? .plain : .other
    }

    /// A local variable, a property, or a global variable.
    private func declaration(_ index: Int) -> MadeUse {
        guard let scope = text.scopes(around: index).first(where: { _ in true }) else {
            return .declaration(isOwn: isPrivate(index), isLocal: false)
        }
        guard case .type = scope.kind else { return .declaration(isOwn: true, isLocal: true) }
        return .declaration(isOwn: isPrivate(index), isLocal: false)
    }

    /// Whether a property in Swift has accessors or a wrapper that get the object.
    private func hasOwnSetter(_ index: Int) -> Bool {
        let wrappers = modifiers(before: index - 1).filter { $0.first?.isUppercase == true }
        if !wrappers.isSubset(of: ["MainActor"]) { return true }
        let line = text.tokens[index].position.line
        let open = (index..<text.tokens.count).prefix(AuditLimits.headWords)
            .prefix { text.tokens[$0].position.line == line }
            .first { text.tokens[$0].isMark("{") }
        guard let open else { return false }
        return text.content(ofBracket: open).contains { word in
            ["set", "willSet"].contains(where: text.tokens[word].isName)
                && (text.sees("{", at: word + 1) || text.sees("(", at: word + 1))
                && text.scopes(around: word).first { _ in true }?.open == open
        }
    }

    private func isPrivate(_ index: Int) -> Bool {
        // The getter of `private(set)` is not.
        let words = modifiers(before: index - 1)
        guard !text.sees(")", at: index - 2) else { return false }
        return words.contains("private") || words.contains("fileprivate")
    }

    /// What a member of the object does: `.delegate = self`.
    private func member(_ index: Int) -> MadeUse {
        switch text[index]?.text {
        case "delegate", "setDelegate": return .delegate
        case "desiredPushTypes":
            let isEmpty =
                text.sees("=", "[", "]", at: index + 1) || text.sees("=", "nil", at: index + 1)
                || text.sees("=", "[", "NSSet", "set", "]", at: index + 1)
            return .types(isEmpty: isEmpty)
        case "pushToken": return .token
        case let name?: return Self.plainMembers.contains(where: name.hasPrefix) ? .plain : .other
        case nil: return .other
        }
    }

    /// The name that gets the object: `self.registry = made`, `let other = made`.
    private func alias(_ index: Int) -> MadeUse {
        guard let name = text[index - 2], name.isName,
            !text.sees(".", at: index - 3) || text.sees("self", at: index - 4)
        else { return .other }
        let next = text[index + 1]
        let isWhole =
            next.map {
                $0.isMark(";") || $0.isMark("}")
                    || $0.position.line > text.tokens[index].position.line && $0.isName
            } ?? true
        return isWhole ? .alias(name.text) : .other
    }

    /// Whether the getter of a property in Objective-C names its variable, or another function
    /// calls it for nothing but to have the object made: `if (!_provider)`, `return _provider;`,
    /// `[shared provider];`.
    private func isOwnGetter(_ index: Int) -> Bool {
        if text.sees("(", "!", at: index - 2), text.sees(")", at: index + 1) { return true }
        if text.sees("[", at: index - 2), text.sees("]", ";", at: index + 1),
            ["{", "}", ";"].contains(where: { text.sees($0, at: index - 3) })
        {
            return true
        }
        guard text.sees("return", at: index - 1), text.sees(";", at: index + 1),
            let (head, _) = function(around: index)
        else { return false }
        return names(text.tokens[index].text).contains(head.name)
    }
}
