// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import PayloadLint

@Suite("Blocks and commands that are written for people, or for a shell")
struct UnreadTextTests {
    private static func page(_ title: String, _ language: String, _ block: String) -> String {
        "# Push\n\n## \(title)\n\n```\(language)\n\(block)\n```\n"
    }

    private static func reasons(_ text: String, name: String) async throws -> [String] {
        let folder = try TestFolder()
        let run = try await FinishedRun([try folder.write(text, to: name)]) { $0.format = .json }
        return try #require(try run.json()["notJudged"] as? [String])
    }

    @Test("typographic quotation marks are read as straight ones, and told")
    func typographicQuotes() async throws {
        let block = "{\n “aps”: { “alert”: “x “y””, „badge“: “2” }\n}"
        for mark in ["“", "”"] {
            let broken = block.replacing(" “y””", with: "”").replacing("“", with: mark)
            for name in ["a.apns", "a.json"] {
                #expect(
                    try await FirebaseTests.findings(broken, name: name)
                        == ["error G001 ", "error G014 /aps/badge"])
            }
            #expect(
                try await FirebaseTests.findings(Self.page("A", "json", broken), name: "a.md")
                    == ["error G001 ", "error G014 /aps/badge"])
        }
        let command =
            "curl -H 'apns-topic: com.a.b' -d '{“aps”:{“alert”:“x”}}' "
            + "https://api.push.apple.com/3/device/$T\n"
        #expect(try await FirebaseTests.findings(command, name: "a.sh").contains("error G001 "))
        #expect(try await FirebaseTests.findings(#"{"aps":{"alert":"“x” said"}}"#) == [])
        let other = Self.page("A", "json", "{ “to”: “x”, “n”: 1 }")
        #expect(try await FirebaseTests.findings(other, name: "a.md") == [])
        // Abridged.
        let short = Self.page("A", "json", "{ “aps”: { … } }")
        #expect(try await FirebaseTests.findings(short, name: "a.md") == [])
    }

    @Test("a comment may hold what is left out")
    func comments() async throws {
        let block =
            "{\n  \"aps\": {\n    // \"alert\": { \"title\": \"…\" }\n"
            + "    \"alert\": \"x\", \"badge\": \"2\"\n  }\n}"
        #expect(
            try await FirebaseTests.findings(Self.page("A", "jsonc", block), name: "a.md")
                == ["error G014 /aps/badge"])
    }

    @Test("what a call is told apart from is no other push")
    func contrast() async throws {
        let block = #"{"aps":{"content-available":1},"call_id":"c"}"#
        let told = [
            "Calls use their own channel (separate from alert pushes).",
            "Unlike alert pushes, it wakes the app:", "It is different from a normal push:",
        ]
        let silent = [
            "Alert pushes are separate from calls:", "A separate alert push follows:",
            "Unlike calls, a message is sent as:", "From the background, send:",
            "It differs. Send an alert push:", "Separate from this, a normal push follows:",
            "Use a different alert for:", "Unlike alert pushes, a background push is:",
            "Ended calls are different:", "For Android, send the same:",
        ]
        for text in told + silent {
            let page = Self.page("VoIP push", "json", block)
                .replacing("\n\n```json", with: "\n\n\(text)\n\n```json")
            #expect(
                try await FirebaseTests.findings(page, name: "a.md")
                    == (told.contains(text) ? ["warning VO009 /aps/content-available"] : []),
                "\(text)")
        }
    }

    @Test("a file that is abridged holds a payload, whatever it is called")
    func abridged() async throws {
        let short = "{\n  \"aps\": {\n    \"content-state\": { ... }\n  }\n}\n"
        for name in ["a.json", "a.txt", "push", "a.tmpl"] {
            let said = try await Self.reasons(short, name: name)
            #expect(said.count == 1, "\(said)")
            let isSaid = said.first?.contains("the payload in line 1 is not judged") == true
            #expect(isSaid || name == "a.tmpl", "\(name) \(said)")
        }
        let other = try await Self.reasons("{ \"a\": { ... } }\n", name: "a.json")
        #expect(other.count == 1 && other[0].contains("no push to APNs was found"))
    }

    @Test("a title for PushKit says of which type a payload is")
    func titles() async throws {
        let block = #"{"aps":{"alert":"Incoming"},"caller":"Ann"}"#
        for title in ["PushKit VoIP", "VoIP payload", "A. PushKit silent payload"] {
            #expect(
                try await FirebaseTests.findings(Self.page(title, "json", block), name: "a.md")
                    == ["warning VO009 /aps/alert"])
        }
        let header = block.replacing("\"alert\"", with: "\"apns-priority\"")
        #expect(
            try await FirebaseTests.findings(Self.page("Widgets", "json", header), name: "a.md")
                == ["warning G011 /aps/apns-priority"])
        for title in ["VoIP and alert pushes", "Without PushKit", "Payload"] {
            #expect(
                try await FirebaseTests.findings(Self.page(title, "json", block), name: "a.md")
                    == [])
        }
        // A page about PushKit may show other pushes.
        let missed = Self.page("VoIP", "json", block)
            .replacing("## VoIP\n", with: "## VoIP\nAfter a missed call:\n")
        #expect(try await FirebaseTests.findings(missed, name: "a.md") == [])
        for (words, other) in [
            ("For chat messages:", #"{"aps":{"alert":"New","sound":"default"},"caller":"7"}"#),
            ("It sends:", #"{"aps":{"alert":"New","sound":"default"},"chat":"7"}"#),
        ] {
            let chat = Self.page("VoIP", "json", other)
                .replacing("## VoIP\n", with: "## VoIP\n\n\(words)\n")
            #expect(try await FirebaseTests.findings(chat, name: "a.md") == [])
        }
        let page = Self.page("A", "json", block).replacing("## A\n", with: "A normal push:\n")
        for text in [
            page.replacing("# Push", with: "# VoIP"), page.replacing("A n", with: "## VoIP\nA n"),
        ] {
            #expect(try await FirebaseTests.findings(text, name: "a.md") == [])
        }
    }

    @Test("objects that stand one behind another are judged")
    func several() async throws {
        let objects = "{\"aps\":{\"alert\":\"x\"}}\n{\"aps\":{\"badge\":\"1\"}}\n{\"ok\":true}"
        #expect(
            try await FirebaseTests.findings(Self.page("A", "json", objects), name: "a.md")
                == ["error G014 /aps/badge"])
        let broken = objects.replacing("true", with: "tru")
        #expect(
            try await FirebaseTests.findings(Self.page("A", "json", broken), name: "a.md") == [])
    }

    @Test("messages of Expo in pages are judged")
    func expo() async throws {
        let block = #"{"to":"ExponentPushToken[a]","body":"b","content-available":1}"#
        #expect(
            try await FirebaseTests.findings(Self.page("A", "json", block), name: "a.md")
                == (try await FirebaseTests.findings(block)))
        let answer = #"{"data":{"details":{"expoPushToken":"ExponentPushToken[a]"}}}"#
        #expect(
            try await FirebaseTests.findings(Self.page("A", "json", answer), name: "a.md") == [])
    }

    @Test("it is said truly why nothing was judged")
    func reasons() async throws {
        let another = "no push to APNs was found"
        for (text, name, reason) in [
            (#"{"to":["a"],"text":"x"}"#, "a.json", another), ("# Hello\n", "a.md", "in a form"),
            ("#!/bin/sh\necho hello\n", "a.sh", "in a form"),
            (
                Self.page("A", "javascript", "const n = {\n  aps: {badge: 1}\n};"), "a.md",
                "the block in line 5 is not judged: it is source code"
            ),
            (
                Self.page("A", "json", #""ios": {"aps": {"alert": "x"}}"#), "a.md",
                "the block in line 5 is not judged: it is source code, a log, or a part"
            ),
        ] {
            let reasons = try await Self.reasons(text, name: name)
            #expect(reasons.count == 1 && reasons[0].contains(reason), "\(text): \(reasons)")
            #expect(reason == another || !reasons[0].contains(another), "\(text): \(reasons)")
        }
    }

    @Test(
        "a key of dots stands for what was left out, also in JSON without other faults",
        arguments: [
            #"{"aps":{"…":"…"},"a":1}"#, #"{"aps":{"alert":"x","...":"..."}}"#,
            #"{"aps":{"alert":{"…":"…"}}}"#,
        ])
    func dots(text: String) async throws {
        #expect(try await FirebaseTests.findings(text) == [])
        let page = "# A\n\n```json\n\(text)\n```\n"
        #expect(try await FirebaseTests.findings(page, name: "a.md") == [])
        guard !text.contains("alert\":{") else { return }
        let other = text.replacing("…", with: "x").replacing("...", with: "x")
        #expect(try await FirebaseTests.findings(other).last == "warning G011 /aps/x")
    }

    @Test("beside lines of dots, only the members that are there are judged")
    func linesOfDots() async throws {
        let cut = "{\n\"aps\": {\"alert\": \"x\", \"content_available\": 1},\n\"key\": 1,\n...\n}"
        let found = ["warning G012 /aps/content_available"]
        for text in [cut, cut.replacing("1,\n...", with: "1\n  …,\n\"a\": 2")] {
            let page = Self.page("A", "json", text)
            #expect(try await FirebaseTests.findings(page, name: "a.md").count <= 1)
        }
        let page = Self.page("A", "json", cut)
        #expect(try await FirebaseTests.findings(page, name: "a.md") == found)
        #expect(try await Self.reasons(page, name: "a.md").count == 1)
        let right = page.replacing("content_available", with: "content-available")
        #expect(try await FirebaseTests.findings(right, name: "a.md") == [])
        let inline = page.replacing("1,\n...\n", with: "1, ... ")
        #expect(try await FirebaseTests.findings(inline, name: "a.md") == [])
    }

    @Test("a request with a comma before a bracket is judged as without it")
    func commas() async throws {
        let request = #"{"to":"t","priority":"high","content_available":true,"data":{"a":"1",}}"#
        let found = try await FirebaseTests.findings(request.replacing(",}}", with: "}}"))
        #expect(!found.isEmpty)
        #expect(
            try await FirebaseTests.findings(request) == (["error G001 /data"] + found).sorted())
        let page = Self.page("A", "json", request)
        #expect(
            try await FirebaseTests.findings(page, name: "a.md")
                == (["error G001 /data"] + found).sorted())
    }

    @Test("several objects with comments are judged each")
    func objects() async throws {
        let badge = #"{"aps":{"alert":"x","badge":"1"}}"#
        let text = "// one\n\(badge)\n// two\n\(badge)\n"
        let found = ["error G014 /aps/badge", "error G014 /aps/badge"]
        #expect(try await FirebaseTests.findings(text, name: "a.jsonc") == found)
        let page = "# A\n\n```jsonc\n\(text)```\n"
        #expect(try await FirebaseTests.findings(page, name: "a.md") == found)
    }

    @Test("a comment in a file of JSON is one, also with a colon in it")
    func colonInComment() async throws {
        let text = "// a: 1\n{\"aps\":{\"alert\":\"x\",\"badge\":\"1\"}}\n"
        #expect(
            try await FirebaseTests.findings(text) == ["error G001 ", "error G014 /aps/badge"])
    }
}
