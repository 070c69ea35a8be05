// SPDX-License-Identifier: Apache-2.0

/// The specification of a store, in memory: ``StoreTransaction`` over rows kept in the plainest
/// way.
///
/// It keeps the contract except that nothing survives the process, and its costs are linear in
/// the number of wakes. It is for tests and for trying things out.
public actor InMemoryWakeStore: WakeStore {
    private var rows = MemoryRows()
    private var transaction: StoreTransaction
    private var keptStates: [MemoryRows] = []

    /// An empty store.
    public init() { transaction = StoreTransaction(rows: rows) }

    /// Carries out a command; see ``WakeStore/perform(_:)``.
    public func perform<Command: StoreCommand>(
        _ command: Command
    ) throws(StoreFailure) -> Command.Answer {
        try transaction.perform(command)
    }

    /// Does nothing: what is kept in memory is not damaged.
    public nonisolated func whenDamaged(_ tell: @escaping @Sendable (DamagedRow) -> Void) {}

    /// Removes what has had its time; see ``WakeStore/prune(_:)``.
    public func prune(_ order: PruneOrder) throws(StoreFailure) -> Pruned {
        try transaction.prune(order)
    }
}

/// For a test that decides itself when a transaction fails or is lost.
extension InMemoryWakeStore {
    /// How many states are kept.
    package var keptStateCount: Int { keptStates.count }

    /// Keeps the state as it is now, behind those that are kept.
    package func keepState() { keptStates.append(MemoryRows(copying: rows)) }

    /// Goes back to a kept state.
    package func restoreState(_ place: Int) {
        rows = MemoryRows(copying: keptStates[place])
        transaction = StoreTransaction(rows: rows)
    }

    /// Forgets the kept states from this one on.
    package func dropKeptStates(from place: Int) {
        keptStates.removeLast(keptStates.count - place)
    }
}
