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
        "a push type in the text is that of the payload, and the priority with it",
        arguments: [
            (
                "Sent with `apns-push-type: voip`:",
                #"{"aps":{"content-available":1},"callId":"c"}"#,
                ["warning VO009 /aps/content-available"]
            ),
            (
                "| `apns-push-type` | `voip` |\n|---|---|\n| `apns-priority` | `10` |",
                #"{"aps":{"alert":"x"},"callId":"c"}"#, ["warning VO009 /aps/alert"]
            ),
            (
                "- **apns-push-type**: background\n- **apns-priority**: 10",
                #"{"aps":{"content-available":1},"v":1}"#, ["warning BG006 "]
            ),
            (
                "The header `apns-push-type` must be `background`.",
                #"{"aps":{"content-available":1,"badge":0},"v":1}"#, ["warning BG004 /aps/badge"]
            ),
            (
                "**Headers:** `apns-push-type: background`\n\n**Payload:**",
                #"{"aps":{"content-available":1,"badge":0},"v":1}"#, ["warning BG004 /aps/badge"]
            ),
            (
                "Sent to APNs beside FCM: `apns-push-type: voip`.",
                #"{"aps":{"content-available":1},"callId":"c"}"#,
                ["warning VO009 /aps/content-available"]
            ),
            (
                "apns-push-type: alert", #"{"aps":{"content-available":1},"v":1}"#,
                ["warning BG013 /aps/content-available"]
            ),
        ])
    func stated(text: String, payload: String, expected: [String]) async throws {
        let found = try await Self.findings(text, payload)
        #expect(found == expected)
        guard !text.contains("Payload") else { return }
        #expect(try await Self.findings("", payload, after: text) == found)
    }

    @Test(
        "a text that names several types, or a condition, or another push, says nothing",
        arguments: [
            "`apns-push-type` is `voip` or `alert`.", "If `apns-push-type` is voip, it fails.",
            "Not `apns-push-type: voip`.", "apns-push-type: voip\napns-push-type: background",
            "apns-push-type", "apns-push-type: call",
            "VoIP (`apns-push-type: voip`) is first. A visible push follows:",
        ])
    func unclear(text: String) async throws {
        let payload = #"{"aps":{"alert":"x","content-available":1},"callId":"c"}"#
        #expect(try await Self.findings(text, payload) == [])
    }

    @Test("what is said of the next payload is not said of this one")
    func next() async throws {
        let call = "```json\n{\"aps\":{},\"callId\":\"c\"}\n```"
        let payload = #"{"aps":{"alert":"x"},"callId":"c"}"#
        for text in ["apns-push-type: voip\n\n" + call, "## Call\n\napns-push-type: voip"] {
            #expect(try await Self.findings("", payload, after: text) == [])
        }
        #expect(try await Self.findings("apns-push-type: background", payload) == [])
    }
}
