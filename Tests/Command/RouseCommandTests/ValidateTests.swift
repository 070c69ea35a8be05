// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("rouse validate")
struct ValidateTests {
    private static let good = #"{"aps":{"content-available":1},"version":7}"#
    private static let bad = #"{"aps":{"content-available":1,"badge":0},"version":7}"#
    private static let background = ["--push-type", "background", "--no-config"]

    private static func validate(
        _ arguments: [String], stdin: String = "", environment: [String: String] = [:]
    ) async throws -> Rouse.Finished {
        try await Rouse.run(["validate"] + arguments, stdin: stdin, environment: environment)
    }

    @Test("the exit code says what came of it")
    func exitCodes() async throws {
        let folder = try TestFolder()
        let good = try folder.write(Self.good, to: "good.json")
        let bad = try folder.write(Self.bad, to: "bad.json")
        let warned = try folder.write(
            #"{"aps":{"content-available":true},"version":7}"#, to: "warned.json")
        let binary = folder.path + "/binary.json"
        try Data([0x7f, 0x45, 0x4c, 0x46, 0, 0, 0, 0]).write(to: URL(filePath: binary))
        let settings = try folder.write("serverity: {}\n", to: "settings.yaml")
        let none = folder.path + "/none.json"
        for (name, file, text) in [
            ("broken", "a.json", "{"), ("other", "a.json", "{}"), ("pushes", "a.apns", "{"),
        ] {
            try FileManager.default.createDirectory(
                atPath: folder.path + "/" + name, withIntermediateDirectories: false)
            try folder.write(text, to: name + "/" + file)
        }
        let cases: [([String], Int32)] = [
            ([good], 0), ([bad], 1), ([good, bad], 1), ([warned], 0), ([warned, "--strict"], 1),
            ([bad, "--ignore", "BG004"], 0), ([bad, "--select", "H"], 0), ([binary], 65),
            ([bad, binary], 65), ([none], 66), ([good, none, bad], 66), ([binary, none], 66),
            ([folder.path + "/broken"], 66), ([folder.path + "/other"], 66),
            ([folder.path + "/pushes"], 1), ([folder.path + "/broken", good], 0),
            ([good, "--select", "CF"], 64),
        ]
        for (arguments, status) in cases {
            let result = try await Self.validate(arguments + Self.background)
            #expect(result.status == status, "\(arguments): \(result.all)")
        }
        let misconfigured = try await Self.validate([good, "--config", settings])
        #expect(misconfigured.status == 78)
        #expect(misconfigured.error.contains("serverity is no key that Rouse knows"))
        #expect(misconfigured.error.contains("Did you mean severity?"))
        // A file that cannot be checked does not keep the others from being checked.
        let both = try await Self.validate([none, bad] + Self.background)
        #expect(both.out.contains("BG004"))
        #expect(both.error.contains("none.json does not exist"))
    }

    @Test("standard input is read, as one document or as lines")
    func standardInput() async throws {
        let one = try await Self.validate(["-"] + Self.background, stdin: Self.bad)
        #expect(one.status == 1)
        #expect(one.out.contains("-:1:31: error BG004 /aps/badge"))
        let lines = try await Self.validate(
            ["-", "--format", "json"] + Self.background, stdin: Self.good + "\n" + Self.bad + "\n")
        #expect(lines.status == 1)
        let file = try #require((try lines.json()["files"] as? [[String: Any]])?.first)
        #expect(file["kind"] as? String == "lines")
        let finding = try #require((file["diagnostics"] as? [[String: Any]])?.first)
        #expect(finding["line"] as? Int == 2)
        let empty = try await Self.validate(["-"] + Self.background)
        #expect(empty.status == 1)
        #expect(empty.out.contains("G002"))
    }

    @Test("a pipe is read once, whatever comes out of it")
    func pipe() async throws {
        for (text, line) in [(Self.bad, 1), (Self.good + "\n" + Self.bad + "\n", 2)] {
            let options = Self.background.joined(separator: " ")
            let command = "\"\(Rouse.path)\" validate \(options) <(printf '%s' \"$TEXT\")"
            let result = try await Rouse.run(
                "/bin/bash", ["-c", command], environment: ["TEXT": text])
            #expect(result.status == 1, "\(result.all)")
            #expect(result.out.contains(":\(line):31: error BG004"))
        }
    }

    @Test("the text report shows the source line with a caret, and not with --no-source")
    func text() async throws {
        let folder = try TestFolder()
        try folder.write(Self.bad, to: "bad.json")
        let path = folder.path + "/bad.json"
        let options = [path, "--select", "BG004"] + Self.background
        let result = try await Self.validate(options)
        #expect(
            result.out == """
                \(path):1:31: error BG004 /aps/badge: a background push has `badge`
                  1 | {"aps":{"content-available":1,"badge":0},"version":7}
                    |                               ^
                    = Remove `badge`, or send an alert push.

                Checked 1 file: 1 error, 0 warnings, 0 notes.

                """)
        let hidden = try await Self.validate(options + ["--no-source"])
        #expect(!hidden.out.contains("\"version\""))
        #expect(hidden.out.contains("BG004"))
    }

