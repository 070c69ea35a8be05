// SPDX-License-Identifier: Apache-2.0

/// A call, with the ranges of its arguments.
struct CallSite {
    /// What a function belongs to, as far as the call shows.
    enum Owner: Hashable, Sendable {
        /// The type of the caller, or none.
        case own
        /// An object of this type.
        case typed(String)
        /// An object of this name.
        case named(String)
        /// The result of an expression.
        case unknown
    }

    /// An argument, also a closure after the arguments.
    struct Argument {
        let label: String?
        let range: Range<Int>
        var isTrailing = false
    }

    /// The index of the function's name.
    let name: Int
    let owner: Owner
    let arguments: [Argument]

    /// The tokens from the name to the end of the call.
    var range: Range<Int> { name..<(arguments.last?.range.upperBound ?? name + 1) }
}

extension SourceText {
    /// The calls in a body that get a token as an argument or in a closure, the innermost first.
    /// There are none around a token in a function or closure that has a name.
    func calls(around token: Int, in body: Range<Int>) -> [CallSite] {
        var sites: [CallSite] = []
        for open in brackets(around: token, from: body.lowerBound) {
            if tokens[open].isMark("{") {
                switch scope(openedAt: open)?.kind {
                case .function, .type: return []
                case .control: continue
                case .closure, nil: break
                }
                guard let site = isObjectiveC ? nil : call(ofTrailingClosure: open) else {
                    let before = isObjectiveC ? blockStart(open) : open
                    if sees("=", at: before - 1) { return [] }
                    continue
                }
                sites.append(site)
            } else if isObjectiveC {
                if tokens[open].isMark("["), let site = message(at: open) { sites.append(site) }
            } else if tokens[open].isMark("("), let name = self[open - 1], name.isName,
                !["if", "guard", "while", "switch", "return", "in", "try", "await"]
                    .contains(name.text)
            {
                sites.append(call(named: open - 1))
            }
        }
        return sites
    }

    /// The call with this function name, or this part of a message.
    func call(at name: Int) -> CallSite? {
        guard isObjectiveC else { return call(named: name) }
        let open = tokens.indices[..<name].suffix(AuditLimits.headWords).last {
            tokens[$0].isMark("[") && partners[$0] > name
        }
        return open.flatMap { message(at: $0) }.flatMap { $0.name == name ? $0 : nil }
    }

    /// The function of C, or the first part of the message, that gets a block.
    func receiver(ofBlock open: Int) -> String? {
        let bracket = (0..<open).suffix(AuditLimits.headWords).last { partners[$0] > open }
        guard let bracket else { return nil }
        if sees("(", at: bracket) { return self[bracket - 1]?.text }
        return sees("[", at: bracket) ? call(inBracket: bracket).map { tokens[$0.name].text } : nil
    }

    /// Whether what a call returns is kept or asked for: it may say that nothing was handed on, as
    /// in `let isHandled = router.handle(push, done)`, `if router.handle(push, done) {`.
    func usesValue(of site: CallSite) -> Bool {
        var index = site.name
        if isObjectiveC {
            index =
                tokens.indices[..<index].suffix(AuditLimits.headWords).last {
                    tokens[$0].isMark("[") && partners[$0] > site.name
                } ?? index
        } else {
            while sees(".", at: index - 1) {
                index -= 2
                while let token = self[index], token.isMark("?") || token.isMark("!") { index -= 1 }
                if sees(")", at: index), partners[index] > 0 { index = partners[index] - 1 }
            }
        }
        var before = index - 1
        while let token = self[before], token.isName("await") || token.isName("try") { before -= 1 }
        if isObjectiveC, sees("(", at: before) { before -= 1 }
        return ["!", "&&", "||"].contains { sees($0, at: before) }
            || ["if", "guard", "while", "switch"].contains { sees($0, at: before) }
            || sees("=", at: before) && !sees("_", at: before - 1)
    }

