// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// A call that gets what a handler answers for, and whose function is in another file.
struct Handover: Hashable, Sendable {
    /// What the call gets.
    enum Kind: Hashable, Sendable {
        /// A completion handler, or a closure that completes.
        case completion
        /// A task, which the function ends.
        case task
        /// A VoIP push, whose call the function reports.
        case push
        /// A closure that reports a call here, which the function may run too late.
        case report(AppPlace)
        /// A closure that reports a call here, which the function may run only after a pause or a
        /// request.
        case answer(AppPlace)
        /// Nothing: the function runs when the app leaves the foreground.
        case leaving
        /// Nothing: a task is ended, or a push answered, at this place behind the call.
        case working(AppPlace)

        /// Whether the call gets nothing that is followed.
        var isBare: Bool {
            switch self {
            case .leaving, .working: true
            case .completion, .task, .push, .report, .answer: false
            }
        }
    }

    struct Argument: Hashable, Sendable {
        let label: String?
        let isTrailing: Bool
        /// Whether it is, or contains, what is handed on.
        let isWanted: Bool
    }

    /// The name of the function.
    let function: String
    let arguments: [Argument]
    let owner: CallSite.Owner
    /// The type of the caller, and those that it inherits; empty if the receiver is another object.
    let callerTypes: [String]
    let isObjectiveC: Bool
    /// What a path without a call in the function is.
    let subject: SourceObservation.Subject
    let kind: Kind
    /// Whether it is followed only to know whether it can be: a nearer path is told of.
    var isQuiet = false

    /// The names of the parameters that get it; `nil` if the arguments do not fit.
    func parameters(of head: SourceScope.FunctionHead) -> Set<String>? {
        var names: Set<String> = []
        var next = 0
        let trailing = arguments.count { $0.isTrailing }
        guard !isObjectiveC || arguments.count == head.parameters.count else { return nil }
        for argument in arguments {
            if argument.isTrailing, argument.label == nil {
                // The first parameter that a closure fits (SE-0286), as far as its type tells.
                let closure = head.parameters.indices.dropFirst(next).first {
                    !Set(["escaping", "Void"]).isDisjoint(with: head.parameters[$0].types)
                }
                next = closure ?? max(next, head.parameters.count - trailing)
            } else {
                while next < head.parameters.count, !fits(argument, head.parameters[next]) {
                    next += 1
                }
            }
            guard next < head.parameters.count else { return nil }
            if argument.isWanted { names.insert(head.parameters[next].name) }
            next += 1
        }
        return names.contains("_") ? nil : names
    }

    private func fits(
        _ argument: Argument, _ parameter: SourceScope.FunctionHead.Parameter
    ) -> Bool {
        parameter.label == argument.label ?? "_"
    }

    /// Whether a function of this type is the one that is called, if nothing else is.
    func calls(_ type: SourceScope.TypeHead?, inSameFile: Bool) -> Bool {
        if case .own = owner {
            return inSameFile || type.map { callerTypes.contains($0.name) } ?? true
        }
        return owner.isOf(type)
    }

    /// Whether a function of this type may be called instead: of a type that inherits the one of
    /// the receiver, which may be a protocol.
    func mayCall(_ type: SourceScope.TypeHead?) -> Bool {
        guard case .typed(let name) = owner, let type else { return false }
        return type.inherited.contains(name)
    }
}

extension CallSite.Owner {
    /// Whether the receiver of a call is of this type, as far as the call shows.
    func isOf(_ type: SourceScope.TypeHead?) -> Bool {
        switch self {
        case .own: true
        case .typed(let name): type?.name == name
        case .named(let name): type?.name.lowercased() == name.lowercased()
        case .unknown: false
        }
    }
}

/// Follows completion handlers and closures into the functions that get them.
extension SourceReader {
    /// The maximum number of functions that hand one on.
    static let handovers = 3

    /// The first path without a call in the functions that get what completes at some tokens of a
    /// body. Those of other files are noted.
    mutating func gap(
        behind tokens: some Sequence<Int>, in scope: SourceScope,
        _ subject: SourceObservation.Subject,
        _ strictness: CompletionPaths.Strictness = CompletionPaths.Strictness(),
        kind: Handover.Kind = .completion, depth: Int = 0, settles: @escaping (Int) -> Bool
    ) -> Int? {
        guard depth < Self.handovers else { return nil }
        let body = text.content(ofBracket: scope.open)
        let tokens = Array(tokens)
        let settling = Set(body.filter(settles))
        var seen: Set<Int> = []
        var handovers: [Handover] = []
        // The same call at several places is one.
        var completing: [Handover: [Range<Int>]] = [:]
        for token in tokens {
            for site in text.calls(around: token, in: body)
            where seen.insert(site.name).inserted && !text.usesValue(of: site) {
                let handover = handover(site, tokens, subject, kind)
                if completing[handover] == nil { handovers.append(handover) }
                completing[handover, default: []].append(site.range)
            }
        }
        for handover in handovers where !known.contains(handover) {
            // Something else completes too.
            let own = completing[handover] ?? []
            let others = settling.filter { index in !own.contains { $0.contains(index) } }
            let paths = CompletionPaths(text, body: scope, strictness, settles: others.contains)
            guard !paths.gaps.isEmpty else { continue }
            known.insert(handover)
            if functions[handover.function] == nil {
                noteHandover(handover)
            } else if kind == .completion,
                let (helper, names) = receiver(of: handover, inSameFile: true),
                helper.open != scope.open,
                let gap = gap(in: helper, names, handover, depth: depth + 1)
            {
                return gap
            }
        }
        return nil
    }

