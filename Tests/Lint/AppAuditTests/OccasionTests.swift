// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// The time at which code runs by the calls of its function, in any file, and by the answer of the
/// user.
@Suite("Occasions")
struct OccasionTests {
    /// The observations in files of one target.
    static func subjects(_ files: [String: String]) throws -> [SourceObservation.Subject] {
        let folder = try TestFolder()
        var list = SourceList()
        for (name, text) in files { try folder.write(text, to: name) }
        list.add(files.keys.sorted().map { folder.path + "/" + $0 })
        return FileLibrary().facts(of: list)?.observations.map(\.subject) ?? []
    }

    @Test(
        "a condition tells whether it was done before, unless it asks for the user's setting",
        arguments: [
            ("!UserDefaults.standard.bool(forKey: \"done\")", true),
            ("UserDefaults.standard.string(forKey: \"token\") == nil", true),
            ("a.isRegisteredForRemoteNotifications", true),
            ("UserDefaults.standard.bool(forKey: \"isFirstLaunch\")", true),
            ("UserDefaults.standard.bool(forKey: \"wanted\")", false),
            ("UserDefaults.standard.value(forKey: \"wanted\") as? Bool == true", false),
            ("a.responds(to: #selector(isRegisteredForRemoteNotifications))", false),
        ])
    func flags(condition: String, isFlag: Bool) throws {
        let text = "func f() { if \(condition) { a.registerForRemoteNotifications() } }"
        let seen = try Self.subjects(["A.swift": text])
        #expect(seen.contains(.remoteNotificationRegistration(.flag)) == isFlag)
    }

    private static func registers(_ subject: SourceObservation.Subject) -> Bool {
        if case .remoteNotificationRegistration = subject { true } else { false }
    }

    @Test(
        "a registration waits for the permission by promises, references and cases too",
        arguments: [
            "func f() { firstly { requestAuthorization() }.map { ok in if ok { R() } } }\n"
                + "func requestAuthorization() -> G {\n"
                + "c.requestAuthorization(options: o) { _, _ in } }",
            "func f() { c.requestAuthorization(options: o) { granted, _ in\n"
                + "if granted { later(a.registerForRemoteNotifications) } } }",
            "class P { func g() { self.registerForRemoteNotifications() }\n"
                + "func registerForRemoteNotifications() {\n"
                + "c.requestAuthorization(options: o) { ok, _ in if ok { R() } } } }",
            "func f() { m.check { status in\nswitch status {\ncase .notDetermined: ask()\n"
                + "case .authorized, .provisional: R()\ndefault: break } } }",
            "func f() { if #available(iOS 10, *) { c.requestAuthorization(options: o) { ok, _ in\n"
                + "if ok { R() } } } else { R() } }",
            "func f() { if systemVersionNum >= 10.0 {\n"
                + "c.requestAuthorization(options: o) { ok, _ in\nif ok { R() } }\n"
                + "} else if systemVersionNum >= 8.0 { R() } }",
        ])
    func permitted(text: String) throws {
        let source = text.replacing("R()", with: "a.registerForRemoteNotifications()")
        let seen = try Self.subjects(["A.swift": source]).filter(Self.registers)
        #expect(seen == [.remoteNotificationRegistration(.permission)], "\(seen)")
    }

