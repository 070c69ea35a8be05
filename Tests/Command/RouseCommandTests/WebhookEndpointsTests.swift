// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTestKit
import Testing

/// The whole way of webhooks: a gateway, its configuration, and receivers on real sockets.
@Suite("Several webhook endpoints", .timeLimit(.minutes(10)))
struct WebhookEndpointsTests {
    private static let noContent =
        "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

    /// Waits for a condition that another process brings about.
    private static func wait(_ condition: () async throws -> Bool) async throws -> Bool {
        for _ in 0..<600 {
            if try await condition() { return true }
            try await Task.sleep(for: .milliseconds(50))
        }
        return false
    }

    private static func metrics(_ base: String) async throws -> String {
        try await Rouse.run(
            "/usr/bin/curl",
            ["-sS", "-H", "Authorization: Bearer \(ServeTests.secret)", "\(base)/metrics"]
        ).out
    }

    @Test("--paused posts none, not even old ones; the next start without it does")
    func paused() async throws {
        let receiver = try OneShotServer(Self.noContent)
        defer { receiver.stop() }
        try await RunningSimulator.with { simulator in
            let path = try await ServeTests.keyedConfiguration(simulator)
            try simulator.folder.write("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", to: "hook")
            let text = try String(contentsOfFile: path, encoding: .utf8)
            let webhooks =
                "webhooks: [{ url: \"http://127.0.0.1:\(receiver.port)/\", secret-file: hook }]"
            try [webhooks, text].joined(separator: "\n")
                .write(toFile: path, atomically: true, encoding: .utf8)
            // The pause itself is told, and so waits; the second run finds it when it starts.
            for _ in 1...2 {
                let (gateway, base) = try await ServeTests.start(["--config", path, "--paused"])
                let ready = try await ServeTests.curl(["\(base)/readyz"])
                let warnings = try #require(ready["warnings"] as? [String])
                #expect(warnings.contains { $0.hasPrefix("No webhook is posted until") })
                let id = try await ServeTests.wake(base)
                _ = try await Rouse.run(
                    ["wake", id, "--cancel", "--gateway", base],
                    environment: ["ROUSE_API_KEY": ServeTests.secret])
                #expect(try await gateway.end(SIGTERM) == 0)
                #expect(gateway.error.contains("no webhook is posted until"))
            }
            #expect(receiver.received.isEmpty)
            let (gateway, _) = try await ServeTests.start(["--config", path])
            let hasArrived = try await Self.wait {
                let text = receiver.received.joined()
                return text.contains("app-held") && text.contains("cancelled")
            }
            #expect(hasArrived, "\(gateway.error)")
            #expect(try await gateway.end(SIGTERM) == 0)
        }
    }

    @Test("one that is not there and one that never answers hold up nobody else")
    func independence() async throws {
        let fine = try OneShotServer(Self.noContent)
        let silent = try OneShotServer(nil)
        // Nobody listens on the first of all ports.
        let ports = [1, silent.port, fine.port]
        defer { fine.stop() }
        try await RunningSimulator.with { simulator in
            let path = try await ServeTests.keyedConfiguration(simulator)
            try simulator.folder.write("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", to: "hook")
            let text = try String(contentsOfFile: path, encoding: .utf8)
            let webhooks = ports.map {
                "  - { url: \"http://127.0.0.1:\($0)/?key=hidden\", secret-file: hook, "
                    + "apps: [\(RunningSimulator.bundleID)] }"
            }
            try (["webhooks:"] + webhooks + [text]).joined(separator: "\n")
                .write(toFile: path, atomically: true, encoding: .utf8)
            let (gateway, base) = try await ServeTests.start(["--config", path])
            for number in 1...3 {
                let id = try await ServeTests.wake(base, device: number)
                let hasArrived = try await Self.wait {
                    fine.received.contains { $0.contains(id) }
                }
                #expect(hasArrived, "\(gateway.error)")
            }
            #expect(fine.received.allSatisfy { $0.contains("webhook-signature: v1,") })
            let page = try await Self.metrics(base)
            let label = "endpoint=\"127.0.0.1:\(fine.port)\""
            #expect(
                page.contains("rouse_webhook_deliveries_total{\(label),result=\"delivered\"} 3"),
                "\(page)")
            #expect(!page.contains("hidden"))
            let isTold = try await Self.wait { gateway.error.contains("webhooks were not taken") }
            #expect(isTold, "\(gateway.error)")

            // Taken out, they cost nothing any more, and what waited for them goes.
            try (["webhooks:", webhooks[2]] + [text]).joined(separator: "\n")
                .write(toFile: path, atomically: true, encoding: .utf8)
            gateway.signal(SIGHUP)
            let isReread = try await Self.wait { gateway.error.contains("was read again") }
            #expect(isReread, "\(gateway.error)")
            let id = try await ServeTests.wake(base, device: 4)
            #expect(try await Self.wait { fine.received.contains { $0.contains(id) } })
            // Whoever waits for an answer is waited for.
            silent.stop()
            #expect(try await gateway.end(SIGTERM) == 0)
            #expect(!gateway.error.contains("hidden"))
        }
    }
}
