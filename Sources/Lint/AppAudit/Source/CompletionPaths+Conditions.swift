// SPDX-License-Identifier: Apache-2.0

/// The effects of conditions, loops and `try` on the paths after them.
extension CompletionPaths {
    /// Whether a condition says that this is not what the function is for, and asks for nothing
    /// else that can be any: `guard type == .voIP, let id = payload["id"]`.
    func isExempt(_ range: Range<Int>) -> Bool {
        if asksForSelf(range) { return true }
        // `guard let self, isReady`: what stands beside `let self` can be any.
        let all = parts(of: range)
        let others = all.filter { !$0.contains(where: bindsSelf) }
        let parts = others.count < all.count ? others.filter { !isMet($0) } : others
        if parts.allSatisfy({
            castsWholePayload($0) || bindsCopy($0) || $0.contains(where: exempts)
        }) {
            return true
        }
        guard parts.contains(where: { $0.contains(where: exempts) }) else { return false }
        return strictness.inputNames.isEmpty
            || !parts.contains { asksForInput($0) && !$0.contains(where: exempts) }
    }

    /// Whether a condition casts a whole payload to a dictionary, which succeeds, because the keys
    /// of JSON are texts (`let push = payload.dictionaryPayload as? [String: Any]`), or the copy of
    /// a content to its kind.
    private func castsWholePayload(_ part: Range<Int>) -> Bool {
        guard let cast = part.first(where: { text.sees("as", "?", at: $0) }) else { return false }
        let type = text.tokens[min(cast + 2, part.upperBound)..<part.upperBound].map(\.text)
            .filter { $0 != "else" && $0 != ")" }.joined()
        if text.sees("mutableCopy", "(", ")", at: cast - 3) {
            return type == "UNMutableNotificationContent" && copiesContent(cast - 3)
        }
        // That of an error or of a notification in the app may be missing.
        let isOfPush =
            text.sees("userInfo", at: cast - 1)
            && (!text.sees(".", at: cast - 2) || text.sees("content", at: cast - 3))
        guard isOfPush || text.sees("dictionaryPayload", at: cast - 1) else { return false }
        return [
            "[String:Any]", "[String:AnyObject]", "[AnyHashable:Any]", "[NSObject:AnyObject]",
            "NSDictionary",
        ].contains(type)
    }

    /// Whether an initializer of Objective-C asks whether it has an object: `if (self) {`, `if
    /// (!(self = [super init])) {`.
    private func asksForSelf(_ range: Range<Int>) -> Bool {
        let names = Set(text.tokens[range].filter(\.isName).map(\.text))
        return text.isObjectiveC && names.contains("self")
            && names.isSubset(of: ["if", "self", "super", "init", "nil"])
    }

    /// Whether what stands beside `let self` is met at each run: the app's delegate, a URL of a
    /// text that stands there, a version, a thread, or that nothing was cancelled.
    private func isMet(_ part: Range<Int>) -> Bool {
        // `!Task.isCancelled`, and not `Task.isCancelled`.
        let isNegated = part.contains { text.tokens[$0].isMark("!") }
        let words: Set = isNegated ? ["isCancelled"] : ["available", "isMainThread"]
        return part.contains { index in
            words.contains(text.tokens[index].text)
                || text.sees(".", "delegate", "as", "?", at: index)
                || text.sees("URL", "(", "string", ":", at: index)
                    && text[index + 4]?.isString == true
        }
    }

    func exempts(_ index: Int) -> Bool {
        guard text.tokens[index].isName else { return false }
        return bindsSelf(index) || strictness.exemptNames.contains(text.tokens[index].text)
    }

    /// `guard let self`: the object that handles pushes lives as long as the app, unless it is a
    /// screen. A weak `call` in `guard let call = call` is taken to live as long as what calls the
    /// closure, which is its own function more often than not.
    private func bindsSelf(_ index: Int) -> Bool {
        // `guard let strongSelf = self`
        let isRenamed =
            text.sees("=", "self", at: index - 1) && text.sees("let", at: index - 3)
            && text.tokens[index].isName("self")
        guard text[index - 1]?.isName("let") == true || isRenamed, text.tokens[index].isName else {
            return false
        }
        if text.tokens[index].text == "self" {
            return text.type(around: index)?.inherited.contains {
                $0.hasSuffix("ViewController")
            } != true
        }
        // `let call`, `let call = call`, and no other value of that name.
        let isSame =
            !text.sees("=", at: index + 1) || text[index + 2]?.text == text.tokens[index].text
        return isSame && isWeakInClosure(index)
    }

