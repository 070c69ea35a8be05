// SPDX-License-Identifier: Apache-2.0

public import Gateway
import StoreRows
import WakeModel

extension PostgreSQLWakeStore {
    /// Recounts the law of conservation in a shared store, and reads every wake, device, queue,
    /// attempt, idempotency key, webhook, and entry of the feeds. It only reads, and may run beside
    /// gateways: what is counted is of one moment, and rows are read page by page behind it, so
    /// that no long transaction keeps the database from removing old row versions.
    ///
    /// Linear in the size of the store. Throws a ``Gateway/StoreFailure``: `corrupt` when there are
    /// no tables, or those of another version.
    public static func audit(
        url: String, settings: Settings = Settings()
    ) async throws(StoreFailure) -> StoreAudit {
        try await StoreMigration.withSession(url, settings) { session, _ throws(StoreFailure) in
            let version = try await StoreMigration.version { query throws(StoreFailure) in
                try await session.run([query]).results()[0]
            }
            try StoreMigration.check(version)
            return try await SharedAudit(session: session).run()
        }
    }
}

/// One audit, on a connection of its own.
private struct SharedAudit {
    /// How many rows one query reads.
    private static let pageCount = 4_096
    /// How long the counting may take.
    private static let limit = Duration.seconds(86_400)

    let session: Session
    private let collector = DamageCollector()

    init(session: Session) { self.session = session }

    func run() async throws(StoreFailure) -> StoreAudit {
        let results = try await session.run(
            [
                Query(StoreMigration.patience), Query(Self.states),
                Query(
                    LoadPlan.counters,
                    .texts([StoreCounter.accepted.name, StoreCounter.pruned.name])),
                Query(Self.miscounted), Query(Self.structure), Query(Self.outcomes),
            ], transaction: .snapshot, within: Self.limit
        ).results()
        var states: [WakeState: Int] = [:]
        var unplaced = 0
        var forgotten = 0
        for row in 0..<results[1].rowCount {
            let state = try? WakeState(number: results[1].int64(row, 0) ?? -1)
            states[state ?? .damaged, default: 0] += Int(results[1].int64(row, 1) ?? 0)
            unplaced += Int(results[1].int64(row, 2) ?? 0)
            forgotten += Int(results[1].int64(row, 3) ?? 0)
        }
        var counters: [String: Int] = [:]
        for row in 0..<results[2].rowCount {
            counters[results[2].string(row, 0) ?? ""] = Int(results[2].int64(row, 1) ?? 0)
        }
        var faults: [String] = []
        if unplaced > 0 { faults.append("\(unplaced) pending wakes are in no queue.") }
        if forgotten > 0 {
            faults.append("\(forgotten) claimed wakes are leased by no writer and are in no queue.")
        }
        for result in results[3...4] {
            for row in 0..<result.rowCount { faults.append(result.string(row, 0) ?? "") }
        }
        let outcomes = results[5]
        for row in 0..<outcomes.rowCount {
            collector.note(
                DamagedRow(
                    table: .outcome, key: outcomes.string(row, 0) ?? "",
                    problem: outcomes.string(row, 1) ?? ""))
        }
        try await readEverything()
        let damaged = collector.found
        return StoreAudit(
            count: StoreCount(
                accepted: counters[StoreCounter.accepted.name] ?? 0,
                pruned: counters[StoreCounter.pruned.name] ?? 0, byState: states),
            faults: Array(faults.prefix(StoreAudit.maximumFaults)), damaged: damaged.rows,
            damagedCount: damaged.count)
    }

    /// The wakes of each state; how many of them wait in no place; and how many are claimed without
    /// a place or a writer's floor by which they are found.
    private static let states = Statement(
        """
        SELECT state, count(*), count(*) FILTER (WHERE state = 0 AND place IS NULL),
            count(*) FILTER (WHERE state = 1 AND place IS NULL AND NOT EXISTS (
                SELECT 1 FROM rouse.writer
                WHERE NOT writer.recovered
                    AND writer.slot = wake.number & \(WriterIdentity.slotCount - 1)
                    AND wake.number BETWEEN writer.floor AND writer.last_number))
        FROM rouse.wake GROUP BY state ORDER BY state
        """)
    /// A sentence for each webhook endpoint whose counter, by which a full backlog is known, is not
    /// the number of its rows.
    private static let miscounted = Statement(
        """
        SELECT 'The counter "' || name || '" is ' || sum(counted) || ', and ' || sum(kept)
            || ' are kept.'
        FROM (
            SELECT name, value AS counted, 0 AS kept FROM rouse.counter
                WHERE name LIKE 'webhooks %' AND name NOT LIKE 'webhooks dropped %'
            UNION ALL
            SELECT 'webhooks ' || endpoint, 0, count(*) FROM rouse.webhook GROUP BY endpoint
        ) AS both_sides
        GROUP BY name HAVING sum(counted) <> sum(kept)
        """)
    /// Damage that the server itself reports: indexes that are not valid, and pages whose checksum
    /// was wrong when they were read.
    private static let structure = Statement(
        """
        SELECT 'The index ' || index.relname || ' is not valid: REINDEX INDEX rouse.'
            || index.relname || '.'
        FROM pg_catalog.pg_index JOIN pg_catalog.pg_class AS index ON index.oid = indexrelid
            JOIN pg_catalog.pg_namespace AS space ON space.oid = index.relnamespace
        WHERE space.nspname = 'rouse' AND NOT indisvalid
        UNION ALL
        SELECT 'The server has read ' || checksum_failures || ' pages with a wrong checksum.'
        FROM pg_catalog.pg_stat_database
        WHERE datname = current_database() AND checksum_failures > 0
        """)

