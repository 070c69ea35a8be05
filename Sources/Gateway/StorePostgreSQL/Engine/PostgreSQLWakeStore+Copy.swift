// SPDX-License-Identifier: Apache-2.0

package import Gateway
package import StoreRows
import WakeModel

extension PostgreSQLWakeStore {
    /// What a copy has brought.
    package struct CopyResult: Hashable, Sendable {
        /// The rows of each table, by its name: the same on both sides.
        package let counts: [String: Int64]
        /// Ended wakes that were too old to be copied, and count as pruned.
        package let leftOut: Int64
        /// The counts of the shared store, counted row by row.
        package let count: StoreCount
    }

    /// Copies another store into this one, which is empty, in one transaction: all of it or
    /// nothing. At the end each table is read again and compared with its source, byte by byte, the
    /// wakes are counted, and the source is retired before the commit: whatever happens in between,
    /// no gateway sends from both. No gateway can begin to use the database meanwhile.
    ///
    /// Throws a ``Gateway/StoreFailure``: `inUse` when a gateway uses the database, or when it
    /// holds wakes or devices already; `corrupt` when the tables are missing or of another version,
    /// or when what is read again is not what was written.
    ///
    /// `progress` receives how many rows were written, or read again and compared, and the total:
    /// each row counts twice.
    package static func copy(
        _ source: some CopiedStore, url: String, settings: Settings = Settings(),
        progress: @escaping @Sendable (_ done: Int64, _ all: Int64) -> Void = { _, _ in }
    ) async throws(StoreFailure) -> CopyResult {
        try await StoreMigration.withSession(url, settings) {
            session, _ throws(StoreFailure) in
            let version = try await StoreMigration.version { query throws(StoreFailure) in
                try await session.run([query]).results()[0]
            }
            try StoreMigration.check(version)
            return try await StoreCopy(session: session, source: source, progress: progress).run(
                settings)
        }
    }
}

/// One copy, on a connection of its own.
private struct StoreCopy<Source: CopiedStore> {
    /// How many rows one query reads, and one statement writes.
    private var pageCount: Int { 1_000 }
    /// How long one part of the transaction may take: counting at the end is the longest.
    private var limit: Duration { .seconds(86_400) }

    let session: Session
    let source: Source
    let progress: @Sendable (_ done: Int64, _ all: Int64) -> Void

    func run(
        _ settings: PostgreSQLWakeStore.Settings
    ) async throws(StoreFailure) -> PostgreSQLWakeStore.CopyResult {
        let facts = try source.facts()
        try await begin(settings)
        var written: [CopiedTable: CopyDigest] = [:]
        let all = 2 * facts.counts.values.reduce(0, +)
        var done: Int64 = 0
        for table in CopiedTable.allCases {
            let digest = try await write(table, facts.counts[table] ?? 0) {
                progress(done + $0, all)
            }
            written[table] = digest
            done += digest.count
        }
        try await write(facts)
        for table in CopiedTable.allCases {
            let digest = written[table] ?? CopyDigest()
            try await compare(table, digest) { progress(done + $0, all) }
            done += digest.count
        }
        let count = try await count()
        guard count.isConserved else {
            throw failure(
                "The store that is copied has lost wakes: \(count.accepted) accepted, "
                    + "\(count.ended) ended, \(count.unended) pending. rouse audit-store says "
                    + "more about it.")
        }
        try await commit()
        return PostgreSQLWakeStore.CopyResult(
            counts: Dictionary(
                uniqueKeysWithValues: facts.counts.map { ($0.key.rawValue, $0.value) }),
            leftOut: facts.leftOut, count: count)
    }

    /// A failure before the commit: the transaction ends with the connection.
    private func failure(_ message: String) -> StoreFailure {
        StoreFailure(kind: .corrupt, message: message + " Nothing was copied.")
    }

    private func run(
        _ queries: [Query], _ transaction: Session.Transaction = .within
    ) async throws(StoreFailure) -> [QueryResult] {
        try await session.run(queries, transaction: transaction, within: limit).results()
    }

    // MARK: Begin

