// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Time in the background that nothing of the app ends.
@Suite("Time that nothing ends")
struct UnendedTimeTests {
    private static let begin = "id = UIApplication.shared.beginBackgroundTask"
    private static let end = "UIApplication.shared.endBackgroundTask"
    private static let property = "var id: UIBackgroundTaskIdentifier = .invalid"

    private static func messages(
        _ source: String, _ other: String = "", _ path: String = "A.swift"
    ) throws -> [String] {
        try TestFolder.messages(
            of: "CF045",
            [path: source, "Other.swift": "func launch() { A().f() }\n" + other])
    }

    private static let none = "nothing calls endBackgroundTask"
    private static let kept =
        "a property keeps the identifier of beginBackgroundTask, and nothing ends its time"

    /// A type that begins time, and more.
    private static func type(_ rest: String, property: String = property) -> String {
        "class A {\n\(property)\nfunc f() {\n\(begin) { self.endBackgroundTask() }\n}\n\(rest)\n}\n"
    }

    @Test(
        "functions of the app with the name of the application's do not end it",
        arguments: [
            type("func endBackgroundTask() { id = .invalid }"),
            type("func endBackgroundTask() {\nif id != .invalid { log(1) }\nid = .invalid\n}"),
            type("func endBackgroundTask() { finish(1) }\n")
                + "extension A { func finish(_ i: Int) { log(i) } }",
            type("func endBackgroundTask(for name: String = \"\") { id = .invalid }"),
        ])
    func ownFunctions(source: String) throws {
        #expect(try Self.messages(source) == [Self.none], "\(source)")
        let other = "func g() { A().endBackgroundTask() }"
        #expect(try Self.messages(source, other) == [Self.none], "\(source)")
    }

    @Test("an identifier that only comparisons use, in an app that ends other time")
    func kept() throws {
        let rest = "func endBackgroundTask() { if id != .invalid { id = .invalid } }"
        let other = "func g(_ x: UIBackgroundTaskIdentifier) { \(Self.end)(x) }\n"
        for property in [Self.property, "private " + Self.property] {
            let source = Self.type(rest, property: property)
            #expect(try Self.messages(source, other) == [Self.kept])
        }
        // Another file may end this one.
        let open = Self.type(rest)
        let found = try Self.messages(open, other + "func h(_ a: A) { g(a.id) }")
        #expect(!found.contains(Self.kept))
    }

    @Test("only another file ends it")
    func otherFile() throws {
        let source = "class A {\n\(Self.property)\nfunc f() {\n\(Self.begin) { log(1) }\n}\n}\n"
        for end in [
            "extension A { func stop() { \(Self.end)(id) } }",
            "func g(_ a: A) { \(Self.end)(a.id) }",
        ] {
            let found = try Self.messages(source, end)
            #expect(!found.contains(Self.kept) && !found.contains(Self.none))
        }
        #expect(
            try Self.messages(source, "func g(_ i: Int) { app.endBackgroundTask(i) }") == [
                Self.kept
            ])
    }

    @Test(
        "an end of any form",
        arguments: [
            type("func endBackgroundTask() { \(end)(id) }"),
            type("func endBackgroundTask() {\nlet x = id\n\(end)(x)\n}"),
            type("func endBackgroundTask() { if let x = [id].first { \(end)(x) } }"),
            type("func endBackgroundTask() { application.endBackgroundTask(id) }"),
            type(
                "func endBackgroundTask() {\n[id].forEach(app.endBackgroundTask)\n}"
            ),
            type("func endBackgroundTask() { let x = app.endBackgroundTask\nx(id) }"),
            type("func endBackgroundTask() { id.end() }")
                + "extension UIBackgroundTaskIdentifier { func end() { \(end)(self) } }",
            type("func endBackgroundTask() { endBackgroundTask(id) }")
                + "extension UIApplication { func f(_ x: UIBackgroundTaskIdentifier) "
                + "{ endBackgroundTask(x) } }",
        ])
    func ended(source: String) throws {
        let found = try Self.messages(source)
        #expect(!found.contains(Self.none) && !found.contains(Self.kept), "\(source)")
    }

    @Test("a local identifier that a path only sets to nothing")
    func setToNothing() throws {
        let local = """
            class A {
            func f() {
            let app = UIApplication.shared
            var id = UIBackgroundTaskIdentifier.invalid
            id = app.beginBackgroundTask {
            app.endBackgroundTask(id)
            id = .invalid
            }
            load { done in
            if done {
            app.endBackgroundTask(id)
            }
            id = .invalid
            }
            }
            }
            """
        let gap = "a path behind beginBackgroundTask does not reach endBackgroundTask"
        #expect(try Self.messages(local) == [gap])
        #expect(try Self.messages(local.replacing("if done {", with: "do {")).isEmpty)
    }

    @Test("a module that is not read cannot name a property of the app")
    func modules() throws {
        let rest = "func endBackgroundTask() { if id != .invalid { id = .invalid } }"
        let other = "import Foreign\nfunc g(_ x: UIBackgroundTaskIdentifier) { \(Self.end)(x) }\n"
        #expect(try Self.messages(Self.type(rest), other) == [Self.kept])
        let handed = "func h(_ a: A) { Foreign.end(a.id) }"
        #expect(try !Self.messages(Self.type(rest), other + handed).contains(Self.kept))
    }

    @Test("Objective-C: a method of the app without an identifier")
    func objectiveC() throws {
        let source = """
            @implementation A
            - (void)f {
                self.task = [UIApplication.sharedApplication
                    beginBackgroundTaskWithExpirationHandler:^{ [self endBackgroundTask]; }];
            }
            - (void)endBackgroundTask {
                REPLACED
                self.task = UIBackgroundTaskInvalid;
            }
            @end
            """
        let idle = source.replacing("REPLACED", with: "")
        #expect(try Self.messages(idle, "", "A.m") == [Self.none])
        let end = "[UIApplication.sharedApplication endBackgroundTask:self.task];"
        let found = try Self.messages(source.replacing("REPLACED", with: end), "", "A.m")
        #expect(!found.contains(Self.none) && !found.contains(Self.kept))
    }
}
