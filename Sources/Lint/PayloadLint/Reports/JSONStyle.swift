// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// One JSON document:
///
/// ```
/// {"files":[{"path","kind","pushType","diagnostics":[
///     {"rule","severity","message","fix","line","column","pointer","target","configurations"}]}],
///  "problems":[{"path","line","column","message"}],"notJudged":["…"],
///  "summary":{"files","errors","warnings","notes"}}
/// ```
///
/// `target` and `configurations` are present if the finding is about a target of an app's project,
/// `pushType` if the file is a push. `problems` lists what could not be read, and `notJudged` what
/// was skipped and why.
///
/// `pushType` is null if the pushes of a file have several types. If it was inferred from the
/// payload, `"pushTypeInferred":true` follows it. In a file of lines it follows the diagnostics,
/// which are written before all lines are read.
struct JSONStyle: ReportStyle {
    var findingSeparator: String { "," }
    var fileSeparator: String { ",\n" }

    func opening(_ totals: ReportTotals) -> String { "{\"files\":[\n" }

    func beginning(of file: ReportedFile) -> String {
        let hasType = file.isPush && !file.isManyLines
        let type = hasType ? pushType(file.types, file.isInferred) + "," : ""
        return "{\"path\":\(JSONLiteral.string(file.path)),\"kind\":\"\(file.kind)\","
            + type + "\"diagnostics\":["
    }

    func texts(of findings: [Finding], in file: ReportedFile) -> [String] {
        findings.map { finding in
            "\n{\"rule\":\"\(finding.rule)\",\"severity\":\"\(finding.severity)\","
                + "\"message\":\(JSONLiteral.string(finding.message)),"
                + "\"fix\":\(JSONLiteral.string(finding.fix)),"
                + "\"line\":\(finding.line),\"column\":\(finding.column),"
                + "\"pointer\":\(JSONLiteral.string(finding.pointer))\(builds(finding))}"
        }
    }

    private func builds(_ finding: Finding) -> String {
        guard let target = finding.target else { return "" }
        let text = ",\"target\":\(JSONLiteral.string(target))"
        guard !finding.configurations.isEmpty else { return text }
        return text + ",\"configurations\":[\(Self.list(finding.configurations))]"
    }

    private static func list(_ texts: [String]) -> String {
        texts.map(JSONLiteral.string).joined(separator: ",")
    }

    func ending(of file: ReportedFile, _ tally: FileTally, held: String) -> String {
        guard file.isPush, file.isManyLines else { return "]}" }
        let isInferred = tally.types.single.map { tally.summary.inferredTypes[$0] != nil } ?? false
        return "]," + pushType(tally.types, isInferred) + "}"
    }

    func closing(_ totals: ReportTotals) -> String {
        let problems = totals.problems.map { problem in
            let path = problem.path.map { "\"path\":\(JSONLiteral.string($0))," } ?? ""
            return "\n{\(path)\"line\":\(problem.line),\"column\":\(problem.column),"
                + "\"message\":\(JSONLiteral.string(problem.message))}"
        }
        let summary = totals.summary
        return "\n],\n\"problems\":[\(problems.joined(separator: ","))],\n"
            + "\"notJudged\":[\(Self.list(totals.statements))],\n"
            + "\"summary\":{\"files\":\(summary.files),\"errors\":\(summary.errors),"
            + "\"warnings\":\(summary.warnings),\"notes\":\(summary.notes)}}\n"
    }

    private func pushType(_ types: PushTypeTally, _ isInferred: Bool) -> String {
        let type = types.single.map(JSONLiteral.string) ?? "null"
        return "\"pushType\":\(type)" + (isInferred ? ",\"pushTypeInferred\":true" : "")
    }
}
