// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayTestKit
import StoreTestKit
import Testing
import WakeBudget
import WakeModel

@Suite("What every store keeps to: devices, receipts, feeds and retention")
struct DeviceContractTests {
    private let queue = WakeQueueKey(app: Samples.app, kind: .background)

    private func report(
        _ report: DeviceReport, _ connection: Counter, device: UInt64 = 7, makes: Bool = false
    ) async throws -> ReportOutcome {
        try await connection.store.perform(
            ReportDevice(
                report, of: Samples.deviceToken(device), in: [queue], makes: makes,
                at: connection.now,
                under: connection.rules))
    }

    private func view(_ connection: Counter, device: UInt64 = 7) async throws -> DeviceView {
        try #require(
            try await connection.store.perform(
                FindDevices(
                    Samples.deviceToken(device), in: Samples.queues, at: connection.now,
                    under: connection.rules
                )
            ).first)
    }

    @Test(
        "A pending wake is cancelled; one in hand, or ended, is not", arguments: StoreKind.allCases)
    func cancelling(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let id = try await connection.admitOne(Samples.wake(dueIn: 60)).id
            let outcome = try await connection.store.perform(
                CancelWake(
                    id, at: connection.now, under: connection.rules))
            #expect(outcome.isCancelled == true && outcome.ended.map(\.end) == [.cancelled])
            let again = try await connection.store.perform(
                CancelWake(
                    id, at: connection.now, under: connection.rules))
            #expect(again.isCancelled == false && again.ended.isEmpty)
            let unknown = try await connection.store.perform(
                CancelWake(
                    Samples.freshID(), at: connection.now, under: connection.rules))
            #expect(unknown.isCancelled == nil)
            #expect(try await connection.later(60).claim().claims.isEmpty)
            // The budget is as it was: the next wake may be sent immediately.
            let claim = try await connection.claimOne(Samples.wake())
            let late = try await connection.store.perform(
                CancelWake(
                    claim.id, at: connection.now, under: connection.rules))
            #expect(late.isCancelled == false)
        }
    }

    @Test("Reports hold, release, suppress and supersede what waits", arguments: StoreKind.allCases)
    func signals(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let id = try await connection.admitOne(Samples.wake()).id
            _ = try await report(.signals([.lowPowerMode(true)]), connection)
            #expect(try await connection.claim().claims.isEmpty)
            #expect(try await connection.record(id).holds == DelayReasons(.lowPowerMode))
            _ = try await report(.signals([.lowPowerMode(false)]), connection)
            #expect(try await connection.store.perform(NextDue(in: [queue])) == connection.now)

            let foreground = try await report(.signals([.foreground]), connection)
            #expect(foreground.ended.map(\.end) == [.superseded])
            #expect(try await connection.record(id).state == .superseded)

            let other = try await connection.admitOne(Samples.wake(dueIn: 60, device: 8)).id
            let off = try await report(
                .signals([.backgroundAppRefresh(false)]), connection, device: 8)
            guard case .suppressed(.backgroundAppRefreshOff) = off.ended.first?.end else {
                Issue.record("It was not suppressed: \(off.ended).")
                return
            }
            #expect(try await connection.record(other).state == .suppressed)
            let next = try await connection.admitOne(Samples.wake(device: 8))
            guard case .suppressed(.backgroundAppRefreshOff) = next.decision else {
                Issue.record("It was let through: \(next.decision).")
                return
            }
        }
    }

    @Test("An unknown device is made only when that is asked for", arguments: StoreKind.allCases)
    func unknownDevice(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            #expect(try await report(.signals([.foreground]), connection).devices == 0)
            #expect(try await report(.signals([.foreground]), connection, makes: true).devices == 1)
            #expect(try await view(connection).recent.isEmpty)
        }
    }

    @Test(
        "A 410 kills the token and tells the feed; a registration revives it",
        arguments: StoreKind.allCases)
    func deadToken(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let deadSince = connection.now.advanced(bySeconds: -60)
            let refusal = Refusal(status: 410, reason: .unregistered, tokenDeadSince: deadSince)
            let claim = try await connection.claimOne(Samples.wake())
            try await connection.settle(
                claim, .end(.undeliverable(refusal)), attempt: .refused(refusal))
            #expect(try await view(connection).deadSince == deadSince)
            let feed = try await connection.store.perform(ReadFeedback(after: 0, limit: 10))
            #expect(feed.map(\.kind) == [.tokenDead] && feed.map(\.wake) == [claim.id])
            #expect(feed.map(\.deviceToken) == [Samples.deviceToken()])
            #expect(feed.map(\.refusal) == [refusal])
            #expect(
                try await connection.store.perform(ReadFeedback(after: feed[0].number, limit: 10))
                    .isEmpty)
            let next = try await connection.admitOne(Samples.wake())
            #expect(next.decision == .suppressed(.deviceTokenDead(since: deadSince)))

            _ = try await report(.registered(at: connection.now), connection)
            #expect(try await view(connection).deadSince == nil)
            #expect(try await view(connection).registeredAt == connection.now)
            // The refused push was refunded, and the same 410 does not count any more.
            let later = connection.later(2)
            let alive = try await later.claimOne(Samples.wake(at: later.now))
            let answer = try await later.settle(
                alive, .end(.undeliverable(refusal)), attempt: .refused(refusal))
            #expect(answer.ended.map(\.end) == [.rejected(refusal)])
            #expect(try await view(connection).deadSince == nil)
            #expect(
                try await connection.store.perform(ReadFeedback(after: 0, limit: 10)).count == 1)
        }
    }

    @Test("A wrong environment is told and kills nothing", arguments: StoreKind.allCases)
    func environment(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let refusal = Refusal(status: 400, reason: .badDeviceToken)
            let claim = try await connection.claimOne(Samples.wake())
            try await connection.settle(claim, .end(.rejected(refusal)), attempt: .refused(refusal))
            let feed = try await connection.store.perform(ReadFeedback(after: 0, limit: 10))
            #expect(feed.map(\.kind) == [.environmentMismatch])
            #expect(try await view(connection).deadSince == nil)
        }
    }

    @Test(
        "A receipt is booked once, for the wake that carried the one it names",
        arguments: StoreKind.allCases)
    func receipts(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let first = try await connection.admitOne(Samples.wake()).id
            let merged = try await connection.admitOne(Samples.wake()).id
            let waiting = try await connection.admitOne(Samples.wake(dueIn: 60, device: 8)).id
            try await connection.settleSent(try #require(try await connection.claim().claims.first))
            let later = connection.later(5)
            let outcome = try await connection.store.confirm(
                [
                    Receipt(id: merged), Receipt(id: first), Receipt(id: waiting),
                    Receipt(id: Samples.freshID()),
                ], at: later.now, under: connection.rules)
            #expect(outcome.answers == [.recorded, .repeated, .notSent, .unknownWake])
            #expect(try await connection.record(first).launchedAt == later.now)
            #expect(try await connection.record(merged).launchedAt == later.now)
            let view = try await view(later)
            #expect(view.topicConfirmsLaunches && view.lastReceiptAt == later.now)
            #expect(
                try await connection.store.perform(ListQueues()).filter(\.confirmsLaunches).map(
                    \.queue) == [
                        queue
                    ])
            // A device that confirms may be woken again after a minute.
            let next = try await later.admitOne(Samples.wake(at: later.now))
            guard case .deferred(let until, _) = next.decision else {
                Issue.record("It does not wait: \(next.decision).")
                return
            }
            #expect(until == connection.now.advanced(bySeconds: 60))
        }
    }

    @Test(
        "A receipt may name a wake by its ref and the device: the newest of that name is meant",
        arguments: StoreKind.allCases)
    func receiptsByRef(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let first = try await connection.claimOne(Samples.wake(ref: "a"))
            try await connection.settleSent(first)
            var later = connection.later(1_000)
            let second = try await later.claimOne(Samples.wake(at: later.now, ref: "a"))
            try await later.settleSent(second)
            // Another device's, and another of this one, also as a call.
            try await later.admit([Samples.wake(at: later.now, device: 8, ref: "a")])
            let call = try await later.claimOne(
                Samples.wake(.voip, app: Samples.otherApp, at: later.now, call: 1, ref: "call"))
            try await later.admit([Samples.wake(at: later.now, dueIn: 600, ref: "b")])
            later = later.later(5)
            func confirm(_ ref: String, device: UInt64 = 7) async throws -> [ReceiptAnswer] {
                try await later.store.confirm(
                    [Receipt(.ref(Samples.name(ref), Samples.deviceToken(device)))],
                    at: later.now, under: later.rules
                ).answers
            }
            #expect(try await confirm("a") == [.recorded])
            #expect(try await confirm("a") == [.repeated])
            #expect(try await later.record(second.id).launchedAt == later.now)
            #expect(try await later.record(first.id).launchedAt == nil)
            #expect(try await later.record(second.id).ref == Samples.name("a"))
            #expect(try await confirm("call") == [.recorded])
            #expect(try await later.record(call.id).launchedAt == later.now)
            #expect(try await confirm("b") == [.notSent])
            #expect(try await confirm("c") == [.unknownWake])
            #expect(try await confirm("a", device: 9) == [.unknownWake])
        }
    }

    // A ledger's clock stops after a small step back. For a wake claimed meanwhile, the ledger
    // would record a later send than the row, and treat it as one after the launch which its
    // receipt confirms.
    @Test(
        "After a small step back of the clock a receipt still confirms its own send",
        arguments: StoreKind.allCases, [false, true])
    func receiptAfterStepBack(_ kind: StoreKind, mayClaimAtOnce: Bool) async throws {
        let grant =
            mayClaimAtOnce
            ? ClaimGrant(queues: [queue], background: 9, calls: 0, leaseSeconds: 60) : nil
        try await kind.withCounter { (connection) async throws in
            let first = try await connection.claimOne(Samples.wake())
            try await connection.settleSent(first)
            try await confirm(first, connection.later(2))
            let early = connection.later(-60)
            let urgent = Samples.wake(at: early.now, urgency: .urgent)
            let answer = try await early.admit([urgent], grant: grant)
            var claims = answer.claims + (try await early.claim().claims)
            let later = connection.later(5)
            claims += try await later.claim().claims
            let second = try #require(claims.first)
            try await later.settleSent(second)
            try await confirm(second, later.later(2))
        }
    }

    private func confirm(_ claim: Claim, _ connection: Counter) async throws {
        let outcome = try await connection.store.confirm(
            [Receipt(id: claim.id, launchedAt: connection.now)], at: connection.now,
            under: connection.rules)
        #expect(outcome.answers == [.recorded])
        #expect(try await view(connection).explanation.unconfirmedSends == 0)
    }

    @Test("A claimed wake is a send without an outcome", arguments: StoreKind.allCases)
    func inFlight(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let claim = try await connection.claimOne(Samples.wake())
            #expect(try await view(connection).explanation.inFlight == 1)
            try await connection.settleSent(claim)
            #expect(try await view(connection).explanation.inFlight == 0)
        }
    }

    @Test("A receipt of an app that has synced ends what waits", arguments: StoreKind.allCases)
    func synced(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let claim = try await connection.claimOne(Samples.wake())
            try await connection.settleSent(claim)
            let waiting = try await connection.later(2).admitOne(
                Samples.wake(at: connection.now.advanced(bySeconds: 2)))
            let outcome = try await connection.store.confirm(
                [
                    Receipt(
                        id: claim.id, launchedAt: connection.now.advanced(bySeconds: 10),
                        hasSynced: true)
                ], at: connection.now.advanced(bySeconds: 11), under: connection.rules)
            #expect(outcome.ended.map(\.id) == [waiting.id])
            #expect(outcome.ended.map(\.end) == [.superseded])
        }
    }

    @Test("A forgotten device begins anew", arguments: StoreKind.allCases)
    func forgetting(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            try await connection.settleSent(try await connection.claimOne(Samples.wake()))
            let waiting = try await connection.admitOne(Samples.wake()).id
            let outcome = try await report(.forget, connection)
            #expect(outcome.ended.map(\.id) == [waiting])
            #expect(outcome.ended.map(\.end) == [.cancelled])
            #expect(try await connection.admitOne(Samples.wake()).decision == .send)
        }
    }

    @Test("A forgotten device without wakes is unknown at once", arguments: StoreKind.allCases)
    func forgettingAtOnce(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let signals = DeviceReport.signals([.lowPowerMode(true)])
            _ = try await report(signals, connection, makes: true)
            _ = try await report(signals, connection, device: 8, makes: true)
            #expect(try await report(.forget, connection).devices == 1)
            #expect(try await connection.knownCount(7...8) == 1)
            #expect(try await report(.forget, connection).devices == 0)
            // It may come again, and begins anew.
            #expect(try await connection.admitOne(Samples.wake()).decision == .send)
            #expect(try await connection.knownCount(7...8) == 2)
        }
    }

    @Test(
        "A forgotten device goes with the last of its wakes, however long devices are kept",
        arguments: StoreKind.allCases)
    func forgettingWithWakes(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let claim = try await connection.claimOne(Samples.wake())
            try await connection.settleSent(claim)
            try await connection.settleSent(try await connection.claimOne(Samples.wake(device: 8)))
            _ = try await report(.signals([.lowPowerMode(true)]), connection)
            _ = try await report(.registered(at: connection.now), connection)
            #expect(try await report(.forget, connection).devices == 1)
            let view = try await view(connection)
            #expect(view.recent.map(\.id) == [claim.id] && view.registeredAt == nil)
            #expect(view.explanation.rules.isEmpty && view.explanation.hourly?.used == 0)
            func prune(_ connection: Counter) async throws -> Pruned {
                try await connection.store.prune(
                    PruneOrder(
                        now: connection.now, wakesBefore: connection.now,
                        devicesBefore: Samples.start.advanced(bySeconds: -90 * 86_400),
                        webhooks: [], limit: 100))
            }
            #expect(try await prune(connection).devices == 0)
            #expect(try await connection.record(claim.id).deviceToken == Samples.deviceToken())
            let later = connection.later(86_400)
            let pruned = try await prune(later)
            #expect(pruned.wakes == 2 && pruned.devices == 1)
            #expect(try await later.knownCount(7...8) == 1)
        }
    }

    // MARK: Lists

    @Test("Lists page through a device, a state and everything", arguments: StoreKind.allCases)
    func lists(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            var ids: [WakeID] = []
            for number in 0..<7 as Range<Int64> {
                let at = connection.now.advanced(bySeconds: number)
                ids.append(
                    try await connection.admitOne(
                        Samples.wake(at: at, device: number == 3 ? 8 : 7)
                    ).id)
            }
            let all = try await connection.pages(WakeQuery(limit: 2))
            #expect(all == ids.reversed())
            let device = try await connection.pages(
                WakeQuery(deviceToken: Samples.deviceToken(), limit: 2))
            #expect(device == ids.filter { $0 != ids[3] }.reversed())
            let pending = try await connection.pages(WakeQuery(states: [.pending], limit: 1))
            #expect(pending == [ids[3], ids[0]])
            let merged = try await connection.pages(
                WakeQuery(deviceToken: Samples.deviceToken(), states: [.coalesced]))
            #expect(merged == [6, 5, 4, 2, 1].map { ids[$0] })
            #expect(try await connection.pages(WakeQuery(app: Samples.otherApp)).isEmpty)
            let view = try await view(connection)
            #expect(view.pending?.id == ids[0] && view.recent.first?.id == ids[6])
            #expect(view.explanation.waiting?.requests == 6)
        }
    }

    /// More than one page may look at.
    private static let longChain = 5_250

    @Test(
        "A list of a device's wakes comes to its end, however many there are",
        arguments: StoreKind.allCases, [[Samples.app], [Samples.app, Samples.otherApp]])
    func longLists(_ kind: StoreKind, _ apps: [AppIdentity]) async throws {
        try await kind.withCounter { (connection) async throws in
            var ids: [WakeID] = []
            for first in stride(from: 0, to: Self.longChain, by: 750) {
                let wakes = (first..<first + 750).map { number in
                    // The second app's wakes are the newest: a page has them all to pass.
                    Samples.wake(app: apps[number * apps.count / Self.longChain])
                }
                for case .admitted(let wake) in try await connection.admit(wakes).admissions {
                    ids.append(wake.id)
                }
            }
            let token = Samples.deviceToken()
            let listed = try await connection.pages(
                WakeQuery(deviceToken: token, limit: WakeQuery.maximumLimit))
            #expect(listed == ids.reversed())
            let rare = try await connection.pages(WakeQuery(deviceToken: token, states: [.pending]))
            #expect(rare.count == apps.count && rare.last == ids.first)
            // A cursor that is no wake of the device says where in time to begin.
            let cursor = WakeID(number: ids[20].number, entropy: 0)
            let foreign = try await connection.pages(WakeQuery(deviceToken: token, after: cursor))
            #expect(foreign == ids[..<20].reversed())
        }
    }

    // MARK: Queues, webhooks, retention

    @Test("A pause is remembered until it is ended", arguments: StoreKind.allCases)
    func pauses(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let pause = QueuePause(at: connection.now, reason: "holiday")
            try await connection.store.perform(SetPause(pause, of: [queue]))
            let row = try #require(try await connection.store.perform(ListQueues()).first)
            #expect(
                row.queue == queue && row.pausedAt == connection.now && row.pauseReason == "holiday"
            )
            try await connection.store.perform(SetPause(nil, of: [queue]))
            #expect(try await connection.store.perform(ListQueues()).first?.pausedAt == nil)
        }
    }

    @Test(
        "Old ended wakes are pruned in steps, and the counts still balance",
        arguments: StoreKind.allCases)
    func pruning(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            for device in 1...5 as ClosedRange<UInt64> {
                try await connection.settleSent(
                    try await connection.claimOne(Samples.wake(device: device)))
            }
            let waiting = try await connection.admitOne(Samples.wake(dueIn: 600, device: 6)).id
            let later = connection.later(100)
            let young = try await later.admitOne(Samples.wake(at: later.now, device: 1)).id
            func order(_ limit: Int) -> PruneOrder {
                PruneOrder(
                    now: later.now, wakesBefore: later.now, devicesBefore: later.now,
                    webhooks: [], limit: limit)
            }
            #expect(try await connection.store.prune(order(3)).wakes == 3)
            #expect(try await connection.store.prune(order(3)).wakes == 2)
            let count = try await connection.store.perform(RecountWakes())
            #expect(count.accepted == 7 && count.pruned == 5 && count.isConserved)
            #expect(try await connection.store.perform(FindWake(waiting))?.state == .pending)
            #expect(try await connection.store.perform(FindWake(young))?.state == .pending)
            #expect(try await view(connection, device: 6).pending?.id == waiting)
            #expect(try await connection.store.prune(order(10)).wakes == 0)
        }
    }

    @Test(
        "Devices that nobody needs go in one walk, in steps; those with wakes stay",
        arguments: StoreKind.allCases)
    func sweeping(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let last: UInt64 = 50
            for device in 1...last {
                try await connection.settleSent(
                    try await connection.claimOne(Samples.wake(device: device)))
            }
            let later = connection.later(7_200)
            let young = try await later.admitOne(Samples.wake(at: later.now, device: 2)).id
            // Three wakes of old devices are kept, because no step takes more.
            var order = PruneOrder(
                now: later.now, wakesBefore: later.now.advanced(bySeconds: -3_600),
                devicesBefore: later.now.advanced(bySeconds: -3_600), webhooks: [], limit: 47)
            let first = try await connection.store.prune(order)
            #expect(first.wakes == 47 && first.isSweeping && first.isFull(47))
            #expect(try await later.knownCount(1...last) >= 4)
            for wake in try await connection.store.perform(ListWakes(WakeQuery(limit: 50))).wakes {
                #expect(try await later.record(wake.id) == wake)
            }
            // The next walk begins when an eighth of the retention has passed.
            order = PruneOrder(
                now: later.now, wakesBefore: order.wakesBefore, devicesBefore: order.devicesBefore,
                webhooks: [], limit: 10)
            while try await connection.store.prune(order).isFull(10) {}
            #expect(try await connection.store.prune(order).devices == 0)
            order = PruneOrder(
                now: later.now.advanced(bySeconds: 450), wakesBefore: order.wakesBefore,
                devicesBefore: order.devicesBefore.advanced(bySeconds: 450), webhooks: [],
                limit: 10)
            while try await connection.store.prune(order).isFull(10) {}
            #expect(try await later.knownCount(1...last) == 1)
            #expect(try await view(later, device: 2).pending?.id == young)
        }
    }
}
