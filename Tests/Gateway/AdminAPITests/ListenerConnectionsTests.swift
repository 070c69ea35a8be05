// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayTestKit
import Testing

@testable import AdminAPI

@Suite("Places of connections, over real sockets", .timeLimit(.minutes(10)))
struct ListenerConnectionsTests {
    /// A bench with few places, on which nothing is closed for being silent.
    private static func bench(connections: Int) throws -> APIBench {
        var bench = try APIBench()
        bench.configuration.connectionCount = connections
        bench.configuration.strangerSeconds = 600
        bench.configuration.idleSeconds = 600
        bench.configuration.eventPulseSeconds = 600
        return bench
    }

    private static func stream(_ bench: APIBench, _ port: Int) async throws -> OpenExchange {
        let stream = try OpenExchange(
            "GET /v1/events HTTP/1.1\r\nHost: localhost\r\n"
                + "Authorization: Bearer \(try #require(bench.keys[.read]).text)\r\n\r\n",
            port: port)
        try #require(await stream.read(until: "retry: ").contains("retry: "))
        return stream
    }

    @Test("Silent connections, and heads that do not end, keep nobody out")
    func silence() async throws {
        let bench = try Self.bench(connections: 8)
        try await bench.serve { caller in
            let silent = try (0..<40).map {
                try OpenExchange(
                    $0.isMultiple(of: 2) ? "" : "GET /healthz HTTP/1.1\r\nHost:", port: caller.port)
            }
            // Those that are still being accepted come behind a request, and may take its place
            // before it has shown a key.
            for path in ["/healthz", "/v1/stats"] {
                var status = 0
                for _ in 0..<100 where status != 200 {
                    status = try await caller.send("GET", path).status
                }
                #expect(status == 200, "\(path)")
            }
            withExtendedLifetime(silent) {}
        }
    }

    @Test("With every place in use by callers with keys, health and metrics are answered still")
    func reserve() async throws {
        let bench = try Self.bench(connections: 8)
        try await bench.serve { caller in
            // Seven eighths, which is what one peer may have.
            var streams: [OpenExchange] = []
            for _ in 0..<7 { streams.append(try await Self.stream(bench, caller.port)) }
            for path in ["/healthz", "/readyz", "/metrics"] {
                let health = try await caller.send("GET", path, as: .read)
                #expect(health.status == 200, "\(path): \(health.head)")
                #expect(health.head.lowercased().contains("connection: close"))
            }
            let stats = try await caller.send("GET", "/v1/stats")
            try expectProblem(stats, .unavailable)
            #expect(stats.body.contains("from one address are all in use"), "\(stats.body)")
            #expect(stats.head.lowercased().contains("retry-after: 1"))
            // More silent ones than there are places in the reserve; those that are still being
            // accepted come behind the request.
            let silent = try (0..<40).map { _ in try OpenExchange("", port: caller.port) }
            var health = 0
            for _ in 0..<100 where health != 200 {
                health = try await caller.send("GET", "/healthz", as: nil).status
            }
            #expect(health == 200)
            withExtendedLifetime(silent) {}
            streams[0].end()
            _ = await streams[0].read(until: "no such text")
            let end = ContinuousClock.now + .seconds(30)
            var status = 503
            while status == 503, ContinuousClock.now < end {
                status = try await caller.send("GET", "/v1/stats").status
            }
            #expect(status == 200, "The place of a stream that ended was not given back.")
        }
    }

    @Test("Whoever has shown no key may not be silent for long; whoever has one may")
    func strangers() async throws {
        var bench = try Self.bench(connections: 8)
        // Long enough to read what has come, beside many other tests.
        bench.configuration.strangerSeconds = 3
        let key = try #require(bench.keys[.admin]).text
        let request =
            "GET /v1/stats HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(key)\r\n\r\n"
        try await bench.serve { caller in
            let known = try OpenExchange(request, port: caller.port)
            #expect(await known.read(until: "event_streams").hasPrefix("HTTP/1.1 200"))
            let silent = try OpenExchange("", port: caller.port)
            let healthy = try OpenExchange(
                "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", port: caller.port)
            let slow = try OpenExchange("GET /healthz HTTP/1.1\r\nHost:", port: caller.port)
            // Until the server closes.
            #expect(await silent.read(until: "no such text").isEmpty)
            #expect(await healthy.read(until: "no such text").hasPrefix("HTTP/1.1 200"))
            #expect(await slow.read(until: "no such text").hasPrefix("HTTP/1.1 408"))
            try known.send(request)
            #expect(await known.read(until: "event_streams").hasPrefix("HTTP/1.1 200"))
            // Whose key is not taken any more is a stranger again.
            try known.send(request.replacing(key, with: "rouse_unknown"))
            let start = ContinuousClock.now
            #expect(await known.read(until: "no such text").hasPrefix("HTTP/1.1 401"))
            #expect(start.duration(to: .now) < .seconds(20))
        }
    }

    @Test("The system asks whether a silent caller is still there")
    func keepAlive() async throws {
        let bench = try Self.bench(connections: 8)
        try await bench.serve { caller in
            let stream = try await Self.stream(bench, caller.port)
            let port = String(caller.port, radix: 16, uppercase: true)
            let local = ":" + String(repeating: "0", count: 4 - port.count) + port
            // Its side of the connection, by its address and state 1, which is established. A timer
            // of kind 2 is that of keep-alive; it waits until what was sent is acknowledged.
            func timers() throws -> [Substring] {
                // The table comes in pieces, which reading a file as a text takes for its end.
                let file = try FileHandle(forReadingFrom: URL(filePath: "/proc/self/net/tcp"))
                let table = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
                let rows = table.split(separator: "\n").map { $0.split(separator: " ") }
                return rows.filter { $0.count > 5 && $0[1].hasSuffix(local) && $0[3] == "01" }
                    .map { $0[5] }
            }
            let end = ContinuousClock.now + .seconds(10)
            while try timers().first?.hasPrefix("02:") != true, ContinuousClock.now < end {
                await Task.yield()
            }
            let found = try timers()
            #expect(found.count == 1 && found[0].hasPrefix("02:"), "\(found)")
            withExtendedLifetime(stream) {}
        }
    }

    @Test(
        "Peers are told apart by IPv4 address and by the /64 of IPv6",
        arguments: [
            ("127.0.0.1", "127.0.0.1"), ("::1", "::1"), ("::ffff:192.0.2.7", "192.0.2.7"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"), ("fe80::1", "fe80:0:0:0::/64"),
        ])
    func peers(address: String, peer: String) {
        let found = PeerAddress(ipAddress: address)
        #expect(found.description == peer)
        #expect(found.isRemote)
        #expect(!PeerAddress(ipAddress: nil).isRemote)
    }
}
