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
        guard let declaration = places.first,
            text.sees("UIBackgroundTaskIdentifier", at: declaration - 1),
            !text.sees("__block", at: declaration - 2), !text.sees("static", at: declaration - 2)
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
            guard isDirectly(word, in: handler) else { return false }
            if Self.begins.contains(text.tokens[word].text), isAssertion(word) { return true }
            guard let helper = calledFunction(word) else { return false }
            let body = text.content(ofBracket: helper.open)
            return !asksForState(body)
                && Self.begins.contains { name in
                    text.places(of: name, in: body).contains {
                        isDirectly($0, in: body) && isAssertion($0)
                    }
                }
        }
        if renews, !asksForState(handler) { see(.fault(.assertionRenewed), at: begin) }
    }

    /// Whether code asks whether the app is in use, where time is given anew.
    private func asksForState(_ body: Range<Int>) -> Bool {
        !text.places(of: "applicationState", in: body).isEmpty
    }

    /// Whether a word of some code is in no closure there.
    private func isDirectly(_ word: Int, in code: Range<Int>) -> Bool {
        !text.scopes(around: word).contains { scope in
            guard scope.open >= code.lowerBound else { return false }
            if case .closure = scope.kind { return true }
            return false
        }
    }
}