    /// Whether a name is in the captures of a closure around it: `{ [weak call] in`.
    private func isWeakInClosure(_ index: Int) -> Bool {
        text.scopes(around: index).contains { scope in
            guard case .closure = scope.kind, text.sees("[", at: scope.open + 1) else {
                return false
            }
            return text.content(ofBracket: scope.open + 1).contains {
                text.tokens[$0].isName("weak") && text[$0 + 1]?.text == text.tokens[index].text
            }
        }
    }

    /// The parts of a condition that commas, `&&` and `||` join.
    private func parts(of range: Range<Int>) -> [Range<Int>] {
        var range = range
        // `if (a && b)`
        let open = range.lowerBound + 1
        if text.sees("(", at: open), text.partners[open] == range.upperBound - 1 {
            range = text.content(ofBracket: open)
        }
        var parts: [Range<Int>] = []
        var start = range.lowerBound
        var index = start
        while index < range.upperBound {
            if [",", "&&", "||"].contains(where: text.tokens[index].isMark) {
                parts.append(start..<index)
                start = index + 1
            }
            index = text.skipBracket(index, range)
        }
        return parts + [start..<max(start, range.upperBound)]
    }

    /// Whether a condition makes a URL of a text that stands there, `if let u = URL(string: "a")`,
    /// asks for what a transfer without an error has, or whether a flag is not set that nothing
    /// sets.
    func isAlwaysMet(_ condition: Range<Int>) -> Bool {
        if asksForResult(condition) || asksForUnsetFlag(condition) { return true }
        guard let name = condition.first(where: { text.tokens[$0].isName("URL") }),
            text.sees("URL", "(", "string", ":", at: name), text.sees(")", at: name + 5),
            case .string(isInterpolated: false)? = text[name + 4]?.kind
        else { return false }
        return !condition.contains { text.tokens[$0].isMark(",") }
    }

    /// Whether a condition is `if !isExpired` of a local variable that is `false` from its
    /// declaration on: what would set it may be commented out.
    private func asksForUnsetFlag(_ condition: Range<Int>) -> Bool {
        guard condition.count == 3, text.sees("!", at: condition.lowerBound + 1) else {
            return false
        }
        let flag = condition.upperBound - 1
        let functions = text.scopes(around: flag).filter { scope in
            if case .function = scope.kind { true } else { false }
        }
        guard let function = functions.last, text.tokens[flag].isName else { return false }
        let places = text.places(
            of: text.tokens[flag].text, in: text.content(ofBracket: function.open))
        guard places.count <= Self.placeLimit else { return false }
        // Other uses than `!isExpired` may set it, or be of another variable of its name.
        guard let declaration = places.first, declaration < flag,
            text.sees("var", at: declaration - 1), text.sees("=", "false", at: declaration + 1),
            let value = text[declaration + 2], let next = text[declaration + 3],
            next.position.line > value.position.line || next.isMark(";"),
            let block = text.scopes(around: declaration).first(where: { _ in true }),
            text.scopes(around: flag).contains(where: { $0.open == block.open })
        else { return false }
        return places.dropFirst().allSatisfy { text.sees("!", at: $0 - 1) }
    }

    /// Whether a condition asks only for the data or the file of a transfer, behind the return for
    /// its error: URLSession has one of the two. `if let error { return }`, `if let data {`.
    private func asksForResult(_ condition: Range<Int>) -> Bool {
        guard let word = condition.first(where: { text.tokens[$0].isName("let") }),
            word == condition.lowerBound + 1,
            case let place = text.sees("=", at: word + 2) ? word + 3 : word + 1,
            place + 1 == condition.upperBound || text.sees("else", at: place + 1),
            let closure = text.scopes(around: place).first(where: { scope in
                if case .closure = scope.kind { true } else { false }
            }), case .closure(let callee?) = closure.kind,
            ["dataTask", "downloadTask", "uploadTask"].contains(callee)
        else { return false }
        let names = text.parameters(ofClosure: closure)
        let inside = closure.open..<place
        guard names.count == 3, names[0] == text.tokens[place].text,
            ![names[0], names[2]].contains(where: { declares($0, before: place, in: inside) })
        else { return false }
        return text.places(of: names[2], in: inside).suffix(Self.placeLimit).contains { error in
            guard let open = returnsForError(error),
                text.scopes(around: place).contains(where: {
                    text.scopeIndices[$0.open + 1] == text.scopeIndices[error]
                })
            else { return false }
            let body = text.content(ofBracket: open)
            return body.contains {
                text.tokens[$0].isName("return")
                    && text.scopeIndices[$0] == text.scopeIndices[body.lowerBound]
            }
        }
    }

