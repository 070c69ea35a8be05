// SPDX-License-Identifier: Apache-2.0

/// The specification of a store, in memory: ``StoreCommand``s over rows kept in the plainest way.
///
/// It keeps the contract except that nothing survives the process, and its costs are linear in
/// the number of wakes. It is for tests and for trying things out. Commands that come at the same
/// time are decided beside each other, and one that finds its rows changed is decided anew: as it
/// is with an engine that gateways share.
public actor InMemoryWakeStore: WakeStore, StoreEngine {
    private var rows = MemoryRows()
    private var retention: Retention
    private var keptStates: [MemoryRows] = []
    private let numbers: NumberSeries
    private let trouble: @Sendable () -> WriteTrouble?
    /// How many writes were done, or may have been.
    private var writeCount: Int64 = 0
    /// The writes that were done of those of which it was not said.
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

    /// Removes what has had its time; see ``WakeStore/prune(_:)``.
    public func prune(_ order: PruneOrder) throws(StoreFailure) -> Pruned {
        let pruned = try retention.step(order)
        retention.committed()
        return pruned
    }

    /// Does nothing: what is kept in memory is not damaged.
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
            // A write that the engine cannot do is not done, whatever outcome is reported.
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

/// What an engine that gateways share has to cope with.
package enum WriteTrouble: Hashable, Sendable {
    /// Another writer changed a row first.
    case conflict
    /// The write is done or not, and at first that is not known.
    case unknown(isDone: Bool)
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
        retention = Retention(of: rows)
    }

    /// Forgets the kept states from this one on.
    package func dropKeptStates(from place: Int) {
        keptStates.removeLast(keptStates.count - place)
    }
}
