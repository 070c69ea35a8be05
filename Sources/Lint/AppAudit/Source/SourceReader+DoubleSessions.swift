// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Finds background sessions that a function makes for itself, beside one that is kept with the
/// same identifier.
extension SourceReader {
    /// The messages that end a session.
    private static let sessionEnds = ["invalidateAndCancel", "finishTasksAndInvalidate"]

    /// Reads a session that a function makes, uses for a task, and forgets: `let s = URLSession(…`,
    /// `NSURLSession *s = [NSURLSession sessionWithConfiguration:…`. The same file keeps another
    /// one with the same identifier.
    mutating func readDoubleSession(_ word: Int) {
        guard let made = localSession(at: word), isAmongFirstSessions,
            Self.sessionEnds.allSatisfy({ text.places(of: $0).isEmpty }),
            isForgotten(made.name, behind: word, made.function),
            let identifier = identifier(of: made.configuration, made.function),
            let type = owner(around: word)?.name,
            backgroundConfigurations.contains(where: { other in
                !(made.function.open..<made.function.close).contains(other)
                    && literalIdentifier(at: identifierPlace(other)) == identifier
                    && owner(around: other)?.name == type && isKept(other)
            })
        else { return }
        see(.fault(.sessionMadeAnew), at: word)
    }

    /// Whether few sessions were compared: each of them is with all configurations.
    private var isAmongFirstSessions: Bool {
        notes.localSessions += 1
        return notes.localSessions <= AuditLimits.beginsPerFunction
    }

    /// A session that a function keeps in a local name.
    private struct LocalSession {
        let name: String
        let function: SourceScope
        /// The tokens of its configuration.
        let configuration: Range<Int>
    }

    private func localSession(at word: Int) -> LocalSession? {
        let start: Int
        let value: Range<Int>
        if text.isObjectiveC {
            start = word - 2
            guard text.sees("[", "NSURLSession", "sessionWithConfiguration", ":", at: start),
                text.sees("NSURLSession", "*", at: start - 4), text.sees("=", at: start - 1),
                let argument = text.call(inBracket: start)?.arguments.first
            else { return nil }
            value = argument.range
        } else {
            start = word
            guard let bracket = sessionBracket(word),
                text.sees("(", "configuration", ":", at: bracket), text.sees("=", at: start - 1),
                text.sees("let", at: start - 3),
                let argument = text.call(at: bracket - 1)?.arguments.first
            else { return nil }
            value = argument.range.lowerBound + 2..<argument.range.upperBound
        }
        // Under a condition there may be no other session yet.
        guard let name = text[start - 2], name.isName,
            let scope = text.scopes(around: word).first(where: { _ in true }),
            case .function(let head) = scope.kind, head.name != "init",
            !head.name.hasPrefix("initWith"),
            text.places(of: "return", in: scope.open..<word).isEmpty
        else { return nil }
        return LocalSession(name: name.text, function: scope, configuration: value)
    }

    /// Whether all that a function does with a session is to send it messages, and one starts a
    /// task.
    private func isForgotten(_ name: String, behind word: Int, _ function: SourceScope) -> Bool {
        let uses = text.places(of: name, in: word..<function.close)
        let starts = ["dataTask", "downloadTask", "uploadTask"]
        func message(_ use: Int) -> String? {
            if text.isObjectiveC { return text.sees("[", at: use - 1) ? text[use + 1]?.text : nil }
            return text.sees(".", at: use + 1) && !text.sees(".", at: use - 1)
                ? text[use + 2]?.text : nil
        }
        let messages = uses.map(message)
        return messages.allSatisfy { $0 != nil }
            && messages.contains { name in starts.contains { name?.hasPrefix($0) == true } }
    }

    /// The places of the words that make background configurations.
    private var backgroundConfigurations: ArraySlice<Int> {
        let places =
            text.isObjectiveC
            ? text.places(of: "backgroundSessionConfigurationWithIdentifier")
            : text.places(of: "background").filter {
                text.sees("(", "withIdentifier", ":", at: $0 + 1)
            }
        return places.prefix(AuditLimits.beginsPerFunction)
    }

    private func identifierPlace(_ configuration: Int) -> Int {
        configuration + (text.isObjectiveC ? 2 : 4)
    }

