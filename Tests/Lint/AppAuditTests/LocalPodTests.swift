// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Pods whose files are in the tree.
@Suite("Pods beside the project")
struct LocalPodTests {
    private static func rules(
        _ files: [String: String], podfile: String = "pod 'Kit', :path => './Kit'"
    ) throws -> [String] {
        let folder = try TestFolder()
        try AuditScopeTests.write(
            folder, "App", settings: "INFOPLIST_KEY_UIBackgroundModes = \"fetch\";")
        try folder.write("target 'App' do\n  \(podfile)\nend", to: "App/Podfile")
        for (name, text) in files { try folder.write(text, to: "App/" + name) }
        return AuditScopeTests.rules(try Audit(paths: [folder.path]).report())
    }

    private static let specification = "Pod::Spec.new { |s| s.source_files = 'Classes/*.swift' }"
    private static let idle = [
        "Kit/Classes/A.swift": "let a = 1", "Kit/Kit.podspec": specification,
    ]

    @Test("their source text is read")
    func sources() throws {
        #expect(try Self.rules(Self.idle) == ["CF019"])
        #expect(
            try Self.rules(Self.idle, podfile: "pod 'Kit', path: 'Kit/Kit.podspec'") == ["CF019"])
        let task = "let a: BGAppRefreshTask"
        #expect(try Self.rules(Self.idle.merging(["Kit/Classes/B.swift": task]) { $1 }) == [])
        for path in ["Example/B.swift", "Classes/KitDemo/B.swift", "macOS/B.swift"] {
            #expect(
                try Self.rules(Self.idle.merging(["Kit/" + path: task]) { $1 }) == ["CF019"],
                "\(path)")
        }
    }

    @Test(
        "those that bring along other code may do anything",
        arguments: [
            (
                "Kit/Kit.podspec",
                "s.source_files = 'Classes/*'\ns.vendored_frameworks = 'Sync.xcframework'"
            ),
            ("Kit/Kit.podspec", "s.source_files = 'Classes'\ns.dependency 'BackgroundWorker'"),
            ("Kit/Kit.podspec", "s.source_files = 'Classes'\ns.prepare_command = 'make'"),
            ("Kit/Kit.podspec", "s.source_files = files"), ("Kit/Other.podspec", ""),
            ("Kit/src/iosMain/A.kt", "fun f() {}"),
        ])
    func others(path: String, text: String) throws {
        #expect(try Self.rules(Self.idle.merging([path: text]) { $1 }) == [])
    }

    @Test("one of binaries is not what Gradle builds elsewhere")
    func besideGradle() throws {
        let folder = try TestFolder()
        try AuditScopeTests.write(
            folder, "App", settings: "INFOPLIST_KEY_UIBackgroundModes = \"fetch\";")
        try folder.write(
            "target 'App' do\n  pod 'Kit', :path => './Kit'\nend", to: "App/Podfile")
        try folder.write("s.vendored_frameworks = 'Kit.xcframework'", to: "App/Kit/Kit.podspec")
        try folder.write("", to: "settings.gradle")
        try folder.write("fun f() {}", to: "shared/src/iosMain/kotlin/A.kt")
        #expect(AuditScopeTests.rules(try Audit(paths: [folder.path]).report()) == [])
    }

    @Test("a pod that names libraries of which none has tasks")
    func dependencies() throws {
        let text =
            "s.source_files = 'Classes/**/*.{swift,h}', 'More/A.swift'\n"
            + "s.dependency 'Alamofire/Core', '~> 5'\n# s.dependency 'BackgroundWorker'"
        #expect(try Self.rules(Self.idle.merging(["Kit/Kit.podspec": text]) { $1 }) == ["CF019"])
    }

    @Test(
        "those that are not there, or around the project, may do anything",
        arguments: [
            "pod 'Kit', :path => '../Other'", "pod 'Kit', :path => '/Kit'",
            "pod 'Kit', :path => '.'",
            "pod 'Kit', :path => '../'",
        ])
    func absent(podfile: String) throws {
        #expect(try Self.rules(Self.idle, podfile: podfile) == [])
        #expect(try Self.rules(["Kit/readme.txt": "a"]) == [])
        #expect(try Self.rules(["Kit/Classes/A.swift": "let a = 1"]) == [], "no podspec")
    }

    /// The rules of an app of Flutter whose manifest takes a plugin from a folder, and what was not
    /// read of it.
    private static func flutter(
        _ files: [String: String], path: String = "plugins/util", isLocked: Bool = false
    ) throws -> (rules: [String], left: [String]) {
        let folder = try TestFolder()
        try AuditScopeTests.write(
            folder, "ios", settings: "INFOPLIST_KEY_UIBackgroundModes = \"fetch\";",
            below: "plugins/app/")
        let app = "plugins/app/"
        let podfile = "target 'ios' do\n  flutter_install_all_ios_pods File.dirname(__FILE__)\nend"
        try folder.write(podfile, to: app + "ios/Podfile")
        let lock =
            "PODS:\n  - util (0.0.1):\n    - Flutter\n\nEXTERNAL SOURCES:\n  util:\n"
            + "    :path: \".symlinks/plugins/util/ios\"\n"
        if isLocked { try folder.write(lock, to: app + "ios/Podfile.lock") }
        try folder.write(
            "dependencies:\n  flutter:\n    sdk: flutter\n  util:\n    path: \(path)\n",
            to: app + "pubspec.yaml")
        for (name, text) in files { try folder.write(text, to: app + "plugins/" + name) }
        let report = try Audit(paths: [folder.path]).report()
        return (AuditScopeTests.rules(report), report.unjudged.map(\.reason))
    }

    private static let manifest = "name: util\ndependencies:\n  flutter:\n    sdk: flutter\n"
    private static let plugin = [
        "util/pubspec.yaml": manifest,
        "util/ios/util.podspec": "s.source_files = 'Classes/**/*'\ns.dependency 'Flutter'",
        "util/ios/Classes/A.swift": "let a = 1",
    ]

    @Test("a plugin of Flutter in the tree is read", arguments: [true, false])
    func plugins(isLocked: Bool) throws {
        func found(_ more: [String: String], path: String = "plugins/util") throws -> [String] {
            let files = Self.plugin.merging(more) { $1 }
            return try Self.flutter(files, path: path, isLocked: isLocked).rules
        }
        #expect(try found([:]) == ["CF019"])
        #expect(try Self.flutter(Self.plugin, isLocked: isLocked).left == [])
        #expect(try found(["util/ios/Classes/B.swift": "let a: BGAppRefreshTask"]) == [])
        let binary = "s.source_files = 'Classes'\ns.vendored_frameworks = 'Sync.xcframework'"
        #expect(try found(["util/ios/util.podspec": binary]) == [])
        for files in ["'Classes/**/*', '../src/**/*'", "['Classes/**/*',\n  '../src/*']"] {
            #expect(try found(["util/ios/util.podspec": "s.source_files = \(files)"]) == [])
        }
        func swift(_ dependency: String) throws -> [String] {
            try found(["util/ios/util/Package.swift": "dependencies: [\(dependency)]"])
        }
        #expect(try swift(".package(url: \"https://a.b/me/tasks\", from: \"1.0.0\")") == [])
        #expect(
            try swift(
                ".package(url: \"https://github.com/Alamofire/Alamofire.git\", from: \"5.0.0\")")
                == ["CF019"])
        #expect(
            try swift(".package(url: \"https://a.b/me/Alamofire.git\", from: \"5.0.0\")") == [])
        let known = ".package(url: \"https://github.com/Alamofire/Alamofire.git\", from: \"5.0.0\")"
        #expect(
            try swift("\(known), .package(url: \"https://a.b/me/tasks\", from: \"1.0.0\")") == [])
        #expect(try swift(".package(path: \"../tasks\")") == [])
        #expect(try swift("], targets: [.binaryTarget(name: \"A\", path: \"A.zip\")") == [])
        let engine =
            "dependencies: [.package(name: \"FlutterFramework\", path: \"../FlutterFramework\")]"
        #expect(try found(["util/ios/util/Package.swift": engine]) == ["CF019"])
        #expect(try found(["util/darwin/util.podspec": "s.source_files = 'Classes'"]) == [])
        #expect(try found([:], path: "plugins/other") == [])
        #expect(try found([:], path: "/plugins/util") == [])
    }

    @Test("a package of Flutter in the tree is read, or has nothing native but what it names")
    func packages() throws {
        let darwin = [
            "util/pubspec.yaml": Self.manifest,
            "util/darwin/util.podspec": "s.source_files = 'Classes'",
            "util/darwin/Classes/A.swift": "let a: BGAppRefreshTask",
        ]
        #expect(try Self.flutter(darwin).rules == [])
        let plain = ["util/pubspec.yaml": Self.manifest, "util/lib/a.dart": "int a = 1;"]
        #expect(try Self.flutter(plain) == (["CF019"], []))
        let hooks = plain.merging(["util/hook/build.dart": ""]) { $1 }
        #expect(try Self.flutter(hooks).rules == [])
        // What is built is the override, and of two sources of one name either may be.
        let other = "\ndependency_overrides:\n  util: { git: 'https://a.b/me/util' }"
        #expect(try Self.flutter(plain, path: "plugins/util" + other).rules == [])
        let two = plain.merging([
            "more/pubspec.yaml": Self.manifest + "  util: { git: 'https://a.b/me/util' }\n"
        ]) { $1 }
        #expect(
            try Self.flutter(two, path: "plugins/util\n  more:\n    path: plugins/more").rules == []
        )
        let names = Self.manifest + "  workmanager: ^0.5\ndev_dependencies:\n  util: any\n"
        #expect(try Self.flutter(["util/pubspec.yaml": names]).rules == [])
        // A package of the tree that another one takes from a folder, and that takes it.
        let first = ["util/pubspec.yaml": Self.manifest + "  more:\n    path: ../more\n"]
        let second = [
            "more/pubspec.yaml": Self.manifest + "  util:\n    path: ../util\n",
            "more/ios/more.podspec": "s.source_files = 'Classes'",
        ]
        func found(_ text: String) throws -> [String] {
            let files = second.merging(["more/ios/Classes/A.swift": text]) { $1 }
            return try Self.flutter(first.merging(files) { $1 }).rules
        }
        #expect(try found("let a = 1") == ["CF019"])
        #expect(try found("let a: BGAppRefreshTask") == [])
    }

    @Test("a plugin around its example may do anything")
    func example() throws {
        let files = ["../../util.txt": "", "../../pubspec.yaml": Self.manifest]
        #expect(try Self.flutter(files, path: "../").rules == [])
    }
}
