// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("rouse audit")
struct AuditTests {
    private static let info = """
        <plist version="1.0"><dict>
        <key>UIBackgroundModes</key>
        <array><string>remote-notifications</string></array>
        </dict></plist>
        """

    private static func folder() throws -> TestFolder {
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

    @Test("every format but Code Quality says what is not judged")
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
        #expect(json.error.contains(sentence))
        let sarif = try await Rouse.run(arguments + ["sarif"]).json()
        let run = try #require((sarif["runs"] as? [[String: Any]])?.first)
        let calls = try #require(run["invocations"] as? [[String: Any]])
        let notes = try #require(calls[0]["toolExecutionNotifications"] as? [[String: Any]])
        #expect(notes.map { $0["level"] as? String } == ["note"])
        #expect((notes[0]["message"] as? [String: String])?["text"] == told[0])
        for format in ["junit", "github"] {
            #expect(try await Rouse.run(arguments + [format]).out.contains(told[0]), "\(format)")
        }
        #expect(try await !Rouse.run(arguments + ["gitlab"]).out.contains("not read"))
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

    @Test("a baseline keeps known findings quiet, whatever line they stand in, and new ones not")
    func baseline() async throws {
        let folder = try TestFolder()
        let source = "func f() {\n  UserDefaults.standard.set(deviceToken, forKey: key)\n}\n"
        try folder.write(source, to: "A.swift")
        let known = folder.path + "/known.json"
        let first = try await Rouse.run(["audit", "--strict", folder.path])
        #expect(first.status == 1, "\(first.all)")
        let written = try await Rouse.run([
            "audit", "--strict", "--write-baseline", known, folder.path,
        ])
        #expect(written.status == 0, "\(written.all)")
        try folder.write("let moved = 1\n" + source, to: "A.swift")
        #expect(
            written.out.contains("1 finding not reported: it is in the baseline."),
            "\(written.all)")
        let quiet = try await Rouse.run(["audit", "--strict", "--baseline", known, folder.path])
        #expect(quiet.status == 0, "\(quiet.all)")
        #expect(
            quiet.out.contains("1 finding not reported: it is in the baseline."),
            "\(quiet.all)")
        try folder.write(
            source.replacing("key)", with: "key)  // rouse:ignore CF026"), to: "B.swift")
        try folder.write(Self.info, to: "Info.plist")
        let new = try await Rouse.run([
            "audit", "--sends", "background", "--baseline", known, folder.path,
        ])
        #expect(new.status == 1 && new.out.contains("CF001"), "\(new.all)")
        #expect(!new.out.contains("CF026"), "\(new.all)")
        #expect(
            new.out.contains("1 finding not reported: a comment ignores it."), "\(new.all)")
    }

    @Test("a baseline holds wherever the audit runs, and for a file that is named alone")
    func baselineElsewhere() async throws {
        let folder = try TestFolder()
        try FileManager.default.createDirectory(
            atPath: folder.path + "/app", withIntermediateDirectories: false)
        try folder.write(
            "name: A\ntargets:\n"
                + "  App: { type: application, platform: iOS, sources: [A.swift],\n"
                + "    info: { path: Info.plist } }\n", to: "app/project.yml")
        try folder.write("<plist><dict></dict></plist>", to: "app/Info.plist")
        try folder.write(
            "func application(_ a: A, didFinishLaunchingWithOptions o: O) {\n"
                + "  BGTaskScheduler.shared.register("
                + "forTaskWithIdentifier: \"a.b\", using: nil) { run($0) }\n"
                + "  UserDefaults.standard.set(deviceToken, forKey: key)\n}\n",
            to: "app/A.swift")
        let known = folder.path + "/app/known.json"
        func run(in place: String, _ arguments: String...) async throws -> Int32 {
            let enter = "cd \"$1\" && shift && exec \"$@\""
            let result = try await Rouse.run(
                "/bin/sh",
                ["-c", enter, "sh", folder.path + place, Rouse.path, "audit", "--strict"]
                    + arguments)
            return result.status
        }
        #expect(try await run(in: "/app", ".") == 1)
        #expect(try await run(in: "/app", "--write-baseline", known, ".") == 0)
        #expect(try await run(in: "/app", "--baseline", known, ".") == 0)
        #expect(try await run(in: "", "--baseline", known, "app") == 0)
        #expect(try await run(in: "/app", "--baseline", known, "A.swift") == 0)
    }

    @Test("a baseline of one target hides nothing of another that has the same file")
    func baselineOfTargets() async throws {
        let folder = try TestFolder()
        func write(_ permitted: [String: String]) throws {
            try folder.write(
                "name: A\ntargets:\n"
                    + permitted.keys.sorted().map { name in
                        "  \(name): { type: application, platform: iOS, sources: [S.swift],\n"
                            + "    info: { path: \(name).plist } }\n"
                    }
                    .joined(), to: "project.yml")
            for (name, text) in permitted {
                try folder.write(
                    "<plist><dict><key>BGTaskSchedulerPermittedIdentifiers</key><array>"
                        + "<string>\(text)</string></array></dict></plist>", to: "\(name).plist")
            }
        }
        try folder.write(
            "func application(_ a: A, didFinishLaunchingWithOptions o: O) {\n"
                + "BGTaskScheduler.shared.register("
                + "forTaskWithIdentifier: \"a.b\", using: nil) { run($0) }\n}\n", to: "S.swift")
        let known = folder.path + "/known.json"
        let arguments = ["audit", "--select", "CF020", "--baseline", known, folder.path]
        try write(["One": "a.c", "Two": "a.b"])
        let first = try await Rouse.run(
            ["audit", "--select", "CF020", "--write-baseline", known, folder.path])
        #expect(first.status == 0, "\(first.all)")
        #expect(try await Rouse.run(arguments).status == 0)
        try write(["One": "a.b", "Two": "a.c"])
        let other = try await Rouse.run(arguments)
        #expect(other.status == 1 && other.out.contains("CF020"), "\(other.all)")
        try write(["One": "a.c", "Two": "a.c"])
        #expect(try await Rouse.run(arguments).status == 1)
    }

    @Test("a path that is ignored or known hides no other path of its handler")
    func pathsOfAHandler() async throws {
        let folder = try TestFolder()
        func handler(_ paths: String...) -> String {
            "class AppDelegate: UIResponder, UIApplicationDelegate {\n"
                + "func application(_ a: UIApplication, didReceiveRemoteNotification u: U,\n"
                + "fetchCompletionHandler done: @escaping (UIBackgroundFetchResult) -> Void) {\n"
                + paths.map { "if \($0) { return }\n" }.joined() + "done(.newData)\n}\n}\n"
        }
        func lines(_ source: String, _ options: String...) async throws -> [Int] {
            try folder.write(source, to: "A.swift")
            let result = try await Rouse.run(
                ["audit", "--format", "json", "--select", "CF003"] + options + [folder.path])
            let files = try #require(try result.json()["files"] as? [[String: Any]])
            return files.flatMap { $0["diagnostics"] as? [[String: Any]] ?? [] }
                .compactMap { $0["line"] as? Int }
        }
        let both = handler("a", "b")
        #expect(try await lines(both) == [4])
        let ignored = both.replacing(
            "if a { return }", with: "if a { return } // rouse:ignore CF003 legacy")
        #expect(try await lines(ignored) == [5])
        let known = folder.path + "/known.json"
        #expect(try await lines(both, "--write-baseline", known) == [])
        #expect(try await lines(both, "--baseline", known) == [])
        #expect(try await lines(handler("a", "b", "c"), "--baseline", known) == [6])
        #expect(try await lines(handler("a"), "--baseline", known) == [])
    }

    @Test("settings may end in .yml, and those of other paths are said to be unread")
    func settingsFiles() async throws {
        let folder = try TestFolder()
        for name in ["One", "Two"] {
            try FileManager.default.createDirectory(
                atPath: folder.path + "/" + name, withIntermediateDirectories: false)
            try folder.write(Self.info, to: name + "/Info.plist")
            try folder.write("ignore: [CF030]\n", to: name + "/.rouse-lint.yml")
        }
        let one = try await Rouse.run(["audit", folder.path + "/One"])
        #expect(!one.out.contains("CF030") && one.error.isEmpty, "\(one.all)")
        let both = try await Rouse.run(["audit", folder.path + "/One", folder.path + "/Two"])
        #expect(!both.out.contains("CF030"), "\(both.all)")
        #expect(both.out.contains("/Two/.rouse-lint.yml were not read: "), "\(both.out)")
        #expect(both.out.contains("/One/.rouse-lint.yml holds for all paths."))
        try FileManager.default.removeItem(atPath: folder.path + "/Two/.rouse-lint.yml")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/Two/.rouse-lint.yml",
            withDestinationPath: "../One/.rouse-lint.yml")
        let same = try await Rouse.run(["audit", folder.path + "/One", folder.path + "/Two"])
        #expect(!same.out.contains("not read"), "\(same.out)")
        try folder.write("severity: {CF030: error}\n", to: "One/.rouse-lint.yaml")
        let two = try await Rouse.run(["audit", folder.path + "/One"])
        #expect(two.status == 78 && two.error.contains("Keep one."), "\(two.all)")
        try FileManager.default.removeItem(atPath: folder.path + "/One/.rouse-lint.yml")
        let usual = try await Rouse.run(["audit", folder.path + "/One"])
        #expect(usual.out.contains("error CF030"), "\(usual.all)")
        let none = try await Rouse.run(["audit", "--no-config", folder.path + "/One"])
        #expect(none.out.contains("warning CF030"), "\(none.all)")
    }

    @Test("settings of folders below are said to be unread")
    func settingsBelow() async throws {
        let folder = try TestFolder()
        for name in ["", "One/", "Two/"] {
            try FileManager.default.createDirectory(
                atPath: folder.path + "/" + name, withIntermediateDirectories: true)
            try folder.write(Self.info, to: name + "Info.plist")
            try folder.write("exclude: [Two]\n", to: name + ".rouse-lint.yaml")
        }
        let path = folder.path
        let all = try await Rouse.run(["audit", path])
        let parts = all.out.components(separatedBy: "were not read: ")
        #expect(parts.count == 2 && parts[0].hasSuffix("\(path)/One/.rouse-lint.yaml "))
        #expect(all.out.contains("/.rouse-lint.yaml holds for all paths."), "\(all.out)")
        let one = try await Rouse.run(["audit", path + "/One", path])
        #expect(one.out.contains("settings in \(path)/.rouse-lint.yaml were not"), "\(one.out)")
        #expect(!one.out.contains("/One/.rouse-lint.yaml were"), "\(one.out)")
        for options in [["--no-config"], ["--config", path + "/One/.rouse-lint.yaml"]] {
            let chosen = try await Rouse.run(["audit"] + options + [path])
            #expect(!chosen.out.contains("were not read"), "\(chosen.out)")
        }
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

    @Test(
        "a report says that settings, a baseline or an option are faulty",
        arguments: [
            (["--config", "none.yaml"], 66, "none.yaml"), (["--baseline", "b.json"], 78, "b.json"),
            (["--write-baseline", "none/b.json"], 66, "none/b.json"),
            (["--select", "CF999"], 64, "CF999"), ([], 78, "selct"),
        ])
    func faultySettings(options: [String], status: Int32, reason: String) async throws {
        let folder = try Self.folder()
        try folder.write("selct: [CF]\n", to: ".rouse-lint.yaml")
        try folder.write("no baseline", to: "b.json")
        try folder.write("{\"aps\":{}}", to: "a.apns")
        let paths = options.map { $0.contains(".") ? folder.path + "/" + $0 : $0 }
        let all = paths.isEmpty || paths[0] == "--config" ? paths : paths + ["--no-config"]
        for (command, file) in [("audit", "Info.plist"), ("validate", "a.apns")] {
            // What `validate` cannot write it says behind its report, which is of the checks.
            guard command == "audit" || paths.first != "--write-baseline" else { continue }
            let result = try await Rouse.run(
                [command, "--format", "json"] + all + [folder.path + "/" + file])
            #expect(result.status == status, "\(command): \(result.all)")
            let problems = try #require(try result.json()["problems"] as? [[String: Any]])
            #expect(problems.count == 1)
            #expect((problems.first?["message"] as? String)?.contains(reason) == true)
            #expect(result.error.contains(reason), "\(result.error)")
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
