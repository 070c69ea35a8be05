// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Finds completion handlers of the events of background sessions that another object keeps, and
/// that nothing calls.
extension SourceReader {
    /// A property of another type that an app delegate sets to such a completion handler.
    struct KeptElsewhere: Hashable, Sendable {
        let type: String
        let name: String

        /// The name of the method that sets it in Objective-C.
        var setter: String { "set" + name.prefix(1).uppercased() + name.dropFirst() }
        /// The names by which code can use it.
        var names: Set<String> { [name, "_" + name, setter] }
    }

    /// What a file does with a property that keeps a completion handler.
    enum UseOfKept {
        /// It may read it.
        case reads
        /// It sets it, or does not name it.
        case none
        /// It declares it, and does not read it.
        case declares
    }

    /// Reads that a shared object keeps a completion handler: `Loads.shared.done = handler`,
    /// `[Loads shared].done = handler`, `[[Loads shared] setDone:handler]`.
    mutating func readKeptElsewhere(_ use: Int) {
        guard digest.entries.count < AuditLimits.observationsPerFile,
            let kept = keptElsewhere(use), kept.names.allSatisfy(WordFilter.canFind),
            WordFilter.canFind(kept.type)
        else { return }
        see(.fault(.transferCompletionKeptForNothing), at: use)
        digest.entries[digest.entries.count - 1].keptElsewhere = kept
    }

    private func keptElsewhere(_ use: Int) -> KeptElsewhere? {
        let isCopied = text.sees("[", at: use - 1) && text.sees("copy", "]", at: use + 1)
        let first = isCopied ? use - 1 : use
        let last = isCopied ? use + 2 : use
        if text.isObjectiveC, text.sees(":", at: first - 1), text.sees("]", at: last + 1),
            let setter = text[first - 2]?.text, setter.hasPrefix("set"), setter.count > 3,
            text.sees("[", "[", at: first - 7), let type = sharedType(endingAt: first - 3)
        {
            let name = setter.dropFirst(3)
            return KeptElsewhere(
                type: type, name: name.prefix(1).lowercased() + name.dropFirst())
        }
        guard text.sees("=", at: first - 1), let name = text[first - 2], name.isName,
            text.sees(".", at: first - 3),
            let type = sharedType(endingAt: first - 4) ?? typeOfProperty(at: first - 4)
                ?? typeOfLocal(at: first - 4)
        else { return nil }
        return KeptElsewhere(type: type, name: name.text)
    }

    /// The type of the property of this file that a token names, by its only declaration there:
    /// `let loads = Loads()`, `lazy var loads = Loads.shared`, `let loads: Loads`.
    private func typeOfProperty(at index: Int) -> String? {
        guard !text.isObjectiveC, let name = text[index], name.isName,
            !text.sees(".", at: index - 1) || text.sees("self", ".", at: index - 2)
        else { return nil }
        let declarations = text.places(of: name.text).filter {
            text.sees("let", at: $0 - 1) || text.sees("var", at: $0 - 1)
        }
        guard declarations.count == 1, let place = declarations.first,
            function(around: place) == nil,
            text.sees("=", at: place + 1) || text.sees(":", at: place + 1),
            let type = text[place + 2], type.isName, type.text.first?.isUppercase == true,
            text.sees(":", at: place + 1) || text.sees("(", at: place + 3)
                || text.sees(".", "shared", at: place + 3)
        else { return nil }
        return type.text
    }

    /// The type of the shared object that a local name stands for: `let loads = Loads.shared`,
    /// `Loads *loads = [Loads shared];`.
    private func typeOfLocal(at index: Int) -> String? {
        guard let name = text[index], name.isName, !text.sees(".", at: index - 1),
            let (_, body) = function(around: index)
        else { return nil }
        let places = text.places(of: name.text, in: body)
        guard let place = places.first, place < index, text.sees("=", at: place + 1),
            !places.dropFirst().contains(where: { text.sees("=", at: $0 + 1) })
        else { return nil }
        if text.isObjectiveC {
            guard text.sees("*", at: place - 1), text.sees("[", at: place + 2),
                text.sees(";", at: place + 6), let type = sharedType(endingAt: place + 5),
                text.sees(type, at: place - 2)
            else { return nil }
            return type
        }
        guard text.sees("let", at: place - 1), !text.sees(".", at: place + 5) else { return nil }
        return sharedType(endingAt: place + 4)
    }

    /// The type of a shared object whose expression ends at a token: `Loads.shared`,
    /// `[Loads shared]`, `Loads.shared()`.
    private func sharedType(endingAt end: Int) -> String? {
        if text.isObjectiveC, text.sees("]", at: end) {
            guard text.partners[end] == end - 3 else { return nil }
        } else {
            guard text.sees(".", at: end - 1), text[end]?.isName == true,
                !text.sees(".", at: end - 3)
            else { return nil }
        }
        guard let name = text[end - 2], name.isName, name.text.first?.isUppercase == true else {
            return nil
        }
        return name.text
    }

