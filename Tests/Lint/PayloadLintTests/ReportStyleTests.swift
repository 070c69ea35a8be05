// SPDX-License-Identifier: Apache-2.0

import Foundation
import PayloadRules
import Testing
import WakeModel

@testable import PayloadLint

#if canImport(FoundationXML)
import FoundationXML
#endif

@Suite("Reports")
struct ReportStyleTests {
    private static let golden = URL(filePath: #filePath)
        .deletingLastPathComponent().appending(path: "Golden")

    private static func settings(_ format: ReportFormat) -> ReportSettings {
        ReportSettings(
            format: format, rules: .pushes, isStrict: false, usesColour: false, version: "1.2.3",
            now: WallInstant(secondsSinceEpoch: 1_790_000_000))
    }

    private static func style(_ format: ReportFormat) -> any ReportStyle {
        settings(format).style
    }

    private static func finding(
        _ rule: RuleID, _ severity: Severity, _ message: String, line: Int, column: Int,
        pointer: String = "", header: String? = nil, source: String? = nil
    ) -> Finding {
        Finding(
            rule: rule, severity: severity, message: message, fix: "Mend \"it\" <now> & 100 %.",
            line: line, column: column, pointer: pointer, header: header,
            source: source.map { SourceLine(bytes: Array($0.utf8), column: column) })
    }

    /// A report over everything that a format has to cope with.
    private static func report(_ format: ReportFormat) -> String {
        var text = ""
        var stream = ReportStream(settings(format)) { text += $0 }
        let nasty = finding(
            "G011", .warning, "an unknown key `a,b:c\u{1b}[31m\n\u{202e}`", line: 3, column: 5,
            pointer: "/aps/a~1b", source: "\t\"ключ\": 1, \u{1b}[31m")
        let files: [(ReportedFile, [Finding])] = [
            (
                ReportedFile(
                    path: "dir/a b,c:%é.json", kind: .payload, types: .one("background"),
                    isInferred: true),
                [
                    finding(
                        "BG004", .error, "a background push has `badge`", line: 1, column: 33,
                        pointer: "/aps/badge",
                        source: "{\"aps\":{\"content-available\":1, \"badge\":0}}"),
                    finding(
                        "H013", .note, "it is past", line: 1, column: 1, header: "apns-expiration"),
                    nasty, nasty,
                ]
            ),
            (
                ReportedFile(
                    path: "clean.apns", kind: .apns, types: .one("alert"), isInferred: false), []
            ),
            (
                ReportedFile(path: "/abs/l.jsonl", kind: .lines, types: .none, isInferred: false),
                [
                    finding("BG004", .warning, "one", line: 9, column: 2),
                    finding("BG004", .warning, "one", line: 10, column: 2),
                ]
            ),
            (
                ReportedFile(path: "r.yaml", kind: .request, types: .none, isInferred: false),
                [finding("G001", .error, "the text is not YAML", line: 2, column: 1, source: "")]
            ),
        ]
        for (file, findings) in files {
            stream.begin(file)
            stream.add(style(format).joined(findings, in: file), count: findings.count)
            var tally = FileTally()
            var result = PushChecker.Result(findings: findings)
            result.note(file.types.single ?? "voip", isInferred: file.isInferred)
            result.pushCount = 1
            tally.add(result)
            stream.end(file, tally)
        }
        stream.add(
            ReportedFile(path: "App/Info\u{9b}.plist", kind: "info-plist"),
            [
                Finding(
                    rule: "CF001", severity: .error, message: "the mode `a\u{7}` is unknown",
                    fix: "Mend it.", line: 3, column: 8, pointer: "/UIBackgroundModes/0",
                    target: "App\u{1b}[2J", configurations: ["Debug"], detail: "mode")
            ])
        stream.add(
            ReportProblem(path: "b\u{8d}.json", line: 2, column: 3, message: "no text\u{1b}[2J\n"))
        stream.count(foreignFiles: 2, excludedFiles: 1, ignoredFindings: 1, knownFindings: 3)
        stream.say(notJudged: "12 Objective-C files were not read: CF002 not judged.")
        stream.end()
        return text
    }

    @Test(
        "are what the golden files say (ROUSE_REGENERATE_GOLDEN=1 writes them anew)",
        arguments: ReportFormat.allCases)
    func golden(format: ReportFormat) throws {
        var report = Self.report(format)
        if format == .sarif, let results = report.range(of: "\"columnKind\"") {
            // The rules have tests of their own.
            report = "… " + report[results.lowerBound...]
            report.replace(/"ruleIndex":\d+,/, with: "")
        }
        let file = Self.golden.appending(path: "\(format.rawValue).txt")
        if ProcessInfo.processInfo.environment["ROUSE_REGENERATE_GOLDEN"] == "1" {
            try report.write(to: file, atomically: true, encoding: .utf8)
        }
        #expect(report == (try String(contentsOf: file, encoding: .utf8)))
    }

    @Test("of no files are whole documents too", arguments: ReportFormat.allCases)
    func empty(format: ReportFormat) throws {
        var text = ""
        var stream = ReportStream(Self.settings(format)) { text += $0 }
        stream.end()
        switch format {
        case .json, .sarif: _ = try JSONSerialization.jsonObject(with: Data(text.utf8))
        case .gitlab:
            #expect(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [Int] == [])
        case .junit: #expect(XMLParser(data: Data(text.utf8)).parse())
        case .github: #expect(text.isEmpty)
        case .text: #expect(text == "Checked 0 files.\n")
        }
    }

    @Test("SARIF lists all rules, and results point at theirs")
    func sarif() throws {
        let log = try #require(
            try JSONSerialization.jsonObject(with: Data(Self.report(.sarif).utf8)) as? [String: Any]
        )
        let run = try #require((log["runs"] as? [[String: Any]])?.first)
        let driver = try #require((run["tool"] as? [String: Any])?["driver"] as? [String: Any])
        let rules = try #require(driver["rules"] as? [[String: Any]]).map { $0["id"] as? String }
        #expect(rules == Rules.table.map(\.id.rawValue))
        let results = try #require(run["results"] as? [[String: Any]])
        #expect(results.count == 8)
        for result in results {
            guard let index = result["ruleIndex"] as? Int else { continue }
            #expect(rules[index] == result["ruleId"] as? String)
        }
    }

