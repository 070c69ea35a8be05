// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PayloadLint

@Suite("Headers that the text of a page gives for the payload beside it")
struct StatedHeadersTests {
    private static func findings(
        _ before: String, _ payload: String, after: String = ""
    ) async throws -> [String] {
        let page = "# Pushes\n\n## One\n\n\(before)\n\n```json\n\(payload)\n```\n\n\(after)\n"
        return try await FirebaseTests.findings(page, name: "a.md")
    }

    @Test(
        "a push type alone on a line before a payload is its own, and the priority with it",
        arguments: [
            (
                "apns-push-type: voip", #"{"aps":{"content-available":1},"callId":"c"}"#,
                ["warning VO009 /aps/content-available"]
            ),
            (
                "| `apns-push-type` | `voip` |\n|---|---|\n| `apns-priority` | `10` |",
                #"{"aps":{"alert":"x"},"callId":"c"}"#, ["warning VO009 /aps/alert"]
            ),
            (
                "Text.\n\n| Header | Value |\n|---|---|\n| apns-push-type | background |\n"
                    + "| apns-topic | com.e.app |\n| apns-priority | 10 |",
                #"{"aps":{"content-available":1},"v":1}"#, ["warning BG006 "]
            ),
            (
                "- **apns-push-type**: background\n- **apns-priority**: 10",
                #"{"aps":{"content-available":1},"v":1}"#, ["warning BG006 "]
            ),
            (
                "**iOS push** (headers `apns-topic: <bundle>.voip`, `apns-push-type: voip`):",
                #"{"aps":{"alert":"x"},"callId":"c"}"#, ["warning VO009 /aps/alert"]
            ),
            (
                "HTTP headers:\nauthorization: bearer TOKEN\napns-push-type: background",
                #"{"aps":{"content-available":1,"badge":0},"v":1}"#, ["warning BG004 /aps/badge"]
            ),
        ])
    func stated(text: String, payload: String, expected: [String]) async throws {
        #expect(try await Self.findings(text, payload) == expected)
        #expect(try await Self.findings("", payload, after: text) == [])
        let first = "```json\n{\"a\":1}\n```\n\n"
        #expect(try await Self.findings(first + text, payload) == [])
    }

    @Test(
        "a sentence, several types, a condition or another push say nothing",
        arguments: [
            "`apns-push-type` is `voip` or `alert`.", "If `apns-push-type` is voip, it fails.",
            "Not `apns-push-type: voip`.", "apns-push-type: voip\napns-push-type: background",
            "apns-push-type", "apns-push-type: call",
            "VoIP (`apns-push-type: voip`) is first. A visible push follows:",
            "Sent with `apns-push-type: voip`:",
            "Calls (`apns-topic: a.voip`, `apns-push-type: voip`). Hanging up sends this:",
            "Not (`apns-topic: a.voip`, `apns-push-type: voip`):",
            "The call by `apns-topic: a.voip`, `apns-push-type: voip` was not answered:",
            "After `apns-topic: a.voip`, `apns-push-type: voip`:",
            "Headers `apns-topic: a.voip`, `apns-push-type: voip` or `apns-push-type: alert`:",
            "Headers `apns-topic: a.voip`, `apns-push-type: voip`",
            "The header `apns-push-type` must be `background`.",
            "The ringing push has `apns-push-type: voip`. Hanging up sends this one:",
            "Never send this:\n\napns-push-type: voip",
            "Never send this:\napns-push-type: voip",
            "apns-push-type: background\n\napns-push-type: voip",
            "apns-push-type: voip\n\nHanging up sends this:",
            "| apns-push-type | alert, voip |", "- apns-push-type: voip (required)",
            "- ~~apns-push-type: voip~~", "apns-push-type: background",
        ])
    func unclear(text: String) async throws {
        let payload = #"{"aps":{"alert":"x","content-available":1},"callId":"c"}"#
        #expect(try await Self.findings(text, payload) == [])
    }

    @Test(
        "a type that does not fit the form of the payload says nothing",
        arguments: [
            "apns-push-type: alert", "For alerts: `apns-push-type: alert`.\n\nThis is silent:",
            "We migrated from `apns-push-type: alert`:",
            "- `apns-push-type`: `alert` (default)\n- for silent pushes: `background`",
            "Apple rejects `apns-push-type: alert` here.",
        ])
    func otherForm(text: String) async throws {
        let payload = #"{"aps":{"content-available":1},"v":1}"#
        #expect(try await Self.findings(text, payload) == [])
    }

    @Test("what is said of the next payload is not said of this one")
    func next() async throws {
        let call = "```json\n{\"aps\":{},\"callId\":\"c\"}\n```"
        let payload = #"{"aps":{"alert":"x"},"callId":"c"}"#
        for text in ["apns-push-type: voip\n\n" + call, "## Call\n\napns-push-type: voip"] {
            #expect(try await Self.findings("", payload, after: text) == [])
        }
    }
}