    /// Opens the transaction. A gateway that starts meanwhile waits for the locks, and gives up.
    private func begin(
        _ settings: PostgreSQLWakeStore.Settings
    ) async throws(StoreFailure) {
        let results = try await run(
            [
                Query(
                    Statement("LOCK TABLE rouse.writer, rouse.property IN ACCESS EXCLUSIVE MODE")),
                Query(StoreMigration.patience),
                Query(
                    Statement(
                        """
                        SELECT (extract(epoch FROM clock_timestamp() - max(seen_at)))::bigint
                        FROM rouse.writer WHERE NOT ended
                            AND seen_at > clock_timestamp() - $1 * interval '1 ms'
                        """, .int8), .int8(Int64(settings.takeoverSeconds * 1_000))),
                Query(
                    Statement(
                        """
                        SELECT EXISTS (SELECT 1 FROM rouse.wake)
                            OR EXISTS (SELECT 1 FROM rouse.device)
                            OR EXISTS (SELECT 1 FROM rouse.queue)
                            OR EXISTS (SELECT 1 FROM rouse.counter WHERE value <> 0)
                        """)),
            ], .opening)
        if let seconds = results[2].int64(0, 0) {
            throw StoreFailure(
                kind: .inUse,
                message: "A gateway uses the database: it was seen \(max(0, seconds)) s ago. Stop "
                    + "all gateways and copy again. Nothing was copied.")
        }
        guard results[3].bool(0, 0) == false else {
            throw StoreFailure(
                kind: .inUse,
                message: "The database holds a store with contents already, and a copy needs an "
                    + "empty one. Name another database under store, and make its tables with "
                    + "rouse store migrate. Nothing was copied.")
        }
    }

    // MARK: Writing

    private func write(
        _ table: CopiedTable, _ all: Int64, progress: (Int64) -> Void
    ) async throws(StoreFailure) -> CopyDigest {
        var digest = CopyDigest()
        var key: [CopiedValue]?
        while true {
            let rows = try source.rows(of: table, after: key, limit: pageCount)
            guard let last = rows.last else { break }
            for row in rows { digest.add(row) }
            _ = try await run([Self.insertion(of: rows, into: table)])
            key = Array(last.prefix(table.keyCount))
            progress(digest.count)
        }
        guard digest.count == all else {
            throw failure(
                "The table \(table.rawValue) of the file has \(all) rows, and \(digest.count) "
                    + "were read: another program writes to it.")
        }
        return digest
    }

    private static func insertion(of rows: [[CopiedValue]], into table: CopiedTable) -> Query {
        let columns = table.columns
        let names = columns.map(\.name).joined(separator: ", ")
        let places = (1...columns.count).map { "$\($0)" }.joined(separator: ", ")
        let values = columns.map { $0.content == .bigints ? "\($0.name)::bigint[]" : $0.name }
        return Query(
            Statement(
                "INSERT INTO rouse.\(table.rawValue) (\(names)) "
                    + "SELECT \(values.joined(separator: ", ")) "
                    + "FROM unnest(\(places)) AS copied (\(names))",
                columns.map { $0.content.arrayType }),
            columns.enumerated().map { place, column in
                column.content.array(of: rows.map { $0[place] })
            })
    }

    /// Writes what is beside the tables. The numbers of all writers go on behind those that the
    /// file has given.
    private func write(_ facts: CopiedFacts) async throws(StoreFailure) {
        var counters = facts.counters.filter { $0.value != 0 }
        counters[StoreCounter.pruned.name, default: 0] += facts.leftOut
        let sorted = counters.sorted { $0.key < $1.key }
        _ = try await run([
            Query(
                Statement(
                    """
                    UPDATE rouse.property SET value = CASE name WHEN 'token key 0' THEN $1
                        WHEN 'token key 1' THEN $2 ELSE value + 1 END
                    WHERE name IN ('token key 0', 'token key 1', 'queue changes')
                    """, .int8, .int8), .int8(facts.tokenKeys.0), .int8(facts.tokenKeys.1)),
            Query(
                Statement(
                    """
                    INSERT INTO rouse.counter (name, slot, value)
                    SELECT name, 0, value FROM unnest($1, $2) AS copied (name, value)
                    ON CONFLICT (name, slot) DO UPDATE SET value = excluded.value
                    """, .textArray, .int8Array),
                .texts(sorted.map(\.key)), .int8s(sorted.map(\.value))),
            Query(
                Statement(
                    """
                    UPDATE rouse.feed SET last = greatest(last, CASE name
                        WHEN 'feedback' THEN $1 WHEN 'outcomes' THEN $2 ELSE last END)
                    """, .int8, .int8), .int8(facts.lastFeedback), .int8(facts.lastOutcome)),
            Query(
                Statement("UPDATE rouse.writer SET ended = true, recovered = true WHERE NOT ended")
            ),
            Query(
                Statement(
                    """
                    INSERT INTO rouse.writer (slot, gateway, ended, recovered, floor, last_number)
                    SELECT slot, 'copy', true, true, $1, $1
                    FROM generate_series(0, \(WriterIdentity.slotCount - 1)) AS slot
                    """, .int8), .int8(facts.lastNumber)),
        ])
    }