    @Test(
        "a registration does not wait for the permission",
        arguments: [
            "func f() { load().map { ok in if ok { R() } } }",
            "func f() { later(a.registerForRemoteNotifications) }",
            "func f() { switch status {\ncase .authorized: R()\ndefault: break } }",
            "func f() { if #available(iOS 17, *) { g() } else { R() } }",
            "func f() { if systemVersion >= 17.0 { g() } else { R() } }",
            "func f() { if supportsOSVersion { if n >= 10 { log() } } else { R() } }",
            "func f() { if server.minimumOSVersion >= 12 { g() } else { R() } }",
            "func f() { requestPushPermission().then { user in if user.isIn { R() } } }",
            "func f() { switch s {\ncase .authorized: R()\ncase .provisional: g()\n"
                + "default: break } }",
            "func f() { switch kind {\ncase .app: R()\nc.get { s in switch s.status {\n"
                + "case .authorized, .provisional, .denied: g()\ndefault: break } }\n"
                + "default: break } }",
            "func f() { if ok { assert(a.responds(to: #selector(A.registerForRemoteNotifications)))"
                + " } }\nfunc g() { c.requestAuthorization(options: o) { ok, _ in } }",
        ])
    func unpermitted(text: String) throws {
        let source = text.replacing("R()", with: "a.registerForRemoteNotifications()")
        let seen = try Self.subjects(["A.swift": source])
        #expect(!seen.contains(.remoteNotificationRegistration(.permission)))
        #expect(seen.contains(where: Self.registers))
    }

    @Test(
        "a call at the start of a text is no answer",
        arguments: [
            ".map { ok in if ok { R() } }", "(requestAuthorization()).map { ok in if ok { R() } }",
            "}.then { ok in if ok { R() } }",
        ])
    func start(text: String) throws {
        let source = text.replacing("R()", with: "a.registerForRemoteNotifications()")
        #expect(try Self.subjects(["A.swift": source]).contains(where: Self.registers))
    }

    private static let registration =
        "BGTaskScheduler.shared.register(forTaskWithIdentifier: \"a.b\", using: nil) { t in f(t) }"
    private static let service =
        "final class Jobs {\nstatic let shared = Jobs()\nfunc configure() { \(registration) }\n}\n"

    private static func isLate(_ files: [String: String]) throws -> Bool {
        try subjects(files).contains { .registeredTask("a.b", .afterLaunch) == $0 }
    }

