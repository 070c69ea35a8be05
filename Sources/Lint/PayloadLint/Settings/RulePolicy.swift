// SPDX-License-Identifier: Apache-2.0

package import PayloadRules

/// Which findings are reported, and how much they weigh: the command line's selection over the
/// configuration's severities.
package struct RulePolicy: Sendable {
    /// What a configuration says of a rule.
    package enum Weight: Hashable, Sendable {
        case off
        case severity(Severity)
    }

    var selected: RuleSelection?
    var ignored = RuleSelection()
    var weights: [RuleID: Weight] = [:]

    /// Reports everything as the rules weigh it.
    package init() {}

    /// What the command line selects, over what the settings say.
    package init(
        selected: RuleSelection?, ignored: RuleSelection?, settings: LintConfiguration,
        rules: RuleTable
    ) {
        // Settings are for both commands: the rules of one select nothing among the other's.
        let own = settings.selected?.intersection(rules)
        self.selected = selected ?? own.flatMap { $0.isEmpty ? nil : $0 }
        self.ignored = settings.ignored
        self.ignored.formUnion(ignored ?? RuleSelection())
        weights = settings.weights
    }

    /// The weight that a finding has here; `nil` where it is not reported.
    package func severity(of rule: RuleID, _ severity: Severity) -> Severity? {
        if let selected, !selected.isEmpty, !selected.contains(rule) { return nil }
        if ignored.contains(rule) { return nil }
        switch weights[rule] {
        case nil: return severity
        case .off: return nil
        case .severity(let own): return own
        }
    }
}
