// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Finds the kind of task that the handler of a registration accepts.
extension SourceReader {
    /// A cast or a check of a handler's task.
    private struct TaskCast {
        let index: Int
        let kind: SourceObservation.BackgroundWork
        let isForced: Bool
    }

    /// Sees the first cast of a registered handler's task, if the handler names one kind of task
    /// and the cast runs for each task.
    mutating func readTaskCast(ofRegistrationAt index: Int, named expression: Int) {
        guard let handler = handlerOfTask(registeredAt: index) else { return }
        var scopes = [handler.scope]
        var cast = taskCast(of: handler.task, in: handler.scope)
        var task = handler.task
        while cast == nil, scopes.count < 3,
            let next = function(getting: task, in: scopes[scopes.count - 1])
        {
            scopes.append(next.scope)
            task = next.task
            cast = taskCast(of: task, in: next.scope)
        }
        guard let cast else { return }
        // `(BGAppRefreshTask *)task` checks nothing.
        let kinds = Set(
            scopes.flatMap { text.content(ofBracket: $0.open) }
                .filter { !text.isObjectiveC || text.sees("[", at: $0 - 1) }
                .map { text.tokens[$0].text }
        )
        .intersection(Self.taskTypes).subtracting(["BGTask"])
        guard kinds == [cast.kind.rawValue] else { return }
        see(.castTask(nil, cast.kind, isForced: cast.isForced), at: cast.index, named: expression)
    }

    /// The scope of a registration's handler, and the name of its task there: a closure, or a
    /// function of this file that nothing else names.
    private func handlerOfTask(registeredAt index: Int) -> (scope: SourceScope, task: String)? {
        if let closure = launchHandler(of: index) {
            guard let task = text.parameters(ofClosure: closure).first, task != "_" else {
                return nil
            }
            return (closure, task)
        }
        guard !text.isObjectiveC else { return nil }
        let arguments = text.content(ofBracket: index + 1)
        guard
            let label = arguments.first(where: { text.sees("launchHandler", ":", at: $0) }),
            let name = (label + 2..<arguments.upperBound).first(where: {
                functions[text.tokens[$0].text] != nil
            })
        else { return nil }
        return onlyUse(name)
    }

    /// The function at the only use of its name in this file, and the name of its task.
    private func onlyUse(_ index: Int) -> (scope: SourceScope, task: String)? {
        let name = text.tokens[index].text
        guard !overloaded.contains(name), uses[name] == [index], let scope = functions[name],
            case .function(let head) = scope.kind
        else { return nil }
        let tasks = head.parameters.filter { $0.types.contains("BGTask") }
        return tasks.count == 1 ? (scope, tasks[0].name) : nil
    }

    /// The function that gets a task in each run of a scope.
    private func function(
        getting task: String, in scope: SourceScope
    ) -> (scope: SourceScope, task: String)? {
        let body = text.content(ofBracket: scope.open)
        let calls = body.filter { index in
            guard functions[text.tokens[index].text] != nil, isCall(index) else { return false }
            let arguments =
                text.isObjectiveC
                ? index + 1..<(message(around: index).map { text.partners[$0] } ?? index + 1)
                : text.content(ofBracket: index + 1)
            return arguments.contains { isTask(task, at: $0) }
        }
        guard calls.count == 1, isReached(calls[0], by: task, in: scope) else { return nil }
        return onlyUse(calls[0])
    }

    /// The first cast of a task in a scope that runs for each task.
    private func taskCast(of task: String, in scope: SourceScope) -> TaskCast? {
        let places = text.places(of: task, in: text.content(ofBracket: scope.open))
        for index in places.prefix(AuditLimits.headWords) where isTask(task, at: index) {
            if let cast = text.isObjectiveC ? kindCheck(at: index) : taskCast(at: index),
                isReached(cast.index, by: task, in: scope)
            {
                return cast
            }
        }
        return nil
    }

    private func isTask(_ name: String, at index: Int) -> Bool {
        text.tokens[index].isName(name) && !text.isLabel(index) && !text.sees(".", at: index - 1)
    }

    /// Whether no condition decides whether a token of a scope runs, but for those before it that
    /// leave the scope and do not ask for the task.
    private func isReached(_ index: Int, by task: String, in scope: SourceScope) -> Bool {
        for around in text.scopes(around: index) {
            if around.open == scope.open { break }
            switch around.kind {
            case .control("do"), .closure: continue
            case .control, .function, .type: return false
            }
        }
        let exits = (scope.open..<index).filter {
            ["return", "throw"].contains(text.tokens[$0].text)
        }
        return exits.allSatisfy { exit in
            text.scopes(around: exit).allSatisfy { around in
                around.open <= scope.open
                    || !(around.head..<around.open).contains { isTask(task, at: $0) }
            }
        }
    }

    /// `task as! BGAppRefreshTask`, `guard let task = task as? BGAppRefreshTask`, `guard task is
    /// BGAppRefreshTask`, for the task at a token.
    private func taskCast(at index: Int) -> TaskCast? {
        let isCheck = text.sees("is", at: index + 1)
        let isForced = text.sees("as", "!", at: index + 1)
        guard isCheck || isForced || text.sees("as", "?", at: index + 1),
            let type = text[index + (isCheck ? 2 : 3)],
            let kind = SourceObservation.BackgroundWork(rawValue: type.text)
        else { return nil }
        if !isForced {
            // `guard let task = task as? T`, `guard let task = task as? T, isEnabled`
            let start = isCheck ? index : text.sees("=", at: index - 1) ? index - 3 : index
            guard text.sees("guard", at: start - 1),
                let open = (index..<text.tokens.count).prefix(AuditLimits.headWords).first(where: {
                    text.sees("else", "{", at: $0)
                }), refuses(text.content(ofBracket: open + 1), text.tokens[index].text)
            else { return nil }
        }
        return TaskCast(index: index + 1, kind: kind, isForced: isForced)
    }

    /// Whether a block does nothing with a task but to end it.
    private func refuses(_ block: Range<Int>, _ task: String) -> Bool {
        block.allSatisfy { word in
            guard isCall(word) else {
                return !isTask(task, at: word) || settlesTask(word, named: [task])
            }
            return text.tokens[word].text.hasPrefix("setTaskCompleted") || isCertainLog(word)
                || isIdleCall(word)
        }
    }

    /// `if (![task isKindOfClass:[BGProcessingTask class]]) { … return; }`, for a task.
    private func kindCheck(at index: Int) -> TaskCast? {
        guard text.sees("(", "!", "[", at: index - 3), text.sees("if", at: index - 4),
            text.sees("isKindOfClass", ":", "[", at: index + 1), let type = text[index + 4],
            let kind = SourceObservation.BackgroundWork(rawValue: type.text),
            text.sees("class", "]", "]", ")", "{", at: index + 5),
            text.content(ofBracket: index + 9).contains(where: { text.tokens[$0].isName("return") }
            ),
            refuses(text.content(ofBracket: index + 9), text.tokens[index].text)
        else { return nil }
        return TaskCast(index: index + 1, kind: kind, isForced: false)
    }
}
