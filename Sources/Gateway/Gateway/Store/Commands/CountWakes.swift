// SPDX-License-Identifier: Apache-2.0

/// Tells the counts by their counters, at a cost that does not grow with them. Claimed wakes count
/// as pending here.
public struct CountWakes: StoreCommand {
    /// Creates the command.
    public init() {}

    /// A caller's, who only reads.
    public var profile: CommandProfile { .callersRead() }

    /// What is not ended is pending.
    public func decide(on transaction: StoreTransaction) throws(StoreFailure) -> StoreCount {
        var byState: [WakeState: Int] = [:]
        var ended = 0
        for state in WakeState.allCases where state.isEnd {
            let count = try transaction.rows.value(of: .ended(state))
            if count != 0 { byState[state] = count }
            ended += count
        }
        let accepted = try transaction.rows.value(of: .accepted)
        byState[.pending] = accepted - ended
        return StoreCount(accepted: accepted, byState: byState)
    }
}

/// Counts the wakes row by row. Linear in the number of wakes: for audits and tests.
public struct RecountWakes: StoreCommand {
    /// Creates the command.
    public init() {}

    /// A caller's, who reads all wakes.
    public var profile: CommandProfile { .callersRead(isLinear: true) }

    /// The rows, and the counters of what was accepted and pruned.
    public func decide(on transaction: StoreTransaction) throws(StoreFailure) -> StoreCount {
        StoreCount(
            accepted: try transaction.rows.value(of: .accepted),
            pruned: try transaction.rows.value(of: .pruned),
            byState: try transaction.rows.countByState())
    }
}
