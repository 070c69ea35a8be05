// SPDX-License-Identifier: Apache-2.0

/// Finds paths through a function's body without a required call: of a completion handler, the
/// report of a call, the end of a task.
///
/// It follows statements, not types: the caller determines which tokens count.
struct CompletionPaths {
    /// The strictness of the check.
    struct Strictness: Hashable {
        /// Whether a path that reaches the end of the function counts, not only one that returns or
        /// that is a branch beside others with the call.
        var countsEnd = true
        /// Whether a closure that contains the call must make it on all its paths.
        var entersClosures = true
        /// Names in a condition whose other side never runs, such as the push type in a handler of
        /// VoIP pushes.
        var exemptNames: Set<String> = []
        /// Names of flags for a completion elsewhere.
        var doneFlags: Set<String> = []
        /// Whether a failed attempt counts as the call, such as a report to CallKit that throws.
        var countsAttempts = false
        /// Names with arbitrary values, so that both sides of a condition with one need the call.
        var inputNames: Set<String> = []
        /// Whether an error that the function throws ends a path too.
        var countsThrows = false
        /// Whether each call of the function must complete, also one that a flag of an earlier call
        /// ends.
        var startsAnew = false
    }

    let text: SourceText
    let settles: (Int) -> Bool
    let strictness: Strictness
    /// The index of the opening brace of the body.
    let open: Int
    /// The tokens at which such paths end.
    private(set) var gaps: [Int] = []
    /// The branches without the call beside others with it.
    private var openBranches: [Int] = []
    /// The functions and closures in the body that make the call.
    private(set) var definitions = LocalDefinitions()
    /// The labels of statements that a `break` leaves before the call, with its place.
    private var leftLabels: [String: Int] = [:]
    /// Whether the call was made before a call with several closures, by its bracket.
    private var settledBefore: [Int: Bool] = [:]
    /// The conditions under which the call was made, with their places.
    var settledConditions: [SettledCondition: Int] = [:]
    /// The scopes in which the call was made if there is nothing to go through.
    var scopesWithoutNone: Set<Int> = []
    /// The remaining number of statements: nested closures are visited once per level.
    private var wordsLeft = 200_000

    /// Checks the body of a function for calls of this handler.
    init(_ text: SourceText, handler name: String, body: SourceScope) {
        self.init(text, body: body, Strictness(startsAnew: true)) {
            text.tokens[$0].isName(name) && !text.isLabel($0)
        }
    }

    /// Checks a body. `settles` returns whether a token makes the required call.
    init(
        _ text: SourceText, body: SourceScope, _ strictness: Strictness = Strictness(),
        settles: @escaping (Int) -> Bool
    ) {
        self.text = text
        self.settles = settles
        self.strictness = strictness
        open = body.open
        let end = body.close >= 0 ? body.close : text.tokens.count
        definitions = LocalDefinitions(
            in: text, body.open + 1..<max(end, body.open + 1), thatHold: settles)
        let isSettled = walk(body.open + 1..<end, isSettled: false, depth: 0)
        guard !isSettled else { return }
        gaps += strictness.countsEnd ? [body.head] : openBranches
    }

