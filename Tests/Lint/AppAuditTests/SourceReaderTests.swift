// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

@Suite("Source text")
struct SourceReaderTests {
    typealias Subject = SourceObservation.Subject

    private static func observations(_ source: String) -> [SourceObservation] {
        let text = SourceText(Array(source.utf8), path: "a.swift")
        var constants = SourceConstants()
        constants.add(text)
        return SourceReader.observations(in: text, constants)
    }

    /// Inside of the function that the system calls when an app has launched.
    private static func atLaunch(_ body: String) -> String {
        """
        class AppDelegate: NSObject, UIApplicationDelegate {
          func application(_ app: UIApplication,
            didFinishLaunchingWithOptions o: [UIApplication.LaunchOptionsKey: Any]?) -> Bool {
            \(body)
            return true
          }
        }
        """
    }

    static func register(_ identifier: String) -> String {
        "BGTaskScheduler.shared.register(forTaskWithIdentifier: \(identifier), using: nil) { _ in }"
    }

    private static let identifiersCases: [(String, String?)] = [
        (register("\"a.b\""), "a.b"),
        ("let id = \"a.b\"\n" + register("id"), "a.b"),
        ("enum T { static let id = \"a.b\" }\n" + register("T.id"), "a.b"),
        ("enum C { enum T { static let id: String = \"a.b\" } }\n" + register("C.T.id"), "a.b"),
        ("enum T: String { case id = \"a.b\" }\n" + register("T.id.rawValue"), "a.b"),
        ("class S { static let id = \"a.b\"; func f() { \(register("Self.id")) } }", "a.b"),
        ("extension String { static let id = \"a.b\" }\n" + register(".id"), "a.b"),
        // The only literal of that name is another type's.
        ("class N { var id = \"a\" }\nclass S { func f() { \(register("Self.id")) } }", nil),
        ("class N { var id = \"a\" }\nclass S { func f() { \(register("job.id")) } }", nil),
        ("let id = \"\"\n" + register("id"), nil),
        ("let id = \"a\"; struct B { let id = \"b\" }\n" + register("id"), nil),
        (
            "enum A { static let id = \"a\" }; enum B { static let id = \"b\" }\n"
                + register("B.id"), "b"
        ),
        (register("prefix + \".b\""), nil), (register("\"\\(bundle).b\""), nil),
        (register("makeID()"), nil), (register("unknown"), nil),
    ]

    @Test("identifiers of tasks are resolved", arguments: identifiersCases)
    func identifiers(source: String, identifier: String?) {
        let found = Self.observations(source).compactMap { seen -> String?? in
            if case .registeredTask(let name, _) = seen.subject { name } else { nil }
        }
        #expect(found.contains(identifier), "\(found)")
    }

