// SPDX-License-Identifier: Apache-2.0

import Foundation
import PayloadLint
import PayloadRules
import Testing

@testable import AppAudit

/// What an audit leaves out, and what it says of that.
@Suite("What an audit leaves out")
struct AuditUnjudgedTests {
    private static let store = "func f() { UserDefaults.standard.set(deviceToken, forKey: key) }\n"

    @Test("what is excluded has no findings, though a target is built of it")
    func excludedSource() throws {
        let folder = try TestFolder()
        try AuditScopeTests.write(folder, "App", settings: "", source: Self.store)
        var audit = Audit(paths: [folder.path])
        #expect(AuditScopeTests.rules(try audit.report()) == ["CF026"])
        try folder.write("exclude: ['App/*.swift']\n", to: LintConfiguration.fileNames[0])
        var search = SettingsSearch(.nearest)
        let index = try search.index(forPath: folder.path + "/A.swift")
        audit.settings = search.found[index]
        #expect(try audit.report().findings == [])
        let file = folder.path + "/App/App.swift"
        let sentence = "the settings exclude 1 file or folder (\(file))"
        #expect(try audit.report().unjudged.map(\.reason) == [sentence])
        audit.paths.append(file)
        #expect(AuditScopeTests.rules(try audit.report()) == ["CF026"], "a named file is judged")
        #expect(try audit.report().unjudged.map(\.reason) == [])
    }

    @Test("what is in a folder that is excluded is not counted beside it")
    func excludedFolder() throws {
        let folder = try TestFolder()
        try folder.write(
            "name: A\ntargets:\n  App: {type: application, platform: iOS, sources: [App], "
                + "settings: {INFOPLIST_FILE: Parts/Info.plist}}\n", to: "project.yml")
        try folder.write(
            XML.dictionary([("aps-environment", "<string>development</string>")]),
            to: "Parts/Info.plist")
        try folder.write("let x = 1", to: "App/A.swift")
        var audit = Audit(paths: [folder.path])
        #expect(AuditScopeTests.rules(try audit.report()) == ["CF013"])
        try folder.write("exclude: ['Parts', 'Parts/**']\n", to: LintConfiguration.fileNames[0])
        var search = SettingsSearch(.nearest)
        let index = try search.index(forPath: folder.path + "/A.swift")
        audit.settings = search.found[index]
        let report = try audit.report()
        #expect(report.findings == [])
        let sentence = "the settings exclude 1 file or folder (\(folder.path)/Parts)"
        #expect(report.unjudged.map(\.reason).contains(sentence))
    }

    @Test("a rule that found something is said to be judged in part")
    func partlyJudged() throws {
        let folder = try TestFolder()
        try AuditScopeTests.write(folder, "App", settings: "", source: "let x = 1")
        try folder.write("target 'App' do\n  pod 'PushWorker'\nend", to: "App/Podfile")
        func sentences(_ sends: Set<ServerPush>, _ ignored: [String] = []) throws -> [String] {
            let policy = RulePolicy(
                selected: nil, ignored: try RuleSelection(ignored, of: .apps),
                settings: LintConfiguration(), rules: .apps)
            return try Audit(paths: [folder.path], sends: sends, targets: ["App"]).report()
                .applying(policy).unjudged.map(\.description)
        }
        let silent = try #require(try sentences([]).first)
        #expect(silent.contains(": CF008, ") && silent.hasSuffix(" not judged."), "\(silent)")
        let voip = try #require(try sentences([.voip]).first)
        #expect(!voip.contains(": CF008, "), "\(voip)")
        #expect(voip.hasSuffix(" not judged, CF008 judged only in part."), "\(voip)")
        let all = try #require(try sentences([.voip], ["CF008"]).first)
        #expect(all.hasSuffix(" not judged.") && !all.contains("CF008"), "\(all)")
        let alone = AuditReport.Unjudged(
            targets: ["A"], reason: "1 pod (B) was not read", rules: ["CF045"],
            partlyJudged: ["CF045", "CF003"])
        #expect(alone.description == "A: 1 pod (B) was not read: CF045 judged only in part.")
    }

