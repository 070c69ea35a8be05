// SPDX-License-Identifier: Apache-2.0

/// The named functions and closures in a body that make a required call: `func finish() {
/// completion() }`, `let finish = { completion() }`.
struct LocalDefinitions {
    /// The opening braces of their bodies by name.
    private var bodies: [String: Int] = [:]
    /// The opening braces of their bodies.
    private(set) var opens: Set<Int> = []

    /// Creates an empty set.
    init() {}

    /// Finds those in a range that contain a required token, or call another one that does.
    init(in text: SourceText, _ range: Range<Int>, thatHold isWanted: (Int) -> Bool) {
        let found = range.compactMap { Self.definition(at: $0, in: text, range) }
        var isComplete = found.isEmpty
        while !isComplete {
            isComplete = true
            for (name, open) in found where !opens.contains(open) {
                let holds = text.content(ofBracket: open).contains {
                    isWanted($0) || areUsed(at: $0, in: text)
                }
                guard holds else { continue }
                bodies[name] = open
                opens.insert(open)
                isComplete = false
            }
        }
    }

    /// The names of those in a range without such a token.
    static func names(
        in text: SourceText, _ range: Range<Int>, thatLack isWanted: (Int) -> Bool
    ) -> Set<String> {
        let found = range.compactMap { definition(at: $0, in: text, range) }
        guard !found.isEmpty else { return [] }
        let holding = LocalDefinitions(in: text, range) { index in
            // The call of another one does not count.
            isWanted(index) && !found.contains { $0.name == text.tokens[index].text }
        }
        return Set(found.map(\.name)).subtracting(holding.bodies.keys)
    }

    /// Whether a token calls one of them or passes it on.
    func areUsed(at index: Int, in text: SourceText) -> Bool {
        let token = text.tokens[index]
        guard !bodies.isEmpty, token.isName, bodies[token.text] != nil, !text.isLabel(index) else {
            return false
        }
        // The block's definition is no use of it.
        guard !text.sees("=", "^", at: index + 1) else { return false }
        guard let before = text[index - 1] else { return true }
        return !before.isMark(".") && !before.isMark("^")
            && !["func", "let", "var"].contains { before.isName($0) }
    }

    /// The opening brace of the one with a name.
    func body(of name: String) -> Int? { bodies[name] }

    private static func definition(
        at index: Int, in text: SourceText, _ range: Range<Int>
    ) -> (name: String, open: Int)? {
        if text.isObjectiveC { return block(at: index, in: text) }
        let isFunction = text.tokens[index].isName("func")
        guard
            isFunction || text.tokens[index].isName("let") || text.tokens[index].isName("var"),
            let name = text[index + 1], name.isName
        else { return nil }
        if isFunction { return text.firstBrace(index, range).map { (name.text, $0) } }
        // A type may be between the name and its value.
        var next = index + 2
        let end = min(range.upperBound, next + AuditLimits.headWords)
        let line = name.position.line
        while next < end, !text.tokens[next].isMark("="), text.tokens[next].position.line == line {
            next = text.skipBracket(next, range)
        }
        guard text.sees("=", "{", at: next), text.partners[next + 1] > next,
            // A closure that is called immediately only computes a value.
            !text.sees("(", at: text.partners[next + 1] + 1)
        else { return nil }
        return (name.text, next + 1)
    }

    /// `void (^finish)(void) = ^{ … };`, `dispatch_block_t finish = ^{ … };`
    private static func block(at index: Int, in text: SourceText) -> (name: String, open: Int)? {
        guard text.tokens[index].isName else { return nil }
        let value: Int
        if text.sees("(", "^", at: index - 2), text.sees(")", "(", at: index + 1),
            text.partners[index + 2] > index
        {
            value = text.partners[index + 2] + 1
        } else if text[index - 1]?.isName == true {
            value = index + 1
        } else {
            return nil
        }
        guard text.sees("=", "^", at: value) else { return nil }
        var open = value + 2
        if text.sees("(", at: open), text.partners[open] > open { open = text.partners[open] + 1 }
        guard text.sees("{", at: open), text.partners[open] > open else { return nil }
        return (text.tokens[index].text, open)
    }
}
