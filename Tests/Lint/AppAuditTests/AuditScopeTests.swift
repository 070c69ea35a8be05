// SPDX-License-Identifier: Apache-2.0

import Foundation
import PayloadLint
import PayloadRules
import Testing

@testable import AppAudit

/// Which apps are judged, what is read for them, and what is said of the rest.
@Suite("Scope of an audit")
struct AuditScopeTests {
    static func rules(_ report: AuditReport) -> [String] {
        report.findings.map { $0.diagnostic.rule.rawValue }
    }

    /// Writes a project with one app, whose settings and objects are added.
    static func write(
        _ folder: TestFolder, _ name: String, settings: String, objects: String = "",
        target: String = "", source: String = "let x = 1", below parent: String = ""
    ) throws {
        try folder.write(
            """
            // !$*UTF8*$!
            { rootObject = P; objects = {
              P = { isa = PBXProject; buildConfigurationList = L0; mainGroup = G; targets = ( T );
                packageReferences = ( PR ); };
              L0 = { isa = XCConfigurationList; buildConfigurations = ( C0 ); };
              C0 = { isa = XCBuildConfiguration; name = Release; buildSettings = {
                SDKROOT = iphoneos; }; };
              G = { isa = PBXGroup; children = ( F ); sourceTree = "<group>"; };
              F = { isa = PBXFileReference; path = \(name).swift; sourceTree = "<group>"; };
              T = { isa = PBXNativeTarget; name = \(name); buildConfigurationList = L1;
                buildPhases = ( S ); dependencies = ( ); \(target)
                productType = "com.apple.product-type.application"; };
              S = { isa = PBXSourcesBuildPhase; files = ( B ); };
              B = { isa = PBXBuildFile; fileRef = F; };
              L1 = { isa = XCConfigurationList; buildConfigurations = ( C1 ); };
              C1 = { isa = XCBuildConfiguration; name = Release; buildSettings = {
                GENERATE_INFOPLIST_FILE = YES; \(settings) }; };
              \(objects)
            }; }
            """, to: "\(parent)\(name)/\(name).xcodeproj/project.pbxproj")
        try folder.write(source, to: "\(parent)\(name)/\(name).swift")
    }

