// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsSimulator
import Foundation
import Testing

@Suite("rouse apns-simulator", .timeLimit(.minutes(10)))
struct SimulatorTests {
    @Test("prints a ready line, a command that works when pasted, and ends with 0 on SIGTERM")
    func pasted() async throws {
        let folder = try TestFolder()
        let simulator = try RunningRouse(["apns-simulator", "--folder", folder.path])
        let lines = try await simulator.lines { $0.hasPrefix("Ready") }
        let command = try #require(lines.first { $0.hasPrefix("Try") })
        let directory = URL(filePath: Rouse.path).deletingLastPathComponent().path
        let result = try await Rouse.run(
            "/bin/sh", ["-c", String(command.dropFirst(3))],
            environment: ["PATH": "\(directory):/usr/bin:/bin"])
        #expect(result.status == 0, "\(result.all)")
        #expect(result.out.contains("200: accepted"))
        #expect(try await simulator.end(SIGTERM) == 0)
        #expect(FileManager.default.fileExists(atPath: folder.path + "/ca.pem"))
    }

    @Test("tells the same as JSON, serves its control endpoint, and cleans up after itself")
    func json() async throws {
        let simulator = try RunningRouse(
            ["apns-simulator", "--json", "--control-port", "0", "--production"])
        let lines = try await simulator.lines { _ in true }
        let ready = try #require(
            try JSONSerialization.jsonObject(with: Data(lines[0].utf8)) as? [String: Any])
        #expect(ready["environment"] as? String == "production")
        let keyPath = try #require(ready["key_path"] as? String)
        let mode = try FileManager.default.attributesOfItem(atPath: keyPath)[.posixPermissions]
        #expect(mode as? Int == 0o600)
        let control = try #require(ready["control_port"] as? Int)
        let pushes = try await Rouse.run(
            "/usr/bin/curl", ["-sS", "http://127.0.0.1:\(control)/pushes"])
        #expect(pushes.out == "[]", "\(pushes.all)")
        #expect(try await simulator.end(SIGINT) == 0)
        #expect(!FileManager.default.fileExists(atPath: keyPath))
    }

    @Test("with a device model, the control endpoint tells what became of a push")
    func deviceModel() async throws {
        let folder = try TestFolder()
        let simulator = try RunningRouse([
            "apns-simulator", "--folder", folder.path, "--control-port", "0", "--device-model",
            "commuter", "--seed", "7", "--receipts", "http://127.0.0.1:9",
        ])
        let lines = try await simulator.lines { $0.hasPrefix("Ready") }
        #expect(lines.contains { $0.hasPrefix("Devices") && $0.hasSuffix(" commuter, seed 7") })
        #expect(lines.contains { $0.hasPrefix("Receipts") && $0.hasSuffix(" http://127.0.0.1:9") })
        let command = try #require(lines.first { $0.hasPrefix("Try") })
        let directory = URL(filePath: Rouse.path).deletingLastPathComponent().path
        let push = try await Rouse.run(
            "/bin/sh", ["-c", String(command.dropFirst(3))],
            environment: ["PATH": "\(directory):/usr/bin:/bin"])
        #expect(push.status == 0, "\(push.all)")
        let token = try #require(command.split(separator: " ").last)
        let control = try #require(lines.first { $0.hasPrefix("Control") })
        let address = try #require(control.split(separator: " ").last)
            .replacing("/pushes", with: "")
        let fates = try await Rouse.run(
            "/usr/bin/curl", ["-sS", "\(address)/devices/\(token)/pushes"])
        let pushes = try #require(
            try JSONSerialization.jsonObject(with: Data(fates.out.utf8)) as? [[String: Any]])
        #expect(pushes.map { $0["content"] as? String } == ["background"])
        #expect(pushes.first?["fate"] is String)
        #expect(try await simulator.end(SIGTERM) == 0)
    }

    /// The status of a push to a simulator, signed with this key under these ids.
    private func push(
        _ folder: TestFolder, port: Substring, key: String, keyID: String, team: String
    ) async throws -> String {
        let result = try await Rouse.run([
            "push", "--host", "127.0.0.1", "--port", String(port), "--ca",
            folder.path + "/ca.pem", "--key", key, "--key-id", keyID, "--team-id", team,
            "--bundle-id", "com.example.app", "0123456789abcdef",
        ])
        return result.status == 0 ? "200" : result.all
    }

    @Test(
        "with a folder or a named key only the known keys are taken, unless all are asked for",
        arguments: [
            ([], true), (["--no-strict-authentication"], false),
            (["--provider-key", "NAMED"], true),
        ])
    func strictAuthentication(options: [String], isStrict: Bool) async throws {
        let folder = try TestFolder()
        let path = try folder.write(
            SigningKey.generate().privateKeyPEM, to: "AuthKey_ABCDE12345.p8")
        let simulator = try RunningRouse(
            ["apns-simulator", "--folder", folder.path]
                + options.map { $0 == "NAMED" ? "TEAM123456:\(path)" : $0 })
        let lines = try await simulator.lines { $0.hasPrefix("Ready") }
        let port = try #require(lines.last?.firstMatch(of: /127\.0\.0\.1:(\d+)/)?.output.1)
        let own = folder.path + "/AuthKey_LOCALKEY01.p8"
        #expect(
            try await push(folder, port: port, key: own, keyID: "LOCALKEY01", team: "LOCALTEAM1")
                == "200")
        let isNamed = options.contains("NAMED")
        let named = try await push(
            folder, port: port, key: path, keyID: "ABCDE12345", team: "TEAM123456")
        #expect((named == "200") == (isNamed || !isStrict), "\(named)")
        for (key, keyID, team) in [
            (path, "LOCALKEY01", "LOCALTEAM1"), (own, "OTHERKEY01", "LOCALTEAM1"),
            (own, "LOCALKEY01", "OTHERTEAM1"),
        ] {
            let result = try await push(folder, port: port, key: key, keyID: keyID, team: team)
            #expect(
                isStrict ? result.contains("InvalidProviderToken") : result == "200", "\(result)")
        }
        let tokens = try #require(lines.first { $0.hasPrefix("Tokens") })
        #expect(tokens.contains(isStrict ? "only of LOCALKEY01" : "any well-formed"))
        #expect(tokens.contains("ABCDE12345 (TEAM123456)") == isNamed)
        #expect(try await simulator.end(SIGTERM) == 0)
    }

    @Test("started bare it takes any token, and its own key alone when asked to be strict")
    func bare() async throws {
        for (options, count) in [([], 0), (["--strict-authentication"], 1)] {
            let simulator = try RunningRouse(["apns-simulator", "--json"] + options)
            let lines = try await simulator.lines { _ in true }
            let ready = try #require(
                try JSONSerialization.jsonObject(with: Data(lines[0].utf8)) as? [String: Any])
            #expect((ready["provider_keys"] as? [Any])?.count == count)
            #expect(try await simulator.end(SIGTERM) == 0)
        }
    }

    @Test("a provider key that cannot be used is told at once")
    func providerKeyErrors() async throws {
        let folder = try TestFolder()
        let noKey = try folder.write("nothing", to: "AuthKey_ABCDE12345.p8")
        for (key, status, options) in [
            ("TEAM123456:\(folder.path)/AuthKey_MISSING123.p8", 66, []),
            ("TEAM123456:\(noKey)", 65, []),
            ("TEAM123456:key.p8", 64, []), ("TEAM:\(noKey)", 64, []), (noKey, 64, []),
            ("TEAM123456:\(noKey)", 64, ["--no-strict-authentication"]),
        ] as [(String, Int32, [String])] {
            let result = try await Rouse.run(["apns-simulator", "--provider-key", key] + options)
            #expect(result.status == status, "\(key): \(result.all)")
        }
    }

    @Test("a port in use ends with 69")
    func portInUse() async throws {
        try await RunningSimulator.with { simulator in
            let result = try await Rouse.run(
                ["apns-simulator", "--port", "\(simulator.simulator.port)"])
            #expect(result.status == 69, "\(result.all)")
        }
    }
}