    @Test(
        "comments, literals and other words are not code",
        arguments: [
            "// \(register("\"a\""))", "/* /* */ \(register("\"a\"")) */",
            "let s = \"registerForRemoteNotifications()\"",
            "let s = #\"registerForRemoteNotifications()\"#",
            "let s = \"\"\"\nregisterForRemoteNotifications()\n\"\"\"",
            "func registerForRemoteNotificationsLater() {}", "let r = #/CXProvider/#",
        ])
    func notCode(source: String) { #expect(Self.observations(source) == []) }

    @Test("code inside of an interpolation is code")
    func interpolation() {
        let found = Self.observations(#"let s = "a \(f("b", CXProvider())) c" + "\(x)""#)
        #expect(found.map(\.subject) == [.callInterface])
    }

    private static let occasionsCases: [(String, SourceObservation.Occasion)] = [
        (
            atLaunch("UIApplication.shared.registerForRemoteNotifications()"),
            SourceObservation.Occasion.launch
        ),
        ("struct A: App { init() { a.registerForRemoteNotifications() } }", .launch),
        (
            "struct V: View { var body: some View { Text(\"\").onAppear { "
                + "a.registerForRemoteNotifications() } } }", .view
        ),
        (
            "struct V: View { var body: some View { Text(\"\").task(priority: .low) { "
                + "a.registerForRemoteNotifications() } } }", .view
        ),
        (
            "class C: UIViewController { override func viewDidLoad() { "
                + "a.registerForRemoteNotifications() } }", .viewController
        ),
        (
            "class D: NSObject, UIWindowSceneDelegate { func scene(_ s: UIScene, willConnectTo "
                + "x: S, options: O) { a.registerForRemoteNotifications() } }", .scene
        ),
        (
            "func f() { c.requestAuthorization(options: [.alert]) { granted, _ in if granted { "
                + "DispatchQueue.main.async { a.registerForRemoteNotifications() } } } }",
            .permission
        ),
        (
            "func f() { c.requestAuthorization(options: o) { (ok, e) in guard ok else { return }\n"
                + "a.registerForRemoteNotifications() } }", .permission
        ),
        (
            "func f() async { let ok = try await c.requestAuthorization(options: o)\n"
                + "if ok { a.registerForRemoteNotifications() } }", .permission
        ),
        (
            "func f() { if s.authorizationStatus == .authorized { "
                + "a.registerForRemoteNotifications() } }", .permission
        ),
        (
            "func f() { c.requestAuthorization(options: o) { granted, _ in log(granted) }\n"
                + "a.registerForRemoteNotifications() }", .unknown
        ),
        (
            "func f() { c.requestAuthorization(options: o) { granted, _ in "
                + "a.registerForRemoteNotifications() } }", .unknown
        ),
        (
            "func f() { if !UIApplication.shared.isRegisteredForRemoteNotifications { "
                + "a.registerForRemoteNotifications() } }", .flag
        ),
        (
            "func f() { c.requestAuthorization(options: o) { granted, _ in switch granted {\n"
                + "case true: a.registerForRemoteNotifications()\ncase false: break } } }",
            .permission
        ),
        (
            "func f() { switch s.authorizationStatus {\ncase .authorized, .provisional: "
                + "a.registerForRemoteNotifications()\ndefault: break } }", .permission
        ),
        (
            "func f() { switch s.authorizationStatus {\ncase .authorized: break\ndefault: "
                + "a.registerForRemoteNotifications() } }", .unknown
        ),
        ("func f() { a.registerForRemoteNotifications() }", .unknown),
        (
            "func f() { if a.responds(to: selector(isRegisteredForRemoteNotifications)) { "
                + "a.registerForRemoteNotifications() } }", .unknown
        ),
        ("a.registerForRemoteNotifications()", .unknown),
        ("queue.async(execute: application.registerForRemoteNotifications)", .unknown),
        ("perform(Selector(\"registerForRemoteNotifications\"))", .unknown),
    ]

    @Test("when a registration runs", arguments: occasionsCases)
    func occasions(source: String, occasion: SourceObservation.Occasion) {
        let found = Self.observations(source).map(\.subject)
        #expect(found.contains(.remoteNotificationRegistration(occasion)), "\(found)")
    }

    private static let handler =
        "func application(_ a: UIApplication, "
        + "didReceiveRemoteNotification u: [AnyHashable: Any]"

    private static let handlersCases: [(String, Subject, Bool)] = [
        (
            handler + ") async -> UIBackgroundFetchResult { .noData }",
            Subject.remoteNotificationHandler(inSceneDelegate: false), true
        ),
        (
            handler + ", fetchCompletionHandler c: @escaping (R) -> Void) { c(.noData) }",
            .remoteNotificationHandler(inSceneDelegate: false), true
        ),
        (
            "class SceneDelegate { \(handler)) async -> R { .noData } }",
            .remoteNotificationHandler(inSceneDelegate: true), true
        ),
        (
            "class D: UIApplicationDelegate, UIWindowSceneDelegate { \(handler)) async -> R { r } "
                + "}",
            .remoteNotificationHandler(inSceneDelegate: false), true
        ),
        (handler + ") { }", .remoteNotificationHandler(inSceneDelegate: false), false),
        (
            "import AppKit\n" + handler + ") { }",
            .remoteNotificationHandler(inSceneDelegate: false), true
        ),
        (
            "func didReceiveRemoteNotification(_ u: [AnyHashable: Any]) async -> R { .noData }",
            .remoteNotificationHandler(inSceneDelegate: false), true
        ),
    ]

    @Test("handlers of pushes", arguments: handlersCases)
    func handlers(source: String, subject: Subject, isSeen: Bool) {
        #expect(Self.observations(source).map(\.subject).contains(subject) == isSeen)
    }

    private static func voip(_ body: String, _ more: String = "") -> String {
        "class P: NSObject, PKPushRegistryDelegate { func pushRegistry(_ r: PKPushRegistry, "
            + "didReceiveIncomingPushWith p: PKPushPayload, for t: PKPushType\(more), completion: "
            + "@escaping () -> Void) {\n\(body)\n} }"
    }

    private static let voipHandlersCases: [(String, Subject, Bool)] = [
        (
            voip("provider.reportNewIncomingCall(with: id, update: u) { _ in completion() }"),
            Subject.lateReport, false
        ),
        (
            voip("let c = await fetch()\nprovider.reportNewIncomingCall(with: id, update: u)"),
            .lateReport, true
        ),
        (
            voip("try await provider.reportNewIncomingCall(with: id, update: u)"), .lateReport,
            false
        ),
        (
            voip("Task { try await provider.reportNewIncomingCall(with: id, update: u) }"),
            .lateReport, true
        ),
        (
            voip(
                "session.dataTask(with: url) { _, _, _ in\n"
                    + "provider.reportNewIncomingCall(with: id, update: u) {} }.resume()"),
            .lateReport, true
        ),
        (voip("print(p.dictionaryPayload); completion()"), .voipHandlerWithoutReport, true),
        (voip("calls.incoming(p); completion()"), .voipHandlerWithoutReport, false),
        (voip("handlers[0]?(p); completion()"), .voipHandlerWithoutReport, false),
        (voip("app.push = p; completion()"), .voipHandlerWithoutReport, false),
        (voip("let c = Content(); c.info = p; completion()"), .voipHandlerWithoutReport, true),
        (voip("let info: Info = p; completion()"), .voipHandlerWithoutReport, true),
        (
            voip("RNVoipPushNotificationManager.didReceiveIncomingPush(with: p); completion()"),
            .voipHandlerWithoutReport, true
        ),
        (
            voip(
                "guard let c = Call(p) else { completion(); return }\n"
                    + "provider.reportNewIncomingCall(with: c.id, update: u) { _ in completion() }"
            ), .fault(.voipPathWithoutReport), true
        ),
        (
            voip(
                "guard t == .voIP else { completion(); return }\n"
                    + "provider.reportNewIncomingCall(with: id, update: u) { _ in completion() }"
            ), .fault(.voipPathWithoutReport), false
        ),
        (
            voip(
                "if app.applicationState != .active { return }\ncalls.incoming(p)\ncompletion()"),
            .fault(.voipPathWithoutReport), true
        ),
        (
            voip(
                "if let c = parse(p) { calls.report(c) } else { log(p) }\ncompletion()"),
            .fault(.voipPathWithoutReport), true
        ),
        (
            voip(
                "if let c = parse(p) { calls.report(c) } else { calls.reportFake() }\n"
                    + "completion()"), .fault(.voipPathWithoutReport), false
        ),
        (voip("calls.incoming(p)"), .fault(.voipPathWithoutCompletion), true),
        (
            voip("if #available(iOS 13, *) { completion() }\ncalls.incoming(p)"),
            .fault(.voipPathWithoutCompletion), false
        ),
        (
            voip(
                "guard let c = parse(p) else {\ncalls.reportFake()\nreturn }\n"
                    + "calls.report(c, then: completion)"), .fault(.voipPathWithoutCompletion), true
        ),
        (
            voip("defer { completion() }\nguard let c = parse(p) else { return }\ncalls.report(c)"),
            .fault(.voipPathWithoutCompletion), false
        ),
        (voip("calls.incoming(p)"), .voipHandler(takesMetadata: false), true),
        (
            voip("calls.incoming(p)", ", metadata: PKVoIPPushMetadata"),
            .voipHandler(takesMetadata: true), true
        ),
        ("r.desiredPushTypes = [.voIP]", .voipRegistration(.unknown), true),
        ("r.desiredPushTypes = [PKPushType.fileProvider]", .otherPushTypes, true),
    ]

    @Test("handlers of VoIP pushes", arguments: voipHandlersCases)
    func voipHandlers(source: String, subject: Subject, isSeen: Bool) {
        #expect(Self.observations(source).map(\.subject).contains(subject) == isSeen)
    }

    private static func token(_ body: String) -> String {
        "func application(_ a: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken "
            + "deviceToken: Data) { \(body) }"
    }

    /// The same function with another name for its parameter.
    private static func named(_ name: String, _ body: String) -> String {
        "func application(_ a: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken "
            + "\(name): Data) { \(body) }"
    }

    private static func credentials(_ body: String) -> String {
        "func pushRegistry(_ r: PKPushRegistry, didUpdate credentials: PKPushCredentials, for t: "
            + "PKPushType) { \(body) }"
    }

    private static let deviceTokensCases: [(String, Subject, Bool)] = [
        (named("token", "let s = token.description"), Subject.describedDeviceToken, true),
        (named("data", "let s = \"\\(data)\""), .describedDeviceToken, true),
        (named("t", "let s = String(describing: t)"), .describedDeviceToken, true),
        (named("data", "guard data.count == 32 else { return }"), .fixedTokenLength, true),
        (named("data", "let s = \"\\(other)\""), .describedDeviceToken, false),
        (named("data", "let s = other.description"), .describedDeviceToken, false),
        ("func f(token: Data) { let s = token.description }", .describedDeviceToken, false),
        (
            "func registerVoipPushToken(_ t: Data) { let s = \"\\(t)\" }", .describedDeviceToken,
            true
        ),
        ("func keepPushToken(_ t: String) { f(t.description) }", .describedDeviceToken, false),
        (token("let s = deviceToken.description"), Subject.describedDeviceToken, true),
        (token("let s = \"\\(deviceToken)\""), .describedDeviceToken, true),
        (token("NSLog(\"%@\", deviceToken.description)"), .describedDeviceToken, false),
        (token("logger.info(\"token \\(deviceToken)\")"), .describedDeviceToken, false),
        (token("Log.d(\"token \\(deviceToken.description)\")"), .describedDeviceToken, false),
        (token("LogService.send(\"\\(deviceToken)\")"), .describedDeviceToken, true),
        (token("Server.d(\"token \\(deviceToken.description)\")"), .describedDeviceToken, true),
        (token("send(deviceToken.description)"), .describedDeviceToken, true),
        (token("let s = String(describing: deviceToken)"), .describedDeviceToken, true),
        (token("let s = (deviceToken as NSData).description"), .describedDeviceToken, true),
        (token("let s = \"\\(deviceToken as NSData)\""), .describedDeviceToken, true),
        (
            token("let s = String(format: \"%@\", deviceToken as CVarArg)"),
            .describedDeviceToken, true
        ),
        (token("NSLog(\"%@\", deviceToken as NSData)"), .describedDeviceToken, false),
        (token("let n = (deviceToken as NSData).bytes"), .describedDeviceToken, false),
        (
            token("let s = deviceToken.map { String(format: \"%02x\", $0) }.joined()"),
            .describedDeviceToken, false
        ),
        (
            "func send(deviceToken: String) { let s = \"/3/device/\\(deviceToken)\" }",
            .describedDeviceToken, false
        ),
        ("func f(c: C) { let s = credentials.token.description }", .describedDeviceToken, true),
        (credentials("let s = \"\\(credentials.token)\""), .describedDeviceToken, true),
        (
            credentials("let s = String(describing: credentials.token)"), .describedDeviceToken,
            true
        ),
        (
            credentials("let s = (credentials.token as NSData).description"),
            .describedDeviceToken, true
        ),
        (credentials("print(\"\\(credentials.token)\")"), .describedDeviceToken, false),
        (credentials("let s = hex(credentials.token)"), .describedDeviceToken, false),
        (
            "func f(credentials: OAuth) { let s = \"\\(credentials.token)\" }",
            .describedDeviceToken, false
        ),
        (
            token("UserDefaults.standard.set(deviceToken, forKey: \"t\")"), .storedDeviceToken,
            true
        ),
        ("@AppStorage(\"pushToken\") var t: String?", .storedDeviceToken, true),
        (
            "let t = UserDefaults.standard.data(forKey: \"deviceToken\")", .storedDeviceToken,
            false
        ),
        (
            "UserDefaults.standard.removeObject(forKey: \"deviceToken\")", .storedDeviceToken,
            false
        ),
        ("UserDefaults.standard.set(true, forKey: \"pushTokenSent\")", .storedDeviceToken, false),
        (
            "UserDefaults.standard.set(DeviceTokenState.text(deviceTokenState: "
                + ".DEVICE_TOKEN_SEND_DONE), forKey: k)", .storedDeviceToken, false
        ),
        ("UserDefaults.standard.set(S.text(.pushTokenNew), forKey: k)", .storedDeviceToken, false),
        ("UserDefaults.standard.set(hex(data: pushToken), forKey: k)", .storedDeviceToken, true),
        ("UserDefaults.standard.set(self.pushToken, forKey: k)", .storedDeviceToken, true),
        (
            "extension UserDefaults { func keep(_ deviceToken: Data) {} }", .storedDeviceToken,
            false
        ),
        (
            "var deviceToken: String?; func f() { log(String(describing: deviceToken)) }",
            .describedDeviceToken, false
        ),
        (
            "UserDefaults.standard.set(accessToken, forKey: \"accessToken\")",
            .storedDeviceToken,
            false
        ),
        (token("guard deviceToken.count == 32 else { return }"), .fixedTokenLength, true),
        (token("guard deviceToken.count > 0 else { return }"), .fixedTokenLength, false),
        ("let tokenPattern = \"^[0-9a-f]{64}$\"", .fixedTokenLength, true),
        ("let digestPattern = \"^[0-9a-f]{64}$\"", .fixedTokenLength, false),
    ]

    @Test("a registration that both sides of a condition make depends on no flag")
    func repeatedRegistration() {
        let register = "a.registerForRemoteNotifications()"
        func hasFlag(_ body: String) -> Bool {
            Self.observations("func f() { if a.isRegisteredForRemoteNotifications {\n\(body) }")
                .contains { $0.subject == .remoteNotificationRegistration(.flag) }
        }
        #expect(!hasFlag("\(register)\nreturn\n}\nstart()\n\(register)"))
        #expect(!hasFlag("\(register)\n} else {\n\(register)\n}"))
        #expect(hasFlag("\(register)\nreturn\n}\nstart()"))
        #expect(hasFlag("\(register)\n}\nif isNew { \(register) }"))
    }

    @Test("a setting that depends on the background modes is for those that there are")
    func settingByModes() {
        func isSeen(_ key: String) -> Bool {
            Self.observations(
                "func f() {\nlet modes = Bundle.main.object(forInfoDictionaryKey: \"\(key)\")\n"
                    + "if modes.contains(\"location\") {\n"
                    + "m.allowsBackgroundLocationUpdates = true\n}\n}"
            ).contains { $0.subject == .backgroundLocation }
        }
        #expect(isSeen("CFBundleName"))
        #expect(!isSeen("UIBackgroundModes"))
    }

    @Test("what becomes of device tokens", arguments: deviceTokensCases)
    func deviceTokens(source: String, subject: Subject, isSeen: Bool) {
        #expect(Self.observations(source).map(\.subject).contains(subject) == isSeen)
    }

    private static let wordsCases: [(String, Subject)] = [
        ("manager.allowsBackgroundLocationUpdates = true", Subject.backgroundLocation),
        ("scene.backgroundTask(.appRefresh(\"a\")) { }", .registeredTask("a", .launch)),
        (
            "let r = BGProcessingTaskRequest(identifier: \"p\")",
            .requestedTask("p", .processing)
        ),
        ("let r = BGProcessingTaskRequest(identifier: \"p\")", .backgroundWork(.processing)),
        ("let a = try Activity.request(attributes: x, pushType: .token)", .pushedLiveActivity),
        ("for await t in Activity<A>.pushToStartTokenUpdates {}", .pushedLiveActivity),
        ("struct H: WidgetPushHandler { }", .widgetPushHandler),
        ("class S: UNNotificationServiceExtension { }", .serviceExtension),
        (
            "class S: UNNotificationServiceExtension { func f() { h(UNNotificationContent()) } }",
            .hiddenNotification
        ),
        ("let c = try content.updating(from: intent)", .communicationStyle),
        ("let a = AVAudioSession.sharedInstance()", .feature(.audio)),
        ("if await Storefront.current?.countryCode == \"CHN\" { }", .regionSwitch),
        (
            "func f() { d.application(a, performFetchWithCompletionHandler: done) }",
            .legacyFetchCall
        ),
        (
            "func application(_ a: A, performFetchWithCompletionHandler c: @escaping C) {}",
            .legacyFetch
        ),
    ]

    @Test("features and other words", arguments: wordsCases)
    func words(source: String, subject: Subject) {
        #expect(Self.observations(source).map(\.subject).contains(subject))
    }

    @Test("places are those of the words, and #if is noted")
    func places() throws {
        let found = Self.observations(
            "\n/* é */ #if DEBUG\n  é(CXProvider())\n#endif\nCXProvider()")
        #expect(found.map(\.place.line) == [3, 5])
        #expect(found.map(\.place.column) == [5, 1])
        #expect(found.map(\.isConditional) == [true, false])
    }

    @Test(
        "what a release build for iOS compiles is known of some conditions",
        arguments: [
            ("#if os(iOS)\nX\n#endif", true), ("#if os(macOS)\nX\n#endif", false),
            ("#if canImport(UIKit)\nX\n#endif", true), ("#if canImport(Kit)\nX\n#endif", false),
            ("#if !DEBUG\nX\n#endif", true), ("#if DEBUG\nX\n#endif", false),
            ("#if DEBUG\n#else\nX\n#endif", true), ("#if CALLS\n#else\nX\n#endif", false),
            ("#if os(iOS)\n#else\nX\n#endif", false), ("#if CALLS\nX\n#endif", false),
            ("#if os(macOS)\n#elseif os(iOS)\nX\n#endif", true),
            ("#if CALLS\n#elseif os(iOS)\nX\n#endif", false),
            ("#if os(iOS) || os(tvOS)\nX\n#endif", true),
            ("#if os(iOS) && CALLS\nX\n#endif", false),
            ("#if os(iOS) && !targetEnvironment(simulator)\nX\n#endif", true),
            ("#if (os(iOS) || CALLS) && !os(macOS)\nX\n#endif", true),
            ("#if os(iOS)\n#if CALLS\nX\n#endif\n#endif", false),
            ("#if CALLS\n#endif\n#if os(iOS)\nX\n#endif", true), ("#if\nX\n#endif", false),
            ("#endif\n#else\n#if os(iOS)\nX", true),
        ])
    func conditions(source: String, isBuilt: Bool) {
        let found = Self.observations(source.replacing("X", with: "CXProvider()"))
        #expect(found.map(\.isBuiltForIOS) == [isBuilt])
    }
}
