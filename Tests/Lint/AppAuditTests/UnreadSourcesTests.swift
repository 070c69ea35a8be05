// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// What sources that are not read may hide, and what a report says of it.
@Suite("Sources that are not read")
struct UnreadSourcesTests {
    private static let info = XML.dictionary([
        ("CFBundlePackageType", "<string>APPL</string>"), ("LSRequiresIPhoneOS", "<true/>"),
    ])

    /// The rules that a report says are not judged, by the reason that has a word.
    private static func rules(
        _ files: [String: String], _ word: String
    ) throws -> [String]? {
        let folder = try TestFolder()
        for (name, text) in files { try folder.write(text, to: name) }
        return try Audit(paths: [folder.path]).report().unjudged
            .first { $0.reason.contains(word) }?.rules.map(\.rawValue)
    }

    private static let some: Set = ["CF003", "CF020", "CF026", "CF032", "CF048"]

    @Test(
        "text in a language that may be built for iOS hides what only text shows",
        arguments: [
            ["App/App.csproj": "<Project/>", "App/A.cs": "class A {}"],
            ["shared/src/iosMain/kotlin/A.kt": "fun a() {}"],
            ["shared/src/commonMain/kotlin/A.kt": "fun a() {}"],
        ])
    func native(files: [String: String]) throws {
        let all = files.merging(["App/Info.plist": Self.info]) { $1 }
        let found = try #require(try Self.rules(all, "not read"))
        #expect(Self.some.isSubset(of: found))
        #expect(found == found.sorted())
    }

    @Test(
        "text that is not built for iOS hides nothing of it",
        arguments: [
            ["Assets/A.cs": "class A {}"], ["android/app/src/main/A.kt": "fun a() {}"],
            ["src/main/kotlin/A.kt": "fun a() {}"], ["Domain/A.kt": "fun a() {}"],
        ])
    func other(files: [String: String]) throws {
        let all = files.merging(["App/Info.plist": Self.info]) { $1 }
        #expect(Self.some.isDisjoint(with: try Self.rules(all, "not read") ?? []))
    }

    @Test("scripts hide what a framework lets them do")
    func scripts() throws {
        let app = [
            "App/Info.plist": Self.info,
            "package.json": "{ \"dependencies\": { \"expo\": \"1\" } }",
            "a.ts": "run()",
        ]
        let found = try #require(try Self.rules(app, "TypeScript"))
        #expect(Set(["CF004", "CF026", "CF032", "CF048"]).isSubset(of: found))
        #expect(Set(["CF003", "CF010", "CF020"]).isDisjoint(with: found))
    }

