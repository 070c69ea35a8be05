// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// Tells when the next pending wake of some queues is due; `nil` when none is pending.
public struct NextDue: StoreCommand {
    /// The queues.
    public let queues: [WakeQueueKey]

    /// Creates the command.
    public init(in queues: [WakeQueueKey]) { self.queues = queues }

    /// It only reads.
    public var profile: CommandProfile { CommandProfile(.read) }

    /// The earliest of the queues' instants.
    public func decide(on transaction: StoreTransaction) throws(StoreFailure) -> WallInstant? {
        try transaction.nextDue(in: queues)
    }
}

extension StoreTransaction {
    /// When the next pending wake of these queues is due.
    func nextDue(in queues: [WakeQueueKey]) throws(StoreFailure) -> WallInstant? {
        var earliest: WallInstant?
        for queue in queues {
            guard let row = try rows.queue(of: queue),
                let due = try rows.nextDue(queue: row.number)
            else { continue }
            earliest = min(earliest ?? due, due)
        }
        return earliest
    }
}
