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
                see(subject, at: place, named: place)
            case .named(let reference, let place):
                guard isRaw, known.insert(reference).inserted else { continue }
                see(subject, at: place, as: reference)
            case .all(let type):
                for name in isRaw ? cases(of: type) : [] {
                    let reference = ConstantReference(name: name, type: type)
                    guard known.insert(reference).inserted else { continue }
                    see(subject, at: expression, as: reference)
                }
            }
        }
    }

    private mutating func see(
        _ subject: SourceObservation.Subject, at index: Int, as reference: ConstantReference
    ) {
        guard digest.entries.count < AuditLimits.observationsPerFile else { return }
        see(subject, at: index)
        digest.entries[digest.entries.count - 1].reference = reference
    }

    /// The values that a name has: the elements of what its loop goes through, or the arguments of
    /// the calls of its function in this file.
    private func values(of name: String, at index: Int, depth: Int) -> [IdentifierValue] {
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
                guard closureParameters(scope).contains(name) else { continue }
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
                return arguments(for: place, of: head, scope).flatMap { argument in
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

    /// The cases of an enumeration of this file whose raw values are texts.
    private func cases(of type: String) -> [String] {
        if let known = notes.cases[type] { return known }
        let found = text.scopes.flatMap { scope -> [String] in
            guard case .type(let head) = scope.kind, head.name == type,
                text.tokens[scope.head].isName("enum"), head.inherited.contains("String")
            else { return [] }
            let body = text.content(ofBracket: scope.open)
            guard !body.contains(where: { text.sees("var", "allCases", at: $0) }) else { return [] }
            return body.filter {
                text.tokens[$0].isName("case")
                    && text.scopeIndices[$0] == text.scopeIndices[scope.open + 1]
            }
            .compactMap { text[$0 + 1]?.text }
        }
        notes.cases[type] = found
        return found
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
        let places = inner ?? declared
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
        guard !overloaded.contains(head.name), head.name != "init",
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
