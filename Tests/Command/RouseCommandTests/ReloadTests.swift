// SPDX-License-Identifier: Apache-2.0

import APNsSimulator
import AdminAPI
import Foundation
import Testing

@Suite("SIGHUP", .timeLimit(.minutes(10)))
struct ReloadTests {
    private static func status(_ base: String, _ key: String) async throws -> String {
        try await Rouse.run(
            "/usr/bin/curl",
            [
                "-sS", "-o", "/dev/null", "-w", "%{http_code}", "-H",
                "Authorization: Bearer \(key)",
                "\(base)/v1/apps",
            ]
        ).out
    }

    private static func page(
        _ base: String, _ path: String, _ key: String = ""
    ) async throws -> String {
        try await Rouse.run(
            "/usr/bin/curl", ["-sS", "-H", "Authorization: Bearer \(key)", base + path]
        ).out
    }

    /// Asks until the answer is the one that is waited for: a reload tells its end in the log only.
    private static func wait(
        for status: String, _ base: String, _ key: String
    ) async throws -> Bool {
        for _ in 0..<600 {
            if try await Self.status(base, key) == status { return true }
            try await Task.sleep(for: .milliseconds(50))
        }
        return false
    }

    private static func makeKey(_ path: String, _ name: String) async throws -> String {
        let made = try await Rouse.run(["keys", "create", "--config", path, "--name", name])
        #expect(made.status == 0, "\(made.all)")
        return made.out.trimmingCharacters(in: .newlines)
    }

    @Test("takes keys of the configuration; those of the keys file need none; a bad file says so")
    func keys() async throws {
        try await RunningSimulator.with { simulator in
            let yaml = """
                listen: 127.0.0.1:0
                store: wakes.sqlite
                apps:
                  - bundle-id: \(RunningSimulator.bundleID)
                    environment: sandbox
                    team-id: \(RunningSimulator.teamID)
                    key-file: AuthKey_\(RunningSimulator.keyID).p8
                    server: { host: 127.0.0.1, port: \(simulator.simulator.port), ca-file: ca.pem }
                """
            let path = try simulator.folder.write(yaml, to: "rouse.yaml")
            let first = try await Self.makeKey(path, "first")
            let gateway = try RunningRouse(["serve", "--config", path])
            let lines = try await gateway.lines { $0.hasPrefix("Ready") }
            let address = try #require(lines.last?.firstMatch(of: /127\.0\.0\.1:\d+/)?.output)
            let base = "http://\(address)"
            #expect(try await Self.status(base, first) == "200")

            let second = try await Self.makeKey(path, "second")
            #expect(try await Self.status(base, second) == "200", "with its first request")

            try simulator.folder.write(yaml + "\nbugdet: {}\n", to: "rouse.yaml")
            let revoked = try await Rouse.run(
                [
                    "keys", "revoke", "--keys-file", simulator.folder.path + "/keys.json", "--name",
                    "first",
                ])
            #expect(revoked.status == 0, "\(revoked.all)")
            #expect(try await Self.wait(for: "401", base, first), "without a signal")
            gateway.signal(SIGHUP)
            for _ in 0..<600 where !gateway.error.contains("the old one stays") {
                try await Task.sleep(for: .milliseconds(50))
            }
            #expect(gateway.error.contains("Did you mean budget?"), "\(gateway.error)")
            #expect(try await Self.status(base, first) == "401")
            #expect(try await Self.status(base, second) == "200")
            #expect(try await Self.page(base, "/readyz").contains("The reload at "))
            #expect(
                try await Self.page(base, "/metrics", second)
                    .contains("rouse_config_reload_failed 1"))

            // Keys of the configuration come and go with SIGHUP.
            let third = KeySecret((7, 7, 7, 7))
            let named = "\napi-keys: [{ name: third, sha256: \(third.sha256) }]\n"
            try simulator.folder.write(yaml + named, to: "rouse.yaml")
            #expect(try await Self.status(base, third.text) == "401")
            gateway.signal(SIGHUP)
            #expect(try await Self.wait(for: "200", base, third.text))
            #expect(try await Self.status(base, second) == "200")
            #expect(try await Self.page(base, "/readyz").contains("\"warnings\":[]"))
            #expect(gateway.error.contains("configuration reloaded"))
            #expect(gateway.error.contains("configuration reload refused"))
            #expect(gateway.error.contains("api key removed"))
            #expect(!gateway.error.contains(first))
            #expect(try await gateway.end(SIGTERM) == 0)
        }
    }
}