    /// The most places of a name that are looked at for one condition.
    private static let placeLimit = 16

    /// Whether a name has another value at a token of a closure: `let data = parse(data)`, and not
    /// `if let data = data`.
    private func declares(_ name: String, before end: Int, in inside: Range<Int>) -> Bool {
        text.places(of: name, in: inside).suffix(Self.placeLimit).contains { place in
            guard text.sees("let", at: place - 1) || text.sees("var", at: place - 1),
                text.sees("=", at: place + 1),
                !text.sees(name, at: place + 2)
                    || text.sees(".", at: place + 3)
            else { return false }
            return text.scopes(around: end).contains {
                text.scopeIndices[$0.open + 1] == text.scopeIndices[place]
            }
        }
    }

    /// The brace of the block that runs for an error, and asks for nothing else: `if let error {`,
    /// `if let failure = error {`, `if error != nil {`, `guard error == nil else {`.
    private func returnsForError(_ error: Int) -> Int? {
        let name = text.tokens[error].text
        let start: Int
        var open = error + 1
        if text.sees("(", at: error - 1), text.sees("!=", "nil", ")", "{", at: open) {
            (start, open) = (error - 2, open + 3)
        } else if text.sees("!=", "nil", "{", at: open) {
            (start, open) = (error - 1, open + 2)
        } else if text.sees("==", "nil", "else", "{", at: open) {
            return text.sees("guard", at: error - 1) ? open + 3 : nil
        } else if text.sees("let", name, at: error - 1) {
            start = error - 2
        } else if text.sees("=", at: error - 1), text.sees("let", at: error - 3) {
            start = error - 4
        } else {
            return nil
        }
        guard text.sees("{", at: open), text.sees("if", at: start),
            !text.sees("else", at: start - 1)
        else { return nil }
        return open
    }

    func asksForInput(_ range: Range<Int>) -> Bool {
        range.contains { strictness.inputNames.contains(text.tokens[$0].text) }
    }

    /// Whether a condition asks whether a user is signed in, beside names with arbitrary values: a
    /// push comes to a device from which the user has signed out too. What makes the call behind it
    /// may do so for those.
    func asksForAccount(_ range: Range<Int>, last next: Int, in body: Range<Int>) -> Bool {
        !strictness.inputNames.isEmpty && !mentions(next..<max(next, body.upperBound))
            && range.contains { index in
                text.tokens[index].isName
                    && !Self.otherUsers.contains(text.tokens[index].text)
                    && !Self.accounts.isDisjoint(
                        with: SourceReader.nameParts(text.tokens[index].text))
            }
    }

    private static let otherUsers: Set = ["UserDefaults", "userInfo", "userInterfaceIdiom"]
    private static let accounts: Set = [
        "user", "account", "login", "logged", "signed", "authenticated",
    ]

    /// Whether a condition checks a flag for a completion elsewhere.
    func asksWhetherDone(_ range: Range<Int>) -> Bool {
        range.contains { strictness.doneFlags.contains(text.tokens[$0].text) }
    }

