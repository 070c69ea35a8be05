// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Answers of handlers of background fetch, and handlers of pushes that are put in at run time.
@Suite("Answers of fetches, and swizzled handlers")
struct FetchAnswerTests: SourceFaultSuite {
    private static func fetch(_ body: String) -> String {
        "class D: NSObject, UIApplicationDelegate {\n"
            + "func application(_ a: UIApplication, performFetchWithCompletionHandler done: "
            + "@escaping (UIBackgroundFetchResult) -> Void) {\n\(body)\n}\n}"
    }

    private static func subjects(
        _ source: String, _ path: String = "a.swift"
    ) -> Set<SourceObservation.Subject> {
        Set(
            SourceReader.observations(
                in: SourceText(Array(source.utf8), path: path), SourceConstants()
            ).map(\.subject))
    }

    @Test("a handler of fetches in another class, and calls of one")
    func calls() {
        let source = Self.fetch("done(.noData)")
        #expect(!Self.subjects(source).contains(.legacyFetchCall))
        let probe = source.replacing("D: NSObject, UIApplicationDelegate", with: "Probe")
        #expect(Self.subjects(probe).isSuperset(of: [.legacyFetch, .legacyFetchCall]))
        let call =
            "class A { lazy var r = Runner { self.application(.shared, "
            + "performFetchWithCompletionHandler: { _ in }) } }"
        #expect(Self.subjects(call).contains(.legacyFetchCall))
    }

    @Test(
        "silent pushes that are looked for, or passed over",
        arguments: [
            ("guard aps[\"content-available\"] != nil else { return done(.noData) }", true),
            ("if aps[\"content-available\"] != nil { load() }", true),
            (
                "let i = CKSubscription.NotificationInfo()\ni.shouldSendContentAvailable = true",
                true
            ),
            (
                "let i = CKSubscription.NotificationInfo()\ni.shouldSendContentAvailable = false",
                false
            ),
            ("let i = CKSubscription.NotificationInfo(shouldSendContentAvailable: true)", true),
            ("let i = CKSubscription()\nlet shouldSendContentAvailable = true", false),
            ("form.shouldSendContentAvailable = true", false),
            (
                "let i = CKQuerySubscription()\ni.shouldSendContentAvailable = true\n"
                    + "i.shouldSendContentAvailable = false", false
            ),
            (
                "if info[\"UIBackgroundModes\"] != nil { let i = CKQuerySubscription()\n"
                    + "i.shouldSendContentAvailable = true }", false
            ),
            ("if aps[\"content-available\"] == nil { return }", true),
            ("if aps[\"content-available\"] as? Int != 1 { return done(.noData) }", true),
            ("if aps[\"content-available\"] != nil { return done(.noData) }", false),
            ("if aps[\"content-available\"] != nil, aps[\"alert\"] == nil { return }", false),
            ("if aps[\"content-available\"] != nil, app.state == .active { load() }", false),
            ("if app.state != .active, aps[\"content-available\"] != nil { load() }", true),
        ])
    func silentPushes(body: String, isMeant: Bool) {
        let seen = Self.subjects("class A { func f() {\n\(body)\n} }")
        #expect(seen.contains(.silentPushCheck) == isMeant)
    }

    @Test(
        "an answer before the work has ended",
        arguments: [
            "Task { await load() }\ndone(.newData)",
            "session.dataTask(with: u) { d, _, _ in save(d) }.resume()\ndone(.newData)",
        ])
    func early(body: String) {
        #expect(Self.faults(Self.fetch(body)) == [.earlyFetchAnswer])
    }

    @Test("an answer that is always the same")
    func always() {
        for body in [
            "load()\ndone(.newData)", "done(.newData)", "load { done(.newData) }",
            "Task { await load()\ndone(.newData) }",
            "let answer = UIBackgroundFetchResult.newData\nload { done(answer) }",
        ] {
            #expect(Self.subjects(Self.fetch(body)).contains(.alwaysNewFetch), "\(body)")
        }
    }

