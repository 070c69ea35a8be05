// SPDX-License-Identifier: Apache-2.0

/// Conditions that say whether the call was made, or that are always met; and code that never
/// returns.
extension CompletionPaths {
    /// The most places of a name that are looked at for one condition.
    private static let placeLimit = 16

    /// The side of a condition that needs no call: true for what runs if it is met, false for what
    /// runs if it is not; `nil` if both do. The call was made there, or it never runs.
    func needlessSide(of condition: Range<Int>) -> Bool? {
        guard let name = soleName(in: condition) else { return nil }
        if isMutableCopy(name.index, before: condition.lowerBound) { return !name.isWanted }
        return tellsOfCall(name.index) ? name.isWanted : nil
    }

    /// The only value that a condition asks for, and whether it has to be true or there: `if flag`,
    /// `if (!flag)`, `flag == false`, `let value`, `let other = value`, `value != nil`.
    private func soleName(in condition: Range<Int>) -> (index: Int, isWanted: Bool)? {
        var words = condition.filter {
            !["if", "guard", "else", "(", ")", "self", "."].contains(text.tokens[$0].text)
        }
        guard words.count <= 4 else { return nil }
        if words.count > 1, ["let", "var"].contains(text.tokens[words[0]].text) {
            guard words.count == 2 || words.count == 4 && text.sees("=", at: words[2]),
                let name = words.last, text.tokens[name].isName
            else { return nil }
            return (name, true)
        }
        var isWanted = true
        if let first = words.first, text.tokens[first].isMark("!") {
            isWanted = false
            words.removeFirst()
        }
        guard let name = words.first, text.tokens[name].isName else { return nil }
        if words.count == 1 { return (name, isWanted) }
        guard words.count == 3, isWanted else { return nil }
        let isNo = ["false", "NO", "nil"].contains(text.tokens[words[2]].text)
        guard isNo || ["true", "YES"].contains(text.tokens[words[2]].text) else { return nil }
        switch text.tokens[words[1]].text {
        case "==": return (name, !isNo)
        case "!=": return (name, isNo)
        default: return nil
        }
    }

    /// Whether a part of a condition unwraps such a copy: `let best = self.best`.
    func bindsCopy(_ part: Range<Int>) -> Bool {
        part.contains { text.tokens[$0].isName("let") }
            && soleName(in: part).map { isMutableCopy($0.index, before: part.lowerBound) } == true
    }

    /// Whether the last value of a name before a condition is a copy of a content that can be
    /// changed, which is always made.
    private func isMutableCopy(_ index: Int, before end: Int) -> Bool {
        guard !text.places(of: "mutableCopy").isEmpty else { return false }
        for place in text.places(of: text.tokens[index].text, in: 0..<end).reversed() {
            let equals = (place + 1..<min(place + 5, text.tokens.count)).first {
                text.tokens[$0].isMark("=")
            }
            guard let equals, equals == place + 1 || text.sees(":", at: place + 1) else { continue }
            let value = equals + 1..<endOfValue(behind: equals)
            let isOfKind =
                text.isObjectiveC
                || !text.places(of: "UNMutableNotificationContent", in: value).isEmpty
            return isOfKind
                && text.places(of: "mutableCopy", in: value).contains { copy in
                    let brackets = text.brackets(around: copy, from: value.lowerBound)
                    return copiesContent(copy)
                        // What gets the copy may have another result.
                        && (text.isObjectiveC
                            ? brackets.count < 2
                            : brackets.allSatisfy { text[$0 - 1]?.isName != true })
                }
        }
        return false
    }

    /// The end of a value, which may begin and go on in the next lines.
    private func endOfValue(behind equals: Int) -> Int {
        let rest = equals..<text.tokens.count
        guard let first = text[equals + 1] else { return rest.upperBound }
        let isOnLine = first.position.line == text.tokens[equals].position.line
        var end = text.statementEnd(isOnLine ? equals : equals + 1, rest)
        while text.sees("as", at: end) || text.sees(".", at: end) {
            end = text.statementEnd(end, rest)
        }
        return end
    }

