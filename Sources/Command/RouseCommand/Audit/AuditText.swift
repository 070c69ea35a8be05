// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// A rule about apps for a person.
struct AuditText {
    private let console: Console

    /// Writes to this console.
    init(_ console: Console) { self.console = console }

    /// A rule's manual page, also of one about payloads. Fails with 64 for an id that no rule has.
    func explain(_ name: String) throws(CommandFailure) {
        let id = RuleID(rawValue: name.uppercased())
        if Rules.rule(id) != nil { return try RuleText(console).explain(name) }
        guard let rule = AppRules.rule(id) else {
            let last = AppRules.table.last?.id.rawValue ?? ""
            throw CommandFailure(
                .usage,
                "\(name) is no rule. Those about apps are CF001 to \(last); 'rouse rules' lists "
                    + "those about payloads.")
        }
        console.say("Rule", "\(rule.id), \(rule.severity)", Self.colour(rule.severity))
        console.say("Finds", rule.title)
        console.say("Why", rule.rationale)
        console.say("Fix", rule.fix)
        for (index, source) in rule.evidence.enumerated() {
            console.say(index == 0 ? "Source" : "", source.description)
        }
    }

    private static func colour(_ severity: Severity) -> Console.Colour? {
        switch severity {
        case .error: .bad
        case .warning: .doubtful
        case .note: nil
        }
    }
}
