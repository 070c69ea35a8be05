// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Finds the values of identifiers of tasks that loops and callers hand to one registration or one
/// request: `for id in [refresh, sync] { register(id) }`.
extension SourceReader {
    /// A value of an identifier.
    private enum IdentifierValue: Hashable {
        /// The expression at a token.
        case expression(Int)
        /// A case of an enumeration, at the token that names it.
        case named(ConstantReference, Int)
        /// All cases of an enumeration of this file.
        case all(String)

        /// The text of one case.
        typealias Case = (name: String, value: String)
    }

    /// Sees each known value of the name at a token, at the place of the value.
    mutating func seeValues(_ subject: SourceObservation.Subject, of expression: Int) {
        let isRaw = text.sees(".", "rawValue", at: expression + 1)
        let end = expression + (isRaw ? 3 : 1)
        guard !text.isObjectiveC, let name = text[expression], name.isName,
            text.sees(",", at: end) || text.sees(")", at: end)
        else { return }
        var known: Set<ConstantReference> = []
        var literals: Set<String> = []
        for value in values(of: name.text, at: expression, depth: 0).prefix(AuditLimits.headWords) {
            switch value {
            case .expression(let place):
                switch ConstantExpression(at: place, in: text) {
                case .literal(let text): guard literals.insert(text).inserted else { continue }
                case .reference(let name): guard known.insert(name).inserted else { continue }
                case .unknown: continue
                }
                // That call is one of its own.
                guard !text.sees("register", "(", "forTaskWithIdentifier", ":", at: place - 4)
                else { continue }
                see(subject, ofValueAt: place) { $0.see($1, at: place, named: place) }
            case .named(let reference, let place):
                guard isRaw, known.insert(reference).inserted else { continue }
                let own = reference.type.flatMap { cases(of: $0, usedAt: expression) }
                let value = own.map { $0.first { $0.name == reference.name }?.value }
                if case .some(nil) = value { continue }
                see(subject, ofValueAt: place) { reader, subject in
                    reader.see(subject, at: place, as: value ?? nil, or: reference)
                }
            case .all(let type):
                guard isRaw, hasAllCases(type) else { continue }
                for (name, value) in cases(of: type, usedAt: expression) ?? [] {
                    let reference = ConstantReference(name: name, type: type)
                    guard known.insert(reference).inserted else { continue }
                    see(subject, ofValueAt: expression) {
                        $0.see($1, at: expression, as: value, or: reference)
                    }
                }
            }
        }
    }

    /// Sees a value that code at a token hands on; a function that is called from nowhere in its
    /// file may never run.
    private mutating func see(
        _ subject: SourceObservation.Subject, ofValueAt place: Int,
        by seeing: (inout SourceReader, SourceObservation.Subject) -> Void
    ) {
        let seen = digest.entries.count
        if case .registeredTask = subject, let function = calledFunction(around: place),
            !["application", "init"].contains(function.name), uses(of: function).isEmpty
        {
            seeing(&self, .registeredTask(nil, .elsewhere))
        } else {
            seeing(&self, subject)
        }
        for entry in digest.entries.indices.dropFirst(seen) {
            digest.entries[entry].askers = callChain(of: place)
            digest.entries[entry].callers = digest.entries[entry].askers
        }
    }

    private mutating func see(
        _ subject: SourceObservation.Subject, at index: Int, as value: String?,
        or reference: ConstantReference
    ) {
        guard digest.entries.count < AuditLimits.observationsPerFile else { return }
        see(subject, at: index)
        guard let value else {
            digest.entries[digest.entries.count - 1].reference = reference
            return
        }
        digest.entries[digest.entries.count - 1].name(value)
    }

