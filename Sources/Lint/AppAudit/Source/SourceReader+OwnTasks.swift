// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Finds tasks that only handlers of tasks request, by their identifiers.
extension SourceReader {
    /// A task that a file registers, and requests in handlers of tasks alone.
    struct OwnTask: Sendable {
        /// The identifier, which the file uses for nothing else.
        let identifier: String
        /// The names of functions and constants by which other files may request it.
        var words: Set<String> = []
        /// The identifiers of the tasks whose handlers request it.
        var handlers: Set<String> = []

        /// What is behind the last dot, which code that makes the identifier of parts has too.
        var lastPart: String {
            identifier.split(separator: ".").last.map(String.init) ?? identifier
        }

        /// The words of the last part.
        var lastWords: Set<String> {
            let words = lastPart.split(whereSeparator: { letter in
                !(letter.isLetter || letter.isNumber || letter == "_")
            })
            return Set(words.map(String.init))
        }

        /// Whether a text has the identifier, or a literal that ends in the last part of it.
        func mayStand(in text: [UInt8]) -> Bool {
            if text.firstRange(of: identifier.utf8) != nil { return true }
            return ["\"", "'", "`"].contains { quote in
                text.firstRange(of: (lastPart + quote).utf8) != nil
            }
        }
    }

    /// The use of an identifier: a literal, or the name of a constant.
    private struct IdentifierUse {
        let value: String
        let constant: String?
        let token: Int
    }

    /// The requests for tasks.
    static let requestTypes: Set = [
        "BGAppRefreshTaskRequest", "BGProcessingTaskRequest", "BGContinuedProcessingTaskRequest",
        "BGHealthResearchTaskRequest",
    ]

    /// The identifiers of tasks, as far as literals and constants of this file tell them.
    var taskIdentifiers: Set<String> {
        let requested = Self.requestTypes.flatMap { text.places(of: $0) }
            .compactMap(requestedIdentifier)
        return Set(
            (registeredIdentifiers + cancelledIdentifiers + requested).compactMap(identifierUse)
                .map(\.value))
    }

    /// Notes the tasks that only handlers of this file request, and whether it requests any task
    /// of which the identifier is not known.
    mutating func readOwnTasks() {
        var requests: [String: [Int]] = [:]
        var uses: [IdentifierUse] = []
        let mentions = Self.requestTypes.flatMap { text.places(of: $0) }
        guard mentions.count <= AuditLimits.headWords, !digest.hasOpenRequest else {
            digest.hasOpenRequest = true
            return
        }
        for mention in mentions where !isCast(mention) {
            if let use = requestedIdentifier(mention).flatMap(identifierUse) {
                requests[use.value, default: []].append(mention)
                uses.append(use)
            } else if path(fromHandlersTo: mention) == nil {
                digest.hasOpenRequest = true
                return
            }
        }
        let registered = registeredIdentifiers
        guard !requests.isEmpty, registered.count <= AuditLimits.headWords else { return }
        uses += (registered + cancelledIdentifiers).compactMap(identifierUse)
        for identifier in Set(registered.compactMap(identifierUse).map(\.value)).sorted() {
            let paths = (requests[identifier] ?? []).map(path(fromHandlersTo:))
            let own = uses.filter { $0.value == identifier }
            guard !paths.isEmpty, paths.allSatisfy({ $0 != nil }),
                var task = ownTask(identifier, own)
            else { continue }
            for case let path? in paths {
                task.words.formUnion(path.functions)
                for range in path.registrations {
                    let use = registered.first(where: range.contains).flatMap(identifierUse)
                    // The handler of a task that is not known may run.
                    task.handlers.insert(use?.value ?? "")
                }
            }
            digest.ownTasks.append(task)
        }
    }

