// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// One JSON document:
///
/// ```
/// {"files":[{"path","kind","pushType","diagnostics":[
///     {"rule","severity","message","fix","line","column","pointer"}]}],
///  "summary":{"files","errors","warnings","notes"}}
/// ```
///
/// `pushType` is null where a file's pushes have several. Where it was told from what the payload
/// holds, `"pushTypeInferred":true` stands behind it. In a file of lines it stands behind the
/// diagnostics, which are written before all lines are read.
struct JSONStyle: ReportStyle {
    var findingSeparator: String { "," }
    var fileSeparator: String { ",\n" }

    func opening(_ summary: LintSummary) -> String { "{\"files\":[\n" }

    func beginning(of file: ReportedFile) -> String {
        let type = file.isManyLines ? "" : pushType(file.types, file.isInferred) + ","
        return "{\"path\":\(JSONLiteral.string(file.path)),\"kind\":\"\(file.kind.rawValue)\","
            + type + "\"diagnostics\":["
    }

    func texts(of findings: [Finding], in file: ReportedFile) -> [String] {
        findings.map { finding in
            "\n{\"rule\":\"\(finding.rule)\",\"severity\":\"\(finding.severity)\","
                + "\"message\":\(JSONLiteral.string(finding.message)),"
                + "\"fix\":\(JSONLiteral.string(finding.fix)),"
                + "\"line\":\(finding.line),\"column\":\(finding.column),"
                + "\"pointer\":\(JSONLiteral.string(finding.pointer))}"
        }
    }

    func ending(of file: ReportedFile, _ tally: FileTally, held: String) -> String {
        guard file.isManyLines else { return "]}" }
        let isInferred = tally.types.single.map { tally.summary.inferredTypes[$0] != nil } ?? false
        return "]," + pushType(tally.types, isInferred) + "}"
    }

    func closing(_ summary: LintSummary) -> String {
        "\n],\n\"summary\":{\"files\":\(summary.files),\"errors\":\(summary.errors),"
            + "\"warnings\":\(summary.warnings),\"notes\":\(summary.notes)}}\n"
    }

    private func pushType(_ types: PushTypeTally, _ isInferred: Bool) -> String {
        let type = types.single.map(JSONLiteral.string) ?? "null"
        return "\"pushType\":\(type)" + (isInferred ? ",\"pushTypeInferred\":true" : "")
    }
}
