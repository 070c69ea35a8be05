// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// The leases that this gateway holds, and when they end.
///
/// A gateway takes lapsed leases back whoever held them: the holder may be dead. Its own it leaves
/// alone, however long the store failed or the clock jumped, because what came of them is known
/// here, or about to be.
struct HeldLeases: Sendable {
    private var held: [Claim.Ticket: (queue: WakeQueueKey, end: WallInstant)] = [:]
    /// The earliest end of the leases that an admission under way may give, for each kind.
    private var promised: [WakeKind: WallInstant] = [:]

    /// Nothing is in hand yet.
    init() {}

    /// An admission of this kind began, which may give leases that end then or later. One of a kind
    /// is under way at a time.
    mutating func promise(_ kind: WakeKind, until end: WallInstant) { promised[kind] = end }

    /// The admission of this kind is over; what it gave was taken.
    mutating func promiseEnded(_ kind: WakeKind) { promised[kind] = nil }

    /// These were given out to this gateway.
    mutating func take(_ claims: [Claim]) {
        for claim in claims { held[claim.ticket] = (claim.queue, claim.leaseUntil) }
    }

    /// What came of these was written. How many of each queue they were.
    mutating func letGo(_ settlements: [Settlement]) -> [WakeQueueKey: Int] {
        var counts: [WakeQueueKey: Int] = [:]
        for settlement in settlements {
            guard let lease = held.removeValue(forKey: settlement.ticket) else { continue }
            counts[lease.queue, default: 0] += 1
        }
        return counts
    }

    /// The wakes whose leases have ended; `nil` while an admission under way may have given some
    /// that have. Linear in the number of wakes in flight.
    func lapsed(at now: WallInstant) -> Set<WakeID>? {
        guard promised.values.allSatisfy({ $0 > now }) else { return nil }
        return Set(held.lazy.filter { $0.value.end <= now }.map(\.key.id))
    }
}
