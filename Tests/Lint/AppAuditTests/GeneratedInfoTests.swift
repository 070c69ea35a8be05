// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Info.plists that Xcode makes of a file and of build settings.
@Suite("Info.plists with build settings")
struct GeneratedInfoTests {
    private static func found(settings: String, file: String, named name: String) throws -> [String]
    {
        let folder = try TestFolder()
        try AuditScopeTests.write(
            folder, "App", settings: settings,
            source: "class A: UIResponder, UIApplicationDelegate {}")
        try folder.write(file, to: "App/" + name)
        return try Audit(paths: [folder.path]).report().findings
            .filter { $0.diagnostic.rule == "CF019" }
            .map {
                "\($0.file.split(separator: "/").last ?? "") \($0.diagnostic.message.prefix(32))"
            }
            .sorted()
    }

    @Test("a list of a build setting is appended to that of the file")
    func lists() throws {
        let settings =
            "GENERATE_INFOPLIST_FILE = YES; INFOPLIST_FILE = Info.plist; "
            + "INFOPLIST_KEY_UIBackgroundModes = \"processing audio\";"
        let file = XML.dictionary([("UIBackgroundModes", XML.array("audio", "fetch"))])
        #expect(
            try Self.found(settings: settings, file: file, named: "Info.plist") == [
                "Info.plist UIBackgroundModes has `fetch`, a",
                "project.pbxproj UIBackgroundModes has `processin",
            ])
    }

    @Test("a file is named as it is spelt, whatever the project says")
    func spelling() throws {
        let file = XML.dictionary([("UIBackgroundModes", XML.array("fetch"))])
        let settings = "INFOPLIST_FILE = INFO.plist;"
        #expect(
            try Self.found(settings: settings, file: file, named: "Info.plist")
                == ["Info.plist UIBackgroundModes has `fetch`, a"])
    }
}
