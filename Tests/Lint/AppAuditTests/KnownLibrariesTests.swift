// SPDX-License-Identifier: Apache-2.0

import Foundation
import PayloadLint
import PayloadRules
import Testing

@testable import AppAudit

/// Libraries that count as read, though their source text is not in the tree.
@Suite("Known libraries")
struct KnownLibrariesTests {
    private static let fetch = "INFOPLIST_KEY_UIBackgroundModes = \"fetch\";"

    /// The rules about modes that find something, and the reasons of what was not judged.
    static func audit(_ folder: TestFolder) throws -> (rules: [String], left: [String]) {
        let report = try Audit(paths: [folder.path]).report()
        let rules = AuditScopeTests.rules(report).filter { ["CF002", "CF019"].contains($0) }
        return (rules, report.unjudged.map(\.reason))
    }

    /// An app with silent pushes, a Podfile and a lock file.
    private static func pods(
        podfile: String = "target 'App' do\n  use_frameworks!\nend", lock: String?
    ) throws -> (rules: [String], left: [String]) {
        let folder = try TestFolder()
        try AuditScopeTests.write(folder, "App", settings: AuditScopeTests.mode)
        try folder.write(podfile, to: "App/Podfile")
        if let lock { try folder.write(lock, to: "App/Podfile.lock") }
        return try audit(folder)
    }

    @Test("pods that are all known count as read")
    func lock() throws {
        let known = try Self.pods(
            lock: """
                PODS:
                  - Alamofire (5.9.1)
                  - "Moya/Core (15.0.0)":
                    - Alamofire (~> 5.0)
                  - SnapKit (5.7.1)

                DEPENDENCIES:
                  - Moya (~> 15.0)

                COCOAPODS: 1.15.2
                """)
        #expect(known.rules == ["CF002"] && known.left == [])
        let unknown = try Self.pods(
            lock: """
                PODS:
                  - Alamofire (5.9.1)
                  - PushClient/Core (1.0):
                    - Alamofire

                """)
        #expect(unknown.rules == [] && unknown.left == ["1 pod (PushClient) was not read"])
        let own = try Self.pods(
            lock: """
                PODS:
                  - Alamofire (5.9.1)

                SPEC REPOS:
                  "https://example.com/specs.git":
                    - Alamofire

                """)
        #expect(own.rules == [] && own.left == ["1 pod (Alamofire) was not read"])
        let trunk = try Self.pods(
            lock: "PODS:\n  - Alamofire (5.9.1)\n\nSPEC REPOS:\n  trunk:\n    - Alamofire\n")
        #expect(trunk.rules == ["CF002"] && trunk.left == [])
        for line in ["pod 'Alamofire'; pod 'Push'", "source 'https://example.com/specs.git'"] {
            let podfile = "target 'App' do\n  pod 'SnapKit'\n  \(line)\nend"
            #expect(try Self.pods(podfile: podfile, lock: nil).rules == [], "\(line)")
        }
        let merged = try Self.pods(lock: "PODS:\n  - SnapKit (5.7.1)\n<<<<<<< HEAD\n  - Push (1)\n")
        #expect(merged.rules == [] && merged.left == ["1 project (Pods) was not read"])
    }

    @Test("a pod from elsewhere is known only from its own repository")
    func sources() throws {
        func left(_ source: String) throws -> [String] {
            try Self.pods(
                lock: """
                    PODS:
                      - SnapKit (5.7.1)

                    EXTERNAL SOURCES:
                      SnapKit:
                        :branch: main
                        \(source)

                    """
            ).left
        }
        #expect(try left(":git: https://github.com/SnapKit/SnapKit.git") == [])
        #expect(try left(":git: git@github.com:snapkit/snapkit.git") == [])
        let unread = ["1 pod (SnapKit) was not read"]
        #expect(try left(":git: https://github.com/someone/SnapKit.git") == unread)
        #expect(try left(":git: https://example.com/SnapKit/SnapKit.git") == unread)
        #expect(try left(":path: \"../SnapKit\"") == unread)
        #expect(try left(":podspec: https://github.com/SnapKit/SnapKit") == unread)
    }