    @Test(
        "answers that say what happened",
        arguments: [
            "load { done($0 ? .newData : .noData) }",
            "load { result in\nif result == .newData { count() }\ndone(result)\n}",
            "done(load() ? .newData : .noData)",
            "if load() { done(.newData) } else { done(.noData) }",
            "Task { await load() }\ndone(.failed)", "load(done)", "fetcher.done = done",
            "session.dataTask(with: u) { d, _, _ in done(.newData)\n_ = d }.resume()\n"
                + "if off { done(.failed) }",
        ])
    func various(body: String) {
        let found = Self.subjects(Self.fetch(body))
        #expect(found.isDisjoint(with: [.fault(.earlyFetchAnswer), .alwaysNewFetch]), "\(body)")
    }

    @Test("a handler that iOS does not call answers nothing")
    func uncalled() throws {
        func rules(_ members: [(String, String)]) throws -> [String] {
            let folder = try TestFolder()
            try folder.write(
                XML.dictionary([("LSRequiresIPhoneOS", "<true/>")] + members), to: "App/Info.plist")
            try folder.write(
                Self.fetch("Task { await load() }\ndone(.newData)"), to: "App/A.swift")
            return AuditScopeTests.rules(try Audit(paths: [folder.path]).report())
        }
        let mode = ("UIBackgroundModes", XML.array("fetch"))
        #expect(try rules([mode]).contains("CF048"))
        #expect(try !rules([]).contains("CF048"))
        let ended = [
            ("MinimumOSVersion", "<string>15.0</string>"),
            ("BGTaskSchedulerPermittedIdentifiers", XML.array("a.b")),
        ]
        #expect(try !rules([mode] + ended).contains("CF048"))
    }

    /// A method that a file puts in for the delegate's.
    private static func swizzled(
        _ body: String, name: String = "ABC_application",
        parameters: String = "(UIApplication *)a didReceiveRemoteNotification:(NSDictionary *)info "
            + "fetchCompletionHandler:(void (^)(UIBackgroundFetchResult))done",
        selector: String = "ABC_application:didReceiveRemoteNotification:fetchCompletionHandler:"
    ) -> Set<SourceObservation.Subject> {
        let source =
            "@implementation D (Pushes)\n+ (void)load { swizzle(@selector(\(selector))); }\n"
            + "- (void)\(name):\(parameters) {\n\(body)\n}\n@end"
        return subjects(source, "a.m")
    }

    private static let half = "if (on) { done(UIBackgroundFetchResultNoData); }"

    @Test("a handler that is put in for the delegate's completes too")
    func swizzledHandler() {
        #expect(Self.swizzled(Self.half).contains(.pathWithoutCompletion))
        let twice =
            "if (on) { done(UIBackgroundFetchResultNoData); }\ndone(UIBackgroundFetchResultNoData);"
        #expect(Self.swizzled(twice).contains(.fault(.completedTwice)))
        for body in [
            "done(UIBackgroundFetchResultNoData);",
            "[self ABC_application:a didReceiveRemoteNotification:info "
                + "fetchCompletionHandler:done];",
            "if (on) { [sdk take:done]; } else { done(UIBackgroundFetchResultNoData); }",
        ] {
            #expect(!Self.swizzled(body).contains(.pathWithoutCompletion), "\(body)")
        }
    }

    @Test("a method of another form is called by the app's own code")
    func otherMethods() {
        let gap = SourceObservation.Subject.pathWithoutCompletion
        #expect(!Self.swizzled(Self.half, selector: "load").contains(gap))
        #expect(!Self.swizzled(Self.half, selector: "ABC_application:").contains(gap))
        #expect(
            !Self.swizzled(
                Self.half, name: "receive",
                selector: "receive:didReceiveRemoteNotification:fetchCompletionHandler:"
            ).contains(gap))
        for parameters in [
            "(UIApplication *)a didReceiveRemoteNotification:(Push *)info "
                + "fetchCompletionHandler:(void (^)(UIBackgroundFetchResult))done",
            "(App *)a didReceiveRemoteNotification:(NSDictionary *)info "
                + "fetchCompletionHandler:(void (^)(UIBackgroundFetchResult))done",
            "(UIApplication *)a didReceiveRemoteNotification:(NSDictionary *)info "
                + "fetchCompletionHandler:(void (^)(BOOL))done",
            "(UIApplication *)a didReceiveRemoteNotification:(NSDictionary *)info "
                + "now:(BOOL)now fetchCompletionHandler:(void (^)(UIBackgroundFetchResult))done",
        ] {
            #expect(
                !Self.swizzled(Self.half, parameters: parameters).contains(gap), "\(parameters)")
        }
    }
}
