// SPDX-License-Identifier: Apache-2.0

package import PayloadRules

/// Determines which findings are reported and their severity: the command line's selection
/// overrides the configuration.
package struct RulePolicy: Sendable {
    /// A configuration's setting of a rule.
    package enum Weight: Hashable, Sendable {
        case off
        case severity(Severity)
    }

    var selected: RuleSelection?
    var ignored = RuleSelection()
    var weights: [RuleID: Weight] = [:]

    /// Creates a policy that reports everything with the severity of the rules.
    package init() {}

    /// Creates a policy from the command line's selection and the settings.
    package init(
        selected: RuleSelection?, ignored: RuleSelection?, settings: LintConfiguration,
        rules: RuleTable
    ) {
        // Settings are for both commands: rules of the other one do not restrict this one.
        let own = settings.selected?.intersection(rules)
        self.selected = selected ?? own.flatMap { $0.isEmpty ? nil : $0 }
        self.ignored = settings.ignored
        self.ignored.formUnion(ignored ?? RuleSelection())
        weights = settings.weights
    }

    /// The severity of a finding; `nil` if it is not reported.
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
