// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Which findings are reported, and how much they weigh: the command line's selection over the
/// configuration's severities.
struct RulePolicy: Sendable {
    /// What a configuration says of a rule.
    enum Weight: Hashable, Sendable {
        case off
        case severity(Severity)
    }

    var selected: RuleSelection?
    var ignored: RuleSelection?
    var weights: [RuleID: Weight] = [:]

    /// The weight that a finding has here; `nil` where it is not reported.
    func severity(of rule: RuleID, _ severity: Severity) -> Severity? {
        if let selected, !selected.isEmpty, !selected.contains(rule) { return nil }
        if let ignored, ignored.contains(rule) { return nil }
        switch weights[rule] {
        case nil: return severity
        case .off: return nil
        case .severity(let own): return own
        }
    }
}
