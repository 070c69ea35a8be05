// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Finds requests for background tasks that are set up, and that nothing submits.
extension SourceReader {
    /// Sees a request in a local variable that nothing can submit.
    mutating func seeUnsubmittedRequest(_ index: Int) {
        // A test may make one for its values, and what throws one away says so.
        guard imports.isDisjoint(with: ["XCTest", "Testing"]) else { return }
        let identifier: Int
        if text.sees("alloc", "]", "initWithIdentifier", ":", at: index + 1) {
            identifier = index + 5
        } else if text.sees("(", "identifier", ":", at: bracket(ofMaking: index)),
            !text.sees("_", "=", at: index - 2)
        {
            identifier = bracket(ofMaking: index) + 3
        } else {
            return
        }
        see(.unsubmittedRequest(nil), at: index, named: identifier)
        noteCallers(of: index)
    }

    /// Whether a use of a request only tells of it: it is part of a text or of a log, or a value of
    /// it is.
    func onlyTells(of index: Int) -> Bool {
        if text.sees("\\(", at: index - 1) {
            return text.sees(")", at: index + 1) || text.sees(",", at: index + 1)
                || text.sees(".", "identifier", at: index + 1)
                || text.sees(".", "description", at: index + 1)
                || text.sees(".", at: index + 1) && isInLog(index)
                    && Self.requestValues.contains(text[index + 2]?.text ?? "")
        }
        // `NSLog(@"%@", request);`
        guard text.sees(",", at: index - 1) || text.sees("(", at: index - 1),
            text.sees(")", at: index + 1)
        else { return false }
        let open = text.partners[index + 1]
        return open > 0 && isCertainLog(open - 1)
    }

    /// Whether a token is in the arguments of a log.
    private func isInLog(_ index: Int) -> Bool {
        (1..<index).suffix(AuditLimits.headWords).contains { open in
            text.sees("(", at: open) && text.partners[open] > index
                && (isCertainLog(open - 1) || speaksOfLog(open - 1))
        }
    }

    /// The values of a request that can be set.
    static let requestValues: Set = [
        "earliestBeginDate", "requiresNetworkConnectivity", "requiresExternalPower", "title",
        "subtitle", "strategy", "requiredResources", "protectionTypeOfRequiredData",
    ]
}
