// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Finds background sessions that are made anew at each use, with one identifier.
extension SourceReader {
    /// Reads a computed property, or a function without parameters, that only makes a background
    /// session with a literal identifier: each place that uses what it returns makes another one.
    mutating func readRepeatedSession(_ word: Int) {
        guard !text.isObjectiveC, let maker = sessionMaker(around: word),
            makesOnlySession(word, maker.body)
        else { return }
        let places = text.places(of: maker.name)
        guard places.count <= AuditLimits.headWords else { return }
        let uses = places.filter { usesAnew($0, maker) }
        let functions = Set(uses.compactMap { outerFunction(of: $0)?.open })
        let isEnded = uses.contains { index in
            ["invalidateAndCancel", "finishTasksAndInvalidate"].contains {
                text.sees(".", $0, at: index + (maker.isFunction ? 3 : 1))
            }
        }
        // Of two uses in one function only one may run.
        if functions.count > 1, !isEnded { see(.fault(.sessionMadeAnew), at: maker.place) }
    }

    /// What makes a session each time that it is used.
    private struct SessionMaker {
        let name: String
        let place: Int
        let isFunction: Bool
        let body: Range<Int>
    }

    /// The computed property or the function whose body a token is in, and in nothing else.
    private func sessionMaker(around word: Int) -> SessionMaker? {
        guard let scope = text.scopes(around: word).first(where: { _ in true }) else { return nil }
        let body = text.content(ofBracket: scope.open)
        switch scope.kind {
        case .closure:
            // `var session: URLSession {`
            guard text.sees(":", "URLSession", "{", at: scope.open - 2),
                text.sees("var", at: scope.open - 4), let name = text[scope.open - 3]?.text,
                !modifiers(before: scope.open - 4).contains("static")
            else { return nil }
            return SessionMaker(
                name: name, place: scope.open - 3, isFunction: false, body: body)
        case .function(let head):
            // `func makeSession() -> URLSession {`
            guard head.parameters.isEmpty, text.sees("func", head.name, "(", ")", at: scope.head),
                text.sees("->", "URLSession", "{", at: scope.open - 2),
                scope.open == scope.head + 6,
                !modifiers(before: scope.head).contains("static"),
                text.places(of: head.name).count(where: { text.sees("func", at: $0 - 1) }) == 1
            else { return nil }
            return SessionMaker(
                name: head.name, place: scope.head + 1, isFunction: true, body: body)
        case .control, .type: return nil
        }
    }

    /// Whether a body is settings of a configuration and the making of one session at its end.
    private func makesOnlySession(_ word: Int, _ body: Range<Int>) -> Bool {
        let start = text.sees("return", at: word - 1) ? word - 1 : word
        guard let bracket = sessionBracket(word), text.sees("(", "configuration", ":", at: bracket),
            text.partners[bracket] == body.upperBound - 1
        else { return false }
        let value = bracket + 3
        guard body.lowerBound < start else { return isBackground(value) }
        // Statements before it set up the configuration, which has a name.
        guard let name = text[value], name.isName, text.sees(",", at: value + 1),
            let made = configuration(named: name.text, for: word, body)
        else { return false }
        var index = body.lowerBound
        while index < start {
            let end = text.statementEnd(index, body)
            let isSetting =
                text.sees(name.text, ".", at: index) && text[index + 2]?.isName == true
                && text.sees("=", at: index + 3)
            guard isSetting || index + 1 == made, end > index,
                !(index..<end).contains(where: { text.sees("{", at: $0) || text.sees("??", at: $0) }
                )
            else { return false }
            index = end
            while text.sees(";", at: index) { index += 1 }
        }
        return index == start
    }

    /// The place of the constant with this name that is a background configuration with a literal
    /// identifier: one of the body, or the stored property of the same type.
    private func configuration(named name: String, for word: Int, _ body: Range<Int>) -> Int? {
        let declarations = text.places(of: name).filter { text.sees("let", at: $0 - 1) }
        guard declarations.count == 1, let place = declarations.first,
            text.sees("=", at: place + 1),
            isBackground(place + 2)
        else { return nil }
        let isOfType =
            function(around: place) == nil
            && owner(around: place)?.name == owner(around: word)?.name
        return body.contains(place) || isOfType ? place : nil
    }

    /// Whether a value is a background configuration with a literal identifier:
    /// `.background(withIdentifier: "a")`.
    private func isBackground(_ value: Int) -> Bool {
        var dot = value
        if text.sees("URLSessionConfiguration", at: value) { dot += 1 }
        guard text.sees(".", "background", "(", "withIdentifier", ":", at: dot),
            literalIdentifier(at: dot + 5) != nil
        else { return false }
        return !text.sees(".", at: text.partners[dot + 2] + 1)
    }

    /// Whether a statement only makes the session: `_ = session`, `_ = makeSession()`.
    private func isThrownAway(_ index: Int, _ isOwn: Bool) -> Bool {
        let start = isOwn ? index - 2 : index
        let end = text.sees("(", ")", at: index + 1) ? index + 3 : index + 1
        return text.sees("_", "=", at: start - 2)
            && text[end].map { next in
                next.isMark("}")
                    || next.position.line > text.tokens[index].position.line
                        && !next.isMark(".") && !next.isMark("?")
            } == true
    }

    /// Whether a name is a use of what the maker returns, of which a member is asked for at once:
    /// `session.downloadTask(with: url)`.
    private func usesAnew(_ index: Int, _ maker: SessionMaker) -> Bool {
        let isOwn = text.sees("self", ".", at: index - 2) && !text.sees(".", at: index - 3)
        guard index != maker.place, isOwn || !text.sees(".", at: index - 1), !text.isLabel(index),
            !["func", "let", "var", "case"].contains(where: { text.sees($0, at: index - 1) }),
            owner(around: index)?.name == owner(around: maker.place)?.name,
            maker.isFunction
                ? text.sees("(", ")", ".", at: index + 1) || isThrownAway(index, isOwn)
                : text.sees(".", at: index + 1) || isThrownAway(index, isOwn),
            let (head, body) = function(around: index)
        else { return false }
        // A parameter or a variable has the name too.
        let isHidden =
            head.parameters.contains { $0.name == maker.name }
            || body.contains {
                text.tokens[$0].isName(maker.name)
                    && (text.sees("let", at: $0 - 1) || text.sees("var", at: $0 - 1))
            }
        return isOwn || !isHidden
    }
}
