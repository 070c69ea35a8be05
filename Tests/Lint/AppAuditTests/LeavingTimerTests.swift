// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Timers of an app with several files that start when it leaves the foreground.
@Suite("Timers when the app leaves the foreground")
struct LeavingTimerTests: SourceFaultSuite {
    private static func rules(_ files: [String: String]) throws -> [RuleID] {
        let folder = try TestFolder()
        try folder.write(
            XML.dictionary([
                ("CFBundlePackageType", "<string>APPL</string>"), ("LSRequiresIPhoneOS", "<true/>"),
            ]), to: "Info.plist")
        for (name, text) in files { try folder.write(text, to: name) }
        return try Audit(paths: [folder.path]).report().findings.map(\.diagnostic.rule)
            .filter { $0 == "CF047" }
    }

    private static let timer =
        "class A {\nfunc applicationDidEnterBackground(_ a: A) {\nkeeper.begin()\n"
        + "timer = Timer.scheduledTimer(withTimeInterval: 9, repeats: true) { _ in f() }\n}\n}\n"

    @Test("another file asks for time, which may be for the timer")
    func otherFile() throws {
        #expect(try Self.rules(["A.swift": Self.timer]) == ["CF047"])
        #expect(try Self.rules(["A.swift": Self.timer, "B.swift": "let a = 1\n"]) == ["CF047"])
        let swift = "func begin() { id = UIApplication.shared.beginBackgroundTask { end() } }\n"
        let expiring = "func begin() { info.performExpiringActivity(withReason: \"a\") { _ in } }\n"
        let macro = "#define BEGIN [app beginBackgroundTaskWithExpirationHandler:nil]\n"
        for (name, text) in [
            ("B.swift", swift), ("B.swift", expiring), ("B.h", macro), ("B.pch", macro),
            ("B.m", "@implementation B\n- (void)begin { BEGIN; }\n@end\n" + macro),
        ] {
            #expect(try Self.rules(["A.swift": Self.timer, name: text]) == [], "\(name)")
        }
        #expect(try Self.rules(["A.swift": Self.timer + swift]) == [])
    }

    private static let leave =
        "class A {\nlet keeper: Keeper = make()\nfunc applicationDidEnterBackground(_ a: A) {\n"
        + "CALL\n}\n}\n"
    private static let start =
        "t = Timer.scheduledTimer(withTimeInterval: 9, repeats: true) { _ in f() }\n"

    private static func isTold(
        _ call: String, _ keeper: String, more: String = ""
    ) throws -> Bool {
        try rules([
            "A.swift": leave.replacing("CALL", with: call),
            "B.swift": "class Keeper {\nstatic let shared = Keeper()\n\(keeper)\n}\n" + more,
        ]) == ["CF047"]
    }

    @Test("an object of another file starts a timer")
    func otherObject() throws {
        let begin = "func begin() {\n\(Self.start)}"
        for call in ["Keeper.shared.begin()", "keeper.begin()", "log(1)\nself.keeper.begin()"] {
            #expect(try Self.isTold(call, begin), "\(call)")
        }
        #expect(try Self.isTold("Keeper.begin()", "static " + begin))
        #expect(
            try Self.isTold("keeper.begin()", "func begin() {\nt?.invalidate()\n\(Self.start)}"))
        for call in [
            "keeper.end()", "if a.isOn { keeper.begin() }", "keeper.begin(1)", "other.begin()",
            "guard isOn else { return }\nkeeper.begin()", "run { keeper.begin() }",
            "id = a.beginBackgroundTask { }\nkeeper.begin()", "keeper.later = { keeper.begin() }",
        ] {
            #expect(try !Self.isTold(call, begin), "\(call)")
        }
        for keeper in [
            "func begin() {\n\(Self.start.replacing("true", with: "false"))}",
            "func begin() { if isOn {\n\(Self.start)} }",
            "func begin() {\nguard isOn else { return }\n\(Self.start)}",
            "func begin() {\nguard applicationState == x else { return }\n\(Self.start)}",
            "func begin() {\n\(Self.start)t.invalidate()\n}",
            "func begin() {\nfunc go() {\n\(Self.start)}\n}",
            "func begin() { run {\n\(Self.start)} }",
            "func begin() {\nid = app.beginBackgroundTask { }\n\(Self.start)}",
            "func begin() { }\nfunc other() {\n\(Self.start)}",
            begin + "\nfunc begin() async { }",
        ] {
            #expect(try !Self.isTold("keeper.begin()", keeper), "\(keeper)")
        }
        for more in [
            "class Idle: Keeper { override func begin() { } }",
            "func g() { id = UIApplication.shared.beginBackgroundTask { } }",
            "func g() { info.performExpiringActivity(withReason: \"a\") { _ in } }",
        ] {
            #expect(try !Self.isTold("keeper.begin()", begin, more: more), "\(more)")
        }
        let required = "protocol Keeper { func begin() }\nclass One: Keeper {\n\(begin)\n}\n"
        let files = ["A.swift": Self.leave.replacing("CALL", with: "keeper.begin()")]
        #expect(try Self.rules(files.merging(["B.swift": required]) { $1 }) == [])
    }

    @Test("a label of a case is no variable with a type")
    func labels() {
        func faults(_ label: String, _ end: String) -> Set<Fault> {
            Self.faults(
                "class A {\nfunc applicationDidEnterBackground(_ a: A) {\nswitch state {\n"
                    + "\(label)\ntimer = Timer.scheduledTimer(withTimeInterval: 9) {}\n}\n"
                    + "\(end)\n}\n}")
        }
        for label in ["case on:", "case .on:", "case a, b:", "case let x:", "default:"] {
            #expect(faults(label, "timer.invalidate()") == [], "\(label)")
            #expect(faults(label, "other.invalidate()") == [.timerInBackground], "\(label)")
        }
    }

    @Test("thousands of timers in a function take no quadratic time", .timeLimit(.minutes(10)))
    func thousands() {
        let timer = "t = Timer.scheduledTimer(withTimeInterval: 9, repeats: true) { _ in f() }\n"
        let timers = String(repeating: timer, count: 2000)
        let leave = "class A {\nfunc applicationDidEnterBackground(_ a: A) { poll() }\n"
        #expect(Self.faults(leave + "func poll() {\n\(timers)}\n}") == [.timerInBackground])
        let begin = "let id = UIApplication.shared.beginBackgroundTask { end(id) }\n"
        let open: Set<Fault> = [.assertionPathWithoutEnd]
        #expect(Self.faults("func f() {\n\(begin)\(timers)}") == open)
        let many = (0..<2000).map { "class A\($0) {\nvar id = none\nfunc f() {\n\(begin)}\n}\n" }
        #expect(Self.faults(many.joined()) == [])
    }
}
