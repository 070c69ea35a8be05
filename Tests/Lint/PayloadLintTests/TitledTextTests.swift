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
            "Example:\n{\"aps\": // a\n {\"badge\":\"1\"}}\n",
            "Ruby:\n{\"aps\" => {\"alert\" => \"Hi\"}}\n",
            "{ aps: { alert: 'x' } }\n", "Example:\n{\"a\":1}\n", "case x:\n{ return {aps: 1}; }\n",
        ])
    func others(text: String) async throws {
        #expect(try await FirebaseTests.findings(text, name: "a.txt") == [])
    }

    @Test("YAML has no arrows")
    func arrows() async throws {
        let text = "aps: {\n\nalert => 'x'\nsound => 'default'\n\n}\n"
        #expect(try await FirebaseTests.findings(text, name: "a.yaml") == ["error G001 "])
        #expect(try await FirebaseTests.findings(text, name: "a.txt") == [])
    }
}
