// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// Returns when the next pending wake of some queues is due; `nil` when none is pending.
public struct NextDue: StoreCommand {
    /// The queues.
    public let queues: [WakeQueueKey]

    /// Creates the command.
    public init(in queues: [WakeQueueKey]) { self.queues = queues }

    /// It only reads.
    public var profile: CommandProfile { CommandProfile(.read) }

    /// The queues' next due instants.
    public func reads(of table: QueueTable) -> ReadSet {
        var reads = ReadSet()
        reads.nextDue = Set(queues.compactMap { table[$0]?.number })
        return reads
    }

    /// The earliest of the queues' instants.
    public func decide(on set: WorkingSet) throws(RowFault) -> WallInstant? {
        try set.nextDue(in: queues)
    }
}

/// Returns when the next pending wake of each of some queues is due, without those in which none
/// is pending.
struct NextDueByQueue: StoreCommand {
    let queues: [WakeQueueKey]

    /// A read for a caller: the gateway's own look at what is due does not wait for it.
    var profile: CommandProfile { .callersRead(weight: queues.count) }

    func reads(of table: QueueTable) -> ReadSet { NextDue(in: queues).reads(of: table) }

    func decide(on set: WorkingSet) throws(RowFault) -> [WakeQueueKey: WallInstant] {
        var dues: [WakeQueueKey: WallInstant] = [:]
        for queue in queues { dues[queue] = try set.nextDue(in: [queue]) }
        return dues
    }
}

extension WorkingSet {
    /// When the next pending wake of these queues is due.
    func nextDue(in queues: [WakeQueueKey]) throws(RowFault) -> WallInstant? {
        var earliest: WallInstant?
        for queue in queues {
            guard let row = knownQueue(queue) else { continue }
            let due = try part { () throws(RowFault) in try nextDue(queue: row.number) }
            if let due = due.flatMap(\.self) { earliest = min(earliest ?? due, due) }
        }
        return earliest
    }
}
