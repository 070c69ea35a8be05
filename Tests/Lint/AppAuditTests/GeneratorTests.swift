// SPDX-License-Identifier: Apache-2.0

import Foundation
import PayloadLint
import PayloadRules
import Testing

@testable import AppAudit

/// What is made of projects that a tool describes which is not read.
@Suite("Generators of projects")
struct GeneratorTests {
    @Test("the manifest of a generator that is not read is named")
    func manifest() throws {
        let folder = try TestFolder()
        try folder.write(
            "import ProjectDescription\nlet project = Project(name: \"App\")", to: "Project.swift")
        try folder.write("let x = 1", to: "Sources/App.swift")
        try folder.write("struct Project {}", to: "Sources/Project.swift")
        let report = try Audit(paths: [folder.path]).report()
        #expect(
            report.unjudged.map(\.reason) == [
                "1 project (Project.swift) was not read",
                "\(folder.path)/Project.swift of Tuist was not read; run `tuist generate`, and "
                    + "audit what it makes",
            ])
    }

    @Test(
        "a project whose aliases stand for a billion values is named, and not expanded",
        arguments: ["", "? *j\n: 1\n"])
    func endlessProject(key: String) throws {
        var text = "targets:\n  A:\n    a: &a [x, x, x, x, x, x, x, x, x]\n"
        for (before, name) in zip("abcdefghi", "bcdefghij") {
            let aliases = Array(repeating: "*\(before)", count: 9).joined(separator: ", ")
            text += "    \(name): &\(name) [\(aliases)]\n"
        }
        let folder = try TestFolder()
        try folder.write(text + key, to: "project.yml")
        try folder.write("let x = 1", to: "App.swift")
        let report = try Audit(paths: [folder.path]).report()
        #expect(report.problems.map(\.message) == [YAMLAliases.problem])
    }

    @Test("modes that a script of the build writes are not known")
    func scriptedModes() throws {
        let folder = try TestFolder()
        let plist = XML.dictionary([("CFBundlePackageType", "<string>APPL</string>")])
        try folder.write(plist, to: "Info.plist")
        try folder.write(
            "class AppDelegate: NSObject, UIApplicationDelegate {\nfunc application(_ a: "
                + "UIApplication, performFetchWithCompletionHandler done: @escaping (R) -> Void) "
                + "{ done(.noData) }\n}", to: "App/A.swift")
        func isTold(_ script: String) throws -> Bool {
            try folder.write(
                """
                name: App
                targets:
                  App:
                    type: application
                    platform: iOS
                    sources: [App]
                    postBuildScripts:
                      - script: \(script)
                    settings:
                      base:
                        INFOPLIST_FILE: Info.plist
                """, to: "project.yml")
            return AuditScopeTests.rules(try Audit(paths: [folder.path]).report())
                .contains("CF051")
        }
        #expect(try isTold("swiftlint"))
        #expect(try !isTold("plutil -insert UIBackgroundModes.0 -string fetch $INFOPLIST_PATH"))
    }

    @Test("what an included file says of a target is merged into it")
    func includedTarget() throws {
        let folder = try TestFolder()
        try folder.write(
            """
            targets:
              App:
                type: application
                platform: iOS
                info: {path: I.plist, properties: {UIBackgroundModes: [remote-notification]}}
                entitlements: {path: A.entitlements, properties: {aps-environment: production}}
                postBuildScripts: [{script: "plutil -insert UIBackgroundModes.0 -string fetch a"}]
            """, to: "base.yml")
        let handler = AuditScopeTests.handler
        try folder.write(
            "application.registerForRemoteNotifications()\n" + handler, to: "App/A.swift")
        func rules(_ more: String) throws -> [String] {
            try folder.write(
                """
                name: App
                include: [base.yml]
                targets:
                  App:
                    sources: [App]
                \(more)
                """, to: "project.yml")
            let audit = Audit(paths: [folder.path], sends: [.background])
            return AuditScopeTests.rules(try audit.report()).filter { $0 != "CF030" }
        }
        #expect(try rules("") == [])
        #expect(try rules("    info: {properties: {CFBundleDisplayName: X}}") == [])
        let replacing = "    info: {properties: {\"UIBackgroundModes:REPLACE\": [audio]}}"
        #expect(try rules(replacing) == ["CF001"])
        // Lists are joined.
        #expect(try rules("    info: {properties: {UIBackgroundModes: [audio]}}") == [])
        try folder.write("targets: {App: {type: application, platform: iOS}}", to: "base.yml")
        let audio = "    info: {path: I.plist, properties: {UIBackgroundModes: [audio]}}"
        #expect(try rules(audio).contains("CF001"))
    }

    @Test("the options of a project.yml have the system of the targets that name none")
    func deploymentTarget() throws {
        func findings(_ target: String) throws -> [String] {
            let folder = try TestFolder()
            try folder.write(
                """
                name: App
                options:
                  deploymentTarget:
                    iOS: "15.0"
                targets:
                  App:
                    type: application
                    platform: iOS
                    info: { path: App/Info.plist }
                    dependencies: [{ target: Service }]
                  Service:
                    type: app-extension
                    platform: iOS
                    info: { path: Service/Info.plist }
                \(target)
                """, to: "project.yml")
            let service = XML.dictionary([
                (
                    "NSExtension",
                    "<dict><key>NSExtensionPointIdentifier</key>"
                        + "<string>com.apple.usernotifications.service</string>"
                        + "<key>NSExtensionPrincipalClass</key><string>S.Service</string></dict>"
                )
            ])
            try folder.write(service, to: "Service/Info.plist")
            try folder.write(XML.dictionary([]), to: "App/Info.plist")
            return try Audit(paths: [folder.path]).report().findings.map(\.diagnostic)
                .filter { $0.rule == "CF016" }.map(\.message)
        }
        #expect(try findings("") == [])
        #expect(
            try findings("    deploymentTarget: \"16.4\"")
                == ["the extension needs iOS 16.4, and the app runs from iOS 15.0"])
        #expect(try findings("    deploymentTarget: { iOS: 15.0 }") == [])
    }

    @Test("what a pod lacks may be in the pods that it names")
    func pod() throws {
        let folder = try TestFolder()
        try folder.write(
            """
            import PushKit
            func pushRegistry(
              _ r: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload,
              for type: PKPushType, completion: @escaping () -> Void
            ) { if payload.isOther { return }; engine.reportIncomingCall(payload); completion() }
            """, to: "Classes/Calls.swift")
        #expect(AuditScopeTests.rules(try Audit(paths: [folder.path]).report()).contains("CF009"))
        try folder.write("Pod::Spec.new { |s| s.dependency 'Engine' }", to: "calls.podspec")
        let report = try Audit(paths: [folder.path]).report()
        #expect(AuditScopeTests.rules(report) == ["CF033", "CF034"])
        #expect(report.unjudged.map(\.reason) == ["1 project (calls.podspec) was not read"])
    }

    @Test("nothing is certain of the files that a generator may add to")
    func generated() throws {
        let folder = try TestFolder()
        try folder.write("import ProjectDescription", to: "Project.swift")
        try folder.write(
            "<plist version=\"1.0\"><dict><key>CFBundlePackageType</key><string>APPL</string>"
                + "<key>UIBackgroundModes</key><array><string>voip</string></array></dict></plist>",
            to: "App/Info.plist")
        try folder.write("a.registerForRemoteNotifications()", to: "App/App.swift")
        let audit = Audit(paths: [folder.path], sends: [.background])
        #expect(AuditScopeTests.rules(try audit.report()).contains("CF001"))
        #expect(try audit.report().count(.error) == 0)
        // It may add the list of tasks.
        try folder.write(Self.request, to: "App/Task.swift")
        #expect(!AuditScopeTests.rules(try audit.report()).contains("CF020"))
    }

    private static let app =
        "<plist version=\"1.0\"><dict><key>CFBundlePackageType</key><string>APPL</string>"
        + "<key>UIBackgroundModes</key><array><string>fetch</string></array>"
        + "<key>BGTaskSchedulerPermittedIdentifiers</key><array><string>com.example.sync</string>"
        + "</array></dict></plist>"
    private static let request =
        "func f() { s.submit(BGAppRefreshTaskRequest(identifier: \"a\")) }"

    @Test("a generator speaks of what lies below it, and not of an app that was built")
    func generatorElsewhere() throws {
        let folder = try TestFolder()
        try folder.write(Self.app, to: "App/Info.plist")
        try folder.write(Self.request, to: "App/App.swift")
        try folder.write("{}", to: "Web/app.json")
        #expect(try Audit(paths: [folder.path]).report().count(.error) == 1)
        try folder.write("{}", to: "app.json")
        let report = try Audit(paths: [folder.path]).report()
        #expect(report.count(.error) == 0)
        #expect(AuditScopeTests.rules(report).contains("CF020"))
        let built = try TestFolder()
        try built.write("{}", to: "app.json")
        try built.write(Self.app, to: "App.app/Info.plist")
        try built.write("a.registerForRemoteNotifications()", to: "App.app/a.swift")
        #expect(
            try Audit(paths: [built.path], sends: [.background]).report().count(.error) == 1)
    }

    @Test("helpers of manifests and samples below the app are no app of Tuist")
    func manifestsBeside() throws {
        let folder = try TestFolder()
        try AuditScopeTests.write(folder, "Tool", settings: "")
        let report = try Audit(paths: [folder.path], sends: [.background]).report()
        let manifest = "import ProjectDescription"
        try folder.write(manifest, to: "Tuist/ProjectDescriptionHelpers/Project.swift")
        try folder.write(manifest, to: "Tool/Examples/Project.swift")
        let other = try Audit(paths: [folder.path], sends: [.background]).report()
        #expect(other.findings == report.findings)
    }

    @Test("files of manifests that were not read are judged by what they show")
    func strays() throws {
        let folder = try TestFolder()
        try AuditScopeTests.write(folder, "Tool", settings: "")
        try folder.write("import ProjectDescription", to: "App/Project.swift")
        try folder.write("try? BGTaskScheduler.shared.submit(r)", to: "App/Sources/a.swift")
        #expect(AuditScopeTests.rules(try Audit(paths: [folder.path]).report()) == ["CF039"])
    }

    @Test("the framework of a pod is judged where no app of the project links it")
    func frameworkOfPod() throws {
        let folder = try TestFolder()
        try AuditScopeTests.write(
            folder, "Sample", settings: "",
            objects: """
                TF = { isa = PBXNativeTarget; name = Kit; buildConfigurationList = L1;
                  buildPhases = ( SF ); dependencies = ( );
                  productType = "com.apple.product-type.framework"; };
                SF = { isa = PBXSourcesBuildPhase; files = ( BF ); };
                BF = { isa = PBXBuildFile; fileRef = FF; };
                FF = { isa = PBXFileReference; path = Kit.swift; sourceTree = SOURCE_ROOT; };
                """)
        let project = folder.path + "/Sample/Sample.xcodeproj/project.pbxproj"
        let text = try String(contentsOfFile: project, encoding: .utf8)
        try folder.write(
            text.replacing("targets = ( T )", with: "targets = ( T, TF )"),
            to: "Sample/Sample.xcodeproj/project.pbxproj")
        try folder.write("try? BGTaskScheduler.shared.submit(r)", to: "Sample/Kit.swift")
        #expect(AuditScopeTests.rules(try Audit(paths: [folder.path]).report()) == [])
        try folder.write("Pod::Spec.new {}", to: "Sample/Kit.podspec")
        #expect(AuditScopeTests.rules(try Audit(paths: [folder.path]).report()) == ["CF039"])
    }

    @Test("the Info.plist of a pod is no app's")
    func podWithInfo() throws {
        let folder = try TestFolder()
        try folder.write("Pod::Spec.new {}", to: "plugin.podspec")
        try folder.write(
            Self.app.replacing("APPL", with: "$(PRODUCT_BUNDLE_PACKAGE_TYPE)"),
            to: "ios/Info.plist")
        try folder.write("try? BGTaskScheduler.shared.submit(r)", to: "ios/a.swift")
        let report = try Audit(paths: [folder.path], sends: [.background]).report()
        #expect(AuditScopeTests.rules(report) == ["CF039"])
    }

    @Test("a rule that says it already counts only where it is asked")
    func saidElsewhere() throws {
        let folder = try TestFolder()
        try folder.write(
            """
            import PushKit
            func pushRegistry(
              _ r: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload,
              for type: PKPushType
            ) { if payload.isOther { return }; engine.handle(payload) }
            """, to: "Calls.swift")
        let report = try Audit(paths: [folder.path]).report()
        #expect(AuditScopeTests.rules(report.applying(RulePolicy())) == ["CF009"])
        var settings = LintConfiguration()
        settings.weights["CF009"] = .off
        let policy = RulePolicy(selected: nil, ignored: nil, settings: settings, rules: .apps)
        #expect(AuditScopeTests.rules(report.applying(policy)) == ["CF033"])
    }

    @Test("what a Mac app shares with one for iOS says nothing of its tasks and its location")
    func sharedWithMac() throws {
        let folder = try TestFolder()
        try folder.write(
            """
            name: Demo
            targets:
              Mac: {type: application, platform: macOS, sources: [Shared], info: {path: Mac.plist}}
              Phone:
                type: application
                platform: iOS
                sources: [Shared]
                info:
                  path: Phone.plist
                  properties:
                    UIBackgroundModes: [location, fetch]
                    BGTaskSchedulerPermittedIdentifiers: [a.b]
            """, to: "project.yml")
        try folder.write(
            """
            #if os(iOS)
            let manager = CLLocationManager()
            func f() {
                s.register(forTaskWithIdentifier: "a.b", using: nil) { t in
                    t.setTaskCompleted(success: true)
                }
                manager.allowsBackgroundLocationUpdates = true
                try s.submit(BGAppRefreshTaskRequest(identifier: "a.b"))
            }
            #endif
            """, to: "Shared/a.swift")
        let report = try Audit(paths: [folder.path]).report()
        #expect(report.findings == [])
        #expect(report.problems == [])
    }

    @Test("a tool beside an app of Tuist is not the app that pushes are sent to")
    func toolBesideTuist() throws {
        let folder = try TestFolder()
        try AuditScopeTests.write(folder, "Tool", settings: "")
        let alone = try Audit(paths: [folder.path], sends: [.background]).report()
        #expect(!alone.findings.isEmpty)
        try folder.write("import ProjectDescription", to: "App/Project.swift")
        let report = try Audit(paths: [folder.path], sends: [.background]).report()
        #expect(report.findings == [])
        #expect(report.unjudged.contains { $0.reason.contains("App/Project.swift of Tuist") })
        #expect(report.unjudged.contains { $0.reason.hasPrefix("--sends was applied to no app") })
        // Once it is generated, the project says what the manifest does.
        try AuditScopeTests.write(
            folder, "App", settings: AuditScopeTests.mode, source: AuditScopeTests.handler)
        let generated = try Audit(paths: [folder.path], sends: [.background]).report()
        #expect(!generated.unjudged.contains { $0.reason.contains("Tuist") })
    }

    @Test("a tool beside an app of .NET is not the app that pushes are sent to")
    func toolBesideDotNet() throws {
        let folder = try TestFolder()
        try AuditScopeTests.write(folder, "Tool", settings: "")
        try folder.write("<Project/>", to: "App/App.iOS.csproj")
        let without = try Audit(paths: [folder.path], sends: [.background]).report()
        #expect(!without.findings.isEmpty)
        try folder.write("<plist><dict/></plist>", to: "App/Platforms/iOS/Info.plist")
        let report = try Audit(paths: [folder.path], sends: [.background]).report()
        #expect(report.findings == [])
        #expect(report.unjudged.contains { $0.reason.hasPrefix("--sends was applied to no app") })
    }

    @Test("a plugin beside its example is judged by what its files show")
    func pluginBesideExample() throws {
        let folder = try TestFolder()
        try AuditScopeTests.write(folder, "App", settings: "")
        let handler =
            "func pushRegistry(_ r: PKPushRegistry, didReceiveIncomingPushWith p: PKPushPayload, "
            + "for type: PKPushType, completion: @escaping () -> Void) { calls.report(p) }"
        try folder.write(handler, to: "ios/Classes/Plugin.swift")
        #expect(try Audit(paths: [folder.path]).report().findings == [])
        try folder.write("", to: "ios/plugin.podspec")
        let report = try Audit(paths: [folder.path]).report()
        #expect(report.findings.map(\.diagnostic.rule.rawValue) == ["CF034"])
        let script = handler.replacing(
            "calls.report(p)", with: "channel.invokeMethod(\"push\", arguments: p)\ncompletion()")
        try folder.write(script, to: "ios/Classes/Plugin.swift")
        let silent = try Audit(paths: [folder.path]).report()
        #expect(silent.findings.map(\.diagnostic.rule.rawValue) == ["CF009"])
        // What a target has is not judged twice.
        try folder.write(handler, to: "ios/Classes/Plugin.swift")
        try folder.write(handler, to: "App/App.swift")
        try folder.write("", to: "plugin.podspec")
        let both = try Audit(paths: [folder.path]).report()
        #expect(both.findings.count { $0.diagnostic.rule == "CF034" } == 2)
    }

    @Test("a file that is only called as a project's is none")
    func noteOfAProject() throws {
        let folder = try TestFolder()
        try AuditScopeTests.write(folder, "App", settings: "")
        let note = try folder.write("MARKETING_VERSION = 1.0;", to: "App/project.pbxproj")
        #expect(try Audit(paths: [folder.path]).report().problems == [])
        #expect(try Audit(paths: [note]).report().problems.count == 1)
    }

    @Test("a broken project.yml is a problem at the place of its error")
    func brokenDescription() throws {
        func problem(_ text: String) throws -> AuditReport.Problem? {
            let folder = try TestFolder()
            try folder.write(text, to: "project.yml")
            return try Audit(paths: [folder.path]).report().problems.first
        }
        let open = try problem("name: A\ntargets:\n  App: {type: application\n  sources: [A\n")
        #expect(open?.place.line == 4)
        #expect(open?.place.column == 10)
        #expect(open?.message.hasPrefix("not YAML: ") == true)
        let twice = try problem("name: A\ntargets:\n  App:\n    type: a\ntargets: {}\n")
        #expect(twice?.place.line == 2)
        #expect(twice?.message == "targets appears twice")
    }
}
