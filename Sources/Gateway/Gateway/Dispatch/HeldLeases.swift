// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// The leases that this gateway holds, and when they end.
///
/// A gateway reclaims lapsed leases of any holder: the holder may be dead. It leaves its own alone,
/// however long the store failed or the clock jumped, because their outcome is known here, or will
/// be.
struct HeldLeases: Sendable {
    private var held: [Claim.Ticket: (queue: WakeQueueKey, end: WallInstant)] = [:]
    /// The earliest end of the leases that each admission under way may give.
    private var promised: [Int: WallInstant] = [:]
    private var nextPromise = 0

    /// Holds no leases.
    init() {}

    /// An admission began, which may give leases that end then or later. Returns its number, for
    /// ``promiseEnded(_:)``.
    mutating func promise(until end: WallInstant) -> Int {
        nextPromise += 1
        promised[nextPromise] = end
        return nextPromise
    }

    /// The admission with this number is over; what it gave was taken.
    mutating func promiseEnded(_ number: Int) { promised[number] = nil }

    /// These were given out to this gateway.
    mutating func take(_ claims: [Claim]) {
        for claim in claims { held[claim.ticket] = (claim.queue, claim.leaseUntil) }
    }

    /// The results of these were written. Returns their count by queue.
    mutating func letGo(_ settlements: [Settlement]) -> [WakeQueueKey: Int] {
        var counts: [WakeQueueKey: Int] = [:]
        for settlement in settlements {
            guard let lease = held.removeValue(forKey: settlement.ticket) else { continue }
            counts[lease.queue, default: 0] += 1
        }
        return counts
    }

    /// The wakes whose leases are held. Linear in their number.
    var wakes: Set<WakeID> { Set(held.keys.lazy.map(\.id)) }

    /// The wakes whose leases have ended; `nil` while an admission under way may have given some
    /// that have. Linear in the number of wakes in flight.
    func lapsed(at now: WallInstant) -> Set<WakeID>? {
        guard promised.values.allSatisfy({ $0 > now }) else { return nil }
        return Set(held.lazy.filter { $0.value.end <= now }.map(\.key.id))
    }
}
