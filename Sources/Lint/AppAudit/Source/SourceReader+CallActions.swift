// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Reads the handlers of CallKit's actions.
extension SourceReader {
    /// What finds an action again that its handler kept by its identifier.
    static let lookups: Set = [
        "pendingCallActions", "pendingCallActionsOfClass", "pendingTransactions",
    ]

    /// Reads a handler such as `provider(_:perform:)` for paths that leave its action open.
    mutating func readCallAction(_ scope: SourceScope) {
        guard let action = callAction(of: scope), action != "_", !isOfProtocol(scope),
            !Self.lookups.contains(where: { !text.places(of: $0).isEmpty }),
            case .function(let head) = scope.kind, !text.scopes.contains(where: executes)
        else { return }
        var strictness = CompletionPaths.Strictness(doneFlags: ["isComplete", "complete"])
        strictness.startsAnew = true
        // Another provider has another delegate.
        strictness.exemptNames = Set(head.parameters.prefix(1).map(\.name))
        let body = text.content(ofBracket: scope.open)
        let ends = Set(body.filter { text.tokens[$0].isName(action) && endsAction($0) })
        let gaps = CompletionPaths(text, body: scope, strictness, settles: ends.contains).gaps
        guard !gaps.isEmpty else { return }
        if ends.isEmpty, onlyLogs(body, nil) {
            // Several that do nothing are one fault, but for those that each call needs.
            let isKnown = digest.entries.contains {
                $0.observation.subject == .fault(.actionLeftOpen)
            }
            let isNeeded = names(["CXAnswerCallAction", "CXEndCallAction"], scope)
            guard isNeeded || !isKnown && names(["CXSetMutedCallAction"], scope) else { return }
        }
        see(.fault(.actionLeftOpen), atFirstOf: gaps)
        // What other files look up they may end.
        digest.entries[digest.entries.count - 1].unusedNames = Self.lookups
    }

    /// Whether a function gets whole transactions, and so leaves none of their actions.
    private func executes(_ scope: SourceScope) -> Bool {
        guard case .function(let head) = scope.kind, head.name == "provider" else { return false }
        return head.parameters.contains { $0.label.hasPrefix("execute") }
    }

    /// Whether a handler is of one of these actions. The system's own screen leads to answers, ends
    /// and muting, whatever calls can do.
    private func names(_ actions: [String], _ handler: SourceScope) -> Bool {
        (handler.head..<handler.open).contains { word in
            actions.contains { text.tokens[word].isName($0) }
        }
    }

    /// The name of the action in a handler of a provider's delegate; `nil` for other scopes.
    func callAction(of scope: SourceScope) -> String? {
        guard case .function(let head) = scope.kind, head.name == "provider" else { return nil }
        return head.parameters.first { parameter in
            parameter.label.hasPrefix("perform")
                && parameter.types.contains { $0.hasPrefix("CX") && $0.hasSuffix("Action") }
        }?
        .name
    }

    /// The properties of actions.
    private static let properties: Set = [
        "callUUID", "uuid", "UUID", "isComplete", "complete", "timeoutDate", "handle", "isVideo",
        "video", "contactIdentifier", "isOnHold", "onHold", "isMuted", "muted", "digits", "type",
        "callUUIDToGroupWith", "description", "debugDescription", "hash", "class",
    ]

    /// Whether an action is ended where it is named, by a function of an extension too, or
    /// something else gets it that may end it.
    private func endsAction(_ index: Int) -> Bool {
        if text.isLabel(index) || text.sees(".", at: index - 1) { return false }
        let next = index + 1
        if text.sees(".", at: next) { return !Self.properties.contains(text[next + 1]?.text ?? "") }
        guard text.isObjectiveC, text.sees("[", at: index - 1), let message = text[next] else {
            return true
        }
        return !Self.properties.contains(message.text)
    }
}
