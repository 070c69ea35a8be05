// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// The state of a run: the report so far, and the problems. Must be used by one task.
final class Report {
    let checkers: [PushChecker]
    let style: any ReportStyle
    private let options: LintOptions
    private let output: LintOutput
    private let fileCount: Int
    private var stream: ReportStream
    private var problems: [LintProblem] = []
    /// The baseline to write; `nil` if none is written.
    let recorder: Baseline?
    private var entries: Set<Baseline.Entry> = []
    /// The files that were judged, where there is a baseline.
    private var judged: Set<String> = []
    private let hasBaseline: Bool
    private var filesDone = 0
    private var lineBytesDone = 0
    /// The current file of lines, and its counts.
    private var file: ReportedFile?
    private var tally = FileTally()
    /// Whether repairs were applied in the current file of lines.
    private(set) var hasChanges = false

    init(run: LintRun, output: LintOutput, checkers: [PushChecker], fileCount: Int) {
        options = run.options
        style = run.style
        self.output = output
        self.checkers = checkers
        self.fileCount = fileCount
        // With --diff, standard output contains only the diff.
        let write = run.options.showsDiff ? { _ in } : output.write
        stream = ReportStream(run.options.reportSettings, write: write)
        recorder = run.recorder
        hasBaseline = recorder != nil || checkers.contains { $0.baseline != nil }
    }

    /// Adds a whole file.
    func add(_ text: CheckedText) {
        noteJudged(text.file.path)
        stream.begin(text.file)
        stream.add(text.text, count: text.count)
        stream.end(text.file, text.tally)
        entries.formUnion(text.entries)
        if let problem = text.change.problem { note(problem) }
        if !text.change.diff.isEmpty { output.write(text.change.diff) }
    }

    /// Records a problem.
    func note(_ problem: LintProblem) {
        problems.append(problem)
        stream.add(ReportProblem(path: problem.path, message: problem.message))
        output.remark(problem.message)
    }

    /// Counts files that the settings exclude.
    func passOver(excludedCount: Int) { stream.count(excludedFiles: excludedCount) }

    /// Records a file of a folder without a sign of pushes.
    func passOverForeign(_ path: String) {
        noteJudged(path)
        stream.count(foreignFiles: 1)
    }

    private func noteJudged(_ path: String) {
        if hasBaseline { judged.insert(path) }
    }

    /// Records a problem if folders contained files and none was about pushes: a run that checked
    /// nothing is not a success.
    func noteIfNothingWasChecked() {
        let summary = stream.totals.summary
        guard summary.files == 0, problems.isEmpty, options.log == nil else { return }
        let count = summary.foreignFiles
        if count == 0, summary.excludedFiles > 0 {
            note(
                LintProblem(
                    .missing,
                    "Nothing was checked: the settings exclude all files. Name a file to have it "
                        + "checked."))
        }
        guard count > 0 else { return }
        let files = count == 1 ? "the only file" : "any of \(count) files"
        note(
            LintProblem(
                .missing,
                "Nothing was checked: no sign of a push is in \(files) (`aps`, or headers beside a "
                    + "payload). Name a file to have it checked."))
    }

    /// Counts a finished file.
    func advance() {
        filesDone += 1
        output.progress(filesDone, fileCount, lineBytesDone)
    }

    /// Starts a file of lines.
    func begin(_ file: ReportedFile) {
        noteJudged(file.path)
        self.file = file
        tally = FileTally()
        hasChanges = false
        stream.begin(file)
    }

    /// Adds lines of the current file.
    func add(_ part: LineChecker.Part, byteCount: Int) {
        stream.add(part.text, count: part.count)
        tally.add(part.tally)
        entries.formUnion(part.entries)
        lineBytesDone += byteCount
        output.progress(filesDone, fileCount, lineBytesDone)
    }

    /// Records repairs in lines of the current file.
    func change(_ block: LineBlocks.Block, _ mended: [UInt8]) {
        if !hasChanges, options.showsDiff, let file {
            output.write(UnifiedDiff.header(file.path))
        }
        hasChanges = true
        guard options.showsDiff else { return }
        output.write(UnifiedDiff.hunks(block.bytes, mended, firstLine: block.firstLine))
    }

    /// Ends the current file of lines.
    func endFile() {
        guard let file else { return }
        tally.summary.mendedFiles = hasChanges ? 1 : 0
        stream.end(file, tally)
        self.file = nil
    }

    /// Ends the report.
    func end() -> LintResult {
        stream.end()
        let paths = options.paths + (options.log.map { [$0] } ?? [])
        func coverage(_ policy: RulePolicy) -> Baseline.Coverage {
            Baseline.Coverage(rules: .pushes, policy: policy, paths: paths, files: judged)
        }
        // Where several settings hold, each has a part of the files.
        let only = checkers.count == 1 ? checkers.first : nil
        let gone = only.flatMap { only in
            only.baseline?.statement(ofGoneBesides: entries, of: coverage(only.policy))
        }
        let asked = RulePolicy(
            selected: options.selected, ignored: options.ignored, settings: LintConfiguration(),
            rules: .pushes)
        return LintResult(
            summary: stream.totals.summary, problems: problems,
            statements: stream.totals.statements, remarks: gone.map { [$0] } ?? [],
            isFailure: stream.totals.summary.isFailure(isStrict: options.isStrict),
            baseline: recorder?.text(with: entries, of: coverage(asked)))
    }
}
