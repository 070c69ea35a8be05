// SPDX-License-Identifier: Apache-2.0

import GatewayTestKit
import Synchronization
import Testing
import WakeModel

@testable import Gateway

/// Decisions over rows that others change, and writes of which it is not known whether they were
/// done.
@Suite("An engine whose rows others change")
struct StoreEngineTests {
    /// A store whose writes have these troubles, in turn, and then none; and how many were tried.
    private static func store(
        _ troubles: [WriteTrouble]
    ) -> (store: InMemoryWakeStore, writes: @Sendable () -> Int) {
        let tried = Count()
        let store = InMemoryWakeStore {
            let place = tried.value.wrappingAdd(1, ordering: .relaxed).oldValue
            return place < troubles.count ? troubles[place] : nil
        }
        return (store, { tried.value.load(ordering: .relaxed) })
    }

    private final class Count: Sendable {
        let value = Atomic(0)
    }

    private static func admit(
        _ wakes: [WakeSubmission], _ key: IdempotencyKey? = nil, to store: InMemoryWakeStore
    ) async throws -> AdmitAnswer {
        try await store.perform(
            AdmitWakes(
                wakes.map { $0.with(key) }, grant: nil,
                under: Samples.rules))
    }

    @Test(
        "A command is decided anew until it is written, and is done once",
        arguments: [
            ([.conflict], 2), ([.conflict, .conflict, .conflict], 4),
            ([.unknown(isDone: true)], 1), ([.unknown(isDone: false)], 2),
            ([.unknown(isDone: false), .conflict, .unknown(isDone: true)], 3),
        ] as [([WriteTrouble], Int)])
    func anew(_ troubles: [WriteTrouble], _ expected: Int) async throws {
        let (store, writes) = Self.store(troubles)
        let answer = try await Self.admit([Samples.wake(), Samples.wake(device: 8)], to: store)
        #expect(writes() == expected)
        #expect(answer.admissions.count == 2)
        #expect(try await store.perform(RecountWakes()).byState == [.pending: 2])
        for case .admitted(let wake) in answer.admissions {
            #expect(try await store.perform(FindWake(wake.id))?.state == .pending)
        }
    }

    @Test("A command that never finds its rows unchanged is refused, and nothing of it is left")
    func endless() async throws {
        let (store, _) = Self.store(Array(repeating: .conflict, count: 1_000))
        await #expect {
            _ = try await Self.admit([Samples.wake()], to: store)
        } throws: { error in
            (error as? StoreFailure)?.kind == .overloaded
        }
        #expect(try await store.perform(CountWakes()).accepted == 0)
    }

    @Test("The same key at the same time is one wake, and one call rings once")
    func together() async throws {
        let store = InMemoryWakeStore()
        let key = IdempotencyKey(
            key: [1], request: [2], expiresAt: Samples.start.advanced(bySeconds: 60))
        let repeated = try await Self.all(50) { _ in
            try await Self.admit([Samples.wake()], key, to: store)
        }
        #expect(repeated.filter { !$0.isRepeated }.count == 1)
        #expect(Set(repeated.map(\.id)).count == 1)
        let calls = try await Self.all(50) { _ in
            try await Self.admit([Samples.wake(.voip, call: 3)], to: store)
        }
        #expect(calls.filter { !$0.isRepeated }.count == 1)
        #expect(Set(calls.map(\.id)).count == 1)
    }

    @Test("Wakes for one device at the same time keep to its budget")
    func budget() async throws {
        let store = InMemoryWakeStore()
        let grant = ClaimGrant(
            queues: Set(Samples.queues), background: 100, calls: 0, leaseSeconds: 60)
        let claims = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    try await store.perform(
                        AdmitWakes(
                            [Samples.wake()], grant: grant,
                            under: Samples.rules)
                    ).claims.count
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(claims == 1)
        let count = try await store.perform(RecountWakes())
        #expect(count.byState == [.claimed: 1, .pending: 1, .coalesced: 48] && count.isConserved)
    }

    private static func all(
        _ count: Int, _ body: @escaping @Sendable (Int) async throws -> AdmitAnswer
    ) async throws -> [AdmittedWake] {
        try await withThrowingTaskGroup(of: AdmitAnswer.self) { group in
            for place in 0..<count { group.addTask { try await body(place) } }
            var wakes: [AdmittedWake] = []
            for try await answer in group {
                for case .admitted(let wake) in answer.admissions { wakes.append(wake) }
            }
            return wakes
        }
    }
}
