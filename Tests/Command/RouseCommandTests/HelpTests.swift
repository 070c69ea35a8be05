// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("Help")
struct HelpTests {
    private static let golden = URL(filePath: #filePath)
        .deletingLastPathComponent().appending(path: "Golden")

    @Test(
        "is what the golden files say (ROUSE_REGENERATE_GOLDEN=1 writes them anew)",
        arguments: [
            "root", "serve", "push", "probe", "token", "validate", "rules", "audit", "simulate",
            "apns-simulator", "doctor", "keys", "status", "send", "wake", "device", "audit-store",
            "store", "channel",
        ])
    func help(command: String) async throws {
        let result = try await Rouse.run((command == "root" ? [] : [command]) + ["--help"])
        #expect(result.status == 0)
        #expect(result.error.isEmpty)
        let file = Self.golden.appending(path: "\(command).txt")
        if ProcessInfo.processInfo.environment["ROUSE_REGENERATE_GOLDEN"] == "1" {
            try result.out.write(to: file, atomically: true, encoding: .utf8)
        }
        #expect(result.out == (try String(contentsOf: file, encoding: .utf8)))
        #expect(result.out.contains("Example"))
        // The parser never breaks its line of usage.
        let lines = result.out.split(separator: "\n").filter { !$0.hasPrefix("USAGE") }
        #expect(lines.allSatisfy { $0.count <= 80 })
    }

    @Test("options that take one of a few words have them as completions")
    func completions() async throws {
        let dump = try await Rouse.run(["--experimental-dump-help"])
        let text = try #require(try dump.json()["command"] as? [String: Any])
        var found: [String: [String]] = [:]
        var files: Set<String> = []
        func walk(_ command: [String: Any], _ path: String) {
            for argument in command["arguments"] as? [[String: Any]] ?? [] {
                let name = (argument["preferredName"] as? [String: Any])?["name"] as? String
                let place = path + (name.map { "--\($0)" } ?? "")
                let kind = argument["completionKind"] as? [String: [String: Any]]
                found[place] = kind?["list"]?["values"] as? [String]
                if kind?["file"] != nil { files.insert(place) }
            }
            for inner in command["subcommands"] as? [[String: Any]] ?? [] {
                walk(inner, path + "\(inner["commandName"] ?? "") ")
            }
        }
        walk(text, "")
        #expect(found["serve --log-level"]?.first == "trace")
        #expect(found["serve --log-format"] == ["text", "json"])
        #expect(found["serve --store-durability"] == ["disk", "system"])
        #expect(found["serve --transport"] == ["native", "curl"])
        #expect(found["keys create --scope"]?.contains("admin") == true)
        #expect(found["push --priority"] == ["10", "5", "1"])
        #expect(found["channel create --storage"] == ["none", "latest"])
        #expect(found["validate --push-type"]?.contains("liveactivity") == true)
        #expect(found["validate --explain"]?.contains("BG001") == true)
        #expect(found["audit --explain"]?.contains("CF001") == true)
        #expect(found["validate --format"]?.contains("sarif") == true)
        #expect(found["audit --sends"]?.contains("time-sensitive") == true)
        for (option, rule) in [
            ("validate --select", "BG001"), ("validate --ignore", "BG001"),
            ("audit --select", "CF001"), ("audit --ignore", "CF001"),
        ] {
            #expect(found[option]?.contains(rule) == true, "\(option)")
        }
        #expect(found["apns-simulator --device-model"]?.contains("commuter") == true)
        #expect(files.isSuperset(of: ["serve --config", "push --key", "status --key-file"]))
        for shell in ["bash", "zsh", "fish"] {
            let script = try await Rouse.run(["--generate-completion-script", shell])
            #expect(script.status == 0)
            for word in ["critical", "liveactivity", "commuter", "low-power-mode-heavy", "CF001"] {
                #expect(script.out.contains(word), "\(shell): \(word)")
            }
        }
    }

    @Test("--version prints the version")
    func version() async throws {
        let result = try await Rouse.run(["--version"])
        #expect(result.status == 0)
        #expect(result.out.wholeMatch(of: /\d+\.\d+\.\d+\n/) != nil)
    }

    @Test(
        "wrong usage ends with 64 and says what is wrong on standard error",
        arguments: [
            ["nonsense"], ["push"], ["push", "--colour", "abc"], ["push", "ab", "--ttl", "-1"],
            ["push", "ab", "--voip", "--collapse-id", "x"], ["push", "ab", "--port", "0"],
            ["push", "ab", "--cert", "x"], ["token", "abc"], ["serve", "--dev", "--config", "x"],
            ["serve", "--folder", "x"], ["serve"], ["apns-simulator", "--port", "70000"],
            ["apns-simulator", "--device-model", "nobody"],
            ["apns-simulator", "--receipts", "http://127.0.0.1:8080"],
            ["apns-simulator", "--device-model", "steady", "--receipts", "http://example.com"],
            ["push", "ab"], ["push", "ab", "--bundle-id", "com.example.app.voip"],
            ["probe", "ab", "--host", "x", "--sandbox-server", "y:1"],
            ["validate"], ["validate", "x", "--format", "yaml"], ["validate", "x", "--jobs", "0"],
            ["validate", "x", "--fix", "--diff"], ["validate", "x", "--unsafe-fixes"],
            ["validate", "x", "--explain", "BG004"], ["validate", "--explain", "BG4"],
            ["validate", "x", "--select", "BG4"], ["validate", "x", "--now", "soon"],
            ["validate", "-", "--fix"], ["validate", "x", "--config", "y", "--no-config"],
            ["rules", "--schema", "alert"], ["rules", "--schema", "voip", "--json"],
        ])
    func usage(arguments: [String]) async throws {
        let result = try await Rouse.run(arguments)
        #expect(result.status == 64, "\(result.all)")
        #expect(result.out.isEmpty)
        #expect(!result.error.isEmpty)
    }

    @Test(
        "a command that does not exist is named, with the one that was meant",
        arguments: [
            (["pussh", "00ff"], "'rouse' has no command 'pussh'. Did you mean 'rouse push'?"),
            (["Wake", "1"], "'rouse' has no command 'Wake'. Did you mean 'rouse wake'?"),
            (["channel", "lst"], "no command 'lst'. Did you mean 'rouse channel list'?"),
            (["keys", "remove", "--name", "a"], "'rouse keys' has no command 'remove'. "),
            (["nonsense"], "'rouse --help' lists them."),
        ])
    func unknownCommands(arguments: [String], words: String) async throws {
        let result = try await Rouse.run(arguments)
        #expect(result.status == 64, "\(result.all)")
        #expect(result.error.contains(words), "\(result.all)")
    }
}
