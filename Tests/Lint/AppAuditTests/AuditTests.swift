// SPDX-License-Identifier: Apache-2.0

import Foundation
import PayloadRules
import Testing

@testable import AppAudit

/// Whole audits of real files.
@Suite("Audit")
struct AuditTests {
    private static let handler = """
        import UIKit
        class AppDelegate: NSObject, UIApplicationDelegate {
            func application(_ application: UIApplication,
                didReceiveRemoteNotification info: [AnyHashable: Any]
            ) async -> UIBackgroundFetchResult { await Sync.run() }
            func applicationDidFinishLaunching(_ application: UIApplication) {
                application.registerForRemoteNotifications()
                BGTaskScheduler.shared.register(forTaskWithIdentifier: Tasks.refresh, using: nil) {
                    ($0 as? BGAppRefreshTask)?.setTaskCompleted(success: true)
                }
            }
        }
        """
    private static let entitlements = XML.dictionary([
        ("aps-environment", "<string>development</string>")
    ])

    /// A project on disk whose app is in order but for what the settings change.
    static func project(
        app: String = SampleProject.generatedInfo, release: String = "", extension: String = "",
        entitlements: String = entitlements
    ) throws -> TestFolder {
        let folder = try TestFolder()
        try folder.write(
            SampleProject.text(
                app: app + " CODE_SIGN_ENTITLEMENTS = \"App/$(TARGET_NAME).entitlements\";",
                release: release, extension: `extension`),
            to: "App.xcodeproj/project.pbxproj")
        try folder.write("BASE_ID = com.example\n", to: "App.xcconfig")
        try folder.write(handler, to: "App/AppDelegate.swift")
        try folder.write(
            "enum Tasks { static let refresh = \"a.refresh\" }", to: "Shared/Tasks.swift")
        try folder.write("let ask = BGAppRefreshTaskRequest.self", to: "Ask.swift")
        try folder.write("class Never { let provider = CXProvider() }", to: "Unused.swift")
        try folder.write("class Left: UNNotificationServiceExtension {}", to: "Service/Left.swift")
        try folder.write("class Service: UNNotificationServiceExtension {}", to: "Service/S.swift")
        try folder.write(entitlements, to: "App/App.entitlements")
        return folder
    }

    private static func rules(_ report: AuditReport) -> [String] {
        report.findings.map { $0.diagnostic.rule.rawValue }
    }

    @Test("a generated Info.plist: the identifier in code is not permitted")
    func generated() throws {
        let folder = try Self.project()
        let report = try Audit(paths: [folder.path], sends: [.background]).report()
        #expect(Self.rules(report) == ["CF020"])
        let finding = try #require(report.findings.first)
        #expect(finding.diagnostic.severity == .error)
        #expect(finding.file == folder.path + "/App/AppDelegate.swift")
        #expect(finding.diagnostic.line == 8)
        #expect(finding.target == "App")
        #expect(finding.configurations == ["Debug", "Release"])
        #expect(report.problems == [])
        #expect(report.configurationCount == 2)
    }

    @Test("a finding in one configuration says so")
    func configurations() throws {
        let folder = try Self.project(
            release: "INFOPLIST_KEY_UIBackgroundModes = fetch;")
        let report = try Audit(paths: [folder.path], sends: [.background]).report()
        let finding = try #require(report.findings.first { $0.diagnostic.rule == "CF001" })
        #expect(finding.configurations == ["Release"])
        #expect(finding.file.hasSuffix("project.pbxproj"))
        #expect(finding.diagnostic.pointer.hasSuffix("INFOPLIST_KEY_UIBackgroundModes"))
        let debug = try Audit(
            paths: [folder.path], sends: [.background], configurations: ["Debug"]
        ).report()
        #expect(!Self.rules(debug).contains("CF001"))
    }