    @Test("scripts beside a project are named if they work in the background")
    func scriptsBesideProject() throws {
        func report(
            _ files: [String: String], folder name: String = "ios", below parent: String = ""
        ) throws -> [String]? {
            let folder = try TestFolder()
            try AuditScopeTests.write(
                folder, name, settings: "", source: "import React\nlet x = 1", below: parent)
            try folder.write("{ \"dependencies\": { \"expo\": \"1\" } }", to: "package.json")
            for (name, text) in files { try folder.write(text, to: name) }
            return try Audit(paths: [folder.path]).report().unjudged
                .first { $0.reason.contains("work in the background") }?.rules.map(\.rawValue)
        }
        let task = "TaskManager.defineTask(NAME, async () => { });"
        #expect(try report(["src/task.ts": task]) == ["CF004", "CF026", "CF032", "CF048"])
        #expect(try report(["src/task.js": "import f from 'expo-background-fetch';"]) != nil)
        #expect(try report(["src/view.tsx": "export default () => null;"]) == nil)
        #expect(try report(["README.md": task]) == nil)
        #expect(try report(["node_modules/a/task.ts": task]) == nil)
        #expect(try report(["src/task.ts": task], folder: "Web") == nil)
        let rules = try report(["src/task.js": "await BackgroundFetch.finish(id);"]) ?? []
        #expect(Set(["CF004", "CF020", "CF035", "CF037", "CF055"]).isSubset(of: rules))
        #expect(!rules.contains("CF045") && !rules.contains("CF005"))
        #expect(try report(["src/task.js": "await BackgroundFetch.status();"]) == nil)
        #expect(
            try report(["src/a.ts": "import * as B from 'expo-background-task';"])
                == ["CF004", "CF020", "CF026", "CF032", "CF048"])
        let time = "app.beginBackgroundTaskWithExpirationHandler(() => stop());"
        #expect(try report(["app/a.ts": time], below: "platforms/")?.contains("CF045") == true)
        #expect(try report(["src/task.ts": task], folder: "App", below: "ios/") != nil)
        #expect(try report(["src/task.ts": task], folder: "App", below: "app/") == nil)
    }

    @Test("scripts that ask for a device token are named if the app may lack the entitlement")
    func scriptsWithTokens() throws {
        func isOpen(
            _ script: String, entitlements: String? = nil, source: String = "let x = 1"
        ) throws -> Bool {
            let folder = try TestFolder()
            try AuditScopeTests.write(
                folder, "ios",
                settings: entitlements == nil ? "" : "CODE_SIGN_ENTITLEMENTS = App.entitlements;",
                source: "import React\n" + source)
            if let entitlements { try folder.write(entitlements, to: "ios/App.entitlements") }
            try folder.write("{ \"dependencies\": { \"expo\": \"1\" } }", to: "package.json")
            try folder.write(script, to: "src/a.js")
            let entry = try Audit(paths: [folder.path]).report().unjudged
                .first { $0.reason.contains("device token") }
            #expect(entry == nil || entry?.rules == ["CF005"])
            return entry != nil
        }
        let asks = "Notifications.registerRemoteNotifications();"
        let push = XML.dictionary([("aps-environment", "<string>development</string>")])
        #expect(try isOpen(asks))
        #expect(try isOpen(asks, entitlements: XML.dictionary([])))
        #expect(try isOpen("PushNotificationIOS.requestPermissions();"))
        #expect(try !isOpen(asks, entitlements: push))
        #expect(try !isOpen("Camera.requestPermissions();"))
        #expect(try !isOpen("Notifications.getInitialNotification();"))
        // The app itself is told of.
        #expect(try !isOpen(asks, source: "a.registerForRemoteNotifications()"))
    }

    @Test("scripts of an app without a project leave open what their words show")
    func scriptsWithoutProject() throws {
        let app = [
            "package.json": "{ \"dependencies\": { \"nativescript\": \"1\" } }",
            "App/Info.plist": Self.info,
        ]
        let time = "app.beginBackgroundTaskWithNameExpirationHandler('a', () => stop());"
        let script = app.merging(["app/a.ts": time]) { $1 }
        #expect(try Self.rules(script, "work in the background") == ["CF045"])
        let task = app.merging(["app/a.ts": "TaskManager.defineTask(NAME, run);"]) { $1 }
        #expect(try Self.rules(task, "work in the background") == nil)
    }

    @Test("a configuration of Expo without its project is named")
    func expo() throws {
        let config = "config.ios.infoPlist.UIBackgroundModes = ['fetch'];"
        let files = ["app.config.ts": config, "a.swift": "import UIKit"]
        let found = try #require(try Self.rules(files, "Expo"))
        #expect(Set(["CF001", "CF005", "CF019", "CF020", "CF030"]).isSubset(of: found))
        let extensionInfo = XML.dictionary([
            ("NSExtension", "<dict><key>NSExtensionPointIdentifier</key><string>a</string></dict>")
        ])
        #expect(
            try Self.rules(files.merging(["X/Info.plist": extensionInfo]) { $1 }, "Expo") != nil)
        for (name, text) in [
            ("ios/App/Info.plist", Self.info), ("app.config.ts", "export default { web: {} };"),
        ] {
            #expect(try Self.rules(files.merging([name: text]) { $1 }, "Expo") == nil, "\(name)")
        }
        #expect(try Self.rules(["config.ts": config, "a.swift": "import UIKit"], "Expo") == nil)
    }

    @Test("time in the background is open only if what was read lacks its end")
    func backgroundTime() throws {
        func isOpen(_ source: String, _ manifest: String = "A.podspec") throws -> Bool {
            try Self.rules(
                [
                    manifest: "Pod::Spec.new", "a.js": "run()", "A.swift": source,
                    "package.json": "{ \"dependencies\": { \"react-native\": \"1\" } }",
                ], "not read")?.contains("CF045") ?? false
        }
        let begin = "let id = UIApplication.shared.beginBackgroundTask { stop() }\n"
        #expect(try isOpen("func f() {\n\(begin)}"))
        let end = "UIApplication.shared.endBackgroundTask(id)"
        #expect(try !isOpen("func f() {\n\(begin)work()\n\(end)\n}"))
        #expect(try !isOpen("func f() { \(end) }"))
        #expect(try !isOpen("import UIKit"))
        // Pods may ask for it.
        #expect(try isOpen("import UIKit", "Podfile"))
    }

    @Test("background fetch of an app without a known deployment target is named")
    func deploymentTarget() throws {
        let fetch =
            "class A: NSObject, UIApplicationDelegate {\nfunc application(_ a: UIApplication, "
            + "performFetchWithCompletionHandler done: @escaping (R) -> Void) { done(.noData) }\n"
            + "func applicationDidFinishLaunching(_ a: UIApplication) {\n"
            + "a.setMinimumBackgroundFetchInterval(900)\n}\n}"
        func rules(_ members: [(String, String)], _ source: String) throws -> [String]? {
            let plist = XML.dictionary(
                [
                    ("CFBundlePackageType", "<string>APPL</string>"),
                    ("LSRequiresIPhoneOS", "<true/>"), ("UIBackgroundModes", XML.array("fetch")),
                ] + members)
            return try Self.rules(["App/Info.plist": plist, "App/A.swift": source], "deployment")
        }
        let permitted = ("BGTaskSchedulerPermittedIdentifiers", XML.array("a.b"))
        #expect(try rules([permitted], fetch) == ["CF051"])
        #expect(try rules([], fetch) == nil)
        #expect(try rules([permitted], "import UIKit") == nil)
        #expect(
            try rules([permitted, ("MinimumOSVersion", "<string>12.0</string>")], fetch) == nil)
        #expect(
            try rules([permitted, ("MinimumOSVersion", "<string>15.0</string>")], fetch) == nil)
    }
}
