// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import RouseCommand

@Suite("rouse keys", .timeLimit(.minutes(2)))
struct KeysTests {
    @Test("shows a key once, keeps its digest for the owner only, lists and revokes it")
    func wholeLife() async throws {
        let folder = try TestFolder()
        let path = folder.path + "/keys.json"
        let made = try await Rouse.run(
            ["keys", "create", "--keys-file", path, "--name", "backend", "--scope", "wake"])
        #expect(made.status == 0, "\(made.all)")
        let key = made.out.trimmingCharacters(in: .newlines)
        #expect(key.wholeMatch(of: /rouse_[0-9A-Za-z]{43}/) != nil)
        #expect(!made.error.contains(key))
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(!text.contains(key))
        let digest = try await Rouse.run(
            "/bin/sh", ["-c", #"printf %s "$KEY" | sha256sum | cut -d' ' -f1"#],
            environment: ["KEY": key])
        #expect(text.contains(digest.out.trimmingCharacters(in: .newlines)))
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
        #expect(mode as? Int == 0o600)

        let twice = try await Rouse.run(
            ["keys", "create", "--keys-file", path, "--name", "backend"])
        #expect(twice.status == 64)
        let list = try await Rouse.run(["keys", "list", "--keys-file", path, "--json"])
        let entry = try #require((try list.json()["keys"] as? [[String: Any]])?.first)
        #expect(entry["name"] as? String == "backend")
        #expect(entry["scopes"] as? [String] == ["wake"])
        #expect(entry["revoked_at"] == nil)

        let revoked = try await Rouse.run(
            ["keys", "revoke", "--keys-file", path, "--name", "backend"])
        #expect(revoked.status == 0, "\(revoked.all)")
        #expect(try KeysFile(path: path).activeKeys().isEmpty)
        let again = try await Rouse.run(
            ["keys", "revoke", "--keys-file", path, "--name", "backend"])
        #expect(again.status == 1)
        #expect(
            again.error
                == "error: No active key is named backend. `rouse keys list` shows them.\n")
        let listed = try await Rouse.run(["keys", "list", "--keys-file", path])
        #expect(listed.out.contains("revoked"))
    }

    @Test("keys made at the same time are all kept")
    func concurrency() async throws {
        let folder = try TestFolder()
        let path = folder.path + "/keys.json"
        try await withThrowingTaskGroup(of: Int32.self) { group in
            for number in 0..<6 {
                group.addTask {
                    try await Rouse.run(
                        ["keys", "create", "--keys-file", path, "--name", "k\(number)"]
                    ).status
                }
            }
            for try await status in group { #expect(status == 0) }
        }
        #expect(try KeysFile(path: path).activeKeys().count == 6)
    }

    @Test("a file that others can write, or that is none of ours, is refused")
    func refusals() async throws {
        let folder = try TestFolder()
        let path = try folder.write("{}", to: "keys.json")
        #expect(throws: CommandFailure.self) { try KeysFile(path: path) }
        try folder.write(#"{"version":9,"keys":[]}"#, to: "later.json")
        #expect(throws: CommandFailure.self) { try KeysFile(path: folder.path + "/later.json") }
        let open = try folder.write(#"{"version":1,"keys":[]}"#, to: "open.json")
        #expect(try KeysFile(path: open).keys.isEmpty)
        chmod(open, 0o666)
        #expect(throws: CommandFailure.self) { try KeysFile(path: open) }
        #expect(try KeysFile(path: folder.path + "/none.json").keys.isEmpty)
        let nowhere = try await Rouse.run(
            ["keys", "create", "--keys-file", "/nonexistent/keys.json", "--name", "backend"])
        #expect(nowhere.status == 77)
        #expect(nowhere.error.contains("there is no such folder. Make it"), "\(nowhere.all)")
    }

    @Test(
        "wrong usage says what is wrong",
        arguments: [
            ["--name", "a b"], ["--name", "a", "--scope", "raed"],
            ["--name", "a", "--requests-per-second", "0"],
        ])
    func usage(arguments: [String]) async throws {
        let folder = try TestFolder()
        let result = try await Rouse.run(
            ["keys", "create", "--keys-file", folder.path + "/keys.json"] + arguments)
        #expect(result.status == 64, "\(result.all)")
        if arguments.contains("raed") { #expect(result.error.contains("Did you mean read?")) }
    }
}
