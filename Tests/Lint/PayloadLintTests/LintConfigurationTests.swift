// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import PayloadLint

@Suite("Configuration files")
struct LintConfigurationTests {
    private static func read(_ yaml: String) throws(LintProblem) -> LintConfiguration {
        try LintConfiguration(yaml: yaml, file: "x.yaml")
    }

    @Test("every key is read")
    func keys() throws {
        let configuration = try Self.read(
            """
            severity:
              BG004: warning
              BG018: off
            push-types: [newtype, other]
            call-id-keys:
              - call
            reserved-keys: [mine.*]
            authentication: certificate
            thresholds:
              voip-expiration-seconds: 5
              background-per-hour: 2
            exclude: ["**/package.json"]
            sends: {App: [voip, alert], Watch: "background,widgets"}
            """)
        #expect(configuration.sends == [])
        #expect(
            configuration.sendsByTarget == [
                "App": [.voip, .alert], "Watch": [.background, .widgets],
            ])
        #expect(try Self.read("sends: [voip]").sends == [.voip])
        #expect(try Self.read("sends: voip, alert").sends == [.voip, .alert])
        #expect(configuration.weights == ["BG004": .severity(.warning), "BG018": .off])
        #expect(configuration.validator.extraPushTypes == ["newtype", "other"])
        #expect(configuration.validator.callIdentifierKeys == ["call"])
        #expect(configuration.validator.reservedKeys == ["mine.*"])
        #expect(configuration.validator.authentication == .certificate)
        #expect(configuration.validator.voipExpirationLimitSeconds == 5)
        #expect(configuration.validator.thresholds.backgroundPerHour == 2)
        #expect(configuration.excluded == [GlobPattern("**/package.json")])
    }

    @Test("every threshold changes something of its own")
    func thresholds() {
        var seen: Set<WakeValidator.Configuration> = [WakeValidator.Configuration()]
        for threshold in Threshold.all {
            var configuration = WakeValidator.Configuration()
            threshold.set(&configuration, 77_777)
            #expect(seen.insert(configuration).inserted, "\(threshold.name)")
        }
        #expect(Set(Threshold.all.map(\.name)).count == Threshold.all.count)
    }

    @Test("an empty file says nothing", arguments: ["", "# nothing\n", "---\n", "~\n"])
    func empty(yaml: String) throws {
        let configuration = try Self.read(yaml)
        #expect(configuration.weights.isEmpty)
        #expect(configuration.validator == WakeValidator.Configuration())
    }

    @Test(
        "what is wrong is named with its line and what to do",
        arguments: [
            ("a: 1\nserverity: {}", "x.yaml:1: a is no key"),
            (
                "push-types: []\nserverity: {}",
                "x.yaml:2: serverity is no key that Rouse knows. Did you mean severity?"
            ),
            (
                "severity:\n  BG04: off",
                "x.yaml:2: severity.BG04 is no key that Rouse knows. Did you mean BG004?"
            ),
            (
                "severity: {BG004: fatal}",
                "x.yaml:1: severity.BG004 is no severity. Write error, warning, note or off."
            ),
            ("severity: {BG004: [off]}", "severity.BG004 is not a single value"),
            ("severity: []", "x.yaml:1: severity is not a mapping"),
            ("push-types: x", "push-types is not a list of texts"),
            ("push-types: [[]]", "push-types is not a list of texts"),
            ("thresholds: {background-per-hours: 1}", "Did you mean background-per-hour?"),
            ("thresholds: {background-per-hour: -1}", "is not a whole number from 0 to"),
            ("thresholds: {background-per-hour: 1h}", "is not a whole number from 0 to"),
            ("authentication: tokens", "authentication is neither token nor certificate"),
            (
                "sends: {App: [viop]}",
                "sends.App names `viop`, which is no kind of push. Did you mean voip?"
            ),
            ("sends: [[voip]]", "sends names what is no kind of push"),
            ("- 1", "x.yaml:1: the file is not a mapping"),
            ("severity: {", "x.yaml:2:"), ("a: 1\na: 2", "x.yaml:1: a appears twice"),
        ])
    func problems(yaml: String, message: String) {
        #expect {
            try Self.read(yaml)
        } throws: { error in
            let problem = error as? LintProblem
            return problem?.kind == .configuration && problem?.message.contains(message) == true
        }
    }

    @Test("the nearest file above counts, and each is read once")
    func search() throws {
        let folder = try TestFolder()
        try folder.write("severity: {BG004: off}\n", to: "a/.rouse-lint.yaml")
        try folder.write("severity: {BG004: note}\n", to: "a/b/.rouse-lint.yaml")
        try folder.write("", to: "a/c/d/x.json")
        var search = SettingsSearch(.nearest)
        let outer = try search.index(forFolder: folder.path + "/a")
        let inner = try search.index(forFolder: folder.path + "/a/b")
        let below = try search.index(forFolder: folder.path + "/a/c/d")
        #expect(outer == below)
        #expect(search.found[outer].configuration.weights == ["BG004": .off])
        #expect(search.found[inner].configuration.weights == ["BG004": .severity(.note)])
        #expect(search.found.count == 2)
    }

    @Test("a policy selects, ignores and weighs")
    func policy() throws {
        var policy = RulePolicy()
        #expect(policy.severity(of: "BG004", .error) == .error)
        policy.weights = ["BG004": .severity(.note), "BG018": .off]
        #expect(policy.severity(of: "BG004", .error) == .note)
        #expect(policy.severity(of: "BG018", .note) == nil)
        policy.selected = try RuleSelection(["bg"])
        #expect(policy.severity(of: "G001", .error) == nil)
        #expect(policy.severity(of: "BG001", .error) == .error)
        policy.ignored = try RuleSelection(["BG001,G002"])
        #expect(policy.severity(of: "BG001", .error) == nil)
        #expect(throws: LintProblem(.usage, "BG4 is no rule. Did you mean BG004?")) {
            try RuleSelection(["BG4"])
        }
        #expect(throws: LintProblem.self) { try RuleSelection(["zzz"]) }
    }
}
