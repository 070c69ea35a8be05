// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// Reads the feed of outcomes behind a cursor, in the order in which transactions with ends were
/// committed.
public struct ReadOutcomes: StoreCommand {
    /// The cursor of the last entry that is known.
    public let cursor: Int64
    /// The most entries.
    public let limit: Int

    /// Creates the command.
    public init(after cursor: Int64, limit: Int) {
        self.cursor = cursor
        self.limit = limit
    }

    /// A read for a caller.
    public var profile: CommandProfile { .callersRead(weight: limit, isShown: true) }

    /// The entries.
    public func reads(of queues: QueueTable) -> ReadSet {
        var reads = ReadSet()
        reads.scans = [.outcomes(after: cursor, limit: limit)]
        return reads
    }

    /// Those of wakes that were removed, or cannot be read, are omitted.
    public func decide(on set: WorkingSet) throws(RowFault) -> OutcomePage {
        let cursors = try set.numbers(.outcomes(after: cursor, limit: limit))
        var page = OutcomePage(cursor: cursors.last ?? cursor, isFull: cursors.count >= limit)
        for cursor in cursors {
            let event = try set.part { () throws(RowFault) in
                try set.readable { () throws(RowFault) in try set.outcome(at: cursor) }
            }
            if let event = event.flatMap(\.self) { page.events.append(event) }
        }
        guard set.missing.isEmpty else { throw .notLoaded }
        return page
    }
}

/// Reads where the feed of outcomes ends: the cursor of its last entry, 0 before the first.
public struct FindLastOutcome: StoreCommand {
    /// Creates the command.
    public init() {}

    /// A read for a caller.
    public var profile: CommandProfile { .callersRead(isShown: true) }

    /// The cursor.
    public func decide(on set: WorkingSet) throws(RowFault) -> Int64 {
        try set.numbers(.lastOutcome).last ?? 0
    }
}

/// Finds which of these wakes have ended, or do not exist.
public struct FindEnded: StoreCommand {
    /// The wakes' numbers.
    public let wakes: Set<Int64>

    /// Creates the command.
    public init(among wakes: Set<Int64>) { self.wakes = wakes }

    /// A look of the gateway's own.
    public var profile: CommandProfile { CommandProfile(.read, weight: wakes.count) }

    /// The wakes.
    public func reads(of queues: QueueTable) -> ReadSet {
        var reads = ReadSet()
        for number in wakes { reads.add(wake: number) }
        return reads
    }

    /// The numbers of those that are not pending.
    public func decide(on set: WorkingSet) throws(RowFault) -> Set<Int64> {
        var ended: Set<Int64> = []
        for number in wakes {
            let wake = try set.part { () throws(RowFault) in try set.readableWake(number) }
            if wake.flatMap(\.self)?.state.isEnd ?? true { ended.insert(number) }
        }
        guard set.missing.isEmpty else { throw .notLoaded }
        return ended
    }
}

/// A page of the feed of outcomes.
public struct OutcomePage: Hashable, Sendable {
    /// The outcomes, in the order of their cursors.
    public var events: [OutcomeEvent] = []
    /// The cursor of the last entry read, after which the next page begins.
    public let cursor: Int64
    /// Whether as many entries were read as requested, so that more may follow.
    public let isFull: Bool

    /// Creates an empty page.
    public init(cursor: Int64, isFull: Bool) {
        self.cursor = cursor
        self.isFull = isFull
    }
}

extension WorkingSet {
    /// The outcome at a cursor; `nil` when its wake was removed. A wake that had merged, and is
    /// pending again because its carrier was cancelled, ends again: only the entry of that end has
    /// its outcome, not the earlier one.
    fileprivate func outcome(at cursor: Int64) throws(RowFault) -> OutcomeEvent? {
        guard let number = loaded.outcomes[cursor], let wake = try self.wake(number),
            let end = wake.end, let endedAt = wake.endedAt,
            cursor >= WakeID.firstNumber(at: endedAt)
        else { return nil }
        let queue = try self.queue(wake.queue).row.queue
        let device = wake.device
        let token = try readable { () throws(RowFault) -> DeviceToken? in
            try self.token(ofDevice: device)
        }
        return OutcomeEvent(
            cursor: cursor, id: wake.id, ref: wake.ref, app: queue.app, kind: queue.kind,
            deviceToken: token, end: end, at: endedAt, holds: wake.holds)
    }
}
