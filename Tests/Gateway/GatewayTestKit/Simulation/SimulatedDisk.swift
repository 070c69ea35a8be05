// SPDX-License-Identifier: Apache-2.0

package import Gateway
package import SeedKit

/// Where a simulated queue is kept. Transactions are durable once it was synced; what came since
/// may be lost with the power, from some transaction on.
package protocol SimulatedDisk: AnyObject {
    /// Runs one transaction. One that fails is undone; with `fails` it does.
    func transact<Answer>(
        fails: Bool, _ body: (StoreTransaction) throws(StoreFailure) -> Answer
    ) throws(StoreFailure) -> Answer

    /// Reads, and changes nothing.
    func look<Answer>(
        _ body: (StoreTransaction) throws(StoreFailure) -> Answer
    ) throws(StoreFailure) -> Answer

    /// Makes durable what was committed so far.
    func sync() throws(StoreFailure)

    /// Takes the power away and starts again from what the disk has: all that was synced, and as
    /// much of what came since as chance will have it.
    func cutPower(_ generator: inout SeededGenerator) throws(StoreFailure)
}

/// A failure that a simulated disk was told to have.
package let failureOnPurpose = StoreFailure(kind: .full, message: "On purpose.")

/// A disk in memory. It keeps the last durable state, and some of those since.
package final class MemoryDisk: SimulatedDisk {
    private var store = MemoryStoreState()
    private var durable = MemoryStoreState()
    private var since: [MemoryStoreState] = []
    private var transactions = 0

    /// Every so many transactions the state is kept, so that power can be cut right behind it.
    private static let stateEvery = 3

    /// An empty disk.
    package init() {}

    package func transact<Answer>(
        fails: Bool, _ body: (StoreTransaction) throws(StoreFailure) -> Answer
    ) throws(StoreFailure) -> Answer {
        let before = fails ? store.copy() : nil
        do throws(StoreFailure) {
            let answer = try body(store.verbs)
            guard let before else {
                transactions += 1
                if transactions.isMultiple(of: Self.stateEvery) { since.append(store.copy()) }
                return answer
            }
            store = before
        } catch {
            guard let before else { throw error }
            store = before
        }
        throw failureOnPurpose
    }

    package func look<Answer>(
        _ body: (StoreTransaction) throws(StoreFailure) -> Answer
    ) throws(StoreFailure) -> Answer {
        try body(store.verbs)
    }

    package func sync() {
        durable = store.copy()
        since.removeAll()
    }

    package func cutPower(_ generator: inout SeededGenerator) {
        let states = [durable] + since + [store]
        store = generator.pick(states).copy()
        sync()
    }
}
