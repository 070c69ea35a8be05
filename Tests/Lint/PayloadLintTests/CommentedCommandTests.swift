// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing
import WakeModel

@testable import PayloadLint

@Suite("Commands in comments")
struct CommentedCommandTests {
    @Test("a command in a documentation comment", arguments: [" * ", "///  "])
    func documentation(mark: String) async throws {
        let token = String(repeating: "a5", count: 32)
        func comment(_ body: [String]) -> String {
            let lines =
                ["curl -H 'apns-topic: com.example.app' -H 'apns-push-type: background' \\"]
                + ["-H 'apns-priority: 10' -d '{"] + body
                + ["}' https://api.push.apple.com/3/device/\(token)"]
            return (mark == " * " ? "/**\n" : "") + lines.map { mark + $0 }.joined(separator: "\n")
                + (mark == " * " ? "\n */" : "") + "\nclass A {\n}\n"
        }
        let whole = comment(["\"aps\": {", "\"content-available\": 1 } "])
        let reader = DocumentReader(assumptions: PushAssumptions(), forcedKind: nil)
        func found(_ text: String, _ rules: String, name: String) async throws -> [String] {
            try await FinishedRun(of: text, named: name, rules: rules, others: [:]).findings()
        }
        for name in ["A.java", "A.swift"] {
            let item = try #require(reader.read(Array(whole.utf8), name: name).items.first)
            #expect(item.draft.headers.count == 4)
            #expect(try await found(whole, "G001", name: name) == [])
            #expect(try await !found(whole, "BG006", name: name).isEmpty)
            // A remark stands for fields.
            let short = comment(["\"aps\": {", "// more", "}"])
            #expect(try await found(short, "G001", name: name) == [])
        }
    }
}
