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
                == ["error BG006 5", "error BG009 6"])
        let badge = #"{"aps":{"content-available":1,"badge":0}}"#
        let right = "Headers:\n  apns-push-type: background // silent\n  apns-priority: 5"
        #expect(try await Self.findings(Self.page(right, badge)) == ["error BG004 12"])
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
        #expect(try await Self.findings(page) == ["error BG004 2"])
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

    @Test("a payload beside words about another type of push lacks nothing of an alert")
    func otherTypes() async throws {
        let call = "```json\n{\"aps\":{\"pushHint\":\"u\"}}\n```\n"
        for words in ["The `voip` push:", "### PushKit", "For Live Activities:"] {
            #expect(try await Self.findings("\(words)\n\n\(call)") == [], "\(words)")
        }
        #expect(
            try await Self.findings("### VoIP\n\n### Alerts\n\n\(call)")
                == ["warning AL001 6", "warning G011 6"])
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
