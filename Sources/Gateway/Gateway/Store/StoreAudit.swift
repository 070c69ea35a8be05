// SPDX-License-Identifier: Apache-2.0

/// What an audit of a store found.
public struct StoreAudit: Hashable, Sendable {
    /// The counts, counted row by row.
    public let count: StoreCount
    /// What the engine's own checks complain of, at most ``maximumFaults``, and each webhook
    /// endpoint whose counter is not what is kept for it; empty when all is well.
    public let faults: [String]
    /// The rows that cannot be read, at most ``maximumFaults``.
    public let damaged: [DamagedRow]
    /// How many rows cannot be read.
    public let damagedCount: Int

    /// The most complaints that are kept.
    public static let maximumFaults = 20

    /// Creates the result of an audit.
    public init(count: StoreCount, faults: [String], damaged: [DamagedRow], damagedCount: Int) {
        self.count = count
        self.faults = faults
        self.damaged = damaged
        self.damagedCount = damagedCount
    }

    /// Whether the store is whole, every row can be read and no wake was lost.
    public var isSound: Bool { faults.isEmpty && damagedCount == 0 && count.isConserved }
}
