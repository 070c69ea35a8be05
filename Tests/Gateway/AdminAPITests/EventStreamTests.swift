// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayTestKit
import Testing
import WakeModel

@testable import AdminAPI
@testable import Gateway

@Suite("Event streams over real sockets", .timeLimit(.minutes(3)))
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
            async let tally = reader.read { $0.outcomes.count + $0.dropped >= Self.batchCount }
            let lines = (0..<Self.batchCount).map { APIBench.body(device: UInt64($0)) }
            let answer = try await caller.send(
                "POST", "/v1/wakes/batch", lines.joined(separator: "\n"),
                headers: ["Content-Type": "application/x-ndjson"], patienceSeconds: 100)
            #expect(answer.status == 200, "\(answer.body.prefix(300))")
            #expect(await tally.dropped == 0)
            #expect(await tally.outcomes == Array(1...Self.batchCount))
        }
    }

    /// Publishes outcomes, a thousand at a time, as from so many transactions.
    private static func publish(thousands: Int, _ gateway: Gateway) async {
        let ref = Samples.name(String(repeating: "r", count: WakeRef.maximumCount))
        for _ in 0..<thousands {
            let ended = (0..<1_000).map { _ in
                EndedWake(
                    id: Samples.freshID(), ref: ref, queue: Samples.queues[0],
                    end: .sent(apnsUniqueID: nil), at: Samples.start)
            }
            gateway.context.hub.publish(ended)
            // Whoever passes them on has his turn.
            await Task.yield()
        }
    }

    @Test("A reader that does not read misses the oldest, and is told how many when it reads again")
    func noReader() async throws {
        var bench = try APIBench()
        bench.configuration.eventBufferCount = 2_000
        let thousands = 50
        let gateway = bench.gateway
        try await Self.serve(bench) { _, reader in
            await Self.publish(thousands: thousands, gateway)
            let tally = await reader.read { $0.outcomes.count + $0.dropped >= thousands * 1_000 }
            // Besides the buffer, only what the system keeps for two sockets waits for a reader.
            #expect(tally.dropped > thousands * 1_000 / 2)
            #expect(tally.outcomes.count + tally.dropped == thousands * 1_000)
            #expect(tally.outcomes.last == thousands * 1_000, "The newest were not kept.")
            #expect(tally.outcomes == tally.outcomes.sorted())
        }
    }

    @Test("An event is as small as its buffer is meant for")
    func size() {
        #expect(MemoryLayout<OutcomeEvent>.stride == 112, "See eventBufferCount.")
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
