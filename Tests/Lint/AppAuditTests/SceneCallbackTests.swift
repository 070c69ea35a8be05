// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Work that an app with scenes asks for in a function which iOS does not call.
@Suite("The app delegate's callbacks in apps with scenes")
struct SceneCallbackTests {
    private static let scenes =
        "@main struct A: App { @UIApplicationDelegateAdaptor(AppDelegate.self) "
        + "var d\nvar body: some Scene { WindowGroup { V() } } }\n"

    private static func delegate(_ body: String, _ rest: String = "") -> String {
        "class AppDelegate: NSObject, UIApplicationDelegate {\n"
            + "func applicationDidEnterBackground(_ application: UIApplication) {\n\(body)\n}\n"
            + "\(rest)\n}\n"
    }

    private static func isTold(
        _ files: [String: String], manifest: Bool = false,
        role: String = "UIWindowSceneSessionRoleApplication"
    ) throws -> Bool {
        let folder = try TestFolder()
        var info = [
            ("CFBundlePackageType", "<string>APPL</string>"), ("LSRequiresIPhoneOS", "<true/>"),
        ]
        if manifest {
            info.append(
                (
                    "UIApplicationSceneManifest",
                    "<dict><key>UISceneConfigurations</key><dict><key>\(role)</key>"
                        + "<array><dict/></array></dict></dict>"
                ))
        }
        try folder.write(XML.dictionary(info), to: "Info.plist")
        for (name, text) in files { try folder.write(text, to: name) }
        return try Audit(paths: [folder.path]).report().findings
            .contains { $0.diagnostic.rule == "CF058" }
    }

    @Test(
        "work that is asked for there",
        arguments: [
            "jobs.scheduleRefresh()", "scheduler.submitAll()", "self.next()",
            "try? BGTaskScheduler.shared.submit(BGAppRefreshTaskRequest(identifier: \"a\"))",
            "id = UIApplication.shared.beginBackgroundTask { self.end() }",
        ])
    func told(body: String) throws {
        let next = "func next() { try? BGTaskScheduler.shared.submit(request) }"
        let source = Self.delegate(body, next)
        #expect(try Self.isTold(["A.swift": Self.scenes + source]))
        #expect(try Self.isTold(["A.swift": "@main\n" + source], manifest: true))
        #expect(try !Self.isTold(["A.swift": "@main\n" + source]))
    }

    @Test("a call of the base class is of no other part of the app")
    func base() throws {
        let source = Self.delegate(
            "super.applicationDidEnterBackground(application)\nself.next()",
            "func next() { try? BGTaskScheduler.shared.submit(request) }")
        #expect(try Self.isTold(["A.swift": "@main\n" + source], manifest: true))
    }

    @Test(
        "another part of the app learns of it",
        arguments: [
            "class S: UIResponder, UIWindowSceneDelegate {\n"
                + "func sceneDidEnterBackground(_ scene: UIScene) { jobs.schedule() }\n}",
            "struct V: View {\n@Environment(\\.scenePhase) var phase\n}",
            "func f() { (app.delegate as? AppDelegate)?.applicationDidEnterBackground(app) }",
            "let t = center.publisher(for: UIApplication.didEnterBackgroundNotification)",
            "class S: UIResponder, UIWindowSceneDelegate {\n"
                + "func sceneWillResignActive(_ scene: UIScene) { jobs.schedule() }\n}",
            "let t = center.publisher(for: UIScene.willDeactivateNotification)",
            "class S: UIResponder, UIWindowSceneDelegate {\n"
                + "func sceneDidBecomeActive(_ scene: UIScene) { jobs.scheduleRefresh() }\n}",
            "let t = UIApplication.rx.didEnterBackground",
            "let t = NSNotification.Name(\"UIApplicationDidEnterBackgroundNotification\")",
            "func f(_ d: AppDelegate) { life.onLeave = d.applicationDidEnterBackground }",
        ])
    func elsewhere(other: String) throws {
        let source = Self.scenes + Self.delegate("jobs.scheduleRefresh()")
        #expect(try !Self.isTold(["A.swift": source, "B.swift": other]))
    }

