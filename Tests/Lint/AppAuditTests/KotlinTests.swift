// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Apps with a library that Gradle builds of Kotlin.
@Suite("Kotlin in apps")
struct KotlinTests {
    private static func report(
        modes: String = "fetch", kotlin: [String: String], settings: String? = "settings.gradle.kts"
    ) throws -> AuditReport {
        let folder = try TestFolder()
        try AuditScopeTests.write(
            folder, "App",
            settings: "INFOPLIST_KEY_UIBackgroundModes = \"\(modes)\"; "
                + "PRODUCT_BUNDLE_IDENTIFIER = a.b; "
                + (["fetch", "processing"].contains(modes)
                    ? "INFOPLIST_KEY_BGTaskSchedulerPermittedIdentifiers = a.b.c;" : ""),
            objects: """
                K = { isa = PBXShellScriptBuildPhase;
                  shellScript = "./gradlew :shared:embedAndSign"; };
                """, target: "buildPhases = ( S, K );")
        if let settings { try folder.write("include(\":shared\")", to: settings) }
        for (name, text) in kotlin { try folder.write(text, to: name) }
        return try Audit(paths: [folder.path]).report()
    }

    private static func rules(
        modes: String = "fetch", kotlin: [String: String], settings: String? = "settings.gradle.kts"
    ) throws -> [String] {
        AuditScopeTests.rules(try report(modes: modes, kotlin: kotlin, settings: settings))
            .filter { $0 != "CF005" }
    }

    private static let main = "shared/src/iosMain/kotlin/Main.kt"

    @Test("code that Gradle builds may do anything where it is not found")
    func unknown() throws {
        for (kotlin, settings) in [
            ([:], "settings.gradle"), ([Self.main: "fun f() {}"], nil),
            (["shared/src/androidMain/kotlin/Main.kt": "fun f() {}"], "settings.gradle"),
            ([Self.main: "", "settings.gradle.kts": "includeBuild(\"../core\")"], nil),
        ] {
            let report = try Self.report(kotlin: kotlin, settings: settings)
            #expect(report.findings == [])
            #expect(report.unjudged.map(\.reason) == ["1 project (Gradle) was not read"])
        }
    }

