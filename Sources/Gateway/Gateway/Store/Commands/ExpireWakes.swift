// SPDX-License-Identifier: Apache-2.0

public import WakeBudget
public import WakeModel

/// Ends pending wakes whose deadline has come, as expired.
public struct ExpireWakes: StoreCommand {
    /// The present instant.
    public let now: WallInstant
    /// The most wakes to end.
    public let limit: Int
    /// What keeps queues from sending, beside pauses, which are in the store and in the rules: it
    /// is recorded as the cause.
    public let obstacles: [WakeQueueKey: DelayReasons]
    /// The rules.
    public let rules: StoreRules

    /// Creates the command.
    public init(
        at now: WallInstant, limit: Int, obstacles: [WakeQueueKey: DelayReasons] = [:],
        under rules: StoreRules
    ) {
        self.now = now
        self.limit = limit
        self.obstacles = obstacles
        self.rules = rules
    }

    /// It writes when something is overdue.
    public var profile: CommandProfile { CommandProfile(.readThenWrite, weight: limit) }

    /// Overdue wakes with their devices.
    public func reads(of queues: QueueTable) -> ReadSet {
        var reads = ReadSet()
        reads.scans = [.overdue(at: now, limit: limit)]
        reads.addBacklogs(of: rules)
        return reads
    }

    /// Ends each that is overdue; one that cannot be read ends as damaged.
    public func decide(on set: WorkingSet) throws(RowFault) -> [EndedWake] {
        var ended: [EndedWake] = []
        for number in try set.numbers(.overdue(at: now, limit: limit)) {
            let end = try set.part { () throws(RowFault) in try expire(number, on: set) }
            if let end = end.flatMap(\.self) { ended.append(end) }
        }
        return ended
    }

    private func expire(
        _ number: Int64, on set: WorkingSet
    ) throws(RowFault) -> EndedWake? {
        guard var wake = try set.liveWake(number) else { return nil }
        guard wake.state == .pending else {
            set.misplaced(wake)
            return nil
        }
        guard let queue = try set.readableQueue(wake.queue) else {
            set.quarantine(number)
            return nil
        }
        wake.holds.formUnion(obstacles[queue.row.queue] ?? [])
        return try set.abandon(&wake, .expired, queue, at: now)
    }
}