    @Test("a fetch whose interval an unread library may set is said to be not judged")
    func undecidedFetch() throws {
        let handler =
            "class A: NSObject, UIApplicationDelegate {\n"
            + "func application(_ a: UIApplication, performFetchWithCompletionHandler "
            + "done: @escaping (R) -> Void) { load { done($0) } }\n}\n"
        func isSaid(_ source: String) throws -> Bool {
            let folder = try TestFolder()
            try AuditScopeTests.write(
                folder, "App", settings: "INFOPLIST_KEY_UIBackgroundModes = fetch;",
                source: source)
            try folder.write("target 'App' do\n  pod 'BackgroundWorker'\nend", to: "App/Podfile")
            return try Audit(paths: [folder.path]).report().unjudged
                .contains { $0.rules.contains("CF051") }
        }
        #expect(try isSaid(handler))
        #expect(try !isSaid("import UIKit"))
        #expect(try !isSaid(handler + "func f(a: A) { a.setMinimumBackgroundFetchInterval(9) }\n"))
    }

    @Test("an Info.plist whose place only the build knows is told")
    func unknownInfo() throws {
        let folder = try TestFolder()
        let setting = "INFOPLIST_FILE = \"$(PLACE)/Info.plist\";"
        try AuditScopeTests.write(folder, "App", settings: setting)
        let report = try Audit(paths: [folder.path]).report()
        let told = try #require(report.unjudged.first)
        #expect(told.targets == ["App"])
        #expect(told.reason.contains("$(PLACE) in INFOPLIST_FILE"))
        #expect(told.rules.contains("CF001") && told.rules.contains("CF020"))
        let entitlements = "CODE_SIGN_ENTITLEMENTS = \"$(PLACE)/App.entitlements\";"
        try AuditScopeTests.write(folder, "App", settings: entitlements)
        let other = try Audit(paths: [folder.path], sends: [.alert]).report()
        #expect(other.unjudged.first?.rules.contains("CF005") == true)
        try AuditScopeTests.write(folder, "App", settings: "")
        #expect(try Audit(paths: [folder.path]).report().unjudged == [])
    }

    @Test("a mode that a missing file of settings may hold is not judged")
    func unknownMode() throws {
        let folder = try TestFolder()
        let plist = XML.dictionary([("UIBackgroundModes", XML.array("$(MODE)"))])
        try folder.write(plist, to: "App/Info.plist")
        func report(_ objects: String, _ key: String) throws -> AuditReport {
            try AuditScopeTests.write(
                folder, "App", settings: "INFOPLIST_FILE = Info.plist;", objects: objects)
            let path = folder.path + "/App/App.xcodeproj/project.pbxproj"
            let text = try String(contentsOfFile: path, encoding: .utf8)
            try folder.write(
                text.replacing("C1 = { isa", with: "C1 = { \(key) isa"),
                to: "App/App.xcodeproj/project.pbxproj")
            return try Audit(paths: [folder.path], sends: [.background]).report()
        }
        #expect(AuditScopeTests.rules(try report("", "")).contains("CF001"))
        let file = "X = { isa = PBXFileReference; path = App.xcconfig; sourceTree = \"<group>\"; };"
        let missing = try report(file, "baseConfigurationReference = X;")
        #expect(!AuditScopeTests.rules(missing).contains("CF001"))
        #expect(missing.unjudged.contains { $0.reason.contains("$(MODE) in UIBackgroundModes") })
    }

    @Test("a source file that a target names and that is not there is told")
    func missingSource() throws {
        let folder = try TestFolder()
        try AuditScopeTests.write(folder, "App", settings: AuditScopeTests.mode)
        try FileManager.default.removeItem(atPath: folder.path + "/App/App.swift")
        let report = try Audit(paths: [folder.path]).report()
        let told = try #require(report.unjudged.first)
        #expect(told.reason.hasSuffix(") is not there, and may be made by a build"))
        #expect(told.rules.contains("CF002") && report.problems == [])
    }

