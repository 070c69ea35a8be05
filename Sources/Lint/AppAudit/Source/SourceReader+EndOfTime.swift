// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Determines what ends time in the background.
extension SourceReader {
    /// Whether a token in an expiration handler may end the time. The end of a task of
    /// `BGTaskScheduler` is another one.
    func mayEndTime(at index: Int, depth: Int = 0) -> Bool {
        guard !text.tokens[index].text.hasPrefix("setTaskCompleted") else { return false }
        if text.sees("?", "(", at: index + 1) { return true }
        // An observer of the property may do it.
        if text.sees("=", at: index + 1),
            ["willSet", "didSet"].contains(where: { !text.places(of: $0).isEmpty })
        {
            return true
        }
        guard isCall(index), !isIdleCall(index), !endsTimer(index) else { return false }
        guard depth < Self.handovers, let helper = calledFunction(index) else { return true }
        return text.content(ofBracket: helper.open).contains {
            mayEndTime(at: $0, depth: depth + 1)
        }
    }

    /// Whether what a call returns is not kept: `_ = application.beginBackgroundTask …`, or a
    /// statement of its own in a function without a result.
    func isThrownAway(_ index: Int) -> Bool {
        var first = message(around: index) ?? index
        while text.sees(".", at: first - 1), !text.isObjectiveC {
            first -= 2
            while text.sees("?", at: first) || text.sees("!", at: first) { first -= 1 }
            if text.sees(")", at: first), text.partners[first] > 0 {
                first = text.partners[first] - 1
            }
        }
        guard
            text.tokens[first..<index].contains(where: { token in
                ["UIApplication", "sharedApplication", "application"].contains(token.text)
            })
        else { return false }
        while text.sees("await", at: first - 1) { first -= 1 }
        if text.sees("_", "=", at: first - 2) { return true }
        guard let last = text[first - 1] else { return false }
        let isStatement =
            last.isMark(";") || last.isMark("{") || last.isMark("}")
            || !text.isObjectiveC && last.position.line < text.tokens[first].position.line
                && (last.isMark(")") || last.isMark("]") || last.isName)
        guard isStatement, !["return", "in", "else", "try", "is", "as"].contains(last.text) else {
            return false
        }
        for scope in text.scopes(around: index) {
            switch scope.kind {
            case .control:
                // The value of `let id = if isLong { … }`.
                if text.sees("=", at: scope.head - 1) || text.sees("return", at: scope.head - 1) {
                    return false
                }
            case .function:
                return text.isObjectiveC
                    || !(scope.head..<scope.open).contains { text.sees("->", at: $0) }
            case .closure(let callee): return ["async", "asyncAfter"].contains(callee)
            case .type: return false
            }
        }
        return false
    }

    /// Sees an expiration handler that calls only a function that ends no time.
    mutating func seeIdleExpiration(_ place: AppPlace, calling helper: SourceScope) {
        let body = text.content(ofBracket: helper.open)
        guard !setsForeignValue(in: body), !body.contains(where: { mayEndTime(at: $0) }) else {
            return
        }
        digest.entries.append(
            SourceDigest.Entry(
                observation: SourceObservation(
                    .fault(.assertionExpirationWithoutEnd), at: place)))
    }

    /// Whether a call only stops a timer: `self.timer?.invalidate()`.
    private func endsTimer(_ index: Int) -> Bool {
        guard text.tokens[index].isName("invalidate") else { return false }
        var owner = text.isObjectiveC ? index - 1 : index - 2
        if text.sees("?", at: owner) || text.sees("!", at: owner) { owner -= 1 }
        guard let name = text[owner], name.isName else { return false }
        return Self.nameParts(name.text).contains("timer")
    }

    /// Whether a function ends time in the background.
    func endsTime(_ function: SourceScope) -> Bool {
        text.content(ofBracket: function.open).contains {
            text.tokens[$0].isName("endBackgroundTask")
        }
    }

    /// Whether a token of a body runs at most once whenever the body does: in no loop, and in no
    /// closure that may be called several times.
    private func runsOnce(_ index: Int, in body: Range<Int>) -> Bool {
        guard body.contains(index) else { return false }
        for scope in text.scopes(around: index) where scope.open >= body.lowerBound {
            switch scope.kind {
            case .control(let keyword):
                if ["for", "while", "repeat"].contains(keyword) { return false }
            case .closure(let callee):
                let isOfTime = callee?.hasPrefix("beginBackgroundTask") == true
                guard let callee, isOfTime || Self.singleCallees.contains(callee) else {
                    return false
                }
            case .function, .type: return false
            }
        }
        return true
    }

    /// Functions of the system that call their closures once.
    private static let singleCallees: Set = [
        "Task", "detached", "async", "asyncAfter", "dataTask", "downloadTask", "uploadTask", "run",
    ]

    /// Whether only the rest of a function, and the expiration handler, end the time whose
    /// identifier a property of this file keeps.
    func isEndedOnly(behind begin: Int, _ name: String) -> Bool {
        func isPrivate(_ declaration: Int) -> Bool {
            ["private", "fileprivate"].contains(text[declaration - 1]?.text)
        }
        guard !text.isObjectiveC, let (_, body) = function(around: begin),
            text.tokens.indices.contains(where: { text.sees("var", name, at: $0) && isPrivate($0) })
        else { return false }
        var helpers: [SourceScope] = []
        for function in text.functions.values.joined() where endsTime(function) {
            let own = text.content(ofBracket: function.open)
            if !own.contains(begin) { helpers.append(function) }
        }
        guard helpers.allSatisfy({ isPrivate($0.head) }) else { return false }
        let names = Set(
            helpers.compactMap { helper in
                if case .function(let head) = helper.kind { head.name } else { nil }
            })
        return text.tokens.indices.allSatisfy { word in
            let token = text.tokens[word]
            guard token.isName, token.text == "endBackgroundTask" || names.contains(token.text),
                text[word - 1]?.isName("func") != true
            else { return true }
            return word > begin && runsOnce(word, in: body)
                || helpers.contains { $0.open < word && word < $0.close }
        }
    }
}
