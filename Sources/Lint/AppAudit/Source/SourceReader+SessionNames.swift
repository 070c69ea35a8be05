// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Finds identifiers of background sessions that no later launch has.
extension SourceReader {
    /// Whether the identifier of a background configuration has a new UUID in it, which nothing
    /// else gets: `.background(withIdentifier: "a." + UUID().uuidString)`, or a constant that is
    /// made so.
    func namesSessionAnew(_ index: Int) -> Bool {
        let open = message(around: index) ?? index + 1
        let arguments = text.content(ofBracket: open)
        guard !arguments.isEmpty else { return false }
        if arguments.contains(where: makesUUID) { return isOnlyNew(arguments) }
        // `Self.identifier`, `identifier`
        guard let last = arguments.last, text.tokens[last].isName,
            arguments.allSatisfy({ word in
                word == last || text.sees(".", at: word) || text.sees(":", at: word)
                    || ["withIdentifier", "Self", "self"].contains(text.tokens[word].text)
                    || text.tokens[word].text == text.tokens[index].text
                    || text.sees("NSURLSessionConfiguration", at: word)
                    || text.type(around: index)?.name == text.tokens[word].text
            })
        else { return false }
        let places = text.places(of: text.tokens[last].text)
        let declarations = places.filter {
            text.sees("let", at: $0 - 1) || text.sees("NSString", "*", at: $0 - 2)
        }
        guard declarations.count == 1, let declaration = declarations.first,
            let equals = (declaration + 1..<declaration + 4).first(where: { text.sees("=", at: $0) }
            ), isOnlyNew(equals..<text.statementEnd(equals, text.tokens.indices))
        else { return false }
        return places.allSatisfy { place in
            place == declaration || arguments.contains(place)
                || text.sees("==", at: place + 1) || text.sees("==", at: place - 1)
                || text.sees(".", at: place - 1) && text.sees("==", at: place - 3)
        }
    }

    /// Whether a value has a new UUID in it that nothing else gets, and is in no case another one:
    /// `stored ?? UUID().uuidString`, `defaults.get("id", orSet: UUID())`.
    private func isOnlyNew(_ value: Range<Int>) -> Bool {
        let others = ["??", "?", "{", "if", "switch"]
        guard value.count <= AuditLimits.headWords,
            !value.contains(where: { others.contains(text.tokens[$0].text) })
        else {
            return false
        }
        let makes = value.filter(makesUUID)
        return !makes.isEmpty
            && makes.allSatisfy { make in
                (value.lowerBound..<make).filter { text.partners[$0] > make }.allSatisfy { open in
                    text.sees("String", at: open - 1) || text.sees("\\(", at: open)
                        || text.isObjectiveC && text.sees("[", at: open)
                            && (text.sees("NSString", at: open + 1)
                                || text.sees("[", "NSUUID", "UUID", "]", at: open + 1))
                }
            }
    }

    /// `UUID()`, `NSUUID()`, `[NSUUID UUID]`, `"a.\(UUID())"`.
    private func makesUUID(_ index: Int) -> Bool {
        if text.isObjectiveC { return text.sees("[", "NSUUID", "UUID", "]", at: index) }
        return ["UUID", "NSUUID"].contains(text.tokens[index].text)
            && text.sees("(", ")", at: index + 1)
    }
}