    @Test(
        "without a lock file a Podfile has to name the pods one by one",
        arguments: [
            ("pod 'SnapKit', '~> 5.0' # layout", []), ("pod(\"Alamofire\")", []),
            ("pod 'Alamofire',\n      '~> 5.0'", []), ("IOS_VERSION = '15.0'", []),
            ("require_relative '../node_modules/@capacitor/ios/scripts/pods_helpers'", []),
            ("PODS.each do |name|", ["1 project (Pods) was not read"]),
            ("require_relative 'pods'", ["1 project (Pods) was not read"]),
            ("require 'json'", []), ("load 'pods.rb'", ["1 project (Pods) was not read"]),
            ("pod 'SnapKit', options", ["1 pod (SnapKit) was not read"]),
            ("pod 'SnapKit', '~> 5.0', :modular_headers => true", []),
            ("pod 'SnapKit', configurations: ['Debug'] if x", ["1 pod (SnapKit) was not read"]),
            ("pod 'SnapKit', OPTIONS", ["1 pod (SnapKit) was not read"]),
            ("pod 'SnapKit', **own('x')", ["1 pod (SnapKit) was not read"]),
            ("pod 'Push'", ["1 pod (Push) was not read"]),
            ("pod 'SnapKit', :git => 'https://github.com/SnapKit/SnapKit'", []),
            (
                "pod 'SnapKit', :git => 'https://a.b/me/SnapKit'", ["1 pod (SnapKit) was not read"]
            ),
            ("pod 'SnapKit', path: '../SnapKit'", ["1 pod (SnapKit) was not read"]),
            ("use_react_native!(:path => config)", ["1 project (Pods) was not read"]),
            ("post_install { |i| x }\n  pod 'Push'", ["1 project (Pods) was not read"]),
            ("pod name", ["1 project (Pods) was not read"]),
            ("plugins.each { |x| pod x }", ["1 project (Pods) was not read"]),
        ])
    func podfile(line: String, left: [String]) throws {
        let hook = "post_install do |installer|\n  installer.x.each do |t|\n    y\n  end\nend\n"
        let found = try Self.pods(
            podfile: "platform :ios, '15.0'\ntarget 'App' do\n  use_frameworks!\n  \(line)\nend\n"
                + hook, lock: nil)
        #expect(found.left == left)
        #expect(found.rules == (left.isEmpty ? ["CF002"] : []))
    }

    @Test("a pod that the Podfile names and the lock file lacks is not read")
    func staleLock() throws {
        let found = try Self.pods(
            podfile: "target 'App' do\n  pod 'Push'\nend", lock: "PODS:\n  - SnapKit (5.7.1)\n")
        #expect(found.left == ["1 pod (Push) was not read"])
    }

    @Test("packages are known by the address of their repository")
    func packages() throws {
        func audit(_ address: String) throws -> (rules: [String], left: [String]) {
            let folder = try TestFolder()
            try AuditScopeTests.write(
                folder, "App", settings: AuditScopeTests.mode,
                objects: """
                    PR = { isa = XCRemoteSwiftPackageReference; repositoryURL = "\(address)"; };
                    D = { isa = XCSwiftPackageProductDependency; package = PR;
                      productName = Alamofire; };
                    E = { isa = XCSwiftPackageProductDependency; productName = Alamofire; };
                    """, target: "packageProductDependencies = ( D, E );")
            return try Self.audit(folder)
        }
        for name in ["Alamofire/Alamofire.git/", "ALAMOFIRE/alamofire"] {
            let known = try audit("https://github.com/" + name)
            #expect(known.rules == ["CF002"] && known.left == [])
        }
        for address in ["https://github.com/me/Alamofire", "https://a.b/Alamofire/Alamofire", ""] {
            let unknown = try audit(address)
            // A fork on GitHub is taken to handle no pushes either.
            #expect(unknown.rules == (address.contains("github") ? ["CF002"] : []))
            #expect(unknown.left == ["1 package (Alamofire) was not read"])
        }
    }

