// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// The rules and the name of a command: the only differences between the reports of the two
/// commands.
package struct RuleTable: Sendable {
    /// A rule in a report.
    package struct Entry: Sendable {
        let id: RuleID
        let severity: Severity
        let title: String
        let rationale: String
        let sources: [String]
        let fix: String
    }

    /// The command, such as `rouse validate`.
    let command: String
    /// The rules, by id.
    let entries: [Entry]
    /// The index of each rule in ``entries``.
    let indices: [RuleID: Int]

    private init(_ command: String, _ entries: [Entry]) {
        self.command = command
        self.entries = entries
        indices = Dictionary(uniqueKeysWithValues: entries.enumerated().map { ($1.id, $0) })
    }

    /// The rules about pushes.
    package static let pushes = RuleTable(
        "rouse validate",
        Rules.table.map { rule in
            Entry(
                id: rule.id, severity: rule.severity, title: rule.title, rationale: rule.rationale,
                sources: rule.evidence.map(\.description), fix: rule.fix)
        })

    /// The rules about apps.
    package static let apps = RuleTable(
        "rouse audit",
        AppRules.table.map { rule in
            Entry(
                id: rule.id, severity: rule.severity, title: rule.title, rationale: rule.rationale,
                sources: rule.evidence.map(\.description), fix: rule.fix)
        })

    /// All rules of both tables, for settings that both commands read.
    static let all: [RuleID] = (pushes.entries + apps.entries).map(\.id)
}