    /// Whether a condition checks a flag that is set after it, so that the code runs only once: `if
    /// !called { called = true`, `if !called { finish() }`.
    func asksForFlag(_ condition: Range<Int>, setIn body: Range<Int>) -> Bool {
        let names = Set(condition.filter { text.tokens[$0].isName }.map { text.tokens[$0].text })
        // `guard outcome == nil else { return }`, `outcome = success`
        let empty = Set(
            condition.filter { text.sees("==", "nil", at: $0 + 1) }.map { text.tokens[$0].text })
        // By the places of the names: a body may have thousands of conditions.
        let set = names.intersection(text.flags)
        let isSet =
            set.union(empty).contains { name in
                text.places(of: name, in: body).contains {
                    sets(names, at: $0) || fills(empty, at: $0)
                }
            }
            || !set.isEmpty
                && body.contains { call in
                    helper(calledAt: call).contains { sets(names, at: $0) }
                }
        // A flag that the body neither declares nor sets before may be one of an earlier push.
        return isSet
            && (!strictness.startsAnew || isInner(condition.lowerBound)
                || startsHere(names, before: condition.lowerBound))
    }

    /// Whether a condition in a closure is met only by a run after the first one: it is a variable
    /// of the handler that is set next, `if isDone { return }`, `isDone = true`.
    func isForLaterRuns(_ condition: Range<Int>, _ rest: Range<Int>) -> Bool {
        let others: Set = ["||", "&&", "!", "!=", ",", "false", "NO", "nil"]
        guard isInner(condition.lowerBound),
            !condition.contains(where: { others.contains(text.tokens[$0].text) })
        else { return false }
        let names = Set(condition.dropFirst().map { text.tokens[$0] }.filter(\.isName).map(\.text))
        let isSet = rest.prefix(AuditLimits.headWords).contains { index in
            text.sees("=", at: index + 1) && names.contains(text.tokens[index].text)
                && ["true", "YES"].contains(text[index + 2]?.text)
        }
        return isSet && startsHere(names, before: condition.lowerBound)
    }

    /// Whether a token is one of these names, and gets a value that a local variable or a literal
    /// is.
    private func fills(_ names: Set<String>, at index: Int) -> Bool {
        guard text.sees("=", at: index + 1), names.contains(text.tokens[index].text),
            let value = text[index + 2], let next = text[index + 3]
        else { return false }
        return !value.isName("nil")
            && (next.isMark("}") || next.isMark(";")
                || next.position.line > value.position.line && !next.isMark("."))
    }

    /// Whether a token is one of these names, and gets the value of a flag.
    private func sets(_ names: Set<String>, at index: Int) -> Bool {
        let values: Set = ["true", "false", "YES", "NO", "nil"]
        return text.sees("=", at: index + 1) && names.contains(text.tokens[index].text)
            && text[index + 2].map { values.contains($0.text) } == true
    }

    /// The start of the local definition, or of the only function of this file, that is called at a
    /// token.
    private func helper(calledAt index: Int) -> Range<Int> {
        let name = text.tokens[index]
        let isOwn = text.sees("self", at: text.isObjectiveC ? index - 1 : index - 2)
        guard name.isName, isOwn || text.sees("(", at: index + 1),
            isOwn || text[index - 1]?.isMark(".") != true
        else { return 0..<0 }
        let functions = text.functions[name.text] ?? []
        guard let open = definitions.body(of: name.text) ?? functions.first?.open,
            functions.count < 2
        else { return 0..<0 }
        return text.content(ofBracket: open).prefix(AuditLimits.headWords)
    }

    /// Whether a token is in a closure or a function in the body, which may run several times.
    private func isInner(_ index: Int) -> Bool {
        for scope in text.scopes(around: index) {
            if scope.open == open { return false }
            switch scope.kind {
            case .closure, .function: return true
            case .control, .type: continue
            }
        }
        return false
    }

    /// Whether the body declares one of these names before a token, or sets it: `var name`, `let
    /// state = State()`, `var (count, name)`, `__block BOOL name = NO`, `name = false`.
    private func startsHere(_ names: Set<String>, before end: Int) -> Bool {
        let body = text.content(ofBracket: open)
        return (body.lowerBound..<max(body.lowerBound, min(end, body.upperBound))).contains {
            index in
            guard text.tokens[index].isName, names.contains(text.tokens[index].text) else {
                return false
            }
            if text.sees("=", at: index + 1) { return true }
            guard let before = text[index - 1] else { return false }
            let isDeclared =
                before.isName("var") || before.isName("let")
                || text.isObjectiveC && before.isName && text[index - 2]?.isName("static") != true
            return isDeclared || isInPattern(index)
        }
    }

