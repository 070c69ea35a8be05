// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// What nobody builds for iOS.
@Suite("Shared schemes, and builds for the Mac")
struct SharedSchemesTests {
    @Test("a usual configuration that no shared scheme builds is let be, unless it is chosen")
    func leftConfigurations() throws {
        let folder = try TestFolder()
        let project = SampleProject.text(
            app: SampleProject.generatedInfo + "CODE_SIGN_ENTITLEMENTS = App/App.entitlements;",
            release: "CODE_SIGN_ENTITLEMENTS = \"\";")
        try folder.write(
            project.replacing("name = Debug", with: "name = DebugStore"),
            to: "App.xcodeproj/project.pbxproj")
        try folder.write("BASE_ID = com.example\n", to: "App.xcconfig")
        try folder.write(
            XML.dictionary([("aps-environment", "<string>development</string>")]),
            to: "App/App.entitlements")
        try folder.write("let x = 1", to: "App/AppDelegate.swift")
        func tells(_ configurations: Set<String> = []) throws -> Bool {
            let audit = Audit(
                paths: [folder.path], sends: [.background], configurations: configurations)
            return try AuditScopeTests.rules(audit.report()).contains("CF005")
        }
        #expect(try tells())
        let scheme = "App.xcodeproj/xcshareddata/xcschemes/App.xcscheme"
        try folder.write("<LaunchAction buildConfiguration = \"Nightly\">", to: scheme)
        #expect(try tells())
        try folder.write("<LaunchAction buildConfiguration = \"DebugStore\">", to: scheme)
        #expect(try !tells())
        #expect(try tells(["Release"]))
        try folder.write(
            "<TestAction buildConfiguration = \"DebugStore\"><ArchiveAction\n   "
                + "buildConfiguration = \"Release\">", to: scheme)
        #expect(try tells())
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