    @Test("a framework of Carthage is known by the repository in the Cartfile")
    func carthage() throws {
        func left(_ path: String, _ cartfile: String) throws -> [String] {
            let folder = try TestFolder()
            try AuditScopeTests.write(
                folder, "App", settings: AuditScopeTests.mode,
                objects: """
                    X = { isa = PBXFileReference; path = "\(path)"; sourceTree = "<group>"; };
                    BX = { isa = PBXBuildFile; fileRef = X; };
                    FX = { isa = PBXFrameworksBuildPhase; files = ( BX ); };
                    """, target: "buildPhases = ( S, FX );")
            try folder.write(cartfile, to: "App/Cartfile")
            return try Self.audit(folder).left
        }
        let path = "Carthage/Build/iOS/CryptoSwift.framework"
        let unread = ["1 framework (CryptoSwift) was not read"]
        let own = "github \"krzyzanowskim/CryptoSwift\" ~> 1.0"
        #expect(try left(path, own) == [])
        #expect(try left(path, "github \"someone/CryptoSwift\"") == unread)
        #expect(try left(path, "github \"someone/Other\"\n" + own) == [])
        #expect(try left("Libs/CryptoSwift.framework", own) == unread)
    }

    @Test("the plugins of Flutter are pods, and its registrant only names them")
    func flutter() throws {
        func audit(_ plugin: String) throws -> (rules: [String], left: [String]) {
            let folder = try TestFolder()
            try AuditScopeTests.write(
                folder, "Runner", settings: Self.fetch,
                objects: """
                    X = { isa = PBXFileReference; path = Flutter/Release.xcconfig;
                      sourceTree = "<group>"; };
                    R = { isa = PBXFileReference; path = GeneratedPluginRegistrant.m;
                      sourceTree = "<group>"; };
                    BR = { isa = PBXBuildFile; fileRef = R; };
                    S2 = { isa = PBXSourcesBuildPhase; files = ( BR ); };
                    """, target: "buildPhases = ( S, S2 );",
                source: "@main class AppDelegate: FlutterAppDelegate {}")
            let path = "Runner/Runner.xcodeproj/project.pbxproj"
            let text = try String(contentsOfFile: folder.path + "/" + path, encoding: .utf8)
            try folder.write(
                text.replacing(
                    "C1 = { isa", with: "C1 = { baseConfigurationReference = X; isa"), to: path)
            try folder.write(
                "target 'Runner' do\n  flutter_install_all_ios_pods x\nend", to: "Runner/Podfile")
            try folder.write(
                """
                PODS:
                  - Flutter (1.0.0)
                  - \(plugin) (0.0.1):
                    - Flutter

                EXTERNAL SOURCES:
                  Flutter:
                    :path: Flutter/ephemeral
                  \(plugin):
                    :path: ".symlinks/plugins/\(plugin)/ios"

                """, to: "Runner/Podfile.lock")
            return try Self.audit(folder)
        }
        let known = try audit("share_plus")
        #expect(known.rules == ["CF019"] && known.left == [])
        let unknown = try audit("workmanager")
        #expect(unknown.rules == [] && unknown.left == ["1 pod (workmanager) was not read"])
    }

    /// An app that has the mode for background fetch and does nothing, with a Podfile that adds the
    /// plugins of a manifest.
    private static func host(
        _ podfile: String, _ name: String, _ manifest: String?
    ) throws -> (rules: [String], left: [String]) {
        let folder = try TestFolder()
        try AuditScopeTests.write(folder, "ios", settings: fetch, below: "app/")
        try folder.write("target 'ios' do\n  \(podfile)\nend", to: "app/ios/Podfile")
        if let manifest { try folder.write(manifest, to: "app/" + name) }
        return try audit(folder)
    }

    @Test(
        "without a lock file the manifest of Flutter names the plugins",
        arguments: [
            ("  share_plus: ^1.0", ["CF019"], ""),
            ("  push_client: ^1.0", ["CF019"], "1 package (push_client) was not read"),
            ("  geolocator: any", ["CF019"], "1 package (geolocator) was not read"),
            ("  workmanager: ^0.5", [], "1 package (workmanager) was not read"),
            ("  client: { path: ../client }", [], "1 package (client) was not read"),
            (
                "  client: { git: 'https://a.b/me/client' }", [], "1 package (client) was not read"
            ),
            ("  client: { hosted: https://a.b }", [], "1 package (client) was not read"),
            (
                "  client: any\ndependency_overrides:\n  client: { path: ../client }", [],
                "1 package (client) was not read"
            ),
            ("", ["CF019"], ""),
        ])
    func pubspec(line: String, rules: [String], left: String) throws {
        let podfile = "flutter_install_all_ios_pods File.dirname(__FILE__)"
        let manifest = "dependencies:\n  flutter:\n    sdk: flutter\n" + line + "\n"
        let found = try Self.host(podfile, "pubspec.yaml", manifest)
        #expect(found.rules == rules)
        #expect(found.left.joined() == left)
    }