    @Test(
        "a task that a function registers once the app has launched",
        arguments: [
            "class A { func applicationDidBecomeActive(_ a: A) { Jobs.shared.configure() } }",
            "class A: UIViewController { override func viewDidLoad() { Jobs.shared.configure() } }",
            "struct V: View { var body: some View { T().onAppear { Jobs.shared.configure() } } }",
            "struct V: View { var body: some View { Button(\"a\") { Jobs.shared.configure() } } }",
            "class A { @IBAction func tap(_ s: Any) { api.log { Jobs.shared.configure() } } }",
            "class A { func applicationDidEnterBackground(_ a: A) { go() }\n"
                + "private func go() { Jobs.shared.configure() } }",
            "class A { func application(_ a: A, didFinishLaunchingWithOptions o: O) -> Bool {\n"
                + "Task { await load(); Jobs.shared.configure() }\nreturn true } }",
        ])
    func late(caller: String) throws {
        #expect(try Self.isLate(["A.swift": caller, "B.swift": Self.service]))
        // The launch calls it too.
        let launch =
            "class D { let jobs = Jobs.shared\nfunc application(_ a: A, "
            + "didFinishLaunchingWithOptions o: O) -> Bool { jobs.configure()\nreturn true } }"
        #expect(
            try !Self.isLate(["A.swift": caller, "B.swift": Self.service, "C.swift": launch]))
        // Something else may call it at any time.
        let other = "func f() { perform(#selector(Jobs.configure)) }"
        #expect(
            try !Self.isLate(["A.swift": caller, "B.swift": Self.service, "C.swift": other]))
    }

    @Test("a continued task may be registered at any time")
    func continued() throws {
        let caller =
            "struct V: View { var body: some View { Button(\"a\") { Jobs.shared.configure() } } }"
        for type in ["BGContinuedProcessingTask", "BGProcessingTask"] {
            let service = Self.service.replacing("f(t)", with: "f(t as! \(type))")
            #expect(
                try Self.isLate(["A.swift": caller, "B.swift": service])
                    == (type == "BGProcessingTask"))
        }
    }

    @Test(
        "the launch may call it under another name",
        arguments: [
            "services.worker.configure()", "Work.main.configure()", "resolve().configure()",
            "app?.environment.worker?.configure()", "[worker].forEach { $0.configure() }",
        ])
    func otherNames(call: String) throws {
        let caller = "class V: UIViewController { func viewDidLoad() { Jobs.shared.configure() } }"
        let launch =
            "class D { func application(_ a: A, didFinishLaunchingWithOptions o: O) -> Bool {\n"
            + "\(call)\nreturn true } }"
        #expect(
            try !Self.isLate(["A.swift": caller, "B.swift": Self.service, "C.swift": launch]))
    }

    @Test(
        "calls that do not show a late registration",
        arguments: [
            "class A { func start() { Jobs.shared.configure() } }",
            "class A: UIViewController { override func viewDidLoad() { cell.configure() } }",
            "class A: UIViewController { override func viewDidLoad() { configure() }\n"
                + "func configure() { } }",
            "class A: UIViewController { override func viewDidLoad() { "
                + "Jobs.shared.configure(with: 1) } }",
            "@main struct A: App { init() { Jobs.shared.configure() } }",
            "class A { func application(_ a: A, didFinishLaunchingWithOptions o: O) -> Bool {\n"
                + "state.sink { _ in Jobs.shared.configure() }\nreturn true } }",
        ])
    func notLate(caller: String) throws {
        #expect(try !Self.isLate(["A.swift": caller, "B.swift": Self.service]))
    }

    @Test("a function that a protocol may call too")
    func protocols() throws {
        let caller = "class V: UIViewController { func viewDidLoad() { Jobs().configure() } }"
        let service = Self.service.replacing("class Jobs", with: "class Jobs: Module")
        let other = "func launch() { modules.forEach { $0.configure() } }"
        #expect(try Self.isLate(["A.swift": caller, "B.swift": service]))
        #expect(try !Self.isLate(["A.swift": caller, "B.swift": service, "C.swift": other]))
    }

    @Test("a task that a function of Objective-C registers late")
    func objectiveC() throws {
        let source =
            "@implementation AppDelegate\n"
            + "- (void)applicationDidBecomeActive:(UIApplication *)a { [self addTasks]; }\n"
            + "- (void)addTasks { [[BGTaskScheduler sharedScheduler] registerForTaskWithIdentifier:"
            + "@\"a.b\" usingQueue:nil launchHandler:^(BGTask *t) { f(t); }]; }\n@end\n"
        #expect(try Self.isLate(["A.m": source]))
        let launch =
            "- (BOOL)application:(UIApplication *)a didFinishLaunchingWithOptions:(id)o { "
            + "[self addTasks]; return YES; }\n@end\n"
        #expect(try !Self.isLate(["A.m": source.replacing("@end\n", with: launch)]))
    }

    private static let register = "UIApplication.shared.registerForRemoteNotifications()"

    private static func waits(_ files: [String: String]) throws -> Bool {
        try subjects(files).contains(.remoteNotificationRegistration(.permission))
    }

    private static func ask(_ body: String, _ more: String = "") -> String {
        "class A { func application(_ a: A, didFinishLaunchingWithOptions o: O) -> Bool {\n"
            + "center.requestAuthorization(options: o) { granted, error in\n\(body)\n}\n"
            + "return true }\n\(more) }"
    }

    @Test(
        "a registration that waits for the permission, in other words",
        arguments: [
            ("granted ? \(register) : explain()", true),
            ("!granted ? explain() : \(register)", true),
            ("let state = granted ? \"yes\" : \"no\"\n\(register)", false),
            ("granted ? explain() : \(register)", false),
            ("guard granted == true else { return }\n\(register)", true),
            ("if granted != true { return }\n\(register)", true),
            ("if granted == false { return }\n\(register)", true),
            ("if granted != false { \(register) }", true),
            ("if granted == false { log() } else { \(register) }", true),
            ("if granted == false { \(register) }", false),
            ("if granted || isSilent { \(register) }", false),
            ("if granted && isNew { \(register) }", true),
            ("if granted || s.authorizationStatus == .provisional { \(register) }", true),
            ("if !granted {\nlog()\n\(register)\nreturn\n}", false),
        ])
    func permission(body: String, waits: Bool) throws {
        #expect(try Self.waits(["A.swift": Self.ask(body)]) == waits)
    }

    @Test(
        "a variable that is set to whether the permission was given",
        arguments: [
            ("ok = (s.authorizationStatus == .authorized)", "if !ok { return }", true),
            ("ok = s.authorizationStatus == .authorized", "guard ok else { return }", true),
            ("ok = s.authorizationStatus == .authorized || isSilent", "if !ok { return }", false),
            ("ok = s.authorizationStatus == .authorized\nok = true", "if !ok { return }", false),
            ("ok = s.authorizationStatus != .authorized", "if !ok { return }", false),
            ("if x { ok = s.authorizationStatus == .authorized }", "if !ok { return }", false),
            ("ok = s.authorizationStatus == .authorized", "if !other { return }", false),
            ("self.ok = s.authorizationStatus == .authorized", "if !ok { return }", false),
        ])
    func assigned(set: String, asks: String, waits: Bool) throws {
        let source =
            "class A { func application(_ a: A, didFinishLaunchingWithOptions o: O) -> Bool {\n"
            + "var ok = false\ncenter.getNotificationSettings { s in\n\(set)\n\(asks)\n"
            + "DispatchQueue.main.async { \(Self.register) }\n}\nreturn true } }"
        #expect(try Self.waits(["A.swift": source]) == waits)
    }

    @Test("a constant that has the status of the permission")
    func status() throws {
        func waits(_ value: String, _ condition: String) throws -> Bool {
            try Self.waits([
                "A.swift": "class A { func f() async {\nlet status = \(value)\n\(condition)\n"
                    + "\(Self.register) } }"
            ])
        }
        for value in ["await authorizationStatus()", "settings.authorizationStatus"] {
            #expect(try waits(value, "guard status == .authorized else { return }"))
            #expect(try !waits(value, "guard state == .authorized else { return }"))
        }
        #expect(try !waits("await store.status()", "guard status == .authorized else { return }"))
    }

    @Test("a request for a kind of permission")
    func kinds() throws {
        func waits(_ request: String) throws -> Bool {
            let body = "Asker.shared.\(request) { granted in\nif granted { \(Self.register) }\n}"
            return try Self.waits(["A.swift": "class A { func f() { \(body) } }"])
        }
        #expect(try waits("requestPermissionFromTop(for: .notifications)"))
        #expect(try waits("askForPermissionFromTop(of: .notification, a)"))
        #expect(try !waits("requestPermissionFromTop(for: .camera)"))
        #expect(try !waits("requestPermissionFromTop(for: .notifications.first)"))
        #expect(try !waits("showFromTop(for: .notifications)"))
    }

    @Test("a function that only the answer of the user calls")
    func permissionCalls() throws {
        let enable = "func enable() { DispatchQueue.main.async { \(Self.register) } }"
        #expect(try Self.waits(["A.swift": Self.ask("if granted { self.enable() }", enable)]))
        #expect(try Self.waits(["A.swift": Self.ask("granted ? enable() : log()", enable)]))
        #expect(try !Self.waits(["A.swift": Self.ask("self.enable()", enable)]))
        let both = Self.ask("if granted { self.enable() }", enable)
            .replacing("return true", with: "enable()\nreturn true")
        #expect(try !Self.waits(["A.swift": both]))
        let push = "final class Push { static let shared = Push()\n\(enable) }"
        let other = Self.ask("guard granted else { return }\nPush.shared.enable()")
        #expect(try Self.waits(["A.swift": other, "B.swift": push]))
    }

    @Test(
        "an answer that a function or a closure gets by its name",
        arguments: [
            "class A { func f() { center.requestAuthorization(options: o, completionHandler: "
                + "answer) }\nfunc answer(granted: Bool, error: Error?) { BODY } }",
            "class A { func f() { center.requestAuthorization(options: o, completionHandler: "
                + "self.answer(ok:error:)) }\nfunc answer(ok granted: Bool, error: E?) { BODY } }",
            "class A { func f() { let answer: (Bool, Error?) -> Void = { granted, _ in BODY }\n"
                + "center.requestAuthorization(options: o, completionHandler: answer) } }",
            "class A { func f() { Service().ask { granted in BODY } } }\nclass Service {\n"
                + "func ask(_ done: @escaping (Bool) -> Void) {\n"
                + "center.requestAuthorization(options: o) { ok, _ in done(ok) } } }",
            "class A { func f() { Push.requestNotificationPermission { granted in BODY } } }",
            "class A { func f() async { let granted = await requestPermission()\nBODY } }",
        ])
    func named(source: String) throws {
        func waits(_ body: String) throws -> Bool {
            try Self.waits(["A.swift": source.replacing("BODY", with: body)])
        }
        #expect(try waits("if granted { \(Self.register) }"))
        #expect(try waits("guard granted else { return }\n\(Self.register)"))
        #expect(try !waits("if !granted { log() }\n\(Self.register)"))
    }

    @Test(
        "the answer to a question about something else",
        arguments: [
            "HKHealthStore().requestAuthorization(toShare: nil, read: t) { granted, _ in BODY }",
            "store.requestAuthorization(toShare: [], read: t) { granted, _ in BODY }",
            "account.requestAuthorization { granted in BODY }",
            "location.requestPermission { granted in BODY }",
            "askConsentPermission { granted in BODY }",
            "requestPermission { granted in BODY } }\nfunc requestPermission(_ f: F) { m.ask(f)",
        ])
    func others(call: String) throws {
        let body = "guard granted else { return }\n\(Self.register)"
        let source = "class A { func f() { \(call.replacing("BODY", with: body)) } }"
        #expect(try !Self.waits(["A.swift": source]))
        let push = source.replacing("location", with: "pushService")
        #expect(try Self.waits(["A.swift": push]) == call.contains("location"))
    }

    @Test("a case of a switch that asks first")
    func cases() throws {
        let source =
            "class A { func f() async throws {\nswitch settings.authorizationStatus {\n"
            + "case .notDetermined:\nlet ok = try await center.requestAuthorization(options: o)\n"
            + "guard ok else { return }\n\(Self.register)\ndefault: break } } }"
        #expect(try Self.waits(["A.swift": source]))
        #expect(
            try !Self.waits(["A.swift": source.replacing("guard ok else { return }", with: "")]))
    }

    @Test("a block of Objective-C that is passed by its name")
    func block() throws {
        let source =
            "- (void)f {\nvoid (^answer)(BOOL, NSError *) = ^(BOOL granted, NSError *error) {\n"
            + "if (granted) { [app registerForRemoteNotifications]; } };\n"
            + "[center requestAuthorizationWithOptions:o completionHandler:answer];\n}"
        #expect(try Self.waits(["A.m": source]))
        #expect(try !Self.waits(["A.m": source.replacing("if (granted)", with: "if (!granted)")]))
    }

    @Test("the code of a function that nothing calls, beside a generated file that is missing")
    func generated() throws {
        let folder = try TestFolder()
        try folder.write(
            "class AppDelegate { private func ask() {\ncenter.requestAuthorization(options: o) { "
                + "ok, _ in if ok { \(Self.register) } } } }", to: "A.swift")
        func isUncalled(_ missing: String) -> Bool {
            var list = SourceList()
            list.add([folder.path + "/A.swift", folder.path + "/" + missing])
            return FileLibrary().facts(of: list)?.observations.allSatisfy(\.isUncalled) == true
        }
        #expect(isUncalled("GeneratedPluginRegistrant.m"))
        #expect(!isUncalled("Other.swift"))
    }
}

/// Code that stands elsewhere.
extension OccasionTests {
    @Test("SwiftUI gets the events of a background session")
    func sessionEvents() throws {
        let scene = "var s: some Scene { W().backgroundTask(.urlSession(\"a\")) { await f() } }"
        #expect(try Self.subjects(["A.swift": scene]).contains(.backgroundSessionEvents))
    }
}
