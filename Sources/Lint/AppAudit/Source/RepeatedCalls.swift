// SPDX-License-Identifier: Apache-2.0

/// Finds two calls on one path of which only one is allowed, such as those of a completion handler.
///
/// It reports only certain cases: a branch that continues, with an unconditional call after it. Two
/// conditions may exclude each other, and are not combined.
struct RepeatedCalls {
    /// Whether a call was made before.
    private enum State: Int, Comparable {
        case no
        /// On some paths.
        case perhaps
        /// On every path.
        case yes

        static func < (left: State, right: State) -> Bool { left.rawValue < right.rawValue }
    }

    private struct Outcome {
        var state: State
        /// Whether no path continues after it.
        var isOver = false
    }

    let text: SourceText
    let isCall: (Int) -> Bool
    /// The first call that is repeated.
    private(set) var first: Int?
    /// Whether only a call on each path counts.
    private var asksEachPath = false
    /// Whether a path ends without a call.
    private var endsWithoutCall = false
    /// The remaining number of tokens.
    private var wordsLeft = 100_000

    /// The functions whose closures run exactly once.
    private static let certainCallees: Set = [
        "async", "asyncAfter", "Task", "reportNewIncomingCall", "reportNewIncomingCallWithUUID",
        "dispatch_async", "dispatch_after",
    ]

    /// Checks the body of a function. `isCall` returns whether a name starts such a call.
    init(_ text: SourceText, body: SourceScope, isCall: @escaping (Int) -> Bool) {
        self.text = text
        self.isCall = isCall
        _ = walk(text.content(ofBracket: body.open), .no, depth: 0)
        if first == nil { first = callBehindBranch(in: body) ?? callBehindValue(in: body) }
    }

    /// Whether a closure makes the call on each path, whatever it asks for.
    func callsOnEachPath(_ closure: SourceScope) -> Bool {
        var paths = self
        paths.asksEachPath = true
        paths.endsWithoutCall = false
        let outcome = paths.walk(text.content(ofBracket: closure.open), .no, depth: 0)
        return outcome.state == .yes && !paths.endsWithoutCall
    }

    private mutating func note(_ index: Int, _ state: State) -> State {
        if state != .no { first = min(first ?? index, index) }
        if isOfCondition(index) { endsWithoutCall = true }
        return .yes
    }

    /// Follows statements. A condition before them may exclude a call on some paths only.
    private mutating func walk(_ range: Range<Int>, _ before: State, depth: Int) -> Outcome {
        var state = before
        var index = range.lowerBound
        while index < range.upperBound {
            wordsLeft -= 1
            guard wordsLeft > 0, depth < AuditLimits.scopeDepth else { return Outcome(state: .no) }
            let token = text.tokens[index]
            if token.isMark("{") {
                index = brace(at: index, &state, depth)
                continue
            }
            // The parts of conditional compilation are alternatives.
            if case .directive = token.kind { return Outcome(state: .no, isOver: true) }
            guard token.isName else {
                index += 1
                continue
            }
            if isCall(index) {
                if !isAlternative(index) { state = note(index, state) }
                index += 1
                continue
            }
            guard text[index - 1]?.isMark(".") != true, !text.isLabel(index) else {
                index += 1
                continue
            }
            switch token.text {
            case "return", "throw":
                let end = text.statementEnd(index, range)
                for call in index..<end where isCall(call) { state = note(call, state) }
                if state != .yes { endsWithoutCall = true }
                return Outcome(state: state, isOver: true)
            case "break", "continue", "goto", "fallthrough":
                if state != .yes { endsWithoutCall = true }
                return Outcome(state: state, isOver: true)
            case "fatalError":
                return Outcome(state: state, isOver: true)
            case "func" where !text.isObjectiveC:
                index = text.block(after: index, range)?.next ?? index + 1
            case "defer", "if", "guard", "switch", "do", "for", "while", "repeat":
                guard let block = text.block(after: index, range), block.next > index else {
                    return Outcome(state: .no)
                }
                guard let next = control(index, block, range, &state, depth) else {
                    return Outcome(state: state, isOver: true)
                }
                index = next
            case "try" where text.isObjectiveC, "case", "default":
                return Outcome(state: .no)
            default: index += 1
            }
        }
        return Outcome(state: state)
    }

    /// A closure or a plain block. Returns the index after it.
    private mutating func brace(at open: Int, _ state: inout State, _ depth: Int) -> Int {
        let body = text.content(ofBracket: open)
        guard !body.isEmpty else { return open + 1 }
        if text.isPlainBlock(open) {
            state = walk(body, state, depth: depth + 1).state
            return body.upperBound + 1
        }
        let inner = text.scopeIndices[body.lowerBound]
        var isCertain = false
        if inner >= 0, text.scopes[inner].open == open,
            case .closure(let callee?) = text.scopes[inner].kind
        {
            // `guard !finished else { return }` may leave it without the call.
            isCertain = Self.certainCallees.contains(callee) && !asksForFlag(body)
        }
        let before = endsWithoutCall
        let outcome = walk(body, isCertain && state == .yes ? .yes : .no, depth: depth + 1)
        // Such a path ends another closure alone.
        if !isCertain { endsWithoutCall = before }
        // A closure that calls on each path does so once.
        if isCertain, outcome.state == .yes, !outcome.isOver { state = .yes }
        return body.upperBound + 1
    }