    /// Follows statements. Returns whether the call was made, or the path has ended, on each path
    /// through them.
    private mutating func walk(_ range: Range<Int>, isSettled: Bool, depth: Int) -> Bool {
        var isSettled = isSettled
        var index = range.lowerBound
        // The gaps in closures, which a call after them makes up for.
        var gapsOfClosures: Set<Int> = []
        while index < range.upperBound {
            wordsLeft -= 1
            guard wordsLeft > 0, depth < AuditLimits.scopeDepth else { return true }
            let token = text.tokens[index]
            if case .directive = token.kind {
                index = condition(at: index, range, &isSettled, depth)
                continue
            }
            guard token.isName else {
                if token.isMark("{"), text.isPlainBlock(index) {
                    let body = text.content(ofBracket: index)
                    isSettled = walk(body, isSettled: isSettled, depth: depth + 1)
                    index = max(body.upperBound, index) + 1
                } else if token.isMark("{") {
                    let known = gaps.count
                    index = closure(at: index, &isSettled, depth)
                    gapsOfClosures.formUnion(gaps.dropFirst(known))
                } else {
                    index += 1
                }
                continue
            }
            if counts(index) {
                if !gapsOfClosures.isEmpty {
                    gaps.removeAll(where: gapsOfClosures.contains)
                    gapsOfClosures = []
                }
                isSettled = true
                index += 1
                continue
            }
            switch token.text {
            case "return":
                let statement = index..<text.statementEnd(index, range)
                if !isSettled, !mentions(statement) { gaps.append(index) }
                return true
            case "throw", "fatalError", "preconditionFailure":
                return true
            case _ where neverReturns(index): return true
            case "break", "continue", "goto":
                if token.text == "break", !isSettled, let label = text[index + 1], label.isName,
                    label.position.line == token.position.line
                {
                    leftLabels[label.text] = index
                }
                return isSettled
            case "try" where !text.isObjectiveC:
                if !isSettled, throwsAway(index, range) { gaps.append(index) }
            case "func" where !text.isObjectiveC:
                index = skipFunction(index, range)
                continue
            case "try" where text.isObjectiveC,
                "defer", "if", "guard", "switch", "do", "for", "while", "repeat":
                guard text[index - 1]?.isMark(".") != true, !text.isLabel(index) else { break }
                index = control(token.text, index, range, &isSettled, depth)
                continue
            default: break
            }
            index += 1
        }
        return isSettled
    }

    func mentions(_ range: Range<Int>) -> Bool { range.contains(where: counts) }

    private func counts(_ index: Int) -> Bool {
        settles(index) || definitions.areUsed(at: index, in: text)
    }

    // MARK: Blocks

    /// `#if … #else … #endif`: settled if every part is. Without `#else` the part may not be
    /// compiled, so that a missing call is not a fault. A part that is compiled in every iOS build
    /// is the only one.
    private mutating func condition(
        at start: Int, _ range: Range<Int>, _ isSettled: inout Bool, _ depth: Int
    ) -> Int {
        guard text.tokens[start].text == "if" else { return start + 1 }
        var parts: [Range<Int>] = []
        var partStart = start + 1
        var nesting = 0
        var hasElse = false
        var index = start + 1
        while index < range.upperBound {
            if case .directive = text.tokens[index].kind {
                let name = text.tokens[index].text
                if name == "if" { nesting += 1 }
                if name == "endif" {
                    if nesting == 0 { break }
                    nesting -= 1
                }
                if nesting == 0, name.hasPrefix("el") {
                    parts.append(partStart..<index)
                    partStart = index + 1
                    if name == "else" { hasElse = true }
                }
            }
            index += 1
        }
        parts.append(partStart..<min(index, range.upperBound))
        if let built = text.built(parts, of: start, hasElse: hasElse) {
            isSettled = walk(built, isSettled: isSettled, depth: depth + 1)
            return index + 1
        }
        let known = gaps.count
        let results = parts.map { walk($0, isSettled: isSettled, depth: depth + 1) }
        if hasElse {
            // A part that falls through to the code after it ends no path.
            isSettled = results.allSatisfy { $0 } || isSettled
        } else {
            gaps.removeLast(gaps.count - known)
            if mentions(partStart..<min(index, range.upperBound)) { isSettled = true }
        }
        return index + 1
    }

