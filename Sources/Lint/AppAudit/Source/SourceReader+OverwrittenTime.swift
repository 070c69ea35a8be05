// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Finds identifiers of time in the background that a further one replaces before it is ended.
extension SourceReader {
    /// Reads that the variable of the time before has its identifier still when a call sets it to
    /// another: `id = app.beginBackgroundTask { … }` twice, and nothing between that could end it.
    mutating func readOverwrittenTime(_ begin: Int, _ name: String, isLocal: Bool) {
        guard let (_, body) = function(around: begin),
            let earlier = Self.begins.compactMap({ word in
                text.places(of: word, in: body.lowerBound..<begin).last
            })
            .max(), isAssertion(earlier),
            let first = assignment(of: name, by: earlier),
            let last = assignment(of: name, by: begin),
            let end = endOfCall(earlier), end <= last,
            text.scopeIndices[earlier] == text.scopeIndices[begin],
            let scope = text.scopes(around: begin).first(where: { _ in true })
        else { return }
        if case .control("switch") = scope.kind { return }
        let leaving: Set = ["return", "throw", "break", "continue", "goto"]
        let between = end..<last
        guard !text.directives.contains(where: { first..<begin ~= $0 }),
            !between.contains(where: { word in
                text.tokens[word].text == name || !isLocal && mayEndTime(at: word)
                    || leaving.contains(text.tokens[word].text)
                        && text.scopeIndices[word] == text.scopeIndices[begin]
            }),
            isLocal ? isOnlyVariable(first, of: name, in: body) : isPlainVariable(name, of: begin)
        else { return }
        see(.fault(.assertionOverwritten), at: begin)
    }

    /// The place at which a statement sets a variable to the result of a call.
    private func assignment(of name: String, by begin: Int) -> Int? {
        guard let place = text.places(of: name, in: 0..<begin).last, isSet(place, by: begin),
            // One of two calls: `id = isLong ? begin() : begin()`.
            !(place..<begin).contains(where: { [":", "??"].contains(text.tokens[$0].text) })
        else { return nil }
        var start = text.sees("self", ".", at: place - 2) ? place - 2 : place
        if text.sees(".", at: start - 1) || text.sees("->", at: start - 1) { return nil }
        if text.isObjectiveC {
            if text.sees("UIBackgroundTaskIdentifier", at: start - 1) { start -= 1 }
            if text.sees("__block", at: start - 1) { start -= 1 }
            return [";", "{", "}"].contains { text.sees($0, at: start - 1) } ? place : nil
        }
        return place
    }

    /// The index behind a call and its closure.
    private func endOfCall(_ begin: Int) -> Int? {
        if let open = message(around: begin) { return text.partners[open] + 1 }
        var end = begin + 1
        if text.sees("(", at: end) { end = text.partners[end] + 1 }
        if text.sees("{", at: end) { end = text.partners[end] + 1 }
        return end > begin + 1 ? end : nil
    }

    /// Whether a function names a local variable before a place only to declare it, so that no
    /// closure or `defer` can have it.
    private func isOnlyVariable(_ place: Int, of name: String, in body: Range<Int>) -> Bool {
        text.places(of: name, in: body.lowerBound..<place + 1).allSatisfy {
            $0 == place || isPlainDeclaration($0, in: body)
        }
    }

    /// Whether a name is a stored property of the type that nothing observes.
    private func isPlainVariable(_ name: String, of begin: Int) -> Bool {
        guard !text.isObjectiveC else {
            return identifierNames(name).allSatisfy { functions[$0] == nil }
        }
        let declarations = text.places(of: name).filter { text.sees("var", at: $0 - 1) }
        return declarations.count == 1
            && declarations.allSatisfy { place in
                isOpenProperty(place)
                    && text.type(around: place)?.name == text.type(around: begin)?.name
            }
    }
}
