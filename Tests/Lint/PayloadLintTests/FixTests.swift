// SPDX-License-Identifier: Apache-2.0

import Foundation
import PayloadRules
import SeedKit
import Testing

@testable import PayloadLint

@Suite("Mending")
struct FixTests {
    private static func mended(
        _ text: String, _ mode: FixMode, name: String = "a.json",
        change: (inout LintOptions) -> Void = { _ in }
    ) async throws -> String {
        let folder = try TestFolder()
        let path = try folder.write(text, to: name)
        let run = try await FinishedRun([path]) {
            $0.fixes = mode
            $0.assumptions.pushType = "background"
            change(&$0)
        }
        let result = try folder.text(of: name)
        #expect(run.result.summary.mendedFiles == (result == text ? 0 : 1))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [name])
        return result
    }

    @Test(
        "what has one right answer is mended, and every other byte stays",
        arguments: [
            (
                "{ \"aps\" : {\r\n\t\"content-available\" : true }, \"v\":1.0e0 }\r\n",
                "{ \"aps\" : {\r\n\t\"content-available\" : 1 }, \"v\":1.0e0 }\r\n"
            ),
            (#"{"aps":{"content-available":"1"}}"#, #"{"aps":{"content-available":1}}"#),
            // A name first, and then the value behind it.
            (#"{"aps":{"content_available":"1"}}"#, #"{"aps":{"content-available":1}}"#),
            (#"{"aps":{"content-available":1}}"#, #"{"aps":{"content-available":1}}"#),
            // Two answers are possible: nobody knows which.
            (
                #"{"aps":{"content-available":1,"badge":0}}"#,
                #"{"aps":{"content-available":1,"badge":0}}"#
            ),
            ("{oops", "{oops"),
        ])
    func safe(text: String, expected: String) async throws {
        #expect(try await Self.mended(text, .safe) == expected)
        #expect(try await Self.mended(text, .nothing) == text)
    }

    @Test("visible keys go only where that is asked for")
    func unsafe() async throws {
        let text = #"{"aps":{"alert":"x","content-available":1,"badge":0},"v":1}"#
        #expect(try await Self.mended(text, .safe) == text)
        #expect(try await Self.mended(text, .all) == #"{"aps":{"content-available":1},"v":1}"#)
    }

    @Test("findings that are not reported are not mended")
    func selection() async throws {
        let text = #"{"aps":{"content-available":true}}"#
        let ignored = try RuleSelection(["BG011", "G014"])
        #expect(try await Self.mended(text, .safe) { $0.ignored = ignored } == text)
    }

    @Test(
        "payloads inside other documents are mended in their place",
        arguments: [
            (
                "a.apns",
                "{\"Simulator Target Bundle\":\"x\", \"aps\":{\"content-available\":true}}",
                "{\"Simulator Target Bundle\":\"x\", \"aps\":{\"content-available\":1}}"
            ),
            (
                "a.json",
                request("{\"aps\":{\"content-available\":true}}"),
                request("{\"aps\":{\"content-available\":1}}")
            ),
            (
                "a.jsonl",
                "{\"aps\":{\"content-available\":true}}\r\n\n{oops\n{\"aps\":{\"badge\":true}}",
                "{\"aps\":{\"content-available\":1}}\r\n\n{oops\n{\"aps\":{\"badge\":true}}"
            ),
        ])
    func documents(name: String, text: String, expected: String) async throws {
        #expect(try await Self.mended(text, .safe, name: name) == expected)
    }

    @Test(
        "what is a translation, or a text in quotes, is left alone",
        arguments: [
            (
                "a.yaml",
                "headers: {apns-push-type: background}\npayload: {aps: {content-available: true}}\n"
            ),
            (
                "a.json",
                request(#""{\"aps\":{\"content-available\":true}}""#)
            ),
        ])
    func untouched(name: String, text: String) async throws {
        #expect(try await Self.mended(text, .safe, name: name) == text)
    }

    @Test("what is reported is what is left")
    func report() async throws {
        let folder = try TestFolder()
        let path = try folder.write(#"{"aps":{"content-available":true,"badge":0}}"#, to: "a.json")
        let selected = try RuleSelection(["BG004,BG011"])
        let run = try await FinishedRun([path]) {
            $0.fixes = .safe
            $0.format = .json
            $0.selected = selected
            $0.assumptions.pushType = "background"
        }
        #expect(try run.findings() == ["BG004 1:31 /aps/badge"])
    }

    @Test("a diff is shown instead, and it is the change that --fix would make")
    func diff() async throws {
        let folder = try TestFolder()
        let text = "{\n  \"aps\": {\n    \"content-available\": true\n  }\n}\n"
        let path = try folder.write(text, to: "a.json")
        let run = try await FinishedRun([path]) {
            $0.fixes = .safe
            $0.showsDiff = true
            $0.assumptions.pushType = "background"
        }
        #expect(
            run.report == """
                --- \(path)
                +++ \(path)
                @@ -1,5 +1,5 @@
                 {
                   "aps": {
                -    "content-available": true
                +    "content-available": 1
                   }
                 }

                """)
        #expect(try folder.text(of: "a.json") == text)
        #expect(run.result.summary.mendedFiles == 1)
    }

    @Test("a long file of lines is mended in blocks", arguments: [false, true])
    func longLines(showsDiff: Bool) async throws {
        let folder = try TestFolder()
        let pad = String(repeating: "x", count: 200)
        func lines(_ value: String) -> String {
            (0..<8000).map { index in
                "{\"aps\":{\"content-available\":\(index % 500 == 3 ? value : "1")},"
                    + "\"pad\":\"\(pad)\",\"version\":\(index)}\n"
            }.joined()
        }
        let path = try folder.write(lines("true"), to: "l.jsonl")
        let run = try await FinishedRun([path]) {
            $0.fixes = .safe
            $0.showsDiff = showsDiff
            $0.assumptions.pushType = "background"
        }
        #expect(run.result.summary.mendedFiles == 1)
        #expect(run.result.summary.pushes == 8000)
        #expect(try folder.text(of: "l.jsonl") == lines(showsDiff ? "true" : "1"))
        let hunks = run.report.components(separatedBy: "\n@@ ").count - 1
        #expect(hunks == (showsDiff ? 16 : 0))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["l.jsonl"])
    }

    @Test("mending a second time changes nothing", arguments: 0..<50)
    func idempotent(seed: Int) async throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let keys = [
            "content-available", "content_available", "contentAvailable", "alert", "badge", "sound",
            "x",
        ]
        let values = ["1", "true", "\"1\"", "0", "{}", "\"\"", "null", "[1]"]
        let members = (0..<Int.random(in: 0...5, using: &generator)).map { _ -> String in
            let key = keys.randomElement(using: &generator) ?? ""
            return "\"\(key)\" : \(values.randomElement(using: &generator) ?? "")"
        }
        let text = "{ \"aps\" : { \(members.joined(separator: " , ")) } }"
        let once = try await Self.mended(text, .all)
        #expect(try await Self.mended(once, .all) == once, "seed \(seed)")
        _ = try JSONSerialization.jsonObject(with: Data(once.utf8))
    }
}