    /// A closure: if it contains the call, it settles the code after it, and must settle itself.
    private mutating func closure(at open: Int, _ isSettled: inout Bool, _ depth: Int) -> Int {
        let body = text.content(ofBracket: open)
        guard !body.isEmpty else { return open + 1 }
        if let isAtOnce = settlesAtOnce(open, body, isSettled, depth) {
            isSettled = isAtOnce
        } else if mentions(body) {
            // Of several closures of one call one may run.
            var before = isSettled
            if let bracket = (max(0, open - AuditLimits.headWords)..<open).last(where: {
                text.partners[$0] > open
            }), !text.tokens[bracket].isMark("{") {
                before = settledBefore[bracket] ?? isSettled
                settledBefore[bracket] = before
            }
            // One of many runs may be the one that it waits for.
            if strictness.entersClosures, !runsOften(body), !isMadeUpFor(open, depth),
                !leavesNotifiedGroup(body), !walk(body, isSettled: before, depth: depth + 1)
            {
                gaps.append(open)
            }
            if strictness.entersClosures, !before {
                gaps += silentAlternative(to: open).map { [$0] } ?? []
                gaps += pathsInsideGroup(notifying: open)
            }
            if !definitions.opens.contains(open), !isSetOnWaitingWork(open) { isSettled = true }
        }
        return body.upperBound + 1
    }

    /// Whether another closure of a call makes the call if this one does not: the one for the end
    /// of a `sink`, or of other work, runs after the one for its values.
    private func isMadeUpFor(_ open: Int, _ depth: Int) -> Bool {
        let sink = sinkClosures(around: open)
        if let sink, sink.end == open { return mentions(text.content(ofBracket: sink.value)) }
        guard let end = sink?.end ?? endingClosure(beside: open) else { return false }
        var other = self
        let isSettled = other.walk(
            text.content(ofBracket: end), isSettled: false, depth: depth + 1)
        return isSettled && other.gaps.count == gaps.count
    }

    /// Whether the call was made behind a closure that runs where it stands, `autoreleasepool {` or
    /// `queue.sync {`; `nil` for others. It leaves no path open by itself, and its value may tell
    /// of the call.
    private func settlesAtOnce(
        _ open: Int, _ body: Range<Int>, _ isSettled: Bool, _ depth: Int
    ) -> Bool? {
        guard !text.isObjectiveC, runsInPlace(open - 1), let site = text.call(at: open - 1)
        else { return nil }
        if isSettled || text.usesValue(of: site) { return isSettled || mentions(body) }
        var other = self
        return other.walk(body, isSettled: false, depth: depth + 1)
            && other.gaps.count == gaps.count
    }

    /// Whether a closure runs once per element of a sequence, or for each change or each time.
    private func runsOften(_ body: Range<Int>) -> Bool {
        let scope = text.scopeIndices[body.lowerBound]
        guard scope >= 0, case .closure(let callee?) = text.scopes[scope].kind else { return false }
        if callee == "scheduledTimer" {
            let head = max(0, body.lowerBound - AuditLimits.headWords)..<body.lowerBound
            return head.contains { text.sees("repeats", ":", "true", at: $0) }
        }
        return ["forEach", "map", "compactMap", "flatMap", "observe", "addObserver"]
            .contains(callee)
    }

    /// Skips a nested function: only a call of it has an effect.
    private func skipFunction(_ start: Int, _ range: Range<Int>) -> Int {
        guard let open = text.firstBrace(start, range) else { return start + 1 }
        return max(text.content(ofBracket: open).upperBound, open) + 1
    }

