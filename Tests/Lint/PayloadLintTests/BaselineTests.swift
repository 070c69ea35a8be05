// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import PayloadLint

@Suite("Known and ignored findings")
struct BaselineTests {
    private static let bad = #"{"aps":{"content-available":1,"badge":0},"version":7}"#

    private static func baseline(
        _ folder: TestFolder, _ paths: [String], select: String = "BG"
    ) async throws -> String {
        let run = try await FinishedRun(paths) {
            $0.newBaseline = folder.path + "/known.json"
            $0.selected = try? .only(select)
            $0.assumptions.pushType = "background"
        }
        #expect(run.result.isFailure == (select == "BG"))
        return try #require(run.result.baseline)
    }

    @Test("the paths of a baseline beside the files are relative too")
    func beside() async throws {
        let folder = try TestFolder()
        let path = try folder.write(Self.bad, to: "App/in/a.json")
        try folder.write("", to: "ci/keep")
        let run = try await FinishedRun([path]) {
            $0.newBaseline = folder.path + "/ci/known.json"
            $0.selected = try? .only("BG004,BG003")
            $0.assumptions.pushType = "background"
        }
        let text = try #require(run.result.baseline)
        #expect(text.contains("\"path\":\"../App/in/a.json\""))
        try folder.write(text, to: "ci/known.json")
        let same = try await FinishedRun([path]) {
            $0.baseline = folder.path + "/ci/known.json"
            $0.selected = try? .only("BG004,BG003")
            $0.assumptions.pushType = "background"
        }
        #expect(!same.result.isFailure)
    }

    @Test("only findings that do not stand in the baseline are told")
    func known() async throws {
        let folder = try TestFolder()
        let path = try folder.write(Self.bad, to: "in/a.json")
        try folder.write(try await Self.baseline(folder, [path]), to: "known.json")
        let same = try await FinishedRun([path]) {
            $0.baseline = folder.path + "/known.json"
            $0.selected = try? .only("BG004,BG003")
            $0.assumptions.pushType = "background"
        }
        #expect(!same.result.isFailure)
        #expect(same.result.summary.knownFindings == 1)
        #expect(same.report.contains("1 finding not reported: it is in the baseline."))
        // Moved by a line, with one more.
        try folder.write(
            "\n" + Self.bad.replacing("\"badge\":0", with: "\"badge\":0,\"sound\":\"\""),
            to: "in/a.json")
        let more = try await FinishedRun([folder.path + "/in"]) {
            $0.format = .json
            $0.baseline = folder.path + "/known.json"
            $0.selected = try? .only("BG004,BG003")
            $0.assumptions.pushType = "background"
        }
        #expect(try more.findings().map { $0.prefix(5) } == ["BG003"])
    }