    /// The first path without a call of a parameter in a function that gets a completion handler.
    mutating func gap(
        in helper: SourceScope, _ names: Set<String>, _ handover: Handover, depth: Int
    ) -> Int? {
        // The same function is looked at once, however many paths lead to it.
        let visit = "\(helper.open) \(names.sorted()) \(handover.kind) \(handover.subject)"
        guard visited.insert(visit).inserted else { return nil }
        let body = text.content(ofBracket: helper.open)
        if handover.kind == .task {
            // A function that ends a task, or has no other parameter, is read as a handler.
            guard handover.arguments.count > 1, !endsTask(names, in: body) else { return nil }
        }
        let settling = Set(
            body.filter { index in
                handover.kind == .task
                    ? settlesTask(index, named: names)
                    : text.tokens[index].isName && names.contains(text.tokens[index].text)
                        && !text.isLabel(index) && !text.sees(".", at: index - 1)
                        && !isShadowed(index, in: helper)
            })
        // Which parameter a closure after the arguments is, the call does not always tell.
        if handover.arguments.contains(where: { $0.isTrailing && $0.isWanted && $0.label == nil }),
            settling.isEmpty
        {
            return nil
        }
        let gaps = CompletionPaths(text, body: helper, settles: settling.contains).gaps
        return gaps.min()
            ?? gap(
                behind: settling.sorted(), in: helper, handover.subject, kind: handover.kind,
                depth: depth, settles: settling.contains)
            ?? gap(behindKept: settling, handover, depth: depth)
    }

    /// Whether a name is another one than that of the parameter: `if let (done, timer) = kept {`.
    private func isShadowed(_ index: Int, in helper: SourceScope) -> Bool {
        for scope in text.scopes(around: index) {
            if scope.open == helper.open { return false }
            let isDeclared = (scope.head..<max(index, scope.head)).contains { word in
                guard text.tokens[word].isName("let") || text.tokens[word].isName("var") else {
                    return false
                }
                let name = text.tokens[index].text
                guard text.sees("(", at: word + 1) else {
                    // `if let done {` and `if let done = done {` unwrap the same one.
                    return text.tokens[word + 1].isName(name) && text.sees("=", at: word + 2)
                        && text[word + 3]?.isName(name) != true
                }
                return text.content(ofBracket: word + 1).contains { text.tokens[$0].isName(name) }
            }
            if isDeclared { return true }
        }
        return false
    }

    /// Looks for the handovers of a handler of which a path is told of already: they are followed,
    /// and what is found in them is not told too.
    mutating func quietly(_ look: (inout SourceReader) -> Void) {
        let counts = (entries: digest.entries.count, handovers: digest.handovers.count)
        look(&self)
        digest.entries.removeSubrange(counts.entries...)
        for index in digest.handovers.indices.dropFirst(counts.handovers) {
            digest.handovers[index].isQuiet = true
        }
    }

    /// Notes the functions of other files that get a VoIP push, and alone may report its call.
    mutating func noteReports(
        of scope: SourceScope, _ reports: Set<Int>, _ strictness: CompletionPaths.Strictness
    ) {
        var whole = strictness
        whole.countsEnd = true
        var handovers: [Handover] = []
        var reporting: [Handover: Set<Int>] = [:]
        for index in reports.sorted() where functions[text.tokens[index].text] == nil {
            guard let site = text.call(at: index), !text.usesValue(of: site) else { continue }
            let inputs = site.range.filter {
                text.tokens[$0].isName && strictness.inputNames.contains(text.tokens[$0].text)
            }
            guard !inputs.isEmpty else { continue }
            let handover = handover(site, inputs, .fault(.voipPathWithoutReport), .push)
            if reporting[handover] == nil { handovers.append(handover) }
            reporting[handover, default: []].insert(index)
        }
        for handover in handovers {
            let others = reports.subtracting(reporting[handover] ?? [])
            let paths = CompletionPaths(text, body: scope, whole, settles: others.contains)
            if !paths.gaps.isEmpty { noteHandover(handover) }
        }
    }