    @Test(
        "a mode that neither Swift nor Kotlin uses is found",
        arguments: [
            ("fetch", "fun f() {}", ["CF019"]),
            ("fetch", "val r = BGAppRefreshTaskRequest(\"a\")", []),
            ("fetch", "import platform.BackgroundTasks.BGAppRefreshTaskRequest", ["CF019"]),
            ("fetch", "import platform.BackgroundTasks.BGAppRefreshTask as Task", []),
            ("fetch", "/** As `BGAppRefreshTask` does.\n * BGAppRefreshTask */", ["CF019"]),
            ("fetch", "// BGAppRefreshTask", ["CF019"]),
            (
                "fetch", "import platform.BackgroundTasks.BGAppRefreshTask // as before", ["CF019"]
            ),
            ("fetch", "/* a */ val r = BGAppRefreshTaskRequest(\"a\")", []),
            ("fetch", "if (a)\n  return\n  var r = BGAppRefreshTaskRequest(\"a\")", []),
            ("fetch", "log(\"${BGAppRefreshTaskRequest(\"a\")}\")", []),
            ("fetch", "val a = \"\"\"\n/*\n\"\"\"\nBGAppRefreshTaskRequest(\"a\")", []),
            ("fetch", "val r = BGProcessingTaskRequest(\"a\")", ["CF019"]),
            ("processing", "val r = BGProcessingTaskRequest(\"a\")", []),
            ("processing", "val r = BGAppRefreshTaskRequest(\"a\")", ["CF019"]),
            ("fetch", "app.setMinimumBackgroundFetchInterval(60.0)", []),
            ("remote-notification", "fun f() {}", ["CF002"]),
            ("remote-notification", "import com.mmk.kmpnotifier.notification", ["CF002"]),
            ("remote-notification", "fun didReceiveRemoteNotification() {}", []),
            ("voip", "fun f() {}", ["CF008"]), ("voip", "import platform.PushKit.*", []),
        ])
    func modes(mode: String, text: String, expected: [String]) throws {
        #expect(try Self.rules(modes: mode, kotlin: [Self.main: text]) == expected)
        let mobile = ["shared/src/mobileMain/kotlin/Main.kt": text]
        #expect(try Self.rules(modes: mode, kotlin: mobile) == expected)
        // What Android alone gets is no part of the app.
        let android = "shared/src/androidMain/kotlin/Other.kt"
        #expect(
            try Self.rules(
                modes: mode, kotlin: [Self.main: text, android: "BGAppRefreshTaskRequest"])
                == expected)
    }

    @Test("files in Kotlin outside of what is audited may ask for tasks")
    func outside() throws {
        let folder = try TestFolder()
        let source =
            "class A: UIResponder, UIApplicationDelegate {\nfunc application(_ a: UIApplication, "
            + "didFinishLaunchingWithOptions o: O?) -> Bool {\nBGTaskScheduler.shared.register("
            + "forTaskWithIdentifier: \"a.b.c\", using: nil) { task in "
            + "task.setTaskCompleted(success: true) }\nreturn true\n}\n}"
        try AuditScopeTests.write(
            folder, "App",
            settings: "PRODUCT_BUNDLE_IDENTIFIER = a.b; "
                + "INFOPLIST_KEY_BGTaskSchedulerPermittedIdentifiers = a.b.c;",
            objects: "K = { isa = PBXShellScriptBuildPhase; shellScript = \"./gradlew a\"; };",
            target: "buildPhases = ( S, K );", source: source)
        try folder.write("", to: "settings.gradle")
        try folder.write("submit(BGAppRefreshTaskRequest(id))", to: Self.main)
        #expect(
            try !AuditScopeTests.rules(Audit(paths: [folder.path]).report()).contains("CF052"))
        for text in ["submit(BGAppRefreshTaskRequest(id))", "fun f() {}"] {
            try folder.write(text, to: Self.main)
            let path = "/App"
            let report = try Audit(paths: [folder.path + path]).report()
            #expect(!AuditScopeTests.rules(report).contains("CF052"), "\(path)")
        }
        try folder.write("fun f() {}", to: Self.main)
        let report = try Audit(paths: [folder.path]).report()
        #expect(AuditScopeTests.rules(report).contains("CF052"))
    }

    @Test(
        "generators run scripts with Gradle too, and a package may hold what it has made",
        arguments: [
            [
                "App/project.yml": """
                name: App
                targets:
                  App:
                    type: application
                    platform: iOS
                    sources: [Sources]
                    preBuildScripts: [{script: "cd .. && ./gradlew :shared:embedAndSign"}]
                    info: {path: I.plist, properties: {UIBackgroundModes: [fetch]}}
                """
            ],
            [
                "App/project.yml": """
                name: App
                packages: {Kit: {path: ../Kit}}
                targets:
                  App:
                    type: application
                    platform: iOS
                    sources: [Sources]
                    dependencies: [{package: Kit}]
                    info: {path: I.plist, properties: {UIBackgroundModes: [fetch]}}
                """,
                "Kit/Package.swift": """
                let package = Package(name: "Kit", targets: [
                  .binaryTarget(name: "Kit", path: "../build/Kit.xcframework")])
                """,
            ],
            [
                "App/Project.swift": """
                import ProjectDescription
                let project = Project(name: "App", targets: [.target(name: "App",
                  destinations: .iOS, product: .app, bundleId: "a.b",
                  infoPlist: .dictionary(["UIBackgroundModes": ["fetch"]]),
                  sources: ["Sources/**"],
                  scripts: [.pre(script: "cd .. && ./gradlew :shared:embed", name: "K")])])
                """
            ],
        ])
    func generators(files: [String: String]) throws {
        let folder = try TestFolder()
        for (name, text) in files { try folder.write(text, to: name) }
        try folder.write("let a = 1", to: "App/Sources/A.swift")
        try folder.write("BGAppRefreshTaskRequest(id)", to: Self.main)
        try folder.write("", to: "settings.gradle")
        #expect(AuditScopeTests.rules(try Audit(paths: [folder.path]).report()) == [])
    }

    @Test("a pod that is built of Kotlin counts as the project of Gradle around it")
    func pod() throws {
        let folder = try TestFolder()
        try AuditScopeTests.write(
            folder, "App", settings: "INFOPLIST_KEY_UIBackgroundModes = \"fetch\";")
        try folder.write(
            "target 'App' do\n  pod 'shared', :path => '../shared'\nend", to: "App/Podfile")
        try folder.write("rootProject.name = \"a\"", to: "settings.gradle")
        try folder.write("fun f() {}", to: Self.main)
        #expect(AuditScopeTests.rules(try Audit(paths: [folder.path]).report()) == ["CF019"])
        try folder.write("BGAppRefreshTaskRequest(id)", to: Self.main)
        #expect(AuditScopeTests.rules(try Audit(paths: [folder.path]).report()) == [])
    }

    @Test("the script that builds it may be a list of lines")
    func scriptLines() throws {
        let folder = try TestFolder()
        try AuditScopeTests.write(
            folder, "App",
            settings: "INFOPLIST_KEY_UIBackgroundModes = location;",
            objects: """
                K = { isa = PBXShellScriptBuildPhase;
                  shellScript = ("cd ..", "./gradlew :shared:embedAndSign"); };
                """, target: "buildPhases = ( S, K );")
        let report = try Audit(paths: [folder.path]).report()
        #expect(report.unjudged.map(\.reason) == ["1 project (Gradle) was not read"])
    }

    private static let request = "val r = BGAppRefreshTaskRequest(\"a\")\n"
    private static let call = "BGTaskScheduler.sharedScheduler.submitTaskRequest("

    @Test("a chain of very many branches is read in bounded depth, and nothing is told of it")
    func longChain() {
        let chain = String(repeating: " else if (isOn) {\n  S(r, null)\n  }", count: 20_000)
        let text = "fun f() {\n  if (isOn) {\n  log()\n  }" + chain + "\n}"
        let bytes = Array((Self.request + text.replacing("S(", with: Self.call)).utf8)
        #expect(KotlinSources.droppedErrors(in: bytes, of: "F.kt").isEmpty)
    }

    @Test(
        "the error of a submission that is dropped",
        arguments: [
            "fun f() {\n  S(r, null)\n}", "fun f() {\n  S(r, error = null)\n  log()\n}",
            "fun f() {\n  try {\n    S(r, null)\n  } catch (e: Exception) { log(e) }\n}",
            "fun f(): Unit {\n  if (isOn) {\n    S(r, error = null,)\n  }\n}",
            "fun f() {\n  scope.launch {\n    S(r, null)\n    log()\n  }\n}",
            "fun f() {\n  if (isOn) {\n    S(r, null)\n  } else {\n    log()\n  }\n}",
            "fun f() {\n  if (isOff) {\n    log()\n  } else if (isOn) {\n    S(r, null)\n  }\n}",
            "fun f() {\n  run {\n    try {\n S(r, null)\n } finally { log() }\n    log()\n  }\n}",
        ])
    func droppedErrors(text: String) throws {
        let text = Self.request + text.replacing("S(", with: Self.call)
        let report = try Self.report(kotlin: [Self.main: text])
        let found = report.findings.filter { $0.diagnostic.rule == "CF039" }
        #expect(found.count == 1)
        let only = try #require(found.first)
        #expect(only.file.hasSuffix(Self.main) && only.diagnostic.line > 1)
    }

    @Test(
        "the error of a submission that somebody may look at",
        arguments: [
            "fun f() = S(r, null)", "fun f(): Boolean {\n  return S(r, null)\n}",
            "fun f() {\n  val ok = S(r, null)\n  log(ok)\n}",
            "fun f() {\n  if (!S(r, null)) log()\n}", "fun f() {\n  S(r, error.ptr)\n}",
            "fun f() {\n  val ok = try {\n    S(r, null)\n  } catch (e: Exception) { false }\n}",
            "fun f() {\n  val ok = run {\n    S(r, null)\n  }\n}",
            "fun f() = run {\n  S(r, null)\n}", "fun f() {\n  log(\n    S(r, null)\n  )\n}",
            "fun f() {\n  S(r, null)\n    .also { log(it) }\n}",
            "fun f() {\n  val ok = if (isOff) {\n    false\n  } else {\n    S(r, null)\n  }\n}",
            "fun f() {\n  val ok = try {\n    g()\n  } catch (e: E) {\n    S(r, null)\n  }\n}",
            "fun f() = go {\n  try {\n    S(r, null)\n  } catch (e: E) { false }\n}",
            "fun f() {\n  val ok = isOn and\n    S(r, null)\n}",
            "// S(r, null)", "fun f(isOn: Boolean) =\n  if (isOn)\n    S(r, null)\n  else true",
        ])
    func seenErrors(text: String) throws {
        let text = Self.request + text.replacing("S(", with: Self.call)
        #expect(try !Self.rules(kotlin: [Self.main: text]).contains("CF039"), "\(text)")
    }
}
