// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Finds handlers of pushes about which the rules come to no answer, because what they leave to
/// others is not followed.
extension SourceReader {
    /// The rules about reports that depend on what a handler of VoIP pushes calls elsewhere, those
    /// that depend on calls which get the push apart. If a path is told of, only further ones are
    /// open.
    func openRules(
        of scope: SourceScope, _ reports: Set<Int>, _ strictness: CompletionPaths.Strictness,
        pushes: Set<Handover>, isTold: Bool
    ) -> (rules: Set<RuleID>, handovers: [Handover: Set<RuleID>]) {
        guard case .function(let head) = scope.kind, Self.isVoIPHandler(head), !reports.isEmpty
        else { return ([], [:]) }
        let known = reports.filter { index in
            leadsToReport(index) && isInKnownClosures(index, of: scope)
                // A library says by its name that it reports the call.
                || Self.speaksOfReport(text.tokens[index].text)
        }
        let told = isTold ? ends(ofPathsTo: reports, in: scope, strictness) : []
        var strictness = strictness
        strictness.countsEnd = true
        func gaps(besides known: Set<Int>) -> Set<Int> {
            let known = known.union(told)
            return Set(CompletionPaths(text, body: scope, strictness, settles: known.contains).gaps)
        }
        let others = isTold ? gaps(besides: reports) : []
        func isOpen(besides known: Set<Int>) -> Bool {
            !gaps(besides: known).isSubset(of: others)
        }
        guard isOpen(besides: known) else { return ([], [:]) }
        let rules: Set<RuleID> =
            reports.contains { leadsToReport($0) } ? ["CF033"] : ["CF009", "CF033"]
        let functions = Set(pushes.map(\.function))
        let handedOn = reports.filter { functions.contains(text.tokens[$0].text) }
        if isOpen(besides: known.union(handedOn)) { return (rules, [:]) }
        return ([], Dictionary(uniqueKeysWithValues: pushes.map { ($0, rules) }))
    }

    /// The tokens at the ends of the paths without one of some tokens, which a path meets: of a
    /// branch the first word.
    private func ends(
        ofPathsTo tokens: Set<Int>, in scope: SourceScope,
        _ strictness: CompletionPaths.Strictness
    ) -> Set<Int> {
        let gaps = CompletionPaths(text, body: scope, strictness, settles: tokens.contains).gaps
        return Set(
            gaps.map { gap in
                text.content(ofBracket: gap).first { text.tokens[$0].isName } ?? gap
            })
    }

    /// Whether a token is a report, or a call of a function of this file that leads to one.
    private func leadsToReport(_ index: Int) -> Bool {
        guard !Self.reports.contains(text.tokens[index].text) else { return true }
        guard isCall(index),
            let helper = calledFunction(index) ?? olderHandler(calledAt: index)
        else { return false }
        return leadsToReport(helper)
    }

    /// Whether a function has a report, or calls one of this file that leads to one.
    func leadsToReport(_ function: SourceScope) -> Bool {
        let reporting = notes.reporting ?? functionsThatReport()
        notes.reporting = reporting
        return reporting.contains(function.open)
    }

    /// The functions of this file that have a report, or lead to one, by their braces.
    private func functionsThatReport() -> Set<Int> {
        var callers: [Int: [Int]] = [:]
        var pending: [Int] = []
        for index in text.tokens.indices {
            let isReport = Self.reports.contains(text.tokens[index].text)
            let called =
                isReport || !isCall(index)
                ? nil : calledFunction(index) ?? olderHandler(calledAt: index)
            guard isReport || called != nil else { continue }
            for scope in text.scopes(around: index) {
                guard case .function = scope.kind else { continue }
                if let called {
                    callers[called.open, default: []].append(scope.open)
                } else {
                    pending.append(scope.open)
                }
            }
        }
        var found: Set<Int> = []
        while let next = pending.popLast() {
            if found.insert(next).inserted { pending += callers[next] ?? [] }
        }
        return found
    }