    /// The values that a name has: the elements of what its loop goes through, or the arguments of
    /// the calls of its function in this file.
    private func values(of name: String, at index: Int, depth: Int) -> [IdentifierValue] {
        guard isUnconditional(index) else { return [] }
        for scope in text.scopes(around: index) {
            // Another name may hide it, or a condition leave values out.
            let isUsedBefore = text.places(of: name, in: scope.open..<index).contains { word in
                !text.isLabel(word) && !text.sees("\\(", at: word - 1)
                    && !text.sees("taskRequestWithIdentifier", ":", at: word - 2)
                    && !isParameter(word, of: scope)
            }
            guard !isUsedBefore else { return [] }
            switch scope.kind {
            case .control("for"):
                guard text.sees(name, "in", at: scope.head + 1) else { continue }
                if text.sees(".", "allCases", "{", at: scope.head + 4) {
                    return [.all(text.tokens[scope.head + 3].text)]
                }
                return elements(at: scope.head + 3, around: scope.head).map(
                    IdentifierValue.expression)
            case .control: continue
            case .closure:
                guard text.parameters(ofClosure: scope).contains(name) else { continue }
                guard text.sees("forEach", at: scope.open - 1), text.sees(".", at: scope.open - 2)
                else { return [] }
                var start = scope.open - 3
                if text.sees(".", "allCases", at: start - 1), let type = text[start - 2] {
                    return [.all(type.text)]
                }
                if text.sees("]", at: start), text.partners[start] >= 0 {
                    start = text.partners[start]
                }
                return elements(at: start, around: start).map(IdentifierValue.expression)
            case .function(let head):
                guard let place = head.parameters.firstIndex(where: { $0.name == name }) else {
                    return []
                }
                let types = head.parameters[place].types
                return arguments(for: place, of: head, scope).filter(isUnconditional).flatMap {
                    argument in
                    values(ofArgument: argument, types.count == 1 ? types[0] : nil, depth: depth)
                }
            case .type: return []
            }
        }
        return []
    }

    /// The values of an argument: those of a name with several, or one.
    private func values(ofArgument index: Int, _ type: String?, depth: Int) -> [IdentifierValue] {
        func isEnd(_ index: Int) -> Bool {
            text.sees(",", at: index) || text.sees(")", at: index)
        }
        let isShort = text.sees(".", at: index)
        let name = isShort ? index + 1 : index + 2
        if let type, type != "String", isShort || text.sees(type, ".", at: index), isEnd(name + 1) {
            let reference = ConstantReference(name: text.tokens[name].text, type: type)
            return [.named(reference, name)]
        }
        if depth < 2, let name = text[index], name.isName, isEnd(index + 1) {
            let further = values(of: name.text, at: index, depth: depth + 1)
            if !further.isEmpty { return further }
        }
        return [.expression(index)]
    }

    /// Whether a token runs each time that its function does, on newer systems at least: another
    /// app of the same code may leave out what has a condition.
    private func isUnconditional(_ index: Int) -> Bool {
        for scope in text.scopes(around: index) {
            switch scope.kind {
            case .control(let keyword):
                guard ["for", "do"].contains(keyword) || asksOnlyForSystem(scope) else {
                    return false
                }
            case .closure, .function:
                guard !mayLeave(scope, before: index) else { return false }
            case .type: return true
            }
        }
        return true
    }

    /// Whether a block in a function or a closure leaves it, or a loop of it, before a token.
    private func mayLeave(_ function: SourceScope, before index: Int) -> Bool {
        ["return", "throw", "continue", "break"].contains { word in
            text.places(of: word, in: function.open..<index).contains { exit in
                for block in text.scopes(around: exit) {
                    guard case .control = block.kind else { return false }
                    if block.close > index || asksOnlyForSystem(block) { return false }
                    if block.parent >= 0, text.scopes[block.parent].close > index { return true }
                }
                return false
            }
        }
    }

