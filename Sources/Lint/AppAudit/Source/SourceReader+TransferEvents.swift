// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Reads the events of background sessions.
extension SourceReader {
    /// Reads the handler of a background session's events, which has to call its completion handler
    /// or to keep it.
    mutating func readTransferEvents(_ head: SourceScope.FunctionHead, _ scope: SourceScope) {
        // UIKit calls the app delegate's alone.
        guard head.has("handleEventsForBackgroundURLSession"),
            text.type(around: scope.head)?.isSceneDelegate != true
        else { return }
        see(.backgroundSessionEvents, at: scope.head)
        guard let completion = head.parameters.first(where: { $0.label == "completionHandler" })
        else { return digest.eventCalls.append(nil) }
        digest.eventCalls.append(calls(ofHandler: scope, completion: completion.name))
        let uses = text.content(ofBracket: scope.open).filter {
            text.tokens[$0].isName(completion.name) && !text.isLabel($0) && !isAskedFor($0)
        }
        guard !uses.isEmpty else {
            see(.fault(.transferEventsWithoutCompletion), at: scope.head)
            return
        }
        digest.transferKeepers.formUnion(uses.compactMap(transferKeeper))
        // `guard identifier == own else { return completionHandler() }`
        let own = uses.filter { !(isCall($0) && isInGuard($0, of: scope)) }
        guard own.count == 1, let use = own.first, uses.count == 1 || !isCall(use) else {
            if let call = lastCallAtOnce(uses, in: scope) {
                see(.fault(.transferEventsCompletedAtOnce), at: call)
            }
            return
        }
        // `DispatchQueue.main.async { completionHandler() }` is at once too.
        let around = text.scopes(around: use).first { around in
            switch around.kind {
            case .closure("async"): false
            case .control("if"): !asksOnlyFor(completion.name, around)
            default: true
            }
        }
        if isCall(use), around?.open == scope.open {
            guard !dependsOnCondition(use, completion.name) else { return }
            see(.fault(.transferEventsCompletedAtOnce), at: use)
        } else if let (kept, name) = keptName(use) {
            let isCalledHere = text.tokens.indices.contains { word in
                text.tokens[word].isName(name)
                    && (text.sees("(", at: word + 1) || text.sees("?", "(", at: word + 1)
                        || text.sees("!", "(", at: word + 1))
            }
            if isCalledHere {
                see(.keptTransferCompletion, at: use)
            } else if let (words, isCopied) = unusedProperty(name, assignedAt: kept),
                digest.entries.count < AuditLimits.observationsPerFile
            {
                see(.fault(.transferCompletionKeptForNothing), at: use)
                digest.entries[digest.entries.count - 1].unusedNames = words
                digest.entries[digest.entries.count - 1].isCopiedAtLaunch = isCopied
            } else {
                readKeptElsewhere(use)
            }
        } else {
            readKeptElsewhere(use)
        }
    }

    /// Whether a token is in the block of a `guard` of a function.
    private func isInGuard(_ index: Int, of function: SourceScope) -> Bool {
        text.scopes(around: index).prefix { $0.open > function.open }.contains { scope in
            if case .control("guard") = scope.kind { true } else { false }
        }
    }

    /// The last of several calls of a completion handler, if nothing else is done with it, and each
    /// runs within the handler of the events: `guard identifier == own else { return handler() }`.
    private func lastCallAtOnce(_ uses: [Int], in handler: SourceScope) -> Int? {
        let around = { [text] (use: Int) in
            text.scopes(around: use).filter { scope in
                if case .closure("async") = scope.kind { false } else { true }
            }
            .prefix { $0.open > handler.open }
        }
        guard !text.isObjectiveC, uses.allSatisfy(isCall),
            uses.allSatisfy({ use in
                around(use).allSatisfy { scope in
                    if case .control = scope.kind { true } else { false }
                }
            }), !text.content(ofBracket: handler.open).contains(where: waits)
        else { return nil }
        return uses.last { around($0).isEmpty }
    }

