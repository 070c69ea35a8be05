// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Finds time in the background that only its expiration handler ends, where the handler calls a
/// function that does so, or other files could use the identifier.
extension SourceReader {
    /// Reads time whose identifier a property keeps: `self.id = app.beginBackgroundTask {
    /// self.end() }`, where nothing else calls `end`.
    mutating func readKeptTime(_ begin: Int, _ name: String) {
        guard let handler = assertionExpiration(begin),
            // So many are of many tasks.
            text.places(of: text.tokens[begin].text).count <= AuditLimits.headWords,
            // An app that ends itself keeps no time.
            !text.places(of: "exit").contains(where: { text.sees("(", at: $0 + 1) })
        else { return }
        var others = SourceDigest.OtherUses()
        let helpers = helpers(ofExpiration: handler, &others)
        let ends = [handler] + helpers
        let names = identifierNames(name)
        guard ends.contains(where: { $0.contains(where: isEndOfTime) }),
            ends.contains(where: { $0.contains { names.contains(text.tokens[$0].text) } }),
            areUsedOnly(names, in: ends, begin, &others)
        else { return }
        see(.fault(.assertionEndedByExpiration), others, at: begin)
        digest.hasLastingTime = true
    }

    /// Reads time whose identifier a property keeps, and nothing of this file uses but to compare
    /// it. Returns whether it is so.
    mutating func readUnendedTime(_ begin: Int, _ name: String) -> Bool {
        var others = SourceDigest.OtherUses()
        guard areUsedOnly(identifierNames(name), in: [], begin, &others) else { return false }
        if text.places(of: SourceDigest.OtherUses.endOfTime).isEmpty {
            others.absent = [SourceDigest.OtherUses.endOfTime]
        }
        see(.fault(.assertionNeverEnded), others, at: begin)
        digest.hasLastingTime = true
        return true
    }

    /// Records an observation that is true unless other files use some words.
    mutating func see(
        _ subject: SourceObservation.Subject, _ others: SourceDigest.OtherUses, at index: Int
    ) {
        let count = digest.entries.count
        see(subject, at: index)
        guard digest.entries.count > count, !others.isEmpty else { return }
        digest.entries[count].others = others
    }

    /// The names of a property: in Objective-C also those of its variable and its setter.
    func identifierNames(_ name: String) -> Set<String> {
        guard text.isObjectiveC else { return [name] }
        let plain = name.hasPrefix("_") ? String(name.dropFirst()) : name
        return [plain, "_" + plain, "set" + plain.prefix(1).uppercased() + plain.dropFirst()]
    }

    /// The bodies of the functions that end time and that only an expiration handler, or they
    /// themselves, can call.
    private func helpers(
        ofExpiration handler: Range<Int>, _ others: inout SourceDigest.OtherUses
    ) -> [Range<Int>] {
        var found: [Range<Int>] = []
        for word in handler where isCall(word) {
            guard let helper = calledFunction(word) ?? functionOfSelf(word),
                case .function(let head) = helper.kind
            else { continue }
            let own = text.content(ofBracket: helper.open)
            guard !own.isEmpty, !found.contains(own), own.contains(where: isEndOfTime),
                !isShownToObjectiveC(helper),
                callers(of: helper.head) == [head.name], !isNamedInText([head.name]),
                (uses[head.name] ?? []).allSatisfy({ handler.contains($0) || own.contains($0) })
            else { continue }
            if modifiers(before: helper.head).isDisjoint(with: ["private", "fileprivate"]) {
                others.ends.insert(head.name)
            }
            found.append(own)
        }
        return found
    }

    /// The function of this file that a message to a variable for `self` reaches: `[weakSelf end]`.
    private func functionOfSelf(_ word: Int) -> SourceScope? {
        guard text.isObjectiveC, text.sees("[", at: word - 2), let receiver = text[word - 1],
            let body = outerFunction(of: word).map({ text.content(ofBracket: $0.open) }),
            standsForSelf(receiver.text, in: body),
            let function = onlyFunction(text.tokens[word].text),
            owner(around: function.head)?.name == owner(around: word)?.name
        else { return nil }
        return function
    }

    /// Whether a name is a variable that is set once, and to `self`:
    /// `__weak typeof(self) weakSelf = self;`.
    private func standsForSelf(_ name: String, in body: Range<Int>, depth: Int = 0) -> Bool {
        let settings = text.places(of: name, in: body).filter { text.sees("=", at: $0 + 1) }
        guard depth < 3, settings.count == 1, let setting = settings.first,
            text.sees(";", at: setting + 3), let value = text[setting + 2], value.isName
        else { return false }
        return value.isName("self") || standsForSelf(value.text, in: body, depth: depth + 1)
    }

