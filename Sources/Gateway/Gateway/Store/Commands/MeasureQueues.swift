// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// The pending wakes of a queue.
public struct QueueBacklog: Hashable, Sendable {
    /// How many of its wakes are pending, up to ``maximumCount``.
    public let waiting: Int
    /// When the next of them is due; `nil` when none is pending.
    public let nextDue: WallInstant?

    /// The most wakes that are counted, so that an answer costs no more than that.
    public static let maximumCount = ReadSet.waitingCount
}

/// Counts the pending wakes of some queues, without queues that are not in the store. Linear in the
/// number of pending wakes, up to ``QueueBacklog/maximumCount`` for each queue.
public struct MeasureQueues: StoreCommand {
    /// The queues.
    public let queues: [WakeQueueKey]

    /// Creates the command.
    public init(_ queues: [WakeQueueKey]) { self.queues = queues }

    /// The cost of counting a queue, in wakes: entries of an index take a fraction of what wakes do
    /// (100 000 took 8 to 16 ms, and examining 5 000 wakes 10 ms), and most queues hold few.
    private static let queueWeight = 50

    /// A read for a caller.
    public var profile: CommandProfile {
        .callersRead(weight: queues.count * Self.queueWeight)
    }

    /// The queues' counts and next due instants.
    public func reads(of table: QueueTable) -> ReadSet {
        var reads = ReadSet()
        reads.nextDue = Set(queues.compactMap { table[$0]?.number })
        reads.waiting = reads.nextDue
        return reads
    }

    /// What waits in each.
    public func decide(on set: WorkingSet) throws(RowFault) -> [WakeQueueKey: QueueBacklog] {
        var backlogs: [WakeQueueKey: QueueBacklog] = [:]
        for queue in queues {
            guard let row = set.knownQueue(queue) else { continue }
            backlogs[queue] = QueueBacklog(
                waiting: try set.waiting(queue: row.number),
                nextDue: try set.nextDue(queue: row.number))
        }
        return backlogs
    }
}
