// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Finds the code that asks for background tasks.
extension SourceReader {
    /// Reads a mention of a request.
    mutating func readTaskRequest(_ index: Int) {
        digest.taskRequests.append(functions(leadingFromHandlersTo: index))
        if !makesRequest(index) { digest.mayHideRequests = true }
    }

    /// Whether a mention of a request's type makes one with an identifier, declares the variable
    /// for it, or only asks for the type.
    private func makesRequest(_ index: Int) -> Bool {
        let type = text.tokens[index].text
        if text.isObjectiveC {
            let make = text.sees("[", "[", type, "alloc", at: index + 4) ? index + 6 : index
            return text.sees("[", "[", at: make - 2)
                && text.sees("alloc", "]", "initWithIdentifier", ":", at: make + 1)
        }
        let isCast = text.sees("as", "?", at: index - 2) || text.sees("is", at: index - 1)
        let make =
            text.sees(":", at: index - 1) && text.sees("=", type, at: index + 1)
            ? index + 2 : index
        return isCast || text.sees("(", "identifier", ":", at: bracket(ofMaking: make))
    }

    /// The bracket of the arguments that make an object: `Request(…)`, `Request.init(…)`.
    func bracket(ofMaking type: Int) -> Int {
        text.sees(".", "init", at: type + 1) ? type + 3 : type + 1
    }

    /// Whether a reference is to the one constant with its name in this file, which is a literal,
    /// and the file has the name for nothing that may hide it.
    func isFixed(_ reference: ConstantReference) -> Bool {
        if let known = notes.isFixed[reference] { return known }
        var declarations = 0
        let isFixed = text.places(of: reference.name).allSatisfy { index in
            if isLiteralConstant(index) {
                declarations += 1
                let type = text.type(around: index)?.name
                return declarations == 1 && (type == nil || type == reference.type)
            }
            // `Task.refresh`, `identifier: refresh`, `func refresh(`.
            return text.sees(".", at: index - 1)
                || text.sees(":", at: index - 1) && !text.sees("=", at: index + 1)
                    && !text.sees(".", at: index + 1)
                || text.sees("func", at: index - 1)
        }
        let isOnly = isFixed && declarations == 1
        notes.isFixed[reference] = isOnly
        return isOnly
    }

    /// Whether a name is declared as a constant whose value is only a literal: `let refresh =
    /// "a.b"`, `case refresh = "a.b"`, `NSString * const refresh = @"a.b";`.
    private func isLiteralConstant(_ index: Int) -> Bool {
        let keywords = text.isObjectiveC ? ["const"] : ["let", "case"]
        guard let keyword = text[index - 1], keywords.contains(where: keyword.isName) else {
            return false
        }
        let value = text.sees(":", "String", at: index + 1) ? index + 4 : index + 2
        guard text.sees("=", at: value - 1), let literal = text[value],
            case .string(isInterpolated: false) = literal.kind
        else { return false }
        guard let next = text[value + 1] else { return true }
        if next.isMark(";") || next.isMark("}") { return true }
        return !text.isObjectiveC && next.position.line > literal.position.line
            && (next.isName || next.isMark("@"))
    }

    /// The use of a request that a mention of its type makes.
    enum RequestUse: Equatable {
        /// It may be submitted.
        case submitted
        /// Nothing can submit it.
        case none
        /// A property keeps it, which this file does not use.
        case kept(String)
    }

    /// The use of the request at a mention of its type: what only sets its values submits nothing.
    func useOfRequest(_ index: Int) -> RequestUse {
        // The type of the variable comes before that of its value.
        let type = text.tokens[index].text
        if text.isObjectiveC {
            let make = text.sees("[", "[", type, "alloc", at: index + 4) ? index + 6 : index
            guard text.sees("=", "[", "[", at: make - 3), text.sees(type, "*", at: make - 6),
                text.sees("]", ";", at: text.partners[make - 2])
            else { return .submitted }
            return useOfRequest(in: make - 4)
        }
        let make =
            text.sees(":", at: index - 1) && text.sees("=", type, at: index + 1)
            ? index + 2 : index
        let open = bracket(ofMaking: make)
        guard text.sees("=", at: make - 1), text.sees("(", at: open),
            text.partners[open] > make, !text.sees(".", at: text.partners[open] + 1),
            hasOnlyOwnLabels(open)
        else { return .submitted }
        if text.sees("_", at: make - 2) { return .none }
        let variable = text.sees(":", at: make - 3) ? make - 4 : make - 2
        guard let before = text[variable - 1], before.isName("let") || before.isName("var"),
            ![",", "if", "guard"].contains(text[variable - 2]?.text)
        else { return .submitted }
        return useOfRequest(in: variable)
    }

