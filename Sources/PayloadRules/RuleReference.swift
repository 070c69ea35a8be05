// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// The rules as a document: the rule reference of the documentation, generated from the table.
public enum RuleReference {
    /// The whole table in Markdown: a heading for each family, and under it each rule with what it
    /// finds, why that matters, how to mend it, and what it rests on.
    public static var markdown: String {
        var text = """
            # Rules

            Every rule of the payload checker, generated from its table.

            ## Overview

            An error is refused or ignored by APNs or by the device, or breaks a documented must. A \
            warning is likely wrong, degraded or risky. A note is good to know. Rules about headers \
            need the headers, rules about history need a log or a plan of pushes in the order of \
            time; the others need a payload and its push type.

            | Rule | Severity | Looks at | Finds |
            | --- | --- | --- | --- |

            """
        for rule in Rules.table { text += row(rule) }
        for family in Rule.Family.allCases {
            text += "\n## \(family.title)\n"
            for rule in Rules.table where rule.family == family { text += section(rule) }
        }
        return text
    }

    /// One rule in Markdown, as it stands in ``markdown``.
    public static func section(_ rule: Rule) -> String {
        """

        ### \(rule.id): \(rule.title)

        *\(rule.severity), \(sight(rule)).* \(rule.rationale)

        To mend it: \(rule.fix)

        Source: \(rule.evidence.map(\.description).joined(separator: "; ")).

        """
    }

    private static func row(_ rule: Rule) -> String {
        "| \(rule.id) | \(rule.severity) | \(rule.requirement) | \(rule.title) |\n"
    }

    private static func sight(_ rule: Rule) -> String {
        let types = rule.pushTypes.map { "`\($0)`" }.joined(separator: ", ")
        let scope = types.isEmpty ? "pushes of every type" : types
        return switch rule.requirement {
        case .payload: scope
        case .headers: scope + ", with headers"
        case .history: scope + ", in a history of pushes"
        }
    }
}
