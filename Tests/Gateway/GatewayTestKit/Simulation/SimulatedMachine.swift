// SPDX-License-Identifier: Apache-2.0

package import Gateway
import SeedKit
import Synchronization

/// Where a simulated queue is kept: a disk, and a store on it that the gateways share.
package protocol SimulatedMachine: AnyObject {
    /// When the callers of a transaction get its answer, and what is left of it by then.
    var answers: SimulatedAnswers { get }

    /// Whether the store works. Otherwise it is to be restarted.
    var isAlive: Bool { get }

    /// Every so many transactions, one has trouble.
    var troubleInterval: Int { get }

    /// Runs a verb. With a seed, trouble comes over the disk meanwhile.
    func transact<Answer>(
        troubleFrom seed: UInt64?,
        _ verb: (any WakeStore) async throws(StoreFailure) -> Answer
    ) async -> SimulatedEnd<Answer>

    /// Asks the store without changing it.
    func look<Answer>(
        _ question: (any WakeStore) async throws(StoreFailure) -> Answer
    ) async throws(StoreFailure) -> Answer

    /// Makes durable what was done so far; whether that worked. With a seed, trouble comes over the
    /// disk meanwhile.
    func sync(troubleFrom seed: UInt64?) async -> Bool

    /// Ends the process and starts it again.
    func restart(_ way: SimulatedRestart, seed: UInt64) async -> SimulatedStart

    /// Opens the same store a second time. Returns the violated rule, if any.
    func intrude() async -> String?

    /// Shuts down. What does not hold, if anything.
    func end() async -> String?
}

/// When the callers of a transaction get its answer.
package enum SimulatedAnswers: Hashable, Sendable {
    /// With the next sync: then it is durable.
    case afterSync
    /// Immediately, and then it is durable.
    case durable
    /// Immediately. A power cut may lose what came since the last sync, from some transaction on.
    case beforeSync
}

/// The result of a transaction.
package enum SimulatedEnd<Answer> {
    /// It is done.
    case done(Answer)
    /// Nothing of it is left. The store works on.
    case undone
    /// It may be done or not. The store is dead.
    case unknown
    /// It failed without a reason, which is said.
    case wrong(String)
}

/// How a process ends.
package enum SimulatedRestart: Hashable, Sendable {
    /// It closes its store.
    case shutdown
    /// It dies.
    case kill
    /// The machine dies.
    case powerCut
}

/// What a restart came to.
package struct SimulatedStart: Hashable, Sendable {
    /// Whether the disk may have lost what was not synced.
    package let mayHaveLost: Bool
    /// What does not hold, if anything.
    package let problem: String?

    package init(mayHaveLost: Bool, problem: String?) {
        self.mayHaveLost = mayHaveLost
        self.problem = problem
    }
}

/// The store in memory, over a disk that loses what was not synced: it keeps the last durable
/// state, and some of those since. As in a store that gateways share, some writes find that their
/// rows have changed, and of some it is not known at first whether they were done.
package final class MemoryMachine: SimulatedMachine {
    package let answers = SimulatedAnswers.afterSync
    package let isAlive = true
    package let troubleInterval = 50
    private let store: InMemoryWakeStore
    private var transactions = 0

    /// Every so many transactions the state is kept, so that power can be cut right behind it.
    private static let stateEvery = 3

    /// An empty store.
    package init() {
        let writes = Atomic(0)
        store = InMemoryWakeStore {
            let count = writes.wrappingAdd(1, ordering: .relaxed).newValue
            if count.isMultiple(of: 7) { return .conflict }
            if count.isMultiple(of: 11) { return .unknown(isDone: true) }
            return count.isMultiple(of: 13) ? .unknown(isDone: false) : nil
        }
    }

    package func transact<Answer>(
        troubleFrom seed: UInt64?,
        _ verb: (any WakeStore) async throws(StoreFailure) -> Answer
    ) async -> SimulatedEnd<Answer> {
        do throws(StoreFailure) {
            guard seed == nil else {
                // The one that fails is done and undone.
                await store.keepState()
                _ = try await verb(store)
                await store.restoreState(await store.keptStateCount - 1)
                await store.dropKeptStates(from: await store.keptStateCount - 1)
                return .undone
            }
            let answer = try await verb(store)
            transactions += 1
            if transactions.isMultiple(of: Self.stateEvery) { await store.keepState() }
            return .done(answer)
        } catch {
            return .wrong("\(error)")
        }
    }

    package func look<Answer>(
        _ question: (any WakeStore) async throws(StoreFailure) -> Answer
    ) async throws(StoreFailure) -> Answer {
        try await question(store)
    }

    package func sync(troubleFrom seed: UInt64?) async -> Bool {
        await store.dropKeptStates(from: 0)
        await store.keepState()
        return true
    }

    package func restart(_ way: SimulatedRestart, seed: UInt64) async -> SimulatedStart {
        guard way == .powerCut else { return SimulatedStart(mayHaveLost: false, problem: nil) }
        var generator = SeededGenerator(seed: seed)
        let states = await store.keptStateCount
        // The last choice is the state as it is.
        let state = generator.below(states + 1)
        if state < states { await store.restoreState(state) }
        _ = await sync(troubleFrom: nil)
        return SimulatedStart(mayHaveLost: true, problem: nil)
    }

    package func intrude() async -> String? { nil }

    package func end() async -> String? { nil }
}
