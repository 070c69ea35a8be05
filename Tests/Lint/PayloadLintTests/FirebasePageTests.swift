// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import PayloadLint

@Suite("Requests to Firebase in pages")
struct FirebasePageTests {
    @Test("a page shows messages for Firebase without `aps`, and parts of payloads")
    func pageParts() async throws {
        let message = #"{"apns":{"payload":{"alert":{"loc-key":"M"}}}}"#
        #expect(
            try await FirebaseTests.findings("# Send\n\n```json\n\(message)\n```\n", name: "a.md")
                == (try await FirebaseTests.findings(message)))
        for language in ["", "json", "text"] {
            let part = "```\(language)\n\"aps\": {\n  \"badge\": 1,\n  \"alert\": \"k\"\n}\n```\n"
            #expect(try await FirebaseTests.findings("# Send\n\n" + part, name: "a.md") == [])
        }
    }

    @Test(
        "a request of a page is known by its members alone, as in a file",
        arguments: [
            #"{"to":"cX1:APA91bHun4","notification":{"title":"x"},"data":{"a":1}}"#,
            #"{"to":"t","dry_run":true,"notification":{"title":"x"},"data":{"a":1}}"#,
            #"{"to":"user_7","notification":{"title":"x","level":1},"data":{"a":1}}"#,
            #"{"token":"t","data":{"a":1},"notification":{"email":true}}"#,
            #"{"message":{"token":"t","notification":{"title":"x","sound":"y"}}}"#,
        ])
    func members(request: String) async throws {
        let page = "# Send\n\n```json\n\(request)\n```\n"
        #expect(
            try await FirebaseTests.findings(page, name: "a.md")
                == (try await FirebaseTests.findings(request)))
        for other in [
            #"{"topic":"orders","notification":{"id":1}}"#,
            #"{"condition":"new","notification":{"text":"a"}}"#,
        ] {
            let text = page.replacing(request, with: other)
            #expect(try await FirebaseTests.findings(text, name: "a.md") == [])
        }
        // A fault of syntax is one only in what is known.
        let own = page.replacing(request, with: #"{"to":"user_7","notification":{"a":1,},}"#)
        #expect(try await FirebaseTests.findings(own, name: "a.md") == [])
    }

    @Test("a page is judged as a file is, unless its block was written for people")
    func pages() async throws {
        let request =
            #"{"to":"t","priority":"high","content_available":true,"data":{"k":"v"}}"#
        let page = "Send\n\n```\n\(request)\n```\n"
        #expect(try await FirebaseTests.findings(page, name: "a.md") == ["error BG006 /priority"])
        #expect(
            try await FirebaseTests.findings(page.replacing("}}", with: "},}"), name: "a.md")
                == ["error BG006 /priority", "error G001 "])
        let folder = try TestFolder()
        let bold = page.replacing(#""content_available":true"#, with: #"**"content_available":1**"#)
        let path = try folder.write(bold, to: "b.md")
        let run = try await FinishedRun([path]) { $0.format = .json }
        #expect(try run.findings() == [])
        let reasons = try #require(try run.json()["notJudged"] as? [String])
        #expect(reasons.count == 1 && !reasons[0].contains("no push to APNs"), "\(reasons)")
        // In a folder, keys of such common names prove nothing.
        try folder.write(page, to: "c.md")
        let all = try await FinishedRun([folder.path]) { $0.format = .json }
        #expect(all.result.summary.pushes == 0)
    }
}
