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

    @Test("their source text is read")
    func sources() throws {
        #expect(try Self.rules(["Kit/Classes/A.swift": "let a = 1"]) == ["CF019"])
        #expect(
            try Self.rules(["Kit/Classes/A.swift": "let a: BGAppRefreshTask", "Kit/A.podspec": ""])
                == [])
        #expect(
            try Self.rules([
                "Kit/Classes/A.swift": "let a = 1",
                "Kit/Example/B.swift": "let b: BGAppRefreshTask",
            ]) == ["CF019"])
        #expect(
            try Self.rules(
                ["Kit/Classes/A.swift": "let a = 1"], podfile: "pod 'Kit', path: 'Kit/Kit.podspec'")
                == ["CF019"])
    }

    @Test(
        "those that are not there may do anything",
        arguments: ["pod 'Kit', :path => '../Other'", "pod 'Kit', :path => '/Kit'"])
    func absent(podfile: String) throws {
        #expect(try Self.rules(["Kit/Classes/A.swift": "let a = 1"], podfile: podfile) == [])
        #expect(try Self.rules(["Kit/readme.txt": "a"]) == [])
    }

    @Test("what one does to register for calls is not taken for the app's own")
    func calls() throws {
        let registers = "let r = PKPushRegistry(queue: nil)\nr.desiredPushTypes = [.voIP]"
        let found = try Self.rules(["Kit/Classes/A.swift": "func f() {\n\(registers)\n}"])
        #expect(!found.contains("CF008"))
    }
}
