// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// What a team settles for `rouse audit`: settings, and a baseline.
@Suite("Settings of rouse audit")
struct AuditSettingsTests {
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
        try folder.write(AuditTests.info, to: "Info.plist")
        let new = try await Rouse.run([
            "audit", "--sends", "background", "--baseline", known, folder.path,
        ])
        #expect(new.status == 1 && new.out.contains("CF001"), "\(new.all)")
        #expect(!new.out.contains("CF026"), "\(new.all)")
        #expect(
            new.out.contains("1 finding not reported: a comment ignores it."), "\(new.all)")
    }

    @Test("what a baseline holds and a run does not have any more is said, and is no fault")
    func goneFindings() async throws {
        let folder = try TestFolder()
        let source = "func f() {\n  UserDefaults.standard.set(deviceToken, forKey: key)\n}\n"
        let known = folder.path + "/known.json"
        for name in ["A.swift", "B.swift"] { try folder.write(source, to: name) }
        let written = try await Rouse.run(["audit", "--write-baseline", known, folder.path])
        #expect(written.status == 0 && !written.error.contains("did not have"), "\(written.all)")
        try folder.write("func f() {}\n", to: "B.swift")
        let said = "holds findings that this run did not have: CF026 in B.swift."
        for (options, isSaid) in [
            (["--strict"], true), (["--format", "json"], true), (["--ignore", "CF026"], false),
        ] {
            let run = try await Rouse.run(
                ["audit", "--baseline", known] + options + [folder.path])
            #expect(run.status == 0 && run.error.contains(said) == isSaid, "\(run.all)")
        }
        let alone = try await Rouse.run([
            "audit", "--baseline", known, folder.path + "/B.swift",
        ])
        #expect(alone.status == 0 && !alone.error.contains("did not have"), "\(alone.all)")
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

    @Test("a baseline that is written for one target, or beside a broken file, loses nothing")
    func partialBaseline() async throws {
        let folder = try AuditTests.folder()
        let known = folder.path + "/known.json"
        try folder.write(
            "name: A\ntargets:\n"
                + ["One", "Two"].map { name in
                    "  \(name): { type: application, platform: iOS, sources: [\(name).swift],\n"
                        + "    info: { path: Info.plist } }\n"
                }
                .joined(), to: "project.yml")
        for name in ["One", "Two"] {
            try folder.write(
                "func f() {\nlet r = BGAppRefreshTaskRequest(identifier: \"a\")\n"
                    + "try? BGTaskScheduler.shared.submit(r)\n}\n", to: name + ".swift")
        }
        func entries(_ options: String...) async throws -> Int {
            let result = try await Rouse.run(
                ["audit", "--write-baseline", known] + options + [folder.path])
            #expect([0, 65].contains(result.status), "\(result.all)")
            return try String(contentsOfFile: known, encoding: .utf8)
                .components(separatedBy: "\"path\"").count - 1
        }
        let all = try await entries()
        #expect(all > 1)
        #expect(try await entries("--target", "One") == all)
        #expect(try await entries("--select", "CF039") == all)
        try folder.write("targets:\n  App: {", to: "project.yml")
        #expect(try await entries() >= all)
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
            try folder.write(AuditTests.info, to: name + "/Info.plist")
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
            try folder.write(AuditTests.info, to: name + "Info.plist")
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

    @Test("what the settings exclude of a target is read, and not judged")
    func excludedSources() async throws {
        let folder = try TestFolder()
        let info = AuditTests.info.replacing("remote-notifications", with: "remote-notification")
        try folder.write(info, to: "Info.plist")
        try folder.write(
            "name: A\ntargets:\n  App: { type: application, platform: iOS, sources: [Sources],\n"
                + "    info: { path: Info.plist } }\n", to: "project.yml")
        try FileManager.default.createDirectory(
            atPath: folder.path + "/Sources", withIntermediateDirectories: false)
        let handler =
            "class AppDelegate: NSObject, UIApplicationDelegate {\nfunc application(_ a: A,\n"
            + "didReceiveRemoteNotification u: U, fetchCompletionHandler done: @escaping (R) -> V"
            + ") {\nif a { return }\ndone(.newData)\n}\n}\n"
        try folder.write(handler, to: "Sources/A.swift")
        try folder.write("import UIKit\nlet a = 1\n", to: "Sources/B.swift")
        let path = folder.path
        #expect(try await Rouse.run(["audit", path]).out.contains("CF003"))
        try folder.write("exclude: [Sources/A.swift]\n", to: ".rouse-lint.yaml")
        let result = try await Rouse.run(["audit", path])
        #expect(!result.out.contains("CF003") && !result.out.contains("CF002"), "\(result.out)")
        #expect(result.out.contains("the settings exclude 1 file or folder"), "\(result.out)")
        try folder.write("exclude: [\"**\"]\n", to: ".rouse-lint.yaml")
        let nothing = try await Rouse.run(["audit", path])
        #expect(nothing.status == 66 && nothing.error.contains("but what the settings exclude"))
        try folder.write("{\"aps\":{}}", to: "a.apns")
        let none = try await Rouse.run(["validate", path])
        #expect(none.status == 66 && none.error.contains("the settings exclude all files"))
    }

    @Test(
        "a report says that settings, a baseline or an option are faulty",
        arguments: [
            (["--config", "none.yaml"], 66, "none.yaml"), (["--baseline", "b.json"], 78, "b.json"),
            (["--write-baseline", "none/b.json"], 66, "none/b.json"),
            (["--select", "CF999"], 64, "CF999"), ([], 78, "selct"),
        ])
    func faultySettings(options: [String], status: Int32, reason: String) async throws {
        let folder = try AuditTests.folder()
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
}