    @Test("a broken project without a chosen target is told, and is no problem")
    func brokenElsewhere() throws {
        let folder = try TestFolder()
        try AuditScopeTests.write(folder, "App", settings: "")
        try folder.write("{ broken", to: "Bad/Bad.xcodeproj/project.pbxproj")
        #expect(try Audit(paths: [folder.path]).report().problems.count == 1)
        let chosen = try Audit(paths: [folder.path], targets: ["App"]).report()
        #expect(chosen.problems == [])
        #expect(chosen.unjudged.contains { $0.reason.contains("Bad.xcodeproj") })
        #expect(throws: AuditFailure.self) {
            try Audit(paths: [folder.path], targets: ["Other"]).report()
        }
    }

    @Test("what a string literal contains ignores nothing")
    func literals() throws {
        let folder = try TestFolder()
        func count(_ line: String) throws -> Int {
            try folder.write(
                Self.store.replacing("\n", with: "") + line, to: "A.swift")
            return try Audit(paths: [folder.path]).report().applying(RulePolicy()).findings.count
        }
        #expect(try count("; log(\"// rouse:ignore CF026 x\")") == 1)
        #expect(try count("; log(\"a \\\" // rouse:ignore CF026 x\")") == 1)
        #expect(try count("; log(\"a\") // rouse:ignore CF026 x") == 0)
        let mark = "// rouse:ignore CF026 x"
        #expect(try count("; log(\"\"\"\n\(mark)\n\"\"\")") == 1)
        #expect(try count("; log(\"\"\"\n\"\"\"); log(\"a\") \(mark)") == 1)
        #expect(try count("; log(#\"\(mark)\"#)") == 1)
        #expect(try count("; log('\"', \"a\") \(mark)") == 0)
        #expect(try count("; log('\\\"', \"a\") \(mark)") == 0)
        #expect(try count("; log(\"\\(a)\") /* \" */ \(mark)") == 0)
        for text in ["\"\"\"\nx \(mark)\n\(mark)\n\"\"\"", "#\"\"\"\n\(mark)\n\"\"\"#"] {
            let source = "let text = \(text); "
            try folder.write(source + Self.store.replacing("\n", with: ""), to: "A.swift")
            let report = try Audit(paths: [folder.path]).report().applying(RulePolicy())
            #expect(report.findings.count == 1)
        }
    }

    @Test("time in the background that nothing ends is one finding")
    func oneCause() throws {
        let folder = try TestFolder()
        try AuditScopeTests.write(
            folder, "App", settings: "",
            source: "func f() { let id = UIApplication.shared.beginBackgroundTask { }\n"
                + "guard on else { return }\nwork(id) }")
        let report = try Audit(paths: [folder.path]).report()
        #expect(report.findings.map(\.diagnostic.message) == ["nothing calls endBackgroundTask"])
    }

    @Test("an app without a project is judged by its modes and the events of its sessions")
    func folder() throws {
        let folder = try TestFolder()
        try folder.write(
            XML.dictionary([
                ("CFBundlePackageType", "<string>APPL</string>"),
                ("UIBackgroundModes", XML.array("remote-notification")),
            ]), to: "Info.plist")
        try folder.write(
            "func f() { submit(BGAppRefreshTaskRequest(identifier: \"a\")) }\n"
                + "class A { lazy var s = URLSession(configuration: .background(withIdentifier: "
                + "\"a\"), delegate: self, delegateQueue: nil) }", to: "A.swift")
        let rules = AuditScopeTests.rules(try Audit(paths: [folder.path]).report())
        #expect(rules.contains("CF049") && rules.contains("CF046"))
    }

    @Test("a build setting that many files are named with is named once")
    func unknownSettings() throws {
        let folder = try TestFolder()
        try AuditScopeTests.write(
            folder, "App",
            settings: "CODE_SIGN_ENTITLEMENTS = \"$(inherit)App/$(KIND).entitlements\"; "
                + "INFOPLIST_FILE = \"${inherit}Info.plist\";")
        let reasons = try Audit(paths: [folder.path]).report().unjudged.map(\.reason)
        #expect(
            reasons == [
                "the build setting ${inherit} in INFOPLIST_FILE is not known",
                "the build settings $(inherit), $(KIND) in CODE_SIGN_ENTITLEMENTS are not known",
            ])
    }
}