    // MARK: The proof

    private func compare(
        _ table: CopiedTable, _ written: CopyDigest, progress: (Int64) -> Void
    ) async throws(StoreFailure) {
        let columns = table.columns
        let names = columns.map { $0.content == .bigints ? "\($0.name)::text" : $0.name }
            .joined(separator: ", ")
        var read = CopyDigest()
        var key: [CopiedValue]?
        while true {
            let result = try await run([
                TablePages.query(of: table, names, after: key, limit: pageCount)
            ])[0]
            for row in 0..<result.rowCount {
                read.add(columns.enumerated().map { $1.content.value(result, row, $0) })
            }
            progress(read.count)
            guard result.rowCount == pageCount else { break }
            key = TablePages.key(of: table, in: result, row: result.rowCount - 1)
        }
        guard read == written else {
            throw failure(
                "The table \(table.rawValue) was written with \(written.count) rows and read "
                    + "again with \(read.count), or with others.")
        }
    }

    private func count() async throws(StoreFailure) -> StoreCount {
        let results = try await run([
            Query(Statement("SELECT state, count(*) FROM rouse.wake GROUP BY state")),
            Query(
                LoadPlan.counters, .texts([StoreCounter.accepted.name, StoreCounter.pruned.name])),
        ])
        var states: [WakeState: Int] = [:]
        for row in 0..<results[0].rowCount {
            let state = try? WakeState(number: results[0].int64(row, 0) ?? -1)
            states[state ?? .damaged, default: 0] += Int(results[0].int64(row, 1) ?? 0)
        }
        var counters: [String: Int] = [:]
        for row in 0..<results[1].rowCount {
            counters[results[1].string(row, 0) ?? ""] = Int(results[1].int64(row, 1) ?? 0)
        }
        return StoreCount(
            accepted: counters[StoreCounter.accepted.name] ?? 0,
            pruned: counters[StoreCounter.pruned.name] ?? 0, byState: states)
    }

    private func commit() async throws(StoreFailure) {
        try source.retire()
        let outcome = await session.run(
            [Query(Statement("SELECT 1"))], transaction: .closing, within: limit)
        guard case .lost(_, true) = outcome else {
            do throws(StoreFailure) {
                _ = try outcome.results()
            } catch {
                try source.reinstate()
                throw error
            }
            return
        }
        throw StoreFailure(
            kind: .unavailable,
            message: "The connection was lost at the commit, so that the copy is there as a whole "
                + "or not at all; until you know, no gateway takes the file. Run rouse "
                + "audit-store: if the database has wakes, use it. If it has none, copy again: "
                + "the answer says how to release the file.")
    }
}

extension CopiedTable.Content {
    fileprivate var arrayType: TypeID {
        switch self {
        case .bigint: .int8Array
        case .smallint: .int2Array
        case .boolean: .boolArray
        case .text, .bigints: .textArray
        case .bytea: .bytesArray
        }
    }

    fileprivate func array(of values: [CopiedValue]) -> Parameter {
        func integers() -> [Int64?] {
            values.map { if case .integer(let number) = $0 { number } else { nil } }
        }
        switch self {
        case .bigint: return .optionalInt8s(integers())
        case .smallint:
            return .optionalInt2s(integers().map { $0.map { Int16(truncatingIfNeeded: $0) } })
        case .boolean: return .bools(integers().map { $0 == 1 })
        case .text, .bigints:
            return .texts(values.map { if case .text(let text) = $0 { text } else { nil } })
        case .bytea:
            return .bytesArray(
                values.map { if case .bytes(let bytes) = $0 { bytes } else { nil } })
        }
    }

    fileprivate func value(_ result: QueryResult, _ row: Int, _ column: Int) -> CopiedValue {
        switch self {
        case .bigint, .smallint, .boolean:
            result.int64(row, column).map(CopiedValue.integer) ?? .null
        case .text, .bigints: result.string(row, column).map(CopiedValue.text) ?? .null
        case .bytea: result.bytes(row, column).map(CopiedValue.bytes) ?? .null
        }
    }
}