    /// The identifier of a configuration: one that is made here, or a constant of the function.
    private func identifier(of value: Range<Int>, _ function: SourceScope) -> String? {
        var value = value
        if value.count == 1, let name = text[value.lowerBound], name.isName {
            let places = text.places(of: name.text, in: function.open..<function.close)
            let sets = places.filter { text.sees("=", at: $0 + 1) }
            let keyword = text.isObjectiveC ? "*" : "let"
            guard sets.count == 1, let set = sets.first, text.sees(keyword, at: set - 1),
                text.scopes(around: set).first(where: { _ in true })?.open == function.open
            else { return nil }
            value = set + 2..<text.statementEnd(set, set..<function.close)
        }
        let makers = backgroundConfigurations.filter(value.contains)
        guard makers.count == 1, let maker = makers.first,
            text.isObjectiveC
                ? text.sees("[", "NSURLSessionConfiguration", at: value.lowerBound)
                    && maker == value.lowerBound + 2
                : maker <= value.lowerBound + 2
        else { return nil }
        return literalIdentifier(at: identifierPlace(maker))
    }

    /// The identifier at a token: a literal, or a constant of this file that is one.
    func literalIdentifier(at index: Int) -> String? {
        let start = text.isObjectiveC && text.sees("@", at: index) ? index + 1 : index
        switch ConstantExpression(at: start, in: text) {
        case .literal(let value): return value
        case .reference(let reference):
            if let known = notes.literalConstants[reference.name] { return known }
            let literal = literal(named: reference.name)
            notes.literalConstants[reference.name] = .some(literal)
            return literal
        case .unknown: return nil
        }
    }

    /// The literal that the only constant of this file with a name is.
    private func literal(named name: String) -> String? {
        let sets = text.places(of: name).filter { place in
            text.sees("=", at: place + 1) || text.sees(":", "String", "=", at: place + 1)
                || text.sees("{", at: place + 1) || text.sees(":", "String", "{", at: place + 1)
        }
        guard sets.count == 1, let set = sets.first, function(around: set) == nil else {
            return nil
        }
        let isConstant =
            text.isObjectiveC
            ? text.sees("const", at: set - 1) : text.sees("let", at: set - 1)
        var value = text.sees("=", at: set + 1) ? set + 2 : set + 4
        if text.isObjectiveC, text.sees("@", at: value) { value += 1 }
        guard isConstant, let token = text[value],
            case .string(isInterpolated: false) = token.kind,
            text[value + 1].map({ next in
                next.isMark(";") || next.isMark("}")
                    || next.position.line > token.position.line && next.isName
                    || next.isMark("@")
            }) ?? true
        else { return nil }
        return token.text
    }

    /// Whether a session with this configuration is certainly made when its object is: in its
    /// initializer, or for a property that another place uses.
    private func isKept(_ configuration: Int) -> Bool {
        var place = configuration
        var body: Range<Int>?
        for scope in text.scopes(around: configuration) {
            let content = text.content(ofBracket: scope.open)
            switch scope.kind {
            case .function(let head):
                guard ["init", "commonInit"].contains(head.name) else { return false }
                body = content
            case .closure:
                guard text.sees("=", at: scope.open - 1) else { return false }
                place = scope.open
                body = content
            case .control(let keyword):
                // `if (self = [super init]) {`
                guard keyword == "if",
                    text.places(of: "self", in: scope.head..<scope.open).count > 0
                else { return false }
                continue
            case .type: break
            }
            break
        }
        guard let body else {
            // `lazy var session = URLSession(configuration: .background(…), …)`
            return isUsedProperty(before: configuration)
        }
        let makers = text.isObjectiveC ? "sessionWithConfiguration" : "URLSession"
        guard !text.places(of: makers, in: body).isEmpty else { return false }
        return place == configuration ? true : isUsedProperty(before: place)
    }

    /// Whether the property that a value on the same statement is for has another use.
    private func isUsedProperty(before index: Int) -> Bool {
        let keyword = (max(0, index - 24)..<index).last { place in
            text.sees("var", at: place) || text.sees("let", at: place)
        }
        guard let keyword, let name = text[keyword + 1], name.isName,
            function(around: keyword) == nil
        else { return false }
        return text.places(of: name.text).contains { $0 != keyword + 1 && !text.isLabel($0) }
    }
}
