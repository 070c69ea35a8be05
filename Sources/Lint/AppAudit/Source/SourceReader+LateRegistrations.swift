// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Finds registrations in closures that run only some time after their function, so that the launch
/// is over whoever calls it.
extension SourceReader {
    /// The time at which a registration runs by what it waits for, if its context shows no other.
    func occasionOfRegistration(_ index: Int) -> SourceObservation.Occasion {
        let occasion = lateOccasion(of: index)
        guard [.unknown, .launch, .permission, .flag].contains(occasion) else { return occasion }
        for scope in text.scopes(around: index) {
            switch scope.kind {
            case .closure(let callee):
                if waits(for: index, in: scope, callee) { return .afterLaunch }
            case .control: continue
            case .function, .type: return occasion
            }
        }
        return occasion
    }

    /// Whether a closure runs a token only after some time, or an answer.
    private func waits(for index: Int, in closure: SourceScope, _ callee: String?) -> Bool {
        guard !text.isObjectiveC, let callee, functions[callee] == nil else { return false }
        switch callee {
        case "asyncAfter": return isAfterDelay(closure)
        case "scheduledTimer", "dataTask", "downloadTask", "uploadTask": return true
        case "requestAuthorization": return text.sees("(", "options", at: callStart(closure) + 1)
        case "getNotificationSettings": return true
        case "Task", "detached":
            return (closure.open + 1..<index).suffix(AuditLimits.headWords).contains { word in
                // Not what waits for the registration: `await MainActor.run { register() }`.
                text.tokens[word].isName("await")
                    && text.statementEnd(word, closure.open + 1..<closure.close) <= index
                    && text.scopes(around: word).first { _ in true }.map { scope in
                        text.scopes(around: index).contains { $0.open == scope.open }
                    } == true
            }
        default: return false
        }
    }

    /// The index of the name of the function that gets a closure; negative if there is none.
    private func callStart(_ closure: SourceScope) -> Int {
        guard case .closure(let callee?) = closure.kind else { return -2 }
        return (0..<closure.open).suffix(AuditLimits.headWords).last {
            text.tokens[$0].isName(callee)
        } ?? -2
    }

    /// Whether the deadline of a closure is not now.
    private func isAfterDelay(_ closure: SourceScope) -> Bool {
        let call = callStart(closure)
        guard
            text.sees("deadline", ":", at: call + 2) || text.sees("wallDeadline", ":", at: call + 2)
        else { return false }
        let now = text.sees(".", at: call + 4) ? call + 5 : call + 6
        let isZero = text[now + 4]?.text == "0" && !text.sees(".", at: now + 5)
        return text.sees("now", "(", ")", "+", at: now) && !isZero
    }
}
