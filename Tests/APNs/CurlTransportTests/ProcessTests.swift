// SPDX-License-Identifier: Apache-2.0

import APNsSimulator
import CNghttp2ResetGuard
import CurlTransport
import Foundation
import PushTransport
import Testing
import TransportTestKit
import WaitKit
import WakeModel

extension ServerTests {
    /// What only a process of its own can show: see `TransportFixture`.
    @Suite("A client process", .timeLimit(.minutes(10)), .serialized)
    struct ProcessTests {
        struct Report {
            let status: Int32
            let text: String

            subscript(name: String) -> Int? {
                for line in text.split(separator: "\n") {
                    let words = line.split(separator: " ")
                    if words.count == 2, words[0] == name { return Int(words[1]) }
                }
                return nil
            }
        }

        private func run(
            _ scenario: String, port: Int, authority: String, _ values: [String],
            in directory: TemporaryDirectory
        ) async throws -> Report {
            let result = try await ChildProcess.run(
                ChildProcess.built("TransportFixture"),
                [
                    scenario, "127.0.0.1", "\(port)", authority,
                    "authorization=" + TestPush.authorization,
                ] + values, in: directory)
            return Report(status: result.status, text: result.text)
        }

        /// Runs the fixture against a simulator that asks for no provider token.
        private func runAgainstSimulator(
            _ scenario: String, _ values: [String],
            _ configure: (inout APNsSimulator.Configuration) -> Void = { _ in },
            prepare: (APNsSimulator) -> Void = { _ in },
            check: (Report, APNsSimulator) throws -> Void
        ) async throws {
            let directory = try TemporaryDirectory()
            var configuration = APNsSimulator.Configuration()
            configuration.log = .last(30_000)
            configure(&configuration)
            let simulator = try await APNsSimulator.start(configuration)
            prepare(simulator)
            let authority = try directory.write(simulator.certificateAuthorityPEM, to: "ca.pem")
            let report = try await run(
                scenario, port: simulator.port, authority: authority, values, in: directory)
            try check(report, simulator)
            try await simulator.shutdown()
        }

        @Test(
            "without guard and rationing, libcurl 7.88.0 and 7.88.1 reset streams that ended well")
        func faultOnTheWire() async throws {
            let library = try CurlLibrary.loaded()
            try await runAgainstSimulator("send", ["count=300", "ration=0"]) { report, simulator in
                #expect(report.status == 0, "\(report.text)")
                #expect(report["hasResetGuard"] == 0)
                #expect(report["status-200"] == 300)
                let resets = simulator.counters.resetsReceived[.streamClosed] ?? 0
                if library.resetsFinishedStreams {
                    #expect(resets > 250)
                } else {
                    #expect(resets == 0)
                }
            }
        }

        @Test(
            "with rationing all are accepted, and none comes twice, by a server that counts resets")
        func rationing() async throws {
            try await runAgainstSimulator(
                "send", ["count=4000", "connections=2"],
                { $0.resetLimit = .likeNghttp2 }
            ) { report, simulator in
                #expect(report.status == 0, "\(report.text)")
                #expect(report["status-200"] == 4000, "\(report.text)")
                #expect(simulator.counters.goAwaysSent == 0)
                #expect(simulator.counters.completeRequests == 4000)
                let ids = simulator.receivedPushes.compactMap { $0["apns-id"] }
                #expect(ids.count == 4000 && Set(ids).count == 4000)
                if try CurlLibrary.loaded().resetsFinishedStreams {
                    #expect((report["connections"] ?? 0) >= 5)
                }
            }
        }

        @Test("the same against nghttpd", .enabled(if: Nghttpd.isInstalled))
        func rationingNghttpd() async throws {
            let server = try await Nghttpd()
            defer { server.end() }
            let report = try await run(
                "send", port: server.port, authority: server.certificate.certificatePath,
                ["count=4000", "connections=1"], in: server.directory)
            #expect(report.status == 0, "\(report.text)")
            #expect(report["status-200"] == 4000, "\(report.text)")
        }

