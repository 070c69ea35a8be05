// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayTestKit
import StoreTestKit
import Testing
import WakeBudget
import WakeModel

/// A push of unknown outcome may have arrived, so it costs the device what a push costs it.
@Suite("What every store keeps to: pushes of unknown fate, and wakes that return")
struct UnknownFateContractTests {
    private let lost = SendFailure(certainty: .unknown, description: "lost")

    private func loseOne(_ connection: Counter) async throws -> Claim {
        let claim = try await connection.claimOne(Samples.wake(at: connection.now))
        try await connection.settle(
            claim, .retry(at: connection.now, charged: true), attempt: .unanswered(lost))
        return claim
    }

    private func used(_ connection: Counter) async throws -> Int {
        let views = try await connection.store.perform(
            FindDevices(
                Samples.deviceToken(), in: [WakeQueueKey(app: Samples.app, kind: .background)],
                at: connection.now,
                under: connection.rules))
        return try #require(views.first?.explanation.hourly?.used)
    }

    @Test(
        "One that is cancelled or expires while it waits for its next try stays charged",
        arguments: StoreKind.allCases, [true, false])
    func endsWaiting(_ kind: StoreKind, isCancelled: Bool) async throws {
        try await kind.withCounter { (connection) async throws in
            let claim = try await loseOne(connection)
            let end = isCancelled ? connection.later(1) : connection.later(86_400 - 3_000)
            if isCancelled {
                _ = try await end.store.perform(CancelWake(claim.id, at: end.now, under: end.rules))
                #expect(try await used(end) == 1)
                let next = try await end.admitOne(Samples.wake(at: end.now))
                #expect(next.decision.word == "deferred")
            } else {
                // Its second try is lost as well, at the end of the hour that counts.
                let again = try #require(try await end.claim().claims.first)
                try await end.settle(
                    again, .retry(at: end.now, charged: true), attempt: .unanswered(lost))
                let over = connection.later(86_401)
                let ended = try await over.store.perform(
                    ExpireWakes(
                        at: over.now, limit: 9, under: over.rules))
                #expect(ended.map(\.id) == [claim.id] && ended.map(\.end) == [.expired])
                #expect(try await used(over) == 1)
            }
        }
    }

    @Test(
        "A result that was kept from the store for minutes does not make later sends older",
        arguments: StoreKind.allCases)
    func lateResult(_ kind: StoreKind) async throws {
        let refused = SendFailure(certainty: .notSent, description: "refused")
        try await kind.withCounter { (connection) async throws in
            let claim = try await connection.claimOne(Samples.wake(at: connection.now))
            let later = connection.later(1_000)
            try await later.settleSent(try await later.claimOne(Samples.wake(at: later.now)))
            try await connection.settle(
                claim, .retry(at: connection.now, charged: false), attempt: .unanswered(refused))
            #expect(try await later.later(2).claim().claims.isEmpty)
            #expect(try await later.later(899).claim().claims.isEmpty)
            #expect(try await later.later(901).claim().claims.map(\.id) == [claim.id])
        }
    }

