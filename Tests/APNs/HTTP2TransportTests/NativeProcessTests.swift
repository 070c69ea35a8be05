// SPDX-License-Identifier: Apache-2.0

import APNsSimulator
import PushTransport
import Testing
import TransportTestKit
import WaitKit

extension ServerTests {
    /// What only a process of its own can show: see `TransportFixture`.
    @Suite("A native client process", .timeLimit(.minutes(10)), .enabled(if: Nghttpd.isInstalled))
    struct NativeProcessTests {
        private func run(
            _ scenario: String, on server: Nghttpd, _ values: [String]
        ) async throws -> (status: Int32, text: String) {
            try await ChildProcess.run(
                ChildProcess.built("TransportFixture"),
                [
                    scenario, "127.0.0.1", "\(server.port)", server.certificate.certificatePath,
                    "authorization=" + TestPush.authorization, "native=1",
                ] + values, in: server.directory)
        }

        @Test("one connection carries thousands to nghttpd, and all is given back")
        func send() async throws {
            let server = try await Nghttpd()
            defer { server.end() }
            let report = try await run("send", on: server, ["count=20000", "window=1000"])
            #expect(report.status == 0, "\(report.text)")
            #expect(report.text.contains("status-200 20000"), "\(report.text)")
            #expect(report.text.contains("connections 1\n"), "\(report.text)")
        }

        @Test("under stress each is answered once, and all is given back", arguments: 1...3)
        func stress(seed: Int) async throws {
            let server = try await Nghttpd()
            defer { server.end() }
            let report = try await run(
                "stress", on: server, ["count=9000", "threads=3", "connections=3", "seed=\(seed)"])
            #expect(report.status == 0, "seed \(seed): \(report.text)")
        }

        @Test("a server that is killed under load costs neither the process nor an answer")
        func killedServer() async throws {
            let server = try await Nghttpd()
            async let report = run(
                "stress", on: server, ["count=30000", "seed=11", "timeout=1000", "connections=3"])
            try await elapse(.milliseconds(500))
            server.end()
            let (status, text) = try await report
            #expect(status == 0, "\(status) \(text)")
        }

        @Test("idle costs nothing, and no wake-up is lost")
        func idleAndHammer() async throws {
            let server = try await Nghttpd()
            defer { server.end() }
            let idle = try await run("idle", on: server, [])
            let microseconds = idle.text.split(separator: " ").last.flatMap { word in
                Int(word.filter(\.isNumber))
            }
            // Of two seconds, less than one per cent.
            #expect((microseconds ?? .max) < 20_000, "\(idle.text)")
            let hammer = try await run("hammer", on: server, ["count=3000", "threads=3"])
            #expect(hammer.status == 0, "\(hammer.text)")
        }
    }
}
