// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Determines whether handlers of silent pushes keep what the pushes bring.
extension SourceReader {
    /// Verbs of functions that may keep what a push brings, or hand it on to what does.
    private static let keepingVerbs: Set = [
        "add", "append", "apply", "cache", "clear", "commit", "consume", "create", "delete",
        "emit", "enqueue", "execute", "import", "increment", "ingest", "insert", "mark", "merge",
        "persist", "publish", "put", "receive", "record", "remove", "replace", "reset", "save",
        "send", "set", "store", "update", "upsert", "write", "yield",
    ]

    private static let shownObjects: Set = ["alert", "content", "notification", "request"]

    /// The names of the parameters of a function: of that with a label, if there is one.
    static func parameters(
        of scope: SourceScope, labelled label: String? = nil
    ) -> Set<String> {
        guard case .function(let head) = scope.kind else { return [] }
        let named = head.parameters.filter { $0.label == label }
        return Set((named.isEmpty ? head.parameters : named).map(\.name))
    }

    /// Whether a handler may keep what a push brings itself, so that new data is the truth:
    /// `inbox.insert(userInfo)`. It reads the push, by one of the names, for more than a log, and
    /// keeps something; a function of this file that gets the push may do it for the handler.
    func keepsPush(_ body: Range<Int>, _ names: Set<String>) -> Bool {
        var seen: Set<Int> = []
        return keepsPush(body, names, &seen)
    }

    private func keepsPush(
        _ body: Range<Int>, _ names: Set<String>, _ seen: inout Set<Int>
    ) -> Bool {
        guard seen.insert(body.lowerBound).inserted else { return false }
        let logs = body.filter { isCertainLog($0) }.map { text.content(ofBracket: $0 + 1) }
        let reads = body.contains { index in
            names.contains(text.tokens[index].text) && !text.isLabel(index)
                && !logs.contains { $0.contains(index) }
        }
        guard reads else { return false }
        let showsNotification = body.contains {
            text.tokens[$0].isName("UNNotificationRequest")
        }
        return body.contains { index in
            if sets(index) { return true }
            guard text.tokens[index].isName, isCall(index) || isSelector(index) else {
                return false
            }
            let name = text.tokens[index].text
            if seen.count < 8, let own = text.functions[name] {
                // One that gets literals alone knows nothing of the push.
                let arguments =
                    text.isObjectiveC ? index..<index : text.content(ofBracket: index + 1)
                guard
                    text.isObjectiveC
                        || arguments.contains(where: {
                            text.tokens[$0].isName && !text.isLabel($0)
                        })
                else { return false }
                return own.prefix(4).contains { function in
                    keepsPush(
                        text.content(ofBracket: function.open), Self.parameters(of: function),
                        &seen)
                }
            }
            // Combine's are of the pipeline, and a notification is only shown.
            return Self.nameParts(name).first.map(Self.keepingVerbs.contains) == true
                && !text.sees("store", "(", "in", ":", at: index)
                && !text.sees("receive", "(", "on", ":", at: index)
                && !(name == "add" && showsNotification)
        }
    }

    /// Whether a token sets a property or an entry, and not one of a notification that is shown:
    /// `last = push`, `items[id] = push`, `count += 1`.
    private func sets(_ index: Int) -> Bool {
        guard ["=", "+=", "-=", "*=", "|="].contains(where: { text.sees($0, at: index + 1) }) else {
            return false
        }
        if text.sees("]", at: index) { return true }
        guard text.tokens[index].isName else { return false }
        if text.sees(".", at: index - 1) {
            return text[index - 2].map { Self.shownObjects.contains($0.text) } == false
        }
        return ["{", "}", ";"].contains { text.sees($0, at: index - 1) }
            || (text[index - 1]?.position.line ?? 0) < text.tokens[index].position.line
    }

    /// Whether a word is of the selector of a message in Objective-C: `[store save:push]`.
    private func isSelector(_ index: Int) -> Bool {
        text.isObjectiveC && (text.sees(":", at: index + 1) || text.sees("]", at: index + 1))
            && !["[", ":", ",", "(", "="].contains { text.sees($0, at: index - 1) }
    }
}
