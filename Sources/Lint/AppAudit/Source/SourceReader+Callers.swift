// SPDX-License-Identifier: Apache-2.0

/// Finds functions that the system does not call, so that only the app's own text can.
extension SourceReader {
    /// The longest chain of functions that is followed.
    private static let chainLength = 4

    /// The words of which one has to be in the app's text for the code at a token to run, then
    /// those for the functions of this file that have them, and so on, until the system may call
    /// one.
    func callChain(of index: Int) -> [Set<String>] {
        guard let function = outerFunction(of: index) else { return [] }
        if let known = notes.callChains[function.open] { return known }
        let chain = findCallChain(of: index)
        notes.callChains[function.open] = chain
        return chain
    }

    private func findCallChain(of index: Int) -> [Set<String>] {
        var chain: [Set<String>] = []
        var known: Set<String> = []
        var places = [index]
        while chain.count < Self.chainLength, !places.isEmpty {
            var words: Set<String> = []
            for place in places {
                guard let callers = callers(of: place) else { return chain }
                words.formUnion(callers)
            }
            words.subtract(known)
            guard !words.isEmpty else { break }
            chain.append(words)
            known.formUnion(words)
            // The names of callbacks are those of parameters too.
            guard words.isDisjoint(with: Self.delegateFunctions) else { break }
            places = words.flatMap { uses[$0] ?? [] }
        }
        return chain
    }

    /// The places at which each function of this file is named, and not declared.
    var uses: [String: [Int]] {
        if let known = notes.uses { return known }
        var declared: Set<Int> = []
        for scope in text.scopes {
            guard case .function(let head) = scope.kind else { continue }
            declared.formUnion(
                (scope.head..<scope.open).prefix(AuditLimits.headWords).filter {
                    text.tokens[$0].isName(head.name)
                })
        }
        var found: [String: [Int]] = [:]
        for name in functions.keys {
            let uses = text.places(of: name).filter { !declared.contains($0) }
            if !uses.isEmpty { found[name] = uses }
        }
        notes.uses = found
        return found
    }

    /// The words of which one has to be in the app's text for the code at a token to run: the name
    /// of its function, or an extension of its type; `nil` if the system may call it.
    func callers(of index: Int) -> Set<String>? {
        guard let function = outerFunction(of: index) else { return nil }
        if let known = notes.callers[function.open] { return known }
        let callers = callers(ofFunction: function)
        notes.callers[function.open] = .some(callers)
        return callers
    }

    private func callers(ofFunction function: SourceScope) -> Set<String>? {
        guard case .function(let head) = function.kind else { return nil }
        if text.isObjectiveC { return callers(ofMethod: head, function) }
        let words = modifiers(before: function.head)
        guard words.isSubset(of: Self.plainModifiers) else { return nil }
        let isPrivate = words.contains("private") || words.contains("fileprivate")
        if Self.delegateFunctions.contains(head.name) {
            // A type that inherits nothing is no delegate, unless an extension makes it one.
            guard let type = plainType(around: function.head), type.inherited.isEmpty,
                WordFilter.canFind(type.name)
            else { return nil }
            return [head.name, type.name]
        }
        let isCallback =
            ["init", "main", "deinit"].contains(head.name)
            || Self.callbackNames.contains { head.name.hasPrefix($0) }
        // What begins with a capital is looked for as a type.
        guard !isCallback, WordFilter.canFind(head.name), head.name.first?.isUppercase != true
        else { return nil }
        let hasType = text.type(around: function.head) != nil
        guard isPrivate || !hasType || plainType(around: function.head) != nil else { return nil }
        return [head.name]
    }

