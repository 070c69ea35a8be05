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

    func closing(_ totals: ReportTotals) -> String { "\n]\n" }

    private static func severity(_ finding: Finding) -> String {
        switch finding.severity {
        case .error: "major"
        case .warning: "minor"
        case .note: "info"
        }
    }
}
