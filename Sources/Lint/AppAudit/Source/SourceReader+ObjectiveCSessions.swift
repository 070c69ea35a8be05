// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Reads background sessions in Objective-C: whether they have a delegate, and the tasks that they
/// start.
extension SourceReader {
    /// What a value is looked at for.
    private enum Made: String {
        /// A background session.
        case session = "NSURLSession"
        /// The configuration of one.
        case configuration = "NSURLSessionConfiguration"
    }

    /// The number of names and messages that a value is followed through.
    private static let namesOfSession = 8

    /// The messages that start a task, by their first part.
    static let transferStarts: Set = [
        "dataTaskWithRequest", "dataTaskWithURL", "downloadTaskWithRequest",
        "downloadTaskWithURL", "downloadTaskWithResumeData", "uploadTaskWithRequest",
    ]

    /// The messages to a session that only looks after earlier transfers, or ends them.
    private static let ends: Set = [
        "invalidateAndCancel", "finishTasksAndInvalidate", "getAllTasksWithCompletionHandler",
        "getTasksWithCompletionHandler", "resetWithCompletionHandler",
    ]

    /// Reads the making of a session: `[NSURLSession sessionWithConfiguration:configuration]`,
    /// `… delegate:nil delegateQueue:nil]`.
    mutating func readMakingOfSession(_ name: Int) {
        // The app takes over the transfers of an extension, with a session of its own.
        guard makesSession(at: name - 2), text.places(of: "sharedContainerIdentifier").isEmpty,
            let site = text.call(inBracket: name - 2)
        else { return }
        let delegate = site.arguments.first { $0.label == "delegate" }
        guard site.arguments.count == 1 || delegate.map({ isNone($0.range) }) == true,
            isMade(name - 2..<text.partners[name - 2] + 1, .session), !isOnlyForEarlier(name - 2)
        else { return }
        see(.fault(.sessionWithoutDelegate), at: name)
    }

    /// Reads the start of a task: `[session uploadTaskWithRequest:request fromData:data]`,
    /// `[session downloadTaskWithURL:url completionHandler:^(…) { … }]`.
    mutating func readStartOfTransfer(_ name: Int) {
        guard text.isObjectiveC,
            !text.places(of: "backgroundSessionConfigurationWithIdentifier").isEmpty,
            let open = message(around: name), let site = text.call(inBracket: open),
            site.name == name
        else { return }
        // A variable may have no closure, which is allowed.
        let hasClosure = site.arguments.contains { argument in
            argument.label == "completionHandler"
                && text.sees("^", at: argument.range.lowerBound)
        }
        let hasData = site.arguments.contains { argument in
            argument.label == "fromData" && !isNone(argument.range)
        }
        guard hasClosure || hasData, isMade(open + 1..<name, .session) else { return }
        see(.fault(hasClosure ? .closureInBackgroundSession : .dataInBackgroundSession), at: name)
    }

    /// Whether a bracket opens the message that makes a session.
    private func makesSession(at open: Int) -> Bool {
        text.isObjectiveC
            && text.sees("[", "NSURLSession", "sessionWithConfiguration", ":", at: open)
    }

    private func isNone(_ value: Range<Int>) -> Bool {
        value.count == 1
            && ["nil", "NULL", "Nil"].contains { text.sees($0, at: value.lowerBound) }
    }

    /// Whether a session is made to look after earlier transfers, or to end them.
    private func isOnlyForEarlier(_ open: Int) -> Bool {
        let close = text.partners[open]
        if text.sees("[", at: open - 1), let message = text[close + 1] {
            return Self.ends.contains(message.text)
        }
        guard text.sees("=", at: open - 1), let name = text[open - 2], name.isName,
            let (_, body) = function(around: open)
        else { return false }
        let names = [name.text, "_" + name.text, String(name.text.drop { $0 == "_" })]
        return names.contains { name in
            text.places(of: name, in: body).contains { place in
                text[place + 1].map { Self.ends.contains($0.text) } == true
            }
        }
    }

    // MARK: Values

    /// Whether a value is certainly a background session, or the configuration of one, as this
    /// file shows it.
    private func isMade(_ value: Range<Int>, _ made: Made, depth: Int = 0) -> Bool {
        guard depth < Self.namesOfSession, let first = value.first else { return false }
        if text.sees("[", at: first) {
            guard text.partners[first] == value.upperBound - 1 else { return false }
            if text.sees("self", at: first + 1), value.count == 4, let name = text[first + 2] {
                return isOwnMade(name.text, first, made, depth)
            }
            return makes(first, made, depth)
        }
        guard value.count == 1 else {
            // `self.session`, `self->_session`
            guard value.count == 3, text.sees("self", at: first), let name = text[first + 2],
                text.sees(".", at: first + 1) || text.sees("->", at: first + 1)
            else { return false }
            return isOwnMade(name.text, first, made, depth)
        }
        guard let name = text[first], name.isName else { return false }
        guard let (head, body) = function(around: first) else { return false }
        if head.parameters.contains(where: { $0.name == name.text }) { return false }
        let places = text.places(of: name.text, in: body)
        let declarations = places.filter { text.sees("*", at: $0 - 1) }
        guard let declaration = declarations.first else {
            return isPropertyMade(name.text, first, made, depth)
        }
        // Of several declarations one may be the parameter of a block.
        guard declarations.count == 1, text.sees(made.rawValue, "*", at: declaration - 2),
            !places.contains(where: { text.sees("&", at: $0 - 1) })
        else { return false }
        return known("\(body.lowerBound) \(name.text) \(made)") {
            areMade(Array(places), made, depth)
        }
    }

