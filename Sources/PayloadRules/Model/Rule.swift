// SPDX-License-Identifier: Apache-2.0

/// One rule: what it is called, why it exists, what it rests on, and how to mend what it finds.
///
/// The texts are the rule's manual page; a ``Diagnostic`` speaks of one finding. All rules stand in
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
    /// The pushes that the rule looks at.
    let scope: Scope
    /// The part of a push that the rule looks at.
    let part: Part
    let check: @Sendable (Examination, inout Findings) -> Void

    /// The pushes that a rule looks at.
    enum Scope: Hashable, Sendable {
        case every
        case background
        case voip
    }

    /// The part of a push that a rule looks at.
    enum Part: Hashable, Sendable {
        case payload
        case headers
    }

    init(
        _ id: RuleID, _ severity: Severity, _ title: String, why rationale: String,
        from evidence: [Evidence], fix: String, for scope: Scope = .every, in part: Part = .payload,
        check: @escaping @Sendable (Examination, inout Findings) -> Void
    ) {
        self.id = id
        self.severity = severity
        self.title = title
        self.rationale = rationale
        self.evidence = evidence
        self.fix = fix
        self.scope = scope
        self.part = part
        self.check = check
    }
}
