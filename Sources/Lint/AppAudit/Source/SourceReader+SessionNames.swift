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
        let places =
            placesOfStatic(last, namedAt: index) ?? text.places(of: text.tokens[last].text)
        // Each use looks at all of them.
        guard places.count <= AuditLimits.headWords else { return false }
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

    /// The places of a static constant of the own type that a name stands for, which code names
    /// behind the type alone: another value may have the same name.
    private func placesOfStatic(_ name: Int, namedAt use: Int) -> [Int]? {
        guard !text.isObjectiveC, text.sees(".", at: name - 1),
            let type = text.type(around: use)?.name
        else { return nil }
        let isDeclared = { [text] (place: Int) in
            text.sees("static", "let", at: place - 2) && text.type(around: place)?.name == type
        }
        let places = text.places(of: text.tokens[name].text)
        guard places.count <= AuditLimits.headWords, places.contains(where: isDeclared) else {
            return nil
        }
        return places.filter { place in
            if isDeclared(place) { return true }
            if text.sees(".", at: place - 1) {
                return text.sees("Self", at: place - 2) || text.sees(type, at: place - 2)
            }
            // In a function of the type itself its name is enough.
            return text.scopes(around: place).contains { scope in
                guard case .function = scope.kind else { return false }
                return !modifiers(before: scope.head).isDisjoint(with: ["static", "class"])
            }
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
                    ["String", "appending"].contains { text.sees($0, at: open - 1) }
                        || text.sees("\\(", at: open)
                        || text.isObjectiveC && text.sees("[", at: open)
                            && (text.sees("NSString", at: open + 1)
                                || text.sees("[", "NSUUID", "UUID", "]", at: open + 1)
                                || text[open + 2]?.text.hasPrefix("stringByAppending") == true)
                }
            }
    }

    /// `UUID()`, `NSUUID()`, `[NSUUID UUID]`, `NSUUID.UUID`, `"a.\(UUID())"`.
    private func makesUUID(_ index: Int) -> Bool {
        if text.isObjectiveC {
            return text.sees("[", "NSUUID", "UUID", "]", at: index)
                || text.sees("NSUUID", ".", "UUID", at: index)
        }
        return ["UUID", "NSUUID"].contains(text.tokens[index].text)
            && text.sees("(", ")", at: index + 1)
    }
}
