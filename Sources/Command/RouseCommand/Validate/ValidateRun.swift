// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import PayloadLint
import WakeModel

/// `rouse validate` between its options and its exit code.
struct ValidateRun {
    private let run: LintRun
    private let console: Console
    private let showsDiff: Bool
    private let newBaseline: String?
    private let format: ReportFormat

    /// Reads what was typed.
    init(_ command: ValidateCommand, console: Console) throws(CommandFailure) {
        self.console = console
        showsDiff = command.fixes.diff
        newBaseline = command.rules.baseline.writeBaseline
        format = command.output.format
        var options = LintOptions()
        options.paths = command.paths
        options.log = command.input.log
        options.kind = command.input.kind?.kind
        options.assumptions = try Self.assumptions(command.input)
        options.format = format
        options.isStrict = command.rules.strict
        options.selected = try Self.selection(command.rules.select)
        options.ignored = try Self.selection(command.rules.ignore)
        options.settings =
            command.rules.config.map { .file($0) } ?? (command.rules.noConfig ? .none : .nearest)
        try Self.check(
            command.input.pushType, options.settings,
            command.paths + (command.input.log.map { [$0] } ?? []))
        options.baseline = command.rules.baseline.baseline
        options.newBaseline = newBaseline
        if command.fixes.fix || command.fixes.diff {
            options.fixes = command.fixes.unsafeFixes ? .all : .safe
        }
        options.showsDiff = command.fixes.diff
        options.showsSource = !command.output.noSource
        options.usesColour = console.usesColour
        options.version = RouseVersion.current
        options.workers = command.output.jobs ?? Processors.usableCount
        run = try Self.failing { () throws(LintProblem) in try LintRun(options) }
    }

    /// Checks, and throws the exit code of anything but success.
    func run() async throws {
        let progress = ProgressLine()
        let report = BufferedOutput { progress.clear() }
        let output = LintOutput(
            write: { report.write($0) },
            remark: { line in
                progress.clear()
                console.remark("error: \(line.printable)")
            },
            progress: { files, count, lineBytes in
                progress.show {
                    let lines = lineBytes > 0 ? ", \(lineBytes / 1_048_576) MiB of lines" : ""
                    return "\(files) of \(count) files checked\(lines)"
                }
            })
        let result: LintResult
        do throws(LintProblem) {
            result = try await run.run(output)
        } catch {
            report.flush()
            // Nothing was written before.
            let failure = CommandFailure(error)
            if !showsDiff { failure.write(format, .pushes, to: console) }
            throw failure
        }
        report.flush()
        // The other formats say it themselves.
        if format == .gitlab {
            for statement in result.statements { console.remark(statement.printable) }
        }
        for remark in result.remarks { console.remark(remark.printable) }
        if showsDiff {
            let count = result.summary.mendedFiles
            console.remark(
                "\(count) \(count == 1 ? "file" : "files") would be fixed by --fix.")
        }
        var status = Self.status(result)
        if let newBaseline, let text = result.baseline {
            try OutputFile(newBaseline, "--write-baseline").finish(with: text)
            console.remark("\(newBaseline) holds the findings of this run.")
            if status == .no { status = .success }
        }
        guard status == .success else { throw ExitCode(status.rawValue) }
    }

    /// The gravest of what happened: an input that could not be checked outweighs findings, because
    /// its contents are not known.
    private static func status(_ result: LintResult) -> ExitStatus {
        let statuses = Set(result.problems.map { ExitStatus($0.kind) })
        for status in [ExitStatus.configuration, .notAllowed, .noInput, .data]
        where statuses.contains(status) {
            return status
        }
        return result.isFailure ? .no : .success
    }

    private static func assumptions(
        _ input: ValidateInputOptions
    ) throws(CommandFailure) -> PushAssumptions {
        var assumptions = PushAssumptions()
        assumptions.pushType = input.pushType
        assumptions.topic = input.topic
        assumptions.priority = input.priority
        assumptions.expiration = input.expiration
        assumptions.isForWatch = input.target == .watchos
        if let text = input.now {
            guard let time = WallInstant(timeText: text) else {
                throw CommandFailure(
                    .usage,
                    "--now is no time. Write 2026-01-31T12:00:00Z, or seconds since 1970.")
            }
            assumptions.now = time
        } else {
            let now = Date.now.timeIntervalSince1970
            assumptions.now = WallInstant(millisecondsSinceEpoch: Int64(now * 1000))
        }
        return assumptions
    }

    /// Refuses a push type that is neither known nor in the settings of what is checked: as typed,
    /// it is a mistake in the command and none of the files'.
    private static func check(
        _ type: String?, _ source: SettingsSource, _ paths: [String]
    ) throws(CommandFailure) {
        let known = PushType.all.map(\.rawValue)
        guard let type, !known.contains(type) else { return }
        let isConfigured = try failing { () throws(LintProblem) in
            var settings = SettingsSearch(source, readsBaselines: false)
            for path in paths { _ = try settings.index(forPath: path) }
            return settings.found.contains { $0.configuration.extraPushTypes.contains(type) }
        }
        guard !isConfigured else { return }
        let meant = Nearest.name(to: type, among: known).map { "Did you mean \($0)? " } ?? ""
        throw CommandFailure(
            .usage,
            "--push-type: `\(type)` is no push type. \(meant)Use one of "
                + "\(known.joined(separator: ", ")), or list a new one under push-types in the "
                + "settings file.")
    }

    private static func selection(
        _ names: [String]
    ) throws(CommandFailure) -> RuleSelection? {
        guard !names.isEmpty else { return nil }
        return try failing { () throws(LintProblem) in try RuleSelection(names, of: .pushes) }
    }

    private static func failing<Value>(
        _ body: () throws(LintProblem) -> Value
    ) throws(CommandFailure) -> Value {
        do throws(LintProblem) {
            return try body()
        } catch {
            throw CommandFailure(error)
        }
    }
}

extension CommandFailure {
    /// A problem of the checker in one line, with the code that fits its kind.
    init(_ problem: LintProblem) {
        self.init(ExitStatus(problem.kind), problem.message.printable)
    }
}

extension ExitStatus {
    /// The code that fits a problem.
    init(_ kind: LintProblem.Kind) {
        switch kind {
        case .usage: self = .usage
        case .notText: self = .data
        case .missing: self = .noInput
        case .notAllowed: self = .notAllowed
        case .configuration: self = .configuration
        case .unwritable: self = .notAllowed
        }
    }
}