    @Test(
        "Each try of unknown fate is charged, and the hour holds the next when it is full",
        arguments: StoreKind.allCases)
    func eachTry(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let id = try await connection.admitOne(Samples.wake(at: connection.now)).id
            var now = connection
            for tries in 1...3 {
                // Its own lost tries do not keep it for a quarter of an hour each.
                let claim = try #require(try await now.claim().claims.first)
                #expect(claim.id == id)
                try await now.settle(
                    claim, .retry(at: now.now, charged: true), attempt: .unanswered(lost))
                now = now.later(2)
                #expect(try await used(now) == tries)
            }
            #expect(try await now.later(60).claim().claims.isEmpty)
            let record = try await now.record(id)
            #expect(record.state == .pending && record.holds == DelayReasons(.hourly))
            #expect(try await connection.later(3_599).claim().claims.isEmpty)
            #expect(try await connection.later(3_601).claim().claims.map(\.id) == [id])
        }
    }

    @Test("A lease that lapsed is charged too", arguments: StoreKind.allCases)
    func lapsed(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let claim = try await connection.claimOne(Samples.wake(at: connection.now))
            let over = connection.later(60)
            _ = try await over.store.perform(
                ReclaimLeases(at: over.now, limit: 9, under: over.rules))
            _ = try await over.store.perform(CancelWake(claim.id, at: over.now, under: over.rules))
            #expect(try await used(over) == 1)
        }
    }

    // MARK: Merging on return

    private func wake(
        _ key: String, _ coalescing: Coalescing, at now: WallInstant, urgency: Urgency = .normal
    ) -> WakeSubmission {
        Samples.wake(
            at: now, payload: #"{"aps":{"content-available":1},"\#(key)":1}"#, urgency: urgency,
            coalescing: coalescing)
    }

    private func text(_ claim: Claim) -> String { String(decoding: claim.payload, as: UTF8.self) }

    @Test(
        "A returned wake keeps its keys in the one that carries it, if that unites",
        arguments: StoreKind.allCases, [Coalescing.union, .replace])
    func unionOnReturn(_ kind: StoreKind, coalescing: Coalescing) async throws {
        let unsent = SendFailure(certainty: .notSent, description: "refused")
        try await kind.withCounter { (connection) async throws in
            let claim = try await connection.claimOne(wake("old", .replace, at: connection.now))
            let later = connection.later(2)
            let newer = try await later.admitOne(wake("new", coalescing, at: later.now))
            let answer = try await later.settle(
                claim, .retry(at: later.now, charged: false), attempt: .unanswered(unsent))
            #expect(answer.ended.map(\.end) == [.coalesced(into: newer.id)])
            let carrier = try #require(try await later.later(2).claim().claims.first)
            #expect(text(carrier).contains("\"new\""))
            #expect(text(carrier).contains("\"old\"") == (coalescing == .union))
        }
    }

    @Test(
        "One request that replaces takes out all that was before it", arguments: StoreKind.allCases)
    func replaceBetween(_ kind: StoreKind) async throws {
        let unsent = SendFailure(certainty: .notSent, description: "refused")
        try await kind.withCounter { (connection) async throws in
            let claim = try await connection.claimOne(wake("old", .replace, at: connection.now))
            let later = connection.later(2)
            _ = try await later.admitOne(wake("a", .union, at: later.now))
            _ = try await later.admitOne(wake("b", .replace, at: later.now))
            _ = try await later.admitOne(wake("c", .union, at: later.now))
            try await later.settle(
                claim, .retry(at: later.now, charged: false), attempt: .unanswered(unsent))
            let carrier = try #require(try await later.later(2).claim().claims.first)
            #expect(text(carrier).contains("\"b\"") && text(carrier).contains("\"c\""))
            #expect(!text(carrier).contains("\"old\"") && !text(carrier).contains("\"a\""))
        }
    }

    @Test("A returned wake that is the newer of two is what is sent", arguments: StoreKind.allCases)
    func newerReturns(_ kind: StoreKind) async throws {
        let unsent = SendFailure(certainty: .notSent, description: "refused")
        try await kind.withCounter { (connection) async throws in
            let older = try await connection.claimOne(wake("old", .replace, at: connection.now))
            let later = connection.later(5)
            let newer = try await later.claimOne(
                wake("new", .replace, at: later.now, urgency: .urgent))
            for claim in [older, newer] {
                try await later.settle(
                    claim, .retry(at: later.now, charged: false), attempt: .unanswered(unsent))
            }
            #expect(try await later.record(newer.id).end == .coalesced(into: older.id))
            let carrier = try #require(try await later.later(2).claim().claims.first)
            #expect(carrier.id == older.id)
            #expect(text(carrier).contains("\"new\"") && !text(carrier).contains("\"old\""))
        }
    }
}
