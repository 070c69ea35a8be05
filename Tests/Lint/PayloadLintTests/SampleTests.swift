// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PayloadLint

@Suite("The time of a sample, and the flag of a call")
struct SampleTests {
    @Test("the time of a sample in a page is a note, and one in a file a warning")
    func times() async throws {
        let payload = #"{"aps":{"timestamp":1500000000,"event":"update","content-state":{"a":1}}}"#
        #expect(try await FirebaseTests.findings(payload) == ["warning LA010 /aps/timestamp"])
        for block in ["json", ""] {
            let page = "# A\n\n```\(block)\n\(payload)\n```\n"
            #expect(try await FirebaseTests.findings(page, name: "a.md") == [])
        }
    }

    @Test("a flag of ConnectyCube says that a push is for a call, also beside an alert")
    func flags() async throws {
        let payload = #"{"aps":{"alert":"x"},"uuid":"u","caller_id":"1","ios_voip":1}"#
        #expect(try await FirebaseTests.findings(payload) == ["warning VO009 /aps/alert"])
        for other in [
            "\"ios_voip\":0", "\"ios_voip\":false", "\"voip\":1", "\"isVoip\":true", "\"pstn\":1",
            "\"android_voip\":1", "\"ios_voip\":\"no\"", "\"ios_push\":1", "\"voip\":\"1\"",
            "\"voip_enabled\":true", "\"iosVoip\":1", "\"IOS-VOIP\":1",
        ] {
            let text = payload.replacing("\"ios_voip\":1", with: other)
            #expect(try await FirebaseTests.findings(text) == [])
        }
    }
}
