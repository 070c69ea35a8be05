// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayTestKit
import ServiceLifecycle
import Testing

@testable import RouseCommand

@Suite("A store that has failed for good", .timeLimit(.minutes(10)))
struct StoreFailureMonitorTests {
    @Test("ends the gateway with the reason, said once in the log")
    func ends() async throws {
        let (failures, continuation) = AsyncStream<StoreFailure>.makeStream()
        let lines = RecordedLines()
        let gateway = sampleGateway(store: InMemoryWakeStore(), sender: ScriptedSender())
        let group = ServiceGroup(
            services: [StoreFailureMonitor(failures: failures, logger: lines.logger), gateway],
            logger: .silent)
        let failure = StoreFailure(kind: .unavailable, message: "The log is lost.")
        let run = Task { try await group.run() }
        continuation.yield(failure)
        await #expect(throws: failure) { try await run.value }
        #expect(
            lines.all == [
                "the gateway ends: its store has to be opened again kind=unavailable "
                    + "reason=The log is lost."
            ])
    }

    @Test("is not waited for when the gateway ends for another reason")
    func shutdown() async throws {
        let (failures, continuation) = AsyncStream<StoreFailure>.makeStream()
        let lines = RecordedLines()
        let gateway = sampleGateway(store: InMemoryWakeStore(), sender: ScriptedSender())
        let group = ServiceGroup(
            services: [StoreFailureMonitor(failures: failures, logger: lines.logger), gateway],
            logger: .silent)
        let run = Task { try await group.run() }
        while !gateway.readiness.isReady { await Task.yield() }
        await group.triggerGracefulShutdown()
        // It would never return while the stream of failures is open, as it is until here.
        await #expect(throws: Never.self) { try await run.value }
        #expect(lines.all.isEmpty)
        continuation.finish()
    }
}
