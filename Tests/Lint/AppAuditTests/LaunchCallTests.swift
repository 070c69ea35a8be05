// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Functions that register a background task, and how often a launch calls them.
@Suite("Calls by which a launch registers a task again")
struct LaunchCallTests {
    private static let registration =
        "BGTaskScheduler.shared.register(forTaskWithIdentifier: \"a.b\", using: nil) { run($0) }"
    private static let manager =
        "final class Manager {\nstatic let shared = Manager()\nfunc add() {\nREGISTER\n}\n}\n"
    private static let call = "Manager.shared.add()"

    /// The lines that are told of in a delegate, and an app that may make calls too.
    private static func lines(
        will: String = call, did: String = call, manager: String = manager,
        registration: String = registration, rest: String = "", app: String = ""
    ) throws -> [Int?] {
        let folder = try TestFolder()
        try folder.write(
            XML.dictionary([
                ("CFBundlePackageType", "<string>APPL</string>"), ("LSRequiresIPhoneOS", "<true/>"),
                (
                    "BGTaskSchedulerPermittedIdentifiers",
                    "<array><string>a.b</string><string>a.c</string></array>"
                ),
            ]), to: "Info.plist")
        let launch = { (name: String, body: String) in
            body.isEmpty
                ? ""
                : "func application(_ a: UIApplication, "
                    + "\(name)LaunchingWithOptions o: [String: Any])"
                    + " -> Bool {\n\(body)\nreturn true\n}\n"
        }
        try folder.write(
            "class AppDelegate: UIResponder, UIApplicationDelegate {\n"
                + launch("didFinish", did) + launch("willFinish", will) + "\(rest)\n}\n",
            to: "AppDelegate.swift")
        try folder.write(
            manager.replacing("REGISTER", with: registration), to: "Manager.swift")
        try folder.write(app, to: "Main.swift")
        return try Audit(paths: [folder.path]).report().findings.filter { finding in
            finding.diagnostic.message.contains("registers a background task again")
        }
        .map { $0.diagnostic.line }
    }

    @Test("a function that both functions of a launch call")
    func twice() throws {
        #expect(try Self.lines() == [3])
        #expect(try Self.lines(will: "", did: "\(Self.call)\nwork()\n\(Self.call)") == [5])
        #expect(try Self.lines(will: "if #available(iOS 13, *) {\n\(Self.call)\n}") == [3])
        #expect(
            try Self.lines(
                will: "add()", did: "self.add()", manager: "",
                rest: "private func add() {\n\(Self.registration)\n}") == [3])
        #expect(
            try Self.lines(
                manager: "private let id = \"a.b\"\n" + Self.manager,
                registration: Self.registration.replacing("\"a.b\"", with: "id")) == [3])
    }

    private static let main =
        "@main\nstruct Main: App {\n@UIApplicationDelegateAdaptor(AppDelegate.self) var delegate\n"
        + "init() {\nCALL\n}\nvar body: some Scene { WindowGroup { V() } }\n}\n"

    @Test("a function that an app of SwiftUI calls, and its delegate")
    func appAndDelegate() throws {
        let app = Self.main.replacing("CALL", with: Self.call)
        #expect(try Self.lines(will: "", app: app) == [3])
        #expect(try Self.lines(will: "", did: "", app: app) == [])
        #expect(
            try Self.lines(will: "", app: app.replacing("AppDelegate.", with: "Other.")) == [])
        #expect(
            try Self.lines(
                will: "", app: Self.main.replacing("CALL", with: "if isFirst { \(Self.call) }"))
                == [])
    }

    @Test(
        "what runs only once, or may",
        arguments: [
            "", "if isFirst { \(call) }", "guard isFirst else { return true }\n\(call)",
            "later { \(call) }", "#if DEBUG\n\(call)\n#endif", "if x { return true }\n\(call)",
            "if isFirst, #available(iOS 13, *) {\n\(call)\n}", "isFirst ? \(call) : wait()",
            "let done = isFirst && \(call)", "Manager.shared.add(1)", "Other.shared.add()",
            "other.add()", "let add = Manager.shared.add", "func g() { \(call) }",
        ])
    func once(will: String) throws {
        #expect(try Self.lines(will: will) == [], "\(will)")
    }

    @Test(
        "a registration that does not run each time",
        arguments: [
            "guard !isDone else { return }\nisDone = true\n\(registration)",
            "if isDone { return }\n\(registration)", "if !isDone { \(registration) }",
            "once.run { \(registration) }", "_ = once",
            registration.replacing("\"a.b\"", with: "id"),
            "let isNew = !isDone && \(registration)",
        ])
    func registeredOnce(registration: String) throws {
        #expect(try Self.lines(registration: registration) == [], "\(registration)")
    }

    @Test("a function with an argument may register two tasks")
    func twoTasks() throws {
        let manager = Self.manager.replacing("add()", with: "add(_ id: String = \"a.b\")")
        #expect(
            try Self.lines(
                manager: manager, registration: Self.registration.replacing("\"a.b\"", with: "id"))
                == [])
        #expect(try Self.lines(manager: manager) == [])
    }

    @Test("a delegate of Objective-C registers a task in both functions of a launch")
    func objectiveC() throws {
        func count(_ first: String) throws -> Int {
            let folder = try TestFolder()
            try folder.write(
                XML.dictionary([
                    ("CFBundlePackageType", "<string>APPL</string>"),
                    ("LSRequiresIPhoneOS", "<true/>"),
                ]), to: "Info.plist")
            try folder.write(
                """
                @implementation AppDelegate
                - (BOOL)application:(UIApplication *)application
                    willFinishLaunchingWithOptions:(NSDictionary *)options {
                    \(first)
                    return YES;
                }
                - (BOOL)application:(UIApplication *)application
                    didFinishLaunchingWithOptions:(NSDictionary *)options {
                    [self addTasks];
                    return YES;
                }
                - (void)addTasks {
                    [[BGTaskScheduler sharedScheduler] registerForTaskWithIdentifier:@"a.b"
                        usingQueue:nil launchHandler:^(BGTask *task) { [self run:task]; }];
                }
                @end
                """, to: "AppDelegate.m")
            return try Audit(paths: [folder.path]).report().findings.count { finding in
                finding.diagnostic.message.contains("registers a background task again")
            }
        }
        #expect(try count("[self addTasks];") == 1)
        #expect(try count("if (self.isFirst) [self addTasks];") == 0)
        #expect(try count("if (self.isFirst) { [self addTasks]; }") == 0)
        #expect(try count("[self prepare];") == 0)
    }
}