    func scope(openedAt open: Int) -> SourceScope? {
        guard open + 1 < tokens.count, scopeIndices[open + 1] >= 0 else { return nil }
        let scope = scopes[scopeIndices[open + 1]]
        return scope.open == open ? scope : nil
    }

    /// The caret of an Objective-C block.
    private func blockStart(_ open: Int) -> Int {
        var index = open - 1
        if sees(")", at: index), partners[index] >= 0 { index = partners[index] - 1 }
        return sees("^", at: index) ? index : open
    }

    // MARK: Swift

    /// The call that a closure follows: `name {`, `name(…) {`, `name(…) { … } label: {`.
    private func call(ofTrailingClosure open: Int) -> CallSite? {
        var first = open
        while sees(":", at: first - 1), sees("}", at: first - 3), partners[first - 3] >= 0 {
            first = partners[first - 3]
        }
        var name = first - 1
        if sees(")", at: name), partners[name] >= 0 { name = partners[name] - 1 }
        guard let token = self[name], token.isName,
            !["else", "do", "defer", "repeat", "in", "return", "try"].contains(token.text)
        else { return nil }
        return call(named: name)
    }

    private func call(named name: Int) -> CallSite {
        var arguments: [CallSite.Argument] = []
        var next = name + 1
        if sees("(", at: next), partners[next] > next {
            let content = content(ofBracket: next)
            var start = content.lowerBound
            var index = start
            while index <= content.upperBound {
                if index == content.upperBound || tokens[index].isMark(",") {
                    if start < index { arguments.append(argument(start..<index)) }
                    start = index + 1
                    index += 1
                } else {
                    index = skipBracket(index, content)
                }
            }
            next = content.upperBound + 1
        }
        var label: String?
        while sees("{", at: next), partners[next] > next {
            arguments.append(
                CallSite.Argument(
                    label: label, range: next..<partners[next] + 1, isTrailing: true))
            next = partners[next] + 1
            guard sees(":", "{", at: next + 1), let name = self[next], name.isName else { break }
            label = name.text
            next += 2
        }
        return CallSite(name: name, owner: owner(before: name), arguments: arguments)
    }

    private func argument(_ range: Range<Int>) -> CallSite.Argument {
        CallSite.Argument(
            label: isLabel(range.lowerBound) ? tokens[range.lowerBound].text : nil, range: range)
    }

    private static let sharedNames: Set = [
        "shared", "sharedInstance", "instance", "default", "standard", "current", "main",
        "sharedManager",
    ]

    /// The receiver of a call: `name(`, `self.name(`, `Type.shared.name(`, `object?.name(`.
    private func owner(before name: Int) -> CallSite.Owner {
        guard sees(".", at: name - 1) else { return .own }
        var index = name - 2
        while let token = self[index], token.isMark("?") || token.isMark("!") { index -= 1 }
        if sees(")", at: index), partners[index] > 0 { index = partners[index] - 1 }
        guard let token = self[index], token.isName else { return .unknown }
        if Self.sharedNames.contains(token.text), sees(".", at: index - 1),
            let type = self[index - 2], type.isName
        {
            return owner(named: type.text)
        }
        return owner(named: token.text)
    }

    private func owner(named name: String) -> CallSite.Owner {
        if ["self", "Self", "super"].contains(name) { return .own }
        if name.first?.isUppercase == true { return .typed(name) }
        if let known = owners.byName[name] { return known }
        var owner = CallSite.Owner.named(name)
        if let type = declaredType(of: name) {
            owner = .typed(type)
        } else if isFromElsewhere(name) {
            owner = .unknown
        }
        owners.byName[name] = owner
        return owner
    }

    /// Whether a name stands for an object of a type, as far as its declaration shows.
    func isObject(_ name: String, of type: SourceScope.TypeHead?) -> Bool {
        type.map { owner(named: name) == .typed($0.name) } == true
    }

