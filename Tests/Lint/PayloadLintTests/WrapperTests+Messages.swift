// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PayloadLint

extension WrapperTests {
    @Test("a message of Expo is judged by what reaches APNs")
    func expo() async throws {
        let token = #"{"to":"ExponentPushToken[x]","#
        let silent = token + #""data":{"a":1},"_contentAvailable":true"#
        #expect(
            Self.payloads(silent + "}") == [#"{"aps":{"content-available":1},"body":{"a":1}}"#])
        #expect(
            try await Self.findings(silent + #","priority":"high"}"#, "BG006,H")
                == ["BG006 1:81 /priority"])
        for priority in ["normal", "default"] {
            #expect(
                try await Self.findings(silent + #","priority":"\#(priority)"}"#, "BG006") == [])
        }
        let variable = #"{"to":"$TOKEN","_contentAvailable":true,"priority":"high"}"#
        #expect(try await Self.findings(variable, "BG006").count == 1)
        #expect(try await Self.findings("[\(variable)]", "BG006").count == 1)
        let page = "```json\n\(variable)\n```\n"
        #expect(try await Self.findings(page, "BG006", name: "a.md").count == 1)
        #expect(
            Self.payloads(token + #""title":"T","body":"B","badge":2,"sound":"default"}"#)
                == [#"{"aps":{"alert":{"title":"T","body":"B"},"sound":"default","badge":2}}"#])
        let shown = #""title":"T","priority":"high","_contentAvailable":true}"#
        #expect(try await Self.findings(token + shown, "BG006") == [])
        #expect(
            try await Self.findings(token + #""data":{},"contentAvailable":true}"#, "G012")
                == ["G012 1:40 /contentAvailable"])
        #expect(try await Self.findings(token + #""data":{}}"#, "G,AL,BG") == [])
        #expect(
            try await Self.findings(#"{"to":["ExpoPushToken[x]"],"badge":"1"}"#, "G014").count == 1)
    }

    @Test("what stands beside the messages of Braze has no effect")
    func braze() async throws {
        let text =
            #"{"messages":{"apple_push":{"alert":{"title":"T","body":"B"},"badge":1}},"#
            + #""external_user_ids":["a"],"content-available":true,"alert":"x"}"#
        #expect(
            try await Self.findings(text, "G012").map { $0.split(separator: " ")[2] }
                == ["/content-available", "/alert"])
        #expect(
            Self.payloads(text) == [#"{"aps":{"alert":{"title":"T","body":"B"},"badge":1}}"#])
        let right =
            #"{"messages":{"apple_push":{"alert":"x","content-available":true}},"broadcast":true}"#
        #expect(try await Self.findings(right, "G,AL") == [])
        let other = #"{"messages":[{"content":"x"}],"audience":{},"alert":"x"}"#
        #expect(try await Self.findings(other, "G012") == [])
    }

    @Test("a token of Firebase with its name in front of it is none")
    func namedToken() async throws {
        let text = #"{"to":"deviceToken=abc:APA91b","notification":{"title":"x"}}"#
        #expect(try await Self.findings(text, "H002") == ["H002 1:7 /to"])
        for to in ["abc:APA91b", "/topics/a", "<token=x>", "$TOKEN"] {
            let right = text.replacing("deviceToken=abc:APA91b", with: to)
            #expect(try await Self.findings(right, "H002") == [])
        }
    }
}
