// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// The leases that this gateway holds, and when they end.
///
/// A gateway reclaims lapsed leases of any holder: the holder may be dead. It does not reclaim its
/// own, even after a long failure of the store or a jump of the clock, because their outcome is
/// known here, or will be.
struct HeldLeases: Sendable {
    private var held: [Claim.Ticket: (queue: WakeQueueKey, end: WallInstant)] = [:]
    /// The earliest end of the leases that each running admission may grant.
    private var promised: [Int: WallInstant] = [:]
    private var nextPromise = 0

    /// Creates an empty set.
    init() {}

    /// Records a new admission, which may grant leases that end then or later. Returns its number,
    /// for ``promiseEnded(_:)``.
    mutating func promise(until end: WallInstant) -> Int {
        nextPromise += 1
        promised[nextPromise] = end
        return nextPromise
    }

    /// Records the end of the admission with this number, whose leases were added.
    mutating func promiseEnded(_ number: Int) { promised[number] = nil }

    /// Adds leases that were granted to this gateway.
    mutating func take(_ claims: [Claim]) {
        for claim in claims { held[claim.ticket] = (claim.queue, claim.leaseUntil) }
    }

    /// Removes leases whose results were written. Returns their count by queue.
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

    /// The wakes whose leases have ended; `nil` while a running admission may have granted such
    /// leases. Linear in the number of wakes in flight.
    func lapsed(at now: WallInstant) -> Set<WakeID>? {
        guard promised.values.allSatisfy({ $0 > now }) else { return nil }
        return Set(held.lazy.filter { $0.value.end <= now }.map(\.key.id))
    }
}
