// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import PayloadLint

@Suite("Runs")
struct RunTests {
    private static let background = #"{"aps":{"content-available":1},"version":7}"#
    private static let badge = #"{"aps":{"content-available":1,"badge":0},"version":7}"#

    private static func options(
        _ rules: String = "BG001,BG004,BG010,G001,G012"
    ) throws -> (
        (inout LintOptions) -> Void
    ) {
        let selected = try RuleSelection.only(rules)
        return { options in
            options.format = .json
            options.selected = selected
            options.assumptions.pushType = "background"
        }
    }

    @Test("the JSON report has exactly the promised shape")
    func shape() async throws {
        let folder = try TestFolder()
        let path = try folder.write(
            "{\n  \"aps\": {\"content-available\": 1, \"badge\": 0}}\n", to: "a.json")
        let run = try await FinishedRun([path], Self.options())
        let json = try run.json()
        #expect(Set(json.keys) == ["files", "notJudged", "problems", "summary"])
        let file = try #require(try run.files().first)
        #expect(Set(file.keys) == ["path", "kind", "pushType", "diagnostics"])
        #expect(file["path"] as? String == path)
        #expect(file["kind"] as? String == "payload")
        #expect(file["pushType"] as? String == "background")
        let finding = try #require((file["diagnostics"] as? [[String: Any]])?.first)
        #expect(
            Set(finding.keys)
                == ["rule", "severity", "message", "fix", "line", "column", "pointer"])
        #expect(try run.findings() == ["BG004 2:35 /aps/badge"])
        let summary = try #require(json["summary"] as? [String: Int])
        #expect(summary == ["files": 1, "errors": 1, "warnings": 0, "notes": 0])
        #expect(run.result.isFailure)
    }

    @Test("errors come first, and findings of one weight in the order of their places")
    func orderOfFindings() async throws {
        let folder = try TestFolder()
        let path = try folder.write(
            """
            payload:
              aps: {content-available: 1, badge: 0}
            headers:
              apns-priority: 10
              apns-topic: com.example.app.voip
              apns-push-type: background
              apns-expiration: 300

            """, to: "a.yaml")
        let run = try await FinishedRun([path], Self.options("BG004,BG006,H007,H011"))
        #expect(
            try run.findings() == [
                "BG004 2:31 /payload/aps/badge", "BG006 4:18 /headers/apns-priority",
                "H007 5:15 /headers/apns-topic", "H011 7:20 /headers/apns-expiration",
            ])
    }

    @Test("a note about the whole payload stands behind the errors in it")
    func errorsFirst() async throws {
        let folder = try TestFolder()
        let text = #"{"aps":{"content-available":true,"alert":"","badge":0}}"#
        let path = try folder.write(text, to: "a.json")
        let run = try await FinishedRun([path], Self.options("BG,G001"))
        // The empty alert is one finding, of the rule that refuses any.
        #expect(
            try run.findings().map { $0.prefix(5) } == ["BG002", "BG004", "BG011", "BG023"])
    }

    @Test(
        "findings stand where they are in the file, whatever it is",
        arguments: [
            (
                "a.json",
                request("\n{\"aps\":\n {\"content-available\": 1, \"badge\": 0}}"),
                ["BG004 3:27 /payload/aps/badge"], "request"
            ),
            (
                "a.apns",
                "{\n\"Simulator Target Bundle\": \"x\",\n\"aps\": {\"badge\": 0}}",
                ["BG004 3:9 /aps/badge"], "apns"
            ),
            (
                "a.yml",
                "headers: {apns-push-type: background}\npayload:\n  aps:\n    a: 1\n    badge: 0\n",
                ["BG004 5:5 /payload/aps/badge"], "request"
            ),
            (
                "a.jsonl",
                "{\"aps\":{}}\r\n\r\n{\"aps\":{\"badge\":0}}\r\n{oops\n",
                ["BG004 3:9 /aps/badge", "G001 4:2 "], "lines"
            ),
            (
                "a.json",
                request(#""{\"aps\":{\"content-available\":1,\"badge\":0}}""#),
                ["BG004 1:89 /payload/aps/badge"], "request"
            ),
        ])
    func places(name: String, text: String, findings: [String], kind: String) async throws {
        let folder = try TestFolder()
        let path = try folder.write(text, to: name)
        let run = try await FinishedRun([path], Self.options("BG004,G001"))
        #expect(try run.findings() == findings)
        #expect(try run.files().first?["kind"] as? String == kind)
    }

    @Test("a bare payload without a push type is judged, and the report says so")
    func inferred() async throws {
        let folder = try TestFolder()
        let path = try folder.write(Self.background, to: "a.json")
        let json = try await FinishedRun([path]) { $0.format = .json }
        #expect(try json.files().first?["pushType"] as? String == "background")
        #expect(try json.files().first?["pushTypeInferred"] as? Bool == true)
        let text = try await FinishedRun([path])
        #expect(
            text.report.contains("1 payload judged as background: no push type was read with it"))
    }

    @Test("headers that the command line gives are checked, and missing ones of a request are")
    func headers() async throws {
        let folder = try TestFolder()
        let bare = try folder.write(Self.background, to: "a.json")
        let rules = try RuleSelection.only("BG018,BG019")
        let given = try await FinishedRun([bare]) {
            $0.selected = rules
            $0.format = .json
            $0.assumptions.pushType = "background"
            $0.assumptions.expiration = "0"
        }
        #expect(try given.findings() == ["BG019 1:1 "])
        let request = try folder.write(
            "{\"headers\":{\"apns-push-type\":\"background\"},\"payload\":\(Self.background)}",
            to: "b.json")
        let missing = try await FinishedRun([request]) {
            $0.selected = rules
            $0.format = .json
        }
        #expect(try missing.findings() == ["BG018 1:12 /headers"])
    }

    @Test("many files are reported in their order, by many workers as by one")
    func order() async throws {
        let folder = try TestFolder()
        for index in 0..<200 {
            try folder.write(
                index % 3 == 0 ? Self.badge : Self.background, to: "f\(1000 + index).json")
        }
        let one = try await FinishedRun([folder.path]) { $0.workers = 1 }
        let many = try await FinishedRun([folder.path]) { $0.workers = 8 }
        #expect(one.report == many.report)
        #expect(one.result.summary.files == 200)
        let paths = try await FinishedRun([folder.path], Self.options()).files().map {
            $0["path"] as? String ?? ""
        }
        #expect(paths == paths.sorted())
    }

    @Test("a long file of lines is checked in blocks, with the same result")
    func longLines() async throws {
        let folder = try TestFolder()
        let pad = String(repeating: "x", count: 200)
        let lines = (0..<20_000).map { index in
            index % 1000 == 7
                ? Self.badge
                : "{\"aps\":{\"content-available\":1},\"version\":\(index),\"pad\":\"\(pad)\"}"
        }
        let text = lines.joined(separator: "\n")
        #expect(text.utf8.count > 2 * LintLimits.headBytes)
        let path = try folder.write(text, to: "l.jsonl")
        let run = try await FinishedRun([path], Self.options())
        #expect(try run.findings() == (0..<20).map { "BG004 \($0 * 1000 + 8):31 /aps/badge" })
        #expect(run.result.summary.pushes == 20_000)
        #expect(try run.files().first?["pushType"] as? String == "background")
    }

    @Test("what cannot be checked is said, and the rest is checked")
    func problems() async throws {
        let folder = try TestFolder()
        let good = try folder.write(Self.badge, to: "a.json")
        let binary = try folder.write([0x7f, 0x45, 0x4c, 0x46, 0, 0, 0, 0], to: "b.json")
        let run = try await FinishedRun([folder.path + "/none", binary, good], Self.options())
        #expect(run.result.problems.map(\.kind) == [.missing, .notText])
        #expect(run.remarks.count == 2)
        #expect(try run.files().count == 1)
        #expect(run.result.isFailure)
    }

    @Test("warnings count where that is asked for")
    func strict() async throws {
        let folder = try TestFolder()
        let path = try folder.write(
            #"{"aps":{"content-available":true},"version":7}"#, to: "a.json")
        let selected = try RuleSelection.only("BG011")
        let lax = try await FinishedRun([path]) {
            $0.selected = selected
            $0.assumptions.pushType = "background"
        }
        #expect(lax.result.summary.warnings == 1)
        #expect(!lax.result.isFailure)
        let strict = try await FinishedRun([path]) {
            $0.selected = selected
            $0.assumptions.pushType = "background"
            $0.isStrict = true
        }
        #expect(strict.result.isFailure)
        #expect(strict.result.summary.failedFiles == 1)
    }

    @Test("settings hold for the files below them, and pass files over")
    func settings() async throws {
        let folder = try TestFolder()
        try folder.write(
            "severity: {BG004: note}\nexclude: [\"gen/**\"]\n", to: "a/.rouse-lint.yaml")
        try folder.write(Self.badge, to: "a/x.json")
        try folder.write(Self.badge, to: "a/gen/y.json")
        try folder.write("{}", to: "b/.rouse-lint.yaml")
        try folder.write(Self.badge, to: "b/x.json")
        let options = try Self.options("BG004")
        let run = try await FinishedRun([folder.path]) {
            options(&$0)
            $0.settings = .nearest
        }
        #expect(run.result.summary.files == 2)
        #expect(run.result.summary.notes == 1)
        #expect(run.result.summary.errors == 1)
        // A file that somebody names is checked.
        let named = try await FinishedRun([folder.path + "/a/gen/y.json"]) {
            options(&$0)
            $0.settings = .nearest
        }
        #expect(named.result.summary.notes == 1)
    }

    @Test("JSON about other things is passed over in folders, and judged where it is named")
    func foreignJSON() async throws {
        let folder = try TestFolder()
        let foreign = [
            ("Assets.xcassets/Contents.json", #"{"info":{"author":"xcode","version":1}}"#),
            ("package.json", #"{"name":"a","payload":{},"scripts":{}}"#),
            ("list.json", "[1, 2]"), ("broken.json", #"{"name": "#), ("empty.json", ""),
            ("call.json", #"{"callUUID":"x","handle":"y"}"#),
            ("event.json", #"{"headers":{"Accept":"*/*"},"body":"{}"}"#),
            ("log.jsonl", "{\"level\":1}\n{\"level\":2}\n"),
            ("http.jsonl", "{\"headers\":{},\"body\":1}\n{\"headers\":{},\"body\":2}\n"),
            ("part.json", #"{"headers":{"Accept":"*/*"},"body":{"#),
        ]
        for (name, text) in foreign { try folder.write(text, to: name) }
        for (name, text) in [
            ("a.json", Self.background), ("b.json", #"{"aps":{"badge":1}"#),
            ("c.apns", #"{"callUUID":"x"}"#), ("d.apns", "{"),
            ("e.json", #"{"headers":{"apns-id":"a"},"payload":"{}"}"#),
            ("f.jsonl", Self.background + "\n" + Self.background + "\n"),
        ] {
            try folder.write(text, to: name)
        }
        let run = try await FinishedRun([folder.path], try Self.options())
        #expect(run.result.summary.files == 6)
        #expect(run.result.summary.foreignFiles == foreign.count)
        for (name, _) in foreign {
            let named = try await FinishedRun([folder.path + "/" + name], try Self.options())
            #expect(named.result.summary.files == 1, "\(name)")
            #expect(named.result.summary.foreignFiles == 0, "\(name)")
        }
        let told = try await FinishedRun([folder.path]) { $0.kind = .payload }
        #expect(told.result.summary.foreignFiles == 0)
    }

    @Test("a run over folders in which nothing is about pushes finds nothing, also broken files")
    func nothingToCheck() async throws {
        let folder = try TestFolder()
        try folder.write("{\n  // Comments are allowed here.\n  \"a\": 1}", to: "tsconfig.json")
        try folder.write(#"{"info":{}}"#, to: "Contents.json")
        try folder.write("spec: {{ .Values.spec }}\n  - x: [", to: "chart/a.yaml")
        let run = try await FinishedRun([folder.path])
        #expect(run.result.problems.map(\.kind) == [.missing])
        #expect(run.remarks.first?.hasPrefix("Nothing was checked: no sign of a push is") == true)
        // One push is something to look at, and so is a broken text that speaks of one.
        let wide: [UInt8] = [0xff, 0xfe] + Self.background.utf16.flatMap { [UInt8($0), 0] }
        let pushes: [(String, [UInt8])] = [
            ("b.json", Array(Self.background.utf8)), ("b.yaml", Array("aps: [\n".utf8)),
            ("c.json", Array("{aps: {alert: 'a'}}".utf8)), ("d.json", wide),
        ]
        for (name, text) in pushes {
            let added = try folder.write(text, to: name)
            let more = try await FinishedRun([folder.path])
            #expect(more.result.problems == [] && more.result.summary.files == 1, "\(name)")
            try FileManager.default.removeItem(atPath: added)
        }
    }

    @Test("YAML about other things is passed over in folders, and where it is named")
    func foreign() async throws {
        let folder = try TestFolder()
        let path = try folder.write("services: {}\n", to: "compose.yaml")
        try folder.write(Self.background, to: "a.json")
        let options = try Self.options()
        let walked = try await FinishedRun([folder.path], options)
        #expect(walked.result.summary.files == 1)
        #expect(walked.result.summary.foreignFiles == 1)
        let named = try await FinishedRun([path], options)
        #expect(try named.findings() == [])
        #expect(named.result.summary.filesWithoutPush == 1)
    }

    @Test("broken YAML that is about pushes is a fault in folders too")
    func brokenYAML() async throws {
        let broken = [
            "{aps: {alert: [}}\n", "'aps':\n  alert: [\n", "x:\n\taps: 1\n  a: [\n",
            "headers:\n  apns-topic: x\npayload:\n  a: [\n",
        ]
        for text in broken {
            let folder = try TestFolder()
            try folder.write(text, to: "a.yaml")
            let run = try await FinishedRun([folder.path], try Self.options("G001"))
            #expect(try run.findings().map { $0.prefix(4) } == ["G001"], "\(text)")
        }
        let folder = try TestFolder()
        try folder.write("maps:\n  headers: [\n", to: "a.yaml")
        try folder.write(Self.background, to: "b.json")
        let run = try await FinishedRun([folder.path], try Self.options())
        #expect(run.result.summary.foreignFiles == 1)
    }

    @Test("a general finding is left out only for a particular one that is reported")
    func particular() async throws {
        let folder = try TestFolder()
        let text = #"{"aps":{"content-available":"true"}}"#
        let path = try folder.write(text, to: "a.json")
        let both = try await FinishedRun([path], try Self.options("BG001,BG010,G010"))
        #expect(try both.findings().map { $0.prefix(5) } == ["BG010"])
        let general = try await FinishedRun([path]) { options in
            try? Self.options("BG001,BG010,G010")(&options)
            options.ignored = try? RuleSelection(["BG010", "G010"])
        }
        #expect(try general.findings().map { $0.prefix(5) } == ["BG001"])
        let request = #""headers":{"apns-topic":".voip","apns-push-type":"alert"}"#
        let alert = try folder.write(
            "{\(request),\"payload\":{\"aps\":{\"alert\":\"x\"}}}", to: "b.json")
        let topic = try await FinishedRun([alert], try Self.options("H007,VO001"))
        #expect(try topic.findings().map { $0.prefix(5) } == ["VO001"])
        let silent = try folder.write(
            #"{"headers":{"apns-topic":"a.b"},"payload":{"aps":{"content-available":1}}}"#,
            to: "c.json")
        let type = try await FinishedRun([silent]) { options in
            try? Self.options("H004,BG014")(&options)
            options.assumptions.pushType = nil
        }
        #expect(try type.findings().map { $0.prefix(4) } == ["H004"])
        let wrong = try folder.write(
            #"{"headers":{"apns-push-type":"background","apns-topic":"a.b.voip"},"#
                + #""payload":{"aps":{"content-available":1,"mutable-content":true}}}"#,
            to: "d.json")
        let once = try await FinishedRun([wrong], try Self.options("BG009,H007,BG017,G014"))
        #expect(try once.findings().map { $0.prefix(5) } == ["BG009", "BG017"])
        let zero = try folder.write(#"{"aps":{"content-available":0}}"#, to: "e.json")
        let nothing = try await FinishedRun([zero], try Self.options("BG001,BG012"))
        #expect(try nothing.findings().map { $0.prefix(5) } == ["BG001"])
    }

    @Test("keys that Firebase keeps for itself weigh more in what is sent through it")
    func reservedByFirebase() async throws {
        let folder = try TestFolder()
        let payload = #"{"aps":{"alert":"x"},"from":"Ann"}"#
        let bare = try folder.write(payload, to: "a.json")
        let own = try await FinishedRun([bare], try Self.options("G016"))
        #expect(own.result.summary.warnings == 0)
        #expect(own.result.summary.notes == 1)
        let sent = try folder.write(
            #"{"message":{"token":"t:A","data":{"from":"Ann"},"apns":{"payload":"#
                + #"{"aps":{"alert":"x"}}}}}"#, to: "b.json")
        let through = try await FinishedRun([sent], try Self.options("G016"))
        #expect(through.result.summary.errors == 1)
        try folder.write("reserved-keys: [from]\n", to: ".rouse-lint.yaml")
        let named = try await FinishedRun([bare]) { options in
            try? Self.options("G016")(&options)
            options.settings = .nearest
        }
        #expect(named.result.summary.warnings == 1)
    }

    @Test("a push for the simulator may have the keys of another service")
    func simulatedService() async throws {
        let folder = try TestFolder()
        let payload = #"{"aps":{"alert":"x"},"gcm.message_id":"1","#
        let path = try folder.write(
            payload + "\"Simulator Target Bundle\":\"com.example.app\"}", to: "a.json")
        let run = try await FinishedRun([path], try Self.options("G016"))
        #expect(try run.findings() == [])
        let sent = try folder.write(payload + "\"x\":1}", to: "b.json")
        let other = try await FinishedRun([sent], try Self.options("G016"))
        #expect(try other.findings().map { $0.prefix(4) } == ["G016"])
    }

    @Test("patterns of settings that were named begin in the present folder too")
    func namedSettings() throws {
        let folder = try TestFolder()
        let path = try folder.write("exclude: [generated]\n", to: "lint.yaml")
        var search = SettingsSearch(.file(path))
        let index = try search.index(forPath: folder.path)
        let found = search.found[index]
        let current = try #require(found.currentFolder)
        #expect(found.excludes(folder.path + "/generated/a.json"))
        #expect(found.excludes(current + "/generated/a.json"))
        #expect(!found.excludes(current + "/other/a.json"))
    }

    @Test("no report but the text one shows a value, and that one only in source lines")
    func values() async throws {
        let folder = try TestFolder()
        let secret = "s3cretvalue"
        let text =
            "{\"aps\":{\"content-available\":\"\(secret)\",\"badge\":\"\(secret)\",}}"
        let good =
            "{\"aps\":{\"sound\":\"\(secret)\",\"badge\":\"\(secret)\"},\"v\":\"\(secret)\"}"
        try folder.write(text, to: "bad.json")
        try folder.write(good, to: "a.json")
        try folder.write("headers: {apns-topic: \(secret)}\npayload: \(good)\n", to: "r.yaml")
        try folder.write("\(good)\n\(good)\n", to: "l.jsonl")
        for format in ReportFormat.allCases {
            let run = try await FinishedRun([folder.path]) {
                $0.format = format
                $0.showsSource = false
            }
            #expect(!run.report.contains(secret), "\(format)")
            #expect(run.remarks.allSatisfy { !$0.contains(secret) })
        }
        let shown = try await FinishedRun([folder.path])
        #expect(shown.report.contains(secret), "the search can fail")
    }

    @Test("options that do not go together are refused")
    func refused() {
        var options = LintOptions()
        #expect(throws: LintProblem.self) { try LintRun(options) }
        options.paths = ["-"]
        options.fixes = .safe
        #expect(throws: LintProblem.self) { try LintRun(options) }
        options.showsDiff = true
        #expect(throws: Never.self) { try LintRun(options) }
    }
}
