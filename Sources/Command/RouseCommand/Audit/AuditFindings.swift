// SPDX-License-Identifier: Apache-2.0

import AppAudit
import PayloadLint
import PayloadRules

/// Writes what an audit found with the writers that `rouse validate` has.
struct AuditFindings {
    let report: AuditReport
    let settings: ReportSettings

    /// Will write a report in a format.
    init(
        _ report: AuditReport, _ format: ReportFormat, isStrict: Bool, usesColour: Bool
    ) {
        self.report = report
        settings = ReportSettings(
            format, .apps, isStrict: isStrict, usesColour: usesColour)
    }

    /// Writes the report.
    func write(to console: Console) {
        var stream = ReportStream(settings) { console.writeRaw($0) }
        var count = report.fileCount
        let unread = Set(report.problems.map(\.place.file))
        for file in report.files where !file.findings.isEmpty || !unread.contains(file.path) {
            stream.add(
                ReportedFile(path: file.path, kind: file.kind.rawValue),
                file.findings.map { Self.finding($0, in: report) })
            count -= 1
        }
        stream.count(
            cleanFiles: count, ignoredFindings: report.ignoredFindings,
            knownFindings: report.knownFindings)
        for problem in report.problems {
            let place = problem.place
            stream.add(
                ReportProblem(
                    path: place.file, line: place.line, column: place.column,
                    message: problem.message))
            tell(problem, console)
        }
        // The text report says these behind its end.
        if settings.format != .text {
            for unjudged in report.unjudged { stream.say(notJudged: unjudged.statement) }
        }
        stream.end()
    }

    /// Unreadable input is reported on standard error in any case.
    private func tell(_ problem: AuditReport.Problem, _ console: Console) {
        let place = problem.place
        let line = "\(place.file):\(place.line):\(place.column): \(problem.message)"
        if settings.format == .text {
            console.say(console.coloured("problem", .bad) + " " + line.printable)
        } else {
            // A path at the start could be a command of a runner.
            console.remark("problem " + line.printable)
        }
    }

    /// A finding as the report writers and the baseline take it.
    static func finding(_ finding: AppFinding, in report: AuditReport) -> Finding {
        let found = finding.diagnostic
        let showsAll = finding.configurations.count >= report.configurationCount
        return Finding(
            rule: found.rule, severity: found.severity, message: found.message, fix: found.fix,
            line: found.line, column: found.column, pointer: found.pointer,
            target: finding.target, configurations: showsAll ? [] : finding.configurations,
            detail: detail(found.message, in: report))
    }

    /// What of a message stays the same where lines move, and wherever the audit runs: a path in
    /// it is that of a file of the report.
    private static func detail(_ message: String, in report: AuditReport) -> String {
        var detail = message
        if detail.contains("/") {
            let paths = report.files.lazy.map(\.path).filter { path in
                path.contains("/") && detail.contains(path)
            }
            if let path = paths.max(by: { $0.utf8.count < $1.utf8.count }),
                let slash = path.lastIndex(of: "/")
            {
                detail = detail.replacing(path, with: path[path.index(after: slash)...])
            }
        }
        // Few messages have a number, and an expression costs more than all else here.
        return detail.utf8.contains { (0x30...0x39).contains($0) }
            ? detail.replacing(/, line [0-9]+/, with: "") : detail
    }
}
