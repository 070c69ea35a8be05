// SPDX-License-Identifier: Apache-2.0

import GatewayTestKit
import Synchronization
import Testing
import WaitKit
import WakeModel

@testable import Gateway

/// A wall clock that a test sets, beside a clock since boot that it only moves on.
private final class LeapingClock: GatewayClock {
    private let state = Mutex((boot: Int64(50_000), offset: Samples.start.millisecondsSinceEpoch))

    /// Both clocks go on.
    func pass(milliseconds: Int64) { state.withLock { $0.boot += milliseconds } }
    /// Somebody sets the wall clock.
    func leap(milliseconds: Int64) { state.withLock { $0.offset += milliseconds } }

    func now() -> WallInstant {
        state.withLock { WallInstant(millisecondsSinceEpoch: $0.boot + $0.offset) }
    }

    func millisecondsSinceBoot() -> Int64? { state.withLock { $0.boot } }

    func sleep(until instant: WallInstant) async throws {
        while now() < instant { try await Task.sleep(for: .milliseconds(1)) }
    }
}

@Suite("A wall clock that leaps", .timeLimit(.minutes(10)))
struct SteadyClockTests {
    private static let year: Int64 = 400 * 86_400_000

    private func makeClock(
        _ base: LeapingClock, _ lines: RecordedLines = RecordedLines()
    )
        -> SteadyClock
    {
        SteadyClock(base, limits: GatewayLimits(), logger: lines.logger)
    }

    @Test("A leap is not followed, is told once, and is over when the clock is back")
    func thereAndBack() {
        let base = LeapingClock()
        let lines = RecordedLines()
        let clock = makeClock(base, lines)
        let start = base.now()
        for distance in [Self.year, -Self.year] {
            let before = clock.now()
            base.leap(milliseconds: distance)
            base.pass(milliseconds: 1_500)
            let leap = clock.leap
            #expect(leap?.milliseconds == distance)
            #expect(clock.now() == before.advanced(byMilliseconds: 1_500))
            base.leap(milliseconds: -distance)
            #expect(clock.now() == base.now() && clock.leap == nil)
        }
        #expect(clock.now() == start.advanced(byMilliseconds: 3_000))
        #expect(lines.all.count { $0.contains("the wall clock leapt") } == 2)
        #expect(lines.all.count { $0.contains("the wall clock is back") } == 2)
        #expect(lines.all.contains { $0.contains("400 days and 0 hours ahead") })
    }

    @Test(
        "A clock that stays where it leapt to is followed after a minute, and small steps at once")
    func stays() {
        let base = LeapingClock()
        let clock = makeClock(base)
        base.leap(milliseconds: 4_000)
        #expect(clock.now() == base.now() && clock.leap == nil)
        base.leap(milliseconds: 7_200_000)
        #expect(clock.leap != nil)
        base.pass(milliseconds: 59_000)
        #expect(clock.leap != nil && clock.now() < base.now())
        // Another leap, another minute.
        base.leap(milliseconds: 7_200_000)
        base.pass(milliseconds: 59_000)
        #expect(clock.leap?.milliseconds == 14_400_000)
        base.pass(milliseconds: 60_000)
        #expect(clock.leap == nil && clock.now() == base.now())
    }

    @Test("It sleeps as long as it would have, and does not spin while the clock is ahead")
    func sleeping() async throws {
        let base = LeapingClock()
        let clock = makeClock(base)
        base.leap(milliseconds: Self.year)
        let end = clock.now().advanced(byMilliseconds: 10_000)
        let sleeper = Task { try await clock.sleep(until: end) }
        #expect(try await holds(for: .milliseconds(20)) { clock.now() < end })
        base.pass(milliseconds: 10_000)
        try await sleeper.value
        #expect(clock.now() >= end)
    }

    /// Lets time pass until it is cancelled.
    private func mover(of base: LeapingClock) -> Task<Void, any Error> {
        Task {
            while !Task.isCancelled {
                base.pass(milliseconds: 20)
                try await Task.sleep(for: .milliseconds(2))
            }
        }
    }

    @Test("A gateway keeps what waits, turns unready with a sentence, and is ready again")
    func gateway() async throws {
        let base = LeapingClock()
        let store = InMemoryWakeStore()
        let sender = ScriptedSender()
        let gateway = sampleGateway(store: store, sender: sender, clock: base)
        let mover = mover(of: base)
        defer { mover.cancel() }
        try await withRunning(gateway) { () async throws in
            _ = await gateway.accept(Samples.request(device: 1))
            await sender.waitUntilSent(1)
            // Held back by the budget: it would be overdue in the leap.
            let waiting = try #require(
                await gateway.accept(Samples.request(device: 1)).admittedID)
            base.leap(milliseconds: Self.year)
            try await eventually {
                gateway.readiness.obstacles.contains {
                    $0.contains("The wall clock leapt 400 days")
                }
            }
            let during = try #require(
                await gateway.accept(Samples.request(device: 2)).admittedID)
            await sender.waitUntilSent(2)
            let present = gateway.now
            #expect(
                abs(
                    WallInstant(millisecondsSinceEpoch: during.number >> 12)
                        .milliseconds(since: present)) < 3_600_000)
            base.leap(milliseconds: -Self.year)
            try await eventually { gateway.readiness.isReady }
            #expect(try await gateway.record(of: waiting)?.state == .pending)
            try await eventually {
                try await store.perform(RecountWakes()).byState == [.pending: 1, .sent: 2]
            }
        }
    }

    @Test("A clock that is followed an hour back in the midst of a round stops no housekeeping")
    func followedInBetween() async throws {
        let base = LeapingClock()
        let store = WatchfulStore(InMemoryWakeStore())
        let gateway = sampleGateway(store: store, sender: ScriptedSender(), clock: base)
        let mover = mover(of: base)
        defer { mover.cancel() }
        try await withRunning(gateway) { () async throws in
            base.leap(milliseconds: -3_600_000)
            try await eventually { !gateway.readiness.isReady }
            store.onceQueuesAreRead { base.pass(milliseconds: 60_000) }
            try await eventually { gateway.readiness.isReady }
            let reads = Mutex(0)
            for count in 1...2 {
                store.onceQueuesAreRead { reads.withLock { $0 += 1 } }
                try await eventually { reads.withLock { $0 } == count }
            }
            #expect(reads.withLock { $0 } == 2)
        }
    }

    @Test("A clock that is followed an hour back prolongs no wait for an outcome")
    func followedInWait() async throws {
        let base = LeapingClock()
        let gateway = sampleGateway(
            store: InMemoryWakeStore(), sender: ScriptedSender(), clock: base)
        let mover = mover(of: base)
        defer { mover.cancel() }
        try await withRunning(gateway) { () async throws in
            _ = await gateway.accept(Samples.request(device: 1))
            // Held back by the budget.
            let waiting = try #require(
                await gateway.accept(Samples.request(device: 1)).admittedID)
            base.leap(milliseconds: -3_600_000)
            try await eventually { !gateway.readiness.isReady }
            let started = ContinuousClock.now
            async let outcome = gateway.outcome(of: waiting, within: 5_000)
            try await eventually { gateway.context.hub.waiterCount == 1 }
            base.pass(milliseconds: 60_000)
            #expect(try await outcome?.state == .pending)
            #expect(ContinuousClock.now - started < .seconds(30))
        }
    }
}
