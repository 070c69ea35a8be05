// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayTestKit
import StoreTestKit
import Testing
import WakeModel

@Suite("The store's contract: webhooks")
struct WebhookContractTests {
    private let queue = WakeQueueKey(app: Samples.app, kind: .background)

    /// What waits for an endpoint.
    private func claim(
        _ connection: Counter, of endpoint: WebhookEndpointID = Samples.endpoint,
        at: WallInstant? = nil,
        leaseSeconds: Int64 = 30, limit: Int = 10
    ) async throws -> WebhookBatch {
        let now = at ?? connection.now.advanced(bySeconds: 1)
        return try await connection.store.perform(
            ClaimWebhooks(
                of: endpoint, at: now, until: now.advanced(bySeconds: leaseSeconds), limit: limit))
    }

    private func settle(
        _ connection: Counter, _ items: [WebhookItem], _ effect: WebhookSettlement.Effect
    ) async throws {
        try await connection.store.perform(
            SettleWebhooks(
                items.map { WebhookSettlement(ticket: $0.ticket, effect: effect) }))
    }

    @Test(
        "They are leased, come again, and go when they are settled", arguments: StoreKind.allCases)
    func leases(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            try await connection.settleSent(try await connection.claimOne(Samples.wake()))
            let hold = AppHold(
                queue: queue, isHeld: true, reason: "a bad key", at: connection.now)
            try await connection.store.perform(NoteHold(hold, under: connection.rules))
            let now = connection.now.advanced(bySeconds: 1)
            let lease = now.advanced(bySeconds: 30)
            let items = try await claim(connection, at: now).items
            #expect(Set(items.map(\.event.kind)) == [.outcome, .appHeld])
            #expect(items.contains { $0.event == .appHeld(hold) })
            #expect(items.allSatisfy { $0.tries == 0 })
            #expect(try await claim(connection, at: now) == WebhookBatch(backlogCount: 2))

            let again = try await claim(connection, at: lease, limit: 1).items
            #expect(again.map(\.tries) == [1])
            // The old lease is void; the new one counts.
            try await settle(connection, items, .done)
            let at = lease.advanced(bySeconds: 60)
            try await settle(connection, again, .retry(at: at))
            #expect(
                try await claim(connection, at: at.advanced(bySeconds: -1))
                    == WebhookBatch(backlogCount: 1))
            let last = try await claim(connection, at: at).items
            #expect(last.map(\.ticket.number) == again.map(\.ticket.number))
            // Without a subscriber nothing is written.
            try await connection.store.perform(NoteHold(hold, under: StoreRules()))
            try await settle(connection, last, .done)
            // Twice changes nothing.
            try await settle(connection, last, .done)
            let far = at.advanced(bySeconds: 1_000)
            #expect(try await claim(connection, at: far) == WebhookBatch())
        }
    }

    @Test(
        "An event whose wake is gone before anybody took it counts as dropped",
        arguments: StoreKind.allCases)
    func outlived(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            try await connection.settleSent(try await connection.claimOne(Samples.wake()))
            let later = connection.later(10 * 86_400)
            let order = PruneOrder(
                now: later.now, wakesBefore: later.now.advanced(bySeconds: -86_400),
                devicesBefore: connection.now, webhooks: connection.rules.webhooks, limit: 100)
            #expect(try await connection.store.prune(order).wakes == 1)
            let batch = try await claim(connection, at: later.now)
            #expect(batch.items.isEmpty && batch.backlogCount == 0 && batch.droppedCount == 1)
        }
    }

    @Test(
        "What was told of a queue is remembered, until another thing is told",
        arguments: StoreKind.allCases)
    func toldHolds(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            func note(_ isHeld: Bool, _ rules: StoreRules = Samples.rules) async throws {
                let hold = AppHold(queue: queue, isHeld: isHeld, reason: "", at: connection.now)
                try await connection.store.perform(NoteHold(hold, under: rules))
            }
            func told() async throws -> WallInstant? {
                try await connection.store.perform(ListQueues()).first { $0.queue == queue }?
                    .heldToldAt
            }
            try await note(true, StoreRules())
            #expect(try await told() == nil)
            try await note(true)
            #expect(try await told() == connection.now)
            // A pause is independent of it, and endpoints that do not subscribe get nothing.
            let pause = QueuePause(at: connection.now, reason: nil)
            try await connection.store.perform(SetPause(pause, of: [queue]))
            try await connection.store.perform(SetPause(nil, of: [queue]))
            try await note(false, StoreRules())
            #expect(try await told() == connection.now)
            try await note(false)
            #expect(try await told() == nil)
            #expect(try await claim(connection).items.count == 2)
        }
    }

    @Test(
        "Each endpoint has what it listens to, and its own leases", arguments: StoreKind.allCases)
    func endpoints(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            var connection = connection
            connection.rules.webhooks = [
                WebhookSubscription(endpoint: Samples.endpoint, kinds: [.outcome]),
                WebhookSubscription(
                    endpoint: Samples.otherEndpoint, kinds: [.outcome, .appHeld],
                    apps: [Samples.otherApp.bundleID]),
            ]
            try await connection.settleSent(try await connection.claimOne(Samples.wake(device: 1)))
            try await connection.settleSent(
                try await connection.claimOne(Samples.wake(app: Samples.otherApp, device: 2)))
            for app in [Samples.app, Samples.otherApp] {
                let calls = WakeQueueKey(app: app, kind: .voip)
                try await connection.store.perform(
                    NoteHold(
                        AppHold(queue: calls, isHeld: true, reason: "", at: connection.now),
                        under: connection.rules))
            }
            let first = try await claim(connection)
            #expect(first.items.map(\.event.kind) == [.outcome, .outcome])
            let second = try await claim(connection, of: Samples.otherEndpoint)
            #expect(Set(second.items.map(\.event.kind)) == [.outcome, .appHeld])
            #expect(
                Set(second.items.map(\.ticket.number)).isDisjoint(
                    with: first.items.map(\.ticket.number)))
            #expect(second.backlogCount == 2)
            // What one has done with, the other still has.
            try await settle(connection, first.items, .done)
            let later = connection.now.advanced(bySeconds: 60)
            #expect(try await claim(connection, at: later) == WebhookBatch())
            let again = try await claim(connection, of: Samples.otherEndpoint, at: later)
            #expect(
                again.items.map(\.ticket.number).sorted()
                    == second.items.map(\.ticket.number).sorted())
        }
    }

    @Test(
        "A full backlog drops what comes later, counts it, and nobody else loses anything",
        arguments: StoreKind.allCases)
    func bounds(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            var connection = connection
            connection.rules.webhooks = [
                WebhookSubscription(
                    endpoint: Samples.endpoint, kinds: [.outcome], backlogCount: 2),
                WebhookSubscription(endpoint: Samples.otherEndpoint, kinds: [.outcome]),
            ]
            // In one transaction, and then in another.
            let wakes = (1...3).map { Samples.wake(device: UInt64($0)) }
            let claims = try await {
                try await connection.admit(wakes)
                return try await connection.claim().claims
            }()
            #expect(claims.count == 3)
            _ = try await connection.store.perform(
                SettleWakes(
                    claims.map {
                        Settlement(
                            ticket: $0.ticket, at: connection.now,
                            attempt: .accepted(apnsUniqueID: nil),
                            effect: .end(.sent(apnsUniqueID: nil)))
                    }, under: connection.rules))
            try await connection.settleSent(try await connection.claimOne(Samples.wake(device: 4)))
            let full = try await claim(connection)
            #expect(full.items.count == 2 && full.backlogCount == 2 && full.droppedCount == 2)
            #expect(try await claim(connection, of: Samples.otherEndpoint).items.count == 4)
            // Below the limit, events are kept again.
            try await settle(connection, full.items, .done)
            try await connection.settleSent(try await connection.claimOne(Samples.wake(device: 5)))
            let next = try await claim(connection)
            #expect(next.items.count == 1 && next.backlogCount == 1 && next.droppedCount == 2)
        }
    }

    @Test(
        "What waits for an endpoint that is gone is removed in steps", arguments: StoreKind.allCases
    )
    func removal(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            var connection = connection
            connection.rules.webhooks.append(
                WebhookSubscription(endpoint: Samples.otherEndpoint, kinds: [.outcome]))
            for device in 1...3 as ClosedRange<UInt64> {
                try await connection.settleSent(
                    try await connection.claimOne(Samples.wake(device: device)))
            }
            // Leases keep nothing.
            #expect(
                try await claim(connection, of: Samples.otherEndpoint, limit: 1).items.count == 1)
            let order = PruneOrder(
                now: connection.now, wakesBefore: connection.now.advanced(bySeconds: -1),
                devicesBefore: connection.now.advanced(bySeconds: -1),
                webhooks: Samples.rules.webhooks, limit: 2)
            let steps = [
                try await connection.store.prune(order), try await connection.store.prune(order),
                try await connection.store.prune(order),
            ]
            #expect(steps.map(\.webhooks) == [2, 1, 0])
            #expect(steps.map { $0.isFull(2) } == [true, false, false])
            #expect(try await claim(connection, of: Samples.otherEndpoint) == WebhookBatch())
            #expect(try await claim(connection).items.count == 3)
        }
    }

    @Test(
        "What waits for an endpoint that is gone has a grace, and is delivered when it is back",
        arguments: StoreKind.allCases)
    func grace(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            for device in 1...3 as ClosedRange<UInt64> {
                try await connection.settleSent(
                    try await connection.claimOne(Samples.wake(device: device)))
            }
            /// A step of pruning so many hours later.
            func prune(
                _ hours: Int64, _ webhooks: [WebhookSubscription] = []
            ) async throws -> Pruned {
                let now = connection.later(hours * 3_600).now
                return try await connection.store.prune(
                    PruneOrder(
                        now: now, wakesBefore: connection.now, devicesBefore: connection.now,
                        webhooks: webhooks, webhookGraceSeconds: 86_400, limit: 2))
            }
            var step = try await prune(0)
            #expect(step.webhooks == 0 && step.waitingWebhooks == 3)
            #expect(step.waitingUntil == connection.later(86_400).now)
            step = try await prune(23)
            #expect(step.webhooks == 0 && step.waitingUntil == connection.later(86_400).now)
            // It is configured again: all is there, and the next time has a grace of its own.
            step = try await prune(23, Samples.rules.webhooks)
            #expect(step.waitingWebhooks == 0 && step.waitingUntil == nil)
            let at = connection.later(23 * 3_600).now
            #expect(try await claim(connection, at: at, leaseSeconds: 1).items.count == 3)
            step = try await prune(30)
            #expect(step.webhooks == 0 && step.waitingUntil == connection.later(54 * 3_600).now)
            // A clock that was set back makes it no longer.
            step = try await prune(20)
            #expect(step.waitingUntil == connection.later(44 * 3_600).now)
            step = try await prune(44)
            #expect(step.webhooks == 2 && step.isFull(2))
            step = try await prune(44)
            #expect(step.webhooks == 1 && step.waitingWebhooks == 0)
            #expect(try await claim(connection) == WebhookBatch())
        }
    }
}
