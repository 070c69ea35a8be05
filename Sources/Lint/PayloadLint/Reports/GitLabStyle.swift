// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// A Code Quality report (GitLab Docs, "Code Quality", "Code Quality report format").
struct GitLabStyle: ReportStyle {
    var findingSeparator: String { ",\n" }
    var joinsFiles: Bool { true }

    func opening(_ summary: LintSummary) -> String { "[\n" }

    func texts(of findings: [Finding], in file: ReportedFile) -> [String] {
        var fingerprints = Fingerprints(file)
        return findings.map { finding in
            let header = finding.header.map { "\($0): " } ?? ""
            let text = "\(header)\(finding.message). \(finding.fix)"
            return "{\"description\":\(JSONLiteral.string(text)),"
                + "\"check_name\":\"\(finding.rule)\","
                + "\"fingerprint\":\"\(fingerprints.next(finding))\","
                + "\"severity\":\"\(Self.severity(finding))\","
                + "\"location\":{\"path\":\(JSONLiteral.string(file.path)),"
                + "\"lines\":{\"begin\":\(finding.line)}}}"
        }
    }

    func closing(_ summary: LintSummary) -> String { "\n]\n" }

    private static func severity(_ finding: Finding) -> String {
        switch finding.severity {
        case .error: "major"
        case .warning: "minor"
        case .note: "info"
        }
    }
}
