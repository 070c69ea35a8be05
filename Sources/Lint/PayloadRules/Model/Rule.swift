// SPDX-License-Identifier: Apache-2.0

/// One rule: its name, its reason, its sources, and how to fix what it finds.
///
/// The texts are the rule's manual page; a ``Diagnostic`` describes one finding. All rules are in
/// ``Rules/table``.
public struct Rule: Sendable, Identifiable {
    /// The stable name.
    public let id: RuleID
    /// How much a finding weighs as a rule. Where a finding differs, its diagnostic says so.
    public let severity: Severity
    /// What was found, as a clause without a full stop.
    public let title: String
    /// Why that matters, in a sentence.
    public let rationale: String
    /// What the rule rests on.
    public let evidence: [Evidence]
    /// What to do, as an imperative sentence.
    public let fix: String
    /// The pushes that the rule applies to.
    let scope: PushTypeSet
    /// What the rule needs to see.
    let sight: Sight
    let check: @Sendable (ValidationContext, inout Findings) -> Void

    /// What a rule needs to see before it can judge.
    enum Sight: Hashable, Sendable {
        /// How many bytes the payload has, and the push type.
        case size
        /// The payload and the push type.
        case payload
        /// Also the headers that every wake has.
        case headers
        /// Also what only a draft can get wrong: types uphold it for a wake.
        case draft
        /// Several pushes, in the order of time: see ``PushHistory``.
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