    /// Whether a token is all that a condition of Objective-C asks for: `if (handler) {`, `if
    /// (handler != nil) {`.
    private func isAskedFor(_ index: Int) -> Bool {
        guard text.isObjectiveC, text.sees("if", "(", at: index - 2) else { return false }
        return text.sees(")", at: index + 1)
            || text.sees("!=", at: index + 1) && text.sees(")", at: index + 3)
                && ["nil", "NULL"].contains(text[index + 2]?.text)
    }

    /// Whether a call in Objective-C is part of a statement or an expression that other conditions
    /// decide on: `if (!own) handler();`, `else handler();`, `own ? store() : handler();`.
    private func dependsOnCondition(_ call: Int, _ name: String) -> Bool {
        guard text.isObjectiveC, let before = text[call - 1] else { return false }
        if before.isMark(")"), text.partners[call - 1] > 0 {
            let asked = text.partners[call - 1] + 1
            return !(text.sees(name, at: asked) && isAskedFor(asked))
        }
        return !["{", "}", ";"].contains(where: before.isMark)
    }

    private func asksOnlyFor(_ name: String, _ scope: SourceScope) -> Bool {
        text.sees(name, at: scope.head + 2) && isAskedFor(scope.head + 2)
    }

    /// The property of the own object that gets a completion handler, `self.done = handler`, `done
    /// = [handler copy]`, `done[identifier] = handler`, with its place.
    private func keptName(_ use: Int) -> (index: Int, name: String)? {
        let isCopied = text.sees("[", at: use - 1) && text.sees("copy", "]", at: use + 1)
        let equals = isCopied ? use - 2 : use - 1
        let isEntry = !text.isObjectiveC && text.sees("]", at: equals - 1)
        let place = isEntry ? text.partners[equals - 1] - 1 : equals - 1
        guard text.sees("=", at: equals), let name = text[place], name.isName else { return nil }
        // Another type may call what it gets.
        let isKept =
            !isEntry
            || text.places(of: name.text).contains {
                text.sees("var", at: $0 - 1) && text.sees(":", "[", at: $0 + 1)
            }
        return isKept ? (place, name.text) : nil
    }

    /// The names of a property that only its declaration and one assignment mention in this file,
    /// and that other files can use by these names alone, with whether the launch copies it too,
    /// when it is still `nil`; `nil` if it has uses, or may have others.
    private func unusedProperty(
        _ name: String, assignedAt place: Int
    ) -> (names: Set<String>, isCopied: Bool)? {
        let owners = ["self", "Self", text.type(around: place)?.name ?? "self"]
        let isOwn =
            owners.contains { text.sees($0, ".", at: place - 2) } && !text.sees(".", at: place - 3)
            || !text.sees(".", at: place - 1) && !text.sees("->", at: place - 1)
        guard isOwn, WordFilter.canFind(name) else { return nil }
        let bare = name.hasPrefix("_") ? String(name.dropFirst()) : name
        guard let first = bare.first else { return nil }
        let setter = "set" + first.uppercased() + bare.dropFirst()
        let names: Set = [bare, "_" + bare, setter]
        var isDeclared = false
        var isEmpty = false
        var isCopied = false
        for index in text.tokens.indices where index != place {
            let token = text.tokens[index]
            if token.isString, mayBeKey(token.text, of: names) { return nil }
            guard token.isName, names.contains(token.text) else { continue }
            if declaresProperty(index) {
                isDeclared = true
                let end = text.statementEnd(index, index..<text.tokens.count)
                isEmpty = !(index..<end).contains {
                    text.sees("=", at: $0) && !text.sees("=", "nil", at: $0)
                }
            } else if isCopyAtLaunch(index, of: name) {
                isCopied = true
            } else if !(text.sees("=", "nil", at: index + 1) || text.isLabel(index)
                || onlyAsks(index))
            {
                return nil
            }
        }
        return isDeclared && (isEmpty || !isCopied) ? (names, isCopied) : nil
    }