    /// Whether a closure looks at a flag before it goes on.
    private func asksForFlag(_ body: Range<Int>) -> Bool {
        text.places(of: "guard", in: body).contains { word in
            text.firstBrace(word, body).map { text.namesFlag(word..<$0) } == true
        }
    }

    /// A statement with blocks. Returns the index after it; `nil` if no path continues.
    private mutating func control(
        _ start: Int, _ block: (open: Int, body: Range<Int>, next: Int), _ range: Range<Int>,
        _ state: inout State, _ depth: Int
    ) -> Int? {
        let keyword = text.tokens[start].text
        let entry: State = state == .yes && !text.namesFlag(start..<block.open) ? .yes : .no
        switch keyword {
        case "defer":
            let asks = block.body.contains { index in
                ["if", "guard"].contains { text.tokens[index].isName($0) }
                    && text.block(after: index, block.body).map { text.namesFlag(index..<$0.open) }
                        == true
            }
            if !asks, block.body.contains(where: isCall) {
                state = max(state, walk(block.body, .no, depth: depth + 1).state)
            }
            return block.next
        case "guard", "for", "while", "repeat":
            _ = walk(block.body, entry, depth: depth + 1)
            return block.next
        case "switch":
            let isWhole = asksEachPath && !text.isObjectiveC
            join(cases(block.body, entry, depth: depth + 1), isWhole: isWhole, &state)
            return block.next
        default:
            var outcomes = [walk(block.body, entry, depth: depth + 1)]
            var isWhole = keyword != "if"
            var next = block.next
            let continuation = keyword == "if" ? "else" : "catch"
            while next < range.upperBound, text.tokens[next].isName(continuation) {
                let isElseIf = keyword == "if" && text[next + 1]?.isName("if") == true
                guard let branch = text.block(after: isElseIf ? next + 1 : next, range),
                    branch.next > next
                else { break }
                // The code before a `catch` may not have been reached.
                let before: State = text.namesFlag(next..<branch.open) ? .no : entry
                outcomes.append(walk(branch.body, before, depth: depth + 1))
                next = branch.next
                if keyword == "if", !isElseIf { isWhole = true }
            }
            // One of these branches runs behind the earlier one too.
            if isWhole, state == .perhaps, !text.namesFlag(start..<block.open),
                outcomes.allSatisfy({ $0.state == .yes }),
                let call = block.body.first(where: isCall)
            {
                _ = note(call, state)
            }
            if isWhole, outcomes.allSatisfy(\.isOver) { return nil }
            join(outcomes, isWhole: isWhole, &state)
            return next
        }
    }

    /// The state after branches; `isWhole` if one of them is always taken.
    private func join(_ outcomes: [Outcome], isWhole: Bool, _ state: inout State) {
        let states = outcomes.filter { !$0.isOver }.map(\.state)
        if isWhole, !states.isEmpty, states.allSatisfy({ $0 == .yes }) {
            state = .yes
        } else if states.contains(where: { $0 > .no }) {
            state = max(state, .perhaps)
        }
    }

    /// The cases of a switch.
    private mutating func cases(_ body: Range<Int>, _ state: State, depth: Int) -> [Outcome] {
        var outcomes: [Outcome] = []
        var start: Int?
        var index = body.lowerBound
        while index <= body.upperBound {
            let token = index < body.upperBound ? text.tokens[index] : nil
            if token.map({ $0.isName("case") || $0.isName("default") }) ?? true {
                if let start, start < index {
                    var outcome = walk(start..<index, state, depth: depth)
                    // In Objective-C a case falls through to the next one.
                    if text.isObjectiveC { outcome.isOver = true }
                    outcomes.append(outcome)
                }
                while index < body.upperBound, !text.tokens[index].isMark(":") {
                    index = text.skipBracket(index, body)
                }
                start = index + 1
            }
            guard index < body.upperBound else { break }
            index = text.skipBracket(index, body)
        }
        return outcomes
    }

    /// Whether a call may not be made where it stands: `quiet ? () : done()`.
    private func isOfCondition(_ index: Int) -> Bool {
        guard asksEachPath else { return false }
        let line = text.tokens[index].position.line
        return (0..<index).suffix(AuditLimits.headWords).reversed()
            .prefix { word in
                !["{", "}", ";"].contains(where: text.tokens[word].isMark)
                    && (text.isObjectiveC || text.tokens[word].position.line == line)
            }
            .contains { word in
                ["&&", "||", "??"].contains(where: text.tokens[word].isMark)
                    || text.sees("?", at: word) && !text.sees(".", at: word + 1)
                    || text.sees(":", at: word)
                        && text[word - 1].map { $0.position.line < line } == true
            }
    }

    /// Whether a call is the second branch of a condition whose first one is a call: `a ? done(b) :
    /// done(c)`.
    private func isAlternative(_ index: Int) -> Bool {
        var start = index
        while text.sees(".", at: start - 1), text[start - 2]?.isName == true { start -= 2 }
        guard text.sees(")", ":", at: start - 2), text.partners[start - 2] > 0 else { return false }
        return isCall(text.partners[start - 2] - 1)
    }
}
