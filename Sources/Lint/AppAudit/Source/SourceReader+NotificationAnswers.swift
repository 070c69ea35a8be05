// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Reads what iOS asks an app or its extension about a notification, and waits for the answer to.
extension SourceReader {
    /// Reads a function of the notification center's delegate, or of a notification service
    /// extension.
    mutating func readNotificationAnswer(
        _ head: SourceScope.FunctionHead, _ scope: SourceScope
    ) {
        guard let completion = head.parameters.last else { return }
        switch (head.name, completion.label) {
        case ("userNotificationCenter", "withCompletionHandler"):
            // A function that returns whether it took the notification leaves others to its caller,
            // and Flutter hands each to all plugins, of which one answers.
            guard !answers(scope), !isOfProtocol(scope), text.places(of: "FlutterPlugin").isEmpty
            else { return }
            readGaps(to: completion.name, in: scope, .fault(.notificationPathWithoutCompletion))
        case ("didReceive", "withContentHandler"),
            ("didReceiveNotificationRequest", "withContentHandler"):
            guard !answers(scope), !isOfProtocol(scope) else { return }
            if let property = property(keeping: completion.name, in: scope) {
                readKeptContentHandler([completion.name, property], in: scope)
            } else {
                readGaps(to: completion.name, in: scope, .fault(.contentPathWithoutHandler))
            }
        default: return
        }
    }

    /// The property in which a function keeps what it gets: `self.contentHandler = contentHandler`.
    private func property(keeping name: String, in scope: SourceScope) -> String? {
        let body = text.content(ofBracket: scope.open)
        let kept = text.places(of: name, in: body).first { text.sees("=", at: $0 - 1) }
        guard let kept, let property = text[kept - 2], property.isName,
            // One of another object is handed to that.
            !text.sees(".", at: kept - 3) || text.sees("self", at: kept - 4)
        else { return nil }
        return property.text
    }

    /// Finds paths through a service extension that keeps its content handler, on which nothing
    /// calls it: the time of the extension ends them. What other functions of the class do with it
    /// counts if this one calls them.
    private mutating func readKeptContentHandler(_ names: Set<String>, in scope: SourceScope) {
        // A class with further protocols may be called back, and a base class may answer.
        let own = text.type(around: scope.head)?.name
        let inherited = text.scopes.flatMap { other -> [String] in
            guard case .type(let head) = other.kind, head.name == own else { return [] }
            return head.inherited
        }
        guard text.isObjectiveC || inherited == ["UNNotificationServiceExtension"] else { return }
        let names = names.union(names.map { "_" + $0 })
        let body = text.content(ofBracket: scope.open)
        // Something else gets the extension itself, and may call it back.
        let escapes = text.places(of: "self").contains { place in
            !body.contains(place) && !text.sees(".", at: place + 1)
                && ["=", "(", ":", ","].contains { text.sees($0, at: place - 1) }
        }
        guard !escapes else { return }
        // The functions that use it, and those that mention these, and so on.
        var answering: Set<String> = []
        var open = names
        while let name = open.popFirst() {
            for place in text.places(of: name) where !body.contains(place) {
                guard case .function(let other)? = outerFunction(of: place)?.kind else {
                    // A property, a parameter or a label. Others are in an observer, or in a
                    // closure that a property holds.
                    let isDeclared =
                        text.sees("var", at: place - 1) || text.sees(":", at: place + 1)
                        || text.sees("func", at: place - 1) || text.isObjectiveC
                    guard isDeclared else { return }
                    continue
                }
                guard other.name != "serviceExtensionTimeWillExpire",
                    answering.insert(other.name).inserted
                else { continue }
                open.insert(other.name)
            }
        }
        // One that nothing here leads to is called from elsewhere.
        guard
            answering.allSatisfy({ name in
                text.places(of: name).contains { place in
                    guard !body.contains(place) else { return true }
                    guard case .function(let caller)? = outerFunction(of: place)?.kind else {
                        return false
                    }
                    return caller.name != name && answering.contains(caller.name)
                }
            })
        else { return }
        let settles = { [self] (index: Int) in
            let token = text.tokens[index]
            guard token.isName else { return false }
            if isOfOtherFile(index) { return true }
            if names.contains(token.text) {
                let isKept =
                    text.sees("=", at: index - 1)
                    && !["let", "var"].contains(text[index - 3]?.text)
                    && (!text.sees(".", at: index - 3) || text.sees("self", at: index - 4))
                return !isKept && !text.isLabel(index) && !text.sees("=", at: index + 1)
            }
            // An object that gets the extension itself may answer.
            let isHandedOn =
                token.text == "self" && !text.sees(".", at: index + 1)
                && ["(", ":", ","].contains { text.sees($0, at: index - 1) }
            return isHandedOn || answering.contains(token.text)
        }
        let paths = CompletionPaths(
            text, body: scope,
            // What is cancelled was so at the end of the time, which answers itself.
            CompletionPaths.Strictness(exemptNames: ["isCancelled"], startsAnew: true),
            settles: settles)
        see(.fault(.contentPathWithoutHandler), atFirstOf: paths.gaps)
    }

    /// Whether a call is of a function of the class that this file lacks: of an extension or a
    /// category in another file.
    private func isOfOtherFile(_ index: Int) -> Bool {
        guard isCall(index), functions[text.tokens[index].text] == nil,
            text.tokens[index].text.first?.isLowercase == true
        else { return false }
        if text.isObjectiveC { return text.sees("[", "self", at: index - 2) }
        let isOwn =
            text.sees("self", ".", at: index - 2) || text.sees("self", "?", ".", at: index - 3)
        return (isOwn || !text.sees(".", at: index - 1)) && !isIdleCall(index)
    }
}
