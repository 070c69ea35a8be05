// SPDX-License-Identifier: Apache-2.0

import WakeBudget
public import WakeModel

/// Reclaims leases that ended without a settlement, except those that the caller itself holds.
public struct ReclaimLeases: StoreCommand {
    /// The present instant.
    public let now: WallInstant
    /// The most leases to reclaim.
    public let limit: Int
    /// The wakes whose leases the caller holds.
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

    /// Wakes whose leases have ended, with their devices.
    public func reads(of queues: QueueTable) -> ReadSet {
        var reads = ReadSet()
        reads.scans = [.lapsed(at: now, limit: limit + held.count)]
        reads.addBacklogs(of: rules)
        return reads
    }

    /// A wake whose repetition is harmless waits again; another, whose outcome is unknown, ends.
    public func decide(on set: WorkingSet) throws(RowFault) -> Reclaimed {
        var reclaimed = Reclaimed()
        for number in try set.numbers(.lapsed(at: now, limit: limit + held.count)) {
            guard reclaimed.count < limit else { break }
            try set.part { () throws(RowFault) in try reclaim(number, on: set, &reclaimed) }
        }
        return reclaimed
    }

    private func reclaim(
        _ number: Int64, on set: WorkingSet, _ reclaimed: inout Reclaimed
    ) throws(RowFault) {
        guard var wake = try set.liveWake(number), !held.contains(wake.id) else { return }
        guard wake.state == .claimed else { return set.misplaced(wake) }
        guard let queue = try set.readableQueue(wake.queue) else { return set.quarantine(number) }
        set.note(.abandoned, of: wake, at: now)
        wake.fence += 1
        guard queue.row.queue.kind.mayRepeat(collapseID: wake.collapseID) else {
            reclaimed.ended.append(
                try set.finish(&wake, .failed(.fateUnknown), at: now, queue))
            return
        }
        wake.tries += 1
        let end = try set.comeBack(&wake, notBefore: now, fate: .unknown, queue, at: now)
        if let end {
            reclaimed.ended.append(end)
        } else {
            reclaimed.returned.append(wake.id)
        }
    }
}
