// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Finds handlers of background tasks about which the rules come to no answer, because what they
/// leave to others is not followed.
extension SourceReader {
    /// What a handler does with its task.
    struct TaskUses {
        /// The tokens that end it, in the handler and its closures, or hand it on.
        let ends: Set<Int>
        /// The tokens at which it is handed on, or kept.
        let handedOn: [Int]
        /// The token of its expiration handler.
        let expiration: Int?
    }

    /// Notes a handler that leaves its task, or what ends it, to code that is not read here.
    mutating func noteOpenTask(
        _ scope: SourceScope, _ uses: TaskUses, _ strictness: CompletionPaths.Strictness
    ) {
        let body = text.content(ofBracket: scope.open)
        let own = uses.ends.subtracting(uses.handedOn)
        let direct = own.filter { isInKnownClosures($0, of: scope) && !isInKeptClosure($0, body) }
        let gaps = CompletionPaths(text, body: scope, strictness, settles: direct.contains).gaps
        guard !gaps.isEmpty else { return }
        var rules: Set<RuleID> = []
        var handovers: [Handover: Set<RuleID>] = [:]
        func note(
            _ tokens: [Int], _ kind: Handover.Kind, _ open: (Int) -> Set<RuleID>,
            isLeft: (Int) -> Bool
        ) {
            for token in tokens.prefix(AuditLimits.headWords) {
                if isLeft(token) { rules.formUnion(open(token)) }
                for site in text.calls(around: token, in: body) where !isKnown(site, token) {
                    let fault = SourceObservation.Subject.fault(.taskPathWithoutEnd)
                    let handover = handover(site, tokens, fault, kind)
                    // The type of an operation is looked at, and not noted.
                    if known.contains(handover), !Self.isIdle(handover.function) {
                        handovers[handover, default: []].formUnion(open(token))
                    } else if text.usesValue(of: site) {
                        rules.formUnion(open(token))
                    }
                }
            }
        }
        let ending = own.subtracting(direct).sorted()
        note(ending, .completion) { _ in
            expiresElsewhere(uses) ? ["CF035", "CF037"] : ["CF035"]
        } isLeft: {
            isInKeptClosure($0, body)
        }
        // A function of this file that gets the task too is read as a handler.
        let isGiven = uses.handedOn.prefix(AuditLimits.headWords).contains { token in
            text.calls(around: token, in: body).contains {
                functions[text.tokens[$0.name].text] != nil
            }
        }
        note(uses.handedOn, .task) { token in
            // What a property keeps, this file ends, and sets its expiration handler there.
            let isEndedHere = isKeptTask(token) && endsSomeTask
            return uses.expiration != nil || isEndedHere ? ["CF035"] : ["CF035", "CF036", "CF037"]
        } isLeft: {
            isKeptTask($0) && !isGiven || isLeftToExtension($0)
        }
        guard !rules.isEmpty || !handovers.isEmpty else { return }
        digest.openHandlers.append(
            SourceDigest.OpenHandler(
                handler: AppFacts.OpenHandler(
                    push: nil, place: text.place(of: scope.head), rules: rules),
                handovers: handovers))
    }

    /// Whether a call that gets a token is of a function of this file, which is followed, or of one
    /// of the system that runs a closure around the token, or that does nothing with what it gets.
    private func isKnown(_ site: CallSite, _ token: Int) -> Bool {
        // In Objective-C the receiver stands before the name.
        guard token > site.name else { return true }
        let name = text.tokens[site.name].text
        let isInClosure = (site.name..<token).contains {
            text.sees("{", at: $0) && text.partners[$0] > token
        }
        if functions[name] != nil || isInClosure && Self.runsClosures(name) { return true }
        guard name.first?.isUppercase == true else { return Self.isIdle(name) }
        return text.places(of: name).contains { place in
            ["class", "struct", "actor"].contains { text.sees($0, at: place - 1) }
        }
    }

    /// Whether a task is set as the value of a property: `self.task = task`.
    private func isKeptTask(_ index: Int) -> Bool {
        text.sees("=", at: index - 1) && text[index - 2]?.isName == true
            && !["let", "var"].contains { text.sees($0, at: index - 3) }
    }

    /// Whether this file ends a task.
    private var endsSomeTask: Bool {
        ["setTaskCompleted", "setTaskCompletedWithSuccess"].contains {
            !text.places(of: $0).isEmpty
        }
    }

    /// Whether a function of an extension that is not in this file gets a task: `task.finish()`.
    private func isLeftToExtension(_ index: Int) -> Bool {
        guard !text.isObjectiveC else { return false }
        let dot = text.sees("?", at: index + 1) || text.sees("!", at: index + 1) ? 2 : 1
        guard text.sees(".", at: index + dot), let name = text[index + dot + 1] else {
            return false
        }
        return functions[name.text] == nil
    }

    /// Whether a token is in a closure that a property keeps: `service.onEnd = { … }`. An operation
    /// runs its completion block.
    private func isInKeptClosure(_ index: Int, _ body: Range<Int>) -> Bool {
        text.scopes(around: index).prefix { $0.open >= body.lowerBound }.contains { scope in
            guard case .closure = scope.kind else { return false }
            let start = text.sees("^", at: scope.open - 1) ? scope.open - 1 : scope.open
            guard text.sees("=", at: start - 1), let name = text[start - 2], name.isName else {
                return false
            }
            return text.sees(".", at: start - 3) && name.text != "completionBlock"
        }
    }

    /// Whether the expiration handler of this handler stops something, and leaves the end of the
    /// task to that.
    private func expiresElsewhere(_ uses: TaskUses) -> Bool {
        guard let closure = uses.expiration.flatMap(expirationClosure) else { return false }
        return closure.contains { isCall($0) && !isIdleCall($0) }
            && !closure.contains { text.tokens[$0].text.hasPrefix("setTaskCompleted") }
    }
}
