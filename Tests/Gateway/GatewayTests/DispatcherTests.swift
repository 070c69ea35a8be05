// SPDX-License-Identifier: Apache-2.0

import GatewayTestKit
import Synchronization
import Testing
import WakeModel

@testable import Gateway

@Suite("The dispatcher", .timeLimit(.minutes(10)))
struct DispatcherTests {
    @Test("Room that an admission did not use goes to due wakes, and ends the drain, at once")
    func unusedRoom() async throws {
        var limits = GatewayLimits()
        limits.inFlightCount = 16
        limits.voipReserveCount = 0
        // It stands still, so whatever is not rung for waits for ever.
        let clock = ManualClock()
        let store = InMemoryWakeStore()
        let context = sampleContext(store: store, clock: clock, limits: limits)
        let sender = ScriptedSender()
        let dispatcher = Dispatcher(context: context, apps: [Samples.app], sender: sender) { 0 }
        context.whenSettled { [weak dispatcher] settlements, nextDue in
            dispatcher?.settled(settlements, nextDue: nextDue)
        }
        let running = Task { await dispatcher.run() }
        let asked = (1...16 as ClosedRange<UInt64>).map {
            Samples.wake(device: $0)
        }
        func grantOfAll() async throws -> AdmissionGrant {
            var grant: AdmissionGrant?
            try await eventually {
                grant = dispatcher.makeGrant(for: asked)
                return grant != nil
            }
            return try #require(grant)
        }

        let first = try await grantOfAll()
        #expect(first.room.background == 16)
        _ = try await store.perform(
            AdmitWakes(
                [Samples.wake(device: 99)], grant: nil, under: context.rules))
        dispatcher.signal.ring()
        try await eventually { dispatcher.state.withLock { !$0.withoutRoom.isEmpty } }
        dispatcher.admitted(nil, under: first)
        try await eventually { sender.sent.count == 1 }
        try await eventually { dispatcher.state.withLock { $0.inFlight } == 0 }

        let last = try await grantOfAll()
        dispatcher.stop()
        let deadline = clock.now().advanced(bySeconds: Int64(limits.drainSeconds))
        try await eventually { clock.isAwaited(at: deadline) }
        dispatcher.admitted(nil, under: last)
        await running.value
        #expect(dispatcher.state.withLock { $0.inFlight } == 0)
    }
}
