// SPDX-License-Identifier: Apache-2.0

package import Gateway
package import StoreRows
package import WakeModel

/// A store's file that is copied into another store. It is opened as a gateway opens it, so that no
/// gateway runs on it meanwhile, its tables are migrated to this version, and its leases have
/// ended.
package final class CopiedFile: CopiedStore {
    private let store: SQLiteWakeStore
    private let path: String
    /// The number of the oldest ended wake that is copied.
    private let oldest: Int64
    private let now: Int64

    /// Opens the file. Ended wakes from before `oldest` are omitted, and so are expired idempotency
    /// keys.
    ///
    /// Throws a ``Gateway/StoreFailure`` as opening it for a gateway does: `inUse` when one runs.
    package init(
        path: String, endedSince oldest: WallInstant, now: WallInstant
    ) throws(StoreFailure) {
        store = try SQLiteWakeStore(path: path)
        self.path = path
        self.oldest = WakeID.firstNumber(at: oldest)
        self.now = now.millisecondsSinceEpoch
    }

    /// Releases the file.
    package func close() throws(StoreFailure) { try store.close() }

    // MARK: Reading

    private func read<Answer>(
        _ body: (Connection) throws(StoreFailure) -> Answer
    ) throws(StoreFailure) -> Answer {
        try store.writer.sync { connection throws(StoreFailure) in
            try connection.transaction("BEGIN") { () throws(StoreFailure) in
                try body(connection)
            }
        }
    }

    package func facts() throws(StoreFailure) -> CopiedFacts {
        try read { connection throws(StoreFailure) in
            var facts = CopiedFacts()
            let properties = try connection.prepare("SELECT name, value FROM property")
            while try properties.step() {
                let name = properties.text(0) ?? ""
                let value = properties.int64(1)
                switch name {
                case SQLiteRows.tokenKey0: facts.tokenKeys.0 = value
                case SQLiteRows.tokenKey1: facts.tokenKeys.1 = value
                case SQLiteRows.floorName: break
                default: facts.counters[name] = value
                }
            }
            facts.lastNumber = try SQLiteRows.lastNumber(connection)
            facts.lastFeedback = try number(
                connection.prepare(
                    "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'feedback'"))
            facts.lastOutcome = try number(
                connection.prepare("SELECT coalesce(max(number), 0) FROM outcome"))
            facts.leftOut = try number(
                connection.prepare("SELECT count(*) FROM wake WHERE number < ?1 AND state > 1"))
            for table in CopiedTable.allCases {
                facts.counts[table] = try number(Self.count(of: table, connection))
            }
            return facts
        }
    }

    /// The single number that a statement returns.
    private func number(_ statement: Statement) throws(StoreFailure) -> Int64 {
        defer { statement.reset() }
        // Statements without these parameters ignore them.
        statement.bind(1, oldest)
        statement.bind(2, now)
        return try statement.step() ? statement.int64(0) : 0
    }

    private static func count(
        of table: CopiedTable, _ connection: Connection
    ) throws(StoreFailure) -> Statement {
        switch table {
        case .queue: try connection.prepare("SELECT count(*) FROM queue")
        case .device: try connection.prepare("SELECT count(*) FROM device")
        case .wake:
            try connection.prepare("SELECT count(*) FROM wake WHERE number >= ?1 OR state < 2")
        case .attempt:
            try connection.prepare(
                """
                SELECT count(*) FROM attempt WHERE wake >= ?1
                    OR wake IN (SELECT number FROM wake WHERE number < ?1 AND state < 2)
                """)
        case .idempotency:
            try connection.prepare("SELECT count(*) FROM idempotency WHERE expires_at > ?2")
        case .feedback: try connection.prepare("SELECT count(*) FROM feedback")
        case .outcome:
            try connection.prepare("SELECT count(*) FROM outcome WHERE number >= ?1")
        case .webhook: try connection.prepare("SELECT count(*) FROM webhook")
        }
    }

    package func rows(
        of table: CopiedTable, after key: [CopiedValue]?, limit: Int
    ) throws(StoreFailure) -> [[CopiedValue]] {
        try read { connection throws(StoreFailure) in
            let statement = try Self.rows(of: table, connection)
            defer { statement.reset() }
            statement.bind(1, oldest)
            statement.bind(2, now)
            statement.bind(3, limit)
            for place in 0..<table.keyCount {
                let parameter = CInt(place + 4)
                switch key?[place] {
                case .integer(let number): statement.bind(parameter, number)
                case .bytes(let bytes): statement.bind(parameter, bytes)
                case .text, .null: statement.bindNull(parameter)
                // Every key is larger.
                case nil:
                    if table == .idempotency {
                        statement.bind(parameter, [])
                    } else {
                        statement.bind(parameter, Int64.min)
                    }
                }
            }
            var rows: [[CopiedValue]] = []
            while try statement.step() { rows.append(Self.row(of: table, statement)) }
            return rows
        }
    }

    private static func rows(
        of table: CopiedTable, _ connection: Connection
    ) throws(StoreFailure) -> Statement {
        switch table {
        case .queue:
            try connection.prepare(
                """
                SELECT number, bundle_id, environment, kind, confirms_launches, paused_at,
                    pause_reason, held_told_at, 1
                FROM queue WHERE number > ?4 ORDER BY number LIMIT ?3
                """)
        case .device:
            try connection.prepare(
                """
                SELECT number, 1, queue, pending, latest, registered_at, dead_since, receipt_at,
                    touched_at, token, ledger, calls, user
                FROM device WHERE number > ?4 ORDER BY number LIMIT ?3
                """)
        case .wake:
            try connection.prepare(
                """
                SELECT number, 1, device, NULL, queue, at, deadline, state, rest, payload
                FROM wake WHERE number > ?4 AND (number >= ?1 OR state < 2)
                ORDER BY number LIMIT ?3
                """)
        case .attempt:
            try connection.prepare(
                """
                SELECT wake, fence, started_at, ended_at, result, status, reason, since, detail
                FROM attempt WHERE (wake, fence) > (?4, ?5) AND (wake >= ?1
                    OR EXISTS (SELECT 1 FROM wake WHERE number = attempt.wake AND state < 2))
                ORDER BY wake, fence LIMIT ?3
                """)
        case .idempotency:
            try connection.prepare(
                """
                SELECT key, request, wake, expires_at, coalesce(answer, x'')
                FROM idempotency WHERE key > ?4 AND expires_at > ?2 ORDER BY key LIMIT ?3
                """)
        case .feedback:
            try connection.prepare(
                """
                SELECT number, kind, queue, token, at, status, reason, since, wake, wake_low
                FROM feedback WHERE number > ?4 ORDER BY number LIMIT ?3
                """)
        case .outcome:
            try connection.prepare(
                """
                SELECT number, wakes FROM outcome
                WHERE number > ?4 AND number >= ?1 ORDER BY number LIMIT ?3
                """)
        case .webhook:
            try connection.prepare(
                """
                SELECT number, endpoint, kind, subject, created_at, due_at, fence, tries,
                    bundle_id, environment, queue_kind, reason
                FROM webhook WHERE number > ?4 ORDER BY number LIMIT ?3
                """)
        }
    }

    private static func row(of table: CopiedTable, _ statement: Statement) -> [CopiedValue] {
        var row = table.columns.enumerated().map { place, column -> CopiedValue in
            let place = CInt(place)
            guard !statement.isNull(place) else { return .null }
            switch column.content {
            case .bigint: return .integer(statement.int64(place))
            // A damaged state or kind may be out of range, and stays damaged.
            case .smallint:
                return .integer(Int64(Int16(exactly: statement.int64(place)) ?? -1))
            case .boolean: return .integer(statement.int64(place) != 0 ? 1 : 0)
            case .text: return .text((statement.text(place) ?? "").filter { $0 != "\0" })
            case .bytea: return .bytes(statement.bytes(place))
            // An entry that cannot be read is empty there.
            case .bigints:
                let numbers = SQLiteRows.numbers(in: statement.bytes(place)) ?? []
                return .text("{\(numbers.map(String.init).joined(separator: ","))}")
            }
        }
        if table == .wake { complete(&row, statement) }
        return row
    }

    /// Sets a wake's device and the wake before it, which an older row has in its `rest` only. A
    /// row that cannot be read is not changed.
    private static func complete(_ row: inout [CopiedValue], _ statement: Statement) {
        var reader = ByteReader(statement.bytes(8))
        let wake = try? reader.wake(
            number: statement.int64(0), state: WakeState(number: statement.int64(7)),
            device: statement.optional(2))
        row[2] = .integer(wake?.device ?? statement.int64(2))
        row[3] = .integer(wake?.previous ?? 0)
    }

    // MARK: The end

    package func retire() throws(StoreFailure) {
        try store.writer.sync { connection throws(StoreFailure) in
            let mark = try connection.prepare("INSERT OR REPLACE INTO property VALUES (?, ?)")
            mark.bind(1, SQLiteWakeStore.retiredName)
            mark.bind(2, now)
            try mark.run()
        }
    }

    package func reinstate() throws(StoreFailure) {
        try store.writer.sync { connection throws(StoreFailure) in
            let mark = try connection.prepare("DELETE FROM property WHERE name = ?")
            mark.bind(1, SQLiteWakeStore.retiredName)
            try mark.run()
        }
    }
}

extension SQLiteWakeStore {
    /// The mark of a file whose wakes were copied into another store.
    static let retiredName = "copied at"

    /// Refuses a file whose wakes were copied into another store: if both sent them, they would be
    /// sent twice.
    static func checkIsInUse(_ connection: Connection, _ path: String) throws(StoreFailure) {
        guard try !connection.columns(of: "property").isEmpty else { return }
        let look = try connection.prepare("SELECT 1 FROM property WHERE name = ?")
        defer { look.reset() }
        look.bind(1, retiredName)
        let isRetired = try look.step()
        guard isRetired else { return }
        throw StoreFailure(
            kind: .unavailable,
            message: "The wakes of \(path) were copied into a shared store (rouse store copy), "
                + "which sends them now; a gateway on the file would send them again. Use the "
                + "shared store. To go back to the file nevertheless, run: sqlite3 \(path) "
                + "\"DELETE FROM property WHERE name = '\(retiredName)'\"")
    }
}
