// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@Suite("App rules")
struct AppRulesTests {
    @Test("find what breaks a rule, and nothing in what keeps it", arguments: AppCase.all)
    func appCase(_ example: AppCase) throws {
        let found = AppRules.findings(in: example.facts)
            .filter { $0.diagnostic.rule == example.rule && $0.isSaidBy == nil }
        guard let severity = example.severity else {
            #expect(found.isEmpty)
            return
        }
        let finding = try #require(found.first)
        #expect(found.map(\.diagnostic.severity).max() == severity)
        #expect(!finding.file.isEmpty)
        #expect(!finding.diagnostic.message.isEmpty && finding.diagnostic.fix.hasSuffix("."))
    }

    @Test("every rule of the table has an app that breaks it and one that keeps it")
    func everyRuleIsTested() {
        let broken = Set(AppCase.all.filter { $0.severity != nil }.map(\.rule))
        let kept = Set(AppCase.all.filter { $0.severity == nil }.map(\.rule))
        let table = Set(AppRules.table.map(\.id))
        #expect(broken == table)
        #expect(kept == table)
    }

    @Test("the table is CF001 to CF059")
    func tableIsComplete() {
        let expected = (1...59).map { RuleID(rawValue: $0 < 10 ? "CF00\($0)" : "CF0\($0)") }
        #expect(AppRules.table.map(\.id) == expected)
        #expect(AppRules.rule("CF020")?.severity == .error)
        #expect(AppRules.rule("CF060") == nil)
    }

    @Test("every rule has a manual page", arguments: AppRules.table.map(\.id))
    func textsAreWhole(id: RuleID) throws {
        let rule = try #require(AppRules.rule(id))
        #expect(!rule.title.isEmpty && !rule.title.hasSuffix("."))
        #expect(rule.rationale.hasSuffix("."))
        #expect(rule.fix.hasSuffix("."))
        #expect(!rule.evidence.isEmpty)
    }

    @Test("what rests on source text is at most a warning, except for rules CF020 and CF056")
    func sourceTextIsDoubted() {
        for example in AppCase.all {
            for finding in AppRules.findings(in: example.facts)
            where finding.file.hasSuffix(".swift") && finding.diagnostic.severity == .error {
                #expect(["CF020", "CF056"].contains(finding.diagnostic.rule), "\(example)")
            }
        }
    }

    @Test("an app that has nothing of what its server's pushes need is told all of it at once")
    func bothHalves() {
        let voip = AppFacts.app([.voip], info: [:], seen: [])
        let calls = AppRules.findings(in: voip).filter { $0.diagnostic.rule == "CF008" }
        #expect(calls.map { $0.diagnostic.message.contains("lacks `voip`") } == [true, false])
        #expect(calls.last?.diagnostic.message.contains("no source text registers") == true)
        let talk = AppFacts.app([.pushToTalk], info: [:], entitlements: [:])
        let missing = AppRules.findings(in: talk).filter { $0.diagnostic.rule == "CF015" }
        #expect(missing.count == 2)
        #expect(missing.last?.diagnostic.message.contains("push-to-talk`, which") == true)
        #expect(missing.last?.diagnostic.message.contains("`aps-environment`") == true)
    }

    @Test("forced casts of a file are one finding, of all targets that have the file")
    func forcedCasts() {
        let casts = [SourceObservation.Subject.fault(.forcedTaskCast), .fault(.forcedTaskCast)]
        let first = AppFacts.Bundle.sample("A", .app, seen: casts)
        let second = AppFacts.Bundle(
            name: "B", role: .app, platform: .iOS, sources: first.sources)
        let found = AppRules.findings(in: AppFacts(bundles: [first, second])).filter {
            $0.diagnostic.rule == "CF043"
        }
        // The audit joins those of one place.
        #expect(found.map(\.targets) == [["A"], ["B"]])
    }

    @Test("code that an iOS app shares with one for tvOS may ask for no token there")
    func sharedRequests() {
        func isTold(_ name: String) -> Bool {
            let seen = [SourceObservation.Subject.remoteNotificationRegistration(.launch)]
            let phone = AppFacts.Bundle.sample(
                "App", .app, entitlements: ["aps-environment": .string("production")], seen: seen)
            let television = AppFacts.Bundle.sample(
                name, .app, platform: .tvOS, entitlements: [:], seen: seen)
            return AppRules.findings(in: AppFacts(bundles: [phone, television]))
                .contains { $0.diagnostic.rule == "CF005" }
        }
        #expect(isTold("Television"))
        #expect(!isTold("App"))
    }

