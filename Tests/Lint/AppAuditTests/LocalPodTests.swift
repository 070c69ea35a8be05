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
}
