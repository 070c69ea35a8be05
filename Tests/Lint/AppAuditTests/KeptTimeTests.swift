// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Time in the background whose identifier other files could use, or that a function ends which
/// only its expiration handler calls.
@Suite("Time of a property that lasts until it expires")
struct KeptTimeTests {
    private static let begin = "UIApplication.shared.beginBackgroundTask"
    private static let end = "UIApplication.shared.endBackgroundTask"
    private static let stop = "func stop() {\n\(end)(id)\nid = .invalid\n}\n"

    /// A class with an identifier, the body of an expiration handler, and more.
    private static func type(
        _ handler: String, _ rest: String = "", behind: String = "",
        property: String = "var id: UIBackgroundTaskIdentifier = .invalid", head: String = "class A"
    ) -> String {
        "\(head) {\n\(property)\nfunc f() {\nid = \(begin) {\n\(handler)\n}\n\(behind)\n}\n"
            + "\(rest)}\n"
    }

    private static func rules(
        _ source: String, _ other: String = "", _ path: String = "A.swift",
        more: [String: String] = [:]
    ) throws -> [RuleID] {
        let folder = try TestFolder()
        try folder.write(
            XML.dictionary([
                ("CFBundlePackageType", "<string>APPL</string>"), ("LSRequiresIPhoneOS", "<true/>"),
            ]), to: "Info.plist")
        try folder.write(source, to: path)
        try folder.write("func launch() { A().f() }\n" + other, to: "Other.swift")
        for (path, text) in more { try folder.write(text, to: path) }
        let report = try Audit(paths: [folder.path]).report()
        return report.findings.filter { finding in
            finding.diagnostic.message.contains("only its expiration")
        }
        .map(\.diagnostic.rule)
    }

    @Test(
        "only the expiration handler ends it",
        arguments: [
            type("\(end)(id)"), type("\(end)(self.id)\nself.id = .invalid", behind: "save()"),
            type(
                "\(end)(self.id!)\nself.id = nil", property: "var id: UIBackgroundTaskIdentifier?"),
            type("\(end)(id)", "func g() { id = .invalid }\n"),
            type("\(end)(id)", "func g() { if id == .invalid { f() } }\n"),
            type("\(end)(id)", property: "private var id = UIBackgroundTaskIdentifier.invalid"),
            type("\(end)(id)", head: "final class A: UIViewController"),
            type("\(end)(id)", head: "class AppDelegate: UIResponder, UIApplicationDelegate")
                + "typealias A = AppDelegate\n",
            type("self.stop()", stop), type("[weak self] in\nself?.stop()", "private " + stop),
            type("[weak self] in\nguard let self else { return }\nstop()", stop),
            type("log(1)\nself.stop()", stop, behind: "Task { await sync() }"),
            type(
                "self.stop()",
                "private func stop() {\nguard id != .invalid else { return }\n\(end)(id)\n}\n"),
            type(
                "self.stop()", "func stop() { if let id { \(end)(id) } }\n",
                property: "var id: UIBackgroundTaskIdentifier?"),
            type(
                "self.stop()",
                "func stop() {\nswitch id {\ncase .invalid: break\ndefault: \(end)(id)\n}\n}\n"),
            type("self.stop()", "func stop() { id == .invalid ? log(1) : \(end)(id) }\n"),
        ])
    func lasting(source: String) throws {
        #expect(try Self.rules(source) == ["CF045"])
        // Another file ends time that is another's, or uses a variable of this name.
        #expect(try Self.rules(source, "func g() { let id = 1\nprint(id) }") == ["CF045"])
    }

