// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// A Code Quality report (GitLab Docs, "Code Quality", "Code Quality report format").
struct GitLabStyle: ReportStyle {
    var findingSeparator: String { ",\n" }
    var joinsFiles: Bool { true }

    func opening(_ totals: ReportTotals) -> String { "[\n" }

    func texts(of findings: [Finding], in file: ReportedFile) -> [String] {
        var fingerprints = Fingerprints(file)
        return findings.map { finding in
            "{\"description\":\(JSONLiteral.string(finding.sentences)),"
                + "\"check_name\":\"\(finding.rule)\","
                + "\"fingerprint\":\"\(fingerprints.next(finding))\","
                + "\"severity\":\"\(Self.severity(finding))\","
                + "\"location\":{\"path\":\(JSONLiteral.string(file.path)),"
                + "\"lines\":{\"begin\":\(finding.line)}}}"
        }
    }

    func closing(_ totals: ReportTotals) -> String {
        let problems = totals.problems.map(Self.text).joined(separator: findingSeparator)
        let goesOn = totals.hasFindings && !problems.isEmpty
        return (goesOn ? findingSeparator : "") + problems + "\n]\n"
    }

    /// Unreadable input, which is graver than any finding: nothing is known of it.
    private static func text(of problem: ReportProblem) -> String {
        let path = problem.path ?? "."
        return "{\"description\":\(JSONLiteral.string(problem.message)),"
            + "\"check_name\":\"problem\","
            + "\"fingerprint\":\"\(Fingerprints.hash(path + "\0" + problem.message))\","
            + "\"severity\":\"critical\","
            + "\"location\":{\"path\":\(JSONLiteral.string(path)),"
            + "\"lines\":{\"begin\":\(problem.line)}}}"
    }

    private static func severity(_ finding: Finding) -> String {
        switch finding.severity {
        case .error: "major"
        case .warning: "minor"
        case .note: "info"
        }
    }
}
