// SPDX-License-Identifier: Apache-2.0

import APNsSimulator
import Foundation
import Synchronization
import Testing

@Suite("A running gateway and its keys' file", .timeLimit(.minutes(10)))
struct KeysFileWatcherTests {
    /// A gateway with two apps on a simulator, its configuration, its address, and a log of audits.
    private static func serve(
        _ body: (RunningRouse, _ config: String, _ base: String, _ folder: String) async throws
            -> Void
    ) async throws {
        try await RunningSimulator.with { simulator in
            let app = """
                    environment: sandbox
                    team-id: \(RunningSimulator.teamID)
                    key-file: AuthKey_\(RunningSimulator.keyID).p8
                    server: { host: 127.0.0.1, port: \(simulator.simulator.port), ca-file: ca.pem }
                """
            let path = try simulator.folder.write(
                """
                listen: 127.0.0.1:0
                store: wakes.sqlite
                audit-file: audit.jsonl
                apps:
                  - bundle-id: com.example.app
                \(app)
                  - bundle-id: com.example.other
                \(app)
                """, to: "rouse.yaml")
            _ = try await key(path, "first")
            let (gateway, base) = try await ServeTests.start(["--config", path])
            try await body(gateway, path, base, simulator.folder.path)
            #expect(try await gateway.end(SIGTERM) == 0)
        }
    }

    private static func key(
        _ config: String, _ name: String, _ more: [String] = []
    ) async throws -> String {
        let made = try await Rouse.run(
            ["keys", "create", "--config", config, "--name", name] + more)
        try #require(made.status == 0, "\(made.all)")
        return made.out.trimmingCharacters(in: .newlines)
    }

    private static func curl(_ key: String, _ arguments: [String]) async throws -> Rouse.Finished {
        try await Rouse.run(
            "/usr/bin/curl",
            ["-sS", "-w", "\n%{http_code}", "-H", "Authorization: Bearer \(key)"] + arguments)
    }

    /// How long a gateway may take to refuse a revoked key: a second by the manual, and what a
    /// machine that is busy with other tests adds.
    private static let patience = Duration.seconds(10)

    @Test("A revoked key is refused without a signal, and its stream ends; a rotated one is not")
    func revoked() async throws {
        try await Self.serve { gateway, config, base, folder in
            let key = try await Self.key(config, "streamer", ["--scope", "read"])
            let stream = try RunningRouse(
                ["-sSN", "-H", "Authorization: Bearer \(key)", "\(base)/v1/events"],
                by: "/usr/bin/curl")
            _ = try await stream.lines { $0.hasPrefix("retry:") }
            let rotated = try await Rouse.run(
                ["keys", "rotate", "--config", config, "--name", "streamer"])
            let new = rotated.out.trimmingCharacters(in: .newlines)
            for secret in [key, new] {
                let answer = try await Self.curl(secret, ["\(base)/v1/apps"])
                #expect(answer.out.hasSuffix("\n200"), "\(answer.all)")
            }
            let start = ContinuousClock.now
            let revoked = try await Rouse.run(
                ["keys", "revoke", "--config", config, "--name", "streamer", "--old"])
            #expect(revoked.status == 0, "\(revoked.all)")
            // Signal 0 is none: curl ends because the stream does.
            #expect(try await stream.end(0) == 0)
            #expect(start.duration(to: .now) < Self.patience)
            let old = try await Self.curl(key, ["\(base)/v1/apps"])
            #expect(old.out.hasSuffix("\n401"), "\(old.all)")
            let answer = try await Self.curl(new, ["\(base)/v1/apps"])
            #expect(answer.out.hasSuffix("\n200"), "\(answer.all)")

            let audit = try String(contentsOfFile: folder + "/audit.jsonl", encoding: .utf8)
            for change in ["api key created", "api key rotated", "api key added"] {
                #expect(audit.contains(change), "\(audit)")
            }
            #expect(!gateway.error.contains(key) && !audit.contains(key) && !audit.contains(new))
        }
    }

    @Test("A key for one app sees that app; the last use of each secret is listed")
    func apps() async throws {
        try await Self.serve { _, config, base, _ in
            let key = try await Self.key(config, "own", ["--apps", "com.example.app"])
            let apps = try await Self.curl(key, ["\(base)/v1/apps"])
            #expect(apps.out.contains("com.example.app"))
            #expect(!apps.out.contains("com.example.other"), "\(apps.out)")
            let wake =
                #"{"kind":"background","app":"com.example.other","device_token":"#
                + #""\#(RunningSimulator.device)","payload":{"aps":{"content-available":1}}}"#
            let refused = try await Self.curl(
                key, ["-d", wake, "-H", "Content-Type: application/json", "\(base)/v1/wakes"])
            #expect(refused.out.hasSuffix("\n403"), "\(refused.out)")
            #expect(refused.out.contains(#""field":"app""#), "\(refused.out)")
            var entry: [String: Any] = [:]
            let start = ContinuousClock.now
            while entry["last_used_at"] == nil, start.duration(to: .now) < Self.patience {
                let list = try await Rouse.run(["keys", "list", "--config", config, "--json"])
                let entries = try #require(try list.json()["keys"] as? [[String: Any]])
                entry = try #require(entries.first { $0["name"] as? String == "own" })
            }
            #expect(entry["last_used_at"] != nil, "\(entry)")
        }
    }

