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
                + "INFOPLIST_KEY_BGTaskSchedulerPermittedIdentifiers = a.b.c;",
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
            ("fetch", "val r = BGProcessingTaskRequest(\"a\")", ["CF019"]),
            ("processing", "val r = BGProcessingTaskRequest(\"a\")", []),
            ("processing", "val r = BGAppRefreshTaskRequest(\"a\")", ["CF019"]),
            ("fetch", "app.setMinimumBackgroundFetchInterval(60.0)", []),
            ("remote-notification", "fun f() {}", ["CF002"]),
            ("remote-notification", "import com.mmk.kmpnotifier.notification", []),
            ("voip", "fun f() {}", ["CF008"]), ("voip", "import platform.PushKit.*", []),
        ])
    func modes(mode: String, text: String, expected: [String]) throws {
        #expect(try Self.rules(modes: mode, kotlin: [Self.main: text]) == expected)
        // What Android alone gets is no part of the app.
        let android = "shared/src/androidMain/kotlin/Other.kt"
        #expect(
            try Self.rules(
                modes: mode, kotlin: [Self.main: text, android: "BGAppRefreshTaskRequest"])
                == expected)
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
}
