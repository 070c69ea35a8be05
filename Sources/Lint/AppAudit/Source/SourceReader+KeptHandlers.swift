// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Follows completion handlers out of the private properties that keep them.
extension SourceReader {
    /// The first path without a call in the function that gets a completion handler from the
    /// private property which keeps it, and that nothing else uses.
    mutating func gap(
        behindKept settling: Set<Int>, _ handover: Handover, depth: Int
    ) -> Int? {
        guard handover.kind == .completion, depth < Self.handovers, settling.count == 1,
            let use = settling.first.flatMap(onlyUse(ofPropertySetAt:)),
            let (_, body) = function(around: use),
            let site = text.calls(around: use, in: body).first, !text.usesValue(of: site),
            site.arguments.contains(where: { isWhole($0, at: use) })
        else { return nil }
        let next = self.handover(site, [use], handover.subject, .completion)
        guard !known.contains(next) else { return nil }
        known.insert(next)
        if functions[next.function] == nil {
            noteHandover(next)
            return nil
        }
        guard let (helper, names) = receiver(of: next, inSameFile: true) else { return nil }
        return gap(in: helper, names, next, depth: depth + 1)
    }

    /// Whether an argument is a property alone: `kept`, `done: kept`, `done: self.kept`.
    private func isWhole(_ argument: CallSite.Argument, at use: Int) -> Bool {
        let start = text.sees("self", ".", at: use - 2) ? use - 2 : use
        return !argument.isTrailing && argument.range.upperBound == use + 1
            && argument.range.lowerBound + (argument.label == nil ? 0 : 2) == start
    }

    /// The only place that reads the private property which is set to a value: `self.done = done`.
    /// There is none if the file has another variable of that name, or observes the property.
    private func onlyUse(ofPropertySetAt value: Int) -> Int? {
        guard !text.isObjectiveC, text.sees("=", at: value - 1), let name = text[value - 2],
            name.isName, text[value - 3]?.isMark(".") != true || text.sees("self", at: value - 4),
            let next = text[value + 1], next.position.line > text.tokens[value].position.line
        else { return nil }
        let places = text.places(of: name.text)
        let declarations = places.filter { text.sees("var", at: $0 - 1) }
        guard declarations.count == 1, let declaration = declarations.first,
            ["private", "fileprivate"].contains(where: { text.sees($0, at: declaration - 2) }),
            case .type? = text.scopes(around: declaration).first(where: { _ in true })?.kind,
            !isObserved(declaration)
        else { return nil }
        let uses = places.filter { place in
            place != declaration && !text.isLabel(place) && !sets(place)
        }
        guard uses.count == 1, let (head, _) = function(around: uses[0]),
            !head.parameters.contains(where: { $0.name == name.text })
        else { return nil }
        return uses[0]
    }

    /// Whether a statement sets a property: `kept = done`, `self.kept = done`.
    private func sets(_ name: Int) -> Bool {
        guard text.sees("=", at: name + 1) else { return false }
        let start = text.sees("self", ".", at: name - 2) ? name - 2 : name
        guard start > 0 else { return true }
        let last = text.tokens[start - 1]
        return last.position.line < text.tokens[start].position.line
            || ["{", "}", ";"].contains { last.isMark($0) }
    }
}