    /// The name of a method of an app delegate that is no callback. What other classes inherit is
    /// not in their text, and Swift has other names for methods with parameters.
    private func callers(
        ofMethod head: SourceScope.FunctionHead, _ method: SourceScope
    ) -> Set<String>? {
        guard head.parameters.isEmpty, !Self.callbackNames.contains(where: head.name.hasPrefix),
            owner(around: method.head)?.name.hasSuffix("AppDelegate") == true,
            !text.tokens[method.head..<method.open].contains(where: { $0.isName("IBAction") }),
            !["init", "dealloc", "load", "initialize"].contains(head.name),
            WordFilter.canFind(head.name)
        else { return nil }
        return [head.name]
    }

    /// Whether code runs only on systems that Xcode builds for no more: `if #available(iOS 10, *) {
    /// … } else { … }`, or behind such an `if` that returns.
    func isForOldSystems(_ index: Int) -> Bool {
        text.scopes(around: index).contains { scope in
            if followsNewSystems(index, in: scope) { return true }
            guard case .control(let keyword) = scope.kind else { return false }
            if keyword == "guard" { return asksForNewSystem(scope.head..<scope.open - 1) }
            // `else {`, `else if … {`
            let word = keyword == "if" ? scope.head - 1 : scope.head
            guard text.sees("else", at: word), text.sees("}", at: word - 1),
                let first = text.scope(openedAt: text.partners[word - 1]),
                case .control("if") = first.kind
            else { return false }
            return asksForNewSystem(first.head..<first.open)
        }
    }

    /// Whether a token is behind a block of a scope that leaves the function on newer systems.
    private func followsNewSystems(_ index: Int, in scope: SourceScope) -> Bool {
        if case .type = scope.kind { return false }
        return text.scopes.contains { block in
            guard scope.open < block.head, block.close < index, case .control("if") = block.kind,
                text.scopeIndices[block.open] == text.scopeIndices[scope.open + 1]
            else { return false }
            return asksForNewSystem(block.head..<block.open) && leaves(block)
        }
    }

    /// Whether a condition asks for nothing but a system that has been there for long.
    private func asksForNewSystem(_ condition: Range<Int>) -> Bool {
        let check = condition.first { text.tokens[$0].text == "available" }
        let systems = text.content(ofBracket: (check ?? condition.lowerBound) + 1)
        // A further condition may fail on any system.
        guard condition.count < 20,
            !condition.contains(where: { index in
                ["&&", "||", "!", "==", ","].contains(where: text.tokens[index].isMark)
                    && !systems.contains(index)
            })
        else { return false }
        if condition.contains(where: { index in
            text.sees("NSClassFromString", "(", at: index)
                && text.tokens[index...].prefix(4).contains {
                    $0.isString && $0.text == "UNUserNotificationCenter"
                }
        }) {
            return true
        }
        guard let check else { return isForNewSystem(condition) }
        guard text.sees("(", "iOS", at: check + 1),
            let version = text[check + 3].flatMap({ Double($0.text) })
        else { return false }
        return version < 13
    }

    private static let versions: Set = [
        "systemversion", "systemversionnum", "systemversionnumber", "iosversion",
        "iosversionnumber", "currentsystemversion", "osversion",
    ]

    /// Whether a condition compares the version of the system: `systemVersion >= 10.0`,
    /// `[[UIDevice currentDevice].systemVersion floatValue] >= 10.0`.
    private func isForNewSystem(_ condition: Range<Int>) -> Bool {
        guard
            let mark = condition.first(where: {
                text.tokens[$0].isMark(">=") || text.tokens[$0].isMark(">")
            }), condition.contains(mark - 1), condition.contains(mark + 1),
            let version = Double(text.tokens[mark + 1].text), 8...12.9 ~= version
        else { return false }
        let before = text.tokens[condition.lowerBound..<mark].suffix(4).filter(\.isName)
        guard let last = before.last else { return false }
        if ["floatValue", "doubleValue", "integerValue", "intValue"].contains(last.text) {
            return before.contains { $0.text == "systemVersion" }
        }
        return Self.versions.contains(last.text.lowercased())
    }

