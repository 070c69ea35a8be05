// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// What is to be checked, and how it is reported.
public struct LintOptions: Sendable {
    /// Files, folders, patterns, and `-` for standard input.
    public var paths: [String] = []
    /// A log of sent pushes, for the rules that look at several.
    public var log: String?
    /// The kind of every input; `nil` to determine it by its content.
    public var kind: InputKind?
    /// What bare payloads will be sent as.
    public var assumptions = PushAssumptions()
    /// How findings are written.
    public var format = ReportFormat.text
    /// Whether warnings count as errors do.
    public var isStrict = false
    /// The only rules to report; empty for all.
    public var selected: RuleSelection?
    /// Rules not to report.
    public var ignored: RuleSelection?
    /// Where severities, thresholds and further push types come from.
    public var settings = SettingsSource.nearest
    /// The file of the known findings, over those that settings name; `nil` for those.
    public var baseline: String?
    /// The file that the findings are to be written to as a baseline, which the caller does.
    public var newBaseline: String?
    /// The findings to fix.
    public var fixes = FixMode.nothing
    /// Whether changes are shown as a diff instead of being made.
    public var showsDiff = false
    /// Whether the text report shows source lines.
    public var showsSource = true
    /// Whether the text report has colours.
    public var usesColour = false
    /// The program's version, for SARIF.
    public var version = "0"
    /// How many files or blocks are checked at a time.
    public var workers = 1

    /// Nothing to check, and the defaults.
    public init() {}

    /// How the report is written.
    var reportSettings: ReportSettings {
        ReportSettings(
            format: format, rules: .pushes, isStrict: isStrict, usesColour: usesColour,
            version: version, now: assumptions.now ?? WallInstant(secondsSinceEpoch: 0))
    }
}

/// Where a run writes.
public struct LintOutput {
    /// Takes the report, in pieces.
    public var write: (String) -> Void
    /// Takes a line about what could not be checked.
    public var remark: (String) -> Void
    /// Gets how many files are done, of how many, and how many bytes of lines; called often.
    public var progress: (_ files: Int, _ of: Int, _ lineBytes: Int) -> Void

    /// Three takers.
    public init(
        write: @escaping (String) -> Void, remark: @escaping (String) -> Void,
        progress: @escaping (_ files: Int, _ of: Int, _ lineBytes: Int) -> Void = { _, _, _ in }
    ) {
        self.write = write
        self.remark = remark
        self.progress = progress
    }
}

/// What a run found.
public struct LintResult: Sendable {
    /// The counts.
    public let summary: LintSummary
    /// What could not be checked, or could not be written.
    public let problems: [LintProblem]
    /// Whether there are errors, or warnings where those count.
    public let isFailure: Bool
    /// The text of the baseline that was asked for.
    public let baseline: String?
}
