// SPDX-License-Identifier: Apache-2.0

import AppAudit
import PayloadRules

/// `rouse audit --format github`: workflow commands (GitHub Docs, "Workflow commands for GitHub
/// Actions"), which the runner shows at their places in a pull request.
struct AuditAnnotations {
    /// The lines.
    let lines: [String]

    /// Describes what was found.
    init(_ report: AuditReport) {
        let findings = report.findings.map { finding in
            let found = finding.diagnostic
            return Self.line(
                found.severity == .note ? "notice" : found.severity.rawValue, finding.file,
                found.line, found.column, title: found.rule.rawValue,
                "\(found.message)\(finding.origin(in: report)). \(found.fix)")
        }
        let problems = report.problems.map { problem in
            Self.line(
                "error", problem.place.file, problem.place.line, problem.place.column,
                title: "Not read", problem.message)
        }
        lines = findings + problems
    }

    /// Writes the lines.
    func tell(_ console: Console) {
        for line in lines { console.say(line) }
    }

    private static func line(
        _ command: String, _ file: String, _ line: Int, _ column: Int, title: String,
        _ message: String
    ) -> String {
        let properties =
            "file=\(escaped(file, also: ":,")),line=\(line),col=\(column),title=\(title)"
        return "::\(command) \(properties)::\(escaped(message, also: ""))"
    }

    /// A text whose percent signs and line ends are escaped; colons and commas too in a property.
    static func escaped(_ text: String, also more: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "%": escaped += "%25"
            case "\r": escaped += "%0D"
            case "\n": escaped += "%0A"
            case ":" where more.contains(":"): escaped += "%3A"
            case "," where more.contains(","): escaped += "%2C"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