    /// Notes a handler that leaves the report or its completion handler to code that is not read
    /// here, with the handovers since it was begun. If a path without completion is told of, only
    /// further ones are open.
    mutating func noteOpenHandler(
        _ scope: SourceScope, of push: ServerPush,
        _ open: (rules: Set<RuleID>, handovers: [Handover: Set<RuleID>]), completion: String?,
        since noted: Int, isTold: Bool = false
    ) {
        guard case .function(let head) = scope.kind,
            push == .background || Self.isVoIPHandler(head)
        else { return }
        var (rules, handovers) = open
        let rule: RuleID = push == .voip ? "CF034" : "CF003"
        if let completion, leavesCompletion(completion, in: scope, isTold: isTold) {
            let completions = Set(digest.handovers[noted...].filter { $0.kind == .completion })
            if isKept(completion, in: scope, completions) {
                rules.insert(rule)
            } else {
                for handover in completions { handovers[handover, default: []].insert(rule) }
            }
        }
        guard !rules.isEmpty || !handovers.isEmpty else { return }
        digest.openHandlers.append(
            SourceDigest.OpenHandler(
                handler: AppFacts.OpenHandler(
                    push: push, place: text.place(of: scope.head), rules: rules),
                handovers: handovers))
    }

    /// Whether a handler does not itself complete on each path, besides those without any mention
    /// of its completion handler, if one is told of.
    private func leavesCompletion(
        _ completion: String, in scope: SourceScope, isTold: Bool
    ) -> Bool {
        let strictness = CompletionPaths.Strictness(
            exemptNames: Self.voipStrictness.exemptNames.union([completion]), startsAnew: true)
        let isMention = { [text] (index: Int) in
            text.tokens[index].isName(completion) && !text.isLabel(index)
        }
        let own = CompletionPaths(text, body: scope, strictness) { [self] index in
            isMention(index)
                && (isCall(index) && isInKnownClosures(index, of: scope)
                    || isCompleted(byReportAt: index))
        }
        let told =
            isTold ? CompletionPaths(text, body: scope, strictness, settles: isMention).gaps : []
        return !Set(own.gaps).isSubset(of: told)
    }

    /// Whether a completion handler goes to what is not noted as a call that gets it: it is kept,
    /// or the call returns something.
    private func isKept(
        _ completion: String, in scope: SourceScope, _ handovers: Set<Handover>
    ) -> Bool {
        let body = text.content(ofBracket: scope.open)
        let names = Set(handovers.map(\.function))
        let others = body.filter { index in
            text.tokens[index].isName(completion) && !text.isLabel(index)
                && !(isCall(index) && isInKnownClosures(index, of: scope))
                && !isCompleted(byReportAt: index)
        }
        return others.prefix(AuditLimits.headWords).contains { index in
            let sites = text.calls(around: index, in: body)
            // A condition that asks for it hands nothing on, nor does another name for it.
            if sites.isEmpty {
                return text.sees("=", at: index - 1) && !text.sees("let", at: index - 3)
            }
            return !sites.contains { site in
                let name = text.tokens[site.name].text
                return names.contains(name) || functions[name] != nil || Self.runsClosures(name)
            }
        }
    }

    /// Whether a token is in no closure but those that certainly run.
    func isInKnownClosures(_ index: Int, of function: SourceScope) -> Bool {
        for scope in text.scopes(around: index) {
            if scope.open == function.open { return true }
            guard case .closure(let callee?) = scope.kind else { continue }
            if functions[callee] == nil, !Self.runsClosures(callee) { return false }
        }
        return true
    }

    /// Whether a function is one of the system that runs the closures which it gets.
    static func runsClosures(_ name: String) -> Bool {
        laterCallees.contains(name) || reports.contains(name) || runningCallees.contains(name)
    }

    /// Functions of the system that run their closures, besides those that run later.
    private static let runningCallees: Set = [
        "sync", "perform", "performAndWait", "withLock", "forEach", "notify", "addOperation",
        "run", "animate", "add", "request", "requestAuthorization", "getNotificationSettings",
        "getDeliveredNotifications", "getPendingNotificationRequests", "getAllTasks",
        "scheduledTimer", "assumeIsolated", "dispatch_async", "dispatch_after", "addTask",
        "performBackgroundTask", "performChanges", "reverseGeocodeLocation",
        "getCurrentConfigurations", "loadPersistentStores", "getTasksWithCompletionHandler",
        "getNotificationCategories", "withExtendedLifetime", "DispatchWorkItem", "BlockOperation",
        "Timer", "HKSampleQuery",
    ]
}