    /// Whether `mutableCopy` is sent to the content of a request, which is there:
    /// `request.content.mutableCopy()`, and not `cached?.mutableCopy()`.
    func copiesContent(_ index: Int) -> Bool {
        let content = text.sees(".", at: index - 1) ? index - 2 : index - 1
        guard text.sees("content", at: content) else { return false }
        guard text.sees(".", at: content - 1) else { return true }
        let isOptional = text.sees("?", ".", at: content - 4)
        guard let owner = text[content - 2], owner.isName, !isOptional else { return false }
        return owner.text.lowercased().hasSuffix("request")
            || text.places(of: "UNNotificationRequest").contains { type in
                text.sees(owner.text, ":", at: type - 2)
                    || text.sees("*", ")", owner.text, at: type + 1)
            }
    }

    /// Whether a name is a flag of the function, unset at first, that is set only beside the call.
    private func tellsOfCall(_ index: Int) -> Bool {
        let name = text.tokens[index].text
        guard text.flags.contains(name) else { return false }
        let body = text.content(ofBracket: open)
        let places = text.places(of: name, in: body)
        guard places.count <= Self.placeLimit, let declaration = places.first,
            text.sees("var", at: declaration - 1) || text.sees("BOOL", at: declaration - 1)
                || text.sees("bool", at: declaration - 1),
            !text.sees("static", at: declaration - 2),
            text.sees("=", "false", at: declaration + 1)
                || text.sees("=", "NO", at: declaration + 1)
        else { return false }
        let settings = places.dropFirst().filter { text.sees("=", at: $0 + 1) }
        // What else is done with it may set it: `check(&isDone)`, `isDone.toggle()`.
        let ends: Set = ["{", "else", "==", "!=", ")", "&&", "||"]
        let isRead = places.dropFirst().allSatisfy { place in
            text.sees("=", at: place + 1)
                || !text.sees("&", at: place - 1)
                    && text[place + 1].map { ends.contains($0.text) } == true
        }
        return isRead && !settings.isEmpty
            && settings.allSatisfy { place in
                guard text.sees("true", at: place + 2) || text.sees("YES", at: place + 2) else {
                    return false
                }
                let scope = text.scopeIndices[place]
                let isBeside = { (index: Int) in
                    settles(index)
                        && (text.scopeIndices[index] == scope || isInClosure(index, of: scope))
                }
                let ends: Set = ["case", "default", "break"]
                let before = (body.lowerBound..<place).suffix(AuditLimits.headWords).reversed()
                    .prefix {
                        text.scopeIndices[$0] >= scope && !ends.contains(text.tokens[$0].text)
                    }
                let after = (place..<body.upperBound).prefix(AuditLimits.headWords)
                    .prefix {
                        text.scopeIndices[$0] >= scope && !ends.contains(text.tokens[$0].text)
                    }
                return before.contains(where: isBeside) || after.contains(where: isBeside)
            }
    }

    /// Whether a token is in a closure that stands in a scope.
    private func isInClosure(_ index: Int, of scope: Int) -> Bool {
        let own = text.scopeIndices[index]
        guard own >= 0, case .closure = text.scopes[own].kind else { return false }
        return text.scopeIndices[text.scopes[own].open] == scope
    }

    /// Whether one of some conditions is always met: `if a != b { … } else if a == b { … }`.
    func areExhaustive(_ conditions: [Range<Int>]) -> Bool {
        guard let last = conditions.last, conditions.count > 1 else { return false }
        let own = comparison(last)
        let equal = operands(last, of: "==")
        let isOne = equal.count == 1 && !last.contains { text.tokens[$0].isMark("&&") }
        return conditions.dropLast().contains { condition in
            if isOne, operands(condition, of: "!=").contains(equal[0]) { return true }
            guard let own, let other = comparison(condition) else { return false }
            return other.operands == own.operands && other.isMet != own.isMet
        }
    }

