// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import PayloadLint

@Suite("Pages, and files in other formats")
struct PageTests {
    private static func run(
        _ text: String, _ rules: String, name: String = "README.md"
    ) async throws -> FinishedRun {
        try await FinishedRun(of: text, named: name, rules: rules)
    }

    private static func notJudged(_ run: FinishedRun) throws -> [String] {
        try #require(try run.json()["notJudged"] as? [String])
    }

    @Test(
        "source code and prose are not judged, and the summary says what to do",
        arguments: [
            ("a.rst", "Pushes\n======\n\nNote: {\"aps\": 1} is sent.\n"),
            ("a.txt", "To: all\nSubject: {\"aps\": {}}\n"),
            ("a.py", "import json\nx = {'aps': {'alert': 'x'}}\n"),
            ("a.js", "const x = {\"aps\": {\"alert\": \"x\"}};\n"),
            ("a.ts", "{\n  const aps: string = \"aps\";\n}\n"),
            ("a.rb", "# aps: x\nputs({ aps: { alert: 'x' } })\n"),
            ("a.go", "package main\nvar x = `{\"aps\": {}`\n"),
            ("a.php", "<?php\n$x = ['aps' => []];\n"), ("a.swift", "let x = [\"aps\": [:]]\n"),
            ("a.java", "class A { String x = \"{\\\"aps\\\":{}}\"; }\n"),
            ("a.log", "2026-11-01 12:00:00 sent {\"aps\": {}}\n"), ("README", "Read: me\nnow\n"),
            ("a.toml", "[aps]\nalert = 1\n"), ("a.txt", "\"aps\": {\"badge\": 1}\nand so on\n"),
            ("a.properties", "aps: x\nheaders: y\n"), ("a.json5", "{aps: {alert: 'x'}}\n"),
            ("a.txt", "{\"aps\": {\"alert\": \"x\"}} is what we send\n"),
            ("a.rs", "{\n}\n// aps: x\n"), ("a.html", "<p>aps: x</p>\n"),
        ])
    func otherFormats(name: String, text: String) async throws {
        let run = try await Self.run(text, "G,H,BG,AL", name: name)
        #expect(try run.findings() == [])
        #expect(run.result.problems.isEmpty && !run.result.isFailure)
        let statements = try Self.notJudged(run)
        #expect(statements.count == 1 && statements[0].hasPrefix("1 file not judged: "))
    }

    @Test("what is a payload by its content is judged, whatever its name")
    func otherNames() async throws {
        for name in ["a.txt", "a.log", "payload", "a.json.sample", "a.py"] {
            let valid = try await Self.run(#"{ "aps": {"badge": "1"} }"#, "G", name: name)
            #expect(try valid.findings() == ["G014 1:20 /aps/badge"], "\(name)")
            let broken = try await Self.run(#"[{ "aps": {"badge" 1} }]"#, "G", name: name)
            let isSource = name == "a.py"
            #expect(
                try broken.findings().map { $0.prefix(4) } == (isSource ? [] : ["G001"]), "\(name)")
        }
        let comments = "// a wake\n{\"aps\": {\"badge\": \"1\",},}\n"
        #expect(
            try await Self.run(comments, "G", name: "a.jsonc").findings() == [
                "G014 2:19 /aps/badge"
            ])
        let yaml = "headers:\n  apns-push-type: alert\npayload:\n  aps:\n    badge: \"1\"\n"
        #expect(try await Self.run(yaml, "G014", name: "push").findings().count == 1)
        let kind = try await FinishedRun([
            try TestFolder().write("aps = 1", to: "a.txt")
        ]) { $0.kind = .payload }
        #expect(kind.result.summary.filesOfUnknownFormat == 0)
    }

    @Test("blocks of a page in reStructuredText are judged at their places")
    func restructured() async throws {
        let page = """
            Pushes
            ======

            .. code-block:: json
               :linenos:

               {"aps": {"alert": "x", "badge": "1"}}

            Or, with a mistake::

                {
                  "aps": {"sound": 1}
                }

            .. rouse:ignore G014 the server converts it
            .. code-block:: json

               {"aps": {"badge": "2"}}

            .. code-block:: python

               payload = {"aps": {"badge": "3"}}

            In prose: {"aps": {"badge": "4"}}
            """
        let run = try await Self.run(page, "G", name: "a.rst")
        #expect(try run.findings() == ["G014 7:36 /aps/badge", "G014 12:24 /aps/sound"])
        #expect(run.result.summary.ignoredFindings == 1)
    }

