// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import PayloadLint

@Suite("Pushes whose parts are in several blocks of a page")
struct JoinedBlocksTests {
    private static func findings(_ page: String) async throws -> [String] {
        let folder = try TestFolder()
        let path = try folder.write(page, to: "a.md")
        let run = try await FinishedRun([path]) { $0.format = .json }
        let found = try run.files().flatMap {
            try #require($0["diagnostics"] as? [[String: Any]])
        }
        return found.filter { $0["severity"] as? String != "note" }.map { finding in
            "\(finding["severity"] ?? "") \(finding["rule"] ?? "") \(finding["line"] ?? "")"
        }
    }

    private static func page(
        _ headers: String, _ payload: String, between: String = "And the payload:"
    ) -> String {
        "# Push\n\n```\n\(headers)\n```\n\n\(between)\n\n```json\n\(payload)\n```\n"
    }

    @Test("headers and the payload behind them are one push")
    func joined() async throws {
        let silent = "apns-push-type: background\napns-priority: 10\napns-topic: com.a.b.voip"
        #expect(
            try await Self.findings(Self.page(silent, #"{"aps":{"content-available":1}}"#))
                == ["warning BG006 5", "warning BG009 6"])
        let badge = #"{"aps":{"content-available":1,"badge":0}}"#
        let right = "Headers:\n  apns-push-type: background // silent\n  apns-priority: 5"
        #expect(try await Self.findings(Self.page(right, badge)) == ["warning BG004 12"])
        let request =
            "POST /3/device/\(String(repeating: "a5", count: 32)) HTTP/2\n"
            + "authorization: bearer <jwt>\napns-push-type: background\napns-priority: 5"
        #expect(
            try await Self.findings(Self.page(request, #"{"aps":{"content-available":1}}"#))
                == ["warning H006 4"])
        let call = "apns-push-type: voip\napns-topic: com.a.b.voip\napns-expiration: 0"
        #expect(
            try await Self.findings(Self.page(call, #"{"aps":{"pushHint":"u"},"callId":"c"}"#))
                == [])
    }

    @Test("the data of a call without `aps` are joined with the headers of a VoIP push")
    func calls() async throws {
        let voip = "apns-push-type: voip\napns-topic: com.a.b.voip"
        let ended = #"{"type":"call-ended","callId":"1"}"#
        #expect(try await Self.findings(Self.page(voip, ended)) == ["warning VO007 11"])
        for (headers, payload) in [
            (voip, #"{"type":"call-started","callId":"1"}"#),
            (voip.replacing("voip", with: "alert"), ended),
            (voip, #"{"to":"t","data":{"type":"call-ended","callId":"1"}}"#),
            (voip, #"{"status":"ok"}"#),
        ] {
            #expect(try await Self.findings(Self.page(headers, payload)) == [], "\(payload)")
        }
        #expect(
            try await Self.findings(Self.page(voip, ended, between: "## Android")) == [])
    }

    @Test("headers may be an object of JSON")
    func objects() async throws {
        let headers = #"{"apns-push-type":"background","apns-priority":"10"}"#
        let page = Self.page("", #"{"aps":{"content-available":1}}"#)
            .replacing("```\n\n```", with: "```json\n\(headers)\n```")
        #expect(try await Self.findings(page) == ["warning BG006 4"])
        for (old, new) in [("\"10\"", "\"5\""), ("apns-priority", "retries")] {
            #expect(try await Self.findings(page.replacing(old, with: new)) == [], "\(new)")
        }
    }

    @Test("a title that names APNs and PushKit is for calls, but not a list of both")
    func titlesWithAPNs() async throws {
        let payload = #"{"aps":{"content-available":1},"uuid":"u1","callerName":"A"}"#
        let page = { (title: String) in
            "# Calls\n\n## \(title)\n\n```json\n\(payload)\n```\n"
        }
        for title in [
            "Payload (VoIP push via APNs)", "APNs VoIP payload", "VoIP payload",
            "VoIP payload — sent via APNs",
        ] {
            #expect(try await Self.findings(page(title)) == ["warning VO009 6"], "\(title)")
        }
        let steps = page("VoIP\n\nEnable Background Modes → Voice over IP:")
        #expect(try await Self.findings(steps) == ["warning VO009 8"])
        for title in [
            "APNs / VoIP payload", "VoIP, APNs", "APNs and VoIP", "VoIP fallback by APNs",
            "VoIP for chat", "APNs–VoIP payload", "APNs — VoIP — Web", "APNs → VoIP",
            "VoIP\n\nThe background push:",
        ] {
            #expect(try await Self.findings(page(title)) == [], "\(title)")
        }
    }

    @Test("headers behind the payload are its own too")
    func before() async throws {
        let page = """
            ```json
            {"aps":{"content-available":1,"badge":0}}
            ```

            **Headers:**
            ```
            apns-push-type: background
            apns-priority: 5
            ```
            """
        #expect(try await Self.findings(page) == [])
        let label = page.replacing("**Headers:**", with: "Its headers:")
        #expect(try await Self.findings(label) == ["warning BG004 2"])
    }

    @Test("a label in bold letters does not take headers away from their payload")
    func labels() async throws {
        let silent = "apns-push-type: background\napns-priority: 5"
        let badge = #"{"aps":{"content-available":1,"badge":0}}"#
        let page = Self.page(badge, silent, between: "**HTTP/2 Headers:**")
            .replacing("```json", with: "```")
        #expect(try await Self.findings(page) == ["warning BG004 4"])
        let reversed = Self.page(silent, badge, between: "**Payload**")
        #expect(try await Self.findings(reversed) == ["warning BG004 11"])
        for other in [
            page.replacing("# Push", with: "**Alert:**"),
            page.replacing("HTTP/2 Headers", with: "Alert headers"),
            reversed.replacing("Payload", with: "Headers"),
            // The headers may be those of the payload behind them.
            page + "\n**Payload:**\n```json\n{\"aps\":{\"alert\":\"x\"}}\n```\n",
        ] {
            #expect(try await Self.findings(other) == [], "\(other)")
        }
    }

    @Test("fields of HTTP/2 are headers, and remarks behind arrows are none of them")
    func fieldsOfFrames() async throws {
        let frame =
            ":method: POST\n:path: /3/device/<token>\napns-push-type: background  ← or no wake\n"
            + "apns-priority: 10 <- no\napns-topic: com.a.b"
        let page = Self.page(#"{"aps":{"content-available":1}}"#, frame, between: "## APNs headers")
            .replacing("# Push\n", with: "# Push\n\n## APNs Payload Format\n")
            .replacing("```json", with: "```")
        #expect(try await Self.findings(page) == ["warning BG006 15"])
        let folder = try TestFolder()
        let path = try folder.write("```\n\(frame)\n```\n", to: "b.md")
        let run = try await FinishedRun([path]) { $0.format = .json }
        #expect(
            try run.json()["notJudged"] as? [String] == [
                "\(path): the block in line 1 is not judged: it is headers without a payload."
            ])
    }

    @Test("sections that are called after headers and payload are of one push")
    func titles() async throws {
        let silent = "apns-push-type: background\napns-priority: 10"
        let payload = #"{"aps":{"content-available":1}}"#
        let page = Self.page(silent, payload, between: "## Payload")
            .replacing("# Push\n", with: "# Push\n\n## Request Headers\n")
        #expect(try await Self.findings(page) == ["warning BG006 7"])
        let reversed = Self.page(payload, silent, between: "## Headers")
            .replacing("# Push\n", with: "# Push\n\n## JSON body\n")
            .replacing("```json", with: "```")
        #expect(try await Self.findings(reversed) == ["warning BG006 13"])
        for other in [
            page.replacing("## Payload", with: "## Alert payload of the app"),
            page.replacing("## Request Headers", with: "## Background"),
            page.replacing("## Request Headers", with: "## Background headers"),
            page.replacing("## Payload", with: "## Tokens\n\n## Payload"),
        ] {
            #expect(try await Self.findings(other) == [])
        }
    }

    @Test("headers of another section, or of another block, are another push's")
    func apart() async throws {
        let silent = "apns-push-type: background\napns-priority: 5"
        let alert = #"{"aps":{"alert":"x"}}"#
        #expect(
            try await Self.findings(Self.page(silent, alert, between: "## Alerts\n\nThey:")) == [])
        let swift = "```swift\nlet x = 1\n```"
        #expect(try await Self.findings(Self.page(silent, alert, between: swift)) == [])
        #expect(
            try await Self.findings(Self.page("apns-push-type: background | alert", alert)) == [])
        // The page may show what the device gets.
        #expect(
            try await Self.findings(Self.page(silent, alert)).allSatisfy {
                !$0.hasPrefix("error")
            })
    }

    @Test("of headers and payloads that do not take turns, nobody knows which belong together")
    func unequal() async throws {
        let alert = "```json\n{\"aps\":{\"alert\":\"x\"}}\n```\n"
        let silent = "```json\n{\"aps\":{\"content-available\":1}}\n```\n"
        let headers = ["alert", "background"].map { "```\napns-push-type: \($0)\n```\n" }
        for page in [
            // Each payload has its headers behind it: the second one is no alert.
            alert + headers[0] + silent + headers[1], alert + headers[1] + silent,
            headers[0] + headers[1] + alert + silent,
            headers[0] + silent + headers[1],
        ] {
            #expect(try await Self.findings(page) == [])
        }
        for heading in ["<h2>Alert</h2>", "**Alert**"] {
            #expect(try await Self.findings(headers[1] + heading + "\n\n" + alert) == [])
        }
        // What a server answers is no part of a request.
        let answer = "```\napns-id: EC1BF194-B3B2-424A-89A9-5A918A6E6B5D\n```\n\n"
        #expect(try await Self.findings(answer + alert) == [])
    }

    @Test("a payload beside words about another type of push lacks nothing of an alert")
    func otherTypes() async throws {
        let call = "```json\n{\"aps\":{\"pushHint\":\"u\"}}\n```\n"
        for words in ["The `voip` push:", "### PushKit", "For Live Activities:"] {
            #expect(try await Self.findings("\(words)\n\n\(call)") == [], "\(words)")
        }
        // Letters of two words are none of a third.
        #expect(
            try await Self.findings("Attempt to send it.\n\n\(call)")
                == ["warning G011 4"])
        #expect(
            try await Self.findings("### VoIP\n\n### Alerts\n\n\(call)")
                == ["warning G011 6"])
    }

    @Test("a body behind other headers is judged")
    func behindHeaders() async throws {
        let page = """
            ```
            Content-Type: application/json

            {"message": {"token": "t", "apns": {"headers": {"apns-push-type": "background",
              "apns-priority": "10"}, "payload": {"aps": {"content-available": 1}}}}}
            ```

            ```
            APNs headers:
              apns-push-type: background
              apns-priority: 10

            Payload: {"aps": {"content-available": 1}}
            ```
            """
        #expect(try await Self.findings(page) == ["error BG006 5", "error BG006 11"])
    }

    @Test("a page whose lines end with a carriage return alone is read")
    func returns() async throws {
        let page = "# Push\n\n```json\n{\"aps\":{\n\"badge\":\"1\"}}\n```\n"
        #expect(
            try await Self.findings(page.replacing("\n", with: "\r")) == ["error G014 5"])
    }
}
