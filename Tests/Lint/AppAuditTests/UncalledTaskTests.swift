// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Tasks in functions that nothing calls.
@Suite("Tasks in functions without a caller")
struct UncalledTaskTests {
    private static func rules(_ texts: String...) throws -> [RuleID] {
        let folder = try TestFolder()
        try folder.write(
            XML.dictionary([
                ("CFBundlePackageType", "<string>APPL</string>"),
                ("LSRequiresIPhoneOS", "<true/>"),
                ("BGTaskSchedulerPermittedIdentifiers", XML.array("a.b")),
            ]), to: "Info.plist")
        for (index, text) in texts.enumerated() { try folder.write(text, to: "F\(index).swift") }
        let report = try Audit(paths: [folder.path]).report()
        let told = report.findings.filter { $0.diagnostic.severity != .note }
        return told.map(\.diagnostic.rule).filter { ["CF020", "CF021", "CF049"].contains($0) }
    }

    @Test("an app that permits a task and has none is told, where no mode tells of it")
    func leftover() throws {
        func messages(_ modes: [String], _ source: String, pod: String? = nil) throws -> [String] {
            let folder = try TestFolder()
            try AuditScopeTests.write(
                folder, "App",
                settings: "INFOPLIST_KEY_UIBackgroundModes = \"\(modes.joined(separator: " "))\"; "
                    + "INFOPLIST_KEY_BGTaskSchedulerPermittedIdentifiers = a.b;", source: source)
            if let pod {
                try folder.write("target 'App' do\n  pod '\(pod)'\nend", to: "App/Podfile")
            }
            return try Audit(paths: [folder.path]).report().findings
                .filter { ["CF019", "CF052"].contains($0.diagnostic.rule) }
                .map(\.diagnostic.message)
        }
        let told = "`a.b` is permitted, and the app has no background tasks"
        #expect(try messages([], "let x = 1") == [told])
        #expect(try messages([], "let x = 1", pod: "Stripe") == [told])
        #expect(try messages([], "let x = 1", pod: "workmanager") == [])
        let asks = "let r = BGAppRefreshTaskRequest(identifier: \"a.b\")"
        #expect(try messages([], asks).contains(told) == false)
        #expect(try messages(["fetch"], "let x = 1").contains(told) == false)
    }

    private static func register(_ name: String, _ identifier: String = "x.y") -> String {
        "enum S {\nstatic func \(name)() {\nBGTaskScheduler.shared.register("
            + "forTaskWithIdentifier: \"\(identifier)\", using: nil) { t in f(t) }\n}\n}\n"
    }

    @Test("what it registers is none of the app's", arguments: ["register", "registerTasks"])
    func uncalled(name: String) throws {
        let dead = Self.register(name)
        #expect(try Self.rules(dead) == [])
        #expect(try Self.rules(Self.register("setUp", "x.setUp")) == [])
        #expect(try Self.rules(dead, "let x = 1\n// S.\(name)()\n") == [])
        let launch =
            "@main struct M: App { init() { BGTaskScheduler.shared.register("
            + "forTaskWithIdentifier: \"a.b\", using: nil) { t in f(t) } } }\n"
        #expect(try Self.rules(Self.register(name, "a.b"), launch) == [])
    }

    @Test(
        "something calls it, or may",
        arguments: [
            "func g() { S.NAME() }", "let f = S.NAME\n", "func g() { run(S.NAME) }",
            "extension S { func g() { NAME() } }", "func g() { s.NAME() }",
            "func g() { [S.self].forEach { $0.NAME() } }",
        ])
    func called(use: String) throws {
        for name in ["register", "registerTasks"] {
            let other = use.replacing("NAME", with: name)
            #expect(try Self.rules(Self.register(name), other) == ["CF020"], "\(other)")
        }
    }

    @Test("the system may call it")
    func system() throws {
        for (start, function) in [
            ("class S: NSObject {\n@objc ", "register"), ("class S: Plugin {\n", "register"),
            ("public class S {\npublic ", "register"), ("class S: Base {\noverride ", "register"),
            ("extension S {\n", "register"), ("class S: UIViewController {\n", "viewDidLoad"),
        ] {
            let source = Self.register(function)
                .replacing("enum S {\nstatic ", with: start)
            #expect(try Self.rules(source).contains("CF020"), "\(start)")
        }
    }
}
