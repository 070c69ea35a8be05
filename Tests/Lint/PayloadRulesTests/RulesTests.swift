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

    @Test("finds it in drafts of every push type", arguments: DraftCase.all)
    func draftCase(_ example: DraftCase) throws {
        let report = PushValidator(configuration: example.configuration).report(on: example.draft)
        let found = report.diagnostics.filter { $0.rule == example.rule }
        switch example.expectation {
        case .clean:
            #expect(found.isEmpty)
        case .found(let place, let severity):
            let diagnostic = try #require(
                found.first { ($0.header ?? $0.pointer) == place && $0.severity == severity })
            #expect(!diagnostic.message.isEmpty && !diagnostic.fix.isEmpty)
        }
    }

    @Test("every rule of the table has a case that breaks it and one that keeps it")
    func everyRuleIsTested() {
        let cases =
            RuleCase.all.map { ($0.rule, $0.expectation) }
            + DraftCase.all.map { ($0.rule, $0.expectation) }
            + HistoryCase.all.map { ($0.rule, $0.isFound ? .found(at: "", .note) : .clean) }
        var broken: Set<RuleID> = []
        var kept: Set<RuleID> = []
        for (rule, expectation) in cases {
            switch expectation {
            case .found: broken.insert(rule)
            case .clean: kept.insert(rule)
            }
        }
        let table = Set(Rules.table.map(\.id))
        #expect(table.subtracting(broken) == [] && broken.subtracting(table) == [])
        #expect(table.subtracting(kept) == [] && kept.subtracting(table) == [])
    }

    @Test("each id stands once, in order, and what types uphold is for drafts only")
    func idsAreUnique() throws {
        let ids = Rules.table.map(\.id)
        #expect(Set(ids).count == ids.count)
        #expect(ids == ids.sorted())
        #expect(Rules.rule("BG004")?.severity == .error)
        #expect(Rules.rule("BG099") == nil)
        for (id, type) in Rules.upheldByConstruction {
            let rule = try #require(Rules.rule(id))
            #expect(rule.requirement == .headers && !type.isEmpty)
        }
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

    @Test("every family has the rules that it is known for")
    func tableIsComplete() {
        // The ids of facts §5.9, family by family.
        let counts = [
            ("AL", 7), ("AU", 11), ("BG", 26), ("CM", 1), ("FP", 1), ("G", 20), ("H", 22),
            ("LA", 10), ("LO", 3), ("MD", 1), ("PT", 2), ("SQ", 4), ("VO", 16), ("WG", 2),
        ]
        var expected: [RuleID] = []
        for (family, count) in counts {
            for number in 1...count {
                let digits = String(1000 + number).dropFirst()
                expected.append(RuleID(rawValue: "\(family)\(digits)"))
            }
        }
        #expect(Rules.table.map(\.id) == expected)
    }

    @Test("a rule says which family, push types and sight it has")
    func descriptions() throws {
        let rules = try ["BG006", "WG001", "G001", "VO014"].map { try #require(Rules.rule($0)) }
        #expect(rules.map(\.family) == [.background, .widgets, .generic, .voip])
        #expect(rules.map(\.requirement) == [.headers, .payload, .payload, .history])
        #expect(rules.map(\.pushTypes) == [[.background], [.widgets, .controls], [], [.voip]])
        #expect(Set(Rules.table.map(\.family)) == Set(Rule.Family.allCases))
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
