// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Finds completion handlers of the events of background sessions that a dictionary keeps, and that
/// are only removed from it.
extension SourceReader {
    /// Reads that the end of a session's events removes a completion handler from a dictionary
    /// which nothing reads: `finishers.removeValue(forKey: identifier)`, `[self.completions
    /// removeObjectForKey:identifier]`.
    mutating func readRemovedCompletion(_ head: SourceScope.FunctionHead, _ scope: SourceScope) {
        let isEnd =
            text.isObjectiveC
            ? head.name == "URLSessionDidFinishEventsForBackgroundURLSession"
            : head.name == "urlSessionDidFinishEvents" && head.has("forBackgroundURLSession")
        // Many are of many sessions.
        guard isEnd, text.places(of: head.name).count <= 16 else { return }
        let removal = text.content(ofBracket: scope.open).first { removedDictionary($0) != nil }
        if let removal, let name = removedDictionary(removal),
            isDictionaryOfCompletions(text.tokens[name].text)
        {
            see(.fault(.transferCompletionKeptForNothing), at: removal)
        }
    }

    /// The name of the dictionary that a call removes a value from, as a statement of its own.
    private func removedDictionary(_ index: Int) -> Int? {
        let word = text.tokens[index]
        if text.isObjectiveC {
            guard word.isName("removeObjectForKey"), text.sees(":", at: index + 1),
                let name = text[index - 1], name.isName
            else { return nil }
            let first = text.sees("self", ".", at: index - 3) ? index - 3 : index - 1
            let isStatement = ["{", "}", ";"].contains { text.sees($0, at: first - 2) }
            return text.sees("[", at: first - 1) && isStatement ? index - 1 : nil
        }
        guard word.isName("removeValue"), text.sees("(", at: index + 1),
            text.sees(".", at: index - 1), let name = text[index - 2], name.isName
        else { return nil }
        let first = text.sees("self", ".", at: index - 4) ? index - 4 : index - 2
        let end = text.partners[index + 1]
        guard end > 0, let before = text[first - 1], let next = text[end + 1],
            next.position.line > text.tokens[end].position.line || next.isMark("}"),
            !["?", "!", ".", "("].contains(where: next.isMark)
        else { return nil }
        if before.isMark("{") || before.isName("in"), next.isMark("}") {
            // It is what a block returns: `lock.withLock { finishers.removeValue(forKey: id) }`.
            switch text.scopes(around: index).first(where: { _ in true })?.kind {
            case .function(let head) where head.has("forBackgroundURLSession"): break
            case .closure("async"): break
            default: return nil
            }
        }
        let isStatement =
            before.isMark("{") || before.isName("in")
            || text.tokens[first].position.line > before.position.line
                && !["=", ",", "(", "??", "?", ":", "&&", "||"].contains(where: before.isMark)
                && !["return", "let", "try"].contains(before.text)
        return isStatement ? index - 2 : nil
    }

    /// Whether a name is a dictionary of closures, of this file alone, that all of it only adds to
    /// and removes from.
    private func isDictionaryOfCompletions(_ name: String) -> Bool {
        let bare = name.hasPrefix("_") ? String(name.dropFirst()) : name
        let names: Set = [bare, "_" + bare]
        var isDeclared = false
        var isFilled = false
        for index in text.tokens.indices {
            let token = text.tokens[index]
            if token.isString, mayBeKey(token.text, of: names) { return false }
            guard token.isName, names.contains(token.text) else { continue }
            if declaresDictionary(index) {
                isDeclared = true
            } else if addsClosure(to: index) {
                isFilled = true
            } else if !(removesOnly(index) || text.isLabel(index) || makesEmpty(index)) {
                return false
            }
        }
        return isDeclared && isFilled
    }

    /// `private var finishers: [String: () -> Void]`, or a property of a class extension with a
    /// block in its type.
    private func declaresDictionary(_ index: Int) -> Bool {
        if text.isObjectiveC {
            let start = (max(0, index - AuditLimits.headWords)..<index).last { word in
                text.sees("@", "property", at: word) || text.tokens[word].isMark(";")
            }
            return start.map { start in
                text.sees("@", "property", at: start)
                    && (start..<index).contains { text.tokens[$0].isMark("^") }
            } == true
        }
        guard text.sees("var", at: index - 1), text.sees(":", "[", at: index + 1),
            text.type(around: index) != nil, text.partners[index + 2] > 0
        else { return false }
        let words = modifiers(before: index - 1)
        return (words.contains("private") || words.contains("fileprivate"))
            && words.isSubset(of: Self.modifiers)
            && text.content(ofBracket: index + 2).contains { text.tokens[$0].isMark("->") }
    }

    /// `finishers[identifier] = finish`
    private func addsClosure(to index: Int) -> Bool {
        guard text.sees("[", at: index + 1), text.partners[index + 1] > 0 else { return false }
        let end = text.partners[index + 1]
        // What gets a dictionary by an expression may read it too.
        return text.sees("=", at: end + 1)
    }

    /// Whether a use of a dictionary removes something from it, and drops it.
    private func removesOnly(_ index: Int) -> Bool {
        let call = text.isObjectiveC ? index + 1 : index + 2
        guard text[call] != nil else { return false }
        return removedDictionary(call) == index
    }

    /// `finishers = [:]`, `self.completions = [NSMutableDictionary dictionary]`.
    private func makesEmpty(_ index: Int) -> Bool {
        guard text.sees("=", at: index + 1) else { return false }
        if text.sees("[", ":", "]", at: index + 2) { return true }
        return text.sees("@", "{", "}", at: index + 2)
            || text.sees("[", "NSMutableDictionary", at: index + 2)
            || text.sees("[", "[", "NSMutableDictionary", at: index + 2)
    }
}
