// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import PayloadRules
import WakeModel

/// `rouse rules`: all rules, or a JSON Schema of payloads.
struct RulesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rules",
        abstract: "List the rules that payloads, headers, logs and apps are checked by.",
        discussion: """
            `rouse validate --explain <rule>` says of one rule why it exists, what it rests on and \
            how to mend what it finds. With --schema, a JSON Schema of payloads is printed, for \
            editors: it knows less than the rules do.

            Examples:

              rouse rules
              rouse rules --json
              rouse rules --schema background > background.schema.json
            """)

    /// The payloads that have a schema.
    enum Schema: String, CaseIterable, ExpressibleByArgument {
        case background
        case voip
    }

    @Flag(help: "Write the rules as JSON.")
    var json = false

    @Option(
        help: ArgumentHelp(
            "Print the JSON Schema of background or voip payloads.", valueName: "kind"))
    var schema: Schema?

    func validate() throws {
        if json, schema != nil {
            throw ValidationError("--schema is JSON already. Leave --json out.")
        }
    }

    func run() throws {
        let console = Console(.current)
        switch schema {
        case .background: console.say(PayloadSchema.background)
        case .voip: console.say(PayloadSchema.voip)
        case nil where json: try console.write(RuleDocument.all)
        case nil: RuleText(console).list()
        }
    }
}

/// One rule as JSON.
struct RuleDocument: Encodable {
    let id: String
    let family: String
    let severity: String
    let title: String
    let rationale: String
    let fix: String
    let sources: [String]
    /// Empty for a rule about pushes of every type, and for one about apps.
    let pushTypes: [String]
    /// What the rule has to be shown: payload, headers, history or app.
    let requires: String

    /// All rules: those about pushes, by id, and those about apps.
    static let all =
        Rules.table.map { RuleDocument($0) } + AppRules.table.map { RuleDocument($0) }

    /// Describes a rule about apps.
    init(_ rule: AppRule) {
        id = rule.id.rawValue
        family = "Apps"
        severity = rule.severity.rawValue
        title = rule.title
        rationale = rule.rationale
        fix = rule.fix
        sources = rule.evidence.map(\.description)
        pushTypes = []
        requires = "app"
    }

    /// Describes a rule about pushes.
    init(_ rule: Rule) {
        id = rule.id.rawValue
        family = rule.family.title
        severity = rule.severity.rawValue
        title = rule.title
        rationale = rule.rationale
        fix = rule.fix
        sources = rule.evidence.map(\.description)
        pushTypes = rule.pushTypes.map(\.rawValue)
        requires = rule.requirement.rawValue
    }
}
