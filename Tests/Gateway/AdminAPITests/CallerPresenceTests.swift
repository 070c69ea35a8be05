// SPDX-License-Identifier: Apache-2.0

import Foundation
import Gateway
import GatewayTestKit
import Testing

@testable import AdminAPI

@Suite("Callers that hang up, over real sockets", .timeLimit(.minutes(10)))
struct CallerPresenceTests {
    /// How a caller hangs up.
    enum HangUp: CaseIterable {
        case wholly
        case sendingHalf
    }

    /// A bench with room for few connections, whose wakes are never answered by APNs.
    private static func bench(connections: Int) throws -> APIBench {
        var bench = try APIBench(sender: ScriptedSender { _ in nil })
        bench.configuration.connectionCount = connections
        // Longer than the test may take: nothing but the hang-up ends what it opens.
        bench.configuration.waitSeconds = 600
        bench.configuration.eventPulseSeconds = 600
        return bench
    }

    private static func request(_ line: String, key: String, _ body: String = "") -> String {
        "\(line) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(key)\r\n"
            + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    /// Expects that a caller with a key finds a place: while all are taken it gets a 503, or the
    /// end of its connection.
    private static func expectRoom(_ caller: APIBench.Caller) async throws {
        let end = ContinuousClock.now + .seconds(30)
        var status = 503
        while [503, 0].contains(status), ContinuousClock.now < end {
            status = try await caller.send("GET", "/v1/stats").status
        }
        #expect(status == 200)
    }

    @Test("A caller that closes its connection frees the place of its wait at once")
    func abandonedWaits() async throws {
        let bench = try Self.bench(connections: 4)
        let key = try #require(bench.keys[.wake]).text
        try await bench.serve { caller in
            for device in UInt64(1)...12 {
                _ = try OpenExchange(
                    Self.request(
                        "POST /v1/wakes?wait=outcome&timeout=600", key: key,
                        APIBench.body(device: device)),
                    port: caller.port)
                // Gone here: closed with the wake on its way or waiting.
            }
            try await Self.expectRoom(caller)
        }
    }

    @Test("A caller that closes its sending half gets what is known by then, and the end")
    func halfClosedWait() async throws {
        let bench = try Self.bench(connections: 4)
        let key = try #require(bench.keys[.wake]).text
        try await bench.serve { caller in
            let exchange = try OpenExchange(
                Self.request(
                    "POST /v1/wakes?wait=outcome&timeout=600", key: key, APIBench.body()),
                port: caller.port)
            await bench.sender.waitUntilSent(1)
            exchange.closeSendingHalf()
            let answer = await exchange.read(until: "no such text")
            #expect(answer.hasPrefix("HTTP/1.1 202"), "\(answer)")
            #expect(answer.contains("\"id\":"))
        }
    }

    @Test("A caller that stays waits on, and its connection is used again")
    func patientWait() async throws {
        var bench = try APIBench()
        bench.configuration.connectionCount = 4
        let key = try #require(bench.keys[.wake]).text
        try await bench.serve { caller in
            let exchange = try OpenExchange(
                Self.request(
                    "POST /v1/wakes?wait=outcome&timeout=60", key: key, APIBench.body()),
                port: caller.port)
            let first = await exchange.read(until: "\"outcome\":")
            #expect(first.hasPrefix("HTTP/1.1 200"), "\(first)")
            try exchange.send(Self.request("GET /healthz", key: key))
            let second = await exchange.read(until: "alive")
            #expect(second.contains("alive"), "\(second)")
        }
    }

    @Test(
        "A reader that hangs up frees the place of its event stream at once",
        arguments: [
            HangUp.wholly, .sendingHalf,
        ])
    func abandonedStreams(hangUp: HangUp) async throws {
        let bench = try Self.bench(connections: 4)
        let key = try #require(bench.keys[.read]).text
        try await bench.serve { caller in
            for _ in 1...12 {
                let exchange = try OpenExchange(
                    Self.request("GET /v1/events", key: key), port: caller.port)
                let beginning = await exchange.read(until: "retry: ")
                try #require(beginning.contains("retry: "))
                if hangUp == .sendingHalf {
                    exchange.closeSendingHalf()
                    // Until the server closes too: the stream has its end.
                    let rest = await exchange.read(until: "no such text")
                    #expect(rest.hasSuffix("0\r\n\r\n"), "\(rest)")
                }
            }
            try await Self.expectRoom(caller)
        }
    }

    @Test("What is asked for after the hang-up is cancelled at once, and acted on once")
    func lateQuestion() async {
        let presence = CallerPresence()
        presence.end()
        presence.end()
        let isCancelled = await presence.cancellingOnHangUp { Task.isCancelled }
        #expect(isCancelled)
        let calls = ConnectionCount()
        await presence.watched {
            calls.opened()
        } _: {
            presence.end()
        }
        #expect(calls.value == 1)
    }
}