    @Test("one of React Native names its modules, and no other manifest does")
    func modules() throws {
        let native = "use_react_native!(:path => config)\n  use_native_modules!"
        func left(_ podfile: String, _ modules: String) throws -> [String] {
            try Self.host(podfile, "package.json", "{\n\t\"dependencies\": {\n\t\(modules)}\n}")
                .left
        }
        let core = "\"react-native\": \"0.8\""
        let none = try Self.host(native, "package.json", "{ \"dependencies\": { \(core) } }")
        #expect(none.rules == ["CF019"])
        #expect(none.left == ["1 package (react-native) was not read"])
        #expect(
            try left(native, core + ", \"react-native-background-fetch\": \"^4\"")
                == ["2 packages (react-native, react-native-background-fetch) were not read"])
        let unread = ["1 project (Pods) was not read"]
        #expect(try left(native, "\"react\": \"19\"") == unread)
        #expect(try left("pod name", core) == unread)
        #expect(try left(native + "\n  pod name", core) == unread)
        #expect(try left(native + "\n  x.each { |n| pod n }", core) == unread)
        #expect(try left(native + "\nsource 'https://a.b/specs.git'", core) == unread)
        #expect(try Self.host(native, "package.json", "{ \"dependencies\": {").left == unread)
        let shared = "{ \"workspaces\": [], \"dependencies\": { \(core) } }"
        #expect(try Self.host(native, "package.json", shared).left == unread)
        #expect(try Self.host(native, "package.json", nil).left == unread)
    }

    @Test("the lock file names those of React Native by their folders")
    func moduleFolders() throws {
        func rules(_ pod: String, _ source: String) throws -> [String] {
            let folder = try TestFolder()
            try AuditScopeTests.write(folder, "App", settings: Self.fetch)
            try folder.write(
                """
                { "dependencies": { "react-native": "0.8", "maps": "file:../maps",
                  "@own/maps": "workspace:*" }, "workspaces": [] }
                """, to: "package.json")
            try folder.write("target 'App' do\n  use_native_modules!\nend", to: "App/Podfile")
            let lock = "PODS:\n  - \(pod) (1.0)\n\nEXTERNAL SOURCES:\n  \(pod):\n    \(source)\n"
            try folder.write(lock, to: "App/Podfile.lock")
            return try Self.audit(folder).rules
        }
        #expect(try rules("RNMaps", ":path: \"../node_modules/react-native-maps\"") == ["CF019"])
        #expect(try rules("fmt", ":podspec: \"../node_modules/react-native/fmt\"") == ["CF019"])
        #expect(try rules("ReactCodegen", ":path: build/generated/ios") == ["CF019"])
        #expect(try rules("fmt", ":podspec: \"https://a.b/fmt.podspec\"") == [])
        #expect(try rules("RNTasks", ":path: \"../node_modules/react-native-tasks\"") == [])
        #expect(try rules("RNMaps", ":path: \"../Modules/Maps\"") == [])
        // Those that the manifest takes from folders are the app's own.
        #expect(try rules("RNMaps", ":path: \"../node_modules/maps\"") == [])
        #expect(try rules("RNMaps", ":path: \"../node_modules/@own/maps/ios\"") == [])
    }

    @Test("a mode whose permitted task no text names is told of, whoever is meant to run it")
    func tasksOfOthers() throws {
        func rules(_ task: String, _ source: String = "let x = 1") throws -> [String] {
            let folder = try TestFolder()
            try AuditScopeTests.write(
                folder, "App",
                settings:
                    "PRODUCT_BUNDLE_IDENTIFIER = com.example.app; INFOPLIST_FILE = Info.plist;",
                source: source)
            try folder.write(
                XML.dictionary([
                    ("UIBackgroundModes", XML.array("processing")),
                    ("BGTaskSchedulerPermittedIdentifiers", XML.array(task)),
                ]), to: "App/Info.plist")
            try folder.write("target 'App' do\n  pod 'Client'\nend", to: "App/Podfile")
            return try Self.audit(folder).rules
        }
        #expect(try rules("com.example.app.sync") == ["CF019"])
        #expect(try rules("$(PRODUCT_BUNDLE_IDENTIFIER).sync") == ["CF019"])
        #expect(try rules("com.client.sync") == ["CF019"])
        let named = "BGTaskScheduler.shared.register(forTaskWithIdentifier: \"com.client.sync\")"
        #expect(try rules("com.client.sync", "func f() { \(named) { t in end(t) } }") == ["CF019"])
    }

    @Test(
        "one whose name tells of neither pushes nor calls is taken to have none",
        arguments: [
            ("Stripe", false, false), ("react-native-image-picker", false, false),
            ("shared_preferences", false, false), ("Shared", true, true),
            ("FeedParser", false, false), ("React-callinvoker", false, false),
            ("AWSCore", false, false), ("react-native-shortcuts", false, false),
            ("flutter_dialogs", false, false), ("livelike", false, false),
            ("JPush", true, true), ("react-native-notifications", true, false),
            ("NIMSDK_LITE", true, true), ("line-sdk-ios", true, false),
            ("rongcloud-im", true, true), ("CloudCore", true, false), ("IMKit", true, true),
            ("flutter_webrtc", false, true), ("TwilioVoice", true, true),
            ("QNRTCKit", false, true), ("VoxeetUXKit", false, true),
            ("react-native-callkeep", true, true), ("@sip/client", false, true),
        ])
    func presumedPushes(name: String, pushes: Bool, calls: Bool) {
        let uses = KnownLibraries.presumedUses(of: name)
        #expect(uses.contains(.likelyPushes) == pushes)
        #expect(uses.contains(.likelyCalls) == calls)
        #expect(uses.isSuperset(of: [.pushes, .calls]))
    }

    @Test(
        "a mode for pushes or calls that only a library could use is told of",
        arguments: [
            ("remote-notification", "Lottie2", ["CF002"]),
            ("remote-notification", "PushClient", []),
            ("remote-notification", "Firebase/Messaging", ["CF002"]),
            ("remote-notification", "CapacitorPushNotifications", ["CF002"]),
            ("remote-notification", "RNFBMessaging", []),
            ("remote-notification", "Firebase/Functions", ["CF002"]),
            ("voip", "Lottie2", ["CF008"]), ("voip", "SIPClient", []),
            ("voip", "Firebase/Messaging", ["CF008"]),
        ])
    func unusedModes(mode: String, pod: String, expected: [String]) throws {
        let folder = try TestFolder()
        try AuditScopeTests.write(
            folder, "App", settings: "INFOPLIST_KEY_UIBackgroundModes = \"\(mode)\";")
        try folder.write("target 'App' do\n  pod '\(pod)'\nend", to: "App/Podfile")
        let report = try Audit(paths: [folder.path]).report()
        // Such an app lacks the entitlement for pushes too.
        let found = report.findings.filter { $0.diagnostic.rule != "CF005" }
        #expect(found.map(\.diagnostic.rule.rawValue) == expected)
        let fixes = found.map(\.diagnostic.fix)
        let unless = "unless code that was not read"
        #expect(fixes.allSatisfy { $0.contains(unless) || pod.contains("/") })
        let open = Set(report.unjudged.flatMap(\.rules))
        #expect(open.isDisjoint(with: found.map(\.diagnostic.rule)))
    }

    @Test("a rule about a mode is not judged only if what is unread decides it")
    func undecided() throws {
        func rules(_ modes: String, _ source: String) throws -> Set<String> {
            let folder = try TestFolder()
            try AuditScopeTests.write(
                folder, "App", settings: "INFOPLIST_KEY_UIBackgroundModes = \"\(modes)\";",
                source: source)
            try folder.write("target 'App' do\n  pod 'PushWorker'\nend", to: "App/Podfile")
            let report = try Audit(paths: [folder.path]).report()
            let left = try #require(report.unjudged.first).rules.map(\.rawValue)
            return Set(left).intersection(["CF002", "CF008", "CF019", "CF030"])
        }
        let delegate = "class A: UIResponder, UIApplicationDelegate {}"
        #expect(try rules("fetch", "let x = 1") == ["CF008", "CF019"])
        #expect(try rules("fetch", delegate) == ["CF008"], "CF019 is found")
        #expect(try rules("fetch", "let x: BGAppRefreshTask") == ["CF008"], "the mode is used")
        #expect(try rules("fetch processing", delegate) == ["CF008"], "both are found")
        #expect(try rules("remote-notification", delegate) == ["CF002", "CF008"])
        #expect(try rules("remote-notification", AuditScopeTests.handler) == ["CF008"])
        #expect(try rules("audio", delegate) == ["CF008", "CF030"])
        #expect(try rules("location", delegate) == ["CF008"], "CF030 is found")
        #expect(try rules("", delegate) == ["CF008"])
    }

    @Test("what a known library does, or may do, by its pod and by its package")
    func others() {
        let presumed = ModuleUses.all.subtracting([
            .likelyTasks, .likelyPushes, .likelyCalls, .likelyTransfers, .likelyHandlers,
            .likelyLocations, .endsOfTime,
        ])
        #expect(KnownLibraries.uses(of: "Stripe") == presumed)
        #expect(
            KnownLibraries.uses(of: "workmanager")
                == presumed.union([.likelyTasks, .likelyLocations]))
        #expect(KnownLibraries.uses(of: "Alamofire") == [])
        let log = "ssh://git@github.com/apple/swift-log"
        #expect(KnownLibraries.uses(ofProduct: "Logging", of: log) == [])
        #expect(KnownLibraries.uses(ofProduct: nil, of: "https://github.com/apple") == .all)
        let other = KnownLibraries.uses(of: "Alamofire", from: "https://github.com/me/Alamofire")
        #expect(other == presumed)
        let unlisted = KnownLibraries.uses(of: "Alamofire", from: "https://a.b/me/Alamofire")
        #expect(unlisted == .all)
        let parse = "https://github.com/netreconlab/ParseSwift.git"
        let ofParse = KnownLibraries.uses(ofProduct: nil, of: parse)
        #expect(ofParse.contains(.likelyPushes) && !ofParse.contains(.likelyCalls))
        let kotlin = KnownLibraries.uses(ofProduct: "Shared", of: "https://github.com/me/shared")
        #expect(kotlin == .all)
        let firebase = "https://github.com/firebase/firebase-ios-sdk.git"
        #expect(KnownLibraries.uses(ofProduct: "FirebaseFirestore", of: firebase) == [])
        let messaging = KnownLibraries.uses(ofProduct: "FirebaseMessaging", of: firebase)
        #expect(messaging == [.pushes, .likelyPushes, .transfers, .likelyTransfers, .time])
        #expect(KnownLibraries.uses(ofProduct: "FirebaseNext", of: firebase) == .all)
        #expect(KnownLibraries.uses(ofProduct: nil, of: firebase).contains(.pushes))
        #expect(KnownLibraries.uses(of: "Firebase/Firestore") == [])
        #expect(KnownLibraries.uses(of: "Firebase/Next").contains(.pushes))
        #expect(KnownLibraries.uses(of: "GoogleUtilities/Environment") == [])
        #expect(KnownLibraries.uses(of: "GoogleUtilities").contains(.transfers))
    }

    @Test("rules about what a known library does not do are judged")
    func partlyKnown() throws {
        func audit(_ pods: String) throws -> (found: Bool, open: Set<RuleID>) {
            let folder = try TestFolder()
            try AuditScopeTests.write(
                folder, "App", settings: "INFOPLIST_KEY_UIBackgroundModes = \"voip\";",
                source: "class A: UIResponder, UIApplicationDelegate {}")
            try folder.write("target 'App' do\n\(pods)\nend", to: "App/Podfile")
            let report = try Audit(paths: [folder.path]).report()
            let found = report.findings.contains { $0.diagnostic.rule == "CF008" }
            return (found, Set(report.unjudged.flatMap(\.rules)))
        }
        let pushes = try audit("  pod 'Firebase/Messaging'\n  pod 'Alamofire'")
        #expect(pushes.found && pushes.open.contains("CF054") && pushes.open.contains("CF046"))
        #expect(!pushes.open.contains("CF008") && !pushes.open.contains("CF052"))
        let read = try audit("  pod 'Firebase/Firestore'")
        #expect(read.found && read.open == [])
        let unknown = try audit("  pod 'Firebase/Messaging'\n  pod 'TwilioVoice'")
        #expect(!unknown.found && unknown.open.contains("CF008"))
    }
}