    private func operands(_ condition: Range<Int>, of mark: String) -> [[String?]] {
        condition.filter { text.tokens[$0].isMark(mark) }
            .map { mark in
                // `.active` is two words, and `calls[id]` has a bracket.
                let value = text.sees(".", at: mark + 1) ? mark + 2 : mark + 1
                var start = mark - 1
                if text.sees("]", at: start), text.partners[start] > 0 {
                    start = text.partners[start] - 1
                }
                let first = text.tokens[max(0, start)..<mark].map(\.text).joined(separator: " ")
                return [first, text[value]?.text]
            }
    }

    /// Whether a function runs its closure before it returns.
    func runsInPlace(_ callee: Int) -> Bool {
        switch text[callee]?.text {
        case "autoreleasepool": return true
        case "performAndWait": return text.sees(".", at: callee - 1)
        case "sync":
            let owner = text.sees(".", at: callee - 1) ? text[callee - 2]?.text.lowercased() : nil
            return owner.map { $0 == "main" || $0.hasSuffix("queue") } == true
        default: return false
        }
    }

    /// Whether a call never returns: of the system, or of a function of this file that says so.
    func neverReturns(_ index: Int) -> Bool {
        let name = text.tokens[index].text
        if text.isObjectiveC, name == "NSException" {
            return text.sees("raise", ":", at: index + 1)
        }
        guard text.sees("(", at: index + 1) else { return false }
        if ["exit", "_exit", "abort", "__builtin_unreachable"].contains(name) {
            let isOwn =
                text.functions[name] != nil
                || text.places(of: name).contains { text.sees("=", at: $0 + 1) }
            return !isOwn && (!text.sees(".", at: index - 1) || text.sees("Darwin", at: index - 2))
        }
        guard !text.isObjectiveC, let functions = text.functions[name], functions.count == 1,
            !text.sees(".", at: index - 1) || text.sees("self", at: index - 2)
        else { return false }
        return text.sees("->", "Never", at: functions[0].open - 2)
    }

    /// Whether a loop ends only by a return: `while true` or `for (;;)` without a `break`.
    func isEndless(_ head: Range<Int>, _ body: Range<Int>) -> Bool {
        let condition = text.tokens[head.dropFirst()].filter { !$0.isMark("(") && !$0.isMark(")") }
        let texts = condition.map(\.text)
        guard texts == [";", ";"] || texts.count == 1 && ["true", "YES", "1"].contains(texts[0])
        else { return false }
        let loops: Set = ["for", "while", "repeat", "switch"]
        return !body.contains { index in
            let token = text.tokens[index]
            guard token.isName, ["break", "goto"].contains(token.text) else { return false }
            // A `break` with a label may leave an outer statement.
            if token.text == "goto" || text[index + 1]?.position.line == token.position.line,
                text[index + 1]?.isName == true
            {
                return true
            }
            for scope in text.scopes(around: index) {
                if scope.open < body.lowerBound { return true }
                if case .control(let keyword) = scope.kind, loops.contains(keyword) { return false }
            }
            return true
        }
    }

    /// The tokens of the `@finally` after an `@try`, which runs on every path.
    func finallyBody(at start: Int, _ range: Range<Int>) -> Range<Int>? {
        var index = start
        while index + 1 < range.upperBound, text.tokens[index].isMark("@"),
            let part = text.block(after: index + 1, range)
        {
            if text.tokens[index + 1].isName("finally") { return part.body }
            guard text.tokens[index + 1].isName("catch") else { return nil }
            index = part.next
        }
        return nil
    }

    /// Whether a case falls through to the next one.
    func fallsThrough(_ statements: Range<Int>) -> Bool {
        guard text.isObjectiveC else {
            // `@unknown` belongs to the next label.
            let isUnknown = text.sees("@", "unknown", at: statements.upperBound - 2)
            return text.sees("fallthrough", at: statements.upperBound - (isUnknown ? 3 : 1))
        }
        let ends: Set = ["break", "return", "continue", "goto", "throw"]
        return !statements.contains { ends.contains(text.tokens[$0].text) }
    }
}
