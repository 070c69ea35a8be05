// SPDX-License-Identifier: Apache-2.0

import AdminAPI
import Foundation
import Testing
import WakeModel

@testable import RouseCommand

@Suite("rouse keys", .timeLimit(.minutes(10)))
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

        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
                == ["keys.json", "keys.json.lock"])

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
            ["--name", "a", "--requests-per-second", "0"], ["--name", "a", "--apps", "no spaces"],
            ["--name", "a", "--apps", ""], ["--name", "a", "--expires", "soon"],
            ["--name", "a", "--expires", "90"], ["--name", "a", "--expires", "2020-01-01"],
            ["--name", "a", "--expires", "-1d"],
        ])
    func usage(arguments: [String]) async throws {
        let folder = try TestFolder()
        let result = try await Rouse.run(
            ["keys", "create", "--keys-file", folder.path + "/keys.json"] + arguments)
        #expect(result.status == 64, "\(result.all)")
        if arguments.contains("raed") { #expect(result.error.contains("Did you mean read?")) }
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/keys.json"))
    }

    @Test(
        "a key whose text could not be written is not recorded, and the command ends with 74",
        arguments: [
            ">/dev/full", ">&-", "gone reader", "1</dev/null", "--output taken",
        ], ["create", "rotate"])
    func lostKey(redirection: String, verb: String) async throws {
        let folder = try TestFolder()
        try folder.write("mine", to: "taken")
        let path = folder.path + "/keys.json"
        if verb == "rotate" {
            let made = try await Rouse.run(["keys", "create", "--keys-file", path, "--name", "a"])
            #expect(made.status == 0, "\(made.all)")
        }
        let before = try? String(contentsOfFile: path, encoding: .utf8)
        // The pipe's reader has gone before anything is written.
        let script =
            redirection == "gone reader"
            ? #"exec 4> >(:); wait $!; "$R" keys "$V" --keys-file "$K" --name a >&4; echo $? >&2"#
            : #"cd "$F"; "$R" keys "$V" --keys-file "$K" --name a \#(redirection); echo $? >&2"#
        let result = try await Rouse.run(
            "/bin/bash", ["-c", script],
            environment: ["R": Rouse.path, "V": verb, "K": path, "F": folder.path])
        let isFile = redirection.hasPrefix("--output")
        #expect(
            result.all.hasSuffix(isFile ? "64\n" : "74\n"), "\(redirection): \(result.all)")
        #expect(!result.all.contains("rouse_"))
        #expect((try? String(contentsOfFile: path, encoding: .utf8)) == before)
        #expect(try String(contentsOfFile: folder.path + "/taken", encoding: .utf8) == "mine")
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(!left.contains { $0.contains(".new") }, "\(left)")
        // Nothing of the key in what the closed descriptor may have become.
        for name in left {
            let text = try String(contentsOfFile: folder.path + "/" + name, encoding: .utf8)
            #expect(!text.contains("rouse_"), "\(name)")
        }
    }

    @Test("--output makes a file for the owner only, and follows no link")
    func output() async throws {
        let folder = try TestFolder()
        let path = folder.path + "/keys.json"
        let target = folder.path + "/a.key"
        let made = try await Rouse.run(
            "/bin/sh",
            ["-c", #"umask 0; exec "$@""#, "sh", Rouse.path] + [
                "keys", "create", "--keys-file", path, "--name", "a", "--output", target,
            ])
        #expect(made.status == 0, "\(made.all)")
        #expect(made.out.isEmpty)
        let key = try String(contentsOfFile: target, encoding: .utf8)
        #expect(key.wholeMatch(of: /rouse_[0-9A-Za-z]{43}\n/) != nil)
        for file in [target, path, path + ".lock"] {
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions]
            #expect(mode as? Int == 0o600, "\(file)")
        }
        let link = folder.path + "/link"
        #expect(symlink(folder.path + "/elsewhere", link) == 0)
        for arguments in [
            ["--keys-file", path, "--name", "b", "--output", link],
            ["--keys-file", link, "--name", "b"],
        ] {
            let refused = try await Rouse.run(["keys", "create"] + arguments)
            #expect([64, 77].contains(refused.status), "\(refused.all)")
        }
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/elsewhere"))
        #expect(try KeysFile(path: path).keys.count == 1)
    }

    @Test("a rotation gives an old secret no more time than it had, and says how long it has")
    func oldSecret() async throws {
        let folder = try TestFolder()
        let path = folder.path + "/keys.json"
        func keys(_ arguments: String...) async throws -> Rouse.Finished {
            try await Rouse.run(
                ["keys", arguments[0], "--keys-file", path, "--name", "a"]
                    + arguments.dropFirst())
        }
        #expect(try await keys("create", "--expires", "30d").status == 0)
        let end = try #require(try KeysFile(path: path).keys[0].expiresAt)
        let lasting = try await keys("rotate", "--expires", "90d")
        #expect(lasting.status == 0, "\(lasting.all)")
        #expect(try KeysFile(path: path).keys[0].previous?.expiresAt == end)
        #expect(lasting.error.replacing("\n", with: " ").contains("taken until \(end)."))

        // A key that has expired.
        _ = try KeysFile.change(path) { file in
            file.keys[0].previous = nil
            file.keys[0].expiresAt = "2020-01-01T00:00:00Z"
        }
        #expect(try await keys("rotate").status == 1)
        let revived = try await keys("rotate", "--expires", "90d", "--old-expires", "7d")
        #expect(revived.status == 0, "\(revived.all)")
        #expect(try KeysFile(path: path).keys[0].previous == nil)
        #expect(revived.error.contains("has expired, and stays refused"), "\(revived.all)")
    }

    @Test("apps, expiry and rotation are kept, listed and told in the audit log")
    func rotation() async throws {
        let folder = try TestFolder()
        let config = try folder.write(
            """
            store: wakes.sqlite
            audit-file: audit.jsonl
            api-keys:
              - { name: fixed, sha256: \(String(repeating: "0", count: 64)) }
            apps:
              - bundle-id: com.example.app
                environment: sandbox
                team-id: TEAM123456
                key-file: AuthKey_ABCDE12345.p8
            """, to: "rouse.yaml")
        func keys(_ arguments: String...) async throws -> Rouse.Finished {
            try await Rouse.run(["keys", arguments[0], "--config", config] + arguments.dropFirst())
        }
        let taken = try await keys("create", "--name", "fixed")
        #expect(taken.status == 64 && taken.error.contains("api-keys"), "\(taken.all)")
        let stranger = try await keys("create", "--name", "a", "--apps", "com.example.ap")
        #expect(stranger.status == 64, "\(stranger.all)")
        #expect(stranger.error.contains("Did you mean com.example.app?"))
        let fixed = try await keys("revoke", "--name", "fixed")
        #expect(fixed.status == 1 && fixed.error.contains("Remove it there"), "\(fixed.all)")

        let made = try await keys(
            "create", "--name", "a", "--apps", "com.example.app", "--expires", "30d")
        #expect(made.status == 0, "\(made.all)")
        #expect(made.error.contains("for com.example.app until "))
        let early = try await keys("revoke", "--name", "a", "--old")
        #expect(early.status == 1, "\(early.all)")
        let rotated = try await keys("rotate", "--name", "a", "--old-expires", "7d", "--json")
        #expect(rotated.status == 0, "\(rotated.all)")
        let secret = try #require(try rotated.json()["key"] as? String)
        #expect(secret != made.out.trimmingCharacters(in: .newlines))
        let third = try await keys("rotate", "--name", "a")
        #expect(third.status == 1 && third.error.contains("two secrets already"), "\(third.all)")

        let path = folder.path + "/keys.json"
        let key = try #require(try KeysFile(path: path).activeKeys().first)
        #expect(key.digests.count == 2 && key.apps?.map(\.value) == ["com.example.app"])
        let listed = try await keys("list")
        // Lines are wrapped.
        let words = listed.out.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(words.contains("apps: com.example.app"), "\(listed.out)")
        #expect(words.contains("active until "))
        #expect(words.contains("in api-keys of the configuration"))
        let entries = try #require(
            try await keys("list", "--json").json()["keys"] as? [[String: Any]])
        #expect(entries.map { $0["name"] as? String } == ["a", "fixed"])
        #expect((entries[0]["previous"] as? [String: Any])?["expires_at"] != nil)
        #expect(!listed.out.contains(key.digests[0]))

        #expect(try await keys("revoke", "--name", "a", "--old").status == 0)
        #expect(try KeysFile(path: path).activeKeys().first?.digests.count == 1)
        #expect(try await keys("revoke", "--name", "a").status == 0)
        let audit = try String(contentsOfFile: folder.path + "/audit.jsonl", encoding: .utf8)
        let lines = try audit.split(separator: "\n").map { line in
            try #require(
                try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String])
        }
        #expect(
            lines.map { $0["change"] } == [
                "api key created", "api key rotated", "api key's old secret revoked",
                "api key revoked",
            ])
        #expect(lines.allSatisfy { $0["subject"] == "a" && $0["from"] == "command line" })
        #expect(lines.allSatisfy { $0["by"] == KeysPlace.userName && $0["at"] != nil })
        #expect(lines[0]["apps"] == "com.example.app" && lines[0]["expires_at"] != nil)
        #expect(!audit.contains(secret) && !audit.contains(key.digests[0]))
    }

    @Test("a secret whose time is over is not said to be taken")
    func lapsedSecret() async throws {
        let folder = try TestFolder()
        let file = ["--keys-file", folder.path + "/keys.json"]
        func keys(_ arguments: String...) async throws -> Rouse.Finished {
            try await Rouse.run(["keys"] + arguments.prefix(1) + file + arguments.dropFirst())
        }
        _ = try await keys("create", "--name", "a")
        _ = try await keys("rotate", "--name", "a", "--old-expires", "1s")
        var words = ""
        while !words.contains("the secret before expired") {
            // Lines are wrapped.
            words = try await keys("list").out.split(whereSeparator: \.isWhitespace)
                .joined(separator: " ")
        }
        #expect(!words.contains("is taken"), "\(words)")
    }

    @Test("one name in api-keys and the keys' file is refused by serve and by doctor")
    func names() async throws {
        let folder = try TestFolder()
        let path = folder.path + "/keys.json"
        let made = try await Rouse.run(["keys", "create", "--keys-file", path, "--name", "a"])
        #expect(made.status == 0)
        func config(_ keys: String) throws -> String {
            try folder.write("store: wakes.sqlite\napi-keys: [\(keys)]\n", to: "rouse.yaml")
        }
        let digest = String(repeating: "0", count: 64)
        let yaml = try config("{ name: a, sha256: \(digest) }")
        for arguments in [["serve"], ["doctor", "--offline"]] {
            let result = try await Rouse.run(arguments + ["--config", yaml])
            #expect(result.status == 78, "\(result.all)")
            // Lines are wrapped.
            let words = result.all.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(words.contains("Two API keys are named a."), "\(result.all)")
        }
        let twice = try config("{ name: b, sha256: \(digest) }, { name: b, sha256: \(digest) }")
        let result = try await Rouse.run(["serve", "--config", twice])
        #expect(result.status == 78)
        #expect(result.error.contains("api-keys[1].name is that of another key"), "\(result.all)")
    }

    @Test("a file of the first format is read, and written in the second")
    func firstFormat() async throws {
        let folder = try TestFolder()
        let digest = String(repeating: "0", count: 64)
        let entry =
            #"{"name":"a","sha256":"\#(digest)","scopes":["wake"],"created_at":"x","#
            + #""created_by":"y"}"#
        let path = try folder.write(#"{"version":1,"keys":[\#(entry)]}"#, to: "keys.json")
        #expect(try KeysFile(path: path).activeKeys().first?.apps == nil)
        let made = try await Rouse.run(["keys", "create", "--keys-file", path, "--name", "b"])
        #expect(made.status == 0, "\(made.all)")
        let file = try KeysFile(path: path)
        #expect(file.version == 2 && file.keys.map(\.name) == ["a", "b"])
    }

    @Test(
        "a time may be a date, an instant or a span",
        arguments: [
            ("90d", 90 * 86_400), ("12h", 43_200), ("30m", 1_800), ("1s", 1), ("0d", nil),
            ("2027-01-31", 1_801_353_600 - 1_795_000_000), ("d", nil), ("1.5d", nil),
            ("2027-01-31T00:00:01Z", 1_801_353_601 - 1_795_000_000), ("1801353600", nil),
            ("99999999999d", nil), ("", nil), ("2027-13-01", nil),
        ] as [(String, Int64?)])
    func times(text: String, seconds: Int64?) {
        let now = WallInstant(secondsSinceEpoch: 1_795_000_000)
        #expect(
            KeysPlace.expiry(text, from: now)?.milliseconds(since: now) == seconds.map { $0 * 1000 }
        )
    }
}