    /// Whether a name is in the pattern of a tuple: `var (count, name) = (0, false)`.
    private func isInPattern(_ index: Int) -> Bool {
        var place = index - 1
        while place > open, text.tokens[place].isName || text.tokens[place].isMark(",") {
            place -= 1
        }
        return text.tokens[place].isMark("(")
            && (text[place - 1]?.isName("var") == true || text[place - 1]?.isName("let") == true)
    }

    /// Whether a condition in a closure checks that all of some work is done, each part of which
    /// sets its flag elsewhere: the last part completes, `if isLoaded && isSaved { done() }`.
    func asksForLast(_ condition: Range<Int>) -> Bool {
        guard isInner(condition.lowerBound),
            let inner = text.scopes(around: condition.lowerBound).first(where: {
                if case .control = $0.kind { false } else { true }
            })
        else { return false }
        let words = condition.dropFirst().filter { index in
            !["(", ")", "&&", ","].contains { text.tokens[index].isMark($0) }
        }
        let body = text.content(ofBracket: open)
        let elsewhere = [
            body.lowerBound..<max(body.lowerBound, inner.open),
            min(max(inner.close, body.lowerBound), body.upperBound)..<body.upperBound,
        ]
        return words.count > 1
            && words.allSatisfy { word in
                guard text.tokens[word].isName else { return false }
                let name = text.tokens[word].text
                return elsewhere.joined().contains {
                    text.sees(name, "=", "true", at: $0) || text.sees(name, "=", "YES", at: $0)
                }
            }
    }

    /// Whether a condition calls an object that succeeds only once: `guard latch.claim() else {
    /// return }`, `guard !done.exchange(true, …) else { return }`. CloudKit calls a closure until
    /// no more is coming.
    func asksForLatch(_ condition: Range<Int>) -> Bool {
        let words: Set = ["latch", "once", "claim", "exchange"]
        return condition.contains { index in
            if text.tokens[index].isName("moreComing") { return true }
            guard text.tokens[index].isName, text.sees("(", at: index + 1) else { return false }
            let owner = text.sees(".", at: index - 1) ? text[index - 2]?.text ?? "" : ""
            return SourceReader.nameParts(owner + "_" + text.tokens[index].text)
                .contains(where: words.contains)
        }
    }

    /// Whether a condition checks the version of the system, which recent systems satisfy.
    func asksForVersion(_ range: Range<Int>) -> Bool {
        text.tokens[range].contains {
            $0.text == "available" || $0.text.lowercased().hasLetters("version")
        }
    }

    /// Whether an error of a `try` leaves the function or the enclosing task, so that the code
    /// after it does not run.
    func throwsAway(_ index: Int, _ range: Range<Int>) -> Bool {
        if text.sees("?", at: index + 1) || text.sees("!", at: index + 1) { return false }
        let expression = text.sees("await", at: index + 1) ? index + 2 : index + 1
        // `Task.sleep` and `Task.checkCancellation` fail only if the task is cancelled.
        if text.sees("Task", at: expression) { return false }
        guard !mentions(index..<text.statementEnd(index, range)) else { return false }
        for scope in text.scopes(around: index) {
            switch scope.kind {
            case .control("do"):
                if text.sees("catch", at: scope.close + 1) { return false }
            case .closure(let callee):
                return (callee == "Task" || callee == "detached") && !isWaitedFor(scope)
                    && mentions(index..<max(index, scope.close))
            case .function: return strictness.countsThrows
            case .control: continue
            case .type: return false
            }
        }
        return false
    }

    /// Whether the result of a task is awaited: `let work = Task { … }; try await work.value`.
    private func isWaitedFor(_ task: SourceScope) -> Bool {
        let line = text.tokens[task.open].position.line
        let words = (0..<task.open).reversed().prefix {
            text.tokens[$0].position.line == line && !text.tokens[$0].isMark(";")
        }
        guard let equals = words.first(where: { text.tokens[$0].isMark("=") }) else {
            // The task is not stored, unless it is passed on: `return Task { … }`.
            return words.contains { text.tokens[$0].isName("return") }
        }
        let names = Set(
            words.filter { $0 < equals && text.tokens[$0].isName }.map { text.tokens[$0].text })
        return text.tokens.indices.contains { index in
            names.contains(text.tokens[index].text)
                && (text.sees(".", "value", at: index + 1)
                    || text.sees(".", "result", at: index + 1))
        }
    }
}