    func handover(
        _ site: CallSite, _ tokens: [Int], _ subject: SourceObservation.Subject,
        _ kind: Handover.Kind
    ) -> Handover {
        let type = owner(around: site.name)
        return Handover(
            function: text.tokens[site.name].text,
            arguments: site.arguments.map { argument in
                Handover.Argument(
                    label: argument.label, isTrailing: argument.isTrailing,
                    isWanted: tokens.contains(where: argument.range.contains))
            },
            owner: site.owner,
            callerTypes: site.owner == .own ? type.map { [$0.name] + $0.inherited } ?? [] : [],
            isObjectiveC: text.isObjectiveC, subject: subject, kind: kind)
    }

    /// The function of this file that a call reaches; `nil` if there are several, or if it may be
    /// one of another type.
    func calledFunction(_ index: Int) -> SourceScope? {
        guard let function = onlyFunction(text.tokens[index].text) else { return nil }
        let owner = text.call(at: index)?.owner ?? .own
        return owner.isOf(self.owner(around: function.head)) ? function : nil
    }

    /// The type around a token.
    func owner(around index: Int) -> SourceScope.TypeHead? {
        guard text.isObjectiveC else { return text.type(around: index) }
        let start = text.places(of: "implementation", in: 0..<index).last {
            text.sees("@", at: $0 - 1)
        }
        return start.flatMap { text[$0 + 1] }.map {
            SourceScope.TypeHead(name: $0.text, inherited: [])
        }
    }

    /// The function of this file that a call reaches, and the names of its parameters; `nil` if
    /// another one may be meant.
    func receiver(
        of handover: Handover, inSameFile: Bool
    ) -> (SourceScope, names: Set<String>)? {
        let found = receivers(of: handover, inSameFile: inSameFile)
        return found.count == 1 ? found.first : nil
    }

    /// The functions of this file that a call reaches, and the number of all that may be meant. The
    /// requirement of a protocol stands for those of types that are not known.
    private func receivers(
        of handover: Handover, inSameFile: Bool
    ) -> (first: (SourceScope, names: Set<String>)?, count: Int) {
        guard handover.isObjectiveC == text.isObjectiveC else { return (nil, 0) }
        var first: (SourceScope, names: Set<String>)?
        var count = 0
        for scope in text.scopes {
            switch scope.kind {
            case .function(let head) where head.name == handover.function:
                guard let names = handover.parameters(of: head),
                    !names.isEmpty || handover.kind.isBare
                else { continue }
                let type = owner(around: scope.head)
                if handover.calls(type, inSameFile: inSameFile) {
                    first = first ?? (scope, names)
                } else if !handover.mayCall(type) {
                    continue
                }
                count += 1
            case .type(let head) where handover.owner == .typed(head.name):
                let isRequired =
                    text.tokens[scope.head].isName("protocol")
                    && text.content(ofBracket: scope.open).contains {
                        text.sees("func", handover.function, at: $0)
                    }
                if isRequired { count += 1 }
            default: continue
            }
        }
        return (first, count)
    }

    /// What a file has for a handover from another one.
    struct Following {
        /// The number of functions that may be meant.
        var count = 0
        /// Whether the only one leaves a push to others again.
        var isOpen = false
        /// The place of a path without a call in the only one, and its handovers to further files.
        var digest = SourceDigest()
    }

    /// Follows a handover from another file into this one.
    func following(_ handover: Handover) -> Following {
        var reader = self
        reader.known = [handover]
        var isOpen = false
        let found = reader.receivers(of: handover, inSameFile: false)
        if found.count == 1, let (helper, names) = found.first {
            if case .answer(let place) = handover.kind {
                reader.seeLateReport(place, behind: names, in: helper, depth: 1, afterWait: true)
                return Following(count: 1, digest: reader.digest)
            }
            if case .report(let place) = handover.kind {
                reader.seeLateReport(place, behind: names, in: helper, depth: 1)
                return Following(count: 1, digest: reader.digest)
            }
            if case .working = handover.kind {
                if reader.returnsBeforeWork(helper) { reader.digest.begunWork = [handover] }
                return Following(count: 1, digest: reader.digest)
            }
            if handover.kind == .leaving {
                if let timer = reader.timerOnLeaving(in: helper) {
                    reader.see(handover.subject, at: timer)
                }
                return Following(count: 1, digest: reader.digest)
            }
            isOpen = handover.kind == .push && !reader.leadsToReport(helper)
            let gap =
                handover.kind == .push
                ? reader.reportGap(in: helper, names)
                : reader.gap(in: helper, names, handover, depth: 1)
            if let gap {
                reader.see(handover.subject, at: gap)
            }
        }
        return Following(count: found.count, isOpen: isOpen, digest: reader.digest)
    }
}
