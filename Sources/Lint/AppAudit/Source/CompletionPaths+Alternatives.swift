// SPDX-License-Identifier: Apache-2.0

/// Closures of one call of which another one runs if this one does not.
extension CompletionPaths {
    /// The labels of such closures: those of AFNetworking and RxSwift.
    private static let alternatives: [String: Set<String>] = [
        "success": ["failure"], "failure": ["success"],
        "onSuccess": ["onFailure", "onError"], "onFailure": ["onSuccess"],
        "onNext": ["onError"],
    ]

    /// The closure that runs instead of one with the call, and does not make it.
    func silentAlternative(to open: Int) -> Int? {
        if let sink = sinkClosures(around: open) {
            guard sink.value == open else { return nil }
            let end = text.content(ofBracket: sink.end)
            // Whether it can fail, its type says; its text only if it asks for the failure.
            let isSilent =
                end.contains { text.tokens[$0].isName("failure") } && !mentions(end)
                && !end.contains(where: endsProgram)
            return isSilent ? sink.end : nil
        }
        if let silent = silentCatch(behind: open) { return silent }
        guard let label = label(ofClosure: open), let others = Self.alternatives[label],
            let bracket = (max(0, open - AuditLimits.headWords)..<open).last(where: {
                text.partners[$0] > open
            }), !text.tokens[bracket].isMark("{")
        else { return nil }
        let arguments = text.content(ofBracket: bracket)
        var silent: Int?
        var index = arguments.lowerBound
        while index < arguments.upperBound {
            if text.tokens[index].isMark("{"), let other = self.label(ofClosure: index) {
                let content = text.content(ofBracket: index)
                let settles = mentions(content) || content.contains(where: endsProgram)
                // It runs in the end, whatever happened.
                if settles, other == "onDisposed" { return nil }
                if !settles, others.contains(other) { silent = index }
            }
            index = text.skipBracket(index, arguments)
        }
        return silent
    }

    /// What runs instead of the closure of a promise's `done` if the promise fails, and does not
    /// make the call: `load().done { … }.catch { … }`, `load().done { … }.cauterize()`.
    private func silentCatch(behind open: Int) -> Int? {
        let isInBrackets = text.sees("(", at: open - 1)
        let callee = isInBrackets ? open - 2 : open - 1
        guard !text.isObjectiveC, ["done", "then"].contains(where: { text.sees($0, at: callee) }),
            text.sees(".", at: callee - 1), text.partners[open] > open
        else { return nil }
        var index = text.partners[open] + (isInBrackets ? 2 : 1)
        var silent: Int?
        while text.sees(".", at: index), let name = text[index + 1], name.isName {
            let start = index + 1
            index += 2
            if text.sees("(", at: index), text.partners[index] > index {
                index = text.partners[index] + 1
            }
            if text.sees("{", at: index), text.partners[index] > index {
                index = text.partners[index] + 1
            }
            if mentions(start..<index) || ["recover", "otherwise"].contains(name.text) {
                return nil
            }
            if name.text == "catch" || name.text == "cauterize" { silent = silent ?? start }
        }
        return silent
    }

    /// Whether a closure is set on an operation that a queue may not have any more:
    /// `queue.operations.last?.completionBlock = {`, or a constant for it.
    func isSetOnWaitingWork(_ open: Int) -> Bool {
        func isOfQueue(_ word: Int) -> Bool {
            ["last", "first"].contains { text.sees(".", "operations", ".", $0, at: word - 3) }
        }
        guard text.sees("?", ".", at: open - 4), text.sees("=", at: open - 1),
            let owner = text[open - 5], owner.isName
        else { return false }
        return isOfQueue(open - 5)
            || text.places(of: owner.text).contains { word in
                guard text.sees("let", at: word - 1), text.sees("=", at: word + 1) else {
                    return false
                }
                let end = text.statementEnd(word, word..<text.tokens.count)
                return end < open && isOfQueue(end - 1)
            }
    }

