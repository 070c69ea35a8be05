// SPDX-License-Identifier: Apache-2.0

import Foundation
import PayloadRules
import StrictJSON
import Testing
import WakeModel

@Suite("Rule reference")
struct RuleReferenceTests {
    /// The committed references, found from this file.
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Sources/Lint/PayloadRules/PayloadRules.docc")

    /// With `ROUSE_WRITE_REFERENCE` set, the file is written anew instead.
    @Test(
        "the committed references are those that the tables give",
        arguments: ["RulesForPushes.md", "RulesForApps.md"])
    func referenceIsCurrent(name: String) throws {
        let file = Self.folder.appending(path: name)
        let text = name == "RulesForPushes.md" ? RuleReference.markdown : RuleReference.appMarkdown
        if ProcessInfo.processInfo.environment["ROUSE_WRITE_REFERENCE"] != nil {
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
        #expect(
            try String(contentsOf: file, encoding: .utf8) == text,
            "It is stale: run this test once with ROUSE_WRITE_REFERENCE=1 and commit the file.")
    }

    @Test("every rule about apps has its section and its row", arguments: AppRules.table.map(\.id))
    func everyAppRuleIsThere(id: RuleID) throws {
        let rule = try #require(AppRules.rule(id))
        let text = RuleReference.appMarkdown
        #expect(text.contains("\n### \(id): \(rule.title)\n"))
        #expect(text.contains("\n| \(id) | \(rule.severity) | \(rule.title) |\n"))
        #expect(text.contains("Fix: \(rule.fix)\n"))
        #expect(!rule.title.contains("|"))
    }

    /// Made once: it takes a while.
    private static let text = RuleReference.markdown

    @Test("every rule has its section and its row", arguments: Rules.table.map(\.id))
    func everyRuleIsThere(id: RuleID) throws {
        let rule = try #require(Rules.rule(id))
        let text = Self.text
        #expect(text.contains("\n### \(id): \(rule.title)\n"))
        #expect(text.contains("\n| \(id) | \(rule.severity) |"))
        #expect(text.contains(RuleReference.section(rule)))
        #expect(!rule.title.contains("|"))
    }
}

@Suite("Payload schemas")
struct PayloadSchemaTests {
    private func object(_ text: String) throws -> [String: Any] {
        try #require(
            try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    @Test(
        "a schema is JSON of the 2020-12 draft",
        arguments: [PayloadSchema.background, PayloadSchema.voip])
    func form(schema: String) throws {
        let root = try object(schema)
        #expect(root["$schema"] as? String == "https://json-schema.org/draft/2020-12/schema")
        #expect(root["type"] as? String == "object")
        _ = try JSONScanner.scan(Array(schema.utf8))
    }

    @Test("the background schema takes content-available 1 alone inside aps")
    func background() throws {
        let properties = try object(PayloadSchema.background)["properties"] as? [String: Any]
        let aps = try #require(properties?["aps"] as? [String: Any])
        #expect(aps["additionalProperties"] as? Bool == false)
        #expect(aps["required"] as? [String] == ["content-available"])
        let keys = try #require(aps["properties"] as? [String: [String: Any]])
        #expect(Array(keys.keys) == ["content-available"])
        #expect(keys["content-available"]?["const"] as? Int == 1)
    }

    @Test("the VoIP schema asks for one of the default call identifiers")
    func voip() throws {
        let choices = try object(PayloadSchema.voip)["anyOf"] as? [[String: Any]]
        let keys = choices?.compactMap { ($0["required"] as? [String])?.first }
        #expect(keys == WakeValidator.Configuration().callIdentifierKeys)
    }
}
