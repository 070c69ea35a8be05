// SPDX-License-Identifier: Apache-2.0

import Foundation
import PayloadRules
import Testing

@testable import AppAudit

/// Apps whose plugins and frameworks do what their own source text does not.
@Suite("Plugins and frameworks")
struct PluginTests {
    private static let info = XML.dictionary([
        ("CFBundlePackageType", "<string>APPL</string>"),
        ("LSRequiresIPhoneOS", "<true/>"),
        ("UIBackgroundModes", XML.array("remote-notification")),
    ])

    private static let delegate = """
        class AppDelegate: FlutterAppDelegate {
          func start() {
            center.requestAuthorization(options: []) { granted, error in
              if granted { application.registerForRemoteNotifications() }
            }
          }
          func application(_ a: A, didFinishLaunchingWithOptions o: O?) -> Bool { start() }
        }
        """

    private static func rules(_ manifest: String?, _ text: String) throws -> [String] {
        let folder = try TestFolder()
        try folder.write(info, to: "app/ios/Runner/Info.plist")
        try folder.write(delegate, to: "app/ios/Runner/AppDelegate.swift")
        if let manifest { try folder.write(text, to: "app/" + manifest) }
        return AuditScopeTests.rules(try Audit(paths: [folder.path]).report())
    }

    @Test("a plugin in a manifest registers for pushes and handles them")
    func manifests() throws {
        #expect(try Self.rules(nil, "").sorted() == ["CF002"])
        #expect(
            try Self.rules("pubspec.yaml", "dependencies:\n  firebase_messaging: ^15.0\n") == [])
        #expect(
            try Self.rules("pubspec.yaml", "dependencies:\n  # firebase_messaging: ^15.0\n")
                == ["CF032"], "packages that were not read may handle pushes")
        let package = "{ \"dependencies\": {\n  \"@react-native-firebase/messaging\": \"1\" } }"
        #expect(try Self.rules("package.json", package) == [])
    }

    @Test(
        "a plugin registers the task that the app delegate names",
        arguments: [
            ("WorkmanagerPlugin.registerPeriodicTask(withIdentifier: \"a.b\", frequency: 9)", true),
            ("WorkmanagerPlugin.registerBGProcessingTask(withIdentifier: \"a.b\")", true),
            ("WorkmanagerPlugin.registerTask(withIdentifier: \"a.c\")", false),
            ("OtherPlugin.registerTask(withIdentifier: \"a.b\")", false),
            ("SwiftFlutterBackgroundServicePlugin.taskIdentifier = \"a.b\"", true),
            ("SwiftFlutterBackgroundServicePlugin.taskIdentifier = \"a.c\"", false),
            ("SwiftFlutterBackgroundServicePlugin.taskIdentifier = \"a\\u{2E}c\"", false),
            ("SwiftFlutterBackgroundServicePlugin.taskIdentifier = \"a\\u{2e}b\"", true),
            ("print(SwiftFlutterBackgroundServicePlugin.taskIdentifier, \"a.b\")", false),
            ("OtherPlugin.taskIdentifier = \"a.b\"", false),
            ("WorkmanagerPlugin.registerTask(withIdentifier:", false),
            ("BGTaskScheduler.shared.register(forTaskWithIdentifier:", false),
        ])
    func registeredTasks(call: String, isUnknown: Bool) throws {
        let folder = try TestFolder()
        let info = XML.dictionary([
            ("CFBundlePackageType", "<string>APPL</string>"),
            ("LSRequiresIPhoneOS", "<true/>"), ("UIBackgroundModes", XML.array("fetch")),
            ("BGTaskSchedulerPermittedIdentifiers", XML.array("a.c")),
        ])
        try folder.write(info, to: "app/ios/Runner/Info.plist")
        try folder.write(
            "import Flutter\nimport workmanager_apple\nimport flutter_background_service_ios\n"
                + "class AppDelegate: FlutterAppDelegate {\n"
                + "func application(_ a: A, didFinishLaunchingWithOptions o: O?) -> Bool {\n\(call)"
                // A file may end anywhere.
                + (call.hasSuffix(":") ? "" : "\nreturn true\n}\n}\n"),
            to: "app/ios/Runner/AppDelegate.swift")
        let found = try Audit(paths: [folder.path]).report().findings
            .filter { $0.diagnostic.rule == "CF020" }
        #expect(found.map(\.diagnostic.severity) == (isUnknown ? [.error] : []))
    }

    @Test("a plugin that source text names does too")
    func imports() throws {
        let folder = try TestFolder()
        try folder.write(Self.info, to: "Runner/Info.plist")
        try folder.write(
            "import firebase_messaging\n" + Self.delegate, to: "Runner/AppDelegate.swift")
        #expect(try Audit(paths: [folder.path]).report().findings == [])
    }

    @Test("a broken Info.plist of a framework is told, and is no problem")
    func brokenFramework() throws {
        let folder = try TestFolder()
        let broken = "<plist><dict><key>a</key></dict></plist>"
        try AuditScopeTests.write(
            folder, "App", settings: "INFOPLIST_FILE = Info.plist;")
        try folder.write(broken, to: "App/Info.plist")
        #expect(try Audit(paths: [folder.path]).report().problems.count == 1)
        let path = folder.path + "/App/App.xcodeproj/project.pbxproj"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try folder.write(
            text.replacing(
                "com.apple.product-type.application", with: "com.apple.product-type.framework"),
            to: "App/App.xcodeproj/project.pbxproj")
        let report = try Audit(paths: [folder.path]).report()
        #expect(report.problems == [])
        #expect(report.unjudged.contains { $0.reason.contains("App/Info.plist: ") })
        let named = try Audit(paths: [folder.path + "/App/Info.plist"]).report()
        #expect(named.problems.count == 1)
    }

    private static func subjects(
        _ source: String, _ path: String = "a.swift"
    )
        -> [SourceObservation.Subject]
    {
        SourceReader.observations(
            in: SourceText(Array(source.utf8), path: path), SourceConstants()
        ).map(\.subject)
    }

    @Test("an app delegate whose base class is the system's")
    func plainDelegates() {
        for source in [
            "class AppDelegate: UIResponder, UIApplicationDelegate { }",
            "final class Delegate: NSObject, UIApplicationDelegate, Other { }",
            "@main struct Main: App { var body: some Scene { WindowGroup { A() } } }",
        ] {
            #expect(Self.subjects(source).contains(.plainDelegate), "\(source)")
        }
        for source in [
            "class AppDelegate: FlutterAppDelegate { }",
            "class AppDelegate: Base, UIApplicationDelegate { }",
            "@main struct Main: App { @UIApplicationDelegateAdaptor(D.self) var d }",
        ] {
            #expect(!Self.subjects(source).contains(.plainDelegate), "\(source)")
        }
    }

    @Test("an app delegate of Objective-C, whose base class stands in its header")
    func delegateInHeader() throws {
        let implementation =
            "@implementation AppDelegate\n- (BOOL)application:(UIApplication *)application "
            + "didFinishLaunchingWithOptions:(NSDictionary *)options {\nreturn YES;\n}\n"
        func rules(_ header: String, _ methods: String = "") throws -> [String] {
            let folder = try TestFolder()
            try folder.write(
                XML.dictionary([("UIBackgroundModes", XML.array("fetch"))]), to: "App/Info.plist")
            try folder.write(header, to: "App/AppDelegate.h")
            try folder.write("import Kit\nlet kit = Kit()", to: "App/Kit.swift")
            try folder.write(implementation + methods + "@end\n", to: "App/AppDelegate.m")
            return try Audit(paths: [folder.path]).report().findings
                .map { $0.diagnostic.rule.rawValue }
        }
        #expect(Self.isPlain("UIResponder <UIApplicationDelegate>", implementation))
        #expect(Self.isPlain("NSObject <Other, UIApplicationDelegate>", implementation))
        #expect(!Self.isPlain("FlutterAppDelegate", implementation))
        #expect(!Self.isPlain("UIResponder <Other>", implementation))
        #expect(!Self.isPlain("Base <UIApplicationDelegate>", implementation))
        let header = "@interface AppDelegate : UIResponder <UIApplicationDelegate>\n@end\n"
        #expect(try rules(header).contains("CF019"))
        let fetch =
            "- (void)application:(UIApplication *)application performFetchWithCompletionHandler:"
            + "(void (^)(UIBackgroundFetchResult))done {\ndone(1);\n}\n"
        #expect(try !rules(header, fetch).contains("CF019"))
    }

    private static func isPlain(_ base: String, _ implementation: String) -> Bool {
        let header = "@interface AppDelegate : \(base)\n@end\n"
        return SourceReader.declaresPlainDelegate(
            "AppDelegate", in: SourceText(Array(header.utf8), path: "AppDelegate.m"))
    }

    @Test(
        "what hands on the older fetch to plugins",
        arguments: [
            ("window.rootViewController = FlutterViewController()", true),
            ("let bridge = RCTBridge(delegate: self)", false),
            ("let view = RCTRootView(bridge: bridge)", false),
            ("return ApplicationDelegateProxy.shared.application(app, open: url)", false),
            ("class Main: CAPBridgeViewController {}", false),
        ])
    func hosts(source: String, isHost: Bool) {
        #expect(Self.subjects(source).contains(.pluginHost) == isHost)
    }

    @Test("the older handler of pushes does not wake the app")
    func olderHandler() {
        let head = "func application(_ a: UIApplication, didReceiveRemoteNotification u: [A: B]"
        #expect(Self.subjects(head + ") { f(u) }") == [.oldNotificationHandler])
        #expect(!Self.subjects(head + ") async -> R { f(u) }").contains(.oldNotificationHandler))
        #expect(
            !Self.subjects(head + ", fetchCompletionHandler c: @escaping C) { c(.noData) }")
                .contains(.oldNotificationHandler))
        let objc = "- (void)application:(UIApplication *)a didReceiveRemoteNotification:(D *)u { }"
        #expect(Self.subjects(objc, "a.m").contains(.oldNotificationHandler))
    }
}
