// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Finds values of requests for background tasks that are set only after the request was submitted.
extension SourceReader {
    /// Reads that a local request gets a value when nothing can submit it again: `try
    /// scheduler.submit(request)`, `request.earliestBeginDate = date`.
    mutating func readLateValue(ofRequestAt make: Int) {
        guard let variable = variable(ofRequestAt: make),
            let scope = text.scopes(around: variable).first(where: { _ in true })
        else { return }
        switch scope.kind {
        case .type: return
        case .control, .closure, .function: break
        }
        let name = text.tokens[variable].text
        let places = text.places(of: name, in: variable + 1..<max(variable + 1, scope.close))
            .filter { !text.isLabel($0) }
        guard places.count <= AuditLimits.headWords else { return }
        let submissions = places.filter(isSubmitted)
        guard let last = submissions.last,
            let late = places.first(where: { $0 > last && setsMember(of: $0) }),
            // What else is done with it may submit it, or keep it for that.
            places.allSatisfy({ place in
                (setsMember(of: place) || onlyTells(of: place) || submissions.contains(place))
                    && isInBody(place, of: scope)
            }),
            submissions.allSatisfy({ isCertain($0, before: late, in: scope) }),
            !text.directives.contains(where: { variable..<late ~= $0 })
        else { return }
        see(.fault(.lateRequestValue), at: late)
        noteCallers(of: late)
    }

    /// The new local constant that a request is the value of.
    private func variable(ofRequestAt make: Int) -> Int? {
        let type = text.tokens[make].text
        if text.isObjectiveC {
            guard text.sees("=", "[", "[", at: make - 3), text.sees(type, "*", at: make - 6),
                text.sees("]", ";", at: text.partners[make - 2])
            else { return nil }
            return make - 4
        }
        let open = bracket(ofMaking: make)
        guard text.sees("=", at: make - 1), text.sees("(", "identifier", ":", at: open),
            text.partners[open] > open, let next = text[text.partners[open] + 1],
            next.position.line > text.tokens[text.partners[open]].position.line,
            !next.isMark(".")
        else { return nil }
        let variable = text.sees(":", at: make - 3) ? make - 4 : make - 2
        guard text.sees("let", at: variable - 1),
            ![",", "if", "guard"].contains(text[variable - 2]?.text)
        else { return nil }
        return variable
    }

    /// Whether a token is all that a call of the scheduler's `submit` gets.
    private func isSubmitted(_ index: Int) -> Bool {
        if text.isObjectiveC {
            return text.sees("sharedScheduler", "]", "submitTaskRequest", ":", at: index - 4)
                && (text.sees("error", ":", at: index + 1) || text.sees("]", at: index + 1))
        }
        return text.sees("BGTaskScheduler", ".", "shared", ".", "submit", "(", at: index - 6)
            && text.sees(")", at: index + 1)
    }

    /// Whether a token is in no closure, function or loop of a scope, and not left for its end.
    private func isInBody(_ index: Int, of scope: SourceScope) -> Bool {
        text.scopes(around: index).prefix { $0.open > scope.open }.allSatisfy { inner in
            guard case .control(let keyword) = inner.kind else { return false }
            return !["for", "while", "repeat", "defer"].contains(keyword)
        }
    }

    /// Whether a call runs before each later token of a scope that another one leads to.
    private func isCertain(_ call: Int, before late: Int, in scope: SourceScope) -> Bool {
        let isAlways = text.scopes(around: call).prefix { $0.open > scope.open }.allSatisfy {
            // One of its cases may have the call, and another one the value.
            if case .control("switch") = $0.kind { return false }
            if case .control("do") = $0.kind { return true }
            return $0.close > late
        }
        // `if (now) [scheduler submitTaskRequest:request error:nil];`
        guard isAlways, text.isObjectiveC, let open = message(around: call) else { return isAlways }
        let before = text.sees("=", at: open - 1) ? [open - 3, open - 4] : [open - 1]
        return before.contains { place in [";", "{", "}"].contains { text.sees($0, at: place) } }
    }
}
