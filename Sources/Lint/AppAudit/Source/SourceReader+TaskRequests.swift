// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Finds the code that asks for background tasks.
extension SourceReader {
    /// Reads a mention of a request.
    mutating func readTaskRequest(_ index: Int) {
        digest.taskRequests.append(functions(leadingFromHandlersTo: index))
    }

    /// The names of the functions through which handlers of background tasks alone lead to a token
    /// of this file; `nil` if anything else may.
    private func functions(leadingFromHandlersTo index: Int) -> Set<String>? {
        let registrations = self.registrations
        var words: Set<String> = []
        var pending = [index]
        while let place = pending.popLast() {
            if let registration = registrations.first(where: { $0.contains(place) }) {
                guard runsInHandler(place, of: registration) else { return nil }
                continue
            }
            guard let function = outerFunction(of: place), case .function(let head) = function.kind,
                !overloaded.contains(head.name), callers(of: place) == [head.name],
                !text.tokens.contains(where: { token in
                    if case .string = token.kind { token.text.contains(head.name) } else { false }
                })
            else { return nil }
            guard words.insert(head.name).inserted else { continue }
            let calls = (uses[head.name] ?? []).filter {
                !(function.open...function.close).contains($0)
            }
            guard !calls.isEmpty else { return nil }
            pending += calls
        }
        return words
    }

    /// The tokens of the registrations of this file.
    private var registrations: [Range<Int>] {
        ["register", "registerForTaskWithIdentifier", "backgroundTask"]
            .flatMap { text.places(of: $0) }
            .compactMap { index in
                if text.isObjectiveC {
                    guard text.sees("registerForTaskWithIdentifier", ":", at: index),
                        let open = message(around: index)
                    else { return nil }
                    return text.content(ofBracket: open)
                }
                guard
                    text.sees("register", "(", "forTaskWithIdentifier", ":", at: index)
                        || text.sees("backgroundTask", "(", ".", "appRefresh", at: index)
                else { return nil }
                let close = text.partners[index + 1]
                guard close > index else { return nil }
                let end = text.sees("{", at: close + 1) ? text.partners[close + 1] : close
                return index..<max(end, close)
            }
    }

    /// Whether a token in a registration is part of its handler: in its closure, or the name of the
    /// function that is the handler.
    private func runsInHandler(_ index: Int, of range: Range<Int>) -> Bool {
        let isInClosure = text.scopes(around: index).contains { scope in
            if case .closure = scope.kind { range.contains(scope.open) } else { false }
        }
        // `launchHandler: handle(task:)`
        return isInClosure || !isCall(index)
            || text.sees(":", ")", at: text.partners[index + 1] - 1)
    }
}
