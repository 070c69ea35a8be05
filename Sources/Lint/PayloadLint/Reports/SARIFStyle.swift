// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// SARIF 2.1.0 (OASIS Standard, "Static Analysis Results Interchange Format"): all rules, and the
/// findings as results.
struct SARIFStyle: ReportStyle {
    private static let schema =
        "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

    /// The program's version.
    let version: String
    /// The rules of the command.
    let rules: RuleTable

    var findingSeparator: String { ",\n" }
    var joinsFiles: Bool { true }

    func opening(_ totals: ReportTotals) -> String {
        "{\"$schema\":\"\(Self.schema)\",\"version\":\"2.1.0\",\"runs\":[{\n"
            + "\"tool\":{\"driver\":{\"name\":\"rouse\","
            + "\"semanticVersion\":\(JSONLiteral.string(version)),\"rules\":[\n"
            + rules.entries.map(Self.descriptor).joined(separator: ",\n")
            + "\n]}},\n\"columnKind\":\"unicodeCodePoints\",\"results\":[\n"
    }

    func texts(of findings: [Finding], in file: ReportedFile) -> [String] {
        var fingerprints = Fingerprints(file)
        return findings.map { result($0, in: file, fingerprints.next($0)) }
    }

    func closing(_ totals: ReportTotals) -> String {
        let problems = totals.problems.map { notification($0.message, "error", at: $0) }
        let statements = totals.statements.map { notification($0, "note") }
        return "\n],\n\"invocations\":[{\"executionSuccessful\":\(problems.isEmpty),"
            + "\"toolExecutionNotifications\":["
            + (problems + statements).joined(separator: ",\n") + "]}]}]}\n"
    }

    private func notification(
        _ message: String, _ level: String, at problem: ReportProblem? = nil
    ) -> String {
        let place = problem.flatMap { problem in
            problem.path.map { Self.location($0, problem.line, problem.column) }
        }
        return "{\"level\":\"\(level)\",\"message\":{\"text\":\(JSONLiteral.string(message))}"
            + (place.map { ",\"locations\":[{\($0)}]" } ?? "") + "}"
    }

    private static func location(_ path: String, _ line: Int, _ column: Int) -> String {
        "\"physicalLocation\":{"
            + "\"artifactLocation\":{\"uri\":\(JSONLiteral.string(uri(path)))},"
            + "\"region\":{\"startLine\":\(line),\"startColumn\":\(column)}}"
    }

    private static func descriptor(_ rule: RuleTable.Entry) -> String {
        let why =
            rule.rationale + " Sources: "
            + rule.sources.joined(separator: "; ") + "."
        return "{\"id\":\"\(rule.id)\","
            + "\"shortDescription\":{\"text\":\(JSONLiteral.string(rule.title))},"
            + "\"fullDescription\":{\"text\":\(JSONLiteral.string(why))},"
            + "\"help\":{\"text\":\(JSONLiteral.string(rule.fix))},"
            + "\"defaultConfiguration\":{\"level\":\"\(rule.severity)\"}}"
    }

    private func result(_ finding: Finding, in file: ReportedFile, _ fingerprint: String) -> String
    {
        let text = JSONLiteral.string(finding.sentences)
        let index = rules.indices[finding.rule].map { "\"ruleIndex\":\($0)," } ?? ""
        let logical =
            finding.pointer.isEmpty
            ? ""
            : ",\"logicalLocations\":[{\"fullyQualifiedName\":"
                + "\(JSONLiteral.string(finding.pointer))}]"
        return "{\"ruleId\":\"\(finding.rule)\",\(index)\"level\":\"\(finding.severity)\","
            + "\"message\":{\"text\":\(text)},"
            + "\"locations\":[{\(Self.location(file.path, finding.line, finding.column))"
            + "\(logical)}],"
            + "\"partialFingerprints\":{\"rouseFinding/v1\":\"\(fingerprint)\"}}"
    }

    /// A path as a relative reference, or as a `file` URI (RFC 3986, RFC 8089).
    static func uri(_ path: String) -> String {
        var uri = path.hasPrefix("/") ? "file://" : ""
        for byte in path.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "/"):
                uri.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                uri += "%" + (digits.count == 1 ? "0" : "") + digits
            }
        }
        return uri
    }
}
