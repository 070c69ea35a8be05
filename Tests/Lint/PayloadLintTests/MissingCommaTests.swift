// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PayloadLint

/// Blocks of a page that are JSON but for a comma, or for quotation marks, have the error whatever
/// else the page shows of them.
@Suite("Blocks of a page with a fault of syntax that is certain")
struct MissingCommaTests {
    private static let body = """
        {
          "aps" : {
            "content-available" : 1
            "apns-priority" : 5
          },
          "v" : 1
        }
        """

    private static func findings(_ block: String, _ language: String) async throws -> [String] {
        let page = "# Push\n\n```\(language)\n\(block)\n```\n"
        return try await FirebaseTests.findings(page, name: "a.md")
    }

    @Test("a comma that is missing in a block of another language is told")
    func languages() async throws {
        for language in ["swift", "js", "python", "jsonc"] {
            #expect(
                try await Self.findings(Self.body, language)
                    == ["error G001 ", "warning G011 /aps/apns-priority"])
        }
        for (block, language) in [
            // Newlines separate members there.
            (Self.body, "hcl"), (Self.body, "text"),
            (Self.body.replacing("5", with: "priority"), "swift"),
            (Self.body.replacing("1\n", with: "1, ...\n"), "swift"),
            (Self.body.replacing("\"aps\"", with: "aps"), "js"),
            (Self.body.replacing("\"aps\"", with: "\"a\""), "swift"),
            // A comma before a bracket is right in many languages.
            ("{\n  \"aps\" : { \"alert\" : \"x\", },\n}", "js"),
        ] {
            #expect(try await Self.findings(block, language) == [], "\(block)")
        }
    }

    @Test("a comma may be missing beside comments and typographic quotation marks")
    func comments() async throws {
        let commented = Self.body.replacing("1\n", with: "1 // a flag\n")
        #expect(
            try await Self.findings(commented, "json")
                == ["error G001 ", "warning G011 /aps/apns-priority"])
        let typographic = commented.replacing("\"aps\"", with: "“aps”")
        #expect(
            try await Self.findings(typographic + "\n\n" + Self.body, "json")
                == ["error G001 "] + .init(repeating: "warning G011 /aps/apns-priority", count: 2))
        #expect(
            try await Self.findings(
                typographic.replacing(" // a", with: ", // a"), "json")
                == ["error G001 ", "warning G011 /aps/apns-priority"])
        for other in [
            commented.replacing("5", with: "{ ... }"),
            commented.replacing("a flag\n", with: "a flag\n    // and more\n"),
            commented.replacing("apns-priority", with: "content-available"),
        ] {
            #expect(try await Self.findings(other, "json") == [], "\(other)")
        }
    }

    @Test("an object in the text of a page is read if it is JSON but for commas")
    func bareObjects() async throws {
        let badge = "{\n\"aps\": {\n\"badge\": \"1\"\n}\n}\n"
        let findings = { (page: String) in try await FirebaseTests.findings(page, name: "a.md") }
        #expect(try await findings("A badge\n\(badge)") == ["error G014 /aps/badge"])
        #expect(
            try await findings("Faults:\n\n    \(Self.body)\nText.\n\n\(badge)") == [
                "error G001 /aps", "error G014 /aps/badge",
            ])
        // A shell reads it too.
        #expect(
            try await findings("cat <<EOF > a.apns\n\(badge)EOF\n") == ["error G014 /aps/badge"])
        for page in [
            "curl -d \\\n\(badge)", "let x =\n\(badge)",
            "Text.\n{\n\"aps\": {\n\"badge\": \"1\" // one\n}\n}\n",
            "Text.\n{\n\"aps\": {\n\"badge\": <count>, \"alert\": \"1\n}\n}\n",
            "Text.\n{\n\"aps\": {\n\"badge\": \"1\",\n...\n}\n}\n",
            "Text.\n{\n\"aps\": {\n\"badge\": \"1\"\n}\n};\n",
            "{% highlight css %}\n\(badge){% endhighlight %}\n",
        ] {
            #expect(try await findings(page) == [], "\(page)")
        }
    }

    @Test("a typographic quotation mark behind the backslash of a string is told")
    func escapedMark() async throws {
        let block = #"{ "APNS": "{\"aps\":{\"alert\":\"x\",\”badge\":\"1\"}}" }"#
        #expect(
            try await Self.findings(block, "")
                == ["error G001 ", "error G014 /APNS/aps/badge"])
        #expect(
            try await Self.findings(
                #"{ "APNS": "{\"aps\":{\"alert\":\"“x” said\"}}" }"#, "") == [])
    }
}
