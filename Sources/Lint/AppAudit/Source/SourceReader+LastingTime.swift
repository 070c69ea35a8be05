// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Finds time in the background that only its own expiration handler ends.
extension SourceReader {
    /// Reads time whose identifier nothing but its expiration handler uses: `id =
    /// app.beginBackgroundTask { app.endBackgroundTask(id) }`. Returns whether it is so.
    mutating func readLastingTime(_ begin: Int, _ name: String) -> Bool {
        guard let (_, body) = function(around: begin), endsOnlyByExpiration(begin, name, body)
        else { return false }
        see(.fault(.assertionEndedByExpiration), at: begin)
        digest.hasLastingTime = true
        if let timer = lastingTimer(behind: begin, in: body) {
            see(.fault(.timerInLastingTime), at: timer)
        }
        return true
    }

    /// Whether each place of an identifier in this file is the declaration, the setting, a use in
    /// the expiration handler that ends the time, or a comparison.
    private func endsOnlyByExpiration(_ begin: Int, _ name: String, _ body: Range<Int>) -> Bool {
        guard let handler = assertionExpiration(begin) else { return false }
        guard handler.contains(where: isEndOfTime),
            handler.contains(where: { text.tokens[$0].isName(name) })
        else { return false }
        var declaration: Int?
        var uses: [Int] = []
        // What other functions call by that name is another one than a local variable.
        let own = text.places(of: name, in: body)
        // One of so many uses is not the only one.
        guard own.count <= AuditLimits.headWords else { return false }
        let isLocal = own.contains { isPlainDeclaration($0, in: body) }
        let literals =
            notes.literals
            ?? text.tokens.compactMap { token in
                if case .string(isInterpolated: false) = token.kind { token.text } else { nil }
            }
        notes.literals = literals
        guard isLocal || !literals.contains(where: { $0.contains(name) }) else { return false }
        let places = isLocal ? own : text.places(of: name)[...]
        guard places.count <= AuditLimits.headWords else { return false }
        for word in places {
            if isPlainDeclaration(word, in: body) {
                guard declaration == nil else { return false }
                declaration = word
                continue
            }
            guard handler.contains(word) || isComparedWithInvalid(word) || isSet(word, by: begin)
            else { return false }
            uses.append(word)
        }
        guard let declaration else { return false }
        guard !body.contains(declaration) else {
            return !uses.contains { text.sees(".", at: $0 - 1) }
        }
        let ofOthers = uses.filter { !handler.contains($0) && text.sees(".", at: $0 - 1) }
        return ofOthers.allSatisfy { text.sees("self", ".", at: $0 - 2) }
            && text.type(around: declaration)?.name == text.type(around: begin)?.name
    }

    /// Whether a name is compared with an invalid identifier, or with none.
    func isComparedWithInvalid(_ word: Int) -> Bool {
        ["==", "!="].contains { text.sees($0, at: word + 1) }
            && (namesInvalid(word + 2) || text.sees("nil", at: word + 2))
    }

    /// Whether a name is set to the result of a call of `beginBackgroundTask`.
    func isSet(_ word: Int, by begin: Int) -> Bool {
        let line = text.tokens[begin].position.line
        return text.sees("=", at: word + 1) && word < begin
            && text.tokens[word].position.line == line
            && !(word..<begin).contains { ["{", "}", ";"].contains(where: text.tokens[$0].isMark) }
    }

    /// Whether a name is declared as a local variable of a function, or as a private stored
    /// property that nothing wraps or observes.
    func isPlainDeclaration(_ word: Int, in body: Range<Int>) -> Bool {
        if text.isObjectiveC {
            return body.contains(word) && text.sees("UIBackgroundTaskIdentifier", at: word - 1)
                && (text.sees(";", at: word + 1) || text.sees("=", at: word + 1))
                && ["__block", "{", "}", ";"].contains(text[word - 2]?.text)
        }
        guard text.sees("var", at: word - 1) || text.sees("let", at: word - 1) else { return false }
        let isLocal = body.contains(word)
        guard isPlainStorage(word, isLocal: isLocal) else { return false }
        // `@Wrapper var id`, `@Wrapper(1) private var id`
        let start = isLocal ? word - 1 : word - 2
        let line = text.tokens[word].position.line
        let isWrapped =
            text.sees("@", at: start - 2)
            || text.sees(")", at: start - 1) && text.sees("@", at: text.partners[start - 1] - 2)
        if isLocal || isWrapped { return !isWrapped }
        return text.sees("private", at: start) && text.type(around: word) != nil
            && !(0..<start).reversed().prefix { text.tokens[$0].position.line >= line - 1 }
                .contains { text.tokens[$0].isMark("@") }
    }

