// SPDX-License-Identifier: Apache-2.0

/// The specification of a store, in memory: ``StoreCommand``s over rows in simple collections.
///
/// It fulfils the contract except that nothing survives the process, and its costs are linear in
/// the number of wakes. It is for tests and experiments. Concurrent commands are decided
/// independently, and one whose rows have changed is decided again, as with an engine that gateways
/// share.
public actor InMemoryWakeStore: WakeStore, StoreEngine {
    private var rows = MemoryRows()
    private var retention: Retention
    private var keptStates: [MemoryRows] = []
    private let numbers: NumberSeries
    private let trouble: @Sendable () -> WriteTrouble?
    /// The number of writes that were done, or may have been.
    private var writeCount: Int64 = 0
    /// The writes with an unknown outcome that were done.
    private var doneWrites: Set<Int64> = []

    /// An empty store.
    public init() { self.init { nil } }

    /// An empty store, which calls `trouble` before each write for the failure to simulate, and
    /// assigns these numbers to wakes.
    package init(
        numbers: NumberSeries = .all, trouble: @escaping @Sendable () -> WriteTrouble?
    ) {
        self.numbers = numbers
        self.trouble = trouble
        retention = Retention(of: rows)
    }

    /// Carries out a command; see ``WakeStore/perform(_:)``.
    public nonisolated func perform<Command: StoreCommand>(
        _ command: Command
    ) async throws(StoreFailure) -> Command.Answer {
        try await carryOut(command)
    }

    /// Removes rows whose retention has ended; see ``WakeStore/prune(_:)``.
    public func prune(_ order: PruneOrder) throws(StoreFailure) -> Pruned {
        let pruned = try retention.step(order)
        retention.committed()
        return pruned
    }

    /// Does nothing: rows in memory are not damaged.
    public nonisolated func whenDamaged(_ tell: @escaping @Sendable (DamagedRow) -> Void) {}

    // MARK: Engine

    /// The queues; see ``StoreEngine/queueTable()``.
    public func queueTable() -> QueueTable { rows.queueTable }

    /// Loads rows; see ``StoreEngine/load(_:locks:)``.
    public func load(_ reads: ReadSet, locks: Bool) -> LoadedRows {
        var loaded = rows.load(reads)
        loaded.numbers = numbers
        return loaded
    }

    /// Writes changes; see ``StoreEngine/write(_:)``.
    public func write(_ changes: Changes) -> WriteOutcome {
        switch trouble() {
        case .conflict: return .conflict
        case .unknown(let isDone):
            writeCount += 1
            // A write that the engine cannot do is not done, regardless of the simulated outcome.
            if isDone, rows.write(changes) { doneWrites.insert(writeCount) }
            return .unknown(UnknownWrite(writer: 0, sequence: writeCount))
        case nil: return rows.write(changes) ? .done : .conflict
        }
    }

    /// Whether a write was done; see ``StoreEngine/resolve(_:)``.
    public func resolve(_ write: UnknownWrite) -> Bool {
        doneWrites.remove(write.sequence) != nil
    }

    /// Does nothing; see ``StoreEngine/note(_:)``.
    public nonisolated func note(_ row: DamagedRow) {}
}

/// The failures of an engine that gateways share.
package enum WriteTrouble: Hashable, Sendable {
    /// Another writer changed a row first.
    case conflict
    /// The write is done or not, and at first that is not known.
    case unknown(isDone: Bool)
}

/// For a test that decides itself when a transaction fails or is lost.
extension InMemoryWakeStore {
    /// The number of kept states.
    package var keptStateCount: Int { keptStates.count }

    /// Keeps the present state, after the kept ones.
    package func keepState() { keptStates.append(MemoryRows(copying: rows)) }

    /// Restores a kept state.
    package func restoreState(_ place: Int) {
        rows = MemoryRows(copying: keptStates[place])
        retention = Retention(of: rows)
    }

    /// Drops the kept states from this one on.
    package func dropKeptStates(from place: Int) {
        keptStates.removeLast(keptStates.count - place)
    }
}
