// SPDX-License-Identifier: Apache-2.0

import Foundation
import PayloadRules
import Testing

@testable import AppAudit

/// Projects that were not generated again, and scripts beside an app.
@Suite("Outdated projects")
struct OutdatedProjectTests {
    @Test("an empty project is a problem, unless it is that of a pod")
    func empty() throws {
        let folder = try TestFolder()
        try AuditScopeTests.write(folder, "App", settings: "")
        let menu = folder.path + "/pods/Menu.xcodeproj/project.pbxproj"
        try folder.write("", to: "pods/Menu.xcodeproj/project.pbxproj")
        #expect(try Audit(paths: [folder.path]).report().problems.map(\.place.file) == [menu])
        try folder.write("Pod::Spec.new do |s|\nend\n", to: "pods/Menu.podspec")
        let all = try Audit(paths: [folder.path]).report()
        #expect(all.problems.isEmpty)
        #expect(all.unjudged.contains { $0.reason == menu + " is empty" })
    }

    private static let description =
        "name: App\ntargets:\n  App:\n    type: application\n    platform: iOS\n"
        + "    sources: [Sources]\n"
    private static let handler =
        "@main struct M: App { init() {\nBGTaskScheduler.shared.register(forTaskWithIdentifier: "
        + "\"a\", using: nil) { task in\nguard on else { return }\n"
        + "task.setTaskCompleted(success: true) } } }\n"

    /// A project that names `App.swift` alone, and its description.
    private static func folder(
        _ files: [String: String], description: String = description
    ) throws -> TestFolder {
        let folder = try TestFolder()
        try AuditScopeTests.write(folder, "App", settings: "")
        try FileManager.default.removeItem(atPath: folder.path + "/App/App.swift")
        try folder.write(description, to: "App/project.yml")
        for (name, text) in files { try folder.write(text, to: "App/" + name) }
        return folder
    }

    private static func isReplaced(_ folder: TestFolder) throws -> Bool {
        let report = try Audit(paths: [folder.path]).report()
        let isFound = AuditScopeTests.rules(report).contains("CF035")
        #expect(report.unjudged.contains { $0.reason.contains("judged instead") } == isFound)
        return isFound
    }

    @Test("a project that cannot be built, and lacks files of its description, is not judged")
    func outdated() throws {
        #expect(try Self.isReplaced(Self.folder(["Sources/Task.swift": Self.handler])))
    }

    @Test("a project that is what it says")
    func current() throws {
        let source = ["Sources/Task.swift": Self.handler]
        let whole = source.merging(["App.swift": "let x = 1"]) { $1 }
        #expect(try !Self.isReplaced(Self.folder(whole)), "all files are there")
        #expect(try !Self.isReplaced(Self.folder([:])), "the description has no more")
        for other in [
            Self.description.replacing("  App:", with: "  Other:"),
            Self.description.replacing("Sources", with: "Gone"), "targets: [", "name: App\n",
        ] {
            #expect(try !Self.isReplaced(Self.folder(source, description: other)), "\(other)")
        }
        let made = try Self.folder(source)
        let path = "App/App.xcodeproj/project.pbxproj"
        let text = try String(contentsOfFile: made.path + "/" + path, encoding: .utf8)
        for name in ["R.generated.swift", "Generated/Strings.swift", "api.pb.swift"] {
            try made.write(
                text.replacing("path = App.swift", with: "path = \"\(name)\""), to: path)
            #expect(try !Self.isReplaced(made), "a build makes \(name)")
        }
    }

    @Test("scripts that no framework runs leave no rule open")
    func scripts() throws {
        func isOpen(_ files: [String: String]) throws -> Bool {
            let folder = try TestFolder()
            try folder.write(
                XML.dictionary([("CFBundlePackageType", "<string>APPL</string>")]),
                to: "Info.plist")
            try folder.write("let x = 1\n", to: "A.swift")
            try folder.write("export function GET() { }\n", to: "src/app/api/route.ts")
            for (name, text) in files { try folder.write(text, to: name) }
            return try !Audit(paths: [folder.path]).report().unjudged.isEmpty
        }
        #expect(try !isOpen([:]))
        #expect(try !isOpen(["package.json": "{\"dependencies\": {\"next\": \"1\"}}"]))
        #expect(try !isOpen(["web/package.json": "{}", "web/a.js": "f()"]))
        #expect(try isOpen(["package.json": "{\"dependencies\": {\"react-native\": \"1\"}}"]))
        #expect(try isOpen(["package.json": "{\"dependencies\": {\"@capacitor/core\": \"1\"}}"]))
        #expect(try isOpen(["config.xml": "<widget xmlns:cdv=\"http://cordova.apache.org\"/>"]))
        for name in ["React", "Capacitor", "Expo", "Cordova", "JavaScriptCore", "WebKit"] {
            let source = name == "WebKit" ? "let v = WKWebView()\n" : "import \(name)\n"
            #expect(try isOpen(["B.swift": source]), "\(name)")
        }
        #expect(try isOpen(["lib/main.dart": "void main() {}"]))
    }

    @Test("that there is no Info.plist is told, unless single files are named")
    func noInfo() throws {
        let folder = try TestFolder()
        let file = try folder.write("let x = BGTaskScheduler.shared\n", to: "A.swift")
        let told = try Audit(paths: [folder.path]).report().unjudged
        #expect(told.map(\.reason) == ["there is no Info.plist of an app, and no project"])
        #expect(told.first?.rules.contains("CF020") == true)
        #expect(told.first?.rules.contains("CF035") == false)
        #expect(try Audit(paths: [file]).report().unjudged == [])
        try folder.write(
            XML.dictionary([("CFBundlePackageType", "<string>APPL</string>")]), to: "Info.plist")
        #expect(try Audit(paths: [folder.path]).report().unjudged == [])
    }
}
