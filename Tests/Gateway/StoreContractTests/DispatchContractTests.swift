// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayTestKit
import PayloadRules
import StoreTestKit
import Testing
import WakeBudget
import WakeModel

@Suite("What every store keeps to: claims, outcomes and leases")
struct DispatchContractTests {
    @Test("A claim carries what was admitted, whole", arguments: StoreKind.allCases)
    func faithful(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let expiration = Expiration.at(connection.now.advanced(bySeconds: 600))
            let wake = Samples.wake(device: 9, expiration: expiration)
            let admitted = try await connection.admitOne(wake)
            let claim = try #require(try await connection.claim().claims.first)
            #expect(claim.id == admitted.id && claim.app == Samples.app)
            #expect(claim.kind == .background)
            #expect(claim.deviceToken == wake.wake.deviceToken)
            #expect(claim.payload == wake.wake.payload)
            #expect(claim.expiration == expiration && claim.collapseID == nil)
            #expect(claim.deadline == connection.now.advanced(bySeconds: 600))
            #expect(claim.tries == 0 && claim.previousReason == nil)
            #expect(claim.claimedAt == connection.now && claim.dueAt == connection.now)
            #expect(claim.leaseUntil == connection.now.advanced(bySeconds: 60))
        }
    }

    @Test("A wake is claimed by one only", arguments: StoreKind.allCases)
    func exclusive(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            try await connection.admit((0..<50).map { Samples.wake(device: $0) })
            let claimed = try await withThrowingTaskGroup(of: [Claim].self) { group in
                for _ in 0..<10 { group.addTask { try await connection.claim(limit: 7).claims } }
                return try await group.reduce(into: [Claim]()) { $0 += $1 }
            }
            #expect(claimed.count == 50)
            #expect(Set(claimed.map(\.id)).count == 50)
        }
    }

    @Test(
        "Queues are served in order, the longest due first, within limits",
        arguments: StoreKind.allCases)
    func precedence(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let late = try await connection.admitOne(Samples.wake(dueIn: 2, device: 1)).id
            let early = try await connection.admitOne(Samples.wake(dueIn: 1, device: 2)).id
            let voip = try await connection.admitOne(Samples.wake(.voip, device: 3)).id
            _ = try await connection.admitOne(Samples.wake(dueIn: 60, device: 4))
            #expect(
                try await connection.store.perform(NextDue(in: Samples.queues)) == connection.now)
            let queues = [
                WakeQueueKey(app: Samples.app, kind: .voip),
                WakeQueueKey(app: Samples.app, kind: .background),
            ]
            let first = try await connection.later(9).claim(queues, limit: 2)
            #expect(first.claims.map(\.id) == [voip, early])
            #expect(first.unfinished == [queues[1]])
            let rest = try await connection.later(9).claim(queues)
            #expect(rest.claims.map(\.id) == [late] && rest.unfinished.isEmpty)
        }
    }

    @Test("What waits in a queue is counted, and nothing claimed", arguments: StoreKind.allCases)
    func backlogs(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let background = WakeQueueKey(app: Samples.app, kind: .background)
            let voip = WakeQueueKey(app: Samples.app, kind: .voip)
            func measured() async throws -> [WakeQueueKey: QueueBacklog] {
                try await connection.store.perform(MeasureQueues([background, voip]))
            }
            _ = try await connection.claimOne(Samples.wake(device: 1))
            #expect(try await measured()[background]?.waiting == 0)
            #expect(try await measured()[background]?.nextDue == nil)
            try await connection.admit((2..<6).map { Samples.wake(dueIn: Int64($0), device: $0) })
            #expect(try await measured()[background]?.waiting == 4)
            #expect(
                try await measured()[background]?.nextDue == connection.now.advanced(bySeconds: 2))
            #expect(try await measured()[voip]?.waiting ?? 0 == 0)
        }
    }

    @Test("Every end is recorded as it was given", arguments: StoreKind.allCases)
    func ends(_ kind: StoreKind) async throws {
        let now = Samples.start
        let dead = Refusal(
            status: 410, reason: .unregistered, tokenDeadSince: now.advanced(bySeconds: -60))
        let lost = SendFailure(certainty: .unknown, description: "lost")
        let refused = SendFailure(certainty: .notSent, description: "refused")
        let ends: [(WakeEnd, AttemptResult?)] = [
            (.sent(apnsUniqueID: "u-1"), .accepted(apnsUniqueID: "u-1")),
            (.sent(apnsUniqueID: nil), .accepted(apnsUniqueID: nil)),
            (.undeliverable(dead), .refused(dead)),
            (
                .rejected(Refusal(status: 400, reason: nil)),
                .refused(Refusal(status: 400, reason: nil))
            ),
            (.expired, nil), (.failed(.fateUnknown), .unanswered(lost)),
            (.failed(.triesUsedUp), .unanswered(refused)),
        ]
        try await kind.withCounter { (connection) async throws in
            for (device, (end, attempt)) in ends.enumerated() {
                let claim = try await connection.claimOne(Samples.wake(device: UInt64(device)))
                let answer = try await connection.settle(claim, .end(end), attempt: attempt)
                #expect(answer.verdicts == [.applied] && answer.ended.map(\.end) == [end])
                let record = try await connection.record(claim.id)
                #expect(record.end == end && record.state == end.state)
                #expect(record.endedAt == now.advanced(bySeconds: 1))
                #expect(record.attempts.map(\.result) == [attempt].compactMap(\.self))
            }
            let count = try await connection.store.perform(RecountWakes())
            #expect(count.accepted == ends.count && count.unended == 0)
            #expect(count.byState[.failed] == 2)
        }
    }

    @Test(
        "What may have arrived holds back the wake behind it, whatever became of the next attempt",
        arguments: StoreKind.allCases)
    func unknownThenNotSent(_ kind: StoreKind) async throws {
        let lost = SendFailure(certainty: .unknown, description: "lost")
        let refused = SendFailure(certainty: .notSent, description: "refused")
        let refusal = Refusal(status: 413, reason: .payloadTooLarge)
        try await kind.withCounter { (connection) async throws in
            for device in 1...2 as ClosedRange<UInt64> {
                let first = try await connection.claimOne(Samples.wake(device: device))
                let start = connection.later(1)
                try await connection.settle(
                    first, .retry(at: start.now, charged: true), attempt: .unanswered(lost))
                let again = try #require(try await start.claim().claims.first)
                #expect(again.id == first.id)
                let behind = try await start.admitOne(Samples.wake(at: start.now, device: device))
                if device == 1 {
                    let answer = try await start.settle(
                        again, .retry(at: start.later(1).now, charged: false),
                        attempt: .unanswered(refused))
                    #expect(answer.ended.map(\.end) == [.coalesced(into: behind.id)])
                } else {
                    try await start.settle(
                        again, .end(.rejected(refusal)), attempt: .refused(refusal))
                }
                let due = try await connection.record(behind.id).dueAt
                let spacing = Int64(BudgetPolicy.standard.settings.spacingSeconds)
                #expect(due >= start.later(spacing - 1).now, "device \(device)")
            }
        }
    }

    @Test(
        "A refusal that frees the budget says that the wake behind it is due",
        arguments: StoreKind.allCases)
    func freedByRefusal(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let first = try await connection.claimOne(Samples.wake())
            let behind = try await connection.admitOne(Samples.wake())
            #expect(behind.decision.word == "deferred")
            let refusal = Refusal(status: 413, reason: .payloadTooLarge)
            let answer = try await connection.settle(
                first, .end(.rejected(refusal)), attempt: .refused(refusal))
            let due = try #require(answer.nextDue)
            #expect(due <= connection.later(2).now)
            #expect(try await connection.later(2).claim().claims.map(\.id) == [behind.id])
        }
    }

    @Test(
        "Settling twice changes nothing, and an unknown wake is stale",
        arguments: StoreKind.allCases)
    func idempotentSettlement(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let claim = try await connection.claimOne(Samples.wake())
            #expect(try await connection.settleSent(claim).verdicts == [.applied])
            let before = try await connection.record(claim.id)
            #expect(try await connection.settleSent(claim).verdicts == [.repeated])
            #expect(try await connection.settle(claim, .end(.expired)).verdicts == [.repeated])
            #expect(try await connection.record(claim.id) == before)
            let id = Samples.freshID()
            #expect(try await connection.store.perform(FindWake(id)) == nil)
            let settlement = Settlement(
                ticket: Claim.Ticket(id: id, fence: 1), at: connection.now, attempt: nil,
                effect: .end(.expired))
            let answer = try await connection.store.perform(
                SettleWakes([settlement], under: connection.rules))
            #expect(answer.verdicts == [.stale])
        }
    }

    @Test(
        "A retry waits for its time, is refunded, and says what it was refused with",
        arguments: StoreKind.allCases)
    func retry(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let claim = try await connection.claimOne(Samples.wake())
            let refusal = Refusal(status: 503, reason: .serviceUnavailable)
            let due = connection.now.advanced(bySeconds: 900)
            let answer = try await connection.settle(
                claim, .retry(at: due, charged: true), attempt: .refused(refusal))
            #expect(answer.verdicts == [.applied] && answer.nextDue == due)
            #expect(try await connection.store.perform(NextDue(in: Samples.queues)) == due)
            #expect(try await connection.later(899).claim().claims.isEmpty)
            let again = try #require(try await connection.later(900).claim().claims.first)
            #expect(again.tries == 1 && again.previousReason == .serviceUnavailable)
            #expect(again.ticket.fence > claim.ticket.fence)
            #expect(again.payload == claim.payload)
            #expect(try await connection.settleSent(claim).verdicts == [.stale])
            let record = try await connection.record(claim.id)
            #expect(record.attempts.map(\.result) == [.refused(refusal)])
            #expect(record.state == .claimed)
        }
    }

    @Test(
        "A wake that comes back while another waits is carried by it", arguments: StoreKind.allCases
    )
    func comesBackLate(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let claim = try await connection.claimOne(Samples.wake())
            let newer = try await connection.admitOne(Samples.wake())
            let failure = SendFailure(certainty: .unknown, description: "lost")
            let answer = try await connection.settle(
                claim, .retry(at: connection.now, charged: true), attempt: .unanswered(failure))
            #expect(answer.ended.map(\.end) == [.coalesced(into: newer.id)])
            let record = try await connection.record(claim.id)
            #expect(record.carriedBy == newer.id)
            #expect(record.attempts.map(\.result) == [.unanswered(failure)])
            // It may have been sent, so the next keeps its distance.
            #expect(try await connection.later(899).claim().claims.isEmpty)
            #expect(try await connection.later(901).claim().claims.map(\.id) == [newer.id])
        }
    }

    @Test("A release leaves no trace but the fencing number", arguments: StoreKind.allCases)
    func release(_ kind: StoreKind) async throws {
        for wake in [Samples.wake(.voip), Samples.wake()] {
            try await kind.withCounter { (connection) async throws in
                let claim = try await connection.claimOne(wake)
                #expect(try await connection.settle(claim, .release).verdicts == [.applied])
                let again = try #require(try await connection.later(2).claim().claims.first)
                #expect(again.tries == 0 && again.ticket.fence == claim.ticket.fence + 1)
                #expect(try await connection.settle(claim, .end(.expired)).verdicts == [.stale])
            }
        }
    }

    @Test("The history keeps the latest attempts only", arguments: StoreKind.allCases)
    func boundedHistory(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let id = try await connection.admitOne(Samples.wake(.voip)).id
            for round in 0..<AttemptRecord.maximumKept + 5 {
                let claim = try #require(try await connection.claim().claims.first)
                let failure = SendFailure(certainty: .notSent, description: "try \(round)")
                try await connection.settle(
                    claim, .retry(at: connection.now, charged: false), attempt: .unanswered(failure)
                )
            }
            let attempts = try await connection.record(id).attempts
            #expect(attempts.count == AttemptRecord.maximumKept)
            let last = SendFailure(
                certainty: .notSent, description: "try \(AttemptRecord.maximumKept + 4)")
            #expect(attempts.last?.result == .unanswered(last))
        }
    }

    // MARK: Leases and deadlines

    @Test(
        "A lapsed lease returns a background wake at once, and fences its holder off",
        arguments: StoreKind.allCases)
    func lapsedBackground(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let claim = try await connection.claimOne(Samples.wake())
            let early = try await connection.store.perform(
                ReclaimLeases(
                    at: connection.now.advanced(bySeconds: 59), limit: 10, under: connection.rules))
            #expect(early.count == 0)
            let over = connection.later(60)
            let reclaimed = try await connection.store.perform(
                ReclaimLeases(
                    at: over.now, limit: 10, under: connection.rules))
            #expect(reclaimed.returned == [claim.id] && reclaimed.ended.isEmpty)
            #expect(try await connection.settleSent(claim).verdicts == [.stale])
            // It may have been sent, but what goes again is the same push: no spacing holds it.
            let again = try #require(try await over.claim().claims.first)
            #expect(again.tries == 1)
            #expect(try await connection.settleSent(again).verdicts == [.applied])
            let record = try await connection.record(claim.id)
            #expect(record.attempts.map(\.result).first == .abandoned)
        }
    }

    @Test("A lapsed lease ends a VoIP wake: its fate is unknown", arguments: StoreKind.allCases)
    func lapsedVoIP(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let claim = try await connection.claimOne(Samples.wake(.voip))
            let over = connection.later(60)
            let reclaimed = try await connection.store.perform(
                ReclaimLeases(
                    at: over.now, limit: 10, under: connection.rules))
            #expect(reclaimed.ended.map(\.end) == [.failed(.fateUnknown)])
            #expect(try await over.claim().claims.isEmpty)
            #expect(try await connection.settleSent(claim).verdicts == [.stale])
            #expect(try await connection.record(claim.id).attempts.map(\.result) == [.abandoned])
        }
    }

    @Test(
        "Overdue wakes end as expired, step by step, and are not claimed",
        arguments: StoreKind.allCases)
    func expiry(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            var ids: [WakeID] = []
            for number in 1...5 as ClosedRange<Int64> {
                let expiry = connection.now.advanced(bySeconds: number * 10)
                ids.append(
                    try await connection.admitOne(
                        Samples.wake(
                            dueIn: 5, device: UInt64(number), expiration: .at(expiry))
                    ).id)
            }
            let at = connection.later(40)
            var ended: [WakeID] = []
            for expected in [3, 1, 0] {
                let step = try await connection.store.perform(
                    ExpireWakes(
                        at: at.now, limit: 3, under: connection.rules))
                #expect(step.count == expected)
                ended += step.map(\.id)
            }
            #expect(ended == Array(ids[..<4]))
            #expect(try await connection.record(ids[0]).end == .expired)
            #expect(try await at.claim().claims.map(\.id) == [ids[4]])
        }
    }

    @Test(
        "An expired wake keeps what held its queue up at its deadline",
        arguments: StoreKind.allCases)
    func expiryInAPause(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let paused = try await connection.admitOne(Samples.wake(.voip))
            let held = try await connection.admitOne(Samples.wake(.voip, app: Samples.otherApp))
            let expiry = Expiration.at(connection.now.advanced(bySeconds: 10))
            _ = try await connection.admitOne(Samples.wake(dueIn: 5, expiration: expiry))
            let merged = try await connection.admitOne(
                Samples.wake(dueIn: 5, expiration: expiry))
            try await connection.store.perform(
                SetPause(
                    QueuePause(at: connection.now, reason: nil),
                    of: Samples.queues.filter { $0.app == Samples.app }))
            let end = connection.later(10)
            let stuck = WakeQueueKey(app: Samples.otherApp, kind: .voip)
            let ended = try await end.store.perform(
                ExpireWakes(
                    at: end.now, limit: 9, obstacles: [stuck: DelayReasons(.held)],
                    under: end.rules))
            #expect(ended.count == 3)
            #expect(try await end.record(paused.id).holds == DelayReasons(.paused))
            #expect(try await end.record(held.id).holds == DelayReasons(.held))
            let carrierHolds = try await end.record(merged.id).carrierHolds
            #expect(carrierHolds.contains(DelayReasons(.paused)))
            let feed = try await end.store.perform(ReadOutcomes(after: 0, limit: 9))
            let told = feed.events.filter { $0.end == .expired }.map(\.holds.expiryExplanation)
            #expect(told.count == 3 && !told.contains(nil), "\(told)")
        }
    }

    @Test("A claim finds out what is over by itself", arguments: StoreKind.allCases)
    func overAtClaim(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let call = try await connection.admitOne(Samples.wake(.voip))
            let answer = try await connection.later(10).claim()
            #expect(answer.claims.isEmpty)
            #expect(answer.ended.map(\.id) == [call.id] && answer.ended.map(\.end) == [.expired])
        }
    }
}
