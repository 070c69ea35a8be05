// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Follows the paths behind a call that asks for time in the background.
extension SourceReader {
    /// What ends the time of a property, if only the rest of the function that asks for it does,
    /// and the expiration handler.
    struct SoleEnd {
        /// The words by which other files may end it.
        var others = SourceDigest.OtherUses()
        /// Whether each closure with an end runs at most once, as far as is known.
        var isCertain = true
    }

    /// Follows the paths after the call, in the enclosing function. Those of a property need an
    /// end there. Returns whether there is a fault.
    @discardableResult
    mutating func readTimePaths(
        _ index: Int, _ strictness: CompletionPaths.Strictness, needsEnd: Bool = false,
        _ sole: SoleEnd? = nil, settles: @escaping (Int) -> Bool
    ) -> Bool {
        for scope in text.scopes(around: index) {
            guard case .function = scope.kind else {
                if case .closure = scope.kind { return false }
                continue
            }
            // The expiration handler, in the call or after it, ends no other path.
            let call =
                message(around: index).map { text.partners[$0] }
                ?? max(text.partners[index + 1], index)
            var start = call + 1
            if text.sees("{", at: start) { start = text.partners[start] + 1 }
            guard start > call, start < scope.close else { return false }
            let rest = SourceScope(
                kind: scope.kind, head: index, open: start - 1, close: scope.close,
                parent: scope.parent)
            // Another function ends it, if this one never does.
            let ends = (start..<scope.close).filter(settles)
            let isElsewhere =
                !ends.contains(where: isCall) || sole == nil && endsLaterElsewhere(ends, scope)
            if needsEnd, isElsewhere { return false }
            let gaps = CompletionPaths(text, body: rest, strictness, settles: settles).gaps
            let fault = SourceObservation.Subject.fault(.assertionPathWithoutEnd)
            if let sole {
                let gap = gaps.sorted().first { sole.isCertain || isOfFailure($0, ends, rest) }
                guard let gap else { return false }
                see(fault, sole.others, at: gap)
                if !sole.others.isEmpty { digest.hasLastingTime = true }
                return true
            }
            if let gap = gaps.min(), !needsEnd || !gaps.contains(index) {
                see(fault, at: gap)
                return true
            }
            guard gaps.isEmpty, !needsEnd else { return false }
            let isBehind = { (word: Int) in word >= start && settles(word) }
            let given = (start..<scope.close).filter { word in
                text.tokens[word].isName("endBackgroundTask") && isCall(word)
                    && text.content(ofBracket: word + 1).contains(where: settles)
            }
            guard let gap = gap(behind: given, in: scope, fault, settles: isBehind) else {
                return false
            }
            see(fault, at: gap)
            return true
        }
        return false
    }

    /// Follows the paths behind a call whose identifier a property keeps. Other functions may end
    /// its time: only a function that ends it itself, and returns before, has a fault; if no others
    /// do, one that may not end it too.
    mutating func readKeptPaths(_ begin: Int, _ name: String) {
        let settles = { [self] (word: Int) in
            if text.tokens[word].isName("endBackgroundTask") { return isCall(word) }
            guard functions[text.tokens[word].text].map(endsTime) == true else { return false }
            // `submit(completion: finish)`, `#selector(finish)`.
            return isCall(word)
                || text.tokens[word].isName && !text.isLabel(word)
                    && [",", ")", "]"].contains { text.sees($0, at: word + 1) }
        }
        let sole = soleEnd(behind: begin, name)
        let isOwn = sole.map { $0.isCertain && $0.others.isEmpty } == true
        if !isOwn {
            let strictness = CompletionPaths.Strictness(entersClosures: false, doneFlags: [name])
            if readTimePaths(begin, strictness, needsEnd: true, settles: settles) { return }
        }
        guard let sole else { return }
        let strictness = CompletionPaths.Strictness(doneFlags: [name], countsThrows: true)
        readTimePaths(begin, strictness, needsEnd: true, sole, settles: settles)
    }

    /// Whether a condition compares an identifier with the invalid one: its other side has no time
    /// to end.
    func asksWhetherInvalid(_ word: Int) -> Bool {
        guard isComparedWithInvalid(word) else { return false }
        let head = (0..<word).suffix(AuditLimits.headWords).reversed().prefix {
            !["{", "}", ";"].contains(where: text.tokens[$0].isMark)
        }
        return head.contains { text.tokens[$0].isName("if") || text.tokens[$0].isName("guard") }
    }

    // MARK: What else ends the time

