// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import Testing

@testable import AppAudit

/// Manifests of Tuist whose targets are written out, and those that a helper makes.
@Suite("Tuist")
struct TuistTests {
    private static func report(
        _ manifest: String, source: String = AuditScopeTests.handler,
        files: [String: String] = [:], sends: Set<ServerPush> = [.background]
    ) throws -> AuditReport {
        let folder = try TestFolder()
        try folder.write("import ProjectDescription\n" + manifest, to: "Project.swift")
        try folder.write(source, to: "Sources/App.swift")
        for (name, text) in files { try folder.write(text, to: name) }
        return try Audit(paths: [folder.path], sends: sends).report()
    }

    private static func project(_ target: String, before: String = "") -> String {
        """
        \(before)
        let project = Project(
            name: "Demo", settings: .settings(base: ["A": "b"]),
            targets: [
                .target(
                    name: "Demo", destinations: [.iPhone, .iPad], product: .app,
                    bundleId: "com.example.demo", deploymentTargets: .iOS("16.0"),
                    sources: ["Sources/**"], \(target)
                    dependencies: [.external(name: "Alamofire"), .sdk(name: "c", type: .library)]
                ),
                .target(name: "DemoTests", destinations: .iOS, product: .unitTests,
                        bundleId: "com.example.demo.tests", dependencies: [.target(name: "Demo")]),
            ],
            schemes: [.scheme(name: "s", buildAction: .buildAction(targets: ["Demo"]))]
        )
        """
    }

    private static let aps = #"["aps-environment": "development"]"#

    @Test("an app that is written out is judged by what its manifest says")
    func written() throws {
        let silent = try Self.report(
            Self.project(
                """
                infoPlist: .extendingDefault(with: ["CFBundleName": .string("\\(name)")]),
                entitlements: .dictionary(\(Self.aps)),
                """))
        #expect(AuditScopeTests.rules(silent).contains("CF001"))
        #expect(silent.findings.allSatisfy { $0.targets == ["Demo"] || $0.targets.isEmpty })
        #expect(silent.unjudged.map(\.reason) == ["1 package (Alamofire) was not read"])
    }

    @Test(
        "modes can be texts, cases and constants",
        arguments: [
            #"["remote-notification"]"#, #".array([.string("remote-notification")])"#,
            #"modes"#, #".array(["fetch", .string("remote-notification"), .string("\(x)")])"#,
        ])
    func modes(list: String) throws {
        let report = try Self.report(
            Self.project(
                """
                infoPlist: info, entitlements: .dictionary(\(Self.aps)),
                """,
                before: """
                    let modes: Plist.Value = .array([
                        .string("remote-notification")
                    ])
                    let info: InfoPlist = .extendingDefault(with: ["UIBackgroundModes": \(list)])
                    """))
        #expect(!AuditScopeTests.rules(report).contains("CF001"))
        #expect(!AuditScopeTests.rules(report).contains("CF005"))
    }

    @Test("property lists that a manifest names are read where it stands")
    func files() throws {
        let target = #"infoPlist: "App/I.plist", entitlements: .file(path: "App/E.plist"),"#
        let lists = [
            "App/I.plist":
                XML.document("<dict><key>UIBackgroundModes</key><array></array></dict>"),
            "App/E.plist": XML.document("<dict></dict>"),
        ]
        let report = try Self.report(Self.project(target), files: lists)
        #expect(Set(AuditScopeTests.rules(report)).isSuperset(of: ["CF001", "CF005"]))
        let places = report.findings.map(\.file)
        #expect(places.contains { $0.hasSuffix("App/I.plist") })
        #expect(places.contains { $0.hasSuffix("App/E.plist") })
    }

    @Test("what is worked out elsewhere is not judged")
    func unknown() throws {
        let report = try Self.report(
            Self.project("infoPlist: .demo(for: .app), entitlements: .demo,"))
        #expect(Set(AuditScopeTests.rules(report)).isDisjoint(with: ["CF001", "CF005"]))
        // A file of build settings can name entitlements.
        let settings = try Self.report(
            Self.project("infoPlist: .default,").replacing(
                #".settings(base: ["A": "b"])"#,
                with: #".settings(configurations: [.debug(name: "D", xcconfig: "a.xcconfig")])"#))
        #expect(Set(AuditScopeTests.rules(settings)).isDisjoint(with: ["CF001", "CF005"]))
    }

    @Test(
        "targets that a helper makes are named as not read",
        arguments: [
            "let project = Project.app(name: \"Demo\", targets: [])",
            "let project = Project(name: \"Demo\", targets: [.makeApp(name: \"Demo\")])",
            "let project = Project(name: \"Demo\", targets: apps + tests)",
            """
            let project = Project(name: "Demo", targets: [
                .target(name: name, product: .app, bundleId: "a.b", sources: ["Sources/**"])])
            """,
            """
            let project = Project(name: "Demo", targets: [
                .target(name: "A", product: .app, bundleId: "a.b", sources: ["Sources/**"]),
                .makeModule(name: "B")])
            """,
        ])
    func helpers(manifest: String) throws {
        let report = try Self.report(manifest)
        #expect(report.unjudged.contains { $0.reason.contains("Project.swift of Tuist was not") })
        #expect(report.count(.error) == 0)
    }

    @Test("entitlements without an Info.plist are of an extension by their name")
    func entitlementsOfExtension() throws {
        let report = try Self.report(
            "let project = Project.app(name: \"Demo\")",
            source: "func f() { a.registerForRemoteNotifications() }",
            files: [
                "App.entitlements": XML.document(
                    "<dict><key>aps-environment</key><string>development</string></dict>"),
                "WidgetExtension.entitlements": XML.document("<dict></dict>"),
            ])
        #expect(!AuditScopeTests.rules(report).contains("CF005"))
    }

    @Test("files in C# are named as not read")
    func cSharp() throws {
        let folder = try TestFolder()
        try folder.write("<Project/>", to: "App.iOS/App.iOS.csproj")
        try folder.write("class AppDelegate {}", to: "App.iOS/AppDelegate.cs")
        try folder.write("class A {}", to: "App.iOS/A.cs")
        try folder.write(
            XML.document(
                "<dict><key>CFBundlePackageType</key><string>APPL</string>"
                    + "<key>UIBackgroundModes</key><array><string>remote-notification</string>"
                    + "</array></dict>"), to: "App.iOS/Info.plist")
        let report = try Audit(paths: [folder.path], sends: [.background]).report()
        #expect(report.unjudged.map(\.reason) == ["2 C# files were not read"])
        #expect(report.findings.isEmpty)
    }
}
