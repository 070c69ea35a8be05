// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import WakeModel

/// JUnit XML, valid for the schemas of Apache Ant and of Jenkins' xUnit plugin: one suite, and a
/// test case for each file that the report names, which fails if the file would make the command
/// fail.
///
/// The counts precede the test cases, so the report is buffered until all files are checked.
struct JUnitStyle: ReportStyle {
    /// The command, which is the name of the suite.
    let command: String
    /// Whether warnings make a file fail.
    let isStrict: Bool
    /// The time of the run.
    let now: WallInstant

    var heldFindings: Int? { LintLimits.junitFindingsPerFile }

    func opening(_ totals: ReportTotals) -> String {
        let summary = totals.summary
        let tests = totals.shownFiles + totals.problems.count
        // RFC 3339 without fraction and zone, which the schema of Ant does not allow.
        let time = now.description.prefix(19)
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites>
            <testsuite name="\(command)" package="rouse" id="0" hostname="localhost" \
            timestamp="\(time)" tests="\(tests)" failures="\(summary.failedFiles)" \
            errors="\(totals.problems.count)" time="0">
            <properties/>

            """
    }

    func texts(of findings: [Finding], in file: ReportedFile) -> [String] {
        findings.map { finding in
            let place = finding.header ?? "\(finding.line):\(finding.column)"
            let pointer = finding.pointer.isEmpty ? "" : " \(finding.pointer)"
            return "\(place): \(finding.severity) \(finding.rule)\(pointer): "
                + "\(finding.clause). \(finding.fix)\n"
        }
    }

    func text(of problem: ReportProblem) -> String {
        let name = XMLText.attribute(problem.path ?? command)
        let place = problem.path == nil ? "" : "\(problem.line):\(problem.column): "
        return "<testcase name=\"\(name)\" classname=\"rouse.problem\" time=\"0\">\n"
            + "<error type=\"problem\" message=\"not read\">"
            + "\(XMLText.content(place + problem.message))</error>\n</testcase>\n"
    }

    func ending(of file: ReportedFile, _ tally: FileTally, held: String) -> String {
        let counts = tally.summary
        let start =
            "<testcase name=\"\(XMLText.attribute(file.path))\" "
            + "classname=\"rouse.\(file.kind)\" time=\"0\""
        guard counts.isFailure(isStrict: isStrict) else { return start + "/>\n" }
        let total = counts.errors + counts.warnings + counts.notes
        let more = total - LintLimits.junitFindingsPerFile
        let rest = more > 0 ? "and \(more) more\n" : ""
        let message = "errors: \(counts.errors), warnings: \(counts.warnings)"
        return "\(start)>\n<failure type=\"\(counts.errors > 0 ? "error" : "warning")\" "
            + "message=\"\(message)\">\(XMLText.content(held + rest))</failure>\n</testcase>\n"
    }

    func closing(_ totals: ReportTotals) -> String {
        let statements = totals.statements.map { XMLText.content($0) + "\n" }.joined()
        let out = statements.isEmpty ? "<system-out/>" : "<system-out>\(statements)</system-out>"
        return out + "\n<system-err/>\n</testsuite>\n</testsuites>\n"
    }
}

/// Text in XML 1.0.
enum XMLText {
    /// Escapes the content of an element. Characters that XML does not allow, and control
    /// characters, are replaced by U+FFFD.
    static func content(_ text: String) -> String { escaped(text) }

    /// Escapes the value of an attribute in double quotes. Its line stays one.
    static func attribute(_ text: String) -> String {
        escaped(text).replacing("\n", with: "&#10;").replacing("\t", with: "&#9;")
    }

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "\n", "\t": escaped.unicodeScalars.append(scalar)
            case "\u{fffe}", "\u{ffff}": escaped += "\u{fffd}"
            case _ where Excerpt.isControl(scalar): escaped += "\u{fffd}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