    @Test("an Info.plist of its own, with build settings put in, and an entitlement missing")
    func ownInfo() throws {
        let folder = try Self.project(
            app: "INFOPLIST_FILE = App/Info.plist;", entitlements: XML.dictionary([]))
        try folder.write(
            XML.dictionary([
                ("UIBackgroundModes", XML.array("remote-notifications", "fetch")),
                (
                    "BGTaskSchedulerPermittedIdentifiers",
                    XML.array("$(PRODUCT_BUNDLE_IDENTIFIER).refresh", "a.Refresh")
                ),
            ]), to: "App/Info.plist")
        let report = try Audit(paths: [folder.path], sends: [.background]).report()
        #expect(Self.rules(report).sorted() == ["CF001", "CF005", "CF020"])
        let info = try #require(report.files.first { $0.kind == .infoPlist })
        let mode = try #require(info.findings.first?.diagnostic)
        #expect(mode.pointer == "/UIBackgroundModes/0" && mode.line == 5)
        let task = try #require(report.findings.first { $0.diagnostic.rule == "CF020" })
        #expect(task.diagnostic.message.contains("`a.Refresh`"))
    }

    @Test(
        "files that build settings name are found, from the root, without brackets, in any case",
        arguments: [
            "$(SRCROOT)/App/Info.plist", "${PROJECT_DIR}/App/Info.plist", "$SRCROOT/App/Info.plist",
            "$(PROJECT)/Info.plist", "app/info.plist", "./App/../App/Info.plist",
        ])
    func settingPaths(path: String) throws {
        let folder = try Self.project(app: "INFOPLIST_FILE = \"\(path)\";")
        try folder.write(
            XML.dictionary([("UIBackgroundModes", XML.array("remote-notifications"))]),
            to: "App/Info.plist")
        let whole = try Audit(paths: [folder.path], sends: [.background]).report()
        #expect(whole.problems == [])
        #expect(Self.rules(whole).contains("CF001"))
        // The same from a relative path, as in a hook that runs at the top of a repository.
        let up = String(
            repeating: "../",
            count: FileManager.default.currentDirectoryPath.split(separator: "/")
                .count)
        let relative = up + folder.path.dropFirst()
        for argument in [relative, relative + "/App.xcodeproj"] {
            let report = try Audit(paths: [argument], sends: [.background]).report()
            #expect(report.problems == [], "\(argument)")
            #expect(Self.rules(report) == Self.rules(whole), "\(argument)")
            #expect(report.files.allSatisfy { $0.path.hasPrefix("../") }, "\(argument)")
        }
    }

    @Test("an Info.plist for the preprocessor is read where it can be, and is no problem else")
    func preprocessed() throws {
        let app = "INFOPLIST_FILE = App/Info.plist; INFOPLIST_PREPROCESS = YES;"
        let folder = try Self.project(app: app)
        try folder.write("#include \"ids.h\"\n<plist><dict>\n", to: "App/Info.plist")
        #expect(try Audit(paths: [folder.path], sends: [.background]).report().problems == [])
        let other = try Self.project(app: "INFOPLIST_FILE = App/Info.plist;")
        try other.write("#include \"ids.h\"\n<plist><dict>\n", to: "App/Info.plist")
        #expect(try Audit(paths: [other.path], sends: [.background]).report().problems.count == 1)
    }

    @Test(
        "a setting that only Xcode knows leaves open what it stands for",
        arguments: ["$(ONLY_XCODE)", "${ONLY_XCODE}", "$ONLY_XCODE"])
    func unknownSettings(setting: String) throws {
        let folder = try Self.project(
            entitlements: XML.dictionary([("aps-environment", "<string>\(setting)</string>")]))
        let report = try Audit(paths: [folder.path]).report()
        #expect(!Self.rules(report).contains("CF006"))
        let files = try Self.project(app: "INFOPLIST_FILE = \"\(setting)/Info.plist\";")
        let other = try Audit(paths: [files.path], sends: [.background]).report()
        #expect(other.problems == [] && !Self.rules(other).contains("CF001"))
    }

