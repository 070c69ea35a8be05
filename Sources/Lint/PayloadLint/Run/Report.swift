// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// The state of a run: the report as far as it is written, and what could not be checked. Used by
/// one task.
final class Report {
    let checkers: [PushChecker]
    let style: any ReportStyle
    private let options: LintOptions
    private let output: LintOutput
    private let fileCount: Int
    private var stream: ReportStream
    private var problems: [LintProblem] = []
    /// Where the findings of the run are to be written as a baseline; `nil` where they are not.
    let recorder: Baseline?
    private var entries: [Baseline.Entry] = []
    /// The first file that was passed over and could not be read.
    private var firstBroken: String?
    private var filesDone = 0
    private var lineBytesDone = 0
    /// The file of lines that is being written, and what was counted in it.
    private var file: ReportedFile?
    private var tally = FileTally()
    /// Whether repairs were made in the present file of lines.
    private(set) var hasChanges = false

    init(run: LintRun, output: LintOutput, checkers: [PushChecker], fileCount: Int) {
        options = run.options
        style = run.style
        self.output = output
        self.checkers = checkers
        self.fileCount = fileCount
        // With --diff, standard output is the diff and nothing else.
        let write = run.options.showsDiff ? { _ in } : output.write
        stream = ReportStream(run.options.reportSettings, write: write)
        recorder = run.recorder
    }

    /// Adds a whole file.
    func add(_ text: CheckedText) {
        stream.begin(text.file)
        stream.add(text.text, count: text.count)
        stream.end(text.file, text.tally)
        entries += text.entries
        if let problem = text.change.problem { note(problem) }
        if !text.change.diff.isEmpty { output.write(text.change.diff) }
    }

    /// Notes what could not be checked.
    func note(_ problem: LintProblem) {
        problems.append(problem)
        stream.add(ReportProblem(path: problem.path, message: problem.message))
        output.remark(problem.message)
    }

    /// Notes files that the settings exclude.
    func passOver(excludedCount: Int) { stream.count(excludedFiles: excludedCount) }

    /// Notes a file of a folder that shows no sign of pushes.
    func passOver(_ input: LintInput, isBroken: Bool) {
        stream.count(foreignFiles: 1)
        if isBroken, firstBroken == nil { firstBroken = input.path }
    }

    /// Notes it as a problem where folders held files and none was about pushes: a run that looked
    /// at nothing is no success.
    func noteIfNothingWasChecked() {
        let count = stream.totals.summary.foreignFiles
        guard stream.totals.summary.files == 0, count > 0, problems.isEmpty, options.log == nil
        else { return }
        let files = count == 1 ? "the only file" : "any of \(count) files"
        let start = "Nothing was checked: no sign of a push is in \(files)"
        guard let firstBroken else {
            note(
                LintProblem(
                    .missing,
                    start + " (`aps`, or headers beside a payload). Name a file to have it checked."
                ))
            return
        }
        note(
            LintProblem(
                .notText,
                start + ", and \(firstBroken) cannot be read. Name it to see where.",
                path: firstBroken))
    }

    /// Notes that one more file is done.
    func advance() {
        filesDone += 1
        output.progress(filesDone, fileCount, lineBytesDone)
    }

    /// Begins a file of lines.
    func begin(_ file: ReportedFile) {
        self.file = file
        tally = FileTally()
        hasChanges = false
        stream.begin(file)
    }

    /// Adds some lines of the present file.
    func add(_ part: LineChecker.Part, byteCount: Int) {
        stream.add(part.text, count: part.count)
        tally.add(part.tally)
        entries += part.entries
        lineBytesDone += byteCount
        output.progress(filesDone, fileCount, lineBytesDone)
    }

    /// Notes repairs in some lines of the present file.
    func change(_ block: LineBlocks.Block, _ mended: [UInt8]) {
        if !hasChanges, options.showsDiff, let file {
            output.write(UnifiedDiff.header(file.path))
        }
        hasChanges = true
        guard options.showsDiff else { return }
        output.write(UnifiedDiff.hunks(block.bytes, mended, firstLine: block.firstLine))
    }

    /// Ends the present file of lines.
    func endFile() {
        guard let file else { return }
        tally.summary.mendedFiles = hasChanges ? 1 : 0
        stream.end(file, tally)
        self.file = nil
    }

    /// Ends the report.
    func end() -> LintResult {
        stream.end()
        return LintResult(
            summary: stream.totals.summary, problems: problems,
            isFailure: stream.totals.summary.isFailure(isStrict: options.isStrict),
            baseline: recorder?.text(with: entries, of: .pushes))
    }
}