    @Test(
        "something else may end it",
        arguments: [
            type("\(end)(id)", "func g() { \(end)(id) }\n"),
            type("\(end)(id)", behind: "save { \(end)(self.id) }"),
            type("\(end)(id)", behind: "defer { \(end)(id) }\nsave()"),
            type("\(end)(id)", "deinit { \(end)(id) }\n"),
            type("\(end)(id)", "func g() { let old = id\nend(old) }\n"),
            type("\(end)(id)", "func g() { end(&id) }\n"), type("\(end)(id)", behind: "keep(id)"),
            type("\(end)(id)", "func g() { run(\\.id) }\n"),
            type("\(end)(id)", "func g() { set(1, forKey: \"id\") }\n"),
            type("\(end)(id)", "func g() { log(\"\\(stop(id))\") }\n"),
            type("\(end)(id)", behind: "save()\nexit(0)"),
            type("\(end)(id)", "func g() { id = \(begin) { } }\n"),
            type("\(end)(id)", property: "@Time var id: UIBackgroundTaskIdentifier = .invalid"),
            type("\(end)(id)", property: "@A.B(1)\nvar id: UIBackgroundTaskIdentifier = .invalid"),
            type("\(end)(id)", property: "var id = none { didSet { stop() } }"),
            type("\(end)(id)", property: "var id: UIBackgroundTaskIdentifier = .init(rawValue: 1)"),
            type(
                "\(end)(id)", property: "public var id: UIBackgroundTaskIdentifier = .invalid",
                head: "public class A"),
            type("\(end)(id)", property: "let other = 1", head: "class A: Base"),
            type("\(end)(id)") + "extension A { func g() { \(end)(id) } }\n",
            type("self.stop()", stop, behind: "stop()"),
            type("self.stop()", stop, behind: "save { [weak self] in self?.stop() }"),
            type("self.stop()", stop, behind: "Task { await sync(); stop() }"),
            type("self.stop()", stop + "deinit { stop() }\n"),
            type("self.stop()", stop + "func g() { stop() }\n"),
            type("self.stop()", stop, behind: "run(then: stop)"),
            type("self.stop()", stop, behind: "on(#selector(stop))"),
            type("self.stop()", "@objc " + stop), type("self.stop()", "@IBAction " + stop),
            type("self.stop()", "override " + stop, head: "class A: Base"),
            type("self.stop()", stop, head: "class A: Service"),
            type("self.stop()", stop, behind: "perform(\"stop\")"),
            type("self.stop()", stop.replacing("stop()", with: "stop(_ n: Int = 1)"))
                .replacing("self.stop()", with: "self.stop(1)") + "func g(a: A) { a.stop(2) }\n",
            type("self.stop()", stop + stop.replacing("stop()", with: "stop(_ n: Int)")),
            type("self.stop()"), type("other.stop()", stop),
        ])
    func ended(source: String) throws {
        #expect(try Self.rules(source) == [])
    }

