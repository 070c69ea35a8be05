// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Finds time in the background that blocks of Objective-C end by an identifier from before it was
/// begun, or that its expiration handler begins again.
extension SourceReader {
    /// Reads that a block has the value which a local variable without `__block` had before time
    /// was begun: `UIBackgroundTaskIdentifier id = [app beginBackgroundTaskWithExpirationHandler:^{
    /// [app endBackgroundTask:id]; }];`.
    mutating func readCapturedTime(_ begin: Int) {
        guard text.isObjectiveC, let open = message(around: begin),
            text.sees("=", at: open - 1), let variable = text[open - 2], variable.isName,
            !text.sees(".", at: open - 3), !text.sees("->", at: open - 3),
            let (_, body) = function(around: begin)
        else { return }
        let places = text.places(of: variable.text, in: body)
        let end = text.statementEnd(open - 2, body)
        let declarations = places.filter { text.sees("UIBackgroundTaskIdentifier", at: $0 - 1) }
        // A block may have another one of the same name, or the end of an earlier time.
        let isEmpty = ["UIBackgroundTaskInvalid", "0"].contains { invalid in
            declarations.first.map { text.sees("=", invalid, ";", at: $0 + 1) } == true
        }
        guard declarations.count == 1, let declaration = declarations.first,
            declaration == open - 2 || isEmpty || text.sees(";", at: declaration + 1),
            places.filter({ text.sees("=", at: $0 + 1) }).allSatisfy({ place in
                [declaration, open - 2].contains(place) || place > end
            }),
            !(max(0, declaration - 4)..<declaration).contains(where: {
                ["__block", "static"].contains(text.tokens[$0].text)
            })
        else { return }
        let use = places.first { place in
            text.sees("endBackgroundTask", ":", at: place - 2)
                && text.scopes(around: place).contains { scope in
                    guard case .closure = scope.kind else { return false }
                    return scope.open > declaration && scope.open < end
                }
        }
        if let use { see(.fault(.assertionEndedInvalid), at: use - 2) }
    }

    /// Reads that an expiration handler begins time again, itself or by a function of this file.
    mutating func readRenewedTime(_ begin: Int) {
        guard let handler = assertionExpiration(begin),
            handler.count <= AuditLimits.headWords
        else { return }
        let renews = handler.contains { word in
            guard isUnconditional(word, in: handler) else { return false }
            if Self.begins.contains(text.tokens[word].text), isAssertion(word) { return true }
            guard let helper = calledFunction(word) else { return false }
            let body = text.content(ofBracket: helper.open)
            return Self.begins.contains { name in
                text.places(of: name, in: body).contains {
                    isUnconditional($0, in: body) && isAssertion($0)
                }
            }
        }
        if renews { see(.fault(.assertionRenewed), at: begin) }
    }

    /// Whether a word of some code is reached whatever the code asks for, but for its own object:
    /// one function may begin and end time by a flag.
    func isUnconditional(_ word: Int, in code: Range<Int>) -> Bool {
        let isInBlock = text.scopes(around: word).contains { $0.open >= code.lowerBound }
        return !isInBlock
            && !(code.lowerBound..<word).contains { index in
                switch text.tokens[index].text {
                case "return", "throw": mayLeave(at: index, code)
                case "if": text.isObjectiveC
                case "?": !text.sees(".", at: index + 1)
                default: false
                }
            }
    }

    /// Whether an exit leaves some code itself, and not only because its own object is gone.
    private func mayLeave(at exit: Int, _ code: Range<Int>) -> Bool {
        for scope in text.scopes(around: exit) where scope.open >= code.lowerBound {
            switch scope.kind {
            case .closure, .function: return false
            case .control("guard") where asksOnlyForSelf(scope.head..<scope.open): return false
            case .control, .type: continue
            }
        }
        return true
    }
}
