// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsSimulator
import Foundation
import Testing
import WakeModel

@Suite("Secrets and colours")
struct SecrecyTests {
    @Test("no command shows the key, the provider token, the device token or the payload")
    func secrets() async throws {
        try await RunningSimulator.with { simulator in
            let payload = #"{"aps":{"content-available":1},"version":"topsecretvalue"}"#
            let commands: [[String]] = [
                ["push", "--payload", "-"] + simulator.all,
                ["push", "--payload", "-", "--json"] + simulator.all,
                ["probe"] + simulator.all,
                ["probe", "--json"] + simulator.all,
                ["doctor"] + simulator.credential + simulator.server,
                ["doctor", "--json"] + simulator.credential + simulator.server,
            ]
            // Accepted, refused, and unanswered.
            for fault in [nil, Fault.Kind.reject(.badDeviceToken), .closeConnection] {
                simulator.simulator.clearFaults()
                if let fault { simulator.simulator.inject(Fault(fault)) }
                for command in commands {
                    let result = try await Rouse.run(command, stdin: payload)
                    try Self.expectNoSecret(in: result.all, simulator)
                    #expect(!result.all.contains("topsecretvalue"))
                }
            }
            // What the server saw is what was looked for: the search can fail.
            let seen = try #require(
                simulator.simulator.receivedPushes.first?["authorization"])
            #expect(seen.hasPrefix("bearer ey"))
        }
    }

    @Test("a key given as text instead of a path is refused without being repeated")
    func keyAsArgument() async throws {
        try await RunningSimulator.with { simulator in
            let result = try await Rouse.run(
                ["push", "--key", simulator.key.privateKeyPEM, "--key-id", RunningSimulator.keyID]
                    + [
                        "--team-id", RunningSimulator.teamID, "--bundle-id",
                        RunningSimulator.bundleID,
                    ]
                    + simulator.server + [RunningSimulator.device])
            #expect(result.status == 64, "\(result.all)")
            try Self.expectNoSecret(in: result.all, simulator)
        }
    }

    @Test("a device token that does not parse is described, not quoted")
    func deviceToken() async throws {
        let result = try await Rouse.run(
            ["push", "--bundle-id", "com.example.app", RunningSimulator.device + "xyz"])
        #expect(result.status == 65)
        #expect(!result.all.contains(RunningSimulator.device))
    }

    @Test("colours are for terminals: not in pipes, not with NO_COLOR")
    func colours() async throws {
        let arguments = ["doctor", "--offline"]
        let escape = "\u{1b}["
        let piped = try await Rouse.run(arguments, environment: ["TERM": "xterm"])
        #expect(!piped.all.contains(escape))
        let terminal = try await Self.onTerminal(arguments, ["TERM": "xterm"])
        #expect(terminal.contains(escape))
        let plain = try await Self.onTerminal(arguments, ["TERM": "xterm", "NO_COLOR": "1"])
        #expect(!plain.contains(escape))
        #expect(plain.contains("libcurl"))
    }

    /// Runs `rouse` on a pseudo-terminal and returns what it wrote.
    private static func onTerminal(
        _ arguments: [String], _ environment: [String: String]
    ) async throws -> String {
        let command = ([Rouse.path] + arguments).joined(separator: " ")
        let result = try await Rouse.run(
            "/usr/bin/script", ["-q", "-e", "-c", command, "/dev/null"], environment: environment)
        return result.out
    }

    private static func expectNoSecret(in output: String, _ simulator: RunningSimulator) throws {
        let key = simulator.key.privateKeyPEM.split(separator: "\n")[1]
        #expect(!output.contains(key))
        #expect(!output.contains("PRIVATE KEY"))
        #expect(!output.contains("eyJ"), "a JWT's beginning: \(output)")
        #expect(!output.contains(RunningSimulator.device))
    }

    /// As a user without the rights of root, of whose processes the files in /proc are root's once
    /// they are not dumpable (proc(5)): so no other program of the same user reads their memory.
    @Test("no other program of the same user reads a command's memory")
    func memory() async throws {
        let folder = try TestFolder()
        let program = folder.path + "/rouse"
        try FileManager.default.copyItem(atPath: Rouse.path, toPath: program)
        chmod(folder.path, 0o755)
        let isRoot = geteuid() == 0
        let other = ["--reuid", "65534", "--regid", "65534", "--clear-groups", program]
        let gateway = try RunningRouse(
            (isRoot ? other : []) + ["serve", "--dev", "--listen", "127.0.0.1:0"],
            by: isRoot ? "/usr/bin/setpriv" : program,
            environment: ["TMPDIR": "/tmp"])
        _ = try await gateway.lines { $0.hasPrefix("Stop it") }
        func owner(_ name: String) throws -> Int {
            let path = "/proc/\(gateway.processID)/\(name)"
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            return try #require((attributes[.ownerAccountID] as? NSNumber)?.intValue)
        }
        #expect(try owner("environ") == 0)
        #expect(try owner("mem") == 0)
        #expect(try await gateway.end(SIGTERM) == 0)
    }

    @Test("no core file holds what a gateway held")
    func dumps() async throws {
        let gateway = try RunningRouse(["serve", "--dev", "--listen", "127.0.0.1:0"])
        _ = try await gateway.lines { $0.hasPrefix("Stop it") }
        let limits = try String(
            contentsOfFile: "/proc/\(gateway.processID)/limits", encoding: .utf8)
        let core = try #require(limits.split(separator: "\n").first { $0.contains("core file") })
        #expect(core.contains(/0 +0 +bytes/), "\(core)")
        #expect(try await gateway.end(SIGTERM) == 0)
    }
}
