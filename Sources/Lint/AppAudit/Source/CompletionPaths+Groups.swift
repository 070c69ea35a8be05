// SPDX-License-Identifier: Apache-2.0

/// Finds paths on which a group of work is not left.
extension CompletionPaths {
    /// The ends of paths on which a group is not left, so that the closure that waits for it never
    /// runs: `group.enter()`, `load { guard $0 else { return }; group.leave() }`, `group.notify {`.
    func pathsInsideGroup(notifying open: Int) -> [Int] {
        let body = text.content(ofBracket: self.open)
        guard let name = notifiedGroup(open), let group = GroupUses(of: name, in: body, text) else {
            return []
        }
        var gaps: Set<Int> = []
        var seen: Set<Int> = []
        for leave in group.leaves {
            let closures = text.scopes(around: leave).filter { scope in
                guard scope.open > self.open, case .closure = scope.kind else { return false }
                let inside = text.content(ofBracket: scope.open)
                return !group.others.contains(where: inside.contains)
            }
            // One of several closures of a call may leave it, or another attempt of a function.
            guard let closure = closures.last, sinkClosures(around: closure.open) == nil,
                endingClosure(beside: closure.open) == nil, !isInFunction(closure)
            else { return [] }
            guard seen.insert(closure.open).inserted else { continue }
            let paths = CompletionPaths(text, body: closure, strictness.ofGroups) { index in
                group.leaves.contains(index) || mentions(index..<index + 1)
            }
            gaps.formUnion(paths.gaps.filter { dependsOnResult($0, of: closure) })
        }
        return gaps.sorted()
    }

    /// Whether a closure leaves a group, behind which another closure of the body makes the call:
    /// each of its paths is followed with that one.
    func leavesNotifiedGroup(_ closure: Range<Int>) -> Bool {
        let leave = closure.first { index in
            text.isObjectiveC
                ? text.sees("dispatch_group_leave", "(", at: index - 2)
                : text.sees(".", "leave", "(", at: index + 1)
        }
        guard let leave else { return false }
        let body = text.content(ofBracket: open)
        return text.places(of: text.tokens[leave].text, in: body).contains { place in
            if text.isObjectiveC {
                return text.sees("dispatch_group_notify", "(", at: place - 2)
                    && mentions(text.content(ofBracket: place - 1))
            }
            return text.sees(".", "notify", at: place + 1)
                && text.call(at: place + 2)?.arguments.contains { mentions($0.range) } == true
        }
    }

    /// Whether a closure is in a function within the body.
    private func isInFunction(_ closure: SourceScope) -> Bool {
        text.scopes(around: closure.open).contains { scope in
            guard scope.open > self.open, case .function = scope.kind else { return false }
            return true
        }
    }

    /// Whether a path ends where a condition asks for what the closure got: a flag, or whether the
    /// group was entered, may be the reason for another one.
    private func dependsOnResult(_ gap: Int, of closure: SourceScope) -> Bool {
        guard let block = text.scopes(around: gap).first(where: { _ in true }),
            block.open > closure.open, case .control(let keyword) = block.kind,
            ["if", "guard"].contains(keyword)
        else { return false }
        let given = text.parameters(ofClosure: closure)
        let condition = block.head..<block.open
        return condition.contains { given.contains(text.tokens[$0].text) }
            && !condition.contains { text.tokens[$0].isName("case") }
    }

    /// The name of the group that a closure waits for: `group.notify(queue: .main) {`,
    /// `dispatch_group_notify(group, queue, ^{`.
    private func notifiedGroup(_ open: Int) -> String? {
        if text.isObjectiveC {
            let call = (max(0, open - AuditLimits.headWords)..<open).last {
                text.partners[$0] > open
            }
            guard let call, text.sees("dispatch_group_notify", "(", at: call - 1),
                let name = text[call + 1], name.isName, text.sees(",", at: call + 2)
            else { return nil }
            return name.text
        }
        guard text.sees(")", at: open - 1), text.partners[open - 1] > 0 else { return nil }
        let call = text.partners[open - 1] - 1
        guard text.sees(".", "notify", at: call - 1), let name = text[call - 2], name.isName,
            !text.sees(".", at: call - 3)
        else { return nil }
        return name.text
    }
}

extension CompletionPaths.Strictness {
    /// The strictness for closures that leave a group: each path counts.
    fileprivate var ofGroups: CompletionPaths.Strictness {
        var strictness = self
        strictness.countsEnd = true
        return strictness
    }
}

/// The uses of a local group of work, if nothing else has it.
private struct GroupUses {
    /// The names at which it is left.
    var leaves: Set<Int> = []
    /// Those at which it is entered or waited for.
    var others: Set<Int> = []

    /// Reads the uses of a name in a body; `nil` if it is no local group, or has other uses.
    init?(of name: String, in body: Range<Int>, _ text: SourceText) {
        var isDeclared = false
        for place in text.places(of: name, in: body) {
            let isMade =
                text.isObjectiveC
                ? text.sees("=", "dispatch_group_create", at: place + 1)
                : text.sees("let", at: place - 1) && text.sees("=", "DispatchGroup", at: place + 1)
            if isMade {
                guard !isDeclared else { return nil }
                isDeclared = true
                continue
            }
            let member =
                text.isObjectiveC && text.sees("(", at: place - 1)
                ? text[place - 2]?.text.dropFirst("dispatch_group_".count).description
                : text.sees(".", at: place + 1) ? text[place + 2]?.text : nil
            switch member {
            case "leave": leaves.insert(place)
            case "enter", "notify": others.insert(place)
            default: return nil
            }
        }
        let notices = others.count { place in
            text.sees(".", "notify", at: place + 1)
                || text.sees("dispatch_group_notify", at: place - 2)
        }
        // Each closure that leaves it is followed.
        guard isDeclared, 1...64 ~= leaves.count, notices == 1, others.count > 1 else {
            return nil
        }
    }
}
