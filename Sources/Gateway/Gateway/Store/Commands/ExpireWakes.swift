// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// Ends pending wakes whose deadline has come, as expired.
public struct ExpireWakes: StoreCommand {
    /// The present instant.
    public let now: WallInstant
    /// The most wakes to end.
    public let limit: Int
    /// The rules.
    public let rules: StoreRules

    /// Creates the command.
    public init(at now: WallInstant, limit: Int, under rules: StoreRules) {
        self.now = now
        self.limit = limit
        self.rules = rules
    }

    /// It writes when something is overdue.
    public var profile: CommandProfile { CommandProfile(.readThenWrite, weight: limit) }

    /// Ends each that is overdue; one that cannot be read ends as damaged.
    public func decide(on transaction: StoreTransaction) throws(StoreFailure) -> [EndedWake] {
        var ended: [EndedWake] = []
        for number in try transaction.rows.overdue(at: now, limit: limit) {
            guard var wake = try transaction.liveWake(number) else { continue }
            guard wake.state == .pending else {
                try transaction.misplaced(wake)
                continue
            }
            guard let queue = try transaction.readableQueue(wake.queue) else {
                try transaction.quarantine(number)
                continue
            }
            ended.append(try transaction.abandon(&wake, .expired, queue, at: now))
        }
        return ended
    }
}
