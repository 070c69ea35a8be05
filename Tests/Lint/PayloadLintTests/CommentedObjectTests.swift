// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PayloadLint

@Suite("Payloads in comments")
struct CommentedObjectTests {
    /// The warnings and errors of a file.
    private static func findings(_ text: String, _ name: String) async throws -> [String] {
        let folder = try TestFolder()
        let run = try await FinishedRun([try folder.write(text, to: name)]) { $0.format = .json }
        return try run.files().flatMap { file in
            try #require(file["diagnostics"] as? [[String: Any]])
        }.filter { $0["severity"] as? String != "note" }.map {
            "\($0["rule"] ?? "") \($0["line"] ?? "") \($0["pointer"] ?? "")"
        }
    }

    private static let faulty = [
        "{", #"  "aps": {"#, #"    "alert": "x","#, #"    "mutable-content": "1","#,
        #"    "own": "y""#, "  }", "}",
    ]

    @Test("a comment, or a file, that is one payload")
    func judged() async throws {
        let lines = Self.faulty
        func commented(_ mark: String, _ first: String = "", _ last: String = "") -> String {
            "import A\n\(first)\n" + lines.map { mark + $0 }.joined(separator: "\n")
                + "\n\(last)\nclass A {}\n"
        }
        for (name, text) in [
            ("A.swift", commented("", "/*", "*/")), ("A.m", commented(" ", "/**", " */")),
            ("A.java", commented(" * ", "/**", " */")), ("A.swift", commented("// ")),
            ("A.swift", commented("    /// ")), ("A.kt", commented("", "  /*", "  */")),
        ] {
            #expect(
                try await Self.findings(text, name) == [
                    "G014 6 /aps/mutable-content", "G011 7 /aps/own",
                ], "\(text)")
        }
        let remarks = lines.joined(separator: "\n").replacing("\"1\",", with: "\"1\",// one")
        #expect(
            try await Self.findings(remarks, "A.h") == [
                "G014 4 /aps/mutable-content", "G011 5 /aps/own",
            ])
        let single = "let a = 1\n/* {\"aps\":{\"alert\":\"x\",\"mutable-content\":\"1\"}} */\nb()\n"
        #expect(try await Self.findings(single, "a.js") == ["G014 2 /aps/mutable-content"])
        let simulator =
            "/*\n{\"aps\":{\"badge\":\"1\"},\"Simulator Target Bundle\":\"com.e.a\"}\n*/\n"
        #expect(try await Self.findings(simulator, "A.swift") == ["G014 2 /aps/badge"])
        // Each comment by itself.
        let two = commented("// ") + "\n" + single
        #expect(try await Self.findings(two, "A.swift").count == 3)
    }

    @Test("options, many comments and two kinds of payload lose none")
    func all() async throws {
        let folder = try TestFolder()
        let right = "// {\"aps\":{\"alert\":\"x\"}}\n\nf()\n"
        let faulty = "/* {\"aps\":{\"alert\":\"x\",\"badge\":\"1\"}} */\n"
        let path = try folder.write(String(repeating: right, count: 30) + faulty, to: "a.js")
        for assume in [
            { (_: inout PushAssumptions) in }, { $0.pushType = "alert" }, { $0.topic = "com.e.a" },
            { $0.priority = "10" }, { $0.expiration = "0" },
        ] {
            let run = try await FinishedRun([path]) {
                assume(&$0.assumptions)
                $0.format = .json
            }
            let file = try #require(try run.files().first)
            let found = try #require(file["diagnostics"] as? [[String: Any]])
            #expect(found.contains { $0["rule"] as? String == "G014" })
            #expect(found.allSatisfy { $0["rule"] as? String != "G001" })
        }
        let kinds =
            "// {\"aps\":{\"alert\":\"x\"},\"gcm.message_id\":1}\n\nf()\n"
            + "// {\"aps\":{\"alert\":\"x\"},\"Simulator Target Bundle\":\"a.b\"}\n"
        let run = try await FinishedRun(of: kinds, named: "b.js", rules: "G016")
        #expect(try run.findings().count == 1)
    }

    /// Comments that are no payload alone, or a right one.
    private static let quiet = [
        // Right ones.
        #"/* {"aps":{"alert":"x"}} */"#, #"// {"aps":{"content-available":1},"v":1}"#,
        "/*\n * {\"aps\":{\"alert\":{\"title\":\"a\",\"body\":\"b\"},\"badge\":0}}\n */",
        #"// {"aps":{}}"#, #"/** {"aps":{"alert":"x","sound":"default"},"own":{"a":1}} */"#,
        #"/* {"aps":{"mutable-content":1,"category":"x"}} */"#,
        #"// {"aps":{"timestamp":1500000000,"event":"update","content-state":{"a":1}}}"#,
        #"/* {"aps":{"timestamp":1790000000,"event":"start","attributes-type":"A"}} */"#,
        #"/* {"aps":{"alert":"x"}, "id": 1, "aps2": {"own": 1}} */"#,
        "// {\"aps\":{\"alert\":\"x\", // the text\n// \"badge\":1}}",
        // Abridged, templates, notations.
        #"/* {"aps":{"own":1, ...}} */"#, #"// {"aps":{"badge":"1"},…}"#,
        #"/* {"aps":{"badge":<count>,"own":1}} */"#, #"// {"aps":{"badge":$count,"own":1}}"#,
        #"/* {"aps":{"badge":"1",} */"#, #"// {aps:{badge:"1"}}"#, #"/* {'aps':{'badge':'1'}} */"#,
        #"/* {"aps":{"own": string, "badge": number}} */"#,
        "/*\n{\n\"aps\": {\n\"badge\": \\(badge),\n\"own\": 1\n}\n}\n*/",
        #"// {"aps" = {"badge" = "1";};}"#,
        // Words beside it.
        #"/* wrong: {"aps":{"badge":"1"}} */"#, #"// before: {"aps":{"own":1}}"#,
        "// The server sent\n// {\"aps\":{\"badge\":\"1\"}}",
        "/*\n{\"aps\":{\"badge\":\"1\"}}\nis wrong\n*/", #"/* {"aps":{"own":1}} - never */"#,
        // Code, and what stands behind code.
        #"send(/* {"aps":{"own":1}} */ text)"#, #"let a = 1 // {"aps":{"own":1}}"#,
        #"/* {"aps":{"own":1}} */ let a = 1"#, #"let s = "/* {\"aps\":{\"own\":1}} */""#,
        "// func a() {\n//   send([\"aps\": [\"own\": 1]])\n// }",
        "// {\n//   let a = [\"aps\": [\"own\": 1]]\n// }",
        "let s = \"\"\"\n  {\"aps\":{\"own\":1}}\n  \"\"\"",
        "payload: {\n  // \"aps\": {\"badge\": \"1\"}\n}",
        "/*\n[{\"aps\":{\"own\":1}}]\n*/", #"// "aps":{"badge":"1"}"#, #"// {"aps"#,
        "/*\n{\"aps\":{\"own\":1}}", "/*/", "//", "/* \"aps\"",
        // Of other services.
        #"/* {"to":"x","notification":{"title":"a"},"data":{"aps":"b"}} */"#,
        #"// {"message":{"token":"t","apns":{"payload":{"aps":{"alert":"x"}}}}}"#,
    ]

    @Test("other comments stay quiet", arguments: quiet)
    func stillQuiet(comment: String) async throws {
        for name in ["A.swift", "a.js", "A.java"] {
            let text = "import A\n\n\(comment)\nfunc a() {}\n"
            #expect(try await Self.findings(text, name) == [], "\(comment)")
        }
    }
}
