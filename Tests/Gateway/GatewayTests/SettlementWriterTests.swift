// SPDX-License-Identifier: Apache-2.0

import GatewayTestKit
import Synchronization
import Testing
import WakeModel

@testable import Gateway

@Suite("Settlements on their way to the store", .timeLimit(.minutes(1)))
struct SettlementWriterTests {
    private static func settlements(_ count: Int) -> [Settlement] {
        (0..<count).map { _ in
            Settlement(
                ticket: Claim.Ticket(id: Samples.freshID(), fence: 1), at: Samples.start,
                attempt: .accepted(apnsUniqueID: nil), effect: .end(.sent(apnsUniqueID: nil)))
        }
    }

    private static func answer(_ batch: [Settlement]) -> SettleAnswer {
        var answer = SettleAnswer()
        answer.verdicts = batch.map { _ in .applied }
        return answer
    }

    private static var limits: GatewayLimits {
        var limits = GatewayLimits()
        limits.settleBatchCount = 2
        limits.settleWriterCount = 2
        limits.storePauseMilliseconds = 1
        return limits
    }

    @Test("As many batches are under way as there may be, and each settlement is written once")
    func batches() async throws {
        let gates = [AsyncSignal(), AsyncSignal()]
        let begun = Mutex<[[WakeID]]>([])
        let writer = SettlementWriter(
            clock: SystemGatewayClock(), limits: Self.limits, logger: .silent
        ) { batch in
            let place = begun.withLock { begun in
                begun.append(batch.map(\.ticket.id))
                return begun.count - 1
            }
            if place < gates.count { await gates[place].wait() }
            return Self.answer(batch)
        }
        let settlements = Self.settlements(5)
        writer.settle(settlements)
        let run = Task { await writer.run() }
        try await eventually { begun.withLock { $0.map(\.count) } == [2, 2] }
        for gate in gates { gate.ring() }
        writer.close()
        await run.value
        let written = begun.withLock { $0.flatMap(\.self) }
        #expect(Set(written) == Set(settlements.map(\.ticket.id)) && written.count == 5)
    }

    @Test("What the store did not take is written again, with what came meanwhile")
    func failure() async throws {
        let tries = Atomic(0)
        let written = Mutex<[WakeID]>([])
        let writer = SettlementWriter(
            clock: SystemGatewayClock(), limits: Self.limits, logger: .silent
        ) { batch in
            guard tries.add(1, ordering: .relaxed).newValue > 3 else { return nil }
            written.withLock { $0 += batch.map(\.ticket.id) }
            return Self.answer(batch)
        }
        let settlements = Self.settlements(7)
        let run = Task { await writer.run() }
        for settlement in settlements { writer.settle(settlement) }
        try await eventually { written.withLock { $0.count } == 7 }
        #expect(Set(written.withLock { $0 }) == Set(settlements.map(\.ticket.id)))
        writer.close()
        await run.value
    }
}
