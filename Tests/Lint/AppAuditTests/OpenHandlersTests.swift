// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Handlers of pushes that leave something to functions of other files, or to what is not read.
@Suite("Open handlers of pushes")
struct OpenHandlersTests {
    private static let report = "provider.reportNewIncomingCall(with: id, update: u) { _ in }"

    private static func facts(_ files: [String: String]) throws -> AppFacts.Sources? {
        let folder = try TestFolder()
        var list = SourceList()
        for (name, text) in files { try folder.write(text, to: name) }
        list.add(files.keys.sorted().map { folder.path + "/" + $0 })
        return FileLibrary().facts(of: list)
    }

    /// A handler of VoIP pushes with this body, in a type with these members.
    private static func voip(_ body: String, _ members: String = "") -> String {
        "class Pushes: NSObject, PKPushRegistryDelegate {\n\(members)\n"
            + "func pushRegistry(_ r: PKPushRegistry, "
            + "didReceiveIncomingPushWith p: PKPushPayload, for t: PKPushType, "
            + "completion: @escaping () -> Void) {\n\(body)\n}\nfunc other() { \(report) }\n}\n"
    }

    /// A handler of silent pushes with this body.
    private static func silent(_ body: String, _ members: String = "") -> String {
        "class AppDelegate {\n\(members)\nfunc application(_ a: UIApplication, "
            + "didReceiveRemoteNotification info: [AnyHashable: Any], fetchCompletionHandler done: "
            + "@escaping (UIBackgroundFetchResult) -> Void) {\n\(body)\n}\n}\n"
    }

