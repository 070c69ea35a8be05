// SPDX-License-Identifier: Apache-2.0

/// Conditions of which one is met, in statements that follow each other.
extension CompletionPaths {
    /// A condition without calls, such as `state == .active`.
    struct SettledCondition: Hashable {
        /// The innermost scope around its statement.
        let scope: Int
        /// What it compares, or the value that it asks for.
        let operands: [String]
        /// Whether they have to be equal, or the value true.
        let isMet: Bool
    }

    /// The place of an earlier statement of the same block with the call, whose condition is the
    /// opposite of this one: `if a != b { … }` before `if a == b { … }`. Notes this one if there is
    /// none.
    mutating func opposite(of condition: Range<Int>) -> Int? {
        guard let own = comparison(condition) else { return nil }
        let other = SettledCondition(
            scope: own.scope, operands: own.operands, isMet: !own.isMet)
        if let first = settledConditions[other],
            isUnchanged(own.operands, since: first, until: condition.lowerBound)
        {
            return first
        }
        settledConditions[own] = condition.lowerBound
        return nil
    }

    /// Whether nothing sets a name of a condition between the block of its statement and another
    /// statement.
    private func isUnchanged(_ operands: [String], since first: Int, until end: Int) -> Bool {
        let start = text.block(after: first, first..<end)?.next ?? first
        return !(min(start, end)..<end).contains { index in
            guard text.tokens[index].isName, operands.contains(text.tokens[index].text) else {
                return false
            }
            // The same name of something else: `model.isMine = …`.
            if text.sees(".", at: index - 1), let owner = text[index - 2], !owner.isName("self"),
                !operands.contains(owner.text)
            {
                return false
            }
            return ["=", "+=", "-="].contains { text.sees($0, at: index + 1) }
                || text.sees(".", "toggle", at: index + 1) || text.sees("&", at: index - 1)
        }
    }

    func comparison(_ condition: Range<Int>) -> SettledCondition? {
        // `else if a == b`
        var words = condition.dropFirst(text.sees("else", at: condition.lowerBound) ? 2 : 1)
        // `if (a == b)` in Objective-C
        if let first = words.first, text.sees("(", at: first),
            text.partners[first] == words.upperBound - 1
        {
            words = text.content(ofBracket: first)
        }
        let others: Set = ["(", ",", "&&", "||", "let", "var", "case", "?", "["]
        let tokens = text.tokens[words]
        guard !tokens.isEmpty, !tokens.contains(where: { others.contains($0.text) }) else {
            return nil
        }
        let scope = text.scopeIndices[condition.lowerBound]
        var operands = tokens.map(\.text)
        if let mark = tokens.firstIndex(where: { $0.isMark("==") || $0.isMark("!=") }) {
            operands[mark - tokens.startIndex] = "=="
            return SettledCondition(
                scope: scope, operands: operands, isMet: tokens[mark].isMark("=="))
        }
        // `a > b` is the opposite of `a <= b`.
        for (mark, opposite) in [(">", "<="), ("<", ">=")] {
            guard let place = tokens.firstIndex(where: { $0.isMark(mark) }) else { continue }
            operands[place - tokens.startIndex] = opposite
            return SettledCondition(scope: scope, operands: operands, isMet: false)
        }
        let isNegated = tokens.first?.isMark("!") == true
        return SettledCondition(
            scope: scope, operands: Array(operands.dropFirst(isNegated ? 1 : 0)),
            isMet: !isNegated)
    }

    /// Notes a condition with the call for nothing to go through: `if list.isEmpty {`, `if count ==
    /// 0 {`, `guard count > 0 else {`. `isMet` tells whether the call is made if it is met.
    mutating func noteNone(_ condition: Range<Int>, isMet: Bool) {
        let asksForNone = condition.contains { index in
            if text.tokens[index].isName("isEmpty") { return isNegated(index) != isMet }
            guard text[index + 1]?.text == "0" else { return false }
            return isMet
                ? text.sees("==", at: index)
                : text.sees(">", at: index) || text.sees("!=", at: index)
        }
        if asksForNone { scopesWithoutNone.insert(text.scopeIndices[condition.lowerBound]) }
    }

    /// Whether a member is asked for its opposite: `!list.isEmpty`.
    private func isNegated(_ member: Int) -> Bool {
        var start = member
        while text.sees(".", at: start - 1) {
            start -= 2
            if text.sees("?", at: start) || text.sees("!", at: start) { start -= 1 }
            if start > 0, text.partners[start] >= 0, text.partners[start] < start {
                start = text.partners[start] - 1
            }
        }
        return text.sees("!", at: start - 1)
    }
}