    @Test("closures in a session that has no delegate are one finding")
    func closuresWithoutDelegate() {
        func messages(_ seen: SourceObservation.Subject...) -> [String] {
            AppRules.findings(in: AppFacts.app(seen: seen))
                .filter { $0.diagnostic.rule == "CF046" }.map(\.diagnostic.message)
        }
        let closure = "a task of a background URLSession has a completion handler"
        let session = "a background URLSession has no delegate"
        let both = messages(
            .fault(.sessionWithoutDelegate), .fault(.closureInBackgroundSession))
        #expect(both == [closure])
        #expect(messages(.fault(.sessionWithoutDelegate)) == [session])
        let two = messages(
            .backgroundSession, .backgroundSession, .fault(.sessionWithoutDelegate),
            .fault(.closureInBackgroundSession))
        #expect(two.contains(session))
        #expect(
            messages(.fault(.sessionWithoutDelegate), .fault(.dataInBackgroundSession)).count == 2)
    }

    @Test("a misspelt mode is named at its place, with the right one")
    func nearMisses() throws {
        let facts = AppFacts.app([.background], info: Plist.modes("remote_notification"))
        let finding = try #require(
            AppRules.findings(in: facts).first { $0.diagnostic.rule == "CF001" })
        #expect(finding.diagnostic.message.contains("`remote_notification`"))
        #expect(finding.diagnostic.fix.contains("`remote-notification`"))
    }

    @Test("an identifier in another case is named with the permitted one")
    func otherCase() throws {
        let facts = AppFacts.app(
            info: ["BGTaskSchedulerPermittedIdentifiers": .list("a.sync")],
            seen: [.registeredTask("a.Sync", .launch)])
        let finding = try #require(
            AppRules.findings(in: facts).first { $0.diagnostic.rule == "CF020" })
        #expect(finding.diagnostic.message.contains("`a.Sync`"))
        #expect(finding.diagnostic.message.contains("`a.sync`"))
        #expect(
            finding.diagnostic.fix == "Write `a.sync` here, or `a.Sync` there: case counts.")
    }

    @Test("findings of several configurations become one that names them")
    func merging() throws {
        var facts = AppFacts.app([.background], info: [:])
        var findings: [AppFinding] = []
        for configuration in ["Debug", "Release"] {
            facts.configuration = configuration
            findings += AppRules.findings(in: facts)
        }
        facts.configuration = "Release"
        facts.sends = [.background, .critical]
        facts.bundles[0].entitlements = .known(
            AppProperties([:], at: AppPlace(file: "App.entitlements")))
        findings += AppRules.findings(in: facts)
        let merged = AppFinding.merged(findings)
        let mode = try #require(merged.first { $0.diagnostic.rule == "CF001" })
        #expect(mode.configurations == ["Debug", "Release"])
        #expect(merged.count { $0.diagnostic.rule == "CF001" } == 1)
        let level = try #require(merged.first { $0.diagnostic.rule == "CF018" })
        #expect(level.configurations == ["Release"])
        #expect(merged.map(\.file) == merged.map(\.file).sorted())
    }

    @Test("one cause is one finding: Debug and Release, and targets that share a file")
    func oneCause() throws {
        var findings: [AppFinding] = []
        for target in ["App", "Beta"] {
            for (line, configuration) in ["Debug", "Release"].enumerated() {
                var bundle = AppFacts.Bundle.sample(target, .app, info: [:])
                // Without entitlements the place is that of the configuration's settings.
                let place = AppPlace(file: target + ".pbxproj", line: 10 + line, offset: line)
                bundle.entitlements = .none(place)
                bundle.info = AppProperties([:], at: AppPlace(file: "Shared/Info.plist"))
                findings += AppRules.findings(
                    in: AppFacts(
                        sends: [.background], configuration: configuration, bundles: [bundle]))
            }
        }
        let merged = AppFinding.merged(findings)
        let modes = merged.filter { $0.diagnostic.rule == "CF001" }
        #expect(modes.count == 1 && modes.first?.targets == ["App", "Beta"])
        #expect(modes.first?.configurations == ["Debug", "Release"])
        let entitlements = merged.filter { $0.diagnostic.rule == "CF005" }
        #expect(entitlements.map(\.targets) == [["App"], ["Beta"]])
        #expect(entitlements.allSatisfy { $0.configurations == ["Debug", "Release"] })
    }

    @Test("several registrations and handlers of one cause are one finding")
    func registrationsOfOneCause() {
        let late = AppFacts.app(seen: ["a", "b", "c"].map { .registeredTask($0, .view) })
        #expect(AppRules.findings(in: late).filter { $0.diagnostic.rule == "CF021" }.count == 1)
        var unasked = AppFacts.app(seen: ["a", "b"].map { .taskHandler($0) })
        for index in unasked.bundles.indices {
            unasked.bundles[index].sources?.backgroundRequests = .nowhere
        }
        #expect(AppRules.findings(in: unasked).filter { $0.diagnostic.rule == "CF052" }.count == 1)
    }

    @Test(
        "versions are read and compared",
        arguments: [
            ("26.4", SystemVersion(26, 4)), ("26", SystemVersion(26)),
            ("17.0.1", SystemVersion(17)),
            ("", nil), ("26.x", nil), ("1.2.3.4", nil),
        ])
    func versions(text: String, version: SystemVersion?) {
        #expect(SystemVersion(text) == version)
        #expect(SystemVersion(26, 4) > SystemVersion(26, 3))
    }
}
