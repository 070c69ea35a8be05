// SPDX-License-Identifier: Apache-2.0

import AppAudit
import ArgumentParser
import PayloadLint
import PayloadRules

/// The options of `rouse audit` that choose among findings.
struct AuditSettingsOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Ask these rules only, by id or as CF; may be given several times.",
            valueName: "rules"), completion: .list(AppRules.table.map(\.id.rawValue)))
    var select: [String] = []

    @Option(
        help: ArgumentHelp("Do not ask these rules.", valueName: "rules"),
        completion: .list(AppRules.table.map(\.id.rawValue)))
    var ignore: [String] = []

    @Option(
        help: ArgumentHelp(
            "Read settings from this file, not from the nearest .rouse-lint.yaml (or .yml).",
            valueName: "file"), completion: .file())
    var config: String?

    @Flag(help: "Read no .rouse-lint.yaml or .rouse-lint.yml.")
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
    let found: SettingsSearch.Found
    private let policy: RulePolicy
    private let baseline: Baseline?
    private let target: String?
    private let paths: [String]
    /// The settings files that are nearest to other paths than the first, and are not read; `nil`
    /// where none was looked for.
    private var unreadFiles: [String]?

    /// Reads what was typed, and the files that it names.
    init(_ options: AuditSettingsOptions, paths: [String]) throws(CommandFailure) {
        target = options.baseline.writeBaseline
        self.paths = paths
        let source =
            options.config.map { SettingsSource.file($0) } ?? (options.noConfig ? .none : .nearest)
        do throws(LintProblem) {
            let known = target == nil ? options.baseline.baseline : nil
            // A baseline of the command line overrides that of the settings.
            var search = SettingsSearch(source, readsBaselines: target == nil && known == nil)
            let index = try search.index(forPath: paths.first ?? ".")
            found = search.found[index]
            policy = RulePolicy(
                selected: try Self.selection(options.select),
                ignored: try Self.selection(options.ignore), settings: found.configuration,
                rules: .apps)
            baseline = try known.map(Baseline.init(readingFrom:)) ?? found.baseline
            if source == .nearest {
                var files: [String] = []
                for path in paths.dropFirst() {
                    guard let file = try SettingsSearch.nearestFile(toPath: path) else { continue }
                    files.append(file)
                }
                unreadFiles = files
            }
        } catch {
            throw CommandFailure(error)
        }
    }

    private static func selection(_ names: [String]) throws(LintProblem) -> RuleSelection? {
        names.isEmpty ? nil : try RuleSelection(names, of: .apps)
    }

    /// What of a report counts. Writes a baseline, where one is asked for, and then nothing does.
    func applied(
        to report: AuditReport, isPartial: Bool, _ console: Console
    ) throws(CommandFailure) -> AuditReport {
        var asked = report.applying(policy)
        sayUnread(&asked)
        let coverage = Baseline.Coverage(
            rules: .apps, policy: policy, paths: paths, files: report.judgedFiles,
            isPartial: isPartial || !report.problems.isEmpty)
        if let target {
            let recorder = try Self.recorder(target)
            let entries = asked.files.flatMap { file in
                Self.entries(of: file, in: asked, recorder).flatMap(\.all)
            }
            let text = recorder.text(with: entries, of: coverage)
            try OutputFile(target, "--write-baseline").finish(with: text)
            console.remark("\(target) holds the findings of this run.")
            asked.knownFindings += asked.findings.count
            for index in asked.files.indices { asked.files[index].findings = [] }
        } else if let baseline {
            var found: Set<Baseline.Entry> = []
            for index in asked.files.indices {
                let file = asked.files[index]
                var entries = Self.entries(of: file, in: asked, baseline)[...]
                found.formUnion(entries.flatMap(\.all))
                asked.files[index].findings = file.findings.compactMap { finding in
                    let left = finding.limited { _ in
                        entries.popFirst()?.asked.allSatisfy(baseline.knows) != true
                    }
                    if left == nil { asked.knownFindings += 1 }
                    return left
                }
            }
            if let gone = baseline.statement(ofGoneBesides: found, of: coverage) {
                console.remark(gone.printable)
            }
        }
        return asked
    }

    private static func recorder(_ path: String) throws(CommandFailure) -> Baseline {
        do throws(LintProblem) {
            return try Baseline(at: path)
        } catch {
            throw CommandFailure(error)
        }
    }

    /// The most files with settings that are named as unread.
    private static let namedFiles = 5

    /// Says which settings were not read: those of one file hold for all.
    private func sayUnread(_ report: inout AuditReport) {
        guard let unreadFiles else { return }
        let holding =
            found.file.map { "\($0) holds for all paths" }
            ?? (paths.count == 1 ? "no settings hold for the path" : "the first path has none")
        var known: Set = [found.file]
        let unread = (unreadFiles + report.settingsFiles).filter { file in
            known.insert(realPath(file) ?? file).inserted
        }
        for file in unread.prefix(Self.namedFiles) {
            report.say(notJudged: "the settings in \(file) were not read: \(holding)")
        }
        let more = unread.count - Self.namedFiles
        if more > 0 { report.say(notJudged: "the settings in \(more) further files were not read") }
    }

    /// The entries of a finding at one of its places: one for each target, and one for a file that
    /// is named alone, which has none.
    private struct Entries {
        let all: [Baseline.Entry]
        /// Those that have to be known.
        let asked: [Baseline.Entry]
    }

    private static func entries(
        of file: AuditReport.File, in report: AuditReport, _ baseline: Baseline
    ) -> [Entries] {
        let places = file.findings.flatMap(\.atEachPlace)
        let variants = places.map { finding in
            (finding.targets.map { Optional($0) } + [nil]).map { target in
                var one = AuditFindings.finding(finding, in: report)
                one.target = target
                return one
            }
        }
        var rest = baseline.entries(of: variants.flatMap(\.self), at: file.path)[...]
        return variants.map { variant in
            let all = Array(rest.prefix(variant.count))
            rest = rest.dropFirst(variant.count)
            return Entries(all: all, asked: all.count > 1 ? all.dropLast() : all)
        }
    }

    /// Says which rules were not asked, and why, where the report itself does not.
    func tellUnjudged(_ report: AuditReport, _ console: Console, _ format: ReportFormat) {
        guard format == .text || format == .gitlab else { return }
        for unjudged in report.unjudged {
            // A line of its own could be a command of a runner.
            let line = unjudged.statement.printable
            if format == .text { console.say(line) } else { console.remark(line) }
        }
    }
}

extension AuditReport.Unjudged {
    /// The sentence for reports. A target's name at its start could be a command of a runner.
    var statement: String { "Not judged: \(description)" }
}