    @Test("a mode that is generated for one platform alone is there")
    func conditionalKey() throws {
        let folder = try Self.project(
            app: "GENERATE_INFOPLIST_FILE = YES; "
                + "\"INFOPLIST_KEY_UIBackgroundModes[sdk=iphoneos*]\" = remote-notification;")
        let report = try Audit(paths: [folder.path], sends: [.background]).report()
        #expect(!Self.rules(report).contains("CF001"))
    }

    @Test("an extension: its settings, its synchronised folder and the app's prefix")
    func serviceExtension() throws {
        let folder = try Self.project(
            extension: "INFOPLIST_FILE = Service/Info.plist; "
                + "PRODUCT_BUNDLE_IDENTIFIER = com.example.service;")
        try folder.write(
            XML.dictionary([
                (
                    "NSExtension",
                    "<dict><key>NSExtensionPointIdentifier</key>"
                        + "<string>com.apple.usernotifications.service</string></dict>"
                )
            ]), to: "Service/Info.plist")
        let report = try Audit(paths: [folder.path], targets: ["App", "Service"]).report()
        let found = report.findings.filter { $0.diagnostic.rule == "CF016" }
        // The class is missing, and the bundle id is wrong in two configurations.
        #expect(found.count == 2)
        #expect(found.allSatisfy { $0.target == "Service" })
        #expect(found.contains { $0.diagnostic.message.contains("`com.example.app`") })
    }

    @Test(
        "a folder that is spelt otherwise than in the project is found, as on a Mac",
        arguments: ["Söurces", "So\u{308}urces", "sÖURCES"])
    func spelling(name: String) throws {
        let folder = try TestFolder()
        try folder.write(
            """
            // !$*UTF8*$!
            { objectVersion = 77; rootObject = P; objects = {
            P = { isa = PBXProject; buildConfigurationList = L; mainGroup = G; targets = ( T, ); };
            G = { isa = PBXGroup; children = ( S, ); sourceTree = "<group>"; };
            S = { isa = PBXFileSystemSynchronizedRootGroup; path = "\(name)";
                exceptions = ( E, ); sourceTree = "<group>"; };
            E = { isa = PBXFileSystemSynchronizedBuildFileExceptionSet; target = T;
                membershipExceptions = ( Left.swift, ); };
            T = { isa = PBXNativeTarget; name = App; buildConfigurationList = L; buildPhases = ( );
                fileSystemSynchronizedGroups = ( S, );
                productType = "com.apple.product-type.application"; };
            L = { isa = XCConfigurationList; buildConfigurations = ( C, ); };
            C = { isa = XCBuildConfiguration; name = Release; buildSettings = {
                SDKROOT = iphoneos; \(SampleProject.generatedInfo) }; };
            }; }
            """, to: "App.xcodeproj/project.pbxproj")
        try folder.write("let defaults = UserDefaults.standard", to: "Söurces/A.swift")
        try folder.write(Self.handler, to: "Söurces/Left.swift")
        let without = try Audit(paths: [folder.path], sends: [.background]).report()
        #expect(without.findings.contains { $0.diagnostic.rule == "CF002" })
        try folder.write(Self.handler, to: "Söurces/B.swift")
        let with = try Audit(paths: [folder.path], sends: [.background]).report()
        #expect(!with.findings.contains { $0.diagnostic.rule == "CF002" })
    }

    @Test("an app in which only tests run is judged only when it is chosen")
    func testHost() throws {
        let folder = try TestFolder()
        try folder.write(
            XML.dictionary([
                ("CFBundlePackageType", "<string>APPL</string>"),
                ("UIBackgroundModes", XML.array("remote-notifications")),
            ]), to: "Host/Info.plist")
        let text = SampleProject.text(app: "INFOPLIST_FILE = Host/Info.plist;")
        for (name, isApp) in [("Sync Test Host", false), ("SyncTestHost", false), ("Host", true)] {
            try folder.write(
                text.replacing("name = App;", with: "name = \"\(name)\";"),
                to: "App.xcodeproj/project.pbxproj")
            let report = try Audit(paths: [folder.path]).report()
            #expect(report.findings.isEmpty == !isApp)
            let chosen = try Audit(paths: [folder.path], targets: [name]).report()
            #expect(!chosen.findings.isEmpty)
        }
    }