    @Test("Another gateway that stops while it records uses delays neither keys nor the end")
    func recordHeldUp() async throws {
        let held = Mutex<Int32>(-1)
        defer { close(held.withLock { $0 }) }
        try await Self.serve { _, config, base, folder in
            let revoked = try await Self.key(config, "revoked")
            let lock = open(folder + "/keys.json.used.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            // Until the gateway has ended.
            held.withLock { $0 = lock }
            try #require(lock >= 0 && flock(lock, LOCK_EX) == 0)
            #expect(try await Self.curl(revoked, ["\(base)/v1/apps"]).out.hasSuffix("\n200"))
            // It has tried to write that use by the time that it has seen a change of the file.
            _ = try await Rouse.run(["keys", "revoke", "--config", config, "--name", "revoked"])
            let start = ContinuousClock.now
            var answer = ""
            while !answer.hasSuffix("\n401"), start.duration(to: .now) < Self.patience {
                answer = try await Self.curl(revoked, ["\(base)/v1/apps"]).out
            }
            #expect(answer.hasSuffix("\n401"), "\(answer)")
            let new = try await Self.key(config, "new")
            #expect(try await Self.curl(new, ["\(base)/v1/apps"]).out.hasSuffix("\n200"))
        }
    }

    @Test("An expired key is refused, and its stream ends")
    func expired() async throws {
        try await Self.serve { _, config, base, _ in
            let key = try await Self.key(config, "brief", ["--scope", "read", "--expires", "5s"])
            let stream = try await Self.curl(key, ["-N", "-m", "60", "\(base)/v1/events"])
            #expect(stream.status == 0, "\(stream.all)")
            let answer = try await Self.curl(key, ["\(base)/v1/apps"])
            #expect(answer.out.hasSuffix("\n401"), "\(answer.all)")
            #expect(answer.out.contains("has expired at"), "\(answer.all)")
        }
    }

    @Test("A file that could not be read once is read again, though it has not changed since")
    func readAgain() async throws {
        try await Self.serve { gateway, config, base, folder in
            let key = try await Self.key(config, "ending")
            // The gateway has taken the key before its file is another one.
            #expect(try await Self.curl(key, ["\(base)/v1/apps"]).out.hasSuffix("\n200"))
            let path = folder + "/keys.json"
            // Comes into its place as a file that is refused for its mode.
            let spare = folder + "/spare.json"
            try FileManager.default.copyItem(atPath: path, toPath: spare)
            let revoked = try await Rouse.run(
                ["keys", "revoke", "--keys-file", spare, "--name", "ending"])
            #expect(revoked.status == 0, "\(revoked.all)")
            chmod(spare, 0o622)
            #expect(rename(spare, path) == 0)
            for _ in 0..<100 where !gateway.error.contains("reload of the keys file failed") {
                _ = try await Self.curl("rouse_unknown", ["\(base)/v1/apps"])
            }
            #expect(gateway.error.contains("reload of the keys file failed"), "\(gateway.error)")
            chmod(path, 0o600)
            let start = ContinuousClock.now
            var answer = ""
            while !answer.hasSuffix("\n401"), start.duration(to: .now) < Self.patience {
                answer = try await Self.curl(key, ["\(base)/v1/apps"]).out
            }
            #expect(answer.hasSuffix("\n401"), "\(answer)")
            let lines = gateway.error.split(separator: "reload of the keys file failed").count - 1
            #expect(lines == 1, "\(gateway.error)")
        }
    }

    @Test("A keys' file that is broken or gone leaves the keys as they are, and the log says so")
    func broken() async throws {
        try await Self.serve { gateway, config, base, folder in
            let key = try await Self.key(config, "lasting")
            // The gateway has taken the key before its file is another one.
            #expect(try await Self.curl(key, ["\(base)/v1/apps"]).out.hasSuffix("\n200"))
            let path = folder + "/keys.json"
            let good = try Data(contentsOf: URL(filePath: path))
            try Data("{".utf8).write(to: URL(filePath: path))
            chmod(path, 0o600)
            for _ in 0..<100 where !gateway.error.contains("reload of the keys file failed") {
                _ = try await Self.curl("rouse_unknown", ["\(base)/v1/apps"])
            }
            #expect(gateway.error.contains("is not a file of `rouse keys`"), "\(gateway.error)")
            try FileManager.default.removeItem(atPath: path)
            for _ in 0..<100 where !gateway.error.contains("is gone") {
                _ = try await Self.curl("rouse_unknown", ["\(base)/v1/apps"])
            }
            #expect(gateway.error.contains("the keys' file is gone"), "\(gateway.error)")
            #expect(try await Self.curl(key, ["\(base)/v1/apps"]).out.hasSuffix("\n200"))
            try good.write(to: URL(filePath: path))
            chmod(path, 0o600)
            #expect(try await Self.curl(key, ["\(base)/v1/apps"]).out.hasSuffix("\n200"))
        }
    }
    @Test("A keys' file that comes and goes while it is looked at takes no key away")
    func flickering() async throws {
        try await Self.serve { _, config, base, folder in
            let key = try await Self.key(config, "steady")
            #expect(try await Self.curl(key, ["\(base)/v1/apps"]).out.hasSuffix("\n200"))
            let path = folder + "/keys.json"
            let isOver = Flag()
            let flicker = Thread {
                while !isOver.isSet {
                    rename(path, path + ".away")
                    rename(path + ".away", path)
                }
            }
            flicker.start()
            // Each has the gateway look at the file.
            let requests = "\(base)/v1/apps?[1-2000]"
            _ = try await Self.curl("rouse_unknown", ["-o", "/dev/null", requests])
            isOver.set()
            let audit = try String(contentsOfFile: folder + "/audit.jsonl", encoding: .utf8)
            #expect(!audit.contains("api key removed"), "\(audit)")
        }
    }
}

/// Something that is set once.
private final class Flag: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .sequentiallyConsistent) }
    func set() { value.store(true, ordering: .sequentiallyConsistent) }
}
