// SPDX-License-Identifier: Apache-2.0

import Foundation
import PayloadRules
import Testing

@testable import AppAudit

/// What nobody builds for iOS.
@Suite("Shared schemes, and builds for the Mac")
struct SharedSchemesTests {
    /// A scheme that runs a target in one configuration and archives it in another.
    private static func scheme(_ target: String, _ run: String, _ archive: String) -> String {
        "<BuildableReference BlueprintName = \"\(target)\"><LaunchAction\n buildConfiguration = "
            + "\"\(run)\"></LaunchAction><ArchiveAction buildConfiguration = \"\(archive)\">"
    }

    @Test("a usual configuration that no scheme of its target builds is let be, and said to be")
    func leftConfigurations() throws {
        let folder = try TestFolder()
        let lacking = "INFOPLIST_KEY_UIBackgroundModes = fetch;"
        try AuditScopeTests.write(
            folder, "App", settings: lacking,
            objects: """
                CA = { isa = XCBuildConfiguration; name = DebugStore; buildSettings = {
                  GENERATE_INFOPLIST_FILE = YES;
                  INFOPLIST_KEY_UIBackgroundModes = remote-notification; }; };
                CB = { isa = XCBuildConfiguration; name = ReleaseStore; buildSettings = {
                  GENERATE_INFOPLIST_FILE = YES;
                  INFOPLIST_KEY_UIBackgroundModes = remote-notification; }; };
                """)
        let file = "App/App.xcodeproj/project.pbxproj"
        let project = try String(contentsOfFile: folder.path + "/" + file, encoding: .utf8)
        try folder.write(project.replacing("( C1 )", with: "( C1, CA, CB )"), to: file)
        func report(_ configurations: Set<String> = []) throws -> AuditReport {
            try Audit(
                paths: [folder.path], sends: [.background], configurations: configurations
            ).report()
        }
        func tells(_ configurations: Set<String> = []) throws -> Bool {
            AuditScopeTests.rules(try report(configurations)).contains("CF001")
        }
        #expect(try tells())
        for (target, run, archive) in [
            ("Other", "DebugStore", "ReleaseStore"), ("App", "DebugStore", "DebugStore"),
            ("App", "DebugStore", "Release"), ("App", "Nightly", "ReleaseStore"),
        ] {
            let path = "App/App.xcodeproj/xcshareddata/xcschemes/App.xcscheme"
            try folder.write(Self.scheme(target, run, archive), to: path)
            #expect(try tells(), "\(target) \(run) \(archive)")
        }
        let path = "App/App.xcworkspace/xcshareddata/xcschemes/App.xcscheme"
        try folder.write(Self.scheme("App", "DebugStore", "ReleaseStore"), to: path)
        #expect(try !tells())
        let said = "no shared scheme builds the configuration Release"
        #expect(try report().unjudged.contains { $0.targets == ["App"] && $0.reason == said })
        #expect(try tells(["Release"]))
    }

    @Test("what a build for the Mac says of an iOS app is let be")
    func macBuilds() throws {
        let lacking = "INFOPLIST_KEY_UIBackgroundModes = fetch;"
        func rules(_ folder: TestFolder) throws -> Set<String> {
            let audit = Audit(paths: [folder.path], sends: [.background])
            return Set(AuditScopeTests.rules(try audit.report()))
        }
        #expect(try rules(AuditTests.project(release: lacking)).contains("CF001"))
        let catalyst = lacking + "SUPPORTS_MACCATALYST = YES; "
        #expect(try rules(AuditTests.project(release: catalyst)).contains("CF001"))
        let named = catalyst + "CODE_SIGN_ENTITLEMENTS = \"App/Catalyst.entitlements\";"
        let folder = try AuditTests.project(release: lacking)
        let project = SampleProject.text(app: SampleProject.generatedInfo, release: lacking)
            .replacing("name = Release", with: "name = \"Developer ID\"")
        try folder.write(project, to: "App.xcodeproj/project.pbxproj")
        #expect(try !rules(folder).contains("CF001"))
        let both = lacking + "SUPPORTED_PLATFORMS = \"iphoneos macosx\"; SDKROOT = macosx; "
        #expect(try rules(AuditTests.project(release: both)).contains("CF001"))
        let ofMac = both + "CODE_SIGN_ENTITLEMENTS = \"App/macOS.entitlements\";"
        let variant = lacking + "SUPPORTED_PLATFORMS = macosx; SUPPORTS_MACCATALYST = YES;"
        for build in [named, ofMac, variant] {
            #expect(try !rules(AuditTests.project(release: build)).contains("CF001"))
        }
    }
}