    @Test("another file may end it")
    func otherFiles() throws {
        let open = Self.type("\(Self.end)(id)")
        #expect(try Self.rules(open) == ["CF045"])
        #expect(try Self.rules(open, "func g(a: A) { \(Self.end)(a.id) }") == [])
        #expect(
            try Self.rules(
                open, "func g(a: A) { ender.end(a.id) }", more: ["E.swift": "\(Self.end)(x)"])
                == [])
        #expect(try Self.rules(open, more: ["E.swift": "let a = \(Self.end)(x)"]) == ["CF045"])
        let helper = Self.type("self.stop()", Self.stop)
        #expect(try Self.rules(helper) == ["CF045"])
        #expect(try Self.rules(helper, "func g(a: A) { a.stop() }") == [])
        #expect(try Self.rules(helper, "let end = \\A.stop") == [])
        #expect(
            try Self.rules(
                Self.type(
                    "self.stop()", "private " + Self.stop,
                    property: "private var id = UIBackgroundTaskIdentifier.invalid"),
                "func g(a: B) { a.stop(); \(Self.end)(a.id) }") == ["CF045"])
    }

    @Test("in Objective-C")
    func objectiveC() throws {
        func rules(_ begin: String, _ rest: String = "", _ header: String = "") throws -> [RuleID] {
            try Self.rules(
                "#import \"A.h\"\n#define LIMIT 3\n@implementation A\n- (void)application:(id)a "
                    + "didFinishLaunchingWithOptions:(id)o {\n\(begin)\n}\n\(rest)\n@end", "",
                "A.m",
                more: ["A.h": header])
        }
        let call = "[app beginBackgroundTaskWithExpirationHandler:^{ [app endBackgroundTask:"
        let kept = "_time = \(call)_time]; _time = UIBackgroundTaskInvalid; }];"
        #expect(try rules(kept) == ["CF045"])
        #expect(try rules("self.time = \(call)self.time]; }];\n[self save];") == ["CF045"])
        #expect(try rules("if (_time == UIBackgroundTaskInvalid) { \(kept) }") == ["CF045"])
        #expect(
            try rules(kept, "- (void)g { _time = UIBackgroundTaskInvalid; }") == ["CF045"])
        for rest in [
            "- (void)g { [app endBackgroundTask:_time]; }",
            "- (void)g { [app endBackgroundTask:self.time]; }",
            "- (void)g { [self end:[self time]]; }", "- (void)g { [self setTime:other]; }",
            "- (void)g { UIBackgroundTaskIdentifier old = _time; [self end:old]; }",
            "- (void)g { [self setValue:@1 forKey:@\"time\"]; }",
            "- (void)g { [self end:&_time]; }",
        ] {
            #expect(try rules(kept, rest) == [], "\(rest)")
        }
        #expect(try rules(kept, "", "#define END [app endBackgroundTask:_time]") == [])
        #expect(try rules(kept, "", "#define NAME @\"a\"\n#define B   2.5f ") == ["CF045"])
        #expect(try rules(kept + "\nexit(0);") == [])
    }

    @Test("a message to a variable for the object itself")
    func variableForSelf() throws {
        func rules(_ start: String, _ message: String, _ rest: String = "") throws -> [RuleID] {
            try Self.rules(
                "@implementation AppDelegate\n- (void)applicationDidEnterBackground:(id)a {\n"
                    + "\(start)\n_time = [app beginBackgroundTaskWithExpirationHandler:^{ "
                    + "\(message) }];\n\(rest)\n}\n"
                    + "- (void)endTime {\n[app endBackgroundTask:_time];\n"
                    + "_time = UIBackgroundTaskInvalid;\n}\n@end", "", "A.m")
        }
        let weak = "__weak typeof(self) weakSelf = self;"
        #expect(try rules("", "[self endTime];") == ["CF045"])
        #expect(try rules(weak, "[weakSelf endTime];") == ["CF045"])
        let strong = "__strong typeof(weakSelf) own = weakSelf; [own endTime];"
        #expect(try rules(weak, strong) == ["CF045"])
        #expect(try rules("id weakSelf = other;", "[weakSelf endTime];") == [])
        #expect(try rules(weak, "[weakSelf endTime];", "[weakSelf endTime];") == [])
        #expect(try rules(weak, "[weakSelf endTime];", "weakSelf = other;") == [])
    }

    @Test("what was not read may end it")
    func unread() throws {
        let open = Self.type("\(Self.end)(id)")
        #expect(try Self.rules(open, more: ["App/A.h": "void begin(void);"]) == ["CF045"])
        for (path, text) in [
            ("Ends.swift", "import Ender\nfunc g(a: A) { end(a.id) }"),
            ("Ends.h", "static inline void end(A *a) { [app endBackgroundTask:a.id]; }"),
            ("App.pch", "#define END(a) [app endBackgroundTask:[a id]]"),
        ] {
            #expect(try Self.rules(open, more: [path: text]) == [], "\(path)")
        }
    }

    @Test("in Objective-C another name of the variable may be used")
    func synthesized() throws {
        func rules(_ synthesize: String, _ rest: String = "") throws -> [RuleID] {
            try Self.rules(
                "@implementation A\n\(synthesize)\n- (void)application:(id)a "
                    + "didFinishLaunchingWithOptions:(id)o {\nself.time = [app "
                    + "beginBackgroundTaskWithExpirationHandler:^{ [app endBackgroundTask:"
                    + "self.time]; }];\n}\n\(rest)\n@end", "", "A.m")
        }
        #expect(try rules("@synthesize time;") == ["CF045"])
        #expect(try rules("@synthesize time = _time;") == ["CF045"])
        let end = "- (void)g { [app endBackgroundTask:NAME]; }"
        for name in ["time_", "mTime"] {
            let own = "@synthesize time = \(name);"
            #expect(try rules(own, end.replacing("NAME", with: name)) == [], "\(name)")
        }
        #expect(try rules("@synthesize other, time = t;") == [])
    }

    @Test("an extension that Objective-C sees has functions with other names")
    func shownExtension() throws {
        let plain = "extension A {\n\(Self.stop)}\n"
        #expect(try Self.rules(Self.type("self.stop()") + plain) == ["CF045"])
        #expect(try Self.rules(Self.type("self.stop()") + "@objc " + plain) == [])
    }
}