    /// Whether a function is one of a type or an extension that Objective-C sees, where it has
    /// another name: `@objc extension A {`.
    func isShownToObjectiveC(_ function: SourceScope) -> Bool {
        text.scopes(around: function.head).contains { scope in
            guard case .type = scope.kind else { return false }
            return !modifiers(before: scope.head).isDisjoint(with: ["objc", "objcMembers"])
        }
    }

    /// Whether a literal of the file has a name, with which it may be reached.
    func isNamedInText(_ names: Set<String>) -> Bool {
        let literals = notes.nameLiterals ?? nameLiterals
        notes.nameLiterals = literals
        return !literals.parts.isDisjoint(with: names)
            || literals.interpolated.contains { literal in names.contains(where: literal.contains) }
    }

    /// The parts of the literals of the file between dots, and those with values in them.
    private var nameLiterals: (parts: Set<String>, interpolated: [String]) {
        text.tokens.reduce(into: ([], [])) { literals, token in
            guard case .string(let isInterpolated) = token.kind else { return }
            if isInterpolated {
                literals.interpolated.append(token.text)
            } else {
                literals.parts.formUnion(token.text.split(separator: ".").map(String.init))
            }
        }
    }

    /// Whether each place of a property in this file is its declaration, its setting by a call, a
    /// use in these ranges, a comparison, or a setting to nothing.
    private func areUsedOnly(
        _ names: Set<String>, in ends: [Range<Int>], _ begin: Int,
        _ others: inout SourceDigest.OtherUses
    ) -> Bool {
        let places = names.flatMap { text.places(of: $0) }
        // One of so many uses is not the only one.
        guard names.allSatisfy(WordFilter.canFind), places.count <= AuditLimits.headWords else {
            return false
        }
        var isPrivate = false
        var declarations = 0
        for word in places where !ends.contains(where: { $0.contains(word) }) {
            if text.isObjectiveC {
                if isVariable(word, among: names) { continue }
            } else if text.sees("var", at: word - 1) || text.sees("let", at: word - 1) {
                guard isOpenProperty(word),
                    text.type(around: word)?.name == text.type(around: begin)?.name
                else { return false }
                declarations += 1
                isPrivate =
                    !modifiers(before: word - 1).isDisjoint(with: ["private", "fileprivate"])
                    && !text.sees(")", at: word - 2)
                continue
            }
            // The property of another object.
            if text.sees(".", at: word - 1), !text.sees("self", at: word - 2) { return false }
            guard isComparedWithInvalid(word) || isSet(word, by: begin) || isSetToNothing(word)
            else { return false }
        }
        guard text.isObjectiveC || declarations == 1, !isNamedInText(names) else { return false }
        if !isPrivate { others.identifiers = names }
        return true
    }

    /// Whether a name is set to the invalid identifier, or to none.
    func isSetToNothing(_ word: Int) -> Bool {
        guard text.sees("=", at: word + 1) else { return false }
        return namesInvalid(word + 2) || text.sees("nil", at: word + 2)
    }

    /// Whether a name of Objective-C is a variable or a property outside of functions:
    /// `UIBackgroundTaskIdentifier id;`, `@synthesize id = _id;`, where both names are known ones.
    private func isVariable(_ word: Int, among names: Set<String>) -> Bool {
        guard function(around: word) == nil else { return false }
        if text.sees("UIBackgroundTaskIdentifier", at: word - 1) {
            return text.sees(";", at: word + 1) || text.sees("=", at: word + 1)
        }
        let first = text.sees("=", at: word - 1) ? word - 2 : word
        guard text.sees("synthesize", at: first - 1) else { return false }
        return text.sees(";", at: first + 1)
            || text.sees("=", at: first + 1) && text.sees(";", at: first + 3)
                && [first, first + 2].allSatisfy { names.contains(text.tokens[$0].text) }
    }

    /// Whether a stored property of a type is declared that nothing wraps or observes, and that no
    /// other module can use.
    func isOpenProperty(_ word: Int) -> Bool {
        guard text.sees("var", at: word - 1), function(around: word) == nil,
            text.type(around: word) != nil, isPlainStorage(word),
            modifiers(before: word - 1).isSubset(of: Self.plainStorage)
        else { return false }
        // `@A.B(1)` is on the line before, or on the same one.
        let line = text.tokens[word].position.line
        return !(0..<word).reversed().prefix { text.tokens[$0].position.line >= line - 1 }
            .contains { text.tokens[$0].isMark("@") }
    }

    private static let plainStorage: Set = [
        "private", "fileprivate", "internal", "static", "class", "final", "nonisolated",
    ]
}
