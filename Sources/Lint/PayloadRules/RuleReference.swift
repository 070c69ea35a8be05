// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// The rule references of the documentation, generated from the tables.
public enum RuleReference {
    /// All rules in Markdown, with a heading for each family. Each rule has its fault, rationale,
    /// fix and sources.
    public static var markdown: String {
        var text = """
            # Rules

            Every rule of the payload checker, generated from its table.

            ## Overview

            An error is refused or ignored by APNs or by the device, or breaks a documented \
            must. A warning is likely wrong, degraded or risky. A note is good to know. Rules \
            about headers need the headers, rules about history need a log or a plan of pushes in \
            the order of time; the others need a payload and its push type.

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

    /// One rule in Markdown, as in ``markdown``.
    public static func section(_ rule: Rule) -> String {
        """

        ### \(rule.id): \(rule.title)

        *\(rule.severity), \(sight(rule)).* \(rule.rationale)

        Fix: \(rule.fix)

        Source: \(rule.evidence.map(\.description).joined(separator: "; ")).

        """
    }

    /// The rules about an app's project, in the same form.
    public static var appMarkdown: String {
        var text = """
            # Rules about apps

            Every rule of the checker of apps, generated from its table.

            ## Overview

            `rouse audit` reads an app's Xcode project, Info.plist, entitlements, and sources in \
            Swift and Objective-C, and compares them with what the server sends. What rests on \
            source text alone weighs at most as a warning, except for rules CF020 and CF056. A \
            rule that finds that nothing does something is not asked where not all was read, \
            which is said.

            | Rule | Severity | Finds |
            | --- | --- | --- |

            """
        for rule in AppRules.table {
            text += "| \(rule.id) | \(rule.severity) | \(rule.title) |\n"
        }
        text += "\n## The rules\n"
        for rule in AppRules.table { text += section(rule) }
        return text
    }

    /// One rule about apps in Markdown, as in ``appMarkdown``.
    public static func section(_ rule: AppRule) -> String {
        """

        ### \(rule.id): \(rule.title)

        *\(rule.severity).* \(rule.rationale)

        Fix: \(rule.fix)

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
