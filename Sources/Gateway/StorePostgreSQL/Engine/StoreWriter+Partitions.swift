// SPDX-License-Identifier: Apache-2.0

import Gateway
import Synchronization
import WakeModel

extension StoreWriter {
    /// Makes the partitions of the next days, and drops one that has had its time. To be called by
    /// who has the duty. Returns how many wakes were dropped.
    func keepPartitions(_ order: PruneOrder) async throws(StoreFailure) -> Int {
        let now = ContinuousClock.now
        let isDue = link.partitions.withLock { watch in
            guard watch.nextLook.map({ $0 <= now }) ?? true else { return false }
            watch.nextLook = now + PartitionWatch.pause
            return true
        }
        guard isDue else { return 0 }
        let result = try await session.run([Query(Self.list)]).results()[0]
        let databaseTime = result.int64(0, 0) ?? 0
        let partitions = (0..<result.rowCount).compactMap { row -> PartitionPlan.Partition? in
            guard let name = result.string(row, 1), let end = result.int64(row, 2) else {
                return nil
            }
            return PartitionPlan.Partition(name: name, end: end)
        }
        let localTime = SystemGatewayClock().now().millisecondsSinceEpoch
        let plan = PartitionPlan(partitions, databaseTime: databaseTime, localTime: localTime)
        if let days = plan.missing, link.partitions.withLock({ $0.allows(plan, at: now) }) {
            try await change([
                Query(Self.make, .int8(days.lowerBound), .int8(days.upperBound))
            ])
        }
        // By the gateway's clock and by the database's: what is dropped is gone.
        let kept = order.now.milliseconds(since: order.wakesBefore)
        let before = min(
            order.wakesBefore.millisecondsSinceEpoch, databaseTime - max(0, kept))
        guard let old = PartitionPlan.old(partitions, before: before).first else { return 0 }
        let dropped = try await drop(old)
        // There may be another one.
        if dropped != nil { link.partitions.withLock { $0.nextLook = nil } }
        return dropped ?? 0
    }

    /// Says why partitions are not made and dropped, once for each cause: without those of new days
    /// rows of all days gather in one table, from which they are deleted one by one.
    func tell(_ failure: StoreFailure) {
        guard !failure.isConnectionLoss else { return }
        let isNew = link.partitions.withLock { watch in
            defer { watch.failure = failure.message }
            return watch.failure != failure.message
        }
        guard isNew else { return }
        link.notice("The partitions of days cannot be made or dropped. \(failure.message)")
    }

    /// The database's time in a row of its own or beside the partitions, each with the day behind
    /// its last one.
    private static let list = Statement(
        """
        SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint, name,
            (to_date(right(name, 8), 'YYYYMMDD') - date '1970-01-01')::bigint
                + CASE WHEN name LIKE 'until%' THEN 0 ELSE 1 END
        FROM (SELECT 1) AS one LEFT JOIN (
            SELECT substr(relname, 6) AS name FROM pg_catalog.pg_inherits
            JOIN pg_catalog.pg_class ON pg_class.oid = inhrelid
            WHERE inhparent = 'rouse.wake'::regclass AND relname ~ '^wake_(until_)?[0-9]{8}$'
        ) AS partitions ON true
        """)
    private static let make = Statement("SELECT rouse.make_partitions($1, $2)", .int8, .int8)

    /// A table's lock is taken immediately or not at all for now: a waiting lock request blocks all
    /// later ones.
    private static let patience = Statement(
        "SELECT set_config('lock_timeout', '500ms', true)")

    /// Carries out statements that change tables, as a transaction of this writer. `false` when it
    /// was not to be had now, and is to be tried again.
    @discardableResult
    private func change(
        _ queries: [Query], counters: [StoreCounter: Int] = [:]
    ) async throws(StoreFailure) -> Bool {
        guard let writer = link.writer(of: session) else { return false }
        let plan = WritePlan(
            by: writer.identity, sequence: writer.sequence + 1,
            floor: link.fresh.floor(ofSlot: writer.identity.numbers.slot) ?? writer.lastNumber,
            lastNumber: writer.lastNumber, counters: counters, [Query(Self.patience)] + queries)
        switch try await write(plan, of: writer).outcome {
        case .done: return true
        case .conflict: return false
        case .unknown(let write): return try await resolve(write)
        }
    }

    // MARK: Dropping

    /// How many wakes of a partition may have outlived their day; they are put elsewhere. With more
    /// of them it stays for now.
    private static let outlivingLimit = 1_000
    /// Into how many parts a partition is cut to count it.
    private static let partCount: Int64 = 24

    /// Drops a partition, and counts its wakes as pruned. `nil` when that must wait.
    private func drop(_ partition: PartitionPlan.Partition) async throws(StoreFailure) -> Int? {
        let wakes = "rouse.wake_\(partition.name)"
        let attempts = "rouse.attempt_\(partition.name)"
        // Without a lock: nothing is added to a day that is long over, and what has ended stays
        // ended.
        guard let count = try await count(wakes) else { return nil }
        let found = try await session.run([
            Query(
                Statement("SELECT number FROM \(wakes) WHERE state < 2 LIMIT $1", .int8),
                .int8(Int64(Self.outlivingLimit + 1)))
        ]).results()[0]
        guard found.rowCount <= Self.outlivingLimit else { return nil }
        let outliving = (0..<found.rowCount).compactMap { found.int64($0, 0) }
        let isDropped = try await change(
            [
                Query(Statement("ALTER TABLE rouse.wake DETACH PARTITION \(wakes)")),
                Query(Statement("ALTER TABLE rouse.attempt DETACH PARTITION \(attempts)")),
                Query(
                    Statement(
                        "INSERT INTO rouse.wake SELECT * FROM \(wakes) WHERE number = ANY($1)",
                        .int8Array), .int8s(outliving)),
                Query(
                    Statement(
                        "INSERT INTO rouse.attempt SELECT * FROM \(attempts) WHERE wake = ANY($1)",
                        .int8Array), .int8s(outliving)),
                Query(Statement("DROP TABLE \(wakes), \(attempts)")),
            ], counters: [.pruned: count - outliving.count])
        return isDropped ? count - outliving.count : nil
    }

    /// The wakes of a partition, counted part by part, so that no statement takes long and no
    /// snapshot is held.
    private func count(_ table: String) async throws(StoreFailure) -> Int? {
        let ends = try await session.run([
            Query(
                Statement(
                    """
                    SELECT (SELECT number FROM \(table) ORDER BY number LIMIT 1),
                        (SELECT number FROM \(table) ORDER BY number DESC LIMIT 1)
                    """))
        ]).results()[0]
        guard let first = ends.int64(0, 0), let last = ends.int64(0, 1) else { return 0 }
        let part = Statement(
            "SELECT count(*) FROM \(table) WHERE number >= $1 AND number < $2", .int8, .int8)
        let length = (last - first) / Self.partCount + 1
        var sum = 0
        for start in stride(from: first, through: last, by: Int(length)) {
            let result = try await session.run([
                Query(part, .int8(start), .int8(start + length))
            ]).results()[0]
            sum += Int(result.int64(0, 0) ?? 0)
            // The duty is this gateway's for a minute from here on.
            guard try await takeDuty() else { return nil }
        }
        return sum
    }
}
