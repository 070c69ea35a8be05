// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Follows calls that run when the app leaves the foreground into objects of other files, which may
/// start timers.
extension SourceReader {
    /// The number of calls of a function that are looked at, and of timers.
    private static let leavingCalls = 64

    /// Notes the calls without arguments that the function for leaving the foreground always makes
    /// of objects whose type is known.
    mutating func noteLeavingCalls(_ head: SourceScope.FunctionHead, _ scope: SourceScope) {
        let body = text.content(ofBracket: scope.open)
        guard ["applicationDidEnterBackground", "sceneDidEnterBackground"].contains(head.name),
            !asksForTime(body)
        else { return }
        let calls = body.filter { functions[text.tokens[$0].text] == nil && isCall($0) }
        for index in calls.prefix(Self.leavingCalls) {
            guard digest.handovers.count < AuditLimits.observationsPerFile,
                let site = text.call(at: index), site.arguments.isEmpty,
                case .typed(let type) = site.owner, isUnconditional(index, in: body),
                !mayBeOther(index, than: type)
            else { continue }
            digest.handovers.append(handover(site, [], .fault(.timerInBackground), .leaving))
        }
    }

    /// The repeating timer that a function always starts, without a look at the state of the app.
    func timerOnLeaving(in function: SourceScope) -> Int? {
        let body = text.content(ofBracket: function.open)
        guard !asksForTime(body) else { return nil }
        let timers = ["scheduledTimer", "scheduledTimerWithTimeInterval"].flatMap {
            text.places(of: $0, in: body).prefix(Self.leavingCalls)
        }
        return timers.sorted().first { index in
            isRepeating(index) && isOfTimer(index) && isUnconditional(index, in: body)
                && helper(around: index) == body && !isStopped(index, in: body)
        }
    }

    /// Whether the receiver of a call is a variable that may get an object of another type: `var
    /// keeper: Keeping = Keeper()`.
    private func mayBeOther(_ index: Int, than type: String) -> Bool {
        let receiver = text.isObjectiveC ? text[index - 1] : text[index - 2]
        return text.places(of: receiver?.text ?? "").contains {
            text.sees("var", at: $0 - 1) && text.sees(":", at: $0 + 1)
                && text[$0 + 2]?.text != type
        }
    }

    private func isOfTimer(_ index: Int) -> Bool {
        text.sees("Timer", ".", at: index - 2) || text.sees("NSTimer", at: index - 1)
    }

    private func isRepeating(_ index: Int) -> Bool {
        text.content(ofBracket: message(around: index) ?? index + 1).contains {
            text.sees("repeats", ":", "true", at: $0) || text.sees("repeats", ":", "YES", at: $0)
        }
    }
}