    @Test("a path with neither a report nor completion is told of once")
    func neither() throws {
        func faults(_ body: String) throws -> [SourceObservation.Fault] {
            try Self.facts(["A.swift": Self.voip(body)])?.observations.compactMap {
                if case .fault(let fault) = $0.subject { fault } else { nil }
            } ?? []
        }
        let full = "Hub.reportNewIncomingCall(with: id, update: u) { _ in completion() }"
        #expect(
            try faults("if p.isEnd {\nendCall(p)\n} else {\n\(full)\n}") == [.voipPathWithoutEither]
        )
        #expect(
            try faults("if p.isEnd {\nendCall(p)\ncompletion()\n} else {\n\(full)\n}")
                == [.voipPathWithoutReport])
        #expect(try faults("if p.isEnd { endCall(p) }\n\(full)") == [])
    }

    private static func open(_ files: [String: String]) throws -> [String] {
        try facts(files)?.openHandlers.flatMap { $0.rules.sorted().map(\.rawValue) } ?? []
    }

    @Test(
        "a handler of VoIP pushes that leaves the push, or its completion handler, to others",
        arguments: [
            ("sdk.handle(p)\ncompletion()", ["CF009", "CF033"]),
            (
                "NotificationCenter.default.post(name: n, object: p)\ncompletion()",
                ["CF009", "CF033"]
            ),
            ("delegate?.take(p, completion)", ["CF009", "CF033", "CF034"]),
            ("\(report)\nsdk.finish(completion)", ["CF034"]),
            ("\(report)\npending = completion", ["CF034"]),
            ("\(report)\npending.append(completion)", ["CF034"]),
            (
                "if sdk.handle(p, completion) { return }\n\(report)\ncompletion()",
                ["CF033", "CF034"]
            ),
            ("Calls.shared.take(p, completion)", []),
            ("Calls.shared.ring(p, completion)", []),
            ("Calls.shared.keep(p, completion)", ["CF034"]),
            ("\(report)\ncompletion()", []), ("queue.async { \(report)\ncompletion() }", []),
            ("Hub.reportNewIncomingCall(with: id, update: u) { _ in completion() }", []),
            ("other()\ncompletion()", []),
        ])
    func openCalls(body: String, rules: [String]) throws {
        let calls =
            "class Calls {\nstatic let shared = Calls()\n"
            + "func take(_ p: P, _ done: () -> Void) { \(Self.report)\ndone() }\n"
            + "func ring(_ p: P, _ done: () -> Void) {\n"
            + "provider.reportNewIncomingCall(with: id, update: u) { _ in done() }\n}\n"
            + "func keep(_ p: P, _ done: () -> Void) { \(Self.report)\nsdk.done(done) }\n}"
        #expect(try Self.open(["A.swift": Self.voip(body), "B.swift": calls]) == rules)
    }

    @Test(
        "a handler of silent pushes that leaves its completion handler to others",
        arguments: [
            ("sdk.handle(info, done)", ["CF003"]), ("self.done = done", ["CF003"]),
            ("sdk.load { done(.newData) }", ["CF003"]),
            ("if sdk.handle(info, done) { return }\ndone(.noData)", ["CF003"]),
            ("Store.shared.load { done(.newData) }", []), ("Store.shared.pass(done)", ["CF003"]),
            ("own { done(.newData) }", []), ("done(.newData)", []),
            ("sdk.handle(info)\ndone(.newData)", []), ("print(info)", []),
            ("DispatchQueue.main.async { done(.newData) }", []),
            ("session.dataTask(with: r) { _, _, _ in done(.noData) }.resume()", []),
        ])
    func openSilent(body: String, rules: [String]) throws {
        let store =
            "class Store {\nstatic let shared = Store()\nfunc load(then: () -> Void) { then() }\n"
            + "func pass(_ done: (R) -> Void) { sdk.take(done) }\n}"
        #expect(
            try Self.open([
                "A.swift": Self.silent(body, "func own(then: () -> Void) { then() }"),
                "B.swift": store,
            ]) == rules)
    }

    @Test(
        "a condition that asks for the completion handler hands nothing on",
        arguments: [
            "if (done) { done(UIBackgroundFetchResultNoData); }",
            "if (done != nil) done(UIBackgroundFetchResultNoData);",
            "if (!done) { return; }\ndone(UIBackgroundFetchResultNoData);",
            "dispatch_async(queue, ^{ if (done) { done(UIBackgroundFetchResultNoData); } });",
        ])
    func condition(body: String) throws {
        let source =
            "@implementation AppDelegate\n- (void)application:(UIApplication *)a "
            + "didReceiveRemoteNotification:(NSDictionary *)info "
            + "fetchCompletionHandler:(void (^)(UIBackgroundFetchResult))done {\n\(body)\n}\n@end"
        #expect(try Self.open(["A.m": source]) == [])
    }

    @Test("a report at the end of a long chain of functions of the file is known")
    func chain() throws {
        let functions =
            "func a(_ p: P) { b(p) }\nfunc b(_ p: P) { c(p) }\nfunc c(_ p: P) { d(p) }\n"
            + "func d(_ p: P) { e(p) }\nfunc e(_ p: P) { \(Self.report) }"
        let body = "if x { a(p) } else { c(p) }\ncompletion()"
        #expect(try Self.open(["A.swift": Self.voip(body, functions)]) == [])
    }

    @Test("what is left to others is told beside a path that is told")
    func besidesFindings() throws {
        let fails = "guard let id = p.id else { return completion() }\n"
        #expect(
            try Self.open(["A.swift": Self.voip(fails + "onPush(id)\ncompletion()")]) == [
                "CF009", "CF033",
            ])
        let told = "guard let id = p.id else {\ncompletion()\nreturn\n}\n"
        let lateEnd = "\(Self.report)\nif late { return }\n"
        let caught = "do { onPush(try decode(p)) } catch { print(error) }"
        for (body, rules) in [
            (told + Self.report + "\ncompletion()", []), (lateEnd + "completion()", []),
            (lateEnd + "sdk.finish(completion)", ["CF034"]),
            (lateEnd + "done = completion", ["CF034"]),
            ("if p.isEnd { return completion() }\n\(Self.report)\nsdk.end(completion)", ["CF034"]),
        ] {
            #expect(try Self.open(["A.swift": Self.voip(body)]) == rules, "\(body)")
        }
        #expect(
            try Self.open(["A.swift": Self.voip(caught + "\ncompletion()")]) == ["CF009", "CF033"])
        for (body, rules) in [
            ("if a { return }\nsdk.take(done)", ["CF003"]), ("if a { return }\ndone(.noData)", []),
            ("if a { return }\nDispatchQueue.main.async { done(.newData) }", []),
            ("if a { return }\nkeep = done", ["CF003"]),
        ] {
            #expect(try Self.open(["A.swift": Self.silent(body)]) == rules, "\(body)")
        }
    }

    @Test("what another file completes is known beside a path that is told, and tells no more")
    func followedQuietly() throws {
        let store =
            "class Store {\nstatic let shared = Store()\n"
            + "func load(then: () -> Void) { then() }\n"
            + "func skip(then: () -> Void) { if off { return }\nthen() }\n"
            + "func pass(_ done: (R) -> Void) { sdk.take(done) }\n}"
        for (call, rules) in [
            ("Store.shared.load { done(.newData) }", []),
            ("Store.shared.skip { done(.newData) }", []), ("Store.shared.pass(done)", ["CF003"]),
            ("Other.shared.load { done(.newData) }", ["CF003"]),
        ] {
            let source = Self.silent("if a { return }\n" + call)
                .replacing("AppDelegate {", with: "AppDelegate: NSObject, UIApplicationDelegate {")
            let files = ["A.swift": source, "B.swift": store]
            #expect(try Self.open(files) == rules, "\(call)")
            let gaps = try Self.facts(files)?.observations.count {
                $0.subject == .pathWithoutCompletion
            }
            #expect(gaps == 1, "\(call)")
        }
        let calls =
            "class Calls {\nstatic let shared = Calls()\nfunc take(_ p: P) { if off { return }\n"
            + "\(Self.report) }\n}"
        let body =
            "guard let id = p.id else { return completion() }\nCalls.shared.take(p)\ncompletion()"
        let files = [
            "A.swift": Self.voip("if p.id == 0 { return completion() }\n" + body), "B.swift": calls,
        ]
        #expect(try Self.open(files) == [])
    }

    @Test("the sentence about such handlers names up to three of them")
    func sentence() throws {
        let files = Dictionary(
            uniqueKeysWithValues: (1...5).map { number in
                ("\(number).swift", Self.silent("sdk.handle(info, done)"))
            })
        func statement(_ files: [String: String]) throws -> [String] {
            var handlers = OpenHandlers()
            let bundle = AppFacts.Bundle(name: "App", sources: try Self.facts(files))
            handlers.add(AppFacts(bundles: [bundle]), besides: [])
            handlers.add(AppFacts(bundles: [bundle]), besides: [])
            return handlers.unjudged.map(\.description)
        }
        let all = try #require(try statement(files).first)
        #expect(
            all.hasPrefix("App: 5 handlers of silent pushes leave their completion handlers to "))
        #expect(all.hasSuffix("3.swift:3, …): CF003 not judged."))
        let one = try statement(["A.swift": Self.voip("sdk.handle(p)\ncompletion()")])
        #expect(one.count == 1)
        #expect(
            one.first?.hasPrefix("App: 1 handler of VoIP pushes leaves the push to code") == true)
        #expect(one.first?.hasSuffix("A.swift:3): CF009, CF033 not judged.") == true)
    }
}
