// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Follows tasks that a handler puts into a box, so that a closure of Swift 6 may have them: `let
/// box = Box(value: task)`, `box.value.setTaskCompleted(success: true)`.
extension SourceReader {
    /// A constant whose value only holds a task.
    struct TaskBox {
        /// The name of the constant.
        let name: String
        /// The token of the constant's declaration.
        let declared: Int
        /// The name of the task in what makes the box.
        let made: Int
        /// The type of the box.
        let type: String
    }

    /// The boxes of a task in the body of its handler.
    func boxes(of task: String, in body: Range<Int>) -> [TaskBox] {
        guard !text.isObjectiveC else { return [] }
        let places = text.places(of: task, in: body)
        guard places.count <= AuditLimits.headWords else { return [] }
        return places.compactMap { index in
            guard text.sees(")", at: index + 1) else { return nil }
            let open = text.partners[index + 1]
            guard open > 3, open == index - 1 || open == index - 3 && text.isLabel(open + 1),
                text.sees("let", at: open - 4), text.sees("=", at: open - 2),
                let type = text[open - 1], type.isName, type.text.first?.isUppercase == true
            else { return nil }
            let box = TaskBox(
                name: text.tokens[open - 3].text, declared: open - 3, made: index,
                type: type.text)
            return isOnlyBox(box, in: body) ? box : nil
        }
    }

    /// Whether a value does nothing with the task that it holds: its type in this file has no
    /// functions, or it has the name of one that holds any value.
    private func isOnlyBox(_ box: TaskBox, in body: Range<Int>) -> Bool {
        let members = text.places(of: box.name, in: body).compactMap { index in
            text.sees(".", at: index + 1) ? text[index + 2]?.text : nil
        }
        guard !members.isEmpty else { return false }
        let isPlain = notes.isPlain[box.type] ?? hasNoFunctions(box.type)
        notes.isPlain[box.type] = .some(isPlain)
        return isPlain ?? members.allSatisfy(["value", "wrappedValue"].contains)
    }

    /// Notes that what was found about tasks in boxes depends on types of other files.
    mutating func noteTypes(of boxes: [TaskBox], since first: Int) {
        let types = boxes.map(\.type).filter { notes.isPlain[$0] == .some(nil) }
        guard let type = types.first else { return }
        for entry in digest.entries.indices.dropFirst(first) {
            digest.entries[entry].unusedNames = Set(types)
            digest.entries[entry].made = MadeObject(type: type, fault: .taskPathWithoutEnd)
        }
    }

    /// Whether a type has no functions, nor a base with some; `nil` if it is not in this file.
    func hasNoFunctions(_ type: String) -> Bool? {
        let own = text.scopes.filter { scope in
            if case .type(let head) = scope.kind { head.name == type } else { false }
        }
        guard !own.isEmpty else { return nil }
        return own.allSatisfy { scope in
            guard case .type(let head) = scope.kind,
                head.inherited.allSatisfy(["unchecked", "Sendable"].contains)
            else { return false }
            return !text.content(ofBracket: scope.open).contains { index in
                ["func", "init", "deinit", "set", "willSet", "didSet"]
                    .contains { text.tokens[index].isName($0) }
            }
        }
    }

    /// The names that casts give to the task in a box: `if let refresh = box.value as?
    /// BGAppRefreshTask`.
    func castNames(from box: TaskBox, in body: Range<Int>) -> [String] {
        text.places(of: box.name, in: body).compactMap { index in
            guard text.sees(".", at: index + 1), text.sees("as", at: index + 3),
                text.sees("=", at: index - 1), let name = text[index - 2], name.isName
            else { return nil }
            return name.text
        }
    }

    /// The use of a task, or of one in a box.
    func use(of index: Int, _ boxes: [TaskBox]) -> Use {
        for box in boxes {
            if index == box.made || index == box.declared { return .other }
            guard text.tokens[index].text == box.name else { continue }
            return text.sees(".", at: index + 1) ? use(of: index + 2) : .handedOn
        }
        return use(of: index)
    }

    /// The index behind the parameters of a closure; that of its first token if it names none, and
    /// for a function.
    func endOfParameters(_ scope: SourceScope) -> Int {
        let start = scope.open + 1
        guard case .closure = scope.kind, !text.isObjectiveC,
            text.parameters(ofClosure: scope) != ["$0"]
        else { return start }
        let head = (text.behindAttributes(of: scope)..<text.tokens.count).prefix(
            AuditLimits.headWords)
        return head.first { text.tokens[$0].isName("in") }.map { $0 + 1 } ?? start
    }
}
