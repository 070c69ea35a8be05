// SPDX-License-Identifier: Apache-2.0

import Gateway
import WakeModel

// A wake that is sent immediately is claimed in the transaction that admits it, and mostly ends a
// few milliseconds later. Two index entries for so short a time would be a good part of its cost;
// so such a lease is *fresh*: it is in its row and in memory, but in no queue. After a crash fresh
// leases are found from a stored number, the floor: no wake with a smaller one has a fresh lease.

extension SQLiteRows {
    /// A lease that was given out through these rows.
    struct Lease {
        /// The wake, without its payload.
        let wake: WakeRow
        /// Whether the wake is in no queue.
        let isFresh: Bool
    }

    /// The name under which the floor is kept.
    static let floorName = "lease floor"

    /// How far the floor may fall behind before it is written: the numbers of one second.
    static let floorStep: Int64 = 1_000 << 12

    /// How old a fresh lease may become before it gets its place in the queue: the numbers of a
    /// minute.
    static let freshLife: Int64 = 60_000 << 12

    /// Remembers a lease. There are as many as wakes are in flight.
    func hold(_ wake: borrowing WakeRow, isFresh: Bool) {
        var held = copy wake
        held.payload = []
        held.parts = []
        leases[wake.number] = Lease(wake: held, isFresh: isFresh)
    }

    /// Remembers the lease of a wake that was claimed with its admission.
    func holdFresh(_ wake: borrowing WakeRow) {
        hold(wake, isFresh: true)
        freshNumbers.append(wake.number)
    }

    /// Claimed wakes whose lease has ended, the earliest first.
    func lapsed(at now: WallInstant, limit: Int) throws(StoreFailure) -> [Int64] {
        if !knowsLeases { try readLeases() }
        let statement = try connection.prepare(
            """
            SELECT number, at FROM wake INDEXED BY wake_queue
            WHERE queue = 0 AND at <= ? ORDER BY at, number LIMIT ?
            """)
        defer { statement.reset() }
        statement.bind(1, now)
        statement.bind(2, limit)
        var lapsed: [(at: WallInstant, number: Int64)] = []
        while try statement.step() { lapsed.append((statement.instant(1), statement.int64(0))) }
        for (number, lease) in leases where lease.isFresh && lease.wake.leaseUntil <= now {
            lapsed.append((lease.wake.leaseUntil, number))
        }
        return lapsed.sorted { $0 < $1 }.prefix(limit).map(\.number)
    }

    /// Reads the fresh leases again, after an undone transaction took what was known of them.
    private func readLeases() throws(StoreFailure) {
        leases.removeAll(keepingCapacity: true)
        freshNumbers.removeAll()
        let statement = try connection.prepare(
            """
            SELECT number, state, at, rest, device FROM wake
            WHERE number >= ? AND state = 1 AND queue IS NULL ORDER BY number
            """)
        defer { statement.reset() }
        statement.bind(1, try Self.property(Self.floorName, connection))
        var damaged: [Int64] = []
        while try statement.step() {
            let number = statement.int64(0)
            do throws(StoreFailure) {
                holdFresh(try read(statement, number: number, from: 1))
            } catch {
                damaged.append(number)
            }
        }
        // They are put with the lapsed leases, and end when those are reclaimed.
        for number in damaged {
            let place = try connection.prepare(
                "UPDATE wake SET queue = 0, at = 0 WHERE number = ?")
            place.bind(1, number)
            try place.run()
        }
        knowsLeases = true
    }

    /// Forgets all leases, because the transaction that changed some of them was undone.
    func forgetLeases() {
        leases.removeAll(keepingCapacity: true)
        freshNumbers.removeAll()
        knowsLeases = false
        newFloor = nil
    }

    /// Raises the floor as far as possible, when that justifies a write.
    func raiseFloor() throws(StoreFailure) {
        if !knowsLeases { try readLeases() }
        while let first = freshNumbers.first {
            if let lease = leases[first], lease.isFresh {
                // One slow push must not hold the floor down: what is behind it is read at a start.
                guard lastNumber - first >= Self.freshLife else { break }
                try update(lease.wake, .claim)
            }
            freshNumbers.removeFirst()
        }
        let floor = freshNumbers.first ?? lastNumber + 1
        guard floor - self.floor >= Self.floorStep else { return }
        let statement = try connection.prepare(
            """
            INSERT INTO property VALUES (?, ?)
            ON CONFLICT (name) DO UPDATE SET value = excluded.value
            """)
        statement.bind(1, Self.floorName)
        statement.bind(2, floor)
        try statement.run()
        newFloor = floor
    }
}

/// Numbers in the order in which they came, taken from the front.
struct NumberQueue {
    private var numbers: [Int64] = []
    private var start = 0

    /// The one that came first.
    var first: Int64? { start < numbers.count ? numbers[start] : nil }

    mutating func append(_ number: Int64) { numbers.append(number) }

    /// Takes the first one out, which must be there.
    mutating func removeFirst() {
        start += 1
        // Moving the rest to the front costs no more than what was taken since the last time.
        guard start > numbers.count / 2 else { return }
        numbers.removeFirst(start)
        start = 0
    }

    mutating func removeAll() {
        numbers.removeAll(keepingCapacity: true)
        start = 0
    }
}