    /// A statement with blocks. Returns the index after it.
    private mutating func control(
        _ keyword: String, _ start: Int, _ range: Range<Int>, _ isSettled: inout Bool, _ depth: Int
    ) -> Int {
        guard let (open, body, next) = text.block(after: start, range), open + 1 <= range.upperBound
        else { return start + 1 }
        if let thrown = (start..<open).first(where: { text.tokens[$0].isName("try") }),
            !text.isObjectiveC, !isSettled, throwsAway(thrown, range)
        {
            gaps.append(thrown)
        }
        // The code before the brace runs on every path.
        if keyword != "defer", mentions(start..<open) { isSettled = true }
        switch keyword {
        case "defer":
            if mentions(body) { isSettled = true }
            return next
        case "guard":
            let needless = needlessSide(of: start..<open)
            let isMet =
                needless == false
                || isExempt(start..<open) || asksWhetherDone(start..<open)
                || isAlwaysMet(start..<open)
                || asksForLatch(start..<open)
                || asksForFlag(start..<open, setIn: next..<max(next, range.upperBound))
            if !isMet { _ = walk(body, isSettled: isSettled, depth: depth + 1) }
            if mentions(body) { noteNone(start..<open, isMet: false) }
            if needless == true { isSettled = true }
            return next
        case "for", "while":
            let known = gaps.count
            _ = walk(body, isSettled: isSettled, depth: depth + 1)
            // The last of some work that is counted completes.
            if keyword == "for", mentions(body),
                scopesWithoutNone.contains(text.scopeIndices[start])
            {
                gaps.removeLast(gaps.count - known)
                isSettled = true
            }
            if isEndless(start..<open, body) { isSettled = true }
            // The sequence may be empty.
            if keyword == "for", !isSettled, mentions(body), asksForInput(start..<open) {
                openBranches.append(start)
            }
            return next
        case "repeat":
            isSettled = walk(body, isSettled: isSettled, depth: depth + 1)
            if text.sees("while", at: next),
                isEndless(next..<text.statementEnd(next, range), body)
            {
                isSettled = true
            }
            return next
        case "switch":
            let isExempt = isExempt(start..<open)
            let results = cases(body, isSettled: isSettled, depth: depth + 1, isExempt: isExempt)
            settle(&isSettled, results)
            return next
        default:
            let wasSettled = isSettled
            defer {
                if let left = text.sees(":", at: start - 1)
                    ? text[start - 2].flatMap({ leftLabels.removeValue(forKey: $0.text) }) : nil
                {
                    isSettled = wasSettled
                    openBranches.append(left)
                }
            }
            if keyword == "try", let last = finallyBody(at: next, range), mentions(last) {
                isSettled = true
            }
            return chain(keyword, start..<open, body, next, range, &isSettled, depth)
        }
    }

    private struct Branch {
        let open: Int
        let isSettled: Bool
    }

    /// Settles if every branch did; records the branches without the call beside others with it.
    private mutating func settle(_ isSettled: inout Bool, _ branches: [Branch]) {
        guard !isSettled else { return }
        if !branches.isEmpty, branches.allSatisfy(\.isSettled) {
            isSettled = true
        } else if branches.contains(where: \.isSettled) {
            openBranches += branches.filter { !$0.isSettled }.map(\.open)
        }
    }