    /// Whether arguments are those of an initializer of the system: one of an extension may submit.
    private func hasOnlyOwnLabels(_ open: Int) -> Bool {
        text.call(at: open - 1)?.arguments.allSatisfy { argument in
            ["identifier", "title", "subtitle"].contains(argument.label)
        } == true
    }

    /// The use of a request in a variable, by the other mentions of it where it can be named.
    private func useOfRequest(in variable: Int) -> RequestUse {
        let name = text.tokens[variable].text
        let scope = text.scopes(around: variable).first { _ in true }
        var places = text.tokens.indices
        var isOwn = false
        switch scope?.kind {
        case .type, nil: break
        case .control where scope.map(leaves) == true: return .submitted
        case .function, .control, .closure:
            places = text.content(ofBracket: scope?.open ?? 0)
            isOwn = true
        }
        let isUsed = text.places(of: name, in: places).contains { index in
            index != variable && !text.isLabel(index) && !setsMember(of: index)
                && !(isOwn && onlyTells(of: index))
        }
        // A property may be reached by its name too.
        if isUsed || !isOwn && text.tokens.contains(where: { $0.isString && $0.text == name }) {
            return .submitted
        }
        if isOwn { return .none }
        return WordFilter.canFind(name) ? .kept(name) : .submitted
    }

    /// Whether a statement sets a member of what a token names: `request.earliestBeginDate = date`,
    /// `[request setEarliestBeginDate:date]`.
    func setsMember(of index: Int) -> Bool {
        if text.sees(".", at: index + 1), text.sees("=", at: index + 3) {
            return Self.requestValues.contains(text[index + 2]?.text ?? "")
        }
        // What an extension sets may submit it.
        return text.sees("[", at: index - 1) && text.sees(":", at: index + 2)
            && Self.requestValues.contains { value in
                text[index + 1]?.text == "set" + value.prefix(1).uppercased() + value.dropFirst()
            }
    }

    /// The names of the functions through which handlers of background tasks alone lead to a token
    /// of this file; `nil` if anything else may.
    private func functions(leadingFromHandlersTo index: Int) -> Set<String>? {
        let registrations = self.registrations
        var words: Set<String> = []
        var pending = [index]
        while let place = pending.popLast() {
            if let registration = registrations.first(where: { $0.contains(place) }) {
                guard runsInHandler(place, of: registration) else { return nil }
                continue
            }
            guard let function = outerFunction(of: place), case .function(let head) = function.kind,
                !overloaded.contains(head.name), callers(of: place) == [head.name],
                words.contains(head.name)
                    || !text.tokens.contains(where: {
                        $0.isString && $0.text.hasLetters(head.name)
                    })
            else { return nil }
            guard words.insert(head.name).inserted else { continue }
            let calls = (uses[head.name] ?? []).filter {
                !(function.open...function.close).contains($0)
            }
            guard !calls.isEmpty else { return nil }
            pending += calls
        }
        return words
    }

    /// The tokens of the registrations of this file.
    private var registrations: [Range<Int>] {
        ["register", "registerForTaskWithIdentifier", "backgroundTask"]
            .flatMap { text.places(of: $0) }
            .compactMap { index in
                if text.isObjectiveC {
                    guard text.sees("registerForTaskWithIdentifier", ":", at: index),
                        let open = message(around: index)
                    else { return nil }
                    return text.content(ofBracket: open)
                }
                guard
                    text.sees("register", "(", "forTaskWithIdentifier", ":", at: index)
                        || text.sees("backgroundTask", "(", ".", "appRefresh", at: index)
                else { return nil }
                let close = text.partners[index + 1]
                guard close > index else { return nil }
                let end = text.sees("{", at: close + 1) ? text.partners[close + 1] : close
                return index..<max(end, close)
            }
    }

    /// Whether a token in a registration is part of its handler: in its closure, or the name of the
    /// function that is the handler.
    private func runsInHandler(_ index: Int, of range: Range<Int>) -> Bool {
        let isInClosure = text.scopes(around: index).contains { scope in
            if case .closure = scope.kind { range.contains(scope.open) } else { false }
        }
        // `launchHandler: handle(task:)`
        return isInClosure || !isCall(index)
            || text.sees(":", ")", at: text.partners[index + 1] - 1)
    }
}
