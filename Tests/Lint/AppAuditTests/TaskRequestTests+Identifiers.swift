// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Tasks that only their own handlers ask for, while others are asked for elsewhere.
extension TaskRequestTests {
    @Test(
        "an identifier that only handlers ask for, beside a library that is known",
        arguments: [
            app(register("self.next()"), "func next() { \(request) }"),
            app(register("self.next()"), "func next() { later { \(request) } }"),
            app(register("Task { await self.next() }"), "private func next() async { \(request) }"),
            app(
                register("self.next()"), "let id = \"a.b\"\nfunc next() { \(request) }"
            )
            .replacing("entifier: \"a.b\"", with: "entifier: id"),
            app(
                register("self.next()"),
                "private static let id: String = \"a.b\"\nfunc next() { \(request) }"
            )
            .replacing("entifier: \"a.b\"", with: "entifier: Self.id"),
            app(
                register("self.next()") + "\n" + request.replacing("a.b", with: "a.c"),
                "func next() { \(request) }"),
            app(
                register("self.next()"),
                "func next() { BGTaskScheduler.shared.cancel(taskRequestWithIdentifier: "
                    + "\"a.b\")\n\(request) }"),
            app(
                register("if task is BGAppRefreshTask { self.next() }"),
                "func next() { \(request) }\nfunc g(r: Any) { _ = r as? BGAppRefreshTaskRequest }"),
        ])
    func ownIdentifier(source: String) throws {
        let vendor = ["Use.swift": "import Alamofire\nfunc f() { start() }"]
        #expect(try Self.severity(source, more: vendor) == .warning)
        for (path, text) in [
            ("Main.kt", "val id = 'a.b'"), ("app.json", "{ \"task\": \"a.b\" }"),
            ("main.dart", "schedule('a.b');"),
            ("Tasks.h", "static void ask(id n) { [BGAppRefreshTaskRequest new]; }"),
        ] {
            let more = vendor.merging([path: text]) { $1 }
            #expect(try Self.severity(source, more: more) == nil, "\(text)")
        }
        // What was not read may ask for each identifier of the Info.plist.
        for unread in ["Use.swift", "Podfile"] {
            let text =
                unread == "Podfile" ? "target 'App' do\npod 'Vendor'\nend\n" : "import Vendor\n"
            #expect(try Self.severity(source, more: vendor.merging([unread: text]) { $1 }) == nil)
        }
        // The library may get the identifier.
        let use = source.replacing("\nreturn true", with: "\nVendor.start(\"a.b\")\nreturn true")
        #expect(try Self.severity(use, more: vendor) == nil)
        for other in [
            "import Alamofire\nfunc f() { start(\"a.b\") }",
            "import Alamofire\nlet id = prefix + \".b\"",
            "import Alamofire\nfunc f(d: AppDelegate) { d.next() }",
            "import Alamofire\nfunc f() { s.submit(BGAppRefreshTaskRequest(identifier: id)) }",
        ] {
            #expect(try Self.severity(source, other) == nil, "\(other)")
        }
    }

    @Test(
        "an identifier that other code may ask for",
        arguments: [
            app(register("self.next()") + "\nnext()", "func next() { \(request) }"),
            app(register("run(task)")),
            app(
                register("run(task)").replacing("a.b", with: "a.c") + "\n"
                    + register("self.next()") + "\n" + request.replacing("a.b", with: "a.c"),
                "func next() { later() }\nfunc later() { run() }"),
            app(
                register("run(task)") + "\n" + register("self.next()").replacing("a.b", with: "a.c")
                    + "\n" + request.replacing("a.b", with: "a.c"), "func next() { \(request) }"),
            app(
                register("run(task)") + "\n"
                    + register("self.next()")
                    .replacing("\"a.b\"", with: "other"), "func next() { \(request) }"),
            app(register("self.next()"), "@objc func next() { \(request) }"),
            app(
                register("self.next()"),
                "func next() { \(request) }\nfunc ask(_ id: String) {\nsubmit("
                    + "BGAppRefreshTaskRequest(identifier: id))\n}\nfunc g() { ask(other) }"),
            app(
                register("self.next()"),
                "func next() { \(request) }\nfunc applicationDidEnterBackground(_ a: UIApplication)"
                    + " { next() }"),
            app(register("self.next()"), "func next() { \(request) }\nlet all = [\"a.b\"]"),
            app(
                register("self.next()"),
                "let id = \"a.b\"\nfunc next() { \(request) }\nfunc g() { Vendor.start(id) }"
            )
            .replacing("entifier: \"a.b\"", with: "entifier: id"),
            app(
                register("self.next()"),
                "func next() { \(request) }\nfunc g() { Vendor.start(\"\\(bundle).b\") }"),
            app(
                register("self.next()"),
                "func next() { \(request) }\nlet kind = NSClassFromString("
                    + "\"BGAppRefreshTaskRequest\")"),
            app(
                register("self.next()"),
                "func next() { \(request) }\nfunc g() { let r: BGAppRefreshTaskRequest = "
                    + ".init(identifier: x) }"),
        ])
    func openIdentifier(source: String) throws {
        #expect(try Self.severity(source, more: ["Use.swift": "import Alamofire"]) == nil)
    }

    @Test("an identifier that ends in the name of a function")
    func functionNames() throws {
        let other = Self.request.replacing("a.b", with: "a.c")
        let next = "func next() { \(Self.request) }\n"
        let source = Self.app(Self.register("self.next()") + "\n" + other, next)
            .replacing("a.b", with: "a.next")
        #expect(try Self.severity(source) == .warning)
        let selector = Self.app(
            Self.register("self.next()") + "\n" + other, next + "let all = [\"next\"]"
        ).replacing("a.b", with: "a.next")
        #expect(try Self.severity(selector) == nil)
    }
}