    /// What ends the time of a property of this file, if only the rest of the function that asks
    /// for it does, and the expiration handler.
    private func soleEnd(behind begin: Int, _ name: String) -> SoleEnd? {
        let names = identifierNames(name)
        let ends = text.places(of: "endBackgroundTask")
        // Many are of many tasks.
        guard let (head, body) = function(around: begin), ends.count <= 32,
            text.places(of: text.tokens[begin].text).count <= 32,
            let isPrivate = isPrivateProperty(name, of: begin)
        else { return nil }
        var sole = SoleEnd()
        if !isPrivate {
            guard names.allSatisfy(WordFilter.canFind), !isNamedInText(names) else { return nil }
            sole.others.identifiers = names
        }
        var helpers: [String: Range<Int>] = [:]
        for end in ends where !body.contains(end) {
            guard let function = outerFunction(of: end), case .function(let head) = function.kind,
                helpers[head.name].map({ $0.contains(end) }) != false
            else { return nil }
            if !["private", "fileprivate"].contains(where: { text.sees($0, at: function.head - 1) })
            {
                guard callers(of: function.head) == [head.name], !isShownToObjectiveC(function),
                    !isNamedInText([head.name])
                else { return nil }
                sole.others.ends.insert(head.name)
            }
            helpers[head.name] = text.content(ofBracket: function.open)
        }
        let words = ends + helpers.keys.flatMap { uses[$0] ?? [] }
        guard words.count <= 64 else { return nil }
        for word in words
        where !helpers.values.contains(where: { $0.contains(word) }) {
            guard word > begin, let isCertain = runsOnce(word, in: body, depth: 0) else {
                return nil
            }
            if !isCertain { sole.isCertain = false }
        }
        return leadsBack(to: head.name, from: begin..<max(begin, body.upperBound)) ? nil : sole
    }

    /// Whether only this file can use a stored property of the type around a token; `nil` if it
    /// has none with that name.
    private func isPrivateProperty(_ name: String, of index: Int) -> Bool? {
        guard !text.isObjectiveC else { return false }
        let declarations = text.places(of: name).filter { text.sees("var", at: $0 - 1) }
        let isPrivate = declarations.contains { declaration in
            ["private", "fileprivate"].contains { text.sees($0, at: declaration - 2) }
        }
        if isPrivate { return true }
        guard declarations.count == 1, let declaration = declarations.first,
            function(around: declaration) == nil,
            text.type(around: declaration)?.name == text.type(around: index)?.name,
            isPlainStorage(declaration)
        else { return nil }
        return false
    }

    /// Whether a token of a body runs at most once whenever the body does: in no loop, and in no
    /// closure that is known to be called several times; false if one may be.
    private func runsOnce(_ index: Int, in body: Range<Int>, depth: Int) -> Bool? {
        guard body.contains(index) else { return nil }
        var isCertain = true
        for scope in text.scopes(around: index) where scope.open >= body.lowerBound {
            switch scope.kind {
            case .control(let keyword):
                if ["for", "while", "repeat"].contains(keyword) { return nil }
            case .closure(let callee):
                let name = text.isObjectiveC ? text.receiver(ofBlock: scope.open) : callee
                guard let name, !Self.repeatingCallees.contains(name) else { return nil }
                if name.hasPrefix("beginBackgroundTask") || Self.singleCallees.contains(name) {
                    continue
                }
                if !isCalledOnce(scope.open, in: body, depth: depth) { isCertain = false }
            case .function, .type: return nil
            }
        }
        return isCertain
    }

    /// Whether a function of this file gets a closure, and calls it once.
    private func isCalledOnce(_ open: Int, in body: Range<Int>, depth: Int) -> Bool {
        guard depth < 3, let site = text.calls(around: open + 1, in: body).first,
            let (helper, names) = receiver(
                of: handover(site, [open], .fault(.assertionPathWithoutEnd), .completion),
                inSameFile: true)
        else { return false }
        let own = text.content(ofBracket: helper.open)
        let calls = names.flatMap { text.places(of: $0, in: own) }.filter { !text.isLabel($0) }
        return !calls.isEmpty
            && calls.allSatisfy { call in
                isCall(call) && !text.sees(".", at: call - 1)
                    && runsOnce(call, in: own, depth: depth + 1) == true
            }
            && RepeatedCalls(text, body: helper) { calls.contains($0) }.first == nil
    }

    /// Functions of the system that call their closures once.
    private static let singleCallees: Set = [
        "Task", "detached", "async", "asyncAfter", "dataTask", "downloadTask", "uploadTask", "run",
        "dispatch_async", "dispatch_sync", "dispatch_after", "dataTaskWithRequest",
        "dataTaskWithURL", "downloadTaskWithRequest", "downloadTaskWithURL",
        "uploadTaskWithRequest", "performBlock", "addOperationWithBlock",
    ]

