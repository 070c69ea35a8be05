// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// Workflow commands (GitHub Docs, "Workflow commands for GitHub Actions"): a line for each
/// finding, which the runner shows at its place in a pull request.
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

    /// Lines of the job's log: an annotation would appear in every pull request.
    func closing(_ totals: ReportTotals) -> String {
        totals.statements.map { Self.message($0) + "\n" }.joined()
    }

    /// A message: percent signs and line ends are escaped.
    static func message(_ text: String) -> String { escaped(text, also: "") }

    /// A property's value: colons and commas too.
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
            // A name may hold what a terminal obeys, and the job's log is read in one.
            default: escaped.unicodeScalars.append(Excerpt.isControl(scalar) ? "\u{fffd}" : scalar)
            }
        }
        return escaped
    }
}
