// SPDX-License-Identifier: Apache-2.0

import Gateway
import WakeModel

// A wake that is sent immediately is claimed in the transaction that admits it, and mostly ends a
// few milliseconds later. Two index entries for so short a time would be a large part of its cost;
// so such a lease is *fresh*: it is in its row and in memory, but in no queue. After a crash fresh
// leases are found from a stored number, the floor: no wake with a smaller one has a fresh lease.

extension SQLiteRows {
    /// A lease that was granted through these rows.
    struct Lease {
        /// The wake, without its payload.
        let wake: WakeRow
        /// Whether the wake is in no queue.
        let isFresh: Bool
    }

    /// The name under which the floor is stored.
    static let floorName = "lease floor"

    /// The distance of the floor after which it is written: the numbers of one second.
    static let floorStep: Int64 = 1_000 << 12

    /// The age at which a fresh lease is added to the queue: the numbers of a minute.
    static let freshLife: Int64 = 60_000 << 12

    /// Records a lease. There are as many as wakes in flight.
    func hold(_ wake: borrowing WakeRow, isFresh: Bool) {
        var held = copy wake
        held.payload = []
        held.parts = []
        leases[wake.number] = Lease(wake: held, isFresh: isFresh)
    }

    /// Records the lease of a wake that was claimed with its admission.
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

    /// Reads the fresh leases again, after a rollback dropped them from memory.
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
        // They are added to the lapsed leases, and end when those are reclaimed.
        for number in damaged {
            let place = try connection.prepare(
                "UPDATE wake SET queue = 0, at = 0 WHERE number = ?")
            place.bind(1, number)
            try place.run()
        }
        knowsLeases = true
    }

    /// Drops all leases from memory after a rollback.
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
                // One slow push must not keep the floor low, because all wakes after it are read at
                // a start.
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

/// A queue of numbers.
struct NumberQueue {
    private var numbers: [Int64] = []
    private var start = 0

    /// The first number.
    var first: Int64? { start < numbers.count ? numbers[start] : nil }

    mutating func append(_ number: Int64) { numbers.append(number) }

    /// Removes the first number, which must exist.
    mutating func removeFirst() {
        start += 1
        // Moving the rest to the front costs no more than the removals since the last time.
        guard start > numbers.count / 2 else { return }
        numbers.removeFirst(start)
        start = 0
    }

    mutating func removeAll() {
        numbers.removeAll(keepingCapacity: true)
        start = 0
    }
}