    /// Functions that may call a closure again, also after something failed.
    private static let repeatingCallees: Set = [
        "forEach", "map", "compactMap", "flatMap", "observe", "addObserver", "sink", "subscribe",
        "onReceive", "onNext", "scheduledTimer", "Timer", "scheduledTimerWithTimeInterval",
        "enumerateObjectsUsingBlock", "addObserverForName", "dispatch_apply",
        "dispatch_source_set_event_handler", "setEventHandler", "schedule", "filter", "retry",
    ]

    /// Whether code may call a function again through those of this file, such as another attempt.
    private func leadsBack(to name: String, from range: Range<Int>) -> Bool {
        var known: Set<String> = []
        var pending = [range]
        while let next = pending.popLast() {
            for word in next where text.tokens[word].isName {
                let called = text.tokens[word].text
                if called == name { return true }
                guard let function = functions[called], known.insert(called).inserted else {
                    continue
                }
                guard known.count <= 32 else { return true }
                pending.append(text.content(ofBracket: function.open))
            }
        }
        return false
    }

    // MARK: Failures

    /// Whether a path without an end is in no closure, or one that something failed on, after which
    /// nothing more comes.
    private func isOfFailure(_ gap: Int, _ ends: [Int], _ body: SourceScope) -> Bool {
        if text.tokens[gap].isMark("{") {
            let closure = text.content(ofBracket: gap)
            let inside = ends.filter(closure.contains)
            return !inside.isEmpty
                && inside.allSatisfy { end in
                    text.scopes(around: end).prefix { $0.open > gap }
                        .contains { isFailure($0, at: end) == false }
                }
        }
        for scope in text.scopes(around: gap) {
            if scope.open <= body.open { return true }
            switch scope.kind {
            case .control: if isFailure(scope, at: gap) == true { return true }
            case .closure: return false
            case .function, .type: return true
            }
        }
        return false
    }

    /// Whether a part of a statement runs after a failure, or after none; `nil` if that is unknown.
    private func isFailure(_ scope: SourceScope, at index: Int) -> Bool? {
        guard case .control(let keyword) = scope.kind else { return nil }
        switch keyword {
        case "if": return asksForFailure(scope.head + 1..<scope.open)
        case "guard":
            return asksForFailure(scope.head + 1..<scope.open).flatMap { $0 ? nil : true }
        case "else":
            guard text.sees("}", at: scope.head - 1),
                let first = text.scope(openedAt: text.partners[scope.head - 1]),
                case .control("if") = first.kind, !text.sees("else", at: first.head - 1),
                !(first.head..<first.open).contains(where: isJoint)
            else { return nil }
            return asksForFailure(first.head + 1..<first.open).map { !$0 }
        case "switch":
            guard let label = caseLabel(before: index, in: scope) else { return nil }
            if text.sees(".", "failure", at: label + 1) { return true }
            return text.sees(".", "success", at: label + 1) ? false : nil
        case "catch": return true
        default: return nil
        }
    }

    /// Whether a condition is met after a failure, or only after none: `error != nil`, `let error`,
    /// `case .success = result, ready`.
    private func asksForFailure(_ condition: Range<Int>) -> Bool? {
        for word in condition {
            var found: Bool?
            if text.sees("case", ".", "failure", at: word) { found = true }
            if text.sees("case", ".", "success", at: word) { found = false }
            if text.tokens[word].isName("error") || text.tokens[word].isName("err") {
                let isAlone =
                    text.isObjectiveC && [")", "&&", "||"].contains { text.sees($0, at: word + 1) }
                if text.sees("!=", "nil", at: word + 1) || text.sees("let", at: word - 1)
                    || isAlone && ["(", "||"].contains(where: { text.sees($0, at: word - 1) })
                {
                    found = true
                }
                if text.sees("==", "nil", at: word + 1)
                    || isAlone && text.sees("!", at: word - 1)
                {
                    found = false
                }
            }
            guard let found else { continue }
            // What else is asked for must not keep a failure out, or let it in.
            let others = found ? ["&&", ","] : ["||"]
            let isOther = { [text] (index: Int) in others.contains { text.sees($0, at: index) } }
            return condition.contains(where: isOther) ? nil : found
        }
        return nil
    }

    private func isJoint(_ index: Int) -> Bool {
        [",", "&&", "||"].contains { text.sees($0, at: index) }
    }
}
