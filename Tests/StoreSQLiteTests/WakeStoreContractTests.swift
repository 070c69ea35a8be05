// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayTestKit
import PayloadRules
import Testing
import WakeModel

@Suite("What every store keeps to")
struct WakeStoreContractTests {
    private let now = Samples.start
    private let lanes = WakeKind.allCases.flatMap { kind in
        [Samples.app, Samples.otherApp].map { Lane(app: $0, kind: kind) }
    }

    private func order(
        _ now: WallInstant, lanes: [Lane]? = nil, limit: Int = 100, leaseSeconds: Int64 = 60
    ) -> ClaimOrder {
        ClaimOrder(
            shares: (lanes ?? self.lanes).map { ClaimOrder.Share(lane: $0, limit: limit) },
            limit: limit, now: now, leaseUntil: now.advanced(bySeconds: leaseSeconds))
    }

    private func admit(_ wakes: [NewWake], to store: any WakeStore) async throws {
        let admissions = try await store.admit(wakes.map { Submission(wake: $0) })
        #expect(
            admissions
                == wakes.map {
                    .admitted(
                        AdmittedWake(id: $0.id, acceptedAt: $0.acceptedAt, deadline: $0.deadline))
                })
    }

    private func claimOne(
        _ kind: WakeKind, from store: any WakeStore
    ) async throws -> Claim {
        try await admit([Samples.wake(kind)], to: store)
        return try #require(try await store.claim(order(now)).first)
    }

    private func settle(
        _ claim: Claim, _ effect: Settlement.Effect, attempt: AttemptResult? = nil,
        in store: any WakeStore
    ) async throws -> SettlementVerdict? {
        try await store.settle([
            Settlement(
                ticket: claim.ticket, at: now.advanced(bySeconds: 1), attempt: attempt,
                effect: effect)
        ]).first
    }

    // MARK: Admission and claims

    @Test("A claim carries what was admitted, whole", arguments: StoreKind.allCases)
    func faithful(_ kind: StoreKind) async throws {
        try await kind.withStore { (store) async throws in
            let expiration = Expiration.at(now.advanced(bySeconds: 600))
            let wake = Samples.wake(device: 9, expiration: expiration)
            try await admit([wake], to: store)
            let claim = try #require(try await store.claim(order(now)).first)
            #expect(claim.id == wake.id)
            #expect(claim.app == Samples.app)
            #expect(claim.kind == .background)
            #expect(claim.deviceToken == wake.wake.deviceToken)
            #expect(claim.payload == wake.wake.payload)
            #expect(claim.expiration == expiration)
            #expect(claim.collapseID == nil)
            #expect(claim.deadline == wake.deadline)
            #expect(claim.tries == 0)
            #expect(claim.previousReason == nil)
            #expect(claim.claimedAt == now)
            #expect(claim.leaseUntil == now.advanced(bySeconds: 60))
        }
    }

    @Test("A wake is claimed by one only", arguments: StoreKind.allCases)
    func exclusive(_ kind: StoreKind) async throws {
        try await kind.withStore { (store) async throws in
            try await admit((0..<50).map { Samples.wake(device: $0) }, to: store)
            let claimed = try await withThrowingTaskGroup(of: [Claim].self) { group in
                for _ in 0..<10 { group.addTask { try await store.claim(order(now, limit: 7)) } }
                return try await group.reduce(into: [Claim]()) { $0 += $1 }
            }
            #expect(claimed.count == 50)
            #expect(Set(claimed.map(\.id)).count == 50)
        }
    }

    @Test("Lanes are served in order, the longest due first", arguments: StoreKind.allCases)
    func precedence(_ kind: StoreKind) async throws {
        try await kind.withStore { (store) async throws in
            let late = Samples.wake(dueIn: 2)
            let early = Samples.wake(dueIn: 1)
            let voip = Samples.wake(.voip, dueIn: 3)
            let future = Samples.wake(dueIn: 60)
            try await admit([late, future, early, voip], to: store)
            let claims = try await store.claim(order(now.advanced(bySeconds: 10)))
            // `lanes` names VoIP behind background for one app; the order decides, not the kind.
            let voipFirst = lanes.filter { $0.kind == .voip } + lanes
            #expect(Set(claims.map(\.id)) == [voip.id, early.id, late.id])
            for claim in claims {
                #expect(try await settle(claim, .release, in: store) == .applied)
            }
            let again = try await store.claim(
                order(now.advanced(bySeconds: 10), lanes: voipFirst))
            #expect(again.map(\.id) == [voip.id, early.id, late.id])
        }
    }

    @Test("Shares and the whole order have limits", arguments: StoreKind.allCases)
    func limits(_ kind: StoreKind) async throws {
        try await kind.withStore { (store) async throws in
            try await admit((0..<10).map { Samples.wake(device: $0) }, to: store)
            try await admit((0..<10).map { Samples.wake(.voip, device: $0) }, to: store)
            let background = Lane(app: Samples.app, kind: .background)
            let voip = Lane(app: Samples.app, kind: .voip)
            let claims = try await store.claim(
                ClaimOrder(
                    shares: [.init(lane: voip, limit: 3), .init(lane: background, limit: 9)],
                    limit: 5, now: now, leaseUntil: now.advanced(bySeconds: 60)))
            #expect(claims.map(\.kind) == [.voip, .voip, .voip, .background, .background])
        }
    }

    @Test("What is not due, or past its deadline, is not claimed", arguments: StoreKind.allCases)
    func dueWindow(_ kind: StoreKind) async throws {
        try await kind.withStore { (store) async throws in
            let wake = Samples.wake(dueIn: 10, lifeSeconds: 20)
            try await admit([wake], to: store)
            #expect(try await store.nextDue(in: lanes) == now.advanced(bySeconds: 10))
            #expect(try await store.nextDue(in: [Lane(app: Samples.app, kind: .voip)]) == nil)
            #expect(try await store.claim(order(now.advanced(bySeconds: 9))).isEmpty)
            #expect(try await store.claim(order(now.advanced(bySeconds: 20))).isEmpty)
            #expect(try await store.claim(order(now.advanced(bySeconds: 19))).count == 1)
            #expect(try await store.nextDue(in: lanes) == nil)
        }
    }

    // MARK: Settlement

    @Test("Every end is recorded as it was given", arguments: StoreKind.allCases)
    func ends(_ kind: StoreKind) async throws {
        let dead = Refusal(
            status: 410, reason: .unregistered, tokenDeadSince: now.advanced(bySeconds: -60))
        let ends: [(WakeEnd, AttemptResult?)] = [
            (.sent(apnsUniqueID: "u-1"), .accepted(apnsUniqueID: "u-1")),
            (.sent(apnsUniqueID: nil), .accepted(apnsUniqueID: nil)),
            (.undeliverable(dead), .refused(dead)),
            (
                .rejected(Refusal(status: 400, reason: nil)),
                .refused(Refusal(status: 400, reason: nil))
            ),
            (.expired, nil),
            (
                .failed(.fateUnknown),
                .unanswered(SendFailure(certainty: .unknown, description: "lost"))
            ),
            (
                .failed(.triesUsedUp),
                .unanswered(SendFailure(certainty: .notSent, description: "refused"))
            ),
        ]
        try await kind.withStore { (store) async throws in
            for (end, attempt) in ends {
                let claim = try await claimOne(.background, from: store)
                #expect(
                    try await settle(claim, .end(end), attempt: attempt, in: store) == .applied)
                let record = try #require(try await store.record(of: claim.id))
                #expect(record.end == end)
                #expect(record.state == end.state)
                #expect(record.endedAt == now.advanced(bySeconds: 1))
                let expected = attempt.map {
                    AttemptRecord(
                        startedAt: now, endedAt: now.advanced(bySeconds: 1), result: $0)
                }
                #expect(record.attempts == [expected].compactMap { $0 })
            }
            #expect(try await store.countUnended() == 0)
            let count = try await store.recount()
            #expect(count.isConserved)
            #expect(count.accepted == ends.count)
            #expect(count.byState[.failed] == 2)
        }
    }

    @Test("Settling twice changes nothing", arguments: StoreKind.allCases)
    func idempotentSettlement(_ kind: StoreKind) async throws {
        try await kind.withStore { (store) async throws in
            let claim = try await claimOne(.background, from: store)
            let sent = Settlement.Effect.end(.sent(apnsUniqueID: nil))
            #expect(try await settle(claim, sent, in: store) == .applied)
            let before = try await store.record(of: claim.id)
            #expect(try await settle(claim, sent, in: store) == .repeated)
            #expect(try await settle(claim, .end(.expired), in: store) == .repeated)
            #expect(try await store.record(of: claim.id) == before)
        }
    }

    @Test(
        "A retry waits for its time and says what it was refused with",
        arguments: StoreKind.allCases)
    func retry(_ kind: StoreKind) async throws {
        try await kind.withStore { (store) async throws in
            let claim = try await claimOne(.background, from: store)
            let refusal = Refusal(status: 503, reason: .serviceUnavailable)
            let due = now.advanced(bySeconds: 900)
            #expect(
                try await settle(
                    claim, .retry(at: due, charged: true), attempt: .refused(refusal), in: store)
                    == .applied)
            #expect(try await store.nextDue(in: lanes) == due)
            #expect(try await store.claim(order(due.advanced(bySeconds: -1))).isEmpty)
            let again = try #require(try await store.claim(order(due)).first)
            #expect(again.tries == 1)
            #expect(again.previousReason == .serviceUnavailable)
            #expect(again.ticket.fence > claim.ticket.fence)
            let record = try #require(try await store.record(of: claim.id))
            #expect(record.attempts.map(\.result) == [.refused(refusal)])
            #expect(record.state == .claimed)
        }
    }

    @Test("A release leaves no trace but the fencing number", arguments: StoreKind.allCases)
    func release(_ kind: StoreKind) async throws {
        try await kind.withStore { (store) async throws in
            let claim = try await claimOne(.voip, from: store)
            #expect(try await settle(claim, .release, in: store) == .applied)
            let again = try #require(try await store.claim(order(now)).first)
            #expect(again.tries == 0)
            #expect(again.ticket.fence == claim.ticket.fence + 1)
            #expect(try await settle(claim, .end(.expired), in: store) == .stale)
        }
    }

    @Test("An unknown wake has no record, and settling it is stale", arguments: StoreKind.allCases)
    func unknown(_ kind: StoreKind) async throws {
        try await kind.withStore { (store) async throws in
            let id = Samples.freshID()
            #expect(try await store.record(of: id) == nil)
            let settlement = Settlement(
                ticket: Claim.Ticket(id: id, fence: 1), at: now, attempt: nil,
                effect: .end(.expired))
            #expect(try await store.settle([settlement]) == [.stale])
        }
    }

    @Test("The history keeps the latest attempts only", arguments: StoreKind.allCases)
    func boundedHistory(_ kind: StoreKind) async throws {
        try await kind.withStore { (store) async throws in
            try await admit([Samples.wake()], to: store)
            var id: WakeID?
            for round in 0..<AttemptRecord.maximumKept + 5 {
                let claim = try #require(try await store.claim(order(now)).first)
                id = claim.id
                let failure = SendFailure(certainty: .notSent, description: "try \(round)")
                _ = try await settle(
                    claim, .retry(at: now, charged: false), attempt: .unanswered(failure),
                    in: store)
            }
            let record = try await store.record(of: try #require(id))
            let attempts = try #require(record?.attempts)
            #expect(attempts.count == AttemptRecord.maximumKept)
            let last = SendFailure(
                certainty: .notSent, description: "try \(AttemptRecord.maximumKept + 4)")
            #expect(attempts.last?.result == .unanswered(last))
        }
    }

    // MARK: Leases and deadlines

    @Test(
        "A lapsed lease returns a background wake, charged, and fences its holder off",
        arguments: StoreKind.allCases)
    func lapsedBackground(_ kind: StoreKind) async throws {
        try await kind.withStore { (store) async throws in
            let claim = try await claimOne(.background, from: store)
            let early = now.advanced(bySeconds: 59)
            let over = now.advanced(bySeconds: 60)
            #expect(
                try await store.reclaimLapsed(at: early, limit: 10)
                    == Reclaimed(returned: [], failed: []))
            #expect(
                try await store.reclaimLapsed(at: over, limit: 10)
                    == Reclaimed(returned: [claim.id], failed: []))
            let late = Settlement.Effect.end(.sent(apnsUniqueID: nil))
            #expect(try await settle(claim, late, in: store) == .stale)
            let again = try #require(try await store.claim(order(over)).first)
            #expect(again.tries == 1)
            #expect(try await settle(claim, late, in: store) == .stale)
            #expect(try await settle(again, late, in: store) == .applied)
            let record = try #require(try await store.record(of: claim.id))
            #expect(record.attempts.first?.result == .abandoned)
        }
    }

    @Test("A lapsed lease ends a VoIP wake: its fate is unknown", arguments: StoreKind.allCases)
    func lapsedVoIP(_ kind: StoreKind) async throws {
        try await kind.withStore { (store) async throws in
            let claim = try await claimOne(.voip, from: store)
            let over = now.advanced(bySeconds: 60)
            #expect(
                try await store.reclaimLapsed(at: over, limit: 10)
                    == Reclaimed(returned: [], failed: [claim.id]))
            #expect(try await store.claim(order(over)).isEmpty)
            let late = Settlement.Effect.end(.sent(apnsUniqueID: nil))
            #expect(try await settle(claim, late, in: store) == .stale)
            let record = try #require(try await store.record(of: claim.id))
            #expect(record.end == .failed(.fateUnknown))
            #expect(record.attempts.map(\.result) == [.abandoned])
        }
    }

    @Test("Overdue wakes end as expired, step by step", arguments: StoreKind.allCases)
    func expiry(_ kind: StoreKind) async throws {
        try await kind.withStore { (store) async throws in
            let wakes = (1...5).map { Samples.wake(lifeSeconds: $0 * 10) }
            try await admit(wakes, to: store)
            let claimed = try await store.claim(order(now, limit: 1))
            let at = now.advanced(bySeconds: 40)
            var ended: Set<WakeID> = []
            for expected in [2, 1, 0] {
                let step = try await store.expireOverdue(at: at, limit: 2)
                #expect(step.count == expected)
                ended.formUnion(step)
            }
            // The claimed one is in its holder's hands, and the last one has time left.
            #expect(ended == Set(wakes[1...3].map(\.id)))
            #expect(claimed.map(\.id) == [wakes[0].id])
            #expect(try await store.record(of: wakes[1].id)?.end == .expired)
            #expect(try await store.countUnended() == 2)
        }
    }

    // MARK: Idempotency

    private func mark(_ key: UInt8, _ request: UInt8, seconds: Int64 = 60) -> IdempotencyMark {
        IdempotencyMark(
            key: Array(repeating: key, count: 32), request: Array(repeating: request, count: 32),
            expiresAt: now.advanced(bySeconds: seconds))
    }

    @Test(
        "The same key and body is the same wake; another body is a conflict",
        arguments: StoreKind.allCases)
    func idempotency(_ kind: StoreKind) async throws {
        try await kind.withStore { (store) async throws in
            let first = Samples.wake()
            let receipt = AdmittedWake(
                id: first.id, acceptedAt: first.acceptedAt, deadline: first.deadline)
            // In one transaction and across several.
            #expect(
                try await store.admit([
                    Submission(wake: first, idempotency: mark(1, 1)),
                    Submission(wake: Samples.wake(), idempotency: mark(1, 1)),
                    Submission(wake: Samples.wake(), idempotency: mark(1, 2)),
                ]) == [.admitted(receipt), .repeated(receipt), .conflict])
            #expect(
                try await store.admit([
                    Submission(wake: Samples.wake(), idempotency: mark(1, 1))
                ]) == [.repeated(receipt)])
            #expect(try await store.recount().accepted == 1)
        }
    }

    @Test("A key is free again when its time is over", arguments: StoreKind.allCases)
    func idempotencyExpires(_ kind: StoreKind) async throws {
        try await kind.withStore { (store) async throws in
            _ = try await store.admit([
                Submission(wake: Samples.wake(), idempotency: mark(1, 1)),
                Submission(wake: Samples.wake(), idempotency: mark(2, 1, seconds: 90)),
            ])
            let later = now.advanced(bySeconds: 60)
            let admissions = try await store.admit([
                Submission(wake: Samples.wake(at: later), idempotency: mark(1, 2, seconds: 120)),
                Submission(wake: Samples.wake(at: later), idempotency: mark(2, 2, seconds: 120)),
            ])
            guard case .admitted = admissions[0], admissions[1] == .conflict else {
                Issue.record("The keys' times were not kept: \(admissions).")
                return
            }
            #expect(
                try await store.forgetIdempotencyKeys(at: now.advanced(bySeconds: 90), limit: 10)
                    == 1)
            #expect(
                try await store.forgetIdempotencyKeys(at: now.advanced(bySeconds: 120), limit: 10)
                    == 1)
        }
    }
}
