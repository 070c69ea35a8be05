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
        if let first = settledConditions[other] { return first }
        settledConditions[own] = condition.lowerBound
        return nil
    }

    private func comparison(_ condition: Range<Int>) -> SettledCondition? {
        var words = condition.dropFirst()
        // `if (a == b)` in Objective-C
        if let first = words.first, text.sees("(", at: first),
            text.partners[first] == condition.upperBound - 1
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
        let isNegated = tokens.first?.isMark("!") == true
        return SettledCondition(
            scope: scope, operands: Array(operands.dropFirst(isNegated ? 1 : 0)),
            isMet: !isNegated)
    }

    /// Notes a condition with the call that asks whether there is anything to go through: `if
    /// list.isEmpty {`, `if count == 0 {`, `guard count > 0 else {`.
    mutating func noteNone(_ condition: Range<Int>) {
        let asksForNone = condition.contains { index in
            text.tokens[index].isName("isEmpty")
                || (text.sees("==", at: index) || text.sees(">", at: index))
                    && text[index + 1]?.text == "0"
        }
        if asksForNone { scopesWithoutNone.insert(text.scopeIndices[condition.lowerBound]) }
    }
}