    /// Whether a token is part of a statement that the launch runs, and that copies a property of
    /// the app delegate into another object: `loader.done = done`.
    private func isCopyAtLaunch(_ index: Int, of name: String) -> Bool {
        let equals = [index + 1, index - 1, index - 3].first { text.sees("=", at: $0) }
        guard !text.isObjectiveC, let equals, let owner = text[equals - 3], owner.isName,
            owner.text != "self", text.sees(".", at: equals - 2),
            !text.sees(".", at: equals - 4), text[equals - 4] != nil
        else { return false }
        let value = text.sees("self", ".", at: equals + 1) ? equals + 3 : equals + 1
        guard text.sees(name, at: value), index == value || index == equals - 1,
            let next = text[value + 1], next.position.line > text.tokens[value].position.line,
            !next.isMark("."), !next.isMark("?")
        else { return false }
        for scope in text.scopes(around: index) {
            switch scope.kind {
            case .control(let keyword) where ["if", "guard", "else", "do"].contains(keyword):
                continue
            case .function(let head):
                return head.has("didFinishLaunchingWithOptions")
                    || head.has("willFinishLaunchingWithOptions")
            case .control, .closure, .type: return false
            }
        }
        return false
    }

    /// Whether all places of a name in a file are of a property of a type there that is no app
    /// delegate: its declaration, the requirement of a protocol, `done`, `self.done`.
    func hasOnlyOwnProperty(_ name: String) -> Bool {
        guard !text.isObjectiveC else { return false }
        let places = text.places(of: name)
        let owners = places.filter { text.sees("var", at: $0 - 1) }
            .compactMap { text.type(around: $0)?.name }
        return !places.isEmpty
            && places.allSatisfy { place in
                guard let type = text.type(around: place)?.name, owners.contains(type),
                    !type.hasSuffix("Delegate")
                else { return false }
                return !text.sees(".", at: place - 1)
                    || text.sees("self", at: place - 2) && !text.sees(".", at: place - 3)
            }
    }

    /// Whether a token is the name of a property in its declaration: `var done: (() -> Void)?` in a
    /// class that no protocol of the app asks for it, `@property (copy) void (^done)(void);`.
    func declaresProperty(_ index: Int) -> Bool {
        guard text.isObjectiveC else {
            guard text.sees("var", at: index - 1), text.sees(":", at: index + 1),
                text.type(around: index) != nil
            else { return false }
            // What observes it is called by its assignments.
            let line = text.statementEnd(index, index..<text.tokens.count)
            guard !["{", "}"].contains(where: { text.sees($0, at: line - 1) }),
                !text.sees("{", at: line)
            else { return false }
            let words = modifiers(before: index - 1)
            // What wraps it has the value too.
            guard words.isSubset(of: Self.modifiers.union(["objc"])) else { return false }
            return words.contains("private") || words.contains("fileprivate")
                || words.isSubset(of: ["internal", "static"]) && plainType(around: index) != nil
        }
        // A block: its name is behind the caret.
        guard text.sees("^", at: index - 1) || text[index - 1]?.isName == true else { return false }
        let start = (max(0, index - AuditLimits.headWords)..<index).last { word in
            text.sees("@", "property", at: word) || text.tokens[word].isMark(";")
        }
        return start.map { start in
            // It may be asked for by another name.
            text.sees("@", "property", at: start)
                && !(start..<index).contains {
                    text.tokens[$0].isName("getter") || text.tokens[$0].isName("setter")
                }
        } == true
    }

    /// Reads whether a background session in Objective-C has this delegate: `[NSURLSession
    /// sessionWithConfiguration:configuration delegate:self delegateQueue:nil]`.
    mutating func readDelegate(ofSession index: Int, _ body: Range<Int>) {
        let makers = body.filter { text.sees("sessionWithConfiguration", ":", at: $0) }
        guard makers.count == 1, let make = makers.first,
            let site = text.call(at: make), let configuration = site.arguments.first?.range
        else { return }
        let isDirect = configuration.contains(index)
        let isNamed =
            configuration.count == 1
            && body.contains { word in
                word < index && text.tokens[word].isName(text.tokens[configuration.lowerBound].text)
                    && text.sees("=", "[", at: word + 1) && text.partners[word + 2] > index
            }
        let isOwn = site.arguments.contains { argument in
            argument.label == "delegate" && argument.range.count == 1
                && text.sees("self", at: argument.range.lowerBound)
        }
        if isDirect || isNamed, isOwn { see(.delegatedSession, at: make) }
    }
}
