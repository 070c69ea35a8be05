// SPDX-License-Identifier: Apache-2.0

package import PayloadRules

/// The settings of a `.rouse-lint.yaml`.
///
/// | Key | Value |
/// |---|---|
/// | `select` | a list of the only rules or families to report |
/// | `ignore` | a list of rules or families not to report |
/// | `severity` | a mapping of rule ids to `error`, `warning`, `note` or `off` |
/// | `baseline` | the file of the known findings, relative to this folder |
/// | `sends` | what the server sends: a list, or a mapping of an app's targets to lists |
/// | `push-types` | a list of additional valid values of `apns-push-type` |
/// | `call-id-keys` | a list of keys that identify a call, the preferred one first (VO003) |
/// | `reserved-keys` | a list of keys that another push service reserves (G016) |
/// | `authentication` | `token` or `certificate`: how the pushes are sent (H019, LO001) |
/// | `thresholds` | a mapping of names to integers, see ``Threshold`` |
/// | `exclude` | a list of patterns of files and folders to skip, relative to this folder |
///
/// A key that is not listed is an error.
package struct LintConfiguration: Sendable {
    /// The names of the file: the usual one, and the other that it may have.
    package static let fileNames = [".rouse-lint.yaml", ".rouse-lint.yml"]
    private static let keys = [
        "select", "ignore", "severity", "push-types", "call-id-keys", "reserved-keys",
        "authentication", "thresholds", "exclude", "baseline", "sends",
    ]

    /// The only rules to report; `nil` for all.
    package var selected: RuleSelection?
    /// The rules not to report.
    package var ignored = RuleSelection()
    /// The path of the baseline, relative to the configuration's folder.
    package var baseline: String?
    /// The settings of rules.
    package var weights: [RuleID: RulePolicy.Weight] = [:]
    /// The settings of the validator.
    var validator = WakeValidator.Configuration()
    /// Additional valid values of `apns-push-type`.
    package var extraPushTypes: Set<String> { validator.extraPushTypes }
    /// The patterns of files to skip.
    package var excluded: [GlobPattern] = []
    /// The kinds of pushes that the server sends.
    package var sends: Set<ServerPush> = []
    /// The kinds of pushes that the server sends to single targets.
    package var sendsByTarget: [String: Set<ServerPush>] = [:]

    /// Creates an empty configuration.
    package init() {}

    /// Reads a file. Throws if it cannot be read or is invalid.
    init(path: String) throws(LintProblem) {
        let file = try OpenFile(path: path)
        let bytes = try file.readAll(limit: LintLimits.configurationBytes)
        guard bytes.count <= LintLimits.configurationBytes else {
            throw LintProblem(
                .configuration, "\(path) has more than \(LintLimits.configurationBytes) bytes.")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw LintProblem(.configuration, "\(path) is not UTF-8. Save it as UTF-8.")
        }
        try self.init(yaml: text, file: path)
    }

    /// Parses the YAML text of `file`.
    init(yaml: String, file: String) throws(LintProblem) {
        // A file of comments only is valid.
        guard let node = try Self.compose(yaml, file: file), !Self.isNull(node) else { return }
        let root = try SettingsMapping(node, file: file, known: Self.keys)
        try readSelections(root)
        try readSeverities(root)
        baseline = try root.string("baseline")
        if let types = try root.strings("push-types") { validator.extraPushTypes = Set(types) }
        if let keys = try root.strings("call-id-keys") { validator.callIdentifierKeys = keys }
        if let keys = try root.strings("reserved-keys") { validator.reservedKeys = keys }
        try readAuthentication(root)
        try readThresholds(root)
        excluded = try root.strings("exclude")?.map { GlobPattern($0) } ?? []
        (sends, sendsByTarget) = try root.pushes("sends")
    }

    private mutating func readSelections(_ root: SettingsMapping) throws(LintProblem) {
        for key in ["select", "ignore"] {
            guard let names = try root.strings(key) else { continue }
            let rules: RuleSelection
            do throws(LintProblem) {
                rules = try RuleSelection(names)
            } catch {
                throw root.problem(key, "names what is no rule", error.message)
            }
            if key == "select" { selected = rules } else { ignored = rules }
        }
    }

    private mutating func readSeverities(_ root: SettingsMapping) throws(LintProblem) {
        let ids = RuleTable.all.map(\.rawValue)
        guard let mapping = try root.mapping("severity", known: ids, noun: "rules") else { return }
        for (id, word) in try mapping.scalars {
            // `off` is false in YAML 1.1, but not in YAML 1.2 and this parser.
            if word == "off" {
                weights[RuleID(rawValue: id)] = .off
            } else if let severity = Severity(rawValue: word) {
                weights[RuleID(rawValue: id)] = .severity(severity)
            } else {
                throw mapping.problem(
                    id, "is no severity", "Write error, warning, note or off.")
            }
        }
    }

    private mutating func readAuthentication(_ root: SettingsMapping) throws(LintProblem) {
        switch try root.string("authentication") {
        case nil: break
        case "token": validator.authentication = .token
        case "certificate": validator.authentication = .certificate
        default:
            throw root.problem(
                "authentication", "is neither token nor certificate",
                "Write how the pushes are sent.")
        }
    }

    private mutating func readThresholds(_ root: SettingsMapping) throws(LintProblem) {
        let names = Threshold.all.map(\.name)
        guard let mapping = try root.mapping("thresholds", known: names, noun: "thresholds") else {
            return
        }
        for (name, text) in try mapping.scalars {
            guard let threshold = Threshold.all.first(where: { $0.name == name }) else { continue }
            guard let number = Int(text), Threshold.range.contains(number) else {
                throw mapping.problem(
                    name,
                    "is not a whole number from \(Threshold.range.lowerBound) to "
                        + "\(Threshold.range.upperBound)", "Write such a number, without a unit.")
            }
            threshold.set(&validator, number)
        }
    }

    private static func isNull(_ node: YAMLNode) -> Bool {
        node.scalar.map { YAMLScalar($0) == .word("null") } ?? false
    }

    private static func compose(_ yaml: String, file: String) throws(LintProblem) -> YAMLNode? {
        do throws(YAMLFailure) {
            return try YAMLNode.parse(yaml)
        } catch {
            throw LintProblem(.configuration, error.sentence(for: file))
        }
    }
}
