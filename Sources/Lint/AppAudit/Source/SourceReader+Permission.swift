// SPDX-License-Identifier: Apache-2.0

/// Determines what else tells of the permission to show alerts.
extension SourceReader {
    /// Whether a name in a condition is that of a variable which has whether the permission was
    /// given, or its status.
    func isStatus(_ word: Int, before index: Int) -> Bool {
        isAssignedStatus(text.tokens[word].text, before: index)
            || isLocalStatus(word, before: index)
    }

    /// Whether a local variable is `false` until it is set once, around a token and before it, to
    /// whether the permission was given: `granted = settings.authorizationStatus == .authorized`.
    private func isAssignedStatus(_ name: String, before index: Int) -> Bool {
        guard !text.places(of: "authorizationStatus").isEmpty else { return false }
        let around = Set(text.scopes(around: index).map(\.open))
        var isSet = false
        var isDeclared = false
        for place in text.places(of: name) where text.sees("=", at: place + 1) {
            if text.sees("var", at: place - 1), text.sees("false", at: place + 2) {
                // Several variables of that name are not told apart.
                if isDeclared { return false }
                isDeclared = true
                continue
            }
            guard !isSet, place < index, isStatement(place),
                text.scopes(around: place).first(where: { _ in true }).map({
                    around.contains($0.open)
                }) == true,
                isAuthorized(place + 2)
            else { return false }
            isSet = true
        }
        return isSet && isDeclared
    }

    /// Whether a name is compared with a permission, and is that of a constant which has the
    /// status: `let status = await authorizationStatus()`, `status == .authorized`.
    private func isLocalStatus(_ word: Int, before index: Int) -> Bool {
        guard
            text.sees("==", ".", "authorized", at: word + 1)
                || text.sees("!=", ".", "authorized", at: word + 1),
            let (_, body) = function(around: index)
        else { return false }
        return text.places(of: text.tokens[word].text, in: body.lowerBound..<word).contains {
            place in
            text.sees("let", at: place - 1) && text.sees("=", at: place + 1)
                && (place..<text.statementEnd(place, body)).contains {
                    text.tokens[$0].isName("authorizationStatus")
                }
        }
    }

    /// Whether a name begins a statement on a line of its own.
    private func isStatement(_ name: Int) -> Bool {
        guard let last = text[name - 1] else { return true }
        return last.position.line < text.tokens[name].position.line && !last.isMark(".")
    }

    /// Whether a line ends with this value: `settings.authorizationStatus == .authorized`, also in
    /// parentheses.
    private func isAuthorized(_ value: Int) -> Bool {
        let isInside = text.sees("(", at: value)
        let first = isInside ? value + 1 : value
        let end = first + (isInside ? 7 : 6)
        return text[first]?.isName == true
            && text.sees(".", "authorizationStatus", "==", ".", "authorized", at: first + 1)
            && (!isInside || text.sees(")", at: first + 6))
            && text[end].map { $0.position.line > text.tokens[value].position.line } ?? true
    }

    /// Whether a call is of a function of this file with the name of one of the system's, which is
    /// read by itself: `registerForRemoteNotifications()`, `self.registerForRemoteNotifications()`.
    func isOwnFunction(_ call: Int) -> Bool {
        guard functions[text.tokens[call].text] != nil else { return false }
        return text.isObjectiveC
            ? text.sees("[", "self", at: call - 2)
            : !text.sees(".", at: call - 1) || text.sees("self", at: call - 2)
                || text.sees("self", "?", at: call - 3)
    }

    /// Whether the labels of a switch are those of the permission to show alerts: `.authorized`,
    /// `.provisional` or `.ephemeral`, and those without it.
    func hasStatusCases(_ scope: SourceScope) -> Bool {
        let body = scope.open + 1..<max(scope.open + 1, scope.close)
        var names: Set<String> = []
        for label in text.places(of: "case", in: body)
        where text.scopeIndices[label] == text.scopeIndices[scope.open + 1] {
            let words = (label..<scope.close).prefix(AuditLimits.headWords)
            for word in words.prefix(while: { !text.tokens[$0].isMark(":") })
            where text.sees(".", at: word - 1) {
                names.insert(text.tokens[word].text)
            }
        }
        return names.contains("authorized")
            && !names.isDisjoint(with: ["provisional", "ephemeral"])
            && !names.isDisjoint(with: ["denied", "notDetermined"])
    }

    private static let promised: Set = ["map", "done", "then", "get", "tap", "compactMap"]

    /// Whether a call takes what a promise of the user's answer has: `ask().map { granted in`,
    /// `firstly { requestAuthorization() }.map { granted in`.
    func isRequested(before call: Int) -> Bool {
        guard call > 2, Self.promised.contains(text.tokens[call].text), text.sees(".", at: call - 1)
        else { return false }
        let open = text.partners[call - 2]
        guard open > 0, open < call - 2 else { return false }
        if text.sees(")", at: call - 2) { return asksForAlerts(at: open - 1) }
        return text.sees("}", at: call - 2) && text.sees("firstly", at: open - 1)
            && (open + 1..<call - 2).prefix(AuditLimits.headWords)
                .contains(where: asksForAlerts(at:))
    }

    /// Whether a call says first that its permission is for alerts: `request(for: .notifications)`.
    func getsKindOfAlerts(_ call: Int) -> Bool {
        text.sees("(", at: call + 1) && text.isLabel(call + 2)
            && ["notifications", "notification"].contains { kind in
                text.sees(".", kind, ")", at: call + 4) || text.sees(".", kind, ",", at: call + 4)
            }
    }
}
