// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Workflow commands (GitHub Docs, "Workflow commands for GitHub Actions"): one line for each
/// finding, which GitHub shows as an annotation in a pull request.
struct GitHubStyle: ReportStyle {
    func texts(of findings: [Finding], in file: ReportedFile) -> [String] {
        findings.map { finding in
            let command = finding.severity == .note ? "notice" : finding.severity.rawValue
            let place =
                "file=\(Self.property(file.path)),line=\(finding.line),col=\(finding.column)"
            let message = Self.message(finding.sentences)
            return "::\(command) \(place),title=\(finding.rule)::\(message)\n"
        }
    }

    func text(of problem: ReportProblem) -> String {
        let place = problem.path.map {
            "file=\(Self.property($0)),line=\(problem.line),col=\(problem.column),"
        }
        return "::error \(place ?? "")title=Not read::\(Self.message(problem.message))\n"
    }

    /// Written to the job's log, because an annotation would appear in every pull request.
    func closing(_ totals: ReportTotals) -> String {
        totals.statements.map { Self.message($0) + "\n" }.joined()
    }

    /// Escapes a message: percent signs and line ends.
    static func message(_ text: String) -> String { escaped(text, also: "") }

    /// Escapes the value of a property: colons and commas too.
    static func property(_ text: String) -> String { escaped(text, also: ":,") }

    private static func escaped(_ text: String, also more: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "%": escaped += "%25"
            case "\r": escaped += "%0D"
            case "\n": escaped += "%0A"
            case ":" where more.unicodeScalars.contains(":"): escaped += "%3A"
            case "," where more.unicodeScalars.contains(","): escaped += "%2C"
            // Control characters in a name would affect a terminal that shows the job's log.
            default: escaped.unicodeScalars.append(Excerpt.isControl(scalar) ? "\u{fffd}" : scalar)
            }
        }
        return escaped
    }
}