    /// Whether a variable gets something of another name, so that its own tells nothing of its
    /// type: `let worker = pick()`, and not `let worker = self.worker`.
    private func isFromElsewhere(_ name: String) -> Bool {
        tokens.indices.contains { index in
            guard tokens[index].isName(name), sees("=", at: index + 1), let last = self[index - 1],
                last.isName("let") || last.isName("var")
            else { return false }
            let line = tokens[index].position.line
            return !(index + 2..<tokens.count).prefix { tokens[$0].position.line == line }
                .contains { tokens[$0].isName(name) }
        }
    }

    /// The type of a property, a variable or a parameter: `let a: Type`, `let a = Type(`, `let a =
    /// b as! Type`, `Type *a` in Objective-C. An initial value shows more than a declared type.
    private func declaredType(of name: String) -> String? {
        for index in tokens.indices where tokens[index].isName(name) {
            if isObjectiveC {
                if sees("*", at: index - 1), let type = self[index - 2], type.isName {
                    return type.text
                }
                continue
            }
            let line = tokens[index].position.line
            let words = (index + 1..<tokens.count).prefix { tokens[$0].position.line == line }
            if sees(":", at: index + 1) {
                let isAbstract = sees("any", at: index + 2) || sees("some", at: index + 2)
                guard let type = self[index + (isAbstract ? 3 : 2)], type.isName,
                    type.text.first?.isUppercase == true
                else { continue }
                let value = words.first { tokens[$0].isMark("=") }
                return value.flatMap { madeType(at: $0 + 1) } ?? type.text
            }
            guard sees("=", at: index + 1), let last = self[index - 1],
                last.isName("let") || last.isName("var")
            else { continue }
            if let type = madeType(at: index + 2) { return type }
            if let cast = words.last(where: { tokens[$0].isName("as") }) {
                let type = self[cast + 1]?.isName == true ? self[cast + 1] : self[cast + 2]
                if let type, type.isName { return type.text }
            }
        }
        return nil
    }

    /// The type of a new object or of a shared one: `Type(…)`, `Type.shared`. What another function
    /// makes may be of any type.
    private func madeType(at start: Int) -> String? {
        guard let type = self[start], type.isName, type.text.first?.isUppercase == true else {
            return nil
        }
        var end = start
        if sees("(", at: start + 1), partners[start + 1] > start {
            end = partners[start + 1]
        } else if sees(".", at: start + 1), let name = self[start + 2],
            Self.sharedNames.contains(name.text)
        {
            end = start + 2
        }
        return end > start && !sees(".", at: end + 1) && !sees("(", at: end + 1) ? type.text : nil
    }

    // MARK: Objective-C

    /// The message in a bracket.
    func call(inBracket open: Int) -> CallSite? { message(at: open) }

    /// The message in brackets: `[receiver part:value part:value]`.
    private func message(at open: Int) -> CallSite? {
        let content = content(ofBracket: open)
        var index = content.lowerBound
        guard index < content.upperBound else { return nil }
        let receiver = receiver(&index, content)
        guard let name = self[index], name.isName, index < content.upperBound else { return nil }
        let first = index
        var arguments: [CallSite.Argument] = []
        while index + 1 < content.upperBound, tokens[index].isName, sees(":", at: index + 1) {
            let start = index + 2
            var end = start
            while end < content.upperBound,
                end == start || !(tokens[end].isName && isLabel(end))
            {
                end = skipBracket(end, content)
            }
            arguments.append(
                CallSite.Argument(label: tokens[index].text, range: start..<max(end, start)))
            index = end
        }
        return CallSite(name: first, owner: receiver, arguments: arguments)
    }

    private func receiver(_ index: inout Int, _ content: Range<Int>) -> CallSite.Owner {
        if tokens[index].isMark("[") {
            let inner = self[index + 1]
            index = skipBracket(index, content)
            return inner.map { $0.isName ? owner(named: $0.text) : .unknown } ?? .unknown
        }
        guard tokens[index].isName else {
            index = skipBracket(index, content)
            return .unknown
        }
        while sees(".", at: index + 1), self[index + 2]?.isName == true { index += 2 }
        defer { index += 1 }
        return owner(named: tokens[index].text)
    }
}