    @Test("colours are for terminals without NO_COLOR")
    func colours() async throws {
        let folder = try TestFolder()
        let path = try folder.write(Self.bad, to: "bad.json")
        let command = [Rouse.path, "validate", path, "--no-config"].joined(separator: " ")
        for (environment, isColoured) in [
            (["TERM": "xterm"], true), (["TERM": "xterm", "NO_COLOR": "1"], false),
        ] {
            let result = try await Rouse.run(
                "/usr/bin/script", ["-q", "-c", command, "/dev/null"], environment: environment)
            #expect(result.out.contains("\u{1b}[") == isColoured)
        }
        let piped = try await Self.validate([path, "--no-config"], environment: ["TERM": "xterm"])
        #expect(!piped.all.contains("\u{1b}"))
    }

    @Test("what is not given is told, and said")
    func inferred() async throws {
        let result = try await Self.validate(["-", "--no-config"], stdin: Self.good)
        #expect(result.status == 0)
        #expect(
            result.out.contains("1 payload judged as background: no push type was read with it"))
        let given = try await Self.validate(["-"] + Self.background, stdin: Self.good)
        #expect(!given.out.contains("judged as"))
    }

    @Test("options say what a bare payload is sent as")
    func headers() async throws {
        func rules(_ options: [String]) async throws -> Set<String> {
            let result = try await Self.validate(
                ["-", "--no-config", "--format", "json"] + options, stdin: Self.good)
            let file = try #require((try result.json()["files"] as? [[String: Any]])?.first)
            let findings = try #require(file["diagnostics"] as? [[String: Any]])
            return Set(findings.compactMap { $0["rule"] as? String })
        }
        let type = ["--push-type", "background"]
        #expect(try await rules(type + ["--priority", "10"]).contains("BG006"))
        #expect(try await rules(type + ["--topic", "com.example.app.voip"]).contains("BG009"))
        #expect(try await rules(type + ["--expiration", "300"]).contains("H011"))
        let past = ["--expiration", "1700000000", "--now"]
        #expect(try await rules(type + past + ["1800000000"]).contains("H013"))
        #expect(!(try await rules(type + past + ["2023-11-14T22:00:00Z"]).contains("H013")))
    }

    @Test("--fix mends a file and keeps its permissions; --diff only shows how")
    func fixes() async throws {
        let folder = try TestFolder()
        let text = "{\"aps\":{\"content-available\":true},\"version\":7}\n"
        let path = try folder.write(text, to: "a.json")
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
        let diff = try await Self.validate([path, "--diff"] + Self.background)
        #expect(diff.out.hasPrefix("--- \(path)\n+++ \(path)\n@@ -1 +1 @@\n-{"))
        #expect(diff.error == "1 file would be fixed by --fix.\n")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
        let fixed = try await Self.validate([path, "--fix"] + Self.background)
        #expect(fixed.status == 0)
        #expect(fixed.out.contains("Fixed 1 file."))
        #expect(
            try String(contentsOfFile: path, encoding: .utf8)
                == text.replacingOccurrences(of: "true", with: "1"))
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
        #expect(mode as? Int == 0o640)
    }

    @Test("a log of sent pushes is checked as a whole")
    func log() async throws {
        let folder = try TestFolder()
        let token = String(repeating: "7a", count: 32)
        let lines = (0..<5).map { index in
            "{\"time\":\(1_790_000_000 + index * 60),\"token\":\"\(token)\","
                + "\"headers\":{\"apns-push-type\":\"background\"},\"payload\":\(Self.good)}\n"
        }
        let path = try folder.write(lines.joined(), to: "sent.jsonl")
        let result = try await Self.validate(["--log", path, "--no-config"])
        #expect(result.out.contains("BG020"))
        #expect(result.out.contains("BG021"))
        #expect(
            !(try await Self.validate(["--log", path, "--no-config", "--no-source"])).out.contains(
                token))
        let settings = try folder.write(
            "thresholds:\n  background-per-hour: 10\n  background-spacing-seconds: 30\n",
            to: "s.yaml")
        let relaxed = try await Self.validate(["--log", path, "--config", settings])
        #expect(!relaxed.out.contains("BG020"))
        #expect(!relaxed.out.contains("BG021"))
    }

    @Test("--explain says all about a rule")
    func explain() async throws {
        let result = try await Self.validate(["--explain", "bg004"])
        #expect(result.status == 0)
        for word in ["BG004, error", "Why", "Fix", "Source", "(documented)"] {
            #expect(result.out.contains(word))
        }
        let unknown = try await Self.validate(["--explain", "BG4"])
        #expect(unknown.status == 64)
        #expect(unknown.error.contains("Did you mean BG004?"))
    }

    @Test("refuses a push type that nobody knows, and takes one that the settings list")
    func pushTypes() async throws {
        let folder = try TestFolder()
        let file = try folder.write(Self.good, to: "push.json")
        for options in [[], ["--no-config"]] {
            let result = try await Self.validate(["--push-type", "backgruond", file] + options)
            #expect(result.status == 64, "\(result.error)")
            #expect(result.error.contains("Did you mean background? Use one of "))
            #expect(result.error.contains("liveactivity") && result.out.isEmpty)
        }
        try folder.write("push-types: [newtype]", to: ".rouse-lint.yaml")
        let taken = try await Self.validate(["--push-type", "newtype", file])
        #expect(taken.status == 0, "\(taken.error)")
        #expect(try await Self.validate(["--push-type", "newtip", file]).status == 64)
    }
}