    @Test(
        "JSON, GitLab and JUnit reports can be read back",
        arguments: [ReportFormat.json, .gitlab, .junit])
    func wellFormed(format: ReportFormat) throws {
        let data = Data(Self.report(format).utf8)
        if format == .junit {
            #expect(XMLParser(data: data).parse())
        } else {
            _ = try JSONSerialization.jsonObject(with: data)
        }
    }

    @Test("nothing that a terminal obeys stands in a report", arguments: ReportFormat.allCases)
    func controlCharacters(format: ReportFormat) {
        let text = Self.report(format).unicodeScalars.filter { $0 != "\n" && $0 != "\t" }
        #expect(
            !text.contains(where: Excerpt.isControl), "\(String(String.UnicodeScalarView(text)))")
    }

    @Test("A line feed in a name begins no line of a JUnit report")
    func lineFeedInName() {
        #expect(XMLText.attribute("a\n::error::b\t\"") == "a&#10;::error::b&#9;&quot;")
        #expect(XMLText.content("a\nb") == "a\nb")
    }

    @Test("JUnit keeps a bounded number of findings, and says how many more there are")
    func junitBound() {
        let style = Self.style(.junit)
        let file = LineChecker.file("l.jsonl")
        var text = ""
        var stream = ReportStream(Self.settings(.junit)) { text += $0 }
        stream.begin(file)
        var tally = FileTally()
        for block in 0..<4 {
            let findings = (0..<400).map {
                Self.finding("BG004", .error, "x", line: block * 400 + $0, column: 1)
            }
            stream.add(style.joined(findings, in: file), count: findings.count)
            tally.add(PushChecker.Result(findings: findings))
        }
        stream.end(file, tally)
        stream.end()
        #expect(text.components(separatedBy: "error BG004").count - 1 <= 1200)
        #expect(text.contains("and 600 more"))
        #expect(text.contains("errors: 1600"))
    }

    @Test("colours are there when they are wanted")
    func colours() {
        let style = TextStyle(usesColour: true)
        let file = ReportedFile(path: "a", kind: .payload, types: .none, isInferred: false)
        let text = style.joined([Self.finding("G001", .error, "x", line: 1, column: 1)], in: file)
        #expect(text.contains("\u{1b}[31m"))
        #expect(!Self.report(.text).contains("\u{1b}"))
    }

    @Test("fingerprints differ between findings, and not between runs or lines")
    func fingerprints() {
        let file = ReportedFile(path: "a", kind: .payload, types: .none, isInferred: false)
        var first = Fingerprints(file)
        let finding = Self.finding("G001", .error, "x", line: 1, column: 1, pointer: "/a")
        let moved = Self.finding("G001", .error, "y", line: 9, column: 9, pointer: "/a")
        let one = first.next(finding)
        let two = first.next(finding)
        var second = Fingerprints(file)
        #expect(one == second.next(moved))
        #expect(one != two)
        #expect(one.count == 32)
        // The vectors of FNV-1a with 128 bits.
        #expect(Fingerprints.hash("") == "6c62272e07bb014262b821756295c58d")
        #expect(Fingerprints.hash("a") == "d228cb696f1a8caf78912b704e4a8964")
    }

    @Test(
        "an excerpt shows the column",
        arguments: [
            ("abc", 2, "abc", 1), ("", 1, "", 0), ("abc", 99, "abc", 3),
            ("\t\"x\"", 2, " \"x\"", 1),
            ("日本\"x\"", 3, "日本\"x\"", 4), ("e\u{301}\"x\"", 3, "e\u{301}\"x\"", 1),
            ("0123456789abcdefghij", 8, "…456789abcd…", 4),
            ("0123456789abcdefghij", 1, "0123456789…", 0),
            ("0123456789abcdefghij", 20, "…abcdefghij", 10), ("a\u{1b}b", 3, "a\u{fffd}b", 2),
        ])
    func excerpts(source: String, column: Int, line: String, indent: Int) {
        let excerpt = Excerpt(Array(source.utf8), column: column, width: 10)
        #expect(excerpt.line == line)
        #expect(excerpt.caretIndent == indent)
    }
}
