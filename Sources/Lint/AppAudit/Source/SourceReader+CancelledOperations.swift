// SPDX-License-Identifier: Apache-2.0

/// Finds operations that are cancelled, and wait for work that goes on all the same.
extension SourceReader {
    /// Whether the calls of an expiration handler only cancel operations of its function, none of
    /// which looks whether it is cancelled while it waits: `queue.cancelAllOperations()`.
    func cancelsInVain(_ calls: [Int], in closure: Range<Int>, of body: Range<Int>) -> Bool {
        guard !text.isObjectiveC, !calls.isEmpty else { return false }
        return calls.allSatisfy { call in
            guard text.sees(".", at: call - 1), text.sees("(", ")", at: call + 1),
                let owner = text[call - 2], owner.isName, !text.sees(".", at: call - 3)
            else { return false }
            switch text.tokens[call].text {
            case "cancelAllOperations": return holdsDeafOperations(owner.text, closure, body)
            case "cancel": return isDeafOperation(owner.text, closure, body)
            default: return false
            }
        }
    }

    /// The place of a name that a body declares once, as a constant whose value is made of a type.
    private func made(_ name: String, in body: Range<Int>) -> Int? {
        let places = text.places(of: name, in: body).filter { place in
            ["let", "var"].contains { text.sees($0, at: place - 1) }
        }
        guard places.count == 1, let place = places.first, text.sees("let", at: place - 1),
            text.sees("=", at: place + 1)
        else { return nil }
        return place
    }

    /// Whether a local queue gets nothing but such operations.
    private func holdsDeafOperations(
        _ name: String, _ closure: Range<Int>, _ body: Range<Int>
    ) -> Bool {
        guard let place = made(name, in: body),
            text.sees("OperationQueue", "(", ")", at: place + 2)
        else { return false }
        var count = 0
        for use in text.places(of: name, in: body) where use != place {
            if text.sees(".", "addOperation", "(", at: use + 1) {
                guard let operation = text[use + 4], operation.isName,
                    text.sees(")", at: use + 5), isDeafOperation(operation.text, closure, body)
                else { return false }
                count += 1
            } else if text.sees(".", "cancelAllOperations", at: use + 1) {
                guard closure.contains(use) else { return false }
            } else {
                guard text.sees(".", at: use + 1), text.sees("=", at: use + 3),
                    ["maxConcurrentOperationCount", "qualityOfService", "name"]
                        .contains(text[use + 2]?.text)
                else { return false }
            }
        }
        return count > 0
    }

    /// Whether a local operation does not look whether it is cancelled once it works, and nothing
    /// but the expiration handler cancels it.
    private func isDeafOperation(
        _ name: String, _ closure: Range<Int>, _ body: Range<Int>
    ) -> Bool {
        guard let place = made(name, in: body), let work = work(madeAt: place + 2), isDeaf(work)
        else { return false }
        return text.places(of: name, in: body).allSatisfy { use in
            if use == place || text.sees(".", "completionBlock", "=", "{", at: use + 1) {
                return true
            }
            if text.sees(".", "cancel", at: use + 1) { return closure.contains(use) }
            if text.sees(".", "isCancelled", at: use + 1) {
                return text.scopes(around: use).contains {
                    text.sees("completionBlock", "=", at: $0.open - 2)
                }
            }
            return text.sees(".", "addOperation", "(", name, ")", at: use - 3)
        }
    }

    /// The tokens of what an operation does: `BlockOperation { … }`, or `main` of a class of this
    /// file that has nothing to do with being cancelled.
    private func work(madeAt index: Int) -> Range<Int>? {
        guard let type = text[index], type.isName else { return nil }
        if type.isName("BlockOperation") {
            return text.sees("{", at: index + 1) ? text.content(ofBracket: index + 1) : nil
        }
        let types = text.scopes.filter {
            if case .type(let head) = $0.kind { head.name == type.text } else { false }
        }
        guard text.sees("(", ")", at: index + 1), types.count == 1, let scope = types.first,
            case .type(let head) = scope.kind, head.inherited == ["Operation"]
        else { return nil }
        let members = text.content(ofBracket: scope.open)
        let functions = text.scopes.filter {
            if case .function = $0.kind { members.contains($0.head) } else { false }
        }
        guard functions.count == 1, let main = functions.first, case .function(let own) = main.kind,
            own.name == "main", text.places(of: "cancel", in: members).isEmpty
        else { return nil }
        return text.content(ofBracket: main.open)
    }

    /// Whether work waits without limit for what it starts, and does not look whether it is
    /// cancelled from the time on that it makes what it waits with.
    private func isDeaf(_ work: Range<Int>) -> Bool {
        let open = work.lowerBound - 1
        return text.places(of: "wait", in: work).contains { wait in
            guard text.sees("(", ")", at: wait + 1), text.sees(".", at: wait - 1),
                text.scopes(around: wait).first(where: { _ in true })?.open == open,
                let name = text[wait - 2], name.isName, let place = made(name.text, in: work),
                text.sees("DispatchGroup", "(", ")", at: place + 2)
                    || text.sees("DispatchSemaphore", "(", at: place + 2)
            else { return false }
            let rest = place..<work.upperBound
            return ["isCancelled", "checkCancellation", "OperationQueue", "cancel", "cancelled"]
                .allSatisfy { text.places(of: $0, in: rest).isEmpty }
                // A task that is kept may be cancelled elsewhere.
                && text.places(of: "Task", in: rest).allSatisfy { !text.sees("=", at: $0 - 1) }
                && text.places(of: name.text, in: work).allSatisfy { use in
                    use == place
                        || ["enter", "leave", "wait", "signal"].contains {
                            text.sees(".", $0, at: use + 1)
                        }
                }
        }
    }
}
