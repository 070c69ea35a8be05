// SPDX-License-Identifier: Apache-2.0

/// A rule: its id, its rationale, its sources, and its fix.
///
/// The texts are the documentation of the rule; a ``Diagnostic`` describes one finding. All rules
/// are in ``Rules/table``.
public struct Rule: Sendable, Identifiable {
    /// The stable id.
    public let id: RuleID
    /// The default severity. A diagnostic may have another.
    public let severity: Severity
    /// The fault, as a clause without a full stop.
    public let title: String
    /// The rationale, as a sentence.
    public let rationale: String
    /// The sources of the rule.
    public let evidence: [Evidence]
    /// The fix, as an imperative sentence.
    public let fix: String
    /// The push types that the rule applies to.
    let scope: PushTypeSet
    /// The input that the rule requires.
    let sight: Sight
    let check: @Sendable (ValidationContext, inout Findings) -> Void

    /// The input that a rule requires.
    enum Sight: Hashable, Sendable {
        /// The size of the payload, and the push type.
        case size
        /// The payload and the push type.
        case payload
        /// Also the headers of every wake.
        case headers
        /// Also faults that only a draft can have, because types prevent them in a wake.
        case draft
        /// Several pushes in order of time; see ``PushHistory``.
        case history
    }

    init(
        _ id: RuleID, _ severity: Severity, _ title: String, why rationale: String,
        from evidence: [Evidence], fix: String, for scope: PushTypeSet = .every,
        in sight: Sight = .payload,
        check: @escaping @Sendable (ValidationContext, inout Findings) -> Void
    ) {
        self.id = id
        self.severity = severity
        self.title = title
        self.rationale = rationale
        self.evidence = evidence
        self.fix = fix
        self.scope = scope
        self.sight = sight
        self.check = check
    }
}