    /// Whether the condition around an identifier asks which app runs, or whether Info.plist has
    /// the identifier.
    func asksForApp(around expression: Int) -> Bool {
        guard let identifier = text[expression] else { return false }
        for scope in text.scopes(around: expression) {
            switch scope.kind {
            case .control:
                let head = scope.head..<scope.open
                let asks = head.prefix(AuditLimits.headWords).contains { word in
                    text.tokens[word].isName("bundleIdentifier")
                        || text.sees("contains", "(", at: word - 2)
                            && text.tokens[word].kind == identifier.kind
                            && text.tokens[word].text == identifier.text
                }
                if asks { return true }
            case .closure, .function: continue
            case .type: return false
            }
        }
        return false
    }

    /// Whether a block has no condition but `#available`.
    private func asksOnlyForSystem(_ block: SourceScope) -> Bool {
        guard text[block.head + 1]?.text == "available", text.sees("(", at: block.head + 2) else {
            return false
        }
        let end = text.partners[block.head + 2] + 1
        return end == block.open || end == block.open - 1 && text.sees("else", at: end)
    }

    /// Whether `allCases` of an enumeration of this file are all, because itself it is iterable.
    private func hasAllCases(_ type: String) -> Bool {
        let declares = text.places(of: "allCases").contains {
            text.sees("let", at: $0 - 1) || text.sees("var", at: $0 - 1)
        }
        return !declares
            && text.scopes.contains { scope in
                guard case .type(let head) = scope.kind, head.name == type else { return false }
                return text.tokens[scope.head].isName("enum")
                    && head.inherited.contains("CaseIterable")
            }
    }

    /// The cases of an enumeration of this file whose raw values are texts, as far as an app for
    /// devices has them; `nil` if the file declares no type of the name.
    private func cases(of type: String, usedAt index: Int) -> [IdentifierValue.Case]? {
        if let known = notes.cases[type] { return known }
        let found = findCases(of: type, usedAt: index)
        notes.cases[type] = .some(found)
        return found
    }

    private func findCases(of type: String, usedAt index: Int) -> [IdentifierValue.Case]? {
        let isOther = text.places(of: type).contains { text.sees("typealias", at: $0 - 1) }
        let declared = text.scopes.compactMap { scope in
            if case .type(let head) = scope.kind, head.name == type,
                !text.tokens[scope.head].isName("extension")
            {
                (scope, head)
            } else {
                nil
            }
        }
        guard let (scope, head) = declared.first else { return isOther ? [] : nil }
        guard declared.count == 1, !isOther, text.tokens[scope.head].isName("enum"),
            head.inherited.contains("String"), isVisible(scope, at: index),
            !text.places(of: "rawValue").contains(where: { text.sees("var", at: $0 - 1) })
        else { return [] }
        let body = text.content(ofBracket: scope.open)
        return text.places(of: "case", in: body).flatMap { keyword -> [IdentifierValue.Case] in
            guard text.scopeIndices[keyword] == text.scopeIndices[scope.open + 1],
                text.isBuiltForIOS(keyword)
            else { return [] }
            var found: [IdentifierValue.Case] = []
            var name = keyword + 1
            while found.count < AuditLimits.headWords, text.sees("=", at: name + 1),
                let value = text[name + 2], case .string(isInterpolated: false) = value.kind
            {
                found.append((text.tokens[name].text, value.text))
                guard text.sees(",", at: name + 3) else { break }
                name += 4
            }
            return found
        }
    }

    /// Whether the name of a type alone means it at a token: it is in no other type.
    private func isVisible(_ type: SourceScope, at index: Int) -> Bool {
        guard let outer = text.type(around: type.head)?.name else { return true }
        return text.scopes(around: index).contains { scope in
            if case .type(let head) = scope.kind { head.name == outer } else { false }
        }
    }

    /// Whether a token is in the head of a closure: `{ id in`.
    private func isParameter(_ index: Int, of scope: SourceScope) -> Bool {
        guard case .closure = scope.kind else { return false }
        return (index..<index + AuditLimits.headWords).prefix { text[$0] != nil }
            .prefix { text.tokens[$0].position.line == text.tokens[index].position.line }
            .contains { text.tokens[$0].isName("in") }
            && text.tokens[scope.open].position.line == text.tokens[index].position.line
    }

