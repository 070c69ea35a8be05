// SPDX-License-Identifier: Apache-2.0

/// Finds what may report a call without calling a function by its name.
extension SourceReader {
    /// Whether a handler gives the push to something that may run other code: a property with
    /// observers or of another object, or a closure in a collection.
    func mayReportUnseen(in body: Range<Int>, _ inputs: Set<String>) -> Bool {
        body.contains { index in
            if text.tokens[index].isMark("=") { return setsObserved(index, in: body, inputs) }
            // `handlers["call"]?(push)`
            guard text.sees("]", at: index) else { return false }
            let isOptional = text.sees("?", at: index + 1) || text.sees("!", at: index + 1)
            let open = isOptional ? index + 2 : index + 1
            return text.sees("(", at: open) && uses(inputs, in: text.content(ofBracket: open))
        }
    }

    private func uses(_ names: Set<String>, in words: Range<Int>) -> Bool {
        words.contains { text.tokens[$0].isName && names.contains(text.tokens[$0].text) }
    }

    /// Whether an equals sign gives the push to a property whose setter may do more.
    private func setsObserved(_ equals: Int, in body: Range<Int>, _ inputs: Set<String>) -> Bool {
        guard let name = text[equals - 1], name.isName, !declares(equals),
            uses(inputs, in: equals + 1..<max(equals + 1, text.expressionEnd(equals + 1)))
        else { return false }
        var owner = equals - 1
        while text.sees(".", at: owner - 1) { owner -= 2 }
        let declared = text.places(of: name.text).filter { text.sees("var", at: $0 - 1) }
        guard declared.isEmpty else { return declared.contains(where: isObserved) }
        // A new object is only prepared, as a notification is, and the badge is only seen.
        guard let first = text[owner], first.isName, !text.isObjectiveC,
            name.text != "applicationIconBadgeNumber"
        else { return false }
        return !body.contains {
            text.sees("let", first.text, at: $0) || text.sees("var", first.text, at: $0)
        }
    }

    /// Whether a declared property has observers or a setter, or a wrapper such as `@Published`.
    private func isObserved(_ name: Int) -> Bool {
        let line = text.tokens[name].position.line
        let open = (name..<text.tokens.count).prefix { text.tokens[$0].position.line == line }
            .first { text.tokens[$0].isMark("{") }
        let isSet = open.map { open in
            text.content(ofBracket: open).contains { word in
                ["didSet", "willSet", "set"].contains { text.tokens[word].isName($0) }
            }
        }
        return isSet == true
            || modifiers(before: name - 1).contains { word in
                word.first?.isUppercase == true && word != "MainActor" && word != "IBOutlet"
            }
    }
}
