// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayTestKit
import Testing
import WakeModel

@Suite("The store's contract: webhooks")
struct WebhookContractTests {
    private let lane = Lane(app: Samples.app, kind: .background)

    /// What waits for an endpoint.
    private func claim(
        _ desk: Counter, of endpoint: WebhookEndpointID = Samples.endpoint, at: WallInstant? = nil,
        leaseSeconds: Int64 = 30, limit: Int = 10
    ) async throws -> WebhookBatch {
        let now = at ?? desk.now.advanced(bySeconds: 1)
        return try await desk.store.claimWebhooks(
            of: endpoint, at: now, until: now.advanced(bySeconds: leaseSeconds), limit: limit)
    }

    private func settle(
        _ desk: Counter, _ items: [WebhookItem], _ effect: WebhookSettlement.Effect
    ) async throws {
        try await desk.store.settleWebhooks(
            items.map { WebhookSettlement(ticket: $0.ticket, effect: effect) })
    }

    @Test(
        "They are leased, come again, and go when they are settled", arguments: StoreKind.allCases)
    func leases(_ kind: StoreKind) async throws {
        try await kind.withCounter { (desk) async throws in
            try await desk.settleSent(try await desk.claimOne(Samples.wake()))
            let halt = AppHalt(lane: lane, isHalted: true, reason: "a bad key", at: desk.now)
            try await desk.store.note(halt, under: desk.rules)
            let now = desk.now.advanced(bySeconds: 1)
            let lease = now.advanced(bySeconds: 30)
            let items = try await claim(desk, at: now).items
            #expect(Set(items.map(\.event.kind)) == [.outcome, .appHalted])
            #expect(items.contains { $0.event == .appHalted(halt) })
            #expect(items.allSatisfy { $0.tries == 0 })
            #expect(try await claim(desk, at: now) == WebhookBatch(backlogCount: 2))

            let again = try await claim(desk, at: lease, limit: 1).items
            #expect(again.map(\.tries) == [1])
            // The old lease is void; the new one counts.
            try await settle(desk, items, .done)
            let at = lease.advanced(bySeconds: 60)
            try await settle(desk, again, .retry(at: at))
            #expect(
                try await claim(desk, at: at.advanced(bySeconds: -1))
                    == WebhookBatch(backlogCount: 1))
            let last = try await claim(desk, at: at).items
            #expect(last.map(\.ticket.number) == again.map(\.ticket.number))
            // Nobody listens: nothing is written.
            try await desk.store.note(halt, under: StoreRules())
            try await settle(desk, last, .done)
            // Twice changes nothing.
            try await settle(desk, last, .done)
            let far = at.advanced(bySeconds: 1_000)
            #expect(try await claim(desk, at: far) == WebhookBatch())
        }
    }

    @Test(
        "An event whose wake is gone before anybody took it counts as dropped",
        arguments: StoreKind.allCases)
    func outlived(_ kind: StoreKind) async throws {
        try await kind.withCounter { (desk) async throws in
            try await desk.settleSent(try await desk.claimOne(Samples.wake()))
            let later = desk.later(10 * 86_400)
            let order = PruneOrder(
                now: later.now, wakesBefore: later.now.advanced(bySeconds: -86_400),
                devicesBefore: desk.now, webhooks: desk.rules.webhooks, limit: 100)
            #expect(try await desk.store.prune(order).wakes == 1)
            let batch = try await claim(desk, at: later.now)
            #expect(batch.items.isEmpty && batch.backlogCount == 0 && batch.droppedCount == 1)
        }
    }

    @Test(
        "What was told of a lane is remembered, until another thing is told",
        arguments: StoreKind.allCases)
    func toldHalts(_ kind: StoreKind) async throws {
        try await kind.withCounter { (desk) async throws in
            func note(_ isHalted: Bool, _ rules: StoreRules = Samples.rules) async throws {
                let halt = AppHalt(lane: lane, isHalted: isHalted, reason: "", at: desk.now)
                try await desk.store.note(halt, under: rules)
            }
            func told() async throws -> WallInstant? {
                try await desk.store.lanes().first { $0.lane == lane }?.haltToldAt
            }
            try await note(true, StoreRules())
            #expect(try await told() == nil)
            try await note(true)
            #expect(try await told() == desk.now)
            // A pause is beside it, and who hears nothing learns nothing.
            let pause = LanePause(at: desk.now, reason: nil)
            try await desk.store.setPause(pause, of: [lane])
            try await desk.store.setPause(nil, of: [lane])
            try await note(false, StoreRules())
            #expect(try await told() == desk.now)
            try await note(false)
            #expect(try await told() == nil)
            #expect(try await claim(desk).items.count == 2)
        }
    }

    @Test(
        "Each endpoint has what it listens to, and its own leases", arguments: StoreKind.allCases)
    func endpoints(_ kind: StoreKind) async throws {
        try await kind.withCounter { (desk) async throws in
            var desk = desk
            desk.rules.webhooks = [
                WebhookSubscription(endpoint: Samples.endpoint, kinds: [.outcome]),
                WebhookSubscription(
                    endpoint: Samples.otherEndpoint, kinds: [.outcome, .appHalted],
                    apps: [Samples.otherApp.bundleID]),
            ]
            try await desk.settleSent(try await desk.claimOne(Samples.wake(device: 1)))
            try await desk.settleSent(
                try await desk.claimOne(Samples.wake(app: Samples.otherApp, device: 2)))
            for app in [Samples.app, Samples.otherApp] {
                let calls = Lane(app: app, kind: .voip)
                try await desk.store.note(
                    AppHalt(lane: calls, isHalted: true, reason: "", at: desk.now),
                    under: desk.rules)
            }
            let first = try await claim(desk)
            #expect(first.items.map(\.event.kind) == [.outcome, .outcome])
            let second = try await claim(desk, of: Samples.otherEndpoint)
            #expect(Set(second.items.map(\.event.kind)) == [.outcome, .appHalted])
            #expect(
                Set(second.items.map(\.ticket.number)).isDisjoint(
                    with: first.items.map(\.ticket.number)))
            #expect(second.backlogCount == 2)
            // What one has done with, the other still has.
            try await settle(desk, first.items, .done)
            let later = desk.now.advanced(bySeconds: 60)
            #expect(try await claim(desk, at: later) == WebhookBatch())
            let again = try await claim(desk, of: Samples.otherEndpoint, at: later)
            #expect(
                again.items.map(\.ticket.number).sorted()
                    == second.items.map(\.ticket.number).sorted())
        }
    }

    @Test(
        "A full backlog drops what comes later, counts it, and nobody else loses anything",
        arguments: StoreKind.allCases)
    func bounds(_ kind: StoreKind) async throws {
        try await kind.withCounter { (desk) async throws in
            var desk = desk
            desk.rules.webhooks = [
                WebhookSubscription(
                    endpoint: Samples.endpoint, kinds: [.outcome], backlogCount: 2),
                WebhookSubscription(endpoint: Samples.otherEndpoint, kinds: [.outcome]),
            ]
            // In one transaction, and then in another.
            let wakes = (1...3).map { Samples.wake(device: UInt64($0)) }
            let claims = try await {
                try await desk.admit(wakes)
                return try await desk.claim().claims
            }()
            #expect(claims.count == 3)
            _ = try await desk.store.settle(
                claims.map {
                    Settlement(
                        ticket: $0.ticket, at: desk.now, attempt: .accepted(apnsUniqueID: nil),
                        effect: .end(.sent(apnsUniqueID: nil)))
                }, under: desk.rules)
            try await desk.settleSent(try await desk.claimOne(Samples.wake(device: 4)))
            let full = try await claim(desk)
            #expect(full.items.count == 2 && full.backlogCount == 2 && full.droppedCount == 2)
            #expect(try await claim(desk, of: Samples.otherEndpoint).items.count == 4)
            // Once there is room again, events are kept again.
            try await settle(desk, full.items, .done)
            try await desk.settleSent(try await desk.claimOne(Samples.wake(device: 5)))
            let next = try await claim(desk)
            #expect(next.items.count == 1 && next.backlogCount == 1 && next.droppedCount == 2)
        }
    }

    @Test(
        "What waits for an endpoint that is gone is removed in steps", arguments: StoreKind.allCases
    )
    func removal(_ kind: StoreKind) async throws {
        try await kind.withCounter { (desk) async throws in
            var desk = desk
            desk.rules.webhooks.append(
                WebhookSubscription(endpoint: Samples.otherEndpoint, kinds: [.outcome]))
            for device in 1...3 as ClosedRange<UInt64> {
                try await desk.settleSent(try await desk.claimOne(Samples.wake(device: device)))
            }
            // Leases keep nothing.
            #expect(try await claim(desk, of: Samples.otherEndpoint, limit: 1).items.count == 1)
            let order = PruneOrder(
                now: desk.now, wakesBefore: desk.now.advanced(bySeconds: -1),
                devicesBefore: desk.now.advanced(bySeconds: -1),
                webhooks: Samples.rules.webhooks, limit: 2)
            let steps = [
                try await desk.store.prune(order), try await desk.store.prune(order),
                try await desk.store.prune(order),
            ]
            #expect(steps.map(\.webhooks) == [2, 1, 0])
            #expect(steps.map { $0.isFull(2) } == [true, false, false])
            #expect(try await claim(desk, of: Samples.otherEndpoint) == WebhookBatch())
            #expect(try await claim(desk).items.count == 3)
        }
    }

    @Test(
        "What waits for an endpoint that is gone has a grace, and is delivered when it is back",
        arguments: StoreKind.allCases)
    func grace(_ kind: StoreKind) async throws {
        try await kind.withCounter { (desk) async throws in
            for device in 1...3 as ClosedRange<UInt64> {
                try await desk.settleSent(try await desk.claimOne(Samples.wake(device: device)))
            }
            /// A step of pruning so many hours later.
            func prune(
                _ hours: Int64, _ webhooks: [WebhookSubscription] = []
            ) async throws -> Pruned {
                let now = desk.later(hours * 3_600).now
                return try await desk.store.prune(
                    PruneOrder(
                        now: now, wakesBefore: desk.now, devicesBefore: desk.now,
                        webhooks: webhooks, webhookGraceSeconds: 86_400, limit: 2))
            }
            var step = try await prune(0)
            #expect(step.webhooks == 0 && step.waitingWebhooks == 3)
            #expect(step.waitingUntil == desk.later(86_400).now)
            step = try await prune(23)
            #expect(step.webhooks == 0 && step.waitingUntil == desk.later(86_400).now)
            // It is configured again: all is there, and the next time has a grace of its own.
            step = try await prune(23, Samples.rules.webhooks)
            #expect(step.waitingWebhooks == 0 && step.waitingUntil == nil)
            let at = desk.later(23 * 3_600).now
            #expect(try await claim(desk, at: at, leaseSeconds: 1).items.count == 3)
            step = try await prune(30)
            #expect(step.webhooks == 0 && step.waitingUntil == desk.later(54 * 3_600).now)
            // A clock that was set back makes it no longer.
            step = try await prune(20)
            #expect(step.waitingUntil == desk.later(44 * 3_600).now)
            step = try await prune(44)
            #expect(step.webhooks == 2 && step.isFull(2))
            step = try await prune(44)
            #expect(step.webhooks == 1 && step.waitingWebhooks == 0)
            #expect(try await claim(desk) == WebhookBatch())
        }
    }
}
