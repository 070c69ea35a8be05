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
        if arguments.contains(where: makesUUID) {
            // `stored ?? UUID().uuidString`
            return !arguments.contains { text.sees("??", at: $0) || text.sees("?", at: $0) }
        }
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
            ),
            (equals..<text.statementEnd(equals, text.tokens.indices)).contains(where: makesUUID)
        else { return false }
        return places.allSatisfy { place in
            place == declaration || arguments.contains(place)
                || text.sees("==", at: place + 1) || text.sees("==", at: place - 1)
                || text.sees(".", at: place - 1) && text.sees("==", at: place - 3)
        }
    }

    /// `UUID()`, `NSUUID()`, `[NSUUID UUID]`, `"a.\(UUID())"`.
    private func makesUUID(_ index: Int) -> Bool {
        if case .string(isInterpolated: true) = text.tokens[index].kind {
            return text.tokens[index].text.contains("UUID()")
        }
        if text.isObjectiveC { return text.sees("[", "NSUUID", "UUID", "]", at: index) }
        return ["UUID", "NSUUID"].contains(text.tokens[index].text)
            && text.sees("(", ")", at: index + 1)
    }
}
