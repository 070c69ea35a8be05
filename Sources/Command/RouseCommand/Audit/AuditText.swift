// SPDX-License-Identifier: Apache-2.0

import AppAudit
import Foundation
import PayloadRules

/// The result of `rouse audit` for a person.
struct AuditText {
    private let console: Console

    /// Writes to this console.
    init(_ console: Console) { self.console = console }

    /// Each finding with its fix, what could not be read, and a summary.
    func tell(_ report: AuditReport) {
        for finding in report.findings { tell(finding, report) }
        for problem in report.problems {
            console.say(console.coloured("problem", .bad) + " " + Self.line(problem))
        }
        let counts = Severity.allCases.reversed().map { severity in
            let count = report.count(severity)
            return "\(count) \(severity)\(count == 1 ? "" : "s")"
        }
        let isClean = report.findings.isEmpty && report.problems.isEmpty
        console.say(
            "Looked at \(report.fileCount) file\(report.fileCount == 1 ? "" : "s"): "
                + (isClean
                    ? console.coloured("nothing found", .good) : counts.joined(separator: ", "))
                + (report.problems.isEmpty ? "." : ", \(report.problems.count) not read."))
    }

    private func tell(_ finding: AppFinding, _ report: AuditReport) {
        let found = finding.diagnostic
        let place = "\(finding.file):\(found.line):\(found.column)"
        let weight = "\(found.severity) \(found.rule)"
        let pointer = found.pointer.isEmpty ? "" : " \(found.pointer)"
        console.say(
            console.coloured(Self.visible(place), .strong) + ": "
                + (Self.colour(found.severity).map { console.coloured(weight, $0) } ?? weight)
                + Self.visible("\(pointer): \(found.message)\(finding.origin(in: report))"))
        console.say("  = " + Self.visible(found.fix))
        console.say()
    }

    /// A file that could not be read, in one line.
    static func line(_ problem: AuditReport.Problem) -> String {
        let place = problem.place
        return visible("\(place.file):\(place.line):\(place.column): \(problem.message)")
    }

    /// A rule's manual page. Fails with 64 for an id that no rule has.
    func explain(_ name: String) throws(CommandFailure) {
        guard let rule = AppRules.rule(RuleID(rawValue: name.uppercased())) else {
            let last = AppRules.table.last?.id.rawValue ?? ""
            throw CommandFailure(
                .usage,
                "\(name) is no rule about apps. They are CF001 to \(last); for payloads see "
                    + "'rouse validate --explain'.")
        }
        console.say("Rule", "\(rule.id), \(rule.severity)", Self.colour(rule.severity))
        console.say("Finds", rule.title)
        console.say("Why", rule.rationale)
        console.say("Fix", rule.fix)
        for (index, source) in rule.evidence.enumerated() {
            console.say(index == 0 ? "Source" : "", source.description)
        }
    }

    private static func colour(_ severity: Severity) -> Console.Colour? {
        switch severity {
        case .error: .bad
        case .warning: .doubtful
        case .note: nil
        }
    }

    /// A text that cannot steer a terminal: names and paths are other people's.
    static func visible(_ text: String) -> String {
        let isControl = { (scalar: Unicode.Scalar) in
            scalar.properties.generalCategory == .control
                || (0x2028...0x202e).contains(scalar.value)
                || (0x2066...0x2069).contains(scalar.value)
        }
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        var visible = ""
        for scalar in text.unicodeScalars {
            visible.unicodeScalars.append(isControl(scalar) ? "\u{fffd}" : scalar)
        }
        return visible
    }
}
