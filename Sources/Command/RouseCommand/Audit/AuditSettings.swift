// SPDX-License-Identifier: Apache-2.0

import AppAudit
import ArgumentParser
import Foundation
import PayloadLint
import PayloadRules

/// The options of `rouse audit` that choose among findings.
struct AuditSettingsOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Ask these rules only, by id or as CF; may be given several times.", valueName: "rules")
    )
    var select: [String] = []

    @Option(help: ArgumentHelp("Do not ask these rules.", valueName: "rules"))
    var ignore: [String] = []

    @Option(
        help: ArgumentHelp(
            "Read settings from this file, not from the nearest .rouse-lint.yaml.",
            valueName: "file"))
    var config: String?

    @Flag(help: "Read no .rouse-lint.yaml.")
    var noConfig = false

    @OptionGroup
    var baseline: BaselineOptions

    func validate() throws {
        if config != nil, noConfig {
            throw ValidationError("--config names settings, --no-config wants none. Give one.")
        }
    }
}

/// What a team settled: the nearest `.rouse-lint.yaml`, the options over it, and a baseline.
struct AuditSettings {
    let configuration: AuditConfiguration
    private let baseline: Baseline?
    private let target: String?

    /// Reads what was typed, and the files that it names.
    init(_ options: AuditSettingsOptions, paths: [String]) throws(CommandFailure) {
        do throws(AuditConfigurationFailure) {
            var configuration = AuditConfiguration()
            if let file = options.config {
                configuration = try AuditConfiguration(file: file)
            } else if !options.noConfig, let path = paths.first {
                configuration = try AuditConfiguration(nearestTo: path)
            }
            self.configuration = configuration
        } catch {
            throw CommandFailure(.configuration, error.message)
        }
        target = options.baseline.writeBaseline
        let known = options.baseline.baseline ?? configuration.baseline
        do throws(LintProblem) {
            baseline = target == nil ? try known.map(Baseline.init(readingFrom:)) : nil
        } catch {
            throw CommandFailure(.configuration, error.message)
        }
        var policy = configuration.policy
        do throws(AuditConfigurationFailure) {
            let selected = try Self.rules(options.select)
            if !selected.isEmpty { policy.selected = selected }
            policy.ignored.formUnion(try Self.rules(options.ignore))
        } catch {
            throw CommandFailure(.usage, error.message)
        }
        self.policy = policy
    }

    private let policy: AuditPolicy

    private static func rules(
        _ values: [String]
    ) throws(AuditConfigurationFailure) -> Set<RuleID> {
        var rules: Set<RuleID> = []
        for name in values.flatMap({ $0.split(separator: ",") }) {
            rules.formUnion(try AuditPolicy.rules(named: name))
        }
        return rules
    }

    /// What of a report counts. Writes a baseline, where one is asked for, and then nothing does.
    func applied(to report: AuditReport, _ console: Console) throws(CommandFailure) -> AuditReport {
        var asked = policy.applied(to: report)
        if let target {
            let recorder = Baseline(at: target)
            let entries = asked.files.flatMap { Self.entries(of: $0, in: asked, recorder) }
            try OutputFile(target, "--write-baseline")
                .finish(with: recorder.text(with: entries, of: .apps))
            console.remark("\(target) holds the findings of this run.")
            for index in asked.files.indices { asked.files[index].findings = [] }
        } else if let baseline {
            for index in asked.files.indices {
                let file = asked.files[index]
                let entries = Self.entries(of: file, in: asked, baseline)
                asked.files[index].findings = zip(file.findings, entries)
                    .compactMap { baseline.knows($1) ? nil : $0 }
            }
        }
        return asked
    }

    private static func entries(
        of file: AuditReport.File, in report: AuditReport, _ baseline: Baseline
    ) -> [Baseline.Entry] {
        baseline.entries(
            of: file.findings.map { AuditFindings.finding($0, in: report) }, at: file.path)
    }

    /// Says which rules were not asked, and why.
    func tellUnjudged(_ report: AuditReport, _ console: Console, isText: Bool) {
        for unjudged in report.unjudged {
            let line = "Not judged: \(unjudged.description)"
            if isText { console.say(line.printable) } else { console.remark(line) }
        }
    }
}

/// How far an audit is, on a terminal.
struct AuditProgress {
    private let isShown: Bool

    /// Shows itself where people look: standard error is a terminal, and so is standard output.
    init(_ console: Console) { isShown = console.isLive && isatty(STDERR_FILENO) == 1 }

    /// Shows how many files were examined.
    func show(_ count: Int) {
        guard isShown else { return }
        write("\r\(count) source files …")
    }

    /// Clears the line.
    func end() {
        guard isShown else { return }
        write("\r\u{1b}[K")
    }

    private func write(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
}
