// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Reads background sessions that only a further transfer makes.
extension SourceReader {
    /// A lazy property that keeps a background session.
    struct LazySession: Hashable, Sendable {
        /// The functions of its file that do not reach the session.
        var others: Set<String>
        /// Those that begin a transfer in it, and what calls them in the file.
        var starters: Set<String>
    }

    private static let starts: Set = [
        "downloadTask", "uploadTask", "dataTask", "invalidateAndCancel",
        "finishTasksAndInvalidate",
    ]

    /// Reads `private lazy var session: URLSession = { … background(withIdentifier: …) … }()`, if
    /// all that its file does with it is to begin transfers: when iOS launches the app for the
    /// events of the session, nothing makes it.
    mutating func readLazySessions() {
        guard !text.isObjectiveC else { return }
        for index in text.places(of: "lazy").prefix(AuditLimits.lazySessions) {
            guard text.sees("var", at: index + 1), let name = text[index + 2], name.isName,
                !modifiers(before: index).isDisjoint(with: ["private", "fileprivate"]),
                !text.tokens[index].isConditional, makesBackgroundSession(index + 3),
                let session = lazySession(named: name.text, declaredAt: index + 2)
            else { continue }
            let known = digest.entries.count
            see(.fault(.sessionMadeByTransfers), at: index + 2)
            guard digest.entries.count > known else { return }
            digest.entries[known].lazySession = session
        }
    }

    /// Whether the initial value of a property, whose name is before a token, is a background
    /// session: a closure that makes one, or a function of this file that does.
    private func makesBackgroundSession(_ index: Int) -> Bool {
        let end = text.statementEnd(index, index..<text.tokens.count)
        guard let equals = (index..<end).first(where: { text.sees("=", at: $0) }) else {
            return false
        }
        if text.sees("{", at: equals + 1) {
            return makesBackgroundSession(in: text.content(ofBracket: equals + 1))
        }
        let call = text.sees("self", ".", at: equals + 1) ? equals + 3 : equals + 1
        guard let maker = text[call], text.sees("(", ")", at: call + 1),
            let function = functions[maker.text]
        else { return false }
        return makesBackgroundSession(in: text.content(ofBracket: function.open))
    }

    private func makesBackgroundSession(in body: Range<Int>) -> Bool {
        body.contains { text.sees("background", "(", "withIdentifier", ":", at: $0) }
            && body.contains { text.sees("delegate", ":", "self", at: $0) }
    }

    /// What the functions of this file do with a property; `nil` if they do more than to begin
    /// transfers, or may.
    private func lazySession(named name: String, declaredAt place: Int) -> LazySession? {
        var starters: Set<String> = []
        for index in text.places(of: name) where index != place && !text.isLabel(index) {
            // `func urlSession(_ session: URLSession, …)`
            if text.sees(":", "URLSession", at: index + 1) { continue }
            let isOwn = text.sees("self", ".", at: index - 2)
            let heads = functions(around: index)
            if !isOwn, heads.contains(where: { $0.parameters.contains { $0.name == name } }) {
                continue
            }
            guard isOwn || !text.sees(".", at: index - 1), let function = heads.last,
                text.sees(".", at: index + 1), let member = text[index + 2],
                Self.starts.contains(member.text)
            else { return nil }
            starters.insert(function.name)
        }
        guard !starters.isEmpty else { return nil }
        // What calls them in this file begins transfers too.
        var left = starters
        while let starter = left.popFirst() {
            for index in text.places(of: starter) where !text.sees("func", at: index - 1) {
                if text.isLabel(index) { continue }
                guard isCall(index), let caller = functions(around: index).last else { return nil }
                if starters.insert(caller.name).inserted { left.insert(caller.name) }
            }
        }
        guard !starters.contains("init"), !starters.contains(where: Self.goesOn) else { return nil }
        return LazySession(others: Set(functions.keys).subtracting(starters), starters: starters)
    }

    /// The functions around a token, the innermost first.
    private func functions(around index: Int) -> [SourceScope.FunctionHead] {
        text.scopes(around: index).compactMap { scope in
            if case .function(let head) = scope.kind { head } else { nil }
        }
    }

    /// The functions that name one of some others; `nil` if something else may call one.
    func functions(naming names: Set<String>) -> Set<String>? {
        var found: Set<String> = []
        for name in names {
            for index in text.places(of: name) where !text.sees("func", at: index - 1) {
                guard let function = functions(around: index).last else { return nil }
                found.insert(function.name)
            }
        }
        return found
    }

    /// Whether a function may run at each launch, by its name: it goes on with transfers that were
    /// left.
    private static func goesOn(_ name: String) -> Bool {
        let words: Set = [
            "resume", "restore", "retry", "pending", "reconnect", "recover", "sync", "process",
            "next", "drain", "flush", "queue", "configure", "setup", "prepare", "launch", "all",
        ]
        return !words.isDisjoint(with: nameParts(name))
    }

    /// The functions that a handler of a session's events calls; `nil` if it may make the session
    /// itself, or what it does is not known.
    func calls(ofHandler scope: SourceScope, completion: String) -> Set<String>? {
        let body = text.content(ofBracket: scope.open)
        guard text.places(of: "URLSession", in: body).isEmpty,
            text.places(of: "URLSessionConfiguration", in: body).isEmpty
        else { return nil }
        var names: Set<String> = []
        for index in body where isCall(index) && text.tokens[index].text != completion {
            let name = text.tokens[index].text
            if ["Task", "async"].contains(name) { continue }
            // An object that it makes may make the session.
            guard name.first?.isLowercase == true else { return nil }
            if !isIdleCall(index) { names.insert(name) }
        }
        return names
    }
}
