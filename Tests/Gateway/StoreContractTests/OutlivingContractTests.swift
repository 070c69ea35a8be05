// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayTestKit
import StoreTestKit
import Testing
import WakeModel

@Suite("What every store keeps to: wakes that outlive all that is known of their device")
struct OutlivingContractTests {
    /// The course of the wake that is still in flight.
    enum Course: String, CaseIterable, CustomTestStringConvertible {
        case sent
        case undeliverable
        case notSent = "not sent"
        case retried
        case released
        case carried = "carried by a newer wake"
        case lapsed
        case forgotten = "settled after its device was deleted"

        var testDescription: String { rawValue }
    }

    private static let refusal = Refusal(
        status: 410, reason: .unregistered, tokenDeadSince: Samples.start)

    /// Removes what is older than the connection's time, until nothing is left to remove.
    private func prune(_ connection: Counter) async throws -> (wakes: Int, devices: Int) {
        var sum = (wakes: 0, devices: 0)
        var pruned: Pruned
        repeat {
            pruned = try await connection.store.prune(
                PruneOrder(
                    now: connection.now, wakesBefore: connection.now, devicesBefore: connection.now,
                    webhooks: [],
                    limit: 10))
            sum.wakes += pruned.wakes
            sum.devices += pruned.devices
        } while pruned.isFull(10)
        return sum
    }

    /// A wake that is claimed since long, whose device had a newer one that ended and was pruned.
    private func claimOld(_ kind: WakeKind, _ connection: Counter) async throws -> Claim {
        let claim = try await connection.claimOne(Samples.wake(kind))
        let next = connection.later(1)
        let newer = try await next.admitOne(Samples.wake(kind, at: next.now)).id
        let outcome = try await next.store.perform(
            CancelWake(newer, at: next.now, under: next.rules))
        #expect(outcome.isCancelled == true)
        let later = connection.later(7_200)
        let pruned = try await prune(later)
        #expect(pruned.wakes == 1 && pruned.devices == 0)
        #expect(try await later.store.perform(FindWake(newer)) == nil)
        return claim
    }

    private func devices(_ connection: Counter) async throws -> Int {
        try await connection.store.perform(
            FindDevices(
                Samples.deviceToken(), in: Samples.queues, at: connection.now,
                under: connection.rules
            )
        ).count
    }

    @Test(
        "A device stays while an older wake of it is under way, whatever becomes of that",
        arguments: StoreKind.allCases, Course.allCases)
    func courses(_ kind: StoreKind, _ course: Course) async throws {
        for wakeKind in WakeKind.allCases {
            try await kind.withCounter { (connection) async throws in
                let claim = try await claimOld(wakeKind, connection)
                let later = connection.later(7_201)
                let record = try await later.record(claim.id)
                #expect(record.state == .claimed && record.deviceToken == Samples.deviceToken())
                #expect(try await devices(later) == 1)
                let late = try await later.store.perform(
                    CancelWake(
                        claim.id, at: later.now, under: later.rules))
                #expect(late.isCancelled == false)
                try await run(course, claim, later)
                #expect(try await later.record(claim.id).state.isEnd)
                let receipt = Receipt(id: claim.id, launchedAt: nil, hasSynced: true)
                let answer = try await later.store.confirm(
                    [receipt], at: later.now, under: later.rules)
                #expect(answer.answers.count == 1)

                // Now it goes with the last of its wakes.
                let end = connection.later(20_000)
                let pruned = try await prune(end)
                #expect(pruned.wakes >= 1 && pruned.devices == 1)
                #expect(try await devices(end) == 0)
                #expect(try await end.store.perform(ListWakes(WakeQuery())).wakes.isEmpty)
            }
        }
    }

    /// Ends the wake, and what carries it.
    private func run(_ course: Course, _ claim: Claim, _ connection: Counter) async throws {
        switch course {
        case .sent: try await connection.settleSent(claim)
        case .undeliverable:
            let answer = try await connection.settle(
                claim, .end(.undeliverable(Self.refusal)), attempt: .refused(Self.refusal))
            #expect(answer.verdicts == [.applied])
            let feed = try await connection.store.perform(ReadFeedback(after: 0, limit: 10))
            #expect(feed.map(\.deviceToken) == [Samples.deviceToken()])
        case .notSent:
            let failure = SendFailure(certainty: .notSent, description: "refused")
            try await connection.settle(
                claim, .end(.failed(.triesUsedUp)), attempt: .unanswered(failure))
        case .retried:
            try await connection.settle(claim, .retry(at: connection.now, charged: false))
            try await finish(claim.id, connection)
        case .released:
            try await connection.settle(claim, .release)
            try await finish(claim.id, connection)
        case .carried:
            let carrier = try await connection.admitOne(
                Samples.wake(claim.kind, at: connection.now)
            ).id
            try await connection.settle(claim, .retry(at: connection.now, charged: false))
            if claim.kind == .background {
                let record = try await connection.record(claim.id)
                #expect(record.carriedBy == carrier)
            } else {
                try await finish(claim.id, connection)
            }
            _ = try await connection.store.perform(
                CancelWake(
                    carrier, at: connection.now, under: connection.rules))
            // It waits for itself again.
            if claim.kind == .background { try await finish(claim.id, connection) }
        case .lapsed:
            let reclaimed = try await connection.store.perform(
                ReclaimLeases(
                    at: connection.now, limit: 10, under: connection.rules))
            #expect(reclaimed.count == 1)
            if claim.mayRepeat { try await finish(claim.id, connection) }
        case .forgotten:
            let outcome = try await connection.store.perform(
                ReportDevice(
                    .forget, of: Samples.deviceToken(), in: Samples.queues, makes: false,
                    at: connection.now,
                    under: connection.rules))
            #expect(outcome.devices == 1 && outcome.ended.isEmpty)
            #expect(try await connection.record(claim.id).deviceToken == Samples.deviceToken())
            try await connection.settle(claim, .retry(at: connection.now, charged: false))
            try await finish(claim.id, connection)
        }
    }

    /// Ends a wake that waits again.
    private func finish(_ id: WakeID, _ connection: Counter) async throws {
        #expect(try await connection.record(id).state == .pending)
        let outcome = try await connection.store.perform(
            CancelWake(
                id, at: connection.now, under: connection.rules))
        #expect(outcome.isCancelled == true)
    }
}
