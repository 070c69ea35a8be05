// SPDX-License-Identifier: Apache-2.0

/// A rule about an app's configuration: its name, its reason, its sources, and how to fix what it
/// finds.
///
/// The texts are the rule's manual page; a ``Diagnostic`` describes one finding. All rules are in
/// ``AppRules/table``.
public struct AppRule: Sendable, Identifiable {
    /// The stable name, `CF` and a number.
    public let id: RuleID
    /// How much a finding weighs as a rule. What rests on source text alone weighs at most as a
    /// warning, except for rule CF020; the diagnostic says so.
    public let severity: Severity
    /// What was found, as a clause without a full stop.
    public let title: String
    /// Why that matters, in a sentence.
    public let rationale: String
    /// What the rule rests on.
    public let evidence: [Evidence]
    /// What to do, as an imperative sentence.
    public let fix: String
    /// Whether the rule reports the absence of something: it is skipped where not all source text
    /// of a target was read.
    public var needsAllSources: Bool {
        ["CF002", "CF008", "CF009", "CF011", "CF014", "CF019", "CF030", "CF045", "CF046"]
            .contains(id.rawValue)
    }
    let check: @Sendable (AppFacts, inout AppFindings) -> Void

    init(
        _ id: RuleID, _ severity: Severity, _ title: String, why rationale: String,
        from evidence: [Evidence], fix: String,
        check: @escaping @Sendable (AppFacts, inout AppFindings) -> Void
    ) {
        self.id = id
        self.severity = severity
        self.title = title
        self.rationale = rationale
        self.evidence = evidence
        self.fix = fix
        self.check = check
    }
}