    /// Entries of the feed of outcomes by whose cursors a reader would miss something, or read it
    /// twice.
    private static let outcomes = Statement(
        """
        SELECT number::text, CASE
            WHEN cardinality(wakes) = 0 OR array_position(wakes, NULL) IS NOT NULL
                THEN 'wakes cannot be read'
            WHEN number > last THEN 'it is behind the end of the feed, ' || last
            ELSE 'it has cursors of the entry before it' END
        FROM (SELECT number, wakes, lag(number, 1, 0::bigint) OVER (ORDER BY number) AS previous,
                (SELECT last FROM rouse.feed WHERE name = 'outcomes') AS last
            FROM rouse.outcome) AS entry
        WHERE cardinality(wakes) = 0 OR array_position(wakes, NULL) IS NOT NULL OR number > last
            OR number - cardinality(wakes) < previous
        ORDER BY entry.number
        """)

    // MARK: Rows

    private func readEverything() async throws(StoreFailure) {
        let mark = QueueCache.Mark()
        let queueRows = try await session.run([QueueCache.query(after: mark)]).results()[0]
        var cache = QueueCache()
        let queues = cache.take(columns(queueRows, QueueTable()), after: mark) ?? cache.table
        for table in CopiedTable.allCases where table != .queue && table != .outcome {
            try await read(table, queues)
        }
    }

    private func columns(_ result: QueryResult, _ queues: QueueTable) -> StoredColumns {
        StoredColumns(result: result, queues: queues) { collector.note($0) }
    }

    private func read(_ table: CopiedTable, _ queues: QueueTable) async throws(StoreFailure) {
        var key: [CopiedValue]?
        while true {
            let result = try await session.run([
                TablePages.query(
                    of: table, Self.columns(of: table), after: key, limit: Self.pageCount)
            ]).results()[0]
            let columns = columns(result, queues)
            for row in 0..<result.rowCount { read(row, of: table, columns, queues) }
            guard result.rowCount == Self.pageCount else { return }
            key = TablePages.key(of: table, in: result, row: result.rowCount - 1)
        }
    }

    /// The columns in the order in which ``StoredColumns`` wants them.
    private static func columns(of table: CopiedTable) -> String {
        switch table {
        // A wake's queue is in `rest`; its payload is private to its app.
        case .wake: StoredColumns.wake("wake")
        case .device: StoredColumns.device("device")
        case .attempt:
            "wake, fence, started_at, ended_at, result, status, reason, since, detail"
        case .idempotency: "key, request, wake, answer, expires_at"
        case .feedback: StoredColumns.feedback
        case .webhook: StoredColumns.webhook
        case .queue, .outcome: "number"
        }
    }

    private func read(
        _ row: Int, of table: CopiedTable, _ columns: StoredColumns, _ queues: QueueTable
    ) {
        switch table {
        case .wake:
            guard let (number, fact) = columns.wake(row, from: 0, hasPayload: false),
                case .found(let wake, _, _) = fact, queues[wake.queue] == nil
            else { return }
            collector.note(DamagedRow(wake: number, problem: Self.missing(wake.queue)))
        case .device:
            guard let device = columns.device(row, from: 0), queues[device.queue] == nil
            else { return }
            collector.note(
                DamagedRow(
                    table: .device, key: "\(device.number)", problem: Self.missing(device.queue)))
        case .attempt:
            _ = columns.attempt(row, of: columns.result.int64(row, 0) ?? 0, from: 2)
        case .idempotency: _ = columns.known(row)
        case .feedback:
            guard let entry = columns.feedback(row), queues[entry.queue] == nil else { return }
            collector.note(
                DamagedRow(
                    table: .feedback, key: "\(entry.number)", problem: Self.missing(entry.queue)))
        case .webhook: _ = columns.webhook(row)
        case .queue, .outcome: break
        }
    }

    private static func missing(_ queue: Int64) -> String {
        "its queue \(queue) is missing or damaged"
    }
}

/// Tables that are read in pages, in the order of their keys.
enum TablePages {
    /// The query for the rows behind a key, or for the first ones.
    static func query(
        of table: CopiedTable, _ columns: String, after key: [CopiedValue]?, limit: Int
    ) -> Query {
        let names = table.columns.prefix(table.keyCount).map(\.name)
        let types: [TypeID] = names.map { $0 == "key" ? .bytes : .int8 }
        let list = names.joined(separator: ", ")
        let places = (1...names.count).map { "$\($0)" }.joined(separator: ", ")
        let first: [Parameter] = types.map { $0 == .bytes ? .bytes([]) : .int8(.min) }
        let given = key?.map { value -> Parameter in
            switch value {
            case .integer(let number): .int8(number)
            case .bytes(let bytes): .bytes(bytes)
            case .text, .null: .null
            }
        }
        return Query(
            Statement(
                """
                SELECT \(columns) FROM rouse.\(table.rawValue)
                WHERE (\(list)) > (\(places)) ORDER BY \(list) LIMIT $\(names.count + 1)
                """, types + [.int8]),
            (given ?? first) + [.int8(Int64(limit))])
    }

    /// The key of a row whose first columns it is.
    static func key(of table: CopiedTable, in result: QueryResult, row: Int) -> [CopiedValue] {
        (0..<table.keyCount).map { column in
            table == .idempotency
                ? .bytes(result.bytes(row, column) ?? []) : .integer(result.int64(row, column) ?? 0)
        }
    }
}
