// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Functions that nothing calls, and entitlements of other bundles.
@Suite("Callers")
struct CallersTests {
    /// The rules that a project with one app and an own file for each text breaks.
    private static func rules(_ texts: String...) throws -> Set<String> {
        let folder = try TestFolder()
        let plist = "<plist version=\"1.0\"><dict>"
        try folder.write(
            plist + "<key>CFBundlePackageType</key><string>APPL</string></dict></plist>",
            to: "Info.plist")
        try folder.write(plist + "</dict></plist>", to: "App.entitlements")
        for (index, text) in texts.enumerated() { try folder.write(text, to: "F\(index).swift") }
        return Set(AuditScopeTests.rules(try Audit(paths: [folder.path]).report()))
    }

    private static let enable =
        "func enablePush() {\nUIApplication.shared.registerForRemoteNotifications()\n}\n"

    @Test("a token that only a function without a caller asks for needs no entitlement")
    func registration() throws {
        for type in [
            "class AppDelegate: UIResponder, UIApplicationDelegate {\n\(Self.enable)}\n",
            "struct Push {\nstatic \(Self.enable)}\n", Self.enable,
            "extension Alien {\nprivate \(Self.enable)}\n",
            "class Push {\nfunc pushRegistry(_ r: R, didUpdate c: C, for t: T) {\n"
                + "UIApplication.shared.registerForRemoteNotifications()\n}\n}\n",
        ] {
            #expect(try Self.rules(type) == [])
            #expect(try Self.rules(type, "// none\nclass Other {\n}\n") == [])
        }
        // Something calls it, or may.
        for (type, other) in [
            ("struct Push {\nstatic \(Self.enable)}\n", "func f() { Push.enablePush() }\n"),
            ("class Push {\n\(Self.enable)}\n", "let s = #selector(Push.enablePush)\n"),
            ("class Push {\n@objc \(Self.enable)}\n", ""),
            ("class Push: Plugin {\n\(Self.enable)}\n", ""),
            ("class Push: Base {\noverride \(Self.enable)}\n", ""),
            ("extension Alien {\n\(Self.enable)}\n", ""),
            (Self.enable.replacing("Push", with: "Größe"), "func f() { enableGröße() }\n"),
            ("public struct Push {\npublic \(Self.enable)}\n", ""),
            (
                "class Push {\nfunc applicationDidBecomeActive(_ a: A) {\n"
                    + "a.registerForRemoteNotifications()\n}\n}\n", ""
            ),
        ] {
            #expect(try Self.rules(type, other) == ["CF005"])
        }
    }