    @Test("blocks of a page in AsciiDoc are judged at their places, and no titles")
    func asciiDoc() async throws {
        let page = """
            Pushes
            ------

            .Example
            [source,json,linenums]
            ----
            {"aps": {"badge": "1"}}
            ----

            // rouse:ignore G014 on purpose
            [source,json]
            ----
            {"aps": {"badge": "2"}}
            ----

            ....
            {"aps": {"sound": 3},}
            ....

            [source,javascript]
            ----
            {aps: {badge: "4"}}
            ----

            In prose: {"aps": {"badge": "5"}}
            """
        let run = try await Self.run(page, "G001,G014", name: "a.adoc")
        #expect(
            try run.findings().sorted() == [
                "G001 17:22 ", "G014 17:19 /aps/sound", "G014 7:19 /aps/badge",
            ])
        #expect(run.result.summary.ignoredFindings == 1)
    }

    @Test("a comment may stand in front of the payload of a block")
    func leadingComment() async throws {
        let page = "```json\n// a push\n/* of {us} */\n{\"aps\": {\"badge\": \"1\"}}\n```\n"
        #expect(try await Self.run(page, "G").findings() == ["G014 4:19 /aps/badge"])
    }

    @Test("a key in the wrong place is reported in a block with comments too")
    func misplacedKeys() async throws {
        let page = """
            ```json
            {"aps": {"alert": {"body": "x", "category": "c"}, "own": 1}} // a comment
            ```
            """
        let run = try await Self.run(page, "G011")
        #expect(try run.findings() == ["G011 2:33 /aps/alert/category", "G011 2:51 /aps/own"])
        #expect(run.result.summary.warnings == 2)
    }

    @Test("a block with comments is judged without them, and an abridged one is not")
    func illustrations() async throws {
        let page = """
            ```json
            {
              "aps": { // for the system
                "content-available": 1, /* wakes
                  the app */ "badge": "1", // https://example.com
              }
            }
            ```
            ```jsonc
            {"aps": {"alert": "// no comment", "badge": "2",},}
            ```
            ```json
            {"aps": {"alert": {...}, "badge": "3"}}
            ```
            ```json
            {"aps": {"alert": "x",},
              … }
            ```
            ```json
            {
              "aps": {"category": "x"}, // only a part is shown
              // ...
            }
            ```
            ```json
            {
              "aps": {
                "alert": "a", // either
                "alert": {"title": "t"} // or
              }
            }
            ```
            ```json5
            {aps: {'content-available': 1}}
            ```
            ```json
            {"APNS": "{"aps": {"alert": "x"}}"}
            ```
            ```javascript
            {aps: {badge: "4"}}
            ```
            ```json
            {"name": "aps"}
            ```
            """
        let run = try await Self.run(page, "G,AL,BG")
        #expect(
            try run.findings().filter { !$0.hasPrefix("BG0") }
                == ["G014 5:27 /aps/badge", "G014 10:45 /aps/badge"])
        let path = try #require(try run.files().first?["path"] as? String)
        #expect(
            try Self.notJudged(run) == [
                "\(path): 5 blocks are not judged, in lines 12, 15, 19, 33, 36: "
                    + "they are abridged, or not JSON.",
                "\(path): the block in line 39 is not judged: it is source code, a log, or a "
                    + "part without its braces.",
            ])
    }

    @Test("a payload in a string of a block is judged, unless it is abridged")
    func payloadInString() async throws {
        let page = #"""
            ```json
            {"default": "x", "APNS": "{\"aps\":{\"alert\":\"x\",\"badge\":\"1\"}}"}
            ```
            ```json
            {"default": "x", "APNS": "{\"aps\":{\"alert\":\"x\", ... }}"}
            ```
            ```json
            {"default": "x", "APNS": "{\"aps\":{\"alert\":\"x\"}, // more\n}"}
            ```
            ```json
            {"headers": {"apns-push-type": "background"}, // and others
             "payload": {"aps": {"content-available": 1}, "version": 1}}
            ```
            """#
        let run = try await Self.run(page, "G,H,BG001,BG007")
        #expect(try run.findings() == ["G014 2:63 /APNS/aps/badge"])
        #expect(try Self.notJudged(run).first?.contains("2 blocks are not judged") == true)
    }

    @Test("a response in an indented block is no part of the request's body")
    func indentedResponse() async throws {
        let page = """
            .. sourcecode:: http

               POST /3/device/TOKEN HTTP/2
               apns-topic: com.example.app
               apns-push-type: background
               apns-priority: 5

               {"aps": {"content-available": 1}, "version": 1}

               HTTP/2 200 OK
               apns-id: 3f2504e0-4f89-11d3-9a0c-0305e82c3301
            """
        let run = try await Self.run(page, "G001,H", name: "push.rst")
        #expect(try run.findings() == [])
    }

    @Test("requests in blocks of a page are judged with their headers")
    func requests() async throws {
        let page = """
            ```http
            POST /3/device/TOKEN HTTP/2
            host: api.push.apple.com
            apns-topic: com.example.app
            apns-push-type: background
            apns-priority: 10

            {
              "aps": {"content-available": 1, "badge": "1"} // a mistake
            }

            HTTP/2 200
            apns-id: 3f2504e0-4f89-11d3-9a0c-0305e82c3301

            POST https://api.push.apple.com/3/device/TOKEN
            apns-topic: com.example.app.voip
            apns-push-type: alert

            {"aps": {"alert": "x"}}
            ```

            - In a list:

              ```
              POST /3/device/:token
              apns-topic: com.example.app
              apns-push-type: voip

              {"aps": {}, "callUUID": "3f2504e0-4f89-11d3-9a0c-0305e82c3301"}
              ```
            """
        let run = try await Self.run(page, "H,AU,BG004,BG006,VO001,G001")
        #expect(
            try run.findings() == [
                "BG006 6:1 ", "BG004 9:35 /aps/badge", "VO001 17:1 ", "VO001 26:3 ",
            ])
        #expect(try Self.notJudged(run).isEmpty)
    }

    @Test(
        "a request in a page that is not whole, or for another service, has no findings",
        arguments: [
            "POST /3/device/TOKEN\napns-topic: a.b\n\n{ \"aps\": { ... } }",
            "POST /3/device/TOKEN\napns-topic: com.a\n...\n\n{\"aps\": {\"content-available\": 1}}",
            "POST /3/device/TOKEN\napns-push-type: background\n",
            "POST /3/device/TOKEN\napns-topic: com.a\n\n{\"aps\": {\"badge\": <number>}}",
            "POST /v1/push\ncontent-type: application/json\n\n{\"aps\": {\"badge\": \"1\"}, }",
            "POST /3/device/abc\napns-topic: com.a\napns-push-type: background\n"
                + "apns-priority: 5\napns-expiration: 1790000600\n\n"
                + "{\"aps\": {\"content-available\": 1}, \"version\": 3}",
            "GET /3/device/TOKEN\n", "POST it to /3/device, as you like\n{\"aps\": 1}",
            "HTTP/2 400\n\n{\"reason\": \"BadDeviceToken\"}",
        ])
    func otherRequests(text: String) async throws {
        let run = try await Self.run("```\n\(text)\n```\n", "G,H,BG,AL,AU")
        #expect(try run.findings() == [])
    }

    @Test("a comment of HTML in front of a block ignores what is found in it")
    func ignored() async throws {
        let page = """
            <!-- rouse:ignore G014 the server converts it -->
            ```json
            {
              "aps": {"badge": "1"}
            }
            ```

            ```json
            {"aps": {"badge": "2"}}
            ```

            <!--rouse:ignore G014-->

            ```sh
            curl -H 'apns-topic: a.b' \
              -d '{"aps":{"badge":"3"}}' https://x/3/device/ab
            ```
            """
        let run = try await Self.run(page, "G014")
        #expect(try run.findings() == ["G014 9:19 /aps/badge"])
        #expect(run.result.summary.ignoredFindings == 2)
        let folder = try TestFolder()
        let path = try folder.write(page.replacing(#""badge""#, with: #""Badge""#), to: "a.md")
        _ = try await FinishedRun([path]) {
            $0.fixes = .all
            $0.ignored = try? .only("G014")
        }
        #expect(try folder.text(of: "a.md").contains(#"{"aps": {"badge": "2"}}"#))
    }
}
