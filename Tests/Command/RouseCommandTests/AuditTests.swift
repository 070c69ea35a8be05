// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("rouse audit")
struct AuditTests {
    static let info = """
        <plist version="1.0"><dict>
        <key>UIBackgroundModes</key>
        <array><string>remote-notifications</string></array>
        </dict></plist>
        """

    static func folder() throws -> TestFolder {
        let folder = try TestFolder()
        try folder.write(info, to: "Info.plist")
        return folder
    }

    @Test("text names the place, the rule and the fix, and ends with 1")
    func text() async throws {
        let folder = try Self.folder()
        let result = try await Rouse.run(["audit", "--sends", "background", folder.path])
        #expect(result.status == 1)
        #expect(result.error.isEmpty)
        let place = folder.path + "/Info.plist:3:8: error CF001 /UIBackgroundModes/0: "
        #expect(result.out.contains(place + "UIBackgroundModes has `remote-notifications`"))
        #expect(result.out.contains("\n  = Write `remote-notification`.\n"))
        #expect(result.out.hasSuffix("Checked 1 file: 1 error, 0 warnings, 0 notes.\n"))
        #expect(!result.out.contains("\u{1b}"))
    }

    @Test("JSON has the shape of validate's")
    func json() async throws {
        let folder = try Self.folder()
        let result = try await Rouse.run(
            ["audit", "--sends", "background", "--format", "json", folder.path])
        #expect(result.status == 1)
        let document = try result.json()
        let files = try #require(document["files"] as? [[String: Any]])
        #expect(files.count == 1)
        #expect(files[0]["kind"] as? String == "info-plist")
        let found = try #require((files[0]["diagnostics"] as? [[String: Any]])?.first)
        #expect(found["rule"] as? String == "CF001")
        #expect(found["severity"] as? String == "error")
        #expect(found["line"] as? Int == 3 && found["column"] as? Int == 8)
        #expect(found["pointer"] as? String == "/UIBackgroundModes/0")
        #expect(found["message"] is String && found["fix"] is String)
        let summary = try #require(document["summary"] as? [String: Int])
        #expect(summary == ["files": 1, "errors": 1, "warnings": 0, "notes": 0])
        #expect((document["problems"] as? [Any])?.isEmpty == true)
    }

