// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// The options of a run.
public struct LintOptions: Sendable {
    /// Files, folders, glob patterns, and `-` for standard input.
    public var paths: [String] = []
    /// A log of sent pushes, for rules about several pushes.
    public var log: String?
    /// The kind of every input; `nil` to determine it by its content.
    public var kind: InputKind?
    /// The headers of bare payloads, and the topic and the type of requests that name none.
    public var assumptions = PushAssumptions()
    /// The format of the report.
    public var format = ReportFormat.text
    /// Whether warnings count as errors.
    public var isStrict = false
    /// The only rules to report; `nil` for all.
    public var selected: RuleSelection?
    /// Rules not to report.
    public var ignored: RuleSelection?
    /// The source of severities, thresholds and additional push types.
    public var settings = SettingsSource.nearest
    /// The path of the baseline, which overrides that of the settings; `nil` to use theirs.
    public var baseline: String?
    /// The path of a baseline that the caller writes with the findings; `nil` for none.
    public var newBaseline: String?
    /// The findings to fix.
    public var fixes = FixMode.nothing
    /// Whether to show a diff instead of changing files.
    public var showsDiff = false
    /// Whether the text report shows source lines.
    public var showsSource = true
    /// Whether the text report has colours.
    public var usesColour = false
    /// The program's version, for SARIF.
    public var version = "0"
    /// The number of files or blocks that are checked in parallel.
    public var workers = 1

    /// Creates default options without paths.
    public init() {}

    /// The settings of the report.
    var reportSettings: ReportSettings {
        ReportSettings(
            format: format, rules: .pushes, isStrict: isStrict, usesColour: usesColour,
            version: version, now: assumptions.now ?? WallInstant(secondsSinceEpoch: 0))
    }
}

/// The outputs of a run.
public struct LintOutput {
    /// Receives the report in pieces.
    public var write: (String) -> Void
    /// Receives a line about something that could not be checked.
    public var remark: (String) -> Void
    /// Receives the number of finished files, the number of all files, and the number of processed
    /// bytes of lines; called often.
    public var progress: (_ files: Int, _ of: Int, _ lineBytes: Int) -> Void

    /// Creates outputs.
    public init(
        write: @escaping (String) -> Void, remark: @escaping (String) -> Void,
        progress: @escaping (_ files: Int, _ of: Int, _ lineBytes: Int) -> Void = { _, _, _ in }
    ) {
        self.write = write
        self.remark = remark
        self.progress = progress
    }
}

/// The result of a run.
public struct LintResult: Sendable {
    /// The counts.
    public let summary: LintSummary
    /// The problems that prevented checking or writing something.
    public let problems: [LintProblem]
    /// What was not judged, or is not reported, and why, as sentences.
    public let statements: [String]
    /// What a baseline holds that the run did not find, as sentences; nothing where several
    /// settings hold.
    public let remarks: [String]
    /// Whether there are errors, or warnings if those count.
    public let isFailure: Bool
    /// The text of the requested baseline.
    public let baseline: String?
}