    /// The elements of an array: a literal, or a constant with one.
    private func elements(at start: Int, around index: Int) -> [Int] {
        var open = start
        if let name = text[start], name.isName {
            guard text.sees("{", at: start + 1) || text.sees(".", "forEach", at: start + 1),
                !text.sees(".", at: start - 1), let array = array(named: name.text, around: index)
            else { return [] }
            open = array
        }
        let close = text.sees("[", at: open) ? text.partners[open] : -1
        guard close > open, text.sees("{", at: close + 1) || open != start || isOver(close) else {
            return []
        }
        var found: [Int] = []
        var index = open + 1
        while index < close, found.count < AuditLimits.headWords {
            if text.sees(",", at: index - 1) || index == open + 1 { found.append(index) }
            index = max(text.partners[index], index) + 1
        }
        return found
    }

    /// Whether nothing but `forEach` follows the bracket of an array.
    private func isOver(_ close: Int) -> Bool { text.sees(".", "forEach", "{", at: close + 1) }

    /// The bracket of the array that is the value of a constant: the only one of its name in the
    /// innermost scope that has one.
    private func array(named name: String, around index: Int) -> Int? {
        let named = text.places(of: name)
        guard named.count <= AuditLimits.headWords else { return nil }
        let declared = named.filter {
            text.sees("let", at: $0 - 1) || text.sees("var", at: $0 - 1)
        }
        let inner = text.scopes(around: index).lazy.compactMap { scope -> [Int]? in
            if case .function(let head) = scope.kind,
                head.parameters.contains(where: { $0.name == name })
            {
                return []
            }
            let here = declared.filter {
                text.scopeIndices[$0] == text.scopeIndices[scope.open + 1]
            }
            return here.isEmpty ? nil : here
        }
        .first
        // An extension has the constants of its type.
        let places =
            inner
            ?? declared.filter {
                guard let scope = text.scopes(around: $0).first(where: { _ in true }) else {
                    return true
                }
                guard case .type(let head) = scope.kind else { return false }
                return head.name == text.type(around: index)?.name
            }
        guard places.count == 1, let place = places.first, text.sees("let", at: place - 1) else {
            return nil
        }
        let value = text.sees(":", "[", "String", "]", "=", at: place + 1) ? place + 6 : place + 2
        guard text.sees("=", "[", at: value - 1) else { return nil }
        let close = text.partners[value]
        // `[a] + others`, `[a].filter { … }`
        guard close > value, let next = text[close + 1],
            next.position.line > text.tokens[close].position.line || next.isMark("}")
                || next.isMark(";"),
            !next.isMark("+"), !next.isMark(".")
        else { return nil }
        return value
    }

    /// The first tokens of what the calls of a function hand on for a parameter.
    private func arguments(
        for place: Int, of head: SourceScope.FunctionHead, _ scope: SourceScope
    ) -> [Int] {
        let isHidden = text.places(of: head.name).contains {
            text.sees("let", at: $0 - 1) || text.sees("var", at: $0 - 1)
        }
        guard !overloaded.contains(head.name), !isHidden, head.name != "init",
            let function = calledFunction(around: scope.open + 1), function.name == head.name
        else { return [] }
        let label = head.parameters[place].label
        return mentions(of: head.name).prefix(AuditLimits.headWords).compactMap { index in
            guard isCall(index), let site = text.call(at: index), function.fits(site),
                mayReach(function, site) == true
            else { return nil }
            let argument =
                label == "_"
                ? site.arguments.indices.contains(place) ? site.arguments[place] : nil
                : site.arguments.first { $0.label == label }
            guard let argument, !argument.isTrailing, (argument.label ?? "_") == label else {
                return nil
            }
            return argument.range.lowerBound + (argument.label == nil ? 0 : 2)
        }
    }
}
