// SPDX-License-Identifier: Apache-2.0

import PayloadLint
import PayloadRules
import WakeModel

/// Rules for a person.
struct RuleText {
    private let console: Console

    /// Writes to this console.
    init(_ console: Console) { self.console = console }

    /// All rules, family by family.
    func list() {
        for family in Rule.Family.allCases {
            let rules = Rules.table.filter { $0.family == family }
            guard !rules.isEmpty else { continue }
            console.say(console.coloured("\(family.title) (\(family.rawValue))", .strong))
            for rule in rules { say(rule.id, rule.severity, rule.title) }
            console.say()
        }
        console.say(console.coloured("Apps (CF), for rouse audit", .strong))
        for rule in AppRules.table { say(rule.id, rule.severity, rule.title) }
        console.say()
        console.say(
            "\(Rules.table.count) rules about pushes, \(AppRules.table.count) about apps. "
                + "rouse validate --explain <rule> says more.")
    }

    /// One rule, also one about apps. Fails with 64 for an id that no rule has.
    func explain(_ name: String) throws(CommandFailure) {
        let id = RuleID(rawValue: name.uppercased())
        if AppRules.rule(id) != nil { return try AuditText(console).explain(name) }
        guard let rule = Rules.rule(id) else {
            throw CommandFailure(
                .usage, "\(name) is no rule. \(RuleSelection.remedy(for: name))")
        }
        console.say("Rule", "\(rule.id), \(rule.severity)", colour(rule.severity))
        console.say("Finds", rule.title)
        console.say("About", about(rule))
        console.say("Why", rule.rationale)
        console.say("Fix", rule.fix)
        for (index, source) in rule.evidence.enumerated() {
            console.say(index == 0 ? "Source" : "", source.description)
        }
    }

    private func about(_ rule: Rule) -> String {
        let types = rule.pushTypes.map(\.rawValue).joined(separator: ", ")
        let pushes = types.isEmpty ? "pushes of every type" : "pushes of type \(types)"
        return switch rule.requirement {
        case .payload: pushes
        case .headers: "\(pushes), with their headers"
        case .history: "\(pushes), in a log (--log)"
        }
    }

    private func say(_ id: RuleID, _ severity: Severity, _ title: String) {
        let columns =
            id.rawValue.padding(toWidth: 7)
            + console.coloured(
                severity.rawValue.padding(toWidth: 9), colour(severity) ?? .strong)
        console.say("  \(columns)\(title)")
    }

    private func colour(_ severity: Severity) -> Console.Colour? {
        switch severity {
        case .error: .bad
        case .warning: .doubtful
        case .note: nil
        }
    }
}
