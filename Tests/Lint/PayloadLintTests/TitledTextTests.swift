// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PayloadLint

@Suite("Objects of JSON behind titles in notes")
struct TitledTextTests {
    private static let badge = #"{"aps":{"alert":"x","badge":"1"}}"#

    @Test("each object behind a title is judged")
    func objects() async throws {
        let one = "Example:\n\(Self.badge)\n"
        let found = "error G014 /aps/badge"
        for name in ["a.txt", "notes"] {
            #expect(try await FirebaseTests.findings(one, name: name) == [found])
            let two = one + "\n" + one
            #expect(try await FirebaseTests.findings(two, name: name) == [found, found])
        }
        let broken = one.replacing("\"x\"", with: "“x”") + "silent one:\n{\"aps\":{}}\n"
        #expect(
            try await FirebaseTests.findings(broken, name: "a.txt")
                .contains("error G001 /aps/alert"))
        let unquoted = "Example:\n{\n  aps: {\"alert\": \"x\"}\n  \"a\": \"b\"\n}\n"
        for text in [unquoted, String(unquoted.dropFirst(9))] {
            #expect(try await FirebaseTests.findings(text, name: "a.txt") == ["error G001 "])
        }
    }

    @Test(
        "other text is none of it",
        arguments: [
            "Some words.\n\(Self.badge)\n", "Example:\n\(Self.badge)\nSome words.\n",
            "Example:\n{ aps: { alert: 'x' } }\n", "Example:\n{\"aps\":{\"alert\":\"x\"}, ...}\n",
            "Wrong payload:\n{\"aps\": // a\n {\"badge\":\"1\"}}\n",
            "Kotlin:\n{\"aps\": // a\n {\"badge\":\"1\"}}\n",
            "Old JSON:\n{\"aps\": // a\n {\"badge\":\"1\"}}\n",
            "This payload is not sent:\n{\"aps\":{\"badge\":\"1\"} // x\n}\n",
            "Example:\n{\"aps\": { … /* more */ }, \"b\": 1 }\n",
            "Example:\n{\"to\":\"t\",\"priority\":\"high\",\"text\":\"x\" // y\n}\n",
            "Example:\n{\"to\":\"t\",\"data\":{\"a\":\"1\"} // y\n}\n",
            "Push:\n{\"to\":\"t\",\"notification\":{\"title\":\"x\"},\"priority\":\"high\"}\n",
            "Example:\n{ // x\n  key: value;\n}\n",
            "Send this JSON:\n{\"aps\":{\"content-available\":1} // x\n}\n",
            "Ruby:\n{\"aps\" => {\"alert\" => \"Hi\"}}\n",
            "{ aps: { alert: 'x' } }\n", "Example:\n{\"a\":1}\n", "case x:\n{ return {aps: 1}; }\n",
        ])
    func others(text: String) async throws {
        #expect(try await FirebaseTests.findings(text, name: "a.txt") == [])
    }

    @Test("an object with comments, or a request to Firebase, is judged behind a title too")
    func comments() async throws {
        let aps = "Example:\n{\"aps\": // a\n {\"badge\":\"1\"}}\n"
        let found = "error G014 /aps/badge"
        #expect(try await FirebaseTests.findings(aps, name: "a.txt") == [found])
        let former =
            #"{"to":"t","priority":"high","content_available":true,"data":{"a":"1"}"#
        for end in ["}\n", "\n // no \"notification\"\n}\n"] {
            let text = "To wake it, send this JSON to Firebase:\n\n\(former)\(end)"
            #expect(
                try await FirebaseTests.findings(text, name: "a.txt")
                    == ["error BG006 /priority"])
        }
    }

    @Test("YAML has no arrows")
    func arrows() async throws {
        let text = "aps: {\n\nalert => 'x'\nsound => 'default'\n\n}\n"
        #expect(try await FirebaseTests.findings(text, name: "a.yaml") == ["error G001 "])
        #expect(try await FirebaseTests.findings(text, name: "a.txt") == [])
    }
}
