// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import PayloadLint

@Suite("blocks of pages")
struct PageBlockTests {
    private static func run(
        _ text: String, _ rules: String = "G014", name: String = "a.md",
        fixes: FixMode = .nothing
    ) async throws -> FinishedRun {
        try await FinishedRun(of: text, named: name, rules: rules) {
            $0.fixes = fixes
            $0.showsDiff = fixes != .nothing
        }
    }

    /// The lines in which the blocks begin, and their languages.
    private static func blocks(_ text: String, name: String = "a.md") -> [String] {
        let bytes = Array(text.utf8)
        return PageBlock.all(in: bytes, name: name).map { block in
            let line = bytes[..<block.whole.lowerBound].count { $0 == 0x0a } + 1
            let content = String(decoding: block.text(in: bytes), as: UTF8.self)
            return "\(line) \(block.language): \(content.filter { $0 > " " })"
        }
    }

    @Test(
        "fences of Markdown are those of CommonMark",
        arguments: [
            // A shorter fence, one of the other kind, or one with an info string closes nothing.
            ("````\n```\na\n````\n```json\nb\n```\n", ["1 : ```a", "5 json: b"]),
            ("~~~\n```\na\n~~~~\n```\nb\n```\n", ["1 : ```a", "5 : b"]),
            ("```\n```json\na\n```\nText.\n", ["1 : ```jsona"]),
            // Info strings.
            ("~~~ json `x`\na\n~~~\n", ["1 json: a"]), ("```json {1}\na\n```\n", ["1 json: a"]),
            ("```a```\nText.\n```\nb\n```\n", ["3 : b"]), ("``` `a`\nText.\n", []),
            // Blanks in front.
            ("   ```json\n   a\n  ```\n", ["1 json: a"]),
            ("```\na\n    ```\nb\n```\n", ["1 : a```b"]),
            ("    ```json\n    a\n\n```json\nb\n```\n", ["4 json: b"]),
            ("1. One\n\n    ```json\n    a\n    ```\n\n2. Two\n", ["3 json: a"]),
            ("- ```json\n  a\n  ```\n- b\n", ["1 json: a"]),
            ("1.  ~~~json\n    a\n    ~~~\n", ["1 json: a"]),
            ("!!! note\n    ```json\n    a\n    ```\n", ["2 json: a"]),
            // Quotes.
            ("> Text\n> ```json\n> a\n> > b\n> ```\nText\n", ["2 json: a>b"]),
            ("> ```json\n> a\nText\n```\nb\n```\n", ["1 json: a", "4 : b"]),
            (">> ~~~\n>> a\n>> ~~~\n", ["1 : a"]), ("```\n> a\n```\n", ["1 : >a"]),
            // No end.
            ("Text\n```json\na\n", ["2 json: a"]), ("```", ["1 : "]), ("> ```\n", ["1 : "]),
        ])
    func markdown(text: String, blocks: [String]) {
        #expect(Self.blocks(text) == blocks)
        #expect(Self.blocks(text.replacing("\n", with: "\r\n")) == blocks)
    }

    @Test(
        "blocks of AsciiDoc have a title, attributes and comments in front of them",
        arguments: [
            ("[source,json]\n// why\n----\na\n----\n", ["1 json: a"]),
            (".A title\n[source,json]\n----\na\n----\n", ["1 json: a"]),
            ("[source,json]\n.A title\n// why\n----\na\n----\n", ["1 json: a"]),
            ("```json\na\n```\n\n[source,xml]\n```\nb\n```\n", ["1 json: a", "5 xml: b"]),
            ("A title\n-------\n\n----\na\n----\n", ["4 : a"]),
            ("[source,json]\nText.\n\n----\na\n----\n", ["4 : a"]),
        ])
    func asciiDoc(text: String, blocks: [String]) {
        #expect(Self.blocks(text, name: "a.adoc") == blocks)
    }

    @Test("a comment in front of a title and attributes is for the block of AsciiDoc")
    func ignored() async throws {
        let block = "[source,json]\n----\n{\"aps\": {\"badge\": \"1\"}}\n----\n"
        let page = "// rouse:ignore G014 on purpose\n.A title\n" + block + "\n" + block
        let run = try await Self.run(page, name: "a.adoc")
        #expect(try run.findings() == ["G014 10:19 /aps/badge"])
        #expect(run.result.summary.ignoredFindings == 1)
    }

