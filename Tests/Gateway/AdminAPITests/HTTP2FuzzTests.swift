// SPDX-License-Identifier: Apache-2.0

import GatewayTestKit
import NIOHPACK
import SeedKit
import Testing

@testable import AdminAPI

/// Broken connections of HTTP/2 to the real listener: seeded mutations of good frames. Whatever
/// comes, the listener ends the connection in time, and takes the next good request.
///
/// A usual run is short. `ROUSE_PROPERTY_ROUNDS=20` makes twenty times as many connections.
@Suite("Mutated frames to the listener, over real sockets", .timeLimit(.minutes(10)))
struct HTTP2FuzzTests {
    /// How many connections there are at a time.
    private static let width = 16

    @Test("They crash nothing and hang nothing")
    func mutations() async throws {
        var bench = try APIBench()
        bench.configuration.strangerSeconds = 1
        bench.configuration.bodySeconds = 1
        bench.configuration.idleSeconds = 2
        bench.configuration.stallSeconds = 1
        let key = try #require(bench.keys[.admin]).text
        try await bench.serve { caller in
            let rounds = PropertyRounds.few(12)
            for round in rounds {
                let seeds = (0..<Self.width).map { UInt64(round * Self.width + $0) }
                await withTaskGroup(of: Void.self) { group in
                    for seed in seeds {
                        group.addTask {
                            do {
                                try await Self.converse(seed: seed, key: key, port: caller.port)
                            } catch {
                                Issue.record("seed \(seed): \(error)")
                            }
                        }
                    }
                }
                let good = try HTTP2Caller(port: caller.port, key: key)
                #expect(try await good.exchange("GET", "/v1/apps").status == 200, "\(seeds)")
            }
            // Nothing is left of them.
            let page = try await caller.send("GET", "/metrics").body
            #expect(page.contains("rouse_event_streams 0"))
        }
    }

    /// Sends what a seed says, and reads until the listener closes.
    private static func converse(seed: UInt64, key: String, port: Int) async throws {
        var generator = SeededGenerator(seed: seed)
        let caller = try HTTP2Caller(
            port: port, key: generator.chance(oneIn: 3) ? nil : key,
            initialWindow: generator.chance(oneIn: 4) ? 0 : nil, patienceSeconds: 20)
        var bytes = generator.pick(2...12).reduce(into: [UInt8]()) { bytes, _ in
            bytes += frame(caller, &generator)
        }
        if generator.chance(oneIn: 2), !bytes.isEmpty {
            for _ in 0...generator.below(3) {
                bytes[generator.below(bytes.count)] = UInt8(generator.below(256))
            }
        }
        // The listener may have closed the connection before all was sent.
        try? caller.send(bytes)
        if generator.chance(oneIn: 4) { caller.closeSendingHalf() }
        caller.takesAnswers = generator.chance(oneIn: 2)
        do {
            try await caller.receive { _ in false }
        } catch is any NIOHPACKError {
            // The caller has asked for a table of header fields that its own decoder refuses.
            return
        }
        #expect(caller.isClosed, "seed \(seed)")
    }

    private static func frame(
        _ caller: HTTP2Caller, _ generator: inout SeededGenerator
    ) -> [UInt8] {
        let body = Array(APIBench.body().utf8)
        let stream = 1 + 2 * generator.below(6)
        var fields = caller.fields(
            generator.pick(["GET", "POST", "HEAD", "DELETE", "CONNECT", "OPTIONS"]),
            generator.pick([
                "/v1/wakes", "/healthz", "/v1/events", "/v1/wakes/batch", "/nothing", "*", "//",
                "/v1/wakes?wait=outcome&timeout=1", "/", "/v1/wakes?limit=1000",
            ]))
        if generator.chance(oneIn: 2) {
            let length = generator.chance(oneIn: 4) ? generator.below(1_000_000) : body.count
            fields.append(("content-length", "\(length)"))
        }
        if generator.chance(oneIn: 5) { fields.append(("expect", "100-continue")) }
        if generator.chance(oneIn: 6) {
            fields.append((generator.pick(["te", "host", "X-Upper", ":path", "connection"]), "x"))
        }
        let flags = generator.pick([0, 1, 4, 4, 4, 5, 5, 5, 0x24, 0x0c]) as UInt8
        let frames = [
            HTTP2Caller.Frame(
                type: HTTP2Caller.Kind.headers, flags: flags, stream: stream,
                payload: HTTP2Caller.block(fields)),
            HTTP2Caller.Frame(
                type: HTTP2Caller.Kind.headers, flags: 4, stream: stream,
                payload: HTTP2Caller.block(fields)),
            HTTP2Caller.Frame(
                type: HTTP2Caller.Kind.data, flags: flags & 1, stream: stream, payload: body),
            HTTP2Caller.Frame(type: HTTP2Caller.Kind.data, flags: 1, stream: stream),
            HTTP2Caller.Frame(
                type: HTTP2Caller.Kind.reset, stream: stream, payload: HTTP2Caller.bytes(8)),
            HTTP2Caller.Frame(
                type: HTTP2Caller.Kind.window, stream: generator.chance(oneIn: 2) ? 0 : stream,
                payload: HTTP2Caller.bytes(UInt32(generator.below(1 << 31)))),
            HTTP2Caller.Frame(
                type: HTTP2Caller.Kind.settings,
                payload: [0, UInt8(generator.below(8))]
                    + HTTP2Caller.bytes(UInt32(truncatingIfNeeded: generator.next()))),
            HTTP2Caller.Frame(type: HTTP2Caller.Kind.ping, payload: Array(repeating: 1, count: 8)),
            HTTP2Caller.Frame(
                type: HTTP2Caller.Kind.goAway, payload: Array(repeating: 0, count: 8)),
            HTTP2Caller.Frame(type: UInt8(generator.below(32)), stream: stream, payload: [0, 1]),
        ]
        return HTTP2Caller.bytes(of: generator.pick(frames))
    }
}

extension SeededGenerator {
    fileprivate mutating func pick(_ range: ClosedRange<Int>) -> Range<Int> {
        0..<range.lowerBound + below(range.count)
    }
}