    /// `if … else if … else …` and `do … catch …`: settled if every branch is.
    private mutating func chain(
        _ keyword: String, _ condition: Range<Int>, _ body: Range<Int>, _ next: Int,
        _ range: Range<Int>, _ isSettled: inout Bool, _ depth: Int
    ) -> Int {
        // `if isDone { return }`, `isDone = true`: a later run of the closure has nothing to do.
        if keyword == "if", let last = body.last(where: { !text.tokens[$0].isMark(";") }),
            text.tokens[last].isName("return"),
            isForLaterRuns(condition, next..<max(next, range.upperBound))
        {
            return next
        }
        let needless = keyword == "if" ? needlessSide(of: condition) : nil
        let asksWhetherDone = keyword == "if" && asksWhetherDone(condition)
        let isExempt = keyword == "if" && (asksWhetherDone || isExempt(condition))
        let isNegated =
            text.tokens[condition].contains { $0.isMark("!=") || $0.isMark("!") }
            != asksWhetherDone
        let asksForVersion = keyword == "if" && asksForVersion(condition)
        var branches: [Branch] = []
        if !isExempt || !isNegated {
            let result = walk(body, isSettled: isSettled || needless == true, depth: depth + 1)
            branches.append(Branch(open: condition.upperBound, isSettled: result))
        }
        var isExhaustive =
            keyword != "if" || asksForVersion || (isExempt && !isNegated) || needless == false
            || asksForFlag(condition, setIn: body) || asksForLatch(condition)
            || isAlwaysMet(condition) || asksForLast(condition)
        var next = next
        var conditions = [condition]
        let continuation = keyword == "if" ? "else" : "catch"
        while next < range.upperBound {
            let word = text.tokens[next].isMark("@") ? next + 1 : next
            guard word < range.upperBound, text.tokens[word].isName(continuation) else { break }
            if keyword != "if", strictness.countsAttempts, attempts(body),
                let failure = text.block(after: word, range)
            {
                next = failure.next
                continue
            }
            let isElseIf = keyword == "if" && text[word + 1]?.isName("if") == true
            guard let branch = text.block(after: isElseIf ? word + 1 : word, range) else { break }
            if mentions(word..<branch.open) { isSettled = true }
            if isElseIf { conditions.append(word..<branch.open) }
            if !isExempt || isNegated {
                let result = walk(
                    branch.body, isSettled: isSettled || needless == false, depth: depth + 1)
                branches.append(Branch(open: branch.open, isSettled: result))
            }
            next = branch.next
            if keyword == "if", !isElseIf {
                isExhaustive = true
                break
            }
        }
        if isExhaustive || keyword == "if" && areExhaustive(conditions) {
            settle(&isSettled, branches)
        } else if !isSettled, keyword == "if", branches.count == 1, branches[0].isSettled,
            let first = opposite(of: condition)
        {
            openBranches.removeAll { $0 == first }
            isSettled = true
        } else if !isSettled,
            branches.contains(where: { $0.isSettled || mentions(condition.lowerBound..<next) }),
            asksForInput(condition) || asksForAccount(condition, last: next, in: range)
        {
            openBranches.append(condition.lowerBound)
        }
        if keyword == "if", mentions(body) { noteNone(condition, isMet: true) }
        return next
    }

    /// Whether nothing else can throw before the call: `try await provider.report(…)`.
    private func attempts(_ body: Range<Int>) -> Bool {
        guard let first = body.first(where: settles) else { return false }
        return (body.lowerBound..<first).allSatisfy { index in
            if text.tokens[index].isName("throw") { return false }
            guard text.tokens[index].isName("try") else { return true }
            return (index + 1..<first).allSatisfy { word in
                let token = text.tokens[word]
                return token.isName || token.isMark(".") || token.isMark("?") || token.isMark("!")
            }
        }
    }

    /// The cases of a switch, which is exhaustive. If it is exempt, only the case that names what
    /// the function is for counts.
    private mutating func cases(
        _ body: Range<Int>, isSettled: Bool, depth: Int, isExempt: Bool
    ) -> [Branch] {
        var branches: [Branch] = []
        var named: [Branch] = []
        var start: Int?
        var label = body.lowerBound
        var index = body.lowerBound
        let isOfStream = endsStream(body)
        while index <= body.upperBound {
            let token = index < body.upperBound ? text.tokens[index] : nil
            let isLabel = token.map { $0.isName("case") || $0.isName("default") } ?? true
            if isLabel {
                if let start {
                    let known = gaps.count
                    let result = walk(start..<index, isSettled: isSettled, depth: depth)
                    let isNamed = isExempt && (label..<start).contains(where: exempts)
                    let isValue = isOfStream && isStreamValue(label + 1)
                    if isExempt && !isNamed || isValue { gaps.removeLast(gaps.count - known) }
                    if index == body.upperBound || !fallsThrough(start..<index) {
                        branches.append(Branch(open: label, isSettled: result || isValue))
                        if isNamed { named.append(branches[branches.count - 1]) }
                    }
                }
                label = index
                // The statements start after the label's colon.
                while index < body.upperBound, !text.tokens[index].isMark(":") {
                    index = text.skipBracket(index, body)
                }
                start = index + 1
            }
            guard index < body.upperBound else { break }
            index = text.skipBracket(index, body)
        }
        guard isExempt else { return branches }
        return named.isEmpty ? branches.filter(\.isSettled) : named
    }
}
