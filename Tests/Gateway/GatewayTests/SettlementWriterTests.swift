// SPDX-License-Identifier: Apache-2.0

import GatewayTestKit
import Synchronization
import Testing
import WakeModel

@testable import Gateway

@Suite("Writing settlements", .timeLimit(.minutes(10)))
struct SettlementWriterTests {
    /// One transaction of 512 settlements takes some ten milliseconds, for which the single request
    /// of another caller would wait.
    @Test("Transactions are shorter while several callers have requests")
    func sharedBatches() async throws {
        let context = sampleContext(store: InMemoryWakeStore())
        let limits = context.limits
        let sizes = Mutex<[Int]>([])
        let writer = SettlementWriter(
            clock: context.clock, limits: limits, logger: context.logger,
            batchCount: { context.batchCount(limits.settleBatchCount) }
        ) { batch in
            sizes.withLock { $0.append(batch.count) }
            context.isShared.store(true, ordering: .relaxed)
            var answer = SettleAnswer()
            answer.verdicts = batch.map { _ in .applied }
            return answer
        }
        let settlement = Settlement(
            ticket: Claim.Ticket(id: Samples.freshID(), fence: 1), at: Samples.start,
            attempt: nil, effect: .release)
        writer.settle(Array(repeating: settlement, count: 700))
        writer.close()
        await writer.run()
        #expect(sizes.withLock { $0 } == [512, 128, 60])
    }
}
