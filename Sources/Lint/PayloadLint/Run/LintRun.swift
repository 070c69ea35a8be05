// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import WakeModel

/// Checks files and writes a report: `rouse validate` without its command line.
///
/// Several tasks check files in parallel; the report has the order of the arguments. Files of JSON
/// lines that are larger than 1 MiB are checked in blocks, so that the memory does not depend on
/// their size.
public struct LintRun: Sendable {
    let options: LintOptions
    let style: any ReportStyle
    /// The baseline to write; `nil` if none is written.
    let recorder: Baseline?
    private let baseline: Baseline?
    private let filesChecker: FileChecker

    /// A file with the index of its settings.
    struct Unit: Sendable {
        let input: LintInput
        let settings: Int
    }

    /// Creates a run. Throws if the options contradict each other.
    public init(_ options: LintOptions) throws(LintProblem) {
        if options.fixes != .nothing, !options.showsDiff, options.paths.contains("-") {
            throw LintProblem(
                .usage, "Standard input cannot be fixed. Save it as a file, or use --diff.")
        }
        guard !options.paths.isEmpty || options.log != nil else {
            throw LintProblem(.usage, "Nothing to check. Name a file, a folder, or - .")
        }
        self.options = options
        style = options.reportSettings.style
        recorder = try options.newBaseline.map { (path) throws(LintProblem) in
            try Baseline(at: path)
        }
        baseline = try options.baseline.map { (path) throws(LintProblem) in
            try Baseline(readingFrom: path)
        }
        filesChecker = FileChecker(
            style: style, mode: options.fixes, showsDiff: options.showsDiff,
            forcedKind: options.kind, recorder: recorder)
    }

    /// Checks everything. Throws only if settings cannot be read: before anything is written,
    /// except for the settings of standard input and the log.
    public func run(_ output: LintOutput) async throws(LintProblem) -> LintResult {
        let list = InputList(options.paths)
        var search = SettingsSearch(
            options.settings, readsBaselines: recorder == nil && baseline == nil)
        var excludedCount = 0
        let units = try units(list.files, &search, &excludedCount)
        let logSettings = try options.log.map { (path) throws(LintProblem) in
            try search.index(forPath: path)
        }
        let checkers = search.found.map(checker)
        let report = Report(
            run: self, output: output, checkers: checkers, fileCount: units.count)
        for problem in list.problems { report.note(problem) }
        report.passOver(excludedCount: excludedCount)
        try await check(units, report)
        if let log = options.log, let logSettings {
            report.add(log: log, search.found[logSettings].configuration, checkers[logSettings])
        }
        report.noteIfNothingWasChecked()
        return report.end()
    }

    private func check(_ units: [Unit], _ report: Report) async throws(LintProblem) {
        var start = 0
        let (checker, checkers) = (filesChecker, report.checkers)
        try await OrderedPool.run(window: window) { () throws(LintProblem) -> [Unit]? in
            guard start < units.count else { return nil }
            let end = min(units.count, start + LintLimits.filesPerBatch)
            defer { start = end }
            return Array(units[start..<end])
        } work: { batch in
            batch.map { unit in
                unit.input.isStream
                    ? (unit, .long) : (unit, checker.check(unit.input, by: checkers[unit.settings]))
            }
        } emit: { (outcomes: [(Unit, FileChecker.Outcome)]) async throws(LintProblem) in
            for (unit, outcome) in outcomes {
                switch outcome {
                case .checked(let text): report.add(text)
                case .foreign: report.passOverForeign(unit.input.path)
                case .failed(let problem): report.note(problem)
                case .long: await self.checkLong(unit, report)
                }
                report.advance()
            }
        }
    }

    /// The maximum number of units in progress.
    private var window: Int { max(1, options.workers) * LintLimits.unitsPerWorker }

    /// Checks an input that can be read only once, or a large file.
    private func checkLong(_ unit: Unit, _ report: Report) async {
        let checker = report.checkers[unit.settings]
        do throws(LintProblem) {
            switch try filesChecker.read(unit.input.path) {
            case .document(let bytes):
                if case .checked(let text) = filesChecker.checkDocument(
                    bytes, unit.input, checker)
                {
                    report.add(text)
                }
            case .lines(let bytes):
                try await checkLines(
                    LineBlocks(try OpenFile(path: "/dev/null"), head: bytes), unit, report)
            case .longLines(let head, let file):
                try await checkLines(LineBlocks(file, head: head), unit, report)
            }
        } catch {
            report.note(error)
        }
    }

    private func checkLines(
        _ blocks: LineBlocks, _ unit: Unit, _ report: Report
    ) async throws(LintProblem) {
        let path = unit.input.path
        let fixes = options.fixes != .nothing
        let replacement =
            fixes && !options.showsDiff ? try ReplacementFile(replacing: path) : nil
        let lines = LineChecker(
            checker: report.checkers[unit.settings], style: style, mode: options.fixes,
            recorder: recorder)
        let file = LineChecker.file(path)
        let mendsInPlace = replacement != nil
        report.begin(file)
        defer { report.endFile() }
        try await OrderedPool.run(window: window) { () throws(LintProblem) in
            try blocks.next()
        } work: { block -> (LineBlocks.Block, [UInt8], LineChecker.Part) in
            let mended = fixes ? lines.mended(block.bytes) : block.bytes
            let checked = mendsInPlace ? mended : block.bytes
            return (
                block, mended,
                lines.check(
                    LineBlocks.Block(bytes: checked, firstLine: block.firstLine), of: file)
            )
        } emit: { (block, mended, part) async throws(LintProblem) in
            try replacement?.write(mended)
            if fixes, mended != block.bytes { report.change(block, mended) }
            report.add(part, byteCount: block.bytes.count)
        }
        if report.hasChanges { try replacement?.commit() }
    }

    private func units(
        _ inputs: [LintInput], _ search: inout SettingsSearch, _ excludedCount: inout Int
    ) throws(LintProblem) -> [Unit] {
        var units: [Unit] = []
        units.reserveCapacity(inputs.count)
        for input in inputs {
            let index = try search.index(forFolder: input.folder)
            let found = search.found[index]
            if !input.isNamed, !found.configuration.excluded.isEmpty,
                found.excludes(realPath(input.path) ?? input.path)
            {
                excludedCount += 1
                continue
            }
            units.append(Unit(input: input, settings: index))
        }
        return units
    }

    private func checker(_ found: SettingsSearch.Found) -> PushChecker {
        PushChecker(
            validator: PushValidator(configuration: found.configuration.validator),
            policy: RulePolicy(
                selected: options.selected, ignored: options.ignored,
                settings: found.configuration, rules: .pushes),
            reader: DocumentReader(assumptions: options.assumptions, forcedKind: options.kind),
            baseline: recorder == nil ? baseline ?? found.baseline : nil,
            showsSource: options.format == .text && options.showsSource)
    }
}