        @Test("with the guard one connection carries thousands", .enabled(if: Nghttpd.isInstalled))
        func guarded() async throws {
            let server = try await Nghttpd()
            defer { server.end() }
            var reach = TransportConfiguration(host: "127.0.0.1")
            reach.port = server.port
            reach.trust = .file(path: server.certificate.certificatePath)
            reach.proxy = .none
            reach.maximumConnections = 1
            let inbox = Inbox()
            let transport = try CurlTransport(reach, sink: inbox.sink)
            let before = CNghttp2ResetGuard_droppedResets()
            transport.submit(
                (1...4000).map { id in
                    TransportRequest(
                        id: UInt64(id), request: TestPush.request(0), timeout: .seconds(30))
                })
            await inbox.waitForCount(4000)
            #expect(inbox.count(status: 200) == 4000, "\(inbox.failures)")
            #expect(transport.gauges.connectionsOpened == 1)
            if transport.library.resetsFinishedStreams {
                #expect(CNghttp2ResetGuard_droppedResets() - before > 3000)
            }
            await transport.shutDown(gracePeriod: .zero)
        }

        @Test(
            "a server that is killed under load costs neither the process nor an answer",
            .enabled(if: Nghttpd.isInstalled))
        func killedServer() async throws {
            let server = try await Nghttpd()
            // It ends while the client writes: without care that is a SIGPIPE.
            let kill = Task {
                try await elapse(.milliseconds(700))
                server.end()
            }
            let report = try await run(
                "stress", port: server.port, authority: server.certificate.certificatePath,
                ["count=9000", "seed=11", "timeout=1000"], in: server.directory)
            try await kill.value
            #expect(report.status == 0, "\(report.status) \(report.text)")
        }

        @Test("under stress each is answered once, and all is given back", arguments: [1, 2, 3])
        func stress(seed: Int) async throws {
            try await runAgainstSimulator(
                "stress", ["count=6000", "connections=3", "seed=\(seed)"],
                prepare: { simulator in
                    simulator.inject(Fault(.closeConnection, for: .share(0.001)))
                    simulator.inject(Fault(.resetStream(.refusedStream), for: .share(0.002)))
                    simulator.inject(Fault(.resetStream(.internalError), for: .share(0.01)))
                }
            ) { report, simulator in
                #expect(report.status == 0, "seed \(seed): \(report.text)")
                // A refused stream was not processed (RFC 9113 §8.7): that push may come again.
                let ids = simulator.receivedPushes
                    .filter { $0.fault != .resetStream(.refusedStream) }
                    .compactMap { $0["apns-id"] }
                #expect(ids.count == Set(ids).count, "seed \(seed)")
            }
        }

        @Test("idle costs nothing, and neither does a queue that waits")
        func idle() async throws {
            let directory = try TemporaryDirectory()
            let simulator = try await APNsSimulator.start()
            simulator.inject(Fault(.delay(milliseconds: 0), count: 1))
            simulator.inject(Fault(.neverAnswer))
            let authority = try directory.write(simulator.certificateAuthorityPEM, to: "ca.pem")
            let report = try await run(
                "idle", port: simulator.port, authority: authority, ["queue=1"], in: directory)
            #expect(report.status == 0)
            // Of two seconds, less than one per cent.
            #expect((report["idleMicroseconds"] ?? .max) < 20_000, "\(report.text)")
            #expect((report["waitingMicroseconds"] ?? .max) < 20_000, "\(report.text)")
            #expect(report["queued"] == 9)
            #expect(report["inFlight"] == 1)
            try await simulator.shutdown()
        }

        @Test("no wake-up is lost")
        func wakeUps() async throws {
            try await runAgainstSimulator("hammer", ["count=6000", "threads=3"]) { report, _ in
                #expect(report.status == 0, "\(report.text)")
                // A lost one would cost the loop's longest wait.
                #expect((report["worstMilliseconds"] ?? .max) < 900, "\(report.text)")
            }
        }
    }
}
