// SPDX-License-Identifier: Apache-2.0

/// A rule about an app's configuration: its name, its rationale, its sources, and its fix.
///
/// The texts are the documentation of the rule; a ``Diagnostic`` describes one finding. All rules
/// are in ``AppRules/table``.
public struct AppRule: Sendable, Identifiable {
    /// The stable id, `CF` and a number.
    public let id: RuleID
    /// The default severity. Findings that depend only on source text are at most warnings, except
    /// for rules CF020 and CF056; the diagnostic has their severity.
    public let severity: Severity
    /// The fault, as a clause without a full stop.
    public let title: String
    /// The rationale, as a sentence.
    public let rationale: String
    /// The sources of the rule.
    public let evidence: [Evidence]
    /// The fix, as an imperative sentence.
    public let fix: String
    /// What the rule reports the absence of; nothing if it reports what is there. It is skipped if
    /// modules that were not read may do that.
    public var uses: ModuleUses {
        switch id.rawValue {
        case "CF002": [.pushes, .likelyHandlers]
        case "CF054": .likelyPushes
        case "CF008": [.calls, .likelyCalls]
        case "CF009", "CF011", "CF014": .calls
        case "CF019": [.tasks, .likelyTasks]
        case "CF051", "CF052", "CF057": .likelyTasks
        case "CF030": .features
        case "CF045": .time
        case "CF046": [.transfers, .likelyTransfers]
        default: []
        }
    }
    /// Whether the rule reads Info.plist: it is skipped if the file is not known.
    public var needsInfo: Bool {
        [
            "CF001", "CF002", "CF008", "CF013", "CF015", "CF016", "CF019", "CF020", "CF022",
            "CF024", "CF030", "CF049", "CF051", "CF054",
        ]
        .contains(id.rawValue)
    }
    /// Whether the rule reads the entitlements: it is skipped if they are not known.
    public var needsEntitlements: Bool {
        ["CF005", "CF006", "CF007", "CF012", "CF015", "CF017", "CF018", "CF023", "CF025", "CF029"]
            .contains(id.rawValue)
    }
    /// Whether the rule finds a fault in source text by itself, so that text in a language that is
    /// not read may hide one.
    public var readsSources: Bool {
        [
            "CF003", "CF004", "CF010", "CF020", "CF021", "CF022", "CF026", "CF027", "CF028",
            "CF032", "CF033", "CF034", "CF035", "CF036", "CF037", "CF038", "CF039", "CF040",
            "CF041", "CF042", "CF043", "CF044", "CF045", "CF046", "CF047", "CF048", "CF049",
            "CF050", "CF051", "CF052", "CF053", "CF054", "CF055", "CF056", "CF057", "CF058",
            "CF059",
        ]
        .contains(id.rawValue)
    }
    /// Whether a script of a framework such as React Native or Flutter can have the fault.
    public var readsScripts: Bool {
        ["CF004", "CF026", "CF032", "CF048"].contains(id.rawValue)
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