    @Test("annotations, SARIF and Code Quality hold the finding")
    func formats() async throws {
        let folder = try Self.folder()
        let arguments = ["audit", "--sends", "background", folder.path, "--format"]
        let github = try await Rouse.run(arguments + ["github"])
        #expect(
            github.out.hasPrefix(
                "::error file=\(folder.path)/Info.plist,line=3,col=8,title=CF001::"))
        let sarif = try await Rouse.run(arguments + ["sarif"]).json()
        #expect(sarif["version"] as? String == "2.1.0")
        let run = try #require((sarif["runs"] as? [[String: Any]])?.first)
        let results = try #require(run["results"] as? [[String: Any]])
        #expect(results.map { $0["ruleId"] as? String } == ["CF001"])
        let gitlab = try await Rouse.run(arguments + ["gitlab"])
        let issues = try #require(
            try JSONSerialization.jsonObject(with: Data(gitlab.out.utf8)) as? [[String: Any]])
        #expect(issues.map { $0["check_name"] as? String } == ["CF001"])
        #expect((issues[0]["fingerprint"] as? String)?.count == 32)
    }

    @Test("every format says what is not judged, Code Quality's on standard error")
    func notJudged() async throws {
        let folder = try Self.folder()
        try folder.write("let provider = 1", to: "App.swift")
        try folder.write("pod 'Sample'", to: "Podfile")
        let sentence = "Not judged: 1 project (Podfile) was not read: CF008, "
        let arguments = ["audit", folder.path, "--format"]
        let text = try await Rouse.run(arguments + ["text"])
        #expect(text.out.contains("\n" + sentence), "\(text.all)")
        let json = try await Rouse.run(arguments + ["json"])
        let told = try #require(try json.json()["notJudged"] as? [String])
        #expect(told.count == 1 && told[0].hasPrefix(sentence), "\(json.all)")
        #expect(json.error.isEmpty)
        let sarif = try await Rouse.run(arguments + ["sarif"]).json()
        let run = try #require((sarif["runs"] as? [[String: Any]])?.first)
        let calls = try #require(run["invocations"] as? [[String: Any]])
        let notes = try #require(calls[0]["toolExecutionNotifications"] as? [[String: Any]])
        #expect(notes.map { $0["level"] as? String } == ["note"])
        #expect((notes[0]["message"] as? [String: String])?["text"] == told[0])
        for format in ["junit", "github"] {
            #expect(try await Rouse.run(arguments + [format]).out.contains(told[0]), "\(format)")
        }
        // Its report has no place for it.
        let gitlab = try await Rouse.run(arguments + ["gitlab"])
        #expect(!gitlab.out.contains("not read") && gitlab.error.contains(sentence))
    }

    @Test("warnings count with --strict only, and a clean app ends with 0")
    func strict() async throws {
        let folder = try Self.folder()
        try folder.write("let provider = 1", to: "App.swift")
        try folder.write(
            Self.info.replacing("remote-notifications", with: "fetch"), to: "Info.plist")
        let lenient = try await Rouse.run(["audit", folder.path])
        #expect(lenient.status == 0 && lenient.out.contains("warning CF019"))
        #expect(try await Rouse.run(["audit", "--strict", folder.path]).status == 1)
        try folder.write("BGAppRefreshTaskRequest(identifier: id)", to: "App.swift")
        let clean = try await Rouse.run(["audit", "--strict", folder.path])
        #expect(clean.status == 0 && clean.out == "Checked 2 files: nothing found.\n")
    }

    @Test("exit codes: 64 for wrong usage, 65 for what cannot be read, 66 for nothing")
    func exitCodes() async throws {
        let folder = try Self.folder()
        for empty in ["", ",", "App=", "App=,"] {
            let none = try await Rouse.run(["audit", "--sends", empty, folder.path])
            #expect(none.status == 64 && none.error.contains("`\(empty)` names no push"))
        }
        let near = try await Rouse.run(["audit", "--sends", "backgroud", folder.path])
        #expect(near.status == 64 && near.error.contains("Was `background` meant?"))
        #expect(try await Rouse.run(["audit", "--target", "App", folder.path]).status == 64)
        for name in ["China", "CHI", "chx", ""] {
            let wrong = try await Rouse.run(["audit", "--storefront", name + ",USA", folder.path])
            #expect(wrong.status == (name.isEmpty ? 0 : 64), "\(name): \(wrong.all)")
        }
        #expect(try await Rouse.run(["audit"]).status == 64)
        #expect(try await Rouse.run(["audit", folder.path + "/missing"]).status == 66)
        let generated = try TestFolder()
        try generated.write(
            "name: A\ntargets:\n  App: { type: application, platform: iOS, sources: [A.swift] }\n",
            to: "project.yml")
        try generated.write("import UIKit\n", to: "A.swift")
        let unknown = try await Rouse.run(["audit", "--sends", "Ap=voip", generated.path])
        #expect(unknown.status == 64, "\(unknown.all)")
        #expect(unknown.error.contains("--sends: no target is called `Ap`"), "\(unknown.all)")
        let empty = try TestFolder()
        #expect(try await Rouse.run(["audit", empty.path]).status == 66)
        let kit = try TestFolder()
        try kit.write(
            "name: A\ntargets:\n  Kit: { type: framework, platform: iOS, sources: [A.swift] }\n",
            to: "project.yml")
        let library = try await Rouse.run(["audit", kit.path + "/project.yml"])
        #expect(library.status == 66)
        #expect(library.error.contains("project.yml builds no app and no app extension."))
        try folder.write("<plist><dict><key>a</key></dict></plist>", to: "Info.plist")
        let broken = try await Rouse.run(["audit", folder.path])
        #expect(broken.status == 65)
        #expect(broken.out.contains("Info.plist:1:14: the key `a` has no value"))
    }

    @Test("JUnit has a file that cannot be read once")
    func unreadTestCase() async throws {
        let folder = try Self.folder()
        try FileManager.default.createDirectory(
            atPath: folder.path + "/App.xcodeproj", withIntermediateDirectories: false)
        try folder.write("// !$*UTF8*$!\n{\n", to: "App.xcodeproj/project.pbxproj")
        let report = try await Rouse.run(["audit", "--format", "junit", folder.path])
        #expect(report.status == 65)
        let cases = report.out.components(separatedBy: "<testcase ").dropFirst()
        #expect(cases.count { $0.contains("project.pbxproj\"") } == 1, "\(report.out)")
        #expect(report.out.contains("tests=\"\(cases.count)\""))
    }

    @Test("JUnit counts the test cases that it has")
    func testCases() async throws {
        let folder = try Self.folder()
        try folder.write("import UIKit\n", to: "A.swift")
        let text = try await Rouse.run(["audit", folder.path])
        #expect(text.out.contains("Checked 2 files"))
        let report = try await Rouse.run(["audit", "--format", "junit", folder.path])
        #expect(report.out.contains("tests=\"1\""), "\(report.out)")
        #expect(report.out.components(separatedBy: "<testcase ").count == 2)
    }

    @Test("--explain prints a rule's manual page")
    func explain() async throws {
        let page = try await Rouse.run(["audit", "--explain", "cf020"])
        #expect(page.status == 0)
        #expect(page.out.contains("CF020, error") && page.out.contains("Source"))
        // Both commands explain the rules of both.
        let same = try await Rouse.run(["validate", "--explain", "cf020"])
        #expect(same.status == 0 && same.out == page.out)
        let other = try await Rouse.run(["audit", "--explain", "bg004"])
        #expect(other.status == 0 && other.out.contains("BG004, error"))
        let unknown = try await Rouse.run(["audit", "--explain", "CF999"])
        #expect(unknown.status == 64 && unknown.error.contains("rouse rules"))
    }

    @Test(
        "a report of nothing is whole, and says why",
        arguments: ["json", "junit", "gitlab", "sarif"])
    func nothing(format: String) async throws {
        let folder = try TestFolder()
        try folder.write("", to: "readme.txt")
        for (path, reason) in [("/none", "There is nothing at"), ("", "The paths hold no Xcode")] {
            let result = try await Rouse.run(["audit", "--format", format, folder.path + path])
            #expect(result.status == 66)
            #expect(result.out.contains(reason), "\(result.out)")
            if format != "junit" {
                #expect(throws: Never.self) {
                    try JSONSerialization.jsonObject(with: Data(result.out.utf8))
                }
            }
        }
    }

    @Test("a line of standard error cannot steer a runner")
    func remarks() async throws {
        let folder = try Self.folder()
        let odd = "a\n::stop-commands::b"
        try folder.write("let a = 1", to: "A.swift")
        try FileManager.default.createDirectory(
            atPath: folder.path + "/" + odd, withIntermediateDirectories: true)
        try folder.write("targets:\n  App: {", to: odd + "/project.yml")
        for paths in [[folder.path], [folder.path + "/" + odd], [folder.path + "/none" + odd]] {
            let result = try await Rouse.run(["audit", "--format", "github"] + paths)
            let lines = (result.error + result.out).split(separator: "\n")
            #expect(!lines.contains { $0.drop(while: \.isWhitespace).hasPrefix("::stop") })
            #expect(result.all.contains("stop-commands"), "\(result.all)")
        }
    }

    @Test("a path at the start of a line of text cannot steer a runner")
    func pathsOfText() async throws {
        let folder = try TestFolder()
        let odd = "::stop-commands::b"
        try FileManager.default.createDirectory(
            atPath: folder.path + "/" + odd, withIntermediateDirectories: true)
        try folder.write(Self.info, to: odd + "/Info.plist")
        let result = try await Rouse.run(
            "/usr/bin/env",
            ["-C", folder.path, Rouse.path, "audit", "--sends", "background", "."])
        #expect(result.out.contains("./" + odd + "/Info.plist:3:8: error CF001"), "\(result.all)")
        #expect(!result.all.split(separator: "\n").contains { $0.hasPrefix("::") })
    }

    @Test("names from files cannot steer a terminal or a runner")
    func controlCharacters() async throws {
        let folder = try Self.folder()
        try folder.write(
            Self.info.replacing(
                "remote-notifications", with: "remote-notification&#10;::set-env&#27;[2J"),
            to: "Info.plist")
        let text = try await Rouse.run(["audit", folder.path])
        #expect(!text.out.contains("\u{1b}"))
        let github = try await Rouse.run(["audit", "--format", "github", folder.path])
        #expect(github.out.split(separator: "\n").allSatisfy { $0.hasPrefix("::warning file=") })
    }
}
