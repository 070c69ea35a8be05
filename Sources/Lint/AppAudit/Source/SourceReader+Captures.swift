// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Reads what closures that the system stores keep alive.
extension SourceReader {
    /// Reads the captures of a closure that the scheduler stores for the life of the app.
    mutating func readCaptures(of closure: SourceScope) {
        guard !text.isObjectiveC, let type = text.type(around: closure.open),
            !type.name.hasSuffix("AppDelegate"), !type.inherited.contains("App"),
            // A value is not kept alive.
            !text.places(of: type.name).contains(where: { name in
                ["struct", "enum"].contains { text.sees($0, at: name - 1) }
            })
        else { return }
        let body = text.content(ofBracket: closure.open)
        if text.sees("[", at: text.behindAttributes(of: closure)) { return }
        // Here `self` is the type.
        let function = text.scopes(around: closure.open).first {
            if case .function = $0.kind { true } else { false }
        }
        let isOfType = function.map { scope in
            (scope.head - 2..<scope.head).contains {
                text[$0]?.isName("static") == true || text[$0]?.isName("class") == true
            }
        }
        if isOfType == true { return }
        // `static let shared = Sync()`
        let isShared = text.places(of: "static").contains { index in
            text.sees("let", at: index + 1)
                && (text.sees("=", type.name, at: index + 3)
                    || text.sees(":", type.name, "=", at: index + 3))
        }
        guard !isShared, let word = body.first(where: { text.tokens[$0].isName("self") }) else {
            return
        }
        see(.fault(.taskHandlerKeepsSelf), at: word)
    }
}