    /// Whether a message makes a background session, or the configuration of one.
    private func makes(_ open: Int, _ made: Made, _ depth: Int) -> Bool {
        switch made {
        case .configuration:
            return text.sees("[", "NSURLSessionConfiguration", at: open)
                && text[open + 2]?.text.hasPrefix("backgroundSessionConfiguration") == true
                && text.sees(":", at: open + 3)
        case .session:
            guard makesSession(at: open), let site = text.call(inBracket: open),
                let configuration = site.arguments.first
            else { return false }
            return isMade(configuration.range, .configuration, depth: depth + 1)
        }
    }

    /// Whether a method or a property of the own object gives one: `[self session]`,
    /// `self.session`.
    private func isOwnMade(_ name: String, _ index: Int, _ made: Made, _ depth: Int) -> Bool {
        let methods = text.functions[name] ?? []
        guard let method = methods.first else {
            return isPropertyMade(name, index, made, depth)
        }
        guard methods.count == 1, case .function(let head) = method.kind, head.parameters.isEmpty,
            text.sees("-", at: method.head),
            owner(around: method.head)?.name == owner(around: index)?.name
        else { return false }
        return known("\(method.open) \(made)") {
            let body = text.content(ofBracket: method.open)
            // What a block returns is not what the method does.
            let returns = text.places(of: "return", in: body).filter { place in
                text.scopes(around: place).first { scope in
                    if case .control = scope.kind { false } else { true }
                }?.open == method.open
            }
            return !returns.isEmpty
                && returns.allSatisfy { place in
                    let end = text.statementEnd(place, body)
                    return isMade(place + 1..<end, made, depth: depth + 1)
                }
        }
    }

    /// Whether a property, an instance variable or a static one that this file alone declares is
    /// only ever set to such a value.
    private func isPropertyMade(_ name: String, _ index: Int, _ made: Made, _ depth: Int) -> Bool {
        let bare = name.hasPrefix("_") ? String(name.dropFirst()) : name
        guard let first = bare.first, let type = owner(around: index)?.name else { return false }
        return known("\(type).\(bare) \(made)") {
            let setter = "set" + first.uppercased() + bare.dropFirst()
            let places = [bare, "_" + bare].flatMap(text.places)
            let isDeclared = places.contains { place in
                text.sees(made.rawValue, "*", at: place - 2) && text.sees(";", at: place + 1)
                    && function(around: place) == nil
                    && (text.sees("static", at: place - 3) || declaringType(of: place) == type)
            }
            guard isDeclared, text.places(of: setter).isEmpty,
                !places.contains(where: { text.sees("&", at: $0 - 1) })
            else { return false }
            return areMade(places.filter { !isOfLocal($0) }, made, depth)
        }
    }

    /// Whether all values that a name is set to at some places are such ones, or `nil`, and one is
    /// no `nil`.
    private func areMade(_ places: [Int], _ made: Made, _ depth: Int) -> Bool {
        let values = places.filter { text.sees("=", at: $0 + 1) }.map { place in
            place + 2..<text.statementEnd(place, place..<text.tokens.count)
        }
        let set = values.filter { !isNone($0) }
        return !set.isEmpty && set.allSatisfy { isMade($0, made, depth: depth + 1) }
    }

    /// Whether the name at a place is a variable of its function: `NSURLSession *session =`.
    private func isOfLocal(_ place: Int) -> Bool {
        guard !text.sees(".", at: place - 1), !text.sees("->", at: place - 1),
            let (_, body) = function(around: place)
        else { return false }
        return text.places(of: text.tokens[place].text, in: body).contains {
            text.sees("*", at: $0 - 1)
        }
    }

    /// The class whose interface or implementation is around a declaration: `@interface Loads ()`.
    func declaringType(of place: Int) -> String? {
        (["interface", "implementation", "protocol"].flatMap(text.places))
            .filter { $0 < place && text.sees("@", at: $0 - 1) }.max()
            .flatMap { text[$0 + 1]?.text }
    }

    /// The answer to a question that is asked once; none while it is looked for.
    private func known(_ question: String, _ answer: () -> Bool) -> Bool {
        if let known = notes.isSession[question] { return known }
        notes.isSession[question] = false
        let found = answer()
        notes.isSession[question] = found
        return found
    }
}