    /// Another closure of the same call that runs in the end, by its label: `end: {`.
    func endingClosure(beside open: Int) -> Int? {
        guard
            let bracket = (max(0, open - AuditLimits.headWords)..<open).last(where: {
                text.partners[$0] > open
            }), !text.tokens[bracket].isMark("{")
        else { return nil }
        let arguments = text.content(ofBracket: bracket)
        let words: Set = ["end", "ended", "finally", "always", "terminate", "terminated"]
        var index = arguments.lowerBound
        while index < arguments.upperBound {
            if index != open, text.tokens[index].isMark("{"), let label = label(ofClosure: index),
                SourceReader.nameParts(label).contains(where: words.contains)
            {
                return index
            }
            index = text.skipBracket(index, arguments)
        }
        return nil
    }

    /// Whether the cases of a switch are the events of a stream that a closure gets, which end with
    /// one of their own: `{ event in switch event { case .next(let value): … case .completed: …`.
    func endsStream(_ body: Range<Int>) -> Bool {
        guard let event = text[body.lowerBound - 2], isParameter(event.text, at: body.lowerBound)
        else { return false }
        let cases = body.filter { text.tokens[$0].isName("case") }
        return cases.contains { isStreamValue($0 + 1) }
            && cases.contains { word in
                ["completed", "complete", "finished"].contains { text.sees(".", $0, at: word + 1) }
            }
    }

    /// Whether a name is a parameter of the closure around a token.
    private func isParameter(_ name: String, at index: Int) -> Bool {
        let closure = text.scopes(around: index).first { scope in
            if case .closure = scope.kind { true } else { false }
        }
        return closure.map { text.parameters(ofClosure: $0).contains(name) } == true
    }

    /// Whether a case is an event of a stream with a value, which others follow.
    func isStreamValue(_ label: Int) -> Bool {
        ["next", "value", "element"].contains { text.sees(".", $0, at: label) }
            || text.sees("let", ".", "next", at: label)
    }

    /// The two closures of Combine's `sink`, if a closure is one of them:
    /// `sink(receiveCompletion: { … }, receiveValue: { … })`, also with closures after the call.
    func sinkClosures(around open: Int) -> (end: Int, value: Int)? {
        let first = max(0, open - AuditLimits.sinkWords)
        for word in (first..<open).reversed() where text.tokens[word].isName("sink") {
            guard let sink = text.closures(ofSink: word) else { continue }
            if sink.end == open || sink.value == open { return sink }
        }
        return nil
    }

    private func endsProgram(_ index: Int) -> Bool {
        ["fatalError", "preconditionFailure"].contains { text.tokens[index].isName($0) }
    }

    /// The label of a closure: `success: {`, `success:^(id value) {`.
    private func label(ofClosure open: Int) -> String? {
        var index = open - 1
        if text.sees(")", at: index), text.partners[index] >= 0 { index = text.partners[index] - 1 }
        if text.sees("^", at: index) { index -= 1 }
        guard text.sees(":", at: index), let label = text[index - 1], label.isName else {
            return nil
        }
        return label.text
    }
}

extension SourceText {
    /// The two closures of Combine's `sink(receiveCompletion: { … }, receiveValue: { … })`.
    func closures(ofSink word: Int) -> (end: Int, value: Int)? {
        var end: Int?
        var value: Int?
        var next = word + 1
        if sees("(", at: next), partners[next] > next {
            let arguments = content(ofBracket: next)
            var index = arguments.lowerBound
            while index < arguments.upperBound {
                if sees("receiveCompletion", ":", "{", at: index) { end = index + 2 }
                if sees("receiveValue", ":", "{", at: index) { value = index + 2 }
                index = skipBracket(index, arguments)
            }
            next = partners[next] + 1
        }
        if sees("{", at: next), partners[next] > next {
            if end != nil {
                value = value ?? next
            } else if sees("receiveValue", ":", "{", at: partners[next] + 1) {
                end = next
                value = partners[next] + 3
            }
        }
        guard let end, let value else { return nil }
        return (end, value)
    }
}