    @Test("settings name the baseline, the rules and what is passed over")
    func settings() async throws {
        let folder = try TestFolder()
        let path = try folder.write(Self.bad, to: "a.json")
        try folder.write(Self.bad, to: "old/b.json")
        try folder.write(try await Self.baseline(folder, [path]), to: "known.json")
        try folder.write(
            "baseline: known.json\nselect: [BG]\nignore: [BG018, BG023]\nexclude: ['old/**']\n",
            to: ".rouse-lint.yaml")
        let run = try await FinishedRun([folder.path]) {
            $0.settings = .nearest
            $0.assumptions.pushType = "background"
        }
        #expect(!run.result.isFailure)
        #expect(run.result.summary.knownFindings == 1)
        #expect(run.result.summary.excludedFiles == 1)
        #expect(run.report.contains("1 file passed over: the settings exclude it."))
        try folder.write("select: [BX]\n", to: ".rouse-lint.yaml")
        await #expect(throws: LintProblem.self) {
            try await FinishedRun([folder.path]) { $0.settings = .nearest }
        }
    }

    @Test("a baseline that the settings name can be written before it is there")
    func firstBaseline() async throws {
        let folder = try TestFolder()
        try folder.write(Self.bad, to: "old/a.json")
        try folder.write(Self.bad, to: "b.json")
        try folder.write("baseline: known.json\nexclude: [old]\n", to: ".rouse-lint.yaml")
        let run = try await FinishedRun([folder.path]) {
            $0.settings = .nearest
            $0.newBaseline = folder.path + "/known.json"
        }
        #expect(run.result.baseline?.contains("b.json") == true)
        #expect(run.result.summary.excludedFiles == 1, "a folder that is excluded")
    }

    @Test("the findings of the other command stay in a baseline that is written anew")
    func others() async throws {
        let folder = try TestFolder()
        let entry = #"{"path":"Info.plist","rule":"CF001","fingerprint":"a"}"#
        let old = #"{"path":"a.json","rule":"BG001","fingerprint":"b"}"#
        try folder.write(#"{"version":1,"findings":[\#(entry),\#(old)]}"#, to: "known.json")
        let path = try folder.write(Self.bad, to: "a.json")
        let text = try await Self.baseline(folder, [path])
        #expect(text.contains(entry) && !text.contains("BG001") && text.contains("BG004"))
    }

    @Test("what a baseline holds and a run did not have is said, but not of what it did not judge")
    func gone() async throws {
        let folder = try TestFolder()
        let files = (1...7).map { "in/\($0).json" }
        let entries = (files + ["in/1.json", "out/a.json"]).map {
            #"{"path":"\#($0)","rule":"BG001","fingerprint":"b\#($0)"}"#
        }
        let known = #"{"version":1,"findings":[\#(entries.joined(separator: ","))]}"#
        try folder.write(known, to: "known.json")
        let path = try folder.write(Self.bad, to: "in/1.json")
        try folder.write(Self.bad, to: "out/a.json")
        let remarks = { (paths: [String], select: String) in
            try await FinishedRun(paths) {
                $0.baseline = folder.path + "/known.json"
                $0.selected = try? .only(select)
                $0.assumptions.pushType = "background"
            }.result.remarks
        }
        let head = folder.path + "/known.json holds findings that this run did not have: "
        let tail = ". Write it anew to leave them out."
        #expect(try await remarks([path], "BG") == [head + "BG001 in in/1.json" + tail])
        #expect(try await remarks([path], "G") == [])
        let many = (1...5).map { "BG001 in in/\($0).json" }.joined(separator: ", ")
        #expect(
            try await remarks([folder.path + "/in"], "BG") == [head + many + " and 2 more" + tail])
        try folder.write(try await Self.baseline(folder, [path]), to: "known.json")
        #expect(try await remarks([path], "BG") == [])
    }

    @Test("nothing is said of a baseline beside settings that ignore its rules, or of a folder")
    func goneBesideSettings() async throws {
        let folder = try TestFolder()
        let path = try folder.write(Self.bad, to: "a.json")
        try folder.write(Self.bad, to: "sub/b.json")
        let all = [path, folder.path + "/sub"]
        try folder.write(try await Self.baseline(folder, all), to: "known.json")
        let remarks = {
            try await FinishedRun([folder.path]) {
                $0.settings = .nearest
                $0.assumptions.pushType = "background"
            }.result.remarks
        }
        try folder.write("baseline: known.json\n", to: ".rouse-lint.yaml")
        #expect(try await remarks() == [])
        try folder.write("baseline: known.json\nignore: [BG]\n", to: ".rouse-lint.yaml")
        #expect(try await remarks() == [], "rules that were not asked")
        try folder.write("baseline: known.json\n", to: ".rouse-lint.yaml")
        try folder.write("ignore: [G]\n", to: "sub/.rouse-lint.yaml")
        #expect(try await remarks() == [], "several settings")
        try folder.write("{\"aps\":{\"content-available\":1}}", to: "a.json")
        #expect(try await remarks() == [], "of which each has a part")
    }

    @Test("what a run did not judge stays in a baseline that is written anew")
    func unjudged() async throws {
        let folder = try TestFolder()
        let entries = [("a.json", "BG001"), ("a.json", "G001"), ("b.sh", "BG001")].map {
            #"{"path":"\#($0)","rule":"\#($1)","fingerprint":"b"}"#
        }
        let old = #"{"version":1,"findings":[\#(entries.joined(separator: ","))]}"#
        try folder.write(Self.bad, to: "a.json")
        // A folder's scripts are not read.
        try folder.write("curl x\n", to: "b.sh")
        try folder.write(old, to: "known.json")
        let all = try await Self.baseline(folder, [folder.path])
        #expect(entries.map(all.contains) == [false, true, true])
        let some = try await Self.baseline(folder, [folder.path], select: "G")
        #expect(entries.map(some.contains) == [true, false, true])
        try folder.write("", to: "known.json")
        #expect(try await Self.baseline(folder, [folder.path]).contains("BG004"))
        for broken in ["<<<<<<< ours\n" + old, #"{"version":2,"findings":[]}"#] {
            try folder.write(broken, to: "known.json")
            await #expect(throws: LintProblem.self) {
                try await Self.baseline(folder, [folder.path])
            }
        }
    }

    @Test("the findings of other paths stay in a baseline that is written anew")
    func otherPaths() async throws {
        let folder = try TestFolder()
        let entries = ["a/x.json", "a/gone.json", "b/x.json", "ab/x.json", "../c.json"].map {
            #"{"path":"\#($0)","rule":"BG001","fingerprint":"b"}"#
        }
        let old = #"{"version":1,"findings":[\#(entries.joined(separator: ","))]}"#
        try folder.write(old, to: "known.json")
        try folder.write(Self.bad, to: "a/x.json")
        let text = try await Self.baseline(folder, [folder.path + "/a"])
        #expect(entries.map(text.contains) == [false, false, true, true, true])
        #expect(text.contains(#""path":"a/x.json","rule":"BG004""#))
        try folder.write(old, to: "known.json")
        let all = try await Self.baseline(folder, [folder.path + "/a/*.json"])
        #expect(entries.map(all.contains) == [false, false, true, true, true])
        // A pattern is for what it matches, and a name with its signs for itself.
        try folder.write(old, to: "known.json")
        let some = try await Self.baseline(folder, [folder.path + "/a/x*.json"])
        #expect(entries.map(some.contains) == [false, true, true, true, true])
        try folder.write(old, to: "known.json")
        try folder.write(Self.bad, to: "d[1]/x.json")
        let odd = try await Self.baseline(folder, [folder.path + "/d[1]"])
        #expect(entries.map(odd.contains) == [true, true, true, true, true])
        // A payload may have a project's name.
        try folder.write(old, to: "known.json")
        try folder.write(Self.bad, to: "a/app.json")
        let named = try await Self.baseline(folder, [folder.path + "/a/app.json"])
        #expect(entries.map(named.contains) == [true, true, true, true, true])
        try folder.write(old, to: "known.json")
        let whole = try await Self.baseline(folder, [folder.path])
        #expect(entries.map(whole.contains) == [false, false, false, false, true])
    }

    @Test("a baseline of the settings that is not there is named with its key")
    func absent() async throws {
        let folder = try TestFolder()
        let path = try folder.write(Self.bad, to: "a.json")
        try folder.write("baseline: known.json\n", to: ".rouse-lint.yaml")
        let error = await #expect(throws: LintProblem.self) {
            _ = try await FinishedRun([path]) { $0.settings = .nearest }
        }
        #expect(error?.message.contains("`baseline` names known.json") == true)
        #expect(error?.kind == .configuration)
    }

    @Test("what is no baseline is refused")
    func refused() async throws {
        let folder = try TestFolder()
        for text in ["", "{}", "[]", #"{"version":2,"findings":[]}"#, #"{"version":1}"#] {
            let path = try folder.write(text, to: "known.json")
            #expect(throws: LintProblem.self) { try Baseline(readingFrom: path) }
        }
        #expect(throws: LintProblem.self) { try Baseline(readingFrom: folder.path + "/none") }
        let none = try Baseline(at: folder.path + "/new.json").text(
            with: [],
            of: Baseline.Coverage(
                rules: .pushes, policy: RulePolicy(), paths: [folder.path], files: []))
        let empty = try folder.write(none, to: "known.json")
        #expect(throws: Never.self) { try Baseline(readingFrom: empty) }
    }

    @Test(
        "a comment ignores rules in its line, or alone in the next one",
        arguments: [
            ("a: 1 # rouse:ignore BG004 why", 1, true), ("a: 1 # rouse:ignore BG005 why", 1, false),
            ("# rouse:ignore BG004 why\n\na: 1\nb: 2", 3, true),
            ("# rouse:ignore BG004 why\na: 1\nb: 2", 3, false),
            ("// rouse:ignore G001, BG004 why", 1, true), ("x /* rouse:ignore BG */", 1, true),
            ("# rouse:ignore G001\n# rouse:ignore BG004\na", 3, true),
            ("a: rouse:ignore BG004", 1, false), ("a # rouse:ignore", 1, false),
            ("a # rouse:ignore nothing BG004", 1, false),
            ("a # rouse:ignore G001 BG004 why", 1, true),
            ("a # rouse:ignore G001 BG is a family", 1, false),
            ("a: \"x # rouse:ignore BG004\"", 1, false), ("a: 'x # rouse:ignore BG004'", 1, false),
            ("a: \"x\" # rouse:ignore BG004", 1, true), ("a: don't # rouse:ignore BG004", 1, true),
        ])
    func comments(text: String, line: Int, isIgnored: Bool) {
        #expect(InlineIgnores(Array(text.utf8)).cover("BG004", line: line) == isIgnored)
    }

    @Test("a comment in YAML keeps a finding from being told and mended")
    func yaml() async throws {
        let folder = try TestFolder()
        let text = """
            headers:
              apns-push-type: background
            payload:
              aps:
                content-available: 1
                badge: 0  # rouse:ignore BG004 an old server
            """
        let path = try folder.write(text, to: "a.yaml")
        let run = try await FinishedRun([path]) { $0.selected = try? .only("BG004") }
        #expect(!run.result.isFailure)
        #expect(run.report.contains("1 finding not reported: a comment ignores it."))
    }

    @Test("a comment that names no rule is told, and not one of many")
    func misreadComments() async throws {
        let folder = try TestFolder()
        let lines = ["aps:", "  alert: a  # rouse:ignore BG04 later", "  badge: 1 # rouse:ignore"]
        let path = try folder.write(lines.joined(separator: "\n"), to: "a.yaml")
        let run = try await FinishedRun([path])
        #expect(
            run.report.contains(
                "Not judged: the comment in \(path):2 names `BG04`, which is no rule.\n"
                    + "Not judged: the comment in \(path):3 names no rule to ignore.\n"),
            "\(run.report)")
        let many = (1...12).map { "  k\($0): a  # rouse:ignore X\($0)" }
        let paths = try ["b.yaml", "c.yaml"].map {
            try folder.write((["aps:"] + many).joined(separator: "\n"), to: $0)
        }
        let long = try await FinishedRun(paths)
        #expect(long.report.split(separator: "which is no rule").count == 11)
    }
}
