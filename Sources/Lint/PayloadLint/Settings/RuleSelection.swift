// SPDX-License-Identifier: Apache-2.0

public import PayloadRules

/// A set of rules, selected by id (`BG004`) or by family (`BG`).
public struct RuleSelection: Hashable, Sendable {
    private var rules: Set<RuleID> = []

    /// Creates an empty selection.
    package init() {}

    /// Parses names; each text may contain several, separated by commas. Case-insensitive. Throws
    /// for a name that is neither a rule nor a family.
    public init(_ texts: [String]) throws(LintProblem) {
        for name in texts.flatMap({ $0.split { $0 == "," || $0 == " " } }) {
            let named = Self.rules(named: name.uppercased())
            guard !named.isEmpty else {
                throw LintProblem(.usage, "\(name) is no rule. \(Self.remedy(for: String(name)))")
            }
            rules.formUnion(named)
        }
    }

    /// Parses names of a command's rules. Throws for rules of other commands too.
    package init(_ texts: [String], of table: RuleTable) throws(LintProblem) {
        try self.init(texts)
        for name in texts.flatMap({ $0.split { $0 == "," || $0 == " " } }) {
            let named = Self.rules(named: name.uppercased())
            guard named.contains(where: { table.indices[$0] != nil }) else {
                throw LintProblem(
                    .usage,
                    "\(name) is no rule of `\(table.command)`. `rouse rules` lists all of them.")
            }
        }
    }

    /// Whether the selection is empty.
    public var isEmpty: Bool { rules.isEmpty }

    /// Whether the selection contains a rule.
    public func contains(_ rule: RuleID) -> Bool { rules.contains(rule) }

    /// Adds the rules of another selection.
    package mutating func formUnion(_ other: RuleSelection) { rules.formUnion(other.rules) }

    /// The rules that are also in a table.
    func intersection(_ table: RuleTable) -> RuleSelection {
        var selection = RuleSelection()
        selection.rules = rules.filter { table.indices[$0] != nil }
        return selection
    }

    /// The fix for an unknown name.
    public static func remedy(for name: String) -> String {
        let ids = RuleTable.all.map(\.rawValue)
        // `BG4` means BG004.
        let family = family(of: name.uppercased())
        let number = name.dropFirst(family.count)
        let padded = family + String(repeating: "0", count: max(0, 3 - number.count)) + number
        if ids.contains(String(padded)) { return "Did you mean \(padded)?" }
        if let meant = Nearest.name(to: name, among: ids) { return "Did you mean \(meant)?" }
        var families: [String] = []
        for id in ids where families.last != String(Self.family(of: id)) {
            families.append(String(Self.family(of: id)))
        }
        return "`rouse rules` lists all; the families are \(families.joined(separator: ", "))."
    }

    private static func rules(named name: String) -> [RuleID] {
        RuleTable.all.filter { $0.rawValue == name || family(of: $0.rawValue) == name }
    }

    private static func family(of id: String) -> Substring { id.prefix { $0.isLetter } }
}
