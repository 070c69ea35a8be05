// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing
import WakeModel

@Suite("Rules")
struct RulesTests {
    private let validator = WakeValidator()

    @Test("finds what breaks a rule, and nothing in what keeps it", arguments: RuleCase.all)
    func ruleCase(_ example: RuleCase) throws {
        let request = try request(
            example.kind, example.payload, expiration: example.expiration,
            collapseID: example.collapseID)
        let found = validator.validate(request, now: testNow).diagnostics
            .filter { $0.rule == example.rule }
        switch example.expectation {
        case .clean:
            #expect(found.isEmpty)
        case .found(let place, let severity):
            let diagnostic = try #require(found.first)
            #expect(found.contains { ($0.header ?? $0.pointer) == place })
            #expect(diagnostic.severity == severity)
            #expect(!diagnostic.message.isEmpty && !diagnostic.fix.isEmpty)
        }
    }

    @Test("every rule of the table has a case that breaks it and one that keeps it")
    func everyRuleIsTested() {
        var broken: Set<RuleID> = []
        var kept: Set<RuleID> = []
        for example in RuleCase.all {
            switch example.expectation {
            case .found: broken.insert(example.rule)
            case .clean: kept.insert(example.rule)
            }
        }
        let table = Set(Rules.table.map(\.id))
        #expect(broken == table)
        #expect(kept == table)
    }

    @Test("each id stands once, in the table or among the rules that types uphold")
    func idsAreUnique() {
        let ids = Rules.table.map(\.id) + Rules.upheldByConstruction.map(\.rule)
        #expect(Set(ids).count == ids.count)
        #expect(Rules.table.map(\.id) == Rules.table.map(\.id).sorted())
        #expect(Rules.rule("BG004")?.severity == .error)
        #expect(Rules.rule("BG006") == nil)
    }

    @Test("every rule has a manual page", arguments: Rules.table.map(\.id))
    func textsAreWhole(id: RuleID) throws {
        let rule = try #require(Rules.rule(id))
        #expect(!rule.title.isEmpty && !rule.title.hasSuffix("."))
        #expect(rule.rationale.hasSuffix("."))
        #expect(rule.fix.hasSuffix("."))
        #expect(!rule.evidence.isEmpty)
        #expect(rule.evidence.allSatisfy { !$0.reference.isEmpty })
    }

    @Test("the table is the one that the reference asks for")
    func tableIsComplete() {
        let expected: [RuleID] = [
            "BG001", "BG002", "BG003", "BG004", "BG005", "BG010", "BG011", "BG012", "BG016",
            "BG017", "BG018", "BG019", "BG022", "BG023", "BG024", "BG026", "G001", "G002", "G003",
            "G004", "G005", "G006", "G007", "G008", "G009", "G010", "G011", "G012", "G013", "G014",
            "G015", "G016", "G017", "G018", "G019", "H011", "H012", "H013", "H014", "VO002",
            "VO003", "VO004", "VO005", "VO007", "VO008", "VO009", "VO010", "VO015",
        ]
        #expect(Rules.table.map(\.id) == expected)
    }

    @Test(
        "a near miss is named",
        arguments: [
            ("content_available", "content-available"), ("contentAvailable", "content-available"),
            ("Content-available", "content-available"), ("content-avaliable", "content-available"),
            ("conten-available", "content-available"), ("mutable content", "mutable-content"),
            ("threadId", "thread-id"), ("tread-id", "thread-id"), ("alart", "alert"),
            ("Badge", "badge"), ("interuption_level", "interruption-level"),
        ])
    func nearMisses(key: String, meant: String) throws {
        let payload = "{\"aps\":{\"\(key)\":1}}"
        let found = validator.diagnostics(ofPayload: Array(payload.utf8), as: .background)
        let diagnostic = try #require(found.first { $0.rule == "G012" })
        #expect(diagnostic.message.contains("`\(meant)`"))
        #expect(diagnostic.fix.contains("`\(meant)`"))
    }
}
