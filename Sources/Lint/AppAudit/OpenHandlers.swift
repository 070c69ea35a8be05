// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// The handlers of pushes and background tasks about which rules came to no answer, by app and by
/// what they get.
struct OpenHandlers {
    private struct Owner: Hashable {
        let target: String?
        let push: ServerPush?
    }

    private var owners: [Owner] = []
    private var handlers: [Owner: [AppFacts.OpenHandler]] = [:]
    /// Their places: each is told once, and several build configurations have it.
    private var places: [Owner: Set<AppPlace>] = [:]

    /// Adds those in the facts of one build configuration.
    mutating func add(_ facts: AppFacts, besides found: [AppFinding]) {
        for bundle in facts.bundles where bundle.platform != .macOS {
            let told = found.filter { bundle.name.map($0.targets.contains) ?? true }
            let rules = Set(told.map(\.diagnostic.rule))
            for handler in bundle.sources?.openHandlers ?? [] {
                var open = handler
                // Nothing in the app reports calls.
                if rules.contains("CF009") { open.rules.subtract(["CF009", "CF033"]) }
                guard !open.rules.isEmpty else { continue }
                let owner = Owner(target: bundle.name, push: handler.push)
                if handlers[owner] == nil { owners.append(owner) }
                if places[owner, default: []].insert(open.place).inserted {
                    handlers[owner, default: []].append(open)
                }
            }
        }
    }

    /// The entries of the report.
    var unjudged: [AuditReport.Unjudged] {
        var all: [AuditReport.Unjudged] = []
        for owner in owners {
            let handlers = handlers[owner] ?? []
            let rules = handlers.reduce(into: Set<RuleID>()) { $0.formUnion($1.rules) }
            let targets = owner.target.map { [$0] } ?? []
            let entry = AuditReport.Unjudged(
                targets: targets, reason: Self.reason(handlers, owner.push, rules),
                rules: rules.sorted())
            let index = all.firstIndex { $0.reason == entry.reason && $0.rules == entry.rules }
            if let index { all[index].targets += targets } else { all.append(entry) }
        }
        return all
    }

    private static func reason(
        _ handlers: [AppFacts.OpenHandler], _ push: ServerPush?, _ rules: Set<RuleID>
    ) -> String {
        let shown = handlers.prefix(3).map { "\($0.place.file):\($0.place.line)" }
        let places = shown.joined(separator: ", ") + (handlers.count > shown.count ? ", …" : "")
        let isPlural = handlers.count > 1
        let kind =
            push == nil ? "background tasks" : push == .voip ? "VoIP pushes" : "silent pushes"
        let what = push == nil ? leftOfTask(rules, isPlural) : leftOfPush(rules, isPlural)
        let subject = isPlural ? "handlers" : "handler"
        let verb = isPlural ? "leave" : "leaves"
        return "\(handlers.count) \(subject) of \(kind) \(verb) \(what) to code that is not "
            + "followed (\(places))"
    }

    private static func leftOfPush(_ rules: Set<RuleID>, _ isPlural: Bool) -> String {
        let completions: Set<RuleID> = ["CF003", "CF034"]
        let own = isPlural ? "their completion handlers" : "its completion handler"
        return rules.isSubset(of: completions)
            ? own : rules.isDisjoint(with: completions) ? "the push" : "the push or \(own)"
    }

    private static func leftOfTask(_ rules: Set<RuleID>, _ isPlural: Bool) -> String {
        let task = isPlural ? "their tasks" : "its task"
        return rules.contains("CF036") ? task : "the end of " + task
    }
}
