// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayTestKit
import StoreTestKit
import Synchronization
import Testing
import WaitKit
import WakeModel

/// What two gateways on one store make of each other's wakes.
@Suite("Two gateways on one store", .timeLimit(.minutes(10)))
struct SharedStoreTests {
    private static let kinds: [StoreKind] = [.memory, .sqlite, .postgresql]

    private let clock = ManualClock()

    /// A gateway with room for one wake in flight.
    private var narrow: GatewayLimits {
        var limits = GatewayLimits()
        limits.inFlightCount = 1
        limits.voipReserveCount = 0
        return limits
    }

    /// After so many seconds the leases that begin now have ended.
    private let leaseSeconds = Int64(GatewayLimits().leaseSeconds) + 1

    private func accept(_ life: GatewayLife, _ request: WakeRequest) async throws -> WakeID {
        try #require(await life.gateway.accept(request).admittedID)
    }

    @Test(
        "A busy one takes over what a dead one had in hand, and no phone rings twice",
        arguments: kinds)
    func takeover(_ kind: StoreKind) async throws {
        try await GatewayLives.with(kind, clock: clock) { lives, _ in
            let silent = ScriptedSender { _ in nil }
            let dead = lives.start(silent)
            let background = try await accept(dead, Samples.request())
            let call = try await accept(dead, Samples.request(.voip))
            await silent.waitUntilSent(2)
            await dead.die()

            let ownDevice: UInt64 = 99
            let sender = ScriptedSender { claim in
                claim.deviceToken == Samples.deviceToken(ownDevice) ? nil : Samples.accepted
            }
            let busy = lives.start(sender)
            clock.advance(bySeconds: 30)
            let own = try await accept(busy, Samples.request(device: ownDevice))
            await sender.waitUntilSent(1)
            clock.advance(bySeconds: leaseSeconds - 30)
            #expect(
                try await comesTrue {
                    try await busy.gateway.record(of: background)?.state == .sent
                })
            let record = try #require(try await busy.gateway.record(of: background))
            #expect(
                record.attempts.map(\.result) == [.abandoned, .accepted(apnsUniqueID: nil)])
            #expect(try await busy.gateway.record(of: call)?.end == .failed(.fateUnknown))
            #expect(sender.sent.map(\.id) == [own, background])
            #expect(try await busy.gateway.record(of: own)?.state == .claimed)
        }
    }

    @Test("What outlasts its lease here does not keep from what a dead one left", arguments: kinds)
    func slowOwn(_ kind: StoreKind) async throws {
        try await GatewayLives.with(kind, clock: clock) { lives, _ in
            let silent = ScriptedSender { _ in nil }
            let dead = lives.start(silent)
            let left = try await accept(dead, Samples.request())
            await silent.waitUntilSent(1)
            await dead.die()

            let ownDevice: UInt64 = 99
            let sender = ScriptedSender { claim in
                claim.deviceToken == Samples.deviceToken(ownDevice) ? nil : Samples.accepted
            }
            let busy = lives.start(sender)
            let own = try await accept(busy, Samples.request(device: ownDevice))
            await sender.waitUntilSent(1)
            clock.advance(bySeconds: leaseSeconds)
            #expect(
                try await comesTrue { try await busy.gateway.record(of: left)?.state == .sent })
            #expect(try await busy.gateway.record(of: own)?.state == .claimed)
        }
    }

    @Test("What one learns after the other took the wake over changes nothing", arguments: kinds)
    func lateResult(_ kind: StoreKind) async throws {
        try await GatewayLives.with(kind, clock: clock) { lives, store in
            let lines = RecordedLines()
            // If it were recorded, the device would be unregistered, whichever gateway takes the
            // wake over.
            let late = HeldSender(
                Samples.refusal(410, .unregistered), then: Samples.accepted)
            let slow = lives.start(late, limits: narrow, logger: lines.logger)
            let id = try await accept(slow, Samples.request())
            #expect(try await comesTrue { late.sendCount == 1 })
            let quick = lives.start(ScriptedSender())
            clock.advance(bySeconds: leaseSeconds)
            #expect(
                try await comesTrue {
                    // It may have begun to wait for its next look behind that leap.
                    clock.advance(byMilliseconds: 10)
                    return try await store.perform(FindWake(id))?.state == .sent
                })
            let record = try await store.perform(FindWake(id))
            late.answer()
            #expect(
                try await comesTrue {
                    lines.all.contains { $0.hasPrefix("a result came after its lease") }
                })
            #expect(try await slow.gateway.record(of: id) == record)
            #expect(try await quick.gateway.record(of: id) == record)
            let devices = try await quick.gateway.device(Samples.deviceToken())
            #expect(devices.count == 1 && devices.first?.deadSince == nil)
            #expect(try await store.perform(ReadFeedback(after: 0, limit: 10)).isEmpty)
        }
    }

    @Test(
        "A pause at one holds at the other within a second, and so does its end",
        arguments: kinds)
    func pause(_ kind: StoreKind) async throws {
        try await GatewayLives.with(kind, clock: clock) { lives, store in
            let sender = ScriptedSender()
            let first = lives.start(sender)
            let second = lives.start(sender)
            func reasons(_ life: GatewayLife) -> [String?] {
                life.gateway.apps.compactMap(\.pause).map(\.reason)
            }
            /// The reports about queues that were held or released.
            func holds() async throws -> [Bool] {
                let now = clock.now()
                return try await store.perform(
                    ClaimWebhooks(
                        of: Samples.endpoint, at: now, until: now, limit: 99
                    )
                ).items.compactMap {
                    if case .appHeld(let hold) = $0.event { hold.isHeld } else { nil }
                }
            }
            // A gateway that has sent one has read the queues, and reads them again when it is
            // time.
            _ = try await accept(first, Samples.request(app: Samples.otherApp, device: 1))
            _ = try await accept(second, Samples.request(app: Samples.otherApp, device: 2))
            await sender.waitUntilSent(2)
            #expect(try await first.gateway.pause(Samples.app, reason: "a new key"))
            clock.advance(bySeconds: 1)
            #expect(try await comesTrue { reasons(second) == ["a new key"] })
            let held = try await accept(second, Samples.request())
            let free = try await accept(
                second, Samples.request(app: Samples.otherApp, device: 3))
            #expect(try await comesTrue { try await store.perform(FindWake(free))?.state == .sent })
            #expect(try await store.perform(FindWake(held))?.state == .pending)

            #expect(try await second.gateway.resume(Samples.app))
            clock.advance(bySeconds: 1)
            #expect(try await comesTrue { reasons(first).isEmpty })
            #expect(try await comesTrue { try await store.perform(FindWake(held))?.state == .sent })
            #expect(sender.sent.count == 4)
            // The gateway that was called reports it, one queue for each kind, and no other gateway
            // does.
            #expect(try await comesTrue { try await holds() == [true, true, false, false] })
        }
    }

    @Test(
        "What one accepts and has no room for, the other finds within a second",
        arguments: kinds)
    func found(_ kind: StoreKind) async throws {
        try await GatewayLives.with(kind, clock: clock) { lives, _ in
            let silent = ScriptedSender { _ in nil }
            let full = lives.start(silent, limits: narrow)
            _ = try await accept(full, Samples.request(device: 0))
            await silent.waitUntilSent(1)
            let sender = ScriptedSender()
            let idle = lives.start(sender)
            var sent: Set<WakeID> = [try await accept(idle, Samples.request(device: 9))]
            await sender.waitUntilSent(1)
            for device in 1...4 as ClosedRange<UInt64> {
                let kind: WakeKind = device.isMultiple(of: 2) ? .voip : .background
                sent.insert(try await accept(full, Samples.request(kind, device: device)))
            }
            clock.advance(bySeconds: 1)
            await sender.waitUntilSent(sent.count)
            #expect(Set(sender.sent.map(\.id)) == sent)
        }
    }

    @Test(
        "Who waits at one for an outcome hears of it soon when it is the other's doing",
        arguments: kinds)
    func outcome(_ kind: StoreKind) async throws {
        try await GatewayLives.with(kind, clock: clock) { lives, store in
            let silent = ScriptedSender { _ in nil }
            let full = lives.start(silent, limits: narrow)
            _ = try await accept(full, Samples.request(device: 0))
            await silent.waitUntilSent(1)
            let id = try await accept(full, Samples.request(device: 1))
            let state = Mutex<WakeState?>(nil)
            let waiter = Task {
                let record = try await full.gateway.outcome(of: id, within: 60_000)
                state.withLock { $0 = record?.state }
            }
            // It reads before there is another one; if not, it is notified of the end immediately.
            try await elapse(.milliseconds(100))
            _ = lives.start(ScriptedSender())
            #expect(try await comesTrue { try await store.perform(FindWake(id))?.state == .sent })
            clock.advance(bySeconds: 1)
            #expect(try await comesTrue { state.withLock { $0 } == .sent })
            clock.advance(bySeconds: 60)
            try await waiter.value
        }
    }
}

