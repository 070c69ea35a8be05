// SPDX-License-Identifier: Apache-2.0

import Foundation
import PostgreSQLTestKit
import Testing

/// What the commands say of a store that gateways share.
@Suite("Commands on a shared store", .timeLimit(.minutes(10)))
struct SharedStoreCommandTests {
    /// A configuration whose store is a database of this server.
    private static func configure(
        _ simulator: RunningSimulator, _ server: PostgreSQLServer, _ more: String = ""
    ) async throws -> String {
        let path = try await ServeTests.keyedConfiguration(simulator)
        let store = server.uri(try server.makeDatabase()).replacing(/:[^:@]*@/, with: "@")
        _ = try simulator.folder.write(PostgreSQLServer.password, to: "database-password")
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try text.replacing(/store: .*/, with: "store: \(store)")
            .replacing(
                "listen:", with: "\(more)store-password-file: database-password\nlisten:"
            )
            .write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    private static func words(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    @Test("status, stats, metrics and the dashboard's figures name the gateways that share it")
    func status() async throws {
        try await RunningSimulator.with { simulator in
            let server = try PostgreSQLServer.running()
            let path = try await Self.configure(simulator, server)
            #expect(try await Rouse.run(["store", "migrate", "--config", path]).status == 0)
            let (first, base) = try await ServeTests.start(["--config", path])
            let (second, otherBase) = try await ServeTests.start(["--config", path])
            _ = try await ServeTests.wake(base)

            let environment = ["ROUSE_API_KEY": ServeTests.secret, "ROUSE_GATEWAY": base]
            var told = ""
            for _ in 0..<100 where !told.contains("shared by 2 gateways") {
                told = try await Rouse.run(["status", "--once"], environment: environment).all
                if !told.contains("shared by 2") { try await Task.sleep(for: .milliseconds(200)) }
            }
            #expect(told.contains("PostgreSQL 15") && told.contains("shared by 2 gateways"))
            #expect(told.contains("(this one)"))
            let json = try await Rouse.run(["status", "--json"], environment: environment).json()
            let store = try #require(json["store"] as? [String: Any])
            #expect((store["gateways"] as? [[String: Any]])?.count == 2)

            let stats = try await ServeTests.curl(["\(otherBase)/v1/stats"])
            let members = (stats["store"] as? [String: Any])?["gateways"] as? [[String: Any]]
            #expect(members?.first?["this"] as? Bool == true && members?.count == 2)
            // The gateway takes these figures over now and then.
            let admissions = "rouse_store_round_trips_total{verb=\"admit-wakes\"}"
            var metrics = ""
            for _ in 0..<100 where !metrics.contains(admissions) {
                metrics = try await Rouse.run(
                    "/usr/bin/curl",
                    [
                        "-sS", "-H", "Authorization: Bearer \(ServeTests.secret)",
                        "\(base)/metrics",
                    ]
                ).out
                if !metrics.contains(admissions) { try await Task.sleep(for: .milliseconds(200)) }
            }
            #expect(metrics.contains("rouse_store_gateways 2"))
            #expect(metrics.contains("# TYPE rouse_store_round_trips_total counter"))
            #expect(metrics.contains(admissions))
            #expect(try await second.end(SIGTERM) == 0)
            #expect(try await first.end(SIGTERM) == 0)
        }
    }

    @Test("a database that may lose commits is refused, unless the configuration accepts that")
    func acceptedLoss() async throws {
        try await RunningSimulator.with { simulator in
            let server = try PostgreSQLServer(["fsync": "off"])
            let path = try await Self.configure(simulator, server)
            #expect(try await Rouse.run(["store", "migrate", "--config", path]).status == 0)
            let refused = try await Rouse.run(["serve", "--config", path])
            #expect(refused.status != 0)
            #expect(Self.words(refused.all).contains("store-accepts-loss: true"))
            let wrong = try await Rouse.run(["doctor", "--offline", "--config", path])
            #expect(wrong.status != 0)
            #expect(Self.words(wrong.out).contains("Or accept the loss"), "\(wrong.out)")

            // The other setting means the disk of a file, and nothing here.
            let text = try String(contentsOfFile: path, encoding: .utf8)
            try ("store-durability: system\n" + text)
                .write(toFile: path, atomically: true, encoding: .utf8)
            #expect(try await Rouse.run(["serve", "--config", path]).status != 0)

            try ("store-accepts-loss: true\n" + text)
                .write(toFile: path, atomically: true, encoding: .utf8)
            let accepted = try await Rouse.run(["doctor", "--offline", "--config", path])
            #expect(Self.words(accepted.out).contains("fsync is off"), "\(accepted.out)")
            #expect(!Self.words(accepted.out).contains("Or accept the loss"))
            let (gateway, _) = try await ServeTests.start(["--config", path])
            #expect(try await gateway.end(SIGTERM) == 0)
        }
    }

    @Test("readiness says why the database is not to be had, without its address")
    func readiness() async throws {
        try await RunningSimulator.with { simulator in
            let server = try PostgreSQLServer()
            let path = try await Self.configure(simulator, server)
            #expect(try await Rouse.run(["store", "migrate", "--config", path]).status == 0)
            let (gateway, base) = try await ServeTests.start(["--config", path])
            server.stop(.immediate)
            var reasons = ""
            for _ in 0..<300 where !reasons.contains("nothing listens") {
                _ = try? await ServeTests.askForWake(base)
                let answer = try await ServeTests.curl(["\(base)/readyz"])
                reasons = "\(answer["reasons"] ?? "")"
                if !reasons.contains("nothing listens") {
                    try await Task.sleep(for: .milliseconds(100))
                }
            }
            #expect(reasons.contains("nothing listens"), "\(reasons)")
            #expect(!reasons.contains("\(server.port)") && !reasons.contains("127.0.0.1"))
            try server.start()
            // A gateway that is told to end before it has its database back says so with its code.
            var isReady = false
            for _ in 0..<300 where !isReady {
                _ = try? await ServeTests.askForWake(base)
                let answer = try await ServeTests.curl(["\(base)/readyz"])
                isReady = answer["status"] as? String == "ready"
                if !isReady { try await Task.sleep(for: .milliseconds(100)) }
            }
            #expect(isReady)
            #expect(try await gateway.end(SIGTERM) == 0)
        }
    }
}
