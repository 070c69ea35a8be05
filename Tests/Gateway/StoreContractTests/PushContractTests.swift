// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayTestKit
import StoreTestKit
import Testing
import WakeBudget
import WakeModel

/// Plain pushes: each by itself, at a rate for each device.
@Suite("What every store keeps to: plain pushes")
struct PushContractTests {
    private static let plain = WakeKind.allCases.filter { $0.discipline == .plain }

    /// The rules of the samples with a burst of two pushes and one a second then.
    private func rules() throws -> StoreRules {
        var settings = BudgetSettings()
        settings.burstPushes = 2
        let policy = try BudgetPolicy(settings)
        return StoreRules(
            policies: [Samples.app: policy], webhooks: Samples.rules.webhooks)
    }

    @Test("Each kind goes at once, and is claimed as what it is", arguments: StoreKind.allCases)
    func eachKind(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            for wakeKind in Self.plain {
                let wake = try await connection.admitOne(Samples.wake(wakeKind, at: connection.now))
                #expect(wake.decision == .send)
                let claim = try #require(try await connection.claim().claims.first)
                #expect(claim.id == wake.id && claim.kind == wakeKind && claim.priority == nil)
                try await connection.settleSent(claim)
                let record = try await connection.record(wake.id)
                #expect(record.kind == wakeKind && record.state == .sent)
                #expect(record.priority == wakeKind.defaultPriority)
                let life = wakeKind == .pushtotalk ? 10 : min(86_400, wakeKind.lifetimeSeconds)
                #expect(
                    record.deadline
                        == connection.now.advanced(bySeconds: life == 0 ? 86_400 : life))
            }
        }
    }

    @Test("Its priority and its collapse id are kept with it", arguments: StoreKind.allCases)
    func priority(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            for priority in [Priority.powerConsiderate, .powerFirst, .immediate] {
                let id = try await connection.admitOne(
                    Samples.wake(
                        .alert, at: connection.now, priority: priority, collapseID: "score")
                ).id
                #expect(try await connection.record(id).priority == priority)
                let claim = try #require(try await connection.claim().claims.first)
                #expect((claim.priority ?? .immediate) == priority)
                #expect(claim.collapseID?.value == "score")
                try await connection.settleSent(claim)
                #expect(try await connection.record(id).priority == priority)
            }
        }
    }

    @Test(
        "Several wait for one device; beyond the burst each has its turn, and nothing merges",
        arguments: StoreKind.allCases)
    func rate(_ kind: StoreKind) async throws {
        let rules = try rules()
        try await kind.withCounter { (connection) async throws in
            var connection = connection
            connection.rules = rules
            var wakes: [AdmittedWake] = []
            for _ in 0..<5 {
                wakes.append(
                    try await connection.admitOne(Samples.wake(.alert, at: connection.now)))
            }
            #expect(wakes.prefix(2).allSatisfy { $0.decision == .send })
            for (place, wake) in wakes.enumerated().dropFirst(2) {
                let turn = connection.now.advanced(bySeconds: Int64(place - 1))
                #expect(wake.decision == .deferred(until: turn, because: DelayReasons(.rate)))
                #expect(try await connection.record(wake.id).decision == wake.decision)
            }
            // Another kind and another device have rates of their own.
            for other in [
                Samples.wake(.widgets, at: connection.now),
                Samples.wake(.alert, at: connection.now, device: 8),
            ] {
                #expect(try await connection.admitOne(other).decision == .send)
            }
            #expect(try await connection.claim().claims.count == 4)
            let view = try #require(
                try await connection.store.perform(
                    FindDevices(
                        Samples.deviceToken(),
                        in: [WakeQueueKey(app: Samples.app, kind: .alert)], at: connection.now,
                        under: rules)
                ).first)
            #expect(view.explanation.burst?.used == 5 && view.pending?.id == wakes[4].id)
            #expect(view.explanation.rules.map(\.hold) == [.rate])
            for place in 2..<5 {
                let later = connection.later(Int64(place - 1))
                #expect(try await later.claim().claims.map(\.id) == [wakes[place].id])
            }
        }
    }

    @Test("What cannot have its turn in time expires at once", arguments: StoreKind.allCases)
    func tooLate(_ kind: StoreKind) async throws {
        let rules = try rules()
        try await kind.withCounter { (connection) async throws in
            var connection = connection
            connection.rules = rules
            for _ in 0..<12 {
                let wake = Samples.wake(.pushtotalk, at: connection.now)
                _ = try await connection.admitOne(wake)
            }
            let last = try await connection.admitOne(
                Samples.wake(.pushtotalk, at: connection.now))
            #expect(
                last.decision
                    == .expired(
                        earliest: connection.now.advanced(bySeconds: 10),
                        because: DelayReasons(.rate)))
            #expect(try await connection.record(last.id).state == .expired)
            #expect(try await connection.store.perform(CountWakes()).isConserved)
        }
    }

    @Test("One that is cancelled gives its turn back", arguments: StoreKind.allCases)
    func cancelled(_ kind: StoreKind) async throws {
        let rules = try rules()
        try await kind.withCounter { (connection) async throws in
            var connection = connection
            connection.rules = rules
            for _ in 0..<2 {
                _ = try await connection.admitOne(Samples.wake(.alert, at: connection.now))
            }
            let third = try await connection.admitOne(Samples.wake(.alert, at: connection.now))
            let outcome = try await connection.store.perform(
                CancelWake(third.id, at: connection.now, under: rules))
            #expect(outcome.isCancelled == true)
            #expect(outcome.ended.map(\.end) == [.cancelled])
            let fourth = try await connection.admitOne(Samples.wake(.alert, at: connection.now))
            #expect(fourth.decision == third.decision)
        }
    }

    @Test(
        "A device that is forgotten loses all that waits for it, and what was sent stays counted",
        arguments: StoreKind.allCases)
    func forgotten(_ kind: StoreKind) async throws {
        let rules = try rules()
        try await kind.withCounter { (connection) async throws in
            var connection = connection
            connection.rules = rules
            var ids: [WakeID] = []
            for _ in 0..<5 {
                ids.append(
                    try await connection.admitOne(Samples.wake(.alert, at: connection.now)).id)
            }
            let claims = try await connection.claim().claims
            #expect(Set(claims.map(\.id)) == Set(ids.prefix(2)))
            let outcome = try await connection.store.perform(
                ReportDevice(
                    .forget, of: Samples.deviceToken(), in: Samples.queues, makes: false,
                    at: connection.now, under: rules))
            #expect(Set(outcome.ended.map(\.id)) == Set(ids.dropFirst(2)))
            #expect(outcome.ended.allSatisfy { $0.end == .cancelled })
            for claim in claims { try await connection.settleSent(claim) }
            let next = try await connection.admitOne(Samples.wake(.alert, at: connection.now))
            #expect(next.decision != .send)
            #expect(try await connection.later(60).claim().claims.map(\.id) == [next.id])
            #expect(try await connection.store.perform(CountWakes()).isConserved)
        }
    }

    @Test("However many wait for a device, none outlives it", arguments: StoreKind.allCases)
    func manyForgotten(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let count = try await Self.admitMany(connection)
            let gateway = sampleGateway(
                store: connection.store, sender: ScriptedSender(), clock: ManualClock())
            let answer = try await gateway.forget(Samples.deviceToken())
            guard case .done(let ended) = answer else {
                Issue.record("\(answer)")
                return
            }
            #expect(Set(ended).count == count)
            #expect(try await connection.store.perform(CountWakes()).unended == 0)
        }
    }

    @Test(
        "Where forgetting a device failed midway, a repetition completes it",
        arguments: StoreKind.allCases)
    func forgottenAgain(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            let count = try await Self.admitMany(connection)
            let store = WatchfulStore(connection.store)
            let gateway = sampleGateway(
                store: store, sender: ScriptedSender(), clock: ManualClock())
            store.failNextForgetting(
                with: StoreFailure(kind: .unavailable, message: "The disk failed."))
            await #expect(throws: StoreFailure.self) {
                try await gateway.forget(Samples.deviceToken())
            }
            let left = try await connection.store.perform(CountWakes()).unended
            #expect(left > 0 && left < count)
            let answer = try await gateway.forget(Samples.deviceToken())
            guard case .done(let ended) = answer else {
                Issue.record("\(answer)")
                return
            }
            #expect(Set(ended).count == left)
            #expect(try await connection.store.perform(CountWakes()).unended == 0)
        }
    }

    /// Has more pushes wait for a device than one transaction ends; returns how many.
    private static func admitMany(_ connection: Counter) async throws -> Int {
        let count = 4_500
        for start in stride(from: 0, to: count, by: 500) {
            try await connection.admit(
                (start..<start + 500).map { _ in
                    Samples.wake(.alert, at: connection.now, dueIn: 60)
                })
        }
        return count
    }

    @Test(
        "After a crash it is sent again where a repetition is harmless, and else ends as unknown",
        arguments: StoreKind.allCases)
    func lostLease(_ kind: StoreKind) async throws {
        try await kind.withCounter { (connection) async throws in
            var ids: [WakeID: Bool] = [:]
            for wakeKind in Self.plain {
                for collapseID in [nil, "score"] as [String?] {
                    let wake = Samples.wake(
                        wakeKind, at: connection.now, collapseID: collapseID)
                    let id = try await connection.admitOne(wake).id
                    ids[id] = wakeKind.mayRepeat(
                        collapseID: try collapseID.map { try CollapseID($0) })
                }
            }
            #expect(try await connection.claim(leaseSeconds: 5).claims.count == ids.count)
            let later = connection.later(6)
            let reclaimed = try await later.store.perform(
                ReclaimLeases(at: later.now, limit: 100, under: later.rules))
            #expect(Set(reclaimed.returned) == Set(ids.filter(\.value).keys))
            for ended in reclaimed.ended {
                #expect(ids[ended.id] == false && ended.end == .failed(.fateUnknown))
            }
            let again = try await later.claim().claims
            #expect(Set(again.map(\.id)) == Set(reclaimed.returned))
            #expect(again.allSatisfy { $0.tries == 1 })
        }
    }

    @Test("A dead token takes nothing more of its kind", arguments: StoreKind.allCases)
    func dead(_ kind: StoreKind) async throws {
        let gone = Refusal(status: 410, reason: .unregistered)
        let rules = try rules()
        try await kind.withCounter { (connection) async throws in
            var connection = connection
            connection.rules = rules
            let wakes = try await connection.admit(
                (0..<3).map { _ in Samples.wake(.alert, at: connection.now) })
            #expect(wakes.admissions.count == 3)
            let claim = try #require(try await connection.claim().claims.first)
            try await connection.settle(
                claim, .end(.undeliverable(gone)), attempt: .refused(gone))
            let next = try await connection.admitOne(
                Samples.wake(.alert, at: connection.later(2).now))
            guard case .suppressed(.deviceTokenDead) = next.decision else {
                Issue.record("It was taken: \(next.decision)")
                return
            }
            // The token of another kind is another one.
            #expect(
                try await connection.admitOne(Samples.wake(.widgets, at: connection.now)).decision
                    == .send)
            let answer = try await connection.later(5).claim([
                WakeQueueKey(app: Samples.app, kind: .alert)
            ])
            #expect(answer.claims.isEmpty && answer.ended.count == 1)
        }
    }
}
