// SPDX-License-Identifier: Apache-2.0

import GatewayTestKit
import Synchronization
import Testing
import WakeModel

@testable import Gateway

@Suite("The dispatcher", .timeLimit(.minutes(1)))
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

    private static let queue = WakeQueueKey(app: Samples.app, kind: .background)

    @Test("A batch waits for older wakes that are due, behind which none leaves at once")
    func behindOlder() throws {
        let clock = ManualClock()
        let context = sampleContext(store: InMemoryWakeStore(), clock: clock)
        let dispatcher = Dispatcher(
            context: context, apps: [Samples.app], sender: ScriptedSender()
        ) { 0 }
        // As after the first look, which found nothing.
        dispatcher.state.withLock { $0.unfinished = [] }
        let asked = (1...20 as ClosedRange<UInt64>).map { Samples.wake(device: $0) }
        let grant = try #require(dispatcher.makeGrant(for: asked))
        #expect(dispatcher.hasRoom(for: [(Self.queue, 20)]))

        var answer = AdmitAnswer()
        answer.nextDue = clock.now()
        answer.leftDue = [Self.queue]
        dispatcher.admitted(answer, under: grant)
        #expect(!dispatcher.hasRoom(for: [(Self.queue, 20)]))
        // To write a few twice costs less than to have their caller wait.
        #expect(dispatcher.hasRoom(for: [(Self.queue, context.limits.intakeSmallCount)]))

        dispatcher.state.withLock { $0.unfinished = [] }
        #expect(dispatcher.hasRoom(for: [(Self.queue, 20)]))
    }

    @Test("A batch waits until all of it may leave at once: one that is left has the next wait too")
    func wholeBatch() {
        let clock = ManualClock()
        let context = sampleContext(store: InMemoryWakeStore(), clock: clock)
        let dispatcher = Dispatcher(
            context: context, apps: [Samples.app], sender: ScriptedSender()
        ) { 0 }
        let whole = context.limits.intakeBatchCount
        dispatcher.state.withLock { state in
            state.unfinished = []
            // Answered so often that its window is as large as the pool, and full.
            while true {
                let room = state.shares.room(for: Self.queue, at: clock.now())
                guard room > 0 else { break }
                state.shares.take(room, of: Self.queue, at: clock.now())
                for _ in 0..<room {
                    _ = state.shares.note(.answered, on: Self.queue, at: clock.now())
                }
            }
            state.shares.giveBack(whole - 1, of: Self.queue)
        }
        #expect(!dispatcher.hasRoom(for: [(Self.queue, 1_000)]))
        #expect(dispatcher.hasRoom(for: [(Self.queue, whole - 1)]))
        dispatcher.state.withLock { $0.shares.giveBack(1, of: Self.queue) }
        #expect(dispatcher.hasRoom(for: [(Self.queue, 1_000)]))
    }
}