    @Test("only the sources of the target count, and of the packages beside the project")
    func sources() throws {
        let folder = try Self.project(
            app: "GENERATE_INFOPLIST_FILE = YES; INFOPLIST_KEY_UIBackgroundModes = voip;")
        let before = try Audit(paths: [folder.path]).report()
        #expect(Self.rules(before).contains("CF008"))
        #expect(!before.files.contains { $0.path.hasSuffix("Unused.swift") })
        try folder.write(
            "r.desiredPushTypes = [.voIP]; let p = CXProvider()", to: "Kit/Sources/Kit/Calls.swift")
        let after = try Audit(paths: [folder.path]).report()
        #expect(!Self.rules(after).contains("CF008"))
    }

    @Test("a registration that nothing calls registers nothing")
    func deadRegistration() throws {
        let folder = try TestFolder()
        try folder.write(
            XML.dictionary([("UIBackgroundModes", XML.array("voip"))]), to: "App/Info.plist")
        let source =
            "@main class AppDelegate: UIResponder, UIApplicationDelegate {\n"
            + "func application(_ a: A, didFinishLaunchingWithOptions o: O?) -> Bool {\n"
            + "return true\n}\n"
            + "private func listen() { registry.desiredPushTypes = [.voIP] }\n}"
        try folder.write(source, to: "App/AppDelegate.swift")
        let dead = try Audit(paths: [folder.path]).report()
        let found = dead.findings.filter { $0.diagnostic.rule == "CF008" }
        #expect(found.count == 1)
        #expect(found.first?.diagnostic.message.contains("nothing calls the function") == true)
        try folder.write(
            source.replacing("return true", with: "listen(); return true"),
            to: "App/AppDelegate.swift")
        #expect(!Self.rules(try Audit(paths: [folder.path]).report()).contains("CF008"))
    }

