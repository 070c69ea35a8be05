// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("rouse rules")
struct RulesTests {
    @Test("the table and the JSON list the same rules")
    func lists() async throws {
        let text = try await Rouse.run(["rules"])
        let json = try await Rouse.run(["rules", "--json"])
        #expect(text.status == 0)
        #expect(json.status == 0)
        let rules = try #require(
            try JSONSerialization.jsonObject(with: Data(json.out.utf8)) as? [[String: Any]])
        #expect(rules.count > 40)
        for rule in rules {
            let id = try #require(rule["id"] as? String)
            #expect(text.out.contains("  \(id) "), "\(id)")
            #expect((rule["sources"] as? [String])?.isEmpty == false, "\(id)")
            for key in ["family", "severity", "title", "rationale", "fix", "requires"] {
                #expect((rule[key] as? String)?.isEmpty == false, "\(id) \(key)")
            }
        }
        let apps = rules.count { $0["requires"] as? String == "app" }
        let counts = "\(rules.count - apps) rules about pushes, \(apps) about apps."
        #expect(apps > 50)
        #expect(
            text.out.hasSuffix("\(counts) rouse validate --explain <rule> says more.\n"))
    }

    @Test("the schemas are JSON Schemas", arguments: ["background", "voip"])
    func schemas(kind: String) async throws {
        let result = try await Rouse.run(["rules", "--schema", kind])
        #expect(result.status == 0)
        let schema = try result.json()
        #expect((schema["$schema"] as? String)?.hasPrefix("https://json-schema.org/") == true)
    }
}
