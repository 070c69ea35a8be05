// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayTestKit
import Testing
import WakeModel

@testable import AdminAPI
@testable import Gateway

@Suite("Event streams over real sockets", .timeLimit(.minutes(10)))
struct EventStreamTests {
    /// A gateway's API with a reader whose stream has begun.
    private static func serve(
        _ bench: APIBench, _ body: (APIBench.Caller, EventReader) async throws -> Void
    ) async throws {
        let secret = try #require(bench.keys[.read]).text
        try await bench.serve { caller in
            let reader = try EventReader(port: caller.port, secret: secret)
            let beginning = await reader.read { $0.hasBegun }
            try #require(beginning.hasBegun)
            try await body(caller, reader)
        }
    }

    /// How many wakes a batch may have.
    private static let batchCount = 10_000

    @Test("A reader that reads gets each outcome of the largest batch, in order")
    func largestBatch() async throws {
        try await Self.serve(try APIBench()) { caller, reader in
            async let tally = reader.read { $0.outcomes.count >= Self.batchCount }
            try await Self.send(count: Self.batchCount, caller)
            #expect(await tally.dropped == 0)
            let cursors = await tally.outcomes
            #expect(cursors.count == Self.batchCount)
            #expect(zip(cursors, cursors.dropFirst()).allSatisfy { $0 < $1 })
            #expect(await Set(tally.data.map(Self.id)).count == Self.batchCount)
        }
    }

    @Test("A reader that does not read for a while misses nothing")
    func slowReader() async throws {
        let bench = try APIBench()
        try await Self.serve(bench) { caller, reader in
            try await Self.send(count: Self.batchCount, caller)
            // All have ended before the first is read: more than two sockets' buffers hold.
            while try await bench.gateway.stats().byState[.sent] != Self.batchCount {
                await Task.yield()
            }
            let tally = await reader.read { $0.outcomes.count >= Self.batchCount }
            #expect(Set(tally.data.map(Self.id)).count == Self.batchCount)
            #expect(tally.outcomes == tally.outcomes.sorted())
        }
    }

    @Test("A reader that comes back with the last id goes on behind it, whatever happened since")
    func resume() async throws {
        let bench = try APIBench()
        let secret = try #require(bench.keys[.read]).text
        try await Self.serve(bench) { caller, reader in
            try await Self.send(count: 20, caller)
            let all = await reader.read { $0.outcomes.count >= 20 }
            let middle = all.outcomes[7]
            for again in [
                try EventReader(port: caller.port, secret: secret, lastID: middle),
                try EventReader(port: caller.port, secret: secret, query: "?after=\(middle)"),
                try EventReader(
                    port: caller.port, secret: secret, query: "?after=0", lastID: middle),
            ] {
                let rest = await again.read { $0.outcomes.count >= 12 }
                #expect(rest.outcomes == Array(all.outcomes[8...]))
                #expect(rest.data == Array(all.data[8...]))
                #expect(rest.dropped == 0)
            }
            let whole = try EventReader(port: caller.port, secret: secret, query: "?after=0")
            #expect(await whole.read { $0.outcomes.count >= 20 }.outcomes == all.outcomes)
            // Of a feed that was set back: it begins at the end.
            let ahead = try EventReader(port: caller.port, secret: secret, lastID: middle * 2)
            #expect(await ahead.read { $0.hasBegun && $0.lastID >= 0 }.lastID == all.outcomes[19])
        }
    }

    @Test("A reader that was away for longer than outcomes are kept is told so")
    func expiredCursor() async throws {
        let bench = try APIBench()
        let secret = try #require(bench.keys[.read]).text
        try await Self.serve(bench) { caller, _ in
            let reader = try EventReader(port: caller.port, secret: secret, lastID: 1)
            #expect(await reader.read { $0.dropped > 0 }.dropped == 1)
        }
    }

    @Test("An id that is none is refused, by its field")
    func badCursor() async throws {
        try await APIBench().serve { caller in
            for bad in ["", "x", "-1", "+1", "1.5", "9223372036854775808"] {
                let answer = try await caller.send(
                    "GET", "/v1/events", headers: ["Last-Event-ID": bad])
                try expectProblem(answer, .invalidField)
                #expect(answer.body.contains("Last-Event-ID"))
            }
            try expectProblem(try await caller.send("GET", "/v1/events?after=-1"), .invalidField)
        }
    }

    @Test("An event names the wake as its caller does, and the device by a digest")
    func names() async throws {
        try await Self.serve(try APIBench()) { caller, reader in
            try await Self.send(count: 1, caller, ref: "order-7")
            let event = try #require(await reader.read { $0.outcomes.count == 1 }.data.first)
            #expect(event.contains(#""ref":"order-7""#))
            #expect(event.contains(#""device":"device#"#))
            #expect(event.contains(#""cursor":"#))
        }
    }

    private static func id(_ data: String) -> Substring {
        let start = data.range(of: #""id":""#)?.upperBound ?? data.endIndex
        return data[start...].prefix(36)
    }

    private static func send(
        count: Int, _ caller: APIBench.Caller, ref: String? = nil
    ) async throws {
        let lines = (0..<count).map { device in
            let body = APIBench.body(device: UInt64(device))
            return ref.map { #"{"ref":"\#($0)","# + body.dropFirst() } ?? body
        }
        let answer = try await caller.send(
            "POST", "/v1/wakes/batch", lines.joined(separator: "\n"),
            headers: ["Content-Type": "application/x-ndjson"], patienceSeconds: 100)
        #expect(answer.status == 200, "\(answer.body.prefix(300))")
    }

    @Test("A silent stream says that it is alive")
    func pulse() async throws {
        var bench = try APIBench()
        bench.configuration.eventPulseSeconds = 1
        try await Self.serve(bench) { _, reader in
            let tally = await reader.read { $0.pulses == 2 }
            #expect(tally.pulses == 2)
            #expect(tally.outcomes.isEmpty)
        }
    }
}
