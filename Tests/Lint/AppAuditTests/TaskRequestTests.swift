// SPDX-License-Identifier: Apache-2.0

import Foundation
import PayloadRules
import Testing

@testable import AppAudit

/// Background tasks that are registered, and whether anything asks for one.
@Suite("Requests for background tasks")
struct TaskRequestTests {
    private static let request =
        "try? BGTaskScheduler.shared.submit(BGAppRefreshTaskRequest(identifier: \"a.b\"))"

    private static func register(_ handler: String) -> String {
        "BGTaskScheduler.shared.register(forTaskWithIdentifier: \"a.b\", using: nil) "
            + "{ task in \(handler) }"
    }

    private static func app(_ launch: String, _ rest: String = "", name: String = "a.b") -> String {
        "class AppDelegate: UIResponder, UIApplicationDelegate {\n"
            + "func application(_ a: UIApplication, didFinishLaunchingWithOptions o: [String: Any])"
            + " -> Bool {\n\(launch.replacing("\"a.b\"", with: "\"\(name)\""))\nreturn true\n}\n"
            + "\(rest)\n}"
    }

    private static func severity(
        _ source: String, _ other: String = "", more: [String: String] = [:]
    ) throws
        -> Severity?
    {
        let folder = try TestFolder()
        try AuditScopeTests.write(
            folder, "App", settings: "",
            objects: "FO = { isa = PBXFileReference; path = Other.swift; sourceTree = \"<group>\"; "
                + "}; BO = { isa = PBXBuildFile; fileRef = FO; };", source: source)
        let path = "App/App.xcodeproj/project.pbxproj"
        try folder.write(
            String(contentsOfFile: folder.path + "/" + path, encoding: .utf8).replacing(
                "files = ( B );", with: "files = ( B, BO );"
            )
            .replacing("children = ( F );", with: "children = ( F, FO );"), to: path)
        try folder.write(other, to: "App/Other.swift")
        for (path, text) in more { try folder.write(text, to: "App/" + path) }
        return try Audit(paths: [folder.path]).report().findings
            .first { $0.diagnostic.rule == "CF052" }?.diagnostic.severity
    }

    @Test("a task that nothing asks for")
    func none() throws {
        #expect(try Self.severity(Self.app(Self.register("run(task)"))) == .warning)
        let scene =
            "@main struct S: App { var body: some Scene { WindowGroup { V() }"
            + ".backgroundTask(.appRefresh(\"a.b\")) { await run() } } }"
        #expect(try Self.severity(scene) == .warning)
    }

    @Test(
        "what may ask for a task",
        arguments: [
            ("Tasks.h", "static inline void ask(void) { [[BGAppRefreshTaskRequest alloc] init]; }"),
            ("shared/Main.kt", "fun schedule() { BGAppRefreshTaskRequest(name) }"),
            ("Macro.inc", "#define ASK(x) [BGTask##x##TaskRequest new]"),
            ("Notes.swift", "// try submit(BGProcessingTaskRequest(identifier: name))"),
            ("Old.swift", "func f() { scheduler.cancel(taskRequestWithIdentifier: \"a.b\") }"),
            ("All.m", "void f(void) { [scheduler cancelAllTaskRequests]; }"),
            ("Use.swift", "import shared\nfunc f() { SKt.schedule() }"),
            ("Use.swift", "@testable import struct TaskVendor.Kit"),
            ("Use.m", "#import <TaskVendor/Vendor.h>"), ("Use.m", "#import \"Vendor.h\""),
            ("Use.swift", "func f() { #schedule(\"a.b\") }"),
        ])
    func others(path: String, text: String) throws {
        let source = Self.app(Self.register("run(task)"))
        #expect(try Self.severity(source, more: [path: text]) == nil)
        #expect(try Self.severity(source, more: [path: "import UIKit"]) == .warning)
        #expect(try Self.severity(source, more: ["Use.swift": "import Vendor"]) == .warning)
    }

    @Test(
        "a library asks for tasks only if its name tells of such",
        arguments: [("Lottie2", Severity.warning), ("SyncKit", nil), ("Firebase/Auth", .warning)])
    func libraries(pod: String, expected: Severity?) throws {
        let more = [
            "Podfile": "target 'App' do\n  pod '\(pod)'\nend",
            "Use.swift": "import \(pod.replacing("/", with: ""))",
        ]
        #expect(
            try Self.severity(Self.app(Self.register("run(task)")), more: more) == expected)
        // What no manifest names may be of the app's makers.
        let other = more.merging(["Use.swift": "import Shared"]) { $1 }
        #expect(try Self.severity(Self.app(Self.register("run(task)")), more: other) == nil)
    }

    @Test("tasks that only handlers ask for")
    func ownHandler() throws {
        let handler = Self.register("self.handle(task)")
        let handle = "func handle(_ task: BGTask) { next()\nrun(task) }\n"
        let next = "func next() { \(Self.request) }"
        let source = Self.app(handler, handle + next)
        #expect(try Self.severity(source) == .warning)
        #expect(try Self.severity(Self.app(Self.register(Self.request))) == .warning)
        #expect(
            try Self.severity(
                Self.app(
                    "BGTaskScheduler.shared.register(forTaskWithIdentifier: \"a.b\", using: nil, "
                        + "launchHandler: handle(_:))", handle + next)) == .warning)
        for (path, text) in [
            ("Tasks.h", "#define NEXT [self next]"),
            ("Tasks.h", "static inline void ask(void) { [BGAppRefreshTaskRequest new]; }"),
            ("Use.swift", "import shared"),
        ] {
            #expect(try Self.severity(source, more: [path: text]) == nil, "\(text)")
        }
    }

    @Test(
        "what asks for a task",
        arguments: [
            app(register("run(task)") + "\n" + request),
            app(
                register("self.next()"),
                "func next() { \(request) }\n"
                    + "func applicationDidEnterBackground(_ a: UIApplication) { next() }"),
            app(register("self.next()") + "\nnext()", "func next() { \(request) }"),
            app(register("self.next()"), "@IBAction func next() { \(request) }"),
            app(register("self.next()"), "@objc func next() { \(request) }"),
            app(
                register("self.next()") + "\nTimer.add(self, #selector(next))",
                "func next() { \(request) }"),
            app(register("self.next()"), "func next() { \(request) }\ndeinit { next() }"),
            app(register("self.next()"), "override func next() { \(request) }"),
            app(
                register("run(task)"),
                "func ask(_ id: String) { \(request) }\n"
                    .replacing("\"a.b\"", with: "id") + "func g() { ask(\"a.b\") }"),
            app(register("run(task)") + "\nlet r: BGAppRefreshTaskRequest = .init(identifier: x)"),
            app(register("run(task)") + "\nask(named: \"BGAppRefreshTaskRequest\")"),
            app(register("run(task)") + "\nask(BGProcessingTaskRequest(identifier: a + \"x\"))"),
            app(register("run(task)") + "\nask(BGProcessingTaskRequest(identifier: \"a.b\"))"),
            app("add(id)", "func add(_ id: String) { \(register("run(task)")) }", name: "id")
                .replacing("\"a.b\"", with: "id"),
            app("#if DEBUG\n\(register("run(task)"))\n#endif"),
            app("", "func unused() { \(register("run(task)")) }"),
            app(register("run(task)"), "func next() { \(request) }"),
            app(register("next()"), "func callAsFunction() { \(request) }"),
        ])
    func asked(source: String) throws {
        #expect(try Self.severity(source) == nil)
    }

    @Test("a task that nothing asks for beside others")
    func oneOfTwo() throws {
        let other = Self.request.replacing("a.b", with: "a.c")
        #expect(try Self.severity(Self.app(Self.register("run(task)") + "\n" + other)) == .warning)
        #expect(
            try Self.severity(Self.app(Self.register("run(task)")), "func f() { \(other) }")
                == .warning)
        let cancel =
            "func g() { BGTaskScheduler.shared.cancel(taskRequestWithIdentifier: \"a.b\") }"
        #expect(
            try Self.severity(Self.app(Self.register("run(task)") + "\n" + other, cancel))
                == .warning)
    }

    @Test(
        "requests whose identifiers are constants of their file",
        arguments: [
            "let id = \"a.c\"\nfunc f() { submit(BGProcessingTaskRequest(identifier: id)) }",
            "enum T { static let id = \"a.c\" }\n"
                + "func f() { submit(BGProcessingTaskRequest(identifier: T.id)) }",
            "enum T: String { case id = \"a.c\" }\n"
                + "func f() { submit(BGProcessingTaskRequest(identifier: T.id.rawValue)) }",
        ])
    func constants(other: String) throws {
        let request = Self.request.replacing("a.b", with: "a.c")
        let source = Self.app(Self.register("run(task)") + "\n" + request)
        #expect(try Self.severity(source, other) == .warning, "\(other)")
    }

    @Test(
        "what may ask for a task beside others",
        arguments: [
            "func f(_ id: String) { submit(BGProcessingTaskRequest(identifier: id)) }",
            // A variable may get another value, and a name of a loop may hide it.
            "class S { var id = \"a.c\"\n"
                + "func f() { submit(BGProcessingTaskRequest(identifier: id)) } }",
            "let id = \"a.c\"\nfunc f() { for id in ids { "
                + "submit(BGProcessingTaskRequest(identifier: id)) } }",
            "let id = \"a.c\"\nfunc f() { ids.forEach { id in "
                + "submit(BGProcessingTaskRequest(identifier: id)) } }",
            "let id = \"a.c\" + suffix\n"
                + "func f() { submit(BGProcessingTaskRequest(identifier: id)) }",
            "enum T { static let id = \"a.c\" }\n"
                + "func f() { submit(BGProcessingTaskRequest(identifier: O.id)) }",
            "func f() { submit(BGProcessingTaskRequest(identifier: prefix + \"b\")) }",
            "func f() { submit(BGProcessingTaskRequest(identifier: \"a.\\(kind)\")) }",
            "func f() { submit(BGProcessingTaskRequest(identifier: Kind.all[0].rawValue)) }",
            "func f() { let r: BGProcessingTaskRequest = .init(identifier: \"a.b\"); submit(r) }",
            "func f<T: BGProcessingTaskRequest>(_ t: T.Type) { submit(t.init(identifier: x)) }",
            "class R: BGProcessingTaskRequest { }",
            "func f() { make(BGProcessingTaskRequest.self) }",
            "func f() { make(NSClassFromString(\"BGProcessingTaskRequest\")) }",
            "func f() { submit(BGProcessingTaskRequest(identifier: \"a.b\")) }",
            "typealias R = BGProcessingTaskRequest",
        ])
    func oneOfMany(other: String) throws {
        let source = Self.app(
            Self.register("run(task)") + "\n"
                + Self.register("run(task)").replacing("a.b", with: "a.c")
                + "\n" + Self.request.replacing("a.b", with: "a.c"))
        #expect(try Self.severity(source, other) == nil, "\(other)")
    }

    @Test("a file of no target, or of another language, may ask for one of several tasks")
    func oneOfManyElsewhere() throws {
        let source = Self.app(
            Self.register("run(task)") + "\n"
                + Self.register("run(task)").replacing("a.b", with: "a.c")
                + "\n" + Self.request.replacing("a.b", with: "a.c"))
        for (path, text) in [
            ("Tasks.h", "#define ASK [[BGAppRefreshTaskRequest alloc] initWithIdentifier:a]"),
            ("shared/Main.kt", "fun schedule() { BGAppRefreshTaskRequest(name) }"),
            ("Use.swift", "import shared"), ("Use.m", "#import <TaskVendor/Vendor.h>"),
        ] {
            #expect(try Self.severity(source, more: [path: text]) == nil, "\(text)")
        }
        #expect(try Self.severity(source, more: ["A.swift": "import UIKit"]) == .warning)
    }

    @Test("another file may ask for it")
    func otherFile() throws {
        let handler = Self.register("self.next()")
        let source = Self.app(handler, "func next() { \(Self.request) }")
        #expect(try Self.severity(source) == .warning)
        #expect(try Self.severity(source, "func g(_ d: AppDelegate) { d.next() }") == nil)
        #expect(try Self.severity(source, "func g() { \(Self.request) }\nlet x = g()") == nil)
    }

    private static let submission =
        "func next() { \(request) }\n"
        + "func applicationDidEnterBackground(_ a: UIApplication) { next() }"

    @Test("a request for a task that nothing registers")
    func unregistered() throws {
        let other = Self.register("run(task)").replacing("a.b", with: "a.c")
        let both = other + "\n" + Self.request.replacing("a.b", with: "a.c")
        #expect(try Self.severity(Self.app("", Self.submission)) == .warning)
        #expect(try Self.severity(Self.app(both, Self.submission)) == .warning)
        #expect(
            try Self.severity(
                Self.app("", "func add() { \(Self.register("run(task)")) }\n" + Self.submission))
                == .warning)
        // The scheduler has a function of that name too.
        #expect(
            try Self.severity(
                Self.app(
                    "", "func register() { \(Self.register("run(task)")) }\n" + Self.submission))
                == .warning)
        let constant = "enum T { static let id = \"a.b\" }\n"
        #expect(
            try Self.severity(
                constant
                    + Self.app(both, Self.submission).replacing("\"a.b\"", with: "T.id"))
                == .warning)
    }

    @Test(
        "what may register a task that is asked for",
        arguments: [
            register("run(task)"), register("run(task)").replacing("\"a.b\"", with: "id"),
            register("run(task)").replacing("\"a.b\"", with: "Other.id"),
            "for id in ids { \(register("run(task)").replacing("\"a.b\"", with: "id")) }",
            "#if BETA\n\(register("run(task)"))\n#endif",
        ])
    func registered(launch: String) throws {
        #expect(try Self.severity(Self.app(launch, Self.submission)) == nil, "\(launch)")
    }

    @Test("another file may register a task that is asked for")
    func registeredElsewhere() throws {
        let source = Self.app("", Self.submission)
        for other in [
            "func add() { \(Self.register("run(task)")) }\nlet x = add()",
            "struct S: App { var body: some Scene {\n"
                + "W().backgroundTask(.appRefresh(\"a.b\")) { }\n} }",
            "struct S: App { var body: some Scene { W().backgroundTask(kind) { } } }",
            "func add(_ id: String) { "
                + Self.register("run(task)").replacing("\"a.b\"", with: "id")
                + " }\nlet x = add(y)",
        ] {
            #expect(try Self.severity(source, other) == nil, "\(other)")
        }
        for (path, text) in [
            ("Tasks.h", "#define ADD(x) [s registerForTaskWithIdentifier:x usingQueue:nil]"),
            ("shared/Main.kt", "fun add() { registerForTaskWithIdentifier(name) }"),
            ("Use.swift", "import shared"), ("Use.m", "#import <TaskVendor/Vendor.h>"),
        ] {
            #expect(try Self.severity(source, more: [path: text]) == nil, "\(text)")
        }
        // Nothing calls what asks for it.
        #expect(try Self.severity(Self.app("", "func unused() { \(Self.request) }")) == nil)
    }
}