    @Test("a function that only others without a caller call does not run")
    func chains() throws {
        let first = "class AppDelegate: UIResponder, UIApplicationDelegate {\n\(Self.enable)"
        let second = first + "func askUser() {\ncenter.ask { self.enablePush() }\n}\n"
        #expect(try Self.rules(second + "}\n") == [])
        #expect(try Self.rules("@main\n@objc " + second + "}\n") == [])
        #expect(try Self.rules(second + "func start() {\naskUser()\n}\n}\n") == [])
        #expect(try Self.rules(second + "func f() {\n  // self.askUser()\n}\n}\n") == [])
        // Something else calls one of them, or may.
        for other in [
            "func applicationDidBecomeActive(_ a: A) {\naskUser()\n}\n}\n",
            "}\nfunc f(_ a: AppDelegate) {\na.enablePush()\n}\nlet g = f\n",
        ] {
            #expect(try Self.rules(second + other) == ["CF005"])
        }
        for call in ["a.askUser()", "a.enablePush()", "a.f() // askUser()"] {
            #expect(
                try Self.rules(second + "}\n", "func f() {\n\(call)\n}\n") == ["CF005"])
        }
    }

    @Test("what registers behind the permission counts only if it runs")
    func permission() throws {
        let ask = "func ask() {\ncenter.requestAuthorization(options: o) { granted, _ in\n"
        let push =
            "class AppDelegate: UIResponder, UIApplicationDelegate {\n\(ask)"
            + "if granted { app.registerForRemoteNotifications() }\n}\n}\n"
            + AuditScopeTests.handler + "\n}\n"
        let modes =
            "<key>UIBackgroundModes</key><array><string>remote-notification</string></array>"
        func rules(_ text: String) throws -> [String] {
            let folder = try TestFolder()
            try folder.write(
                "<plist version=\"1.0\"><dict><key>CFBundlePackageType</key><string>APPL</string>"
                    + "\(modes)</dict></plist>", to: "Info.plist")
            try folder.write(text, to: "A.swift")
            return AuditScopeTests.rules(try Audit(paths: [folder.path]).report())
        }
        #expect(try !rules(push).contains("CF032"))
        let caller = "class H: Plugin {\nfunc g() { delegate.ask() }\n}\n"
        #expect(try rules(push + caller).contains("CF032"))
    }

    @Test("a method of an app delegate in Objective-C needs a caller, unless it is a callback")
    func methods() throws {
        func rules(
            _ name: String, in type: String = "AppDelegate", call: String = ""
        ) throws -> Set<String> {
            let folder = try TestFolder()
            let plist = "<plist version=\"1.0\"><dict></dict></plist>"
            try folder.write(plist, to: "App.entitlements")
            try folder.write(
                "@implementation \(type)\n- (void)\(name) {\n"
                    + "[[UIApplication sharedApplication] registerForRemoteNotifications];\n}\n"
                    + "- (void)application:(id)a didReceive:(id)b {\n\(call)\n}\n@end\n",
                to: "A.m")
            return Set(AuditScopeTests.rules(try Audit(paths: [folder.path]).report()))
        }
        #expect(try rules("enablePush") == [])
        #expect(try rules("enablePush", call: "[(AppDelegate *)b enablePush];") == ["CF005"])
        #expect(try rules("enablePush", in: "Plugin") == ["CF005"])
        #expect(try rules("applicationDidBecomeActive:(UIApplication *)a") == ["CF005"])
    }

    @Test("an app whose registration for VoIP pushes nothing calls gets none")
    func voip() throws {
        func rules(_ call: String) throws -> Set<String> {
            try Self.rules(
                "class AppDelegate: NSObject, UIApplicationDelegate, PKPushRegistryDelegate {\n"
                    + "func enableCalls() {\nregistry.desiredPushTypes = [.voIP]\n}\n"
                    + "func pushRegistry(_ r: PKPushRegistry, didReceiveIncomingPushWith p: "
                    + "PKPushPayload, for type: PKPushType, completion: @escaping () -> Void) {\n"
                    + "completion()\n}\nfunc applicationDidBecomeActive(_ a: A) {\n\(call)}\n}\n")
        }
        #expect(try rules("") == [])
        #expect(try rules("enableCalls()\n").isSuperset(of: ["CF008", "CF009"]))
    }

    @Test("a handler that nothing calls is judged only if the system may call it")
    func handlers() throws {
        let task =
            "struct Sync {\nfunc handle(task: BGProcessingTask) {\nguard isReady else { return }\n"
            + "run { task.setTaskCompleted(success: true) }\n}\n}\n"
        #expect(try Self.rules(task) == [])
        let register =
            "func f() {\nBGTaskScheduler.shared.register(forTaskWithIdentifier: id, using: nil, "
            + "launchHandler: Sync().handle)\n}\n"
        #expect(try Self.rules(task, register).contains("CF035"))
        let fetch =
            "class Push {\nfunc application(_ a: UIApplication, didReceiveRemoteNotification u: U, "
            + "fetchCompletionHandler done: @escaping (R) -> Void) {\nlog(u)\n}\n}\n"
        #expect(try !Self.rules(fetch).contains("CF003"))
        for other in [
            "extension Push: UIApplicationDelegate {\n}\n",
            "func f() { Push().application(a, didReceiveRemoteNotification: u) { _ in } }\n",
        ] {
            #expect(try Self.rules(fetch, other).contains("CF003"))
        }
        #expect(
            try Self.rules(fetch.replacing("class Push", with: "class Push: NSObject"))
                .contains("CF003"))
    }

    @Test("entitlements in which nothing stands are empty, and another list is not")
    func emptyEntitlements() throws {
        for list in ["<plist version=\"1.0\"></plist>", "<plist version=\"1.0\"/>\n"] {
            let folder = try TestFolder()
            try folder.write(
                "func f() { app.registerForRemoteNotifications() }\nf()", to: "A.swift")
            try folder.write(list, to: "App.entitlements")
            let report = try Audit(paths: [folder.path]).report()
            #expect(AuditScopeTests.rules(report) == ["CF005"])
            #expect(report.problems == [])
            try folder.write(list, to: "Info.plist")
            #expect(try Audit(paths: [folder.path]).report().problems != [])
        }
    }

    @Test("the casts of one file and of its copies are one finding")
    func casts() throws {
        let folder = try TestFolder()
        let cast = "class T: Plugin {\nfunc f(_ t: T) {\nrun(t as! BGAppRefreshTask)\n}\n}\n"
        try folder.write(cast + cast, to: "A/Tasks.swift")
        try folder.write(cast + cast, to: "B/Tasks.swift")
        try folder.write(cast, to: "Other.swift")
        let rules = AuditScopeTests.rules(try Audit(paths: [folder.path]).report())
        #expect(rules.filter { $0 == "CF043" }.count == 2)
    }

    @Test("of several entitlements, those with the key are of the bundle that asks for a token")
    func entitlements() throws {
        let folder = try TestFolder()
        try folder.write("func f() { app.registerForRemoteNotifications() }\nf()", to: "A.swift")
        let plist = "<plist version=\"1.0\"><dict>KEY</dict></plist>"
        try folder.write(plist.replacing("KEY", with: ""), to: "Helper/Helper.entitlements")
        func rules(_ key: String) throws -> [String] {
            let key = "<key>\(key)</key><string>development</string>"
            try folder.write(plist.replacing("KEY", with: key), to: "App/App.entitlements")
            return AuditScopeTests.rules(try Audit(paths: [folder.path]).report())
        }
        #expect(try rules("aps-environment") == [])
        #expect(try rules("com.apple.developer.aps-environment") == [])
        #expect(try rules("com.apple.other") == ["CF005", "CF005"])
    }
}
