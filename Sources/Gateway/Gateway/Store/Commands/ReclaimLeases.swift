// SPDX-License-Identifier: Apache-2.0

import WakeBudget
public import WakeModel

/// Takes back leases that ended without a settlement, except those of wakes that the caller has in
/// hand itself.
public struct ReclaimLeases: StoreCommand {
    /// The present instant.
    public let now: WallInstant
    /// The most leases to take back.
    public let limit: Int
    /// The wakes that the caller has in hand.
    public let held: Set<WakeID>
    /// The rules.
    public let rules: StoreRules

    /// Creates the command.
    public init(
        at now: WallInstant, limit: Int, except held: Set<WakeID> = [], under rules: StoreRules
    ) {
        self.now = now
        self.limit = limit
        self.held = held
        self.rules = rules
    }

    /// It writes when a lease has ended.
    public var profile: CommandProfile { CommandProfile(.readThenWrite, weight: limit) }

    /// A background wake waits again; a call, whose fate is unknown, ends.
    public func decide(on transaction: StoreTransaction) throws(StoreFailure) -> Reclaimed {
        var reclaimed = Reclaimed()
        for number in try transaction.rows.lapsed(at: now, limit: limit + held.count) {
            guard reclaimed.count < limit, var wake = try transaction.liveWake(number),
                !held.contains(wake.id)
            else { continue }
            guard wake.state == .claimed else {
                try transaction.misplaced(wake)
                continue
            }
            guard let queue = try transaction.readableQueue(wake.queue) else {
                try transaction.quarantine(number)
                continue
            }
            try transaction.note(.abandoned, of: wake, at: now)
            wake.fence += 1
            if queue.row.queue.kind == .voip {
                reclaimed.ended.append(
                    try transaction.finish(&wake, .failed(.fateUnknown), at: now, queue))
                continue
            }
            wake.tries += 1
            let end = try transaction.comeBack(
                &wake, notBefore: now, fate: .unknown, queue, at: now)
            if let end {
                reclaimed.ended.append(end)
            } else {
                reclaimed.returned.append(wake.id)
            }
        }
        return reclaimed
    }
}