/// Returns one result for all its claims, when the test triggers it; or for the first claim, and
/// another one immediately for the later ones.
final class HeldSender: WakeSender {
    private let result: Result<PushOutcome, SendFailure>
    private let nextResult: Result<PushOutcome, SendFailure>?
    private let sends = Atomic(0)
    private let mayAnswer = Atomic(false)

    init(
        _ result: Result<PushOutcome, SendFailure>,
        then nextResult: Result<PushOutcome, SendFailure>? = nil
    ) {
        self.result = result
        self.nextResult = nextResult
    }

    /// How many claims it was handed.
    var sendCount: Int { sends.load(ordering: .acquiring) }

    func answer() { mayAnswer.store(true, ordering: .releasing) }

    func send(
        _ batch: [Claim], at now: WallInstant, report: @escaping @Sendable (SendReport) -> Void
    ) async {
        let count = sends.wrappingAdd(batch.count, ordering: .acquiringAndReleasing).oldValue
        if count > 0, let nextResult {
            for claim in batch { report(SendReport(ticket: claim.ticket, result: nextResult)) }
            return
        }
        while !mayAnswer.load(ordering: .acquiring), !Task.isCancelled {
            // A cancelled sleep ends the wait, as the loop sees.
            try? await Task.sleep(for: .milliseconds(5))
        }
        for claim in batch { report(SendReport(ticket: claim.ticket, result: result)) }
    }
}