    @Test("no background work, and an empty function of a scene")
    func idle() throws {
        for body in ["", "store.save()", "print(\"background\")", "timer.invalidate()"] {
            #expect(try !Self.isTold(["A.swift": Self.scenes + Self.delegate(body)]))
        }
        let empty = "class S: UIResponder { func sceneDidEnterBackground(_ scene: UIScene) { } }"
        let source = Self.scenes + Self.delegate("jobs.scheduleRefresh()")
        #expect(try Self.isTold(["A.swift": source, "B.swift": empty]))
        let active =
            "class S: UIResponder { func sceneDidBecomeActive(_ scene: UIScene) { draw() } }"
        #expect(try Self.isTold(["A.swift": source, "B.swift": active]))
        let view =
            "struct V: View {\n@Environment(\\.scenePhase) var phase\nvar body: some View {\n"
            + "T().background(Color.red).onChange(of: phase) { _, new in\nASK\nload() } }\n}"
        for (ask, isTold) in [
            ("guard new == .active else { return }", true), ("if new != .active {", false),
            ("if new == .active { a() }\nif new == .background {", false), ("tell(new)", false),
            ("guard new == .active else { schedule()\nreturn }", false),
            ("new == .active ? a() : schedule()", false),
            ("let isActive = new == .active", false), ("if new == .active { a() }", false),
            ("if new == .active { a() } else { schedule() }", false),
            ("switch new {\ncase .active: a()\ndefault: schedule()\n}", false),
        ] {
            let view = view.replacing("ASK", with: ask)
            #expect(try Self.isTold(["A.swift": source, "B.swift": view]) == isTold, "\(ask)")
        }
        let alone = view.replacing("ASK\nload()", with: "if new == .active { load() }")
        #expect(try Self.isTold(["A.swift": source, "B.swift": alone]))
        let other = "class Jobs { func applicationDidEnterBackground() { schedule() } }"
        #expect(try !Self.isTold(["A.swift": Self.scenes + other]))
    }

    @Test("the app of another platform, scenes of CarPlay alone, and work at launch too")
    func otherScenes() throws {
        let source = Self.delegate("scheduleRefresh()", "func scheduleRefresh() { }")
        for condition in ["os(macOS)", "GALLERY"] {
            let other = "#if \(condition)\n\(Self.scenes)#endif\n"
            #expect(try !Self.isTold(["A.swift": "@main\n" + source, "B.swift": other]))
        }
        let phone = "#if os(iOS)\n\(Self.scenes)#endif\n"
        #expect(try Self.isTold(["A.swift": source, "B.swift": phone]))
        let car = "CPTemplateApplicationSceneSessionRoleApplication"
        #expect(try !Self.isTold(["A.swift": "@main\n" + source], manifest: true, role: car))
        let launch = Self.delegate(
            "scheduleRefresh()",
            "func scheduleRefresh() { }\nfunc application(_ a: UIApplication, "
                + "didFinishLaunchingWithOptions o: O) -> Bool {\nscheduleRefresh()\nreturn true }")
        #expect(try !Self.isTold(["A.swift": Self.scenes + launch]))
    }

    @Test("Objective-C")
    func objectiveC() throws {
        let source = """
            @implementation AppDelegate
            - (void)applicationDidEnterBackground:(UIApplication *)application {
                [self.jobs scheduleRefresh];
            }
            @end
            """
        #expect(try Self.isTold(["AppDelegate.m": source], manifest: true))
        let scene = """
            @implementation SceneDelegate
            - (void)sceneDidEnterBackground:(UIScene *)scene {
                [self.jobs scheduleRefresh];
            }
            @end
            """
        #expect(
            try !Self.isTold(["AppDelegate.m": source, "SceneDelegate.m": scene], manifest: true))
    }
}