    /// What this file does with a property of another type.
    func use(of kept: KeptElsewhere) -> UseOfKept {
        var use = UseOfKept.none
        for index in text.tokens.indices {
            let token = text.tokens[index]
            if token.isString, mayBeKey(token.text, of: kept.names) { return .reads }
            guard token.isName, kept.names.contains(token.text) else { continue }
            if declaresProperty(index), isProperty(index, of: kept.type) {
                use = .declares
            } else if !(setsToNone(index) || setsToCompletion(index) || text.isLabel(index)
                || onlyAsks(index) || isCopiedForNothing(index))
            {
                return .reads
            }
        }
        return use
    }

    /// Whether a property is one of a class that no other code knows by a protocol.
    private func isProperty(_ index: Int, of type: String) -> Bool {
        guard text.isObjectiveC else { return text.type(around: index)?.name == type }
        guard declaringType(of: index) == type,
            let interface = text.places(of: "interface").last(where: { $0 < index })
        else { return false }
        // `@interface Loads () {`, `@interface Loads : NSObject <NSURLSessionDownloadDelegate>`
        if text.sees("(", ")", at: interface + 2) { return true }
        guard text.sees(":", at: interface + 2),
            text.sees("NSObject", at: interface + 3) || text.sees("UIResponder", at: interface + 3)
        else { return false }
        guard text.sees("<", at: interface + 4) else { return true }
        return text.tokens[(interface + 5)...].prefix { !$0.isMark(">") }.allSatisfy { token in
            token.isMark(",") || token.text.hasPrefix("NSURLSession")
                || token.isName("UIApplicationDelegate")
        }
    }

    /// Whether a use sets a property to nothing: `self.done = nil`, `[self setDone:nil]`.
    private func setsToNone(_ index: Int) -> Bool {
        let value =
            text.sees("=", at: index + 1) || text.sees(":", at: index + 1) ? text[index + 2] : nil
        return value.map { ["nil", "NULL"].contains($0.text) } == true
            && !text.sees("?", at: index + 3)
    }

    /// Whether a use sets a property to the completion handler of such events.
    private func setsToCompletion(_ index: Int) -> Bool {
        guard let (head, _) = function(around: index),
            head.has("handleEventsForBackgroundURLSession"),
            let completion = head.parameters.first(where: { $0.label == "completionHandler" }),
            text.sees("=", at: index + 1)
                || text.isObjectiveC && text.sees(":", at: index + 1)
        else { return false }
        return text.sees(completion.name, at: index + 2)
            || text.sees("[", completion.name, "copy", "]", at: index + 2)
    }

    /// Whether code only asks whether a name stands for something: `done == nil`, `if (done) {`.
    func onlyAsks(_ index: Int) -> Bool {
        if text.sees("==", "nil", at: index + 1) || text.sees("!=", "nil", at: index + 1) {
            return true
        }
        return text.isObjectiveC && text.sees("if", "(", at: ownStart(of: index) - 2)
            && text.sees(")", at: index + 1)
    }

    /// The start of the expression for an own property: `done`, `self.done`.
    private func ownStart(of index: Int) -> Int {
        text.sees("self", ".", at: index - 2) ? index - 2 : index
    }

    /// Whether a property is read only for a local name that nothing calls: `let end = done`,
    /// `void (^end)(void) = self.done;`.
    private func isCopiedForNothing(_ index: Int) -> Bool {
        let start = ownStart(of: index)
        guard text.sees("=", at: start - 1), let (_, body) = function(around: index),
            let place = text.isObjectiveC
                ? copiedBlock(before: start, index) : copiedName(before: start, index),
            let name = text[place]
        else { return false }
        return text.places(of: name.text, in: body).allSatisfy { $0 == place || onlyAsks($0) }
    }

    private func copiedName(before start: Int, _ index: Int) -> Int? {
        guard text.sees("let", at: start - 3), let next = text[index + 1],
            next.isMark("}") || next.position.line > text.tokens[index].position.line,
            !["if", "guard", "while", ","].contains(where: { text.sees($0, at: start - 4) }),
            ![".", "?", "(", "??"].contains(where: next.isMark)
        else { return nil }
        return start - 2
    }

    private func copiedBlock(before start: Int, _ index: Int) -> Int? {
        guard text.sees(";", at: index + 1), text.sees(")", at: start - 2) else { return nil }
        let open = text.partners[start - 2]
        return text.sees(")", at: open - 1) && text.sees("^", at: open - 3) ? open - 2 : nil
    }

    /// Whether a literal may be the key of a property: `done`, `loads.done`. One with a blank is
    /// none.
    func mayBeKey(_ literal: String, of names: Set<String>) -> Bool {
        let isKey = literal.utf8.allSatisfy { letter in
            letter > 0x20 && letter < 0x7f && letter != UInt8(ascii: "/")
        }
        return isKey && names.contains(where: literal.contains)
    }
}
