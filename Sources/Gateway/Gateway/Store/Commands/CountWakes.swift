// SPDX-License-Identifier: Apache-2.0

/// Returns the counts from their counters, in constant time. Claimed wakes count as pending here.
public struct CountWakes: StoreCommand {
    /// Creates the command.
    public init() {}

    /// A read for a caller.
    public var profile: CommandProfile { .callersRead() }

    /// The counters.
    public func reads(of queues: QueueTable) -> ReadSet {
        var reads = ReadSet()
        reads.counters = Set(
            [.accepted] + WakeState.allCases.filter(\.isEnd).map { StoreCounter.ended($0) })
        return reads
    }

    /// What is not ended is pending.
    public func decide(on set: WorkingSet) throws(RowFault) -> StoreCount {
        var byState: [WakeState: Int] = [:]
        var ended = 0
        for state in WakeState.allCases where state.isEnd {
            let count = try set.value(of: .ended(state))
            if count != 0 { byState[state] = count }
            ended += count
        }
        let accepted = try set.value(of: .accepted)
        byState[.pending] = accepted - ended
        return StoreCount(accepted: accepted, byState: byState)
    }
}

/// Counts the wakes row by row. Linear in the number of wakes: for audits and tests.
public struct RecountWakes: StoreCommand {
    /// Creates the command.
    public init() {}

    /// A linear read for a caller.
    public var profile: CommandProfile { .callersRead(isLinear: true) }

    /// All wakes.
    public func reads(of queues: QueueTable) -> ReadSet {
        var reads = ReadSet()
        reads.counters = [.accepted, .pruned]
        reads.countsStates = true
        return reads
    }

    /// The rows, and the counters of what was accepted and pruned.
    public func decide(on set: WorkingSet) throws(RowFault) -> StoreCount {
        StoreCount(
            accepted: try set.value(of: .accepted),
            pruned: try set.value(of: .pruned),
            byState: try set.countByState())
    }
}