    /// Whether the declaration of a variable sets it to no identifier, or a local one to any, and
    /// nothing observes or computes it.
    func isPlainStorage(_ word: Int, isLocal: Bool = false) -> Bool {
        var end = word + 1
        if text.sees(":", "UIBackgroundTaskIdentifier", at: end) { end += 2 }
        if text.sees("?", at: end) || text.sees("!", at: end) { end += 1 }
        if text.sees("=", at: end) {
            end += 1
            if text.sees("nil", at: end) {
                end += 1
            } else if namesInvalid(end) {
                while text[end]?.text != "invalid", !text.sees("UIBackgroundTaskInvalid", at: end) {
                    end += 1
                }
                end += 1
            } else {
                // `var id = app.beginBackgroundTask { … }`
                return isLocal
            }
        }
        // A block behind it observes it or computes it.
        return !text.sees("{", at: end) && !text.sees(",", at: end) && !text.sees(".", at: end)
    }

    /// Whether it is a call of `endBackgroundTask` with an identifier.
    func isEndOfTime(_ index: Int) -> Bool {
        guard text.tokens[index].isName("endBackgroundTask"), isCall(index),
            !namesInvalid(index + 2)
        else { return false }
        return text.isObjectiveC || !text.content(ofBracket: index + 1).isEmpty
    }

    /// The first repeating timer or endless loop behind the begin of such time, if this file and
    /// no other could stop it, and only the user makes it do so.
    private func lastingTimer(behind begin: Int, in body: Range<Int>) -> Int? {
        let handler = assertionExpiration(begin)
        let timer = (begin..<body.upperBound).first { index in
            handler?.contains(index) != true && isRepeatingTimer(index)
        }
        guard let timer else { return nil }
        let isStopped = ["invalidate", "cancel"].flatMap { text.places(of: $0) }.contains { stop in
            guard isCall(stop) || text.sees("]", at: stop + 1) else { return false }
            return outerFunction(of: stop).map { function in
                let result = text.tokens[function.head..<function.open]
                return modifiers(before: function.head).contains("IBAction")
                    || result.contains { $0.isName("IBAction") }
            } != true
        }
        guard !isStopped else { return nil }
        let line = text.tokens[timer].position.line
        let equals = (body.lowerBound..<timer).reversed()
            .prefix { text.tokens[$0].position.line == line }
            .first { text.tokens[$0].isMark("=") }
        guard let equals, let name = variable(before: equals) else { return timer }
        let isLocal =
            text.sees("let", at: equals - 2) || text.sees("var", at: equals - 2)
            || text.sees("*", at: equals - 2)
        return isLocal || isPrivate(name) ? timer : nil
    }

    private func isPrivate(_ name: String) -> Bool {
        text.places(of: name).contains { place in
            text.sees("var", at: place - 1)
                && !modifiers(before: place - 1).isDisjoint(with: ["private", "fileprivate"])
        }
    }

    private func isRepeatingTimer(_ index: Int) -> Bool {
        switch text.tokens[index].text {
        case "scheduledTimer", "scheduledTimerWithTimeInterval":
            guard startsTimer(index) else { return false }
            let open = message(around: index) ?? index + 1
            let arguments = text.content(ofBracket: open)
            let isRepeated = arguments.contains { word in
                ["true", "YES"].contains { text.sees("repeats", ":", $0, at: word) }
            }
            return isRepeated && keepsTimer(from: arguments)
        case "publish", "sleep", "sleepForTimeInterval": return startsTimer(index)
        default: return false
        }
    }

    /// Whether a timer with these arguments has a block that does not use the timer, which it could
    /// stop.
    private func keepsTimer(from arguments: Range<Int>) -> Bool {
        if text.isObjectiveC {
            guard let block = arguments.first(where: { text.sees("^", "(", at: $0) }),
                let name = text[text.partners[block + 1] - 1]?.text
            else { return false }
            return arguments.filter { text.tokens[$0].isName(name) }.count == 1
        }
        let block = arguments.upperBound + 1
        return text.sees("{", at: block)
            && (block..<block + 8).contains { text.sees("_", "in", at: $0) }
    }
}