    @Test("a block in a quote is judged at its place, and not fixed")
    func quote() async throws {
        let page = "> ```json\n> {\"aps\": {\n>   \"badge\": \"1\"}}\n> ```\n"
        #expect(try await Self.run(page).findings() == ["G014 3:14 /aps/badge"])
        #expect(try await Self.run(page, fixes: .all).report.isEmpty)
        #expect(
            try await !Self.run(page.replacing("> ", with: ""), fixes: .all).report.isEmpty)
    }

    @Test("a list, or a payload behind the text of a log, is judged in a block")
    func values() async throws {
        let list = "```json\n[{\"aps\": {\"badge\": \"1\"}}, {\"aps\": {\"badge\": 2}}]\n```\n"
        #expect(try await Self.run(list).findings() == ["G014 2:20 /0/aps/badge"])
        #expect(try await Self.run("```json\n[\"aps\", 1]\n```\n", "G,H").findings() == [])
        let log = "```\n10:00 Payload: {\n  \"aps\": {\"badge\": \"1\"}\n}\nSent {it}.\n```\n"
        #expect(try await Self.run(log).findings() == [])
        let sent = log.replacing(" {it}", with: "")
        #expect(try await Self.run(sent).findings() == ["G014 3:20 /aps/badge"])
        let code = sent.replacing("```\n10", with: "```js\n10")
        #expect(try await Self.run(code).findings() == [])
    }

    @Test("a request in the form of frames is judged, and its response is not")
    func frames() async throws {
        let page = """
            ```
            HEADERS
              - END_STREAM
              + END_HEADERS
              :method = POST
              :scheme = https
              :path = /3/device/\(String(repeating: "a5", count: 32))
              host = api.push.apple.com
              authorization = bearer eyJ...
              apns-push-type = background
              apns-priority = 10
              apns-topic = com.a.b
            DATA
              + END_STREAM
              {"aps": {"content-available": 1}}

            HEADERS
              + END_STREAM
              :status = 400
            DATA
              {"reason": "BadPriority"}
            ```
            """
        #expect(try await Self.run(page, "G,H,BG006").findings() == ["BG006 11:3 "])
        let type = page.replacing("  apns-push-type = background\n", with: "")
        #expect(try await Self.run(type, "G,H").findings().map { $0.prefix(4) } == ["H004"])
        let text = page.replacing("```", with: "")
        #expect(try await Self.run(text, "BG006", name: "a.txt").findings().count == 1)
        #expect(
            try await Self.run("```\nHEADERS\n:status = 200\n```\n", "G,H").findings() == [])
    }

    @Test(
        "where nothing could be judged, the summary does not say that nothing was found",
        arguments: [
            ("a.md", "```json\n{\"aps\": {...}}\n```\n", "block in line 1"),
            ("a.adoc", "----\n{\"aps\": {{aps}}}\n----\n", "block in line 1"),
            (
                "a.sh", "#!/bin/sh\ncurl -H 'apns-topic: a.b' -d \"$1\" https://h/3/device/$2\n",
                "command in line 2"
            ),
        ])
    func nothingJudged(name: String, text: String, place: String) async throws {
        let folder = try TestFolder()
        let path = try folder.write(text, to: name)
        let run = try await FinishedRun([path])
        #expect(!run.report.contains("nothing found"), "\(run.report)")
        #expect(run.report.contains(place), "\(run.report)")
        #expect(run.result.summary.filesNotReadable == 1 && run.result.summary.pushes == 0)
        #expect(run.result.summary.filesWithoutPush == 0)
        try folder.write("{\"aps\":{\"alert\":\"x\",\"badge\":1}}", to: "b.json")
        let both = try await FinishedRun([path, folder.path + "/b.json"])
        #expect(both.report.contains("nothing found"), "\(both.report)")
    }

    @Test("a command to Firebase is one push, also if its body is broken or it has no header")
    func firebase() async throws {
        let command = "curl -d '{\"to\":\"x\",\"notification\":{\"title\":\"a\"}}' "
        for url in ["https://fcm.googleapis.com/fcm/send", "$URL -H 'a: b'"] {
            let run = try await Self.run(command + url + "\n", "G001", name: "a.sh")
            #expect(run.result.summary.pushes == 1)
        }
        let broken = command.replacing("}}", with: "},}") + "https://fcm.googleapis.com/fcm/send\n"
        let run = try await Self.run(broken, "G001", name: "a.sh")
        #expect(try run.findings().count == 1)
        #expect(run.result.summary.pushes == 1)
    }

    @Test("a JSON Schema and source code are no pushes")
    func otherTexts() async throws {
        let aps = #""aps":{"type":"object","properties":{"alert":{"type":"string"}}}"#
        let schema = #"{"type":"object","properties":{\#(aps)}}"#
        #expect(try await Self.run("```json\n\(schema)\n```\n", "G,AL").findings() == [])
        #expect(try await Self.run(schema, "G,AL", name: "a.json").findings() == [])
        let other = #"{"$schema":"https://json-schema.org/draft/2020-12/schema","$defs":{\#(aps)}}"#
        #expect(try await Self.run(other, "G,AL", name: "a.json").findings() == [])
        for name in ["a.cs", "a.lua", "a.plist", "a.j2", "a.scala"] {
            #expect(try await Self.run("{ \"aps\", 1 }\n", "G", name: name).findings() == [])
        }
    }

    @Test("the size of a payload with comments is not that of the payload")
    func commented() async throws {
        let text = "{\"aps\":{\"badge\":\"1\"}} // " + String(repeating: "x", count: 5000)
        let found = try await Self.run(text, "G", name: "a.json").findings()
        #expect(found.map { $0.prefix(4) } == ["G014", "G001"])
        let ignored = "// rouse:ignore G001 for people\n{\"aps\":{\"badge\":1}} // x\n"
        let run = try await Self.run(ignored, "G001,G014", name: "a.json")
        #expect(run.result.summary.ignoredFindings <= 1)
    }
}