    /// The function around a token, or that starts there, and in no other function.
    func outerFunction(of index: Int) -> SourceScope? {
        var found = heads[index]
        for scope in text.scopes(around: index) {
            switch scope.kind {
            case .function: found = scope
            case .type: return found
            case .control, .closure: continue
            }
        }
        return found
    }

    /// The functions by the first token of their heads.
    private var heads: [Int: SourceScope] {
        if let known = notes.heads { return known }
        let heads = text.scopes.reduce(into: [Int: SourceScope]()) { heads, scope in
            guard case .function = scope.kind else { return }
            heads[scope.head] = heads[scope.head] ?? scope
        }
        notes.heads = heads
        return heads
    }

    /// The attributes and modifiers of a declaration, such as `override` or `objc`.
    func modifiers(before start: Int) -> Set<String> {
        var words: Set<String> = []
        var index = start - 1
        while let token = text[index] {
            if token.isMark(")"), text.partners[index] > 0 {
                index = text.partners[index] - 1
                continue
            }
            let isAttribute = text.sees("@", at: index - 1)
            guard token.isName, isAttribute || Self.modifiers.contains(token.text) else { break }
            words.insert(token.text)
            index -= isAttribute ? 2 : 1
        }
        return words
    }

    /// The type around a token with what it inherits in this file, if it is declared in it and
    /// inherits only types whose functions are known.
    func plainType(around index: Int) -> SourceScope.TypeHead? {
        guard let name = text.type(around: index)?.name else { return nil }
        var inherited: [String] = []
        var isDeclared = false
        for scope in text.scopes {
            guard case .type(let head) = scope.kind, head.name == name else { continue }
            inherited += head.inherited
            if ["class", "struct", "enum", "actor"].contains(text.tokens[scope.head].text) {
                isDeclared = modifiers(before: scope.head)
                    .isSubset(of: Self.plainModifiers.union(Self.appDelegateAttributes))
            }
        }
        let isKnown = inherited.allSatisfy { type in
            Self.knownTypes.contains(type)
                || ["AppDelegate", "ViewController"].contains(where: type.hasSuffix)
        }
        return isDeclared && isKnown
            ? SourceScope.TypeHead(name: name, inherited: inherited) : nil
    }

    static let modifiers: Set = [
        "private", "fileprivate", "internal", "package", "public", "open", "static", "class",
        "final", "override", "nonisolated", "mutating", "dynamic", "required", "convenience",
    ]

    /// The modifiers and attributes of a declaration that only the module itself can use.
    private static let plainModifiers: Set = [
        "private", "fileprivate", "internal", "static", "class", "final", "nonisolated",
        "mutating", "MainActor", "available", "discardableResult", "inline", "Sendable",
    ]

    /// Attributes of a class that show none of its functions to others.
    private static let appDelegateAttributes: Set = ["objc", "main", "UIApplicationMain"]

    /// Functions of delegates whose names alone tell nothing.
    private static let delegateFunctions: Set = ["application", "pushRegistry"]

    /// The starts of the names of functions that the system calls.
    static let callbackNames = [
        "application", "scene", "window", "view", "userNotificationCenter", "messaging",
        "provider", "locationManager", "urlSession", "session", "pushRegistry", "didReceive",
        "windowScene", "body", "sceneDid", "sceneWill",
    ]

    /// The types whose functions have the names of callbacks, or none.
    private static let knownTypes: Set = [
        "NSObject", "UIResponder", "UIApplicationDelegate", "UIWindowSceneDelegate",
        "UISceneDelegate", "UNUserNotificationCenterDelegate", "MessagingDelegate",
        "PKPushRegistryDelegate", "CXProviderDelegate", "CLLocationManagerDelegate", "View",
        "App", "ObservableObject", "Sendable", "Identifiable", "Equatable", "Hashable",
        "URLSessionDelegate", "URLSessionDownloadDelegate",
    ]
}
