// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayTestKit
import StoreTestKit
import Testing
import WakeModel

@Suite("The store's contract: what a clock that was 400 days ahead has left")
struct LeapContractTests {
    private static let leap: Int64 = 400 * 86_400

    private func order(_ now: WallInstant) -> PruneOrder {
        let before = now.advanced(bySeconds: -2 * 86_400)
        return PruneOrder(
            now: now, wakesBefore: before, devicesBefore: before,
            webhooks: Samples.rules.webhooks, limit: 1_000)
    }

    @Test(
        "What ended goes when its time is over, and not 400 days later",
        arguments: StoreKind.allCases)
    func retention(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let refusal = Refusal(status: 410, reason: .unregistered)
            func live(_ connection: Counter, _ device: UInt64) async throws {
                let claim = try await connection.claimOne(
                    Samples.wake(at: connection.now, device: device))
                try await connection.settle(
                    claim, .end(.undeliverable(refusal)), attempt: .refused(refusal))
            }
            try await live(connection, 1)
            try await live(connection.later(Self.leap), 2)
            // The clock is back. A week, with a wake and some pruning each day.
            for day in 0..<7 as Range<Int64> {
                let connection = connection.later(day * 86_400 + 60)
                try await live(connection, UInt64(10 + day))
                while try await connection.store.prune(order(connection.now)).isFull(1_000) {}
            }
            // What is kept is as old as the time for which it is kept, twice at the most.
            let end = connection.later(6 * 86_400 + 120)
            _ = try await end.store.prune(order(end.now))
            let kept = try await connection.store.perform(ListWakes(WakeQuery(limit: 100))).wakes
            #expect(kept.count <= 5 && kept.count >= 2, "\(kept.map(\.acceptedAt))")
            #expect(!kept.contains { $0.acceptedAt > end.now })
            let feed = try await connection.store.perform(ReadFeedback(after: 0, limit: 100))
            #expect(feed.count <= 5 && !feed.contains { $0.at > end.now })
        }
    }

    @Test("What waited is due, and its webhooks are delivered", arguments: StoreKind.allCases)
    func waiting(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let ahead = connection.later(Self.leap)
            let first = try await ahead.claimOne(Samples.wake(at: ahead.now, device: 1))
            try await ahead.settleSent(first)
            // Held back by the budget, by a wish, and by an answer.
            let waits = try await ahead.admitOne(Samples.wake(at: ahead.now, device: 1)).id
            let wish = try await ahead.admitOne(
                Samples.wake(at: ahead.now, dueIn: 600, device: 2)
            ).id
            let again = try await ahead.claimOne(Samples.wake(at: ahead.now, device: 3))
            try await ahead.settle(
                again, .retry(at: ahead.now.advanced(bySeconds: 900), charged: true),
                attempt: .refused(Refusal(status: 503, reason: nil)))

            let back = connection.later(60)
            let now = back.now
            func webhooks() async throws -> Int {
                try await back.store.perform(
                    ClaimWebhooks(
                        of: Samples.endpoint, at: now, until: now.advanced(bySeconds: 30), limit: 10
                    )
                ).items.count
            }
            #expect(try await webhooks() == 0)
            _ = try await back.store.prune(order(now))
            #expect(try await webhooks() == 1)
            // Immediately, or when the budget lets them: after a quarter of an hour.
            var claimed = Set(try await back.claim().claims.map(\.id))
            claimed.formUnion(try await back.later(905).claim().claims.map(\.id))
            #expect(claimed == [waits, wish, again.id])
        }
    }

    @Test(
        "A lease is over an hour later, so that what is in hand is not sent twice",
        arguments: StoreKind.allCases)
    func leases(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let ahead = connection.later(Self.leap)
            let id = try await ahead.admitOne(Samples.wake(at: ahead.now, device: 1)).id
            #expect(try await ahead.claim().claims.map(\.id) == [id])
            let back = connection.later(60)
            _ = try await back.store.prune(order(back.now))
            func reclaim(_ connection: Counter) async throws -> Int {
                try await connection.store.perform(
                    ReclaimLeases(
                        at: connection.now, limit: 10, under: connection.rules
                    )
                ).count
            }
            #expect(try await reclaim(back.later(3_500)) == 0)
            #expect(try await reclaim(back.later(3_700)) == 1)
        }
    }
    @Test(
        "Since when an app is paused, was told as held, or a device is untouched, is no later time",
        arguments: StoreKind.allCases)
    func since(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let ahead = connection.later(Self.leap)
            try await ahead.settleSent(
                try await ahead.claimOne(Samples.wake(at: ahead.now, device: 1)))
            let queue = Samples.queues[0]
            try await ahead.store.perform(
                SetPause(
                    QueuePause(at: ahead.now, reason: "a test"), of: [queue]))
            try await ahead.store.perform(
                NoteHold(
                    AppHold(queue: queue, isHeld: true, reason: "a bad key", at: ahead.now),
                    under: ahead.rules))
            var devices = 0
            for day in 0..<9 as Range<Int64> {
                let back = connection.later(day * 86_400 + 60)
                var pruned: Pruned
                repeat {
                    pruned = try await back.store.prune(order(back.now))
                    devices += pruned.devices
                } while pruned.isFull(1_000)
                let row = try #require(
                    try await back.store.perform(ListQueues()).first { $0.queue == queue })
                #expect(row.pauseReason == "a test")
                #expect(try #require(row.pausedAt) <= back.now)
                #expect(try #require(row.heldToldAt) <= back.now)
            }
            #expect(devices == 1, "The device stays for 400 days.")
        }
    }
}