    @Test("--sends is for the apps that show a sign of push; others are named")
    func signs() throws {
        let folder = try TestFolder()
        try Self.write(
            folder, "App", settings: "", source: "a.registerForRemoteNotifications()")
        try Self.write(folder, "Sample", settings: "")
        try Self.write(folder, "Mac", settings: "SDKROOT = macosx;")
        try Self.write(folder, "Watch", settings: "SDKROOT = watchos;")
        let report = try Audit(paths: [folder.path], sends: [.background]).report()
        #expect(Set(report.findings.flatMap(\.targets)) == ["App"])
        #expect(Self.rules(report).contains("CF001") && Self.rules(report).contains("CF005"))
        // An app with pushes need not get calls, unless it is named for them.
        let calls = try Audit(paths: [folder.path], sends: [.voip]).report().findings
        #expect(calls.first { $0.diagnostic.rule == "CF008" }?.diagnostic.severity == .warning)
        let meant = try Audit(
            paths: [folder.path], sends: [], sendsByTarget: ["App": [.voip]]
        ).report().findings
        #expect(meant.first { $0.diagnostic.rule == "CF008" }?.diagnostic.severity == .error)
        let named = try Audit(
            paths: [folder.path], sendsByTarget: ["Sample": [.background]]
        ).report()
        #expect(named.findings.contains { $0.targets == ["Sample"] })
        #expect(!named.findings.contains { $0.diagnostic.rule == "CF001" && $0.targets == ["App"] })
        #expect(
            throws: AuditFailure.unknownTarget("Nobody", known: ["App", "Mac", "Sample", "Watch"])
        ) { try Audit(paths: [folder.path], sendsByTarget: ["Nobody": [.voip]]).report() }
    }

    @Test("the only app needs no sign, and where none of several shows one that is said")
    func onlyApp() throws {
        let folder = try TestFolder()
        try Self.write(folder, "App", settings: "")
        let one = try Audit(paths: [folder.path], sends: [.background]).report()
        #expect(Self.rules(one).contains("CF001"))
        try Self.write(folder, "Other", settings: "")
        let two = try Audit(paths: [folder.path], sends: [.background]).report()
        #expect(two.findings == [])
        #expect(two.unjudged.contains { $0.reason.contains("--sends was applied to no app") })
    }

    @Test("what is said of the only app, which shows no sign of pushes, is at most a warning")
    func assumed() throws {
        let folder = try TestFolder()
        try Self.write(folder, "App", settings: "")
        let project = folder.path + "/App/App.xcodeproj"
        let assumed = try Audit(paths: [folder.path], sends: [.background]).report()
        #expect(Self.rules(assumed) == ["CF001", "CF005"] && assumed.count(.error) == 0)
        #expect(try Audit(paths: [project], sends: [.background]).report().count(.error) == 2)
        let named = Audit(paths: [folder.path], sendsByTarget: ["App": [.background]])
        #expect(try named.report().count(.error) == 2)
        let chosen = Audit(paths: [folder.path], sends: [.background], targets: ["App"])
        #expect(try chosen.report().count(.error) == 2)
    }

    @Test("what a target supports says more than its project's SDK")
    func supportedPlatforms() throws {
        let folder = try TestFolder()
        let source = "a.registerForRemoteNotifications()"
        try Self.write(folder, "App", settings: "", source: source)
        try Self.write(folder, "Mac", settings: "SUPPORTED_PLATFORMS = macosx;", source: source)
        let report = try Audit(paths: [folder.path], sends: [.background]).report()
        let ofMac = report.findings.filter { $0.targets == ["Mac"] }.map(\.diagnostic)
        #expect(
            ofMac.map(\.message) == [
                "the entitlements lack `com.apple.developer.aps-environment`, and the source text "
                    + "asks for a token"
            ])
    }

    @Test("a file of no target that a target names is not read")
    func namedStray() throws {
        let folder = try TestFolder()
        try Self.write(
            folder, "App", settings: "INFOPLIST_KEY_UIBackgroundModes = fetch;",
            source: "RefreshManager.shared.start()")
        try folder.write("let task: BGAppRefreshTask", to: "App/Other.swift")
        try folder.write("let x = 1", to: "App/RefreshManager.swift")
        #expect(Self.rules(try Audit(paths: [folder.path]).report()) == ["CF019"])
        try folder.write("let task: BGAppRefreshTask", to: "App/RefreshManager.swift")
        let report = try Audit(paths: [folder.path]).report()
        #expect(report.findings == [])
        #expect(report.unjudged.map(\.reason) == ["1 file is of no known target"])
        try folder.write("class RefreshManager {}\nRefreshManager()", to: "App/App.swift")
        #expect(Self.rules(try Audit(paths: [folder.path]).report()) == ["CF019"])
    }

    @Test("a target that a Podfile names has pods, fetched or not")
    func podfile() throws {
        let folder = try TestFolder()
        try Self.write(folder, "App", settings: Self.mode)
        try folder.write("target 'Other' do\nend", to: "App/Podfile")
        #expect(Self.rules(try Audit(paths: [folder.path]).report()).contains("CF002"))
        try folder.write("target 'App' do\n  pod 'Push'\nend", to: "Podfile")
        let report = try Audit(paths: [folder.path]).report()
        #expect(!Self.rules(report).contains("CF002"))
        #expect(report.unjudged.map(\.reason) == ["1 pod (Push) was not read"])
    }

    @Test("calls are not taken for those of several apps that show no sign of them")
    func callsOfNobody() throws {
        let folder = try TestFolder()
        let source = "a.registerForRemoteNotifications()"
        try Self.write(folder, "Chat", settings: "", source: source)
        try Self.write(folder, "News", settings: "", source: source)
        let none = try Audit(paths: [folder.path], sends: [.voip]).report()
        #expect(!Self.rules(none).contains("CF008"))
        #expect(none.unjudged.contains { $0.reason.contains("--sends voip was not applied") })
        try Self.write(
            folder, "Phone", settings: "INFOPLIST_KEY_UIBackgroundModes = voip;", source: source)
        let one = try Audit(paths: [folder.path], sends: [.voip]).report()
        let errors = one.findings.filter { $0.diagnostic.severity == .error }
        #expect(errors.flatMap(\.targets) == ["Phone"])
    }

    @Test("what is an error for one target is not said again of another as a warning")
    func oneSeverity() throws {
        let folder = try TestFolder()
        try folder.write("<plist version=\"1.0\"><dict/></plist>", to: "App/App.entitlements")
        let file = "CODE_SIGN_ENTITLEMENTS = \"../App/App.entitlements\";"
        for (name, kit) in [("App", "iphoneos"), ("Vision", "xros")] {
            try Self.write(
                folder, name, settings: "SDKROOT = \(kit); \(file)",
                source: "a.registerForRemoteNotifications()")
        }
        let report = try Audit(paths: [folder.path], sends: [.alert]).report()
        #expect(Self.rules(report).filter { $0 == "CF005" } == ["CF005"])
        #expect(report.count(.error) == 1)
    }

    static let mode = "INFOPLIST_KEY_UIBackgroundModes = \"remote-notification\";"
    static let handler = """
        func application(_ a: A, didReceiveRemoteNotification u: U) async -> R { .noData }
        """

    @Test("a package from elsewhere is not read, and rules of what is missing say so")
    func remotePackage() throws {
        let folder = try TestFolder()
        try Self.write(
            folder, "App", settings: Self.mode,
            objects: """
                PR = { isa = XCRemoteSwiftPackageReference; repositoryURL = "https://a.b/K"; };
                D = { isa = XCSwiftPackageProductDependency; package = PR; productName = Kit; };
                """, target: "packageProductDependencies = ( D );")
        let report = try Audit(paths: [folder.path]).report()
        #expect(!Self.rules(report).contains("CF002"))
        let unjudged = try #require(report.unjudged.first)
        #expect(unjudged.targets == ["App"])
        #expect(unjudged.reason == "1 package (Kit) was not read")
        #expect(unjudged.rules.contains("CF002") && unjudged.rules.contains("CF008"))
        // No mode of the app is for tasks.
        #expect(!unjudged.rules.contains("CF019"))
    }

    @Test("a local package is read wherever its manifest puts the code")
    func localPackage() throws {
        let folder = try TestFolder()
        try Self.write(
            folder, "App", settings: Self.mode,
            objects: """
                PR = { isa = XCLocalSwiftPackageReference; relativePath = ../Kit; };
                D = { isa = XCSwiftPackageProductDependency; productName = KitUI; };
                """, target: "packageProductDependencies = ( D );")
        try folder.write(
            """
            let package = Package(name: "Kit", products: [.library(name: "KitUI", targets: ["K"])],
              targets: [.target(name: "K", path: "Elsewhere/Code")])
            """, to: "Kit/Package.swift")
        try folder.write("let y = 1", to: "Kit/Elsewhere/Code/K.swift")
        #expect(Self.rules(try Audit(paths: [folder.path]).report()).contains("CF002"))
        try folder.write(Self.handler, to: "Kit/Elsewhere/Code/K.swift")
        let report = try Audit(paths: [folder.path]).report()
        #expect(!Self.rules(report).contains("CF002"))
        #expect(report.unjudged == [])
    }

    @Test("an app delegate of a package works in the apps that make it")
    func packagedDelegate() throws {
        let folder = try TestFolder()
        func rules(_ source: String, _ other: String = "") throws -> [String] {
            try Self.write(
                folder, "App", settings: "",
                objects: """
                    PR = { isa = XCLocalSwiftPackageReference; relativePath = ../Kit; };
                    D = { isa = XCSwiftPackageProductDependency; productName = K; };
                    """, target: "packageProductDependencies = ( D );", source: source)
            try folder.write(
                """
                let package = Package(name: "Kit", products: [.library(name: "K", targets: ["K"])],
                  targets: [.target(name: "K")])
                """, to: "Kit/Package.swift")
            try folder.write(
                "class KitAppDelegate: NSObject, UIApplicationDelegate {\nfunc f() throws {\n"
                    + "try BGTaskScheduler.shared.submit(BGAppRefreshTaskRequest(identifier: "
                    + "\"a.b\"))\n}\nlet me = KitAppDelegate.self\n}\nvar d: KitAppDelegate?\n",
                to: "Kit/Sources/K/K.swift")
            try folder.write(other, to: "Kit/Sources/K/Other.swift")
            return Self.rules(try Audit(paths: [folder.path]).report()).filter { $0 == "CF020" }
        }
        #expect(try rules("let x = 1") == [])
        #expect(try rules("@UIApplicationDelegateAdaptor(KitAppDelegate.self) var a") == ["CF020"])
        for other in ["Kit.run(with: KitAppDelegate.self)", "@main class A: KitAppDelegate {}"] {
            #expect(try rules("let x = 1", other) == ["CF020"])
        }
    }

    @Test("project.yml is read: templates, includes, settings and generated lists")
    func xcodeGen() throws {
        let folder = try TestFolder()
        try folder.write(
            """
            name: Demo
            include: [Kit/target.yml]
            targetTemplates:
              Base:
                platform: iOS
                sources: [{path: App, excludes: ["Old/**"]}]
            targets:
              App:
                type: application
                templates: [Base]
                info:
                  path: App/Info.plist
                  properties:
                    UIBackgroundModes: [remote-notifications]
                entitlements:
                  path: App/App.entitlements
                  properties: {aps-environment: sandbox}
                dependencies: [{target: Kit}]
            """, to: "project.yml")
        try folder.write(
            "targets:\n  Kit:\n    type: framework\n    platform: iOS\n    sources: [Sources]\n",
            to: "Kit/target.yml")
        try folder.write(
            XML.dictionary([("CFBundleName", "<string>Kit</string>")]), to: "Kit/Info.plist")
        try folder.write(Self.handler, to: "Kit/Sources/Handler.swift")
        try folder.write("let p = CXProvider()", to: "App/Old/Left.swift")
        try folder.write("a.registerForRemoteNotifications()", to: "App/App.swift")
        let report = try Audit(paths: [folder.path], sends: [.background]).report()
        #expect(Set(Self.rules(report)) == ["CF001", "CF006"])
        #expect(report.findings.allSatisfy { $0.targets == ["App"] })
        #expect(report.findings.allSatisfy { $0.file.hasSuffix("project.yml") })
        #expect(report.problems == [])
    }

    @Test("without a project, a framework's Info.plist is no app")
    func framework() throws {
        let folder = try TestFolder()
        try folder.write(
            XML.dictionary([
                ("CFBundlePackageType", "<string>$(PRODUCT_BUNDLE_PACKAGE_TYPE)</string>"),
                ("CFBundleName", "<string>Kit</string>"),
            ]), to: "Kit/Info.plist")
        try folder.write(
            XML.dictionary([("UIBackgroundModes", XML.array("remote-notification"))]),
            to: "App/Info.plist")
        let report = try Audit(paths: [folder.path], sends: [.background, .voip]).report()
        #expect(report.findings.allSatisfy { $0.file.hasSuffix("App/Info.plist") })
        #expect(Self.rules(report) == ["CF008"])
    }

    @Test("source text of no target leaves open what is missing")
    func strayText() throws {
        let folder = try TestFolder()
        for name in ["App", "Share"] {
            try folder.write(
                XML.dictionary([
                    ("UIBackgroundModes", XML.array("fetch")),
                    ("LSRequiresIPhoneOS", "<true/>"),
                ]), to: "\(name)/Resources/Info.plist")
            try folder.write("let x = 1", to: "\(name)/Resources/Assets.swift")
        }
        #expect(Set(Self.rules(try Audit(paths: [folder.path]).report())) == ["CF019"])
        try folder.write("let x = 1", to: "Core/Tasks.swift")
        let report = try Audit(paths: [folder.path]).report()
        #expect(Self.rules(report) == [])
        #expect(report.unjudged.contains { $0.reason.hasPrefix("1 file is of no known target") })
    }

    @Test("what a package asks for is a sign of push in no app, where there are several")
    func sharedText() throws {
        let folder = try TestFolder()
        let objects = """
            PR = { isa = XCLocalSwiftPackageReference; relativePath = ..; };
            D = { isa = XCSwiftPackageProductDependency; productName = Kit; };
            """
        for name in ["Preview", "Sample"] {
            try Self.write(
                folder, name, settings: "", objects: objects,
                target: "packageProductDependencies = ( D );")
        }
        try folder.write(
            """
            let package = Package(name: "Kit", products: [.library(name: "Kit", targets: ["Kit"])],
              targets: [.target(name: "Core"),
                .target(name: "Kit", dependencies: [.target(name: "Core")])])
            """, to: "Package.swift")
        try folder.write("let y = 1", to: "Sources/Core/Core.swift")
        try folder.write("a.registerForRemoteNotifications()", to: "Sources/Kit/Kit.swift")
        // Not a target's.
        try folder.write(
            "m.allowsBackgroundLocationUpdates = true", to: "Demo App/Location.swift")
        let report = try Audit(paths: [folder.path], sends: [.alert]).report()
        #expect(Self.rules(report) == [])
        try Self.write(
            folder, "Preview", settings: "", objects: objects,
            target: "packageProductDependencies = ( D );",
            source: "a.registerForRemoteNotifications()")
        let again = try Audit(paths: [folder.path], sends: [.alert]).report()
        #expect(Set(again.findings.flatMap(\.targets)) == ["Preview"])
    }

    @Test("the name of a parameter is no constant of another type")
    func shadowedName() throws {
        let folder = try TestFolder()
        try folder.write(
            XML.dictionary([
                ("BGTaskSchedulerPermittedIdentifiers", XML.array("a.b")),
                ("UIBackgroundModes", XML.array("voip")),
            ]),
            to: "App/Info.plist")
        try folder.write(
            "struct Mock { static let identifier = \"mock\" }\nextension S {\n"
                + "func add(identifier: String) { register(forTaskWithIdentifier: identifier, "
                + "using: nil) { task in run(task) } } }\n"
                + "#if CALLS\nfunc g() { r.desiredPushTypes = [.voIP]\nCXProvider() }\n#endif",
            to: "App/Tasks.swift")
        #expect(Self.rules(try Audit(paths: [folder.path]).report()) == [])
    }

    @Test("settings whose file is not there leave the entitlements open")
    func missingSettings() throws {
        let folder = try TestFolder()
        func rules(_ name: String) throws -> [String] {
            try Self.write(
                folder, "App", settings: "",
                objects: "XC = { isa = PBXFileReference; path = \"\(name)\"; "
                    + "sourceTree = \"<group>\"; };",
                source: "a.registerForRemoteNotifications()")
            let file = folder.path + "/App/App.xcodeproj/project.pbxproj"
            let text = try String(contentsOfFile: file, encoding: .utf8)
            try folder.write(
                text.replacing(
                    "C1 = { isa = XCBuildConfiguration;",
                    with: "C1 = { isa = XCBuildConfiguration; baseConfigurationReference = XC;"),
                to: "App/App.xcodeproj/project.pbxproj")
            return Self.rules(try Audit(paths: [folder.path], sends: [.alert]).report())
        }
        #expect(try !rules("Local.xcconfig").contains("CF005"))
        #expect(try rules("Pods-App.release.xcconfig").contains("CF005"))
    }

    @Test("what a build phase makes of entitlements is not known")
    func changedEntitlements() throws {
        let folder = try TestFolder()
        func rules(_ script: String) throws -> [String] {
            try Self.write(
                folder, "App", settings: "",
                objects: "SC = { isa = PBXShellScriptBuildPhase; shellScript = \"\(script)\"; };",
                source: "a.registerForRemoteNotifications()")
            let file = folder.path + "/App/App.xcodeproj/project.pbxproj"
            let text = try String(contentsOfFile: file, encoding: .utf8)
            try folder.write(
                text.replacing("buildPhases = ( S )", with: "buildPhases = ( S, SC )"),
                to: "App/App.xcodeproj/project.pbxproj")
            return Self.rules(try Audit(paths: [folder.path], sends: [.alert]).report())
        }
        #expect(try rules("swiftlint").contains("CF005"))
        #expect(try !rules("Tools/add_entitlements.sh").contains("CF005"))
    }

    @Test("what is excluded is not read, and no problem of another target counts")
    func exclusion() throws {
        let folder = try TestFolder()
        try Self.write(folder, "App", settings: Self.mode, source: Self.handler)
        try Self.write(folder, "Broken", settings: "INFOPLIST_FILE = Broken.plist;")
        try folder.write("<plist>", to: "Broken/Broken.plist")
        #expect(try Audit(paths: [folder.path]).report().problems.count == 1)
        #expect(try Audit(paths: [folder.path], targets: ["App"]).report().problems == [])
        var audit = Audit(paths: [folder.path])
        audit.settings = try Self.settings("exclude: ['Brok*']\n", folder)
        #expect(try audit.report().problems == [])
        audit.settings = try Self.settings("exclude: ['**/*.{plist,txt}']\n", folder)
        #expect(try audit.report().problems.count == 1, "the project still names the file")
    }

    /// The settings of a folder, whose file is written anew.
    private static func settings(
        _ yaml: String, _ folder: TestFolder
    ) throws -> SettingsSearch.Found {
        try folder.write(yaml, to: LintConfiguration.fileNames[0])
        var search = SettingsSearch(.nearest)
        let index = try search.index(forPath: folder.path + "/A.swift")
        return search.found[index]
    }

    @Test("each file that keeps the token is a finding of its own")
    func tokenStores() throws {
        let folder = try TestFolder()
        let store = "func f() { UserDefaults.standard.set(deviceToken, forKey: key) }\n"
        try folder.write(store + store, to: "A.swift")
        try folder.write(store, to: "B.swift")
        let report = try Audit(paths: [folder.path]).report()
        #expect(Self.rules(report) == ["CF026", "CF026"])
        #expect(Set(report.findings.map(\.file)).count == 2)
    }

    @Test("a file is looked at for a session whose configuration names no type")
    func sessionWithoutType() throws {
        let folder = try TestFolder()
        try folder.write(
            "class A { var s = URLSession(configuration: .background(withIdentifier: \"a\")) }",
            to: "A.swift")
        try folder.write("let c = t.dequeue(withIdentifier: \"a\")", to: "B.swift")
        #expect(Set(Self.rules(try Audit(paths: [folder.path]).report())) == ["CF046"])
    }

    @Test("a comment ignores a finding, a policy weighs it, a baseline knows it")
    func policy() throws {
        let folder = try TestFolder()
        let source = "func f() {\n  UserDefaults.standard.set(deviceToken, forKey: key)\n}"
        try folder.write(source, to: "A.swift")
        let audit = Audit(paths: [folder.path])
        let report = try audit.report()
        #expect(Self.rules(report) == ["CF026"])
        try folder.write(
            source.replacing("{\n", with: "{\n  // rouse:ignore CF026 compared, never sent\n"),
            to: "A.swift")
        #expect(try audit.report().applying(RulePolicy()).findings == [])
        try folder.write(
            source.replacing("{\n", with: "{\n  // rouse:ignore CF027 another\n"), to: "A.swift")
        #expect(try audit.report().applying(RulePolicy()).findings.count == 1)
        func policy(_ yaml: String, ignoring rules: [String] = []) throws -> RulePolicy {
            RulePolicy(
                selected: nil, ignored: try RuleSelection(rules),
                settings: try Self.settings(yaml, folder).configuration, rules: .apps)
        }
        let yaml = "severity: {CF026: error, BG001: off}\nignore: [CF030]\nselect: [CF, BG001]\n"
        #expect(report.applying(try policy(yaml)).count(.error) == 1)
        #expect(report.applying(try policy(yaml, ignoring: ["CF026"])).findings == [])
        // Rules of the other command alone select nothing, so that all are asked.
        #expect(report.applying(try policy("select: [BG]\n")).findings.count == 1)
    }
}