    /// A task whose identifier, and the constants for it, stand nowhere else in the file.
    private func ownTask(_ identifier: String, _ uses: [IdentifierUse]) -> OwnTask? {
        var task = OwnTask(identifier: identifier)
        var literals = Set(uses.filter { $0.constant == nil }.map(\.token))
        for name in Set(uses.compactMap(\.constant)) {
            guard let declaration = declaration(of: name) else { return nil }
            let known = Set(uses.filter { $0.constant == name }.map(\.token))
            guard text.places(of: name).allSatisfy({ $0 == declaration.name || known.contains($0) })
            else { return nil }
            literals.insert(declaration.value)
            let start = text.isObjectiveC ? declaration.name : declaration.name - 1
            if modifiers(before: start).isDisjoint(with: ["private", "fileprivate"]) {
                task.words.insert(name)
            }
        }
        let isUsedElsewhere = text.tokens.indices.contains { index in
            guard case .string(let isInterpolated) = text.tokens[index].kind else { return false }
            let literal = text.tokens[index].text
            return isInterpolated
                ? literal.contains(task.lastPart)
                : literal == identifier && !literals.contains(index)
        }
        return isUsedElsewhere ? nil : task
    }

    /// The token with an identifier: a literal, or the name of a constant of this file.
    private func identifierUse(_ expression: Int) -> IdentifierUse? {
        switch ConstantExpression(at: expression, in: text) {
        case .literal(let value):
            return IdentifierUse(value: value, constant: nil, token: expression)
        case .reference(let reference):
            guard let declared = declaration(of: reference.name) else { return nil }
            let token = (expression..<expression + 8).first {
                text[$0]?.isName(reference.name) == true
            }
            guard let token, !text.sees(".", "rawValue", at: token + 1) else { return nil }
            return IdentifierUse(
                value: text.tokens[declared.value].text, constant: reference.name, token: token)
        case .unknown: return nil
        }
    }

    /// The name and the literal of a constant that is declared once in this file.
    private func declaration(of name: String) -> (name: Int, value: Int)? {
        let found = text.places(of: name).compactMap { word -> (name: Int, value: Int)? in
            guard text.isObjectiveC || text.sees("let", at: word - 1) else { return nil }
            let equals = text.sees(":", "String", at: word + 1) ? word + 3 : word + 1
            guard text.sees("=", at: equals), let value = text[equals + 1],
                case .string(isInterpolated: false) = value.kind,
                text[equals + 2]?.isMark(".") != true, text[equals + 2]?.isMark("+") != true
            else { return nil }
            return (word, equals + 1)
        }
        return found.count == 1 ? found.first : nil
    }

    /// The identifiers that are registered.
    private var registeredIdentifiers: [Int] {
        text.places(of: "register").filter {
            text.sees("(", "forTaskWithIdentifier", ":", at: $0 + 1)
        }
        .map { $0 + 4 }
            + text.places(of: "registerForTaskWithIdentifier").map { $0 + 2 }
            + text.places(of: "backgroundTask").filter {
                text.sees("(", ".", "appRefresh", "(", at: $0 + 1)
            }
            .map { $0 + 5 }
    }

    private var cancelledIdentifiers: [Int] {
        text.places(of: "taskRequestWithIdentifier").map { $0 + 2 }
            + text.places(of: "cancelTaskRequestWithIdentifier").map { $0 + 2 }
    }

    /// The identifier of a request that is made at a token.
    private func requestedIdentifier(_ mention: Int) -> Int? {
        let start = text.sees(".", "init", at: mention + 1) ? mention + 3 : mention + 1
        if text.sees("(", "identifier", ":", at: start) { return start + 3 }
        return text.sees("alloc", "]", "initWithIdentifier", ":", at: mention + 1)
            ? mention + 5 : nil
    }

    /// Whether a mention of a request only asks for its kind: `r as? BGAppRefreshTaskRequest`.
    private func isCast(_ mention: Int) -> Bool {
        let isMarked = text.sees("?", at: mention - 1) || text.sees("!", at: mention - 1)
        let keyword = text[isMarked ? mention - 2 : mention - 1]
        return keyword?.isName("as") == true || keyword?.isName("is") == true
    }
}