    @Test("a target or a configuration that is not there is refused with those that are")
    func names() throws {
        let folder = try Self.project()
        #expect(throws: AuditFailure.unknownTarget("Ap", known: ["App", "Service"])) {
            try Audit(paths: [folder.path], targets: ["Ap"]).report()
        }
        #expect(
            throws: AuditFailure.unknownConfiguration("Beta", known: ["Debug", "Release"])
        ) { try Audit(paths: [folder.path], configurations: ["Beta"]).report() }
    }

    @Test("files without a project belong together")
    func loose() throws {
        let folder = try TestFolder()
        try folder.write(
            XML.dictionary([("UIBackgroundModes", XML.array("remote-notification", "fetch"))]),
            to: "App/Info.plist")
        try folder.write(XML.dictionary([]), to: "Config/App.entitlements")
        try folder.write("let x = 1", to: "App/Sources/A.swift")
        try folder.write(Self.handler, to: "AppTests/A.swift")
        try folder.write(XML.dictionary([("CLIENT_ID", "<string>a</string>")]), to: "G-Info.plist")
        let report = try Audit(paths: [folder.path], sends: [.background]).report()
        #expect(Self.rules(report).sorted() == ["CF002", "CF005", "CF019"])
        #expect(report.findings.allSatisfy { $0.target == nil && $0.configurations == [] })
    }

    @Test("source text in other languages keeps back what was not seen, and that is said")
    func foreignLanguages() throws {
        let folder = try TestFolder()
        try folder.write(
            XML.dictionary([("UIBackgroundModes", XML.array("remote-notification"))]),
            to: "Info.plist")
        try folder.write("let x = 1", to: "A.swift")
        try folder.write("void main() {}", to: "lib/main.dart")
        let report = try Audit(paths: [folder.path]).report()
        #expect(report.findings == [])
        #expect(report.unjudged.first?.reason == "1 Dart file was not read")
        #expect(report.unjudged.first?.rules.contains("CF002") == true)
    }

    @Test("Objective-C is read: it hides nothing, and its handlers count")
    func objectiveC() throws {
        let folder = try TestFolder()
        try folder.write(
            XML.dictionary([("UIBackgroundModes", XML.array("remote-notification"))]),
            to: "Info.plist")
        try folder.write("int main(int argc, char *argv[]) { return 0; }", to: "main.m")
        #expect(Self.rules(try Audit(paths: [folder.path]).report()) == ["CF002"])
        try folder.write(
            """
            @implementation AppDelegate
            - (void)application:(UIApplication *)application
                didReceiveRemoteNotification:(NSDictionary *)info
                fetchCompletionHandler:(void (^)(UIBackgroundFetchResult))handler {
                if (!info[@"id"]) return;
                handler(UIBackgroundFetchResultNoData);
            }
            @end
            """, to: "AppDelegate.m")
        let report = try Audit(paths: [folder.path]).report()
        #expect(Self.rules(report) == ["CF003"])
        #expect(report.findings.first?.diagnostic.line == 5)
    }

    @Test("a built app: a binary Info.plist, and entitlements from the code signature")
    func builtApp() throws {
        let folder = try TestFolder()
        let info = try PropertyListSerialization.data(
            fromPropertyList: [
                "CFBundleExecutable": "App", "CFBundlePackageType": "APPL",
                "CFBundleSupportedPlatforms": ["iPhoneOS"], "UIBackgroundModes": ["fetch"],
            ], format: .binary, options: 0)
        try folder.write(Array(info), to: "Payload/App.app/Info.plist")
        try folder.write(SignedProgram.bytes(Self.entitlements), to: "Payload/App.app/App")
        let report = try Audit(paths: [folder.path], sends: [.background]).report()
        #expect(Self.rules(report).sorted() == ["CF001", "CF007"])
        let debuggable = XML.dictionary([
            ("aps-environment", "<string>development</string>"), ("get-task-allow", "<true/>"),
        ])
        try folder.write(SignedProgram.bytes(debuggable), to: "Payload/App.app/App")
        let again = try Audit(paths: [folder.path], sends: [.background]).report()
        #expect(Self.rules(again) == ["CF001"])
    }

    @Test("what cannot be understood is a problem with its place, and the rest is looked at")
    func problems() throws {
        let folder = try TestFolder()
        try folder.write("<plist><dict><key>a</key></dict></plist>", to: "Info.plist")
        try folder.write(
            XML.dictionary([("aps-environment", "<string>live</string>")]), to: "A.entitlements")
        let report = try Audit(paths: [folder.path]).report()
        #expect(report.problems.map(\.place.column) == [14])
        #expect(Self.rules(report) == ["CF006"])
    }

    @Test("a project that is none is a problem, and a missing file one of a chosen target")
    func brokenProjects() throws {
        let folder = try TestFolder()
        try folder.write("{ a = b; }", to: "A.xcodeproj/project.pbxproj")
        #expect(try Audit(paths: [folder.path]).report().problems.count == 1)
        let other = try Self.project(app: "INFOPLIST_FILE = Missing.plist;")
        let report = try Audit(paths: [other.path], sends: [.background]).report()
        #expect(report.problems == [] && Self.rules(report) == [])
        #expect(
            report.unjudged.map(\.reason).contains {
                $0.hasPrefix(other.path + "/Missing.plist is not there")
            })
        let chosen = try Audit(paths: [other.path], sends: [.background], targets: ["App"]).report()
        #expect(chosen.problems.map(\.place.file) == [other.path + "/Missing.plist"])
    }

    @Test("nothing to audit, and nothing at a path, are failures")
    func nothing() throws {
        let folder = try TestFolder()
        #expect(throws: AuditFailure.nothingToAudit) { try Audit(paths: [folder.path]).report() }
        #expect(throws: AuditFailure.missing(path: "/nonexistent")) {
            try Audit(paths: ["/nonexistent"]).report()
        }
    }

    @Test(
        "a folder that may not be looked into is a problem, and not passed over in silence",
        .enabled(if: geteuid() != 0, "for root every folder is open"))
    func shutFolder() throws {
        let folder = try TestFolder()
        try folder.write("let provider = 1", to: "Shut/A.swift")
        let shut = folder.path + "/Shut"
        try #require(chmod(shut, 0) == 0)
        defer { chmod(shut, 0o700) }
        for path in [shut, folder.path] {
            let problems = try Audit(paths: [path]).report().problems
            #expect(problems.map(\.place.file) == [shut])
            #expect(problems.map(\.message) == ["the folder cannot be looked into"])
        }
    }

    @Test("pipes, devices, circles of links and files that are too large are not read")
    func oddFiles() throws {
        let folder = try TestFolder()
        try #require(mkfifo(folder.path + "/Info.plist", 0o600) == 0)
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/circle", withDestinationPath: folder.path)
        try folder.write("let provider = 1", to: "A.swift")
        let report = try Audit(paths: [folder.path]).report()
        #expect(report.findings == [] && report.problems == [])
        let named = try Audit(paths: [folder.path + "/Info.plist"]).report()
        #expect(named.problems.map(\.message) == ["the file cannot be read"])
        let big = try folder.write(
            [UInt8](repeating: 0x20, count: AuditLimits.propertyListBytes + 1), to: "big.plist")
        #expect(try Audit(paths: [big]).report().problems.count == 1)
        let long = [UInt8](repeating: 0x20, count: AuditLimits.sourceBytes)
        try folder.write(long + Array("let a = 1".utf8), to: "Generated.swift")
        let generated = try Audit(paths: [folder.path]).report()
        #expect(generated.problems == [] && generated.unjudged == report.unjudged)
        try folder.write(long + Array("CXProvider()".utf8), to: "Generated.swift")
        let unread = try Audit(paths: [folder.path]).report()
        #expect(unread.problems == [])
        #expect(unread.unjudged.contains { $0.reason.contains("Generated.swift has more than") })
        let zero = Audit(paths: ["/dev/zero"], sends: [.background])
        #expect(throws: AuditFailure.nothingToAudit) { try zero.report() }
    }

    @Test("what has a name that is not UTF-8 is not looked at, and that is said")
    func oddNames() throws {
        let folder = try TestFolder()
        try folder.write(
            "<plist><dict><key>UIBackgroundModes</key><array><string>voip</string></array>"
                + "</dict></plist>", to: "App/Info.plist")
        try folder.write("let x = 1", to: "App/A.swift")
        #expect(try Audit(paths: [folder.path]).report().findings.count == 1)
        var odd = Array((folder.path + "/App/").utf8CString.dropLast())
        odd += [-1, 0x2e, 0x73, 0]
        try #require(mkdir(odd, 0o700) == 0)
        defer { rmdir(odd) }
        let report = try Audit(paths: [folder.path]).report()
        #expect(report.findings == [] && report.problems == [])
        #expect(report.unjudged.contains { $0.reason.contains("not UTF-8") })
    }
}

/// A program as the linker and codesign leave it, as far as the audit looks.
enum SignedProgram {
    /// A Mach-O file for 64 bits whose code signature holds these entitlements.
    static func bytes(_ entitlements: String) -> [UInt8] {
        let content = Array(entitlements.utf8)
        var bytes = little(0xfeed_facf, 0, 0, 0, 2, 24, 0, 0)
        bytes += little(0x19, 8)
        bytes += little(0x1d, 16, 56, UInt32(20 + 8 + content.count))
        bytes += big(0xfade_0cc0, UInt32(20 + 8 + content.count), 1, 5, 20)
        bytes += big(0xfade_7171, UInt32(8 + content.count))
        return bytes + content
    }

    private static func little(_ words: UInt32...) -> [UInt8] {
        words.flatMap { bytes($0.byteSwapped) }
    }

    private static func big(_ words: UInt32...) -> [UInt8] { words.flatMap(bytes) }

    private static func bytes(_ word: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> $0) }
    }
}
