// SPDX-License-Identifier: Apache-2.0

import Gateway
import StoreRows
import WakeModel

/// The rows of the tables. Confined to the queue that owns the connection.
///
/// Devices are written at the end of a transaction, each once, in the order of their numbers; so
/// are the counters.
final class SQLiteRows: RetainedRows {
    let connection: Connection
    var cache: DeviceCache
    let hash: TokenHash
    /// The listener for rows that cannot be read.
    let damage: DamageListener
    /// The cached queues; they are few.
    var knownQueues: QueueTable?
    var counted: [StoreCounter: Int] = [:]
    /// Wakes that were claimed through these rows and have no outcome yet, by their numbers, so
    /// that their rows need not be read again for it.
    var leases: [Int64: Lease] = [:]
    /// The numbers of wakes with a fresh lease, the smallest first; some may have ended by now.
    var freshNumbers = NumberQueue()
    /// Whether all fresh leases are among ``leases``.
    var knowsLeases = false
    /// The stored floor, and the floor of the running transaction.
    private(set) var floor: Int64 = 0
    var newFloor: Int64?
    /// The buffer in which rows are encoded.
    var writer = ByteWriter()
    var lastNumber: Int64
    /// Devices that the running transaction inserts.
    var made: Set<Int64> = []

    /// Creates the rows of a connection whose tables exist.
    init(
        _ connection: Connection, cachedDevices: Int, damage: DamageListener
    ) throws(StoreFailure) {
        self.connection = connection
        self.damage = damage
        cache = DeviceCache(capacity: cachedDevices)
        hash = TokenHash(
            try Self.property(Self.tokenKey0, connection),
            try Self.property(Self.tokenKey1, connection))
        floor = try Self.property(Self.floorName, connection)
        // A clock that was set back over a restart must not produce numbers below the floor, where
        // leases are not searched for.
        lastNumber = max(try Self.lastNumber(connection), floor - 1)
    }

    /// The last number of a wake, an entry of the feed or a webhook; of the last two, SQLite
    /// includes removed ones.
    static func lastNumber(_ connection: Connection) throws(StoreFailure) -> Int64 {
        let statement = try connection.prepare(
            """
            SELECT max((SELECT coalesce(max(number), 0) FROM wake),
                (SELECT coalesce(max(seq), 0) FROM sqlite_sequence
                    WHERE name IN ('feedback', 'webhook')))
            """)
        defer { statement.reset() }
        return try statement.step() ? statement.int64(0) : 0
    }

    static let tokenKey0 = "token key 0"
    static let tokenKey1 = "token key 1"

    /// The value that is stored under a name; 0 when there is none.
    static func property(
        _ name: String, _ connection: Connection
    ) throws(StoreFailure) -> Int64 {
        let statement =
            try connection.isOfEarlierVersion
            ? connection.prepare("SELECT value FROM book WHERE name = ?")
            : connection.prepare("SELECT value FROM property WHERE name = ?")
        defer { statement.reset() }
        statement.bind(1, name)
        return try statement.step() ? statement.int64(0) : 0
    }

    // MARK: Damage

    /// The failure of a read of a damaged row, which is reported to the listener.
    func damaged(_ row: DamagedRow) -> StoreFailure {
        damage.note(row)
        return StoreFailure(row)
    }

    /// The same for a row of this table; `error` is the reason.
    func damaged(
        _ table: DamagedRow.Table, _ key: String, _ error: StoreFailure
    ) -> StoreFailure {
        damaged(DamagedRow(table: table, key: key, problem: error.message))
    }

    // MARK: Transactions

    /// Writes pending devices and counters; to be called before the transaction is committed.
    func flush() throws(StoreFailure) {
        for number in cache.dirty.sorted() {
            if let device = cache.find(number) { try write(device) }
        }
        try raiseFloor()
        for (counter, amount) in counted where amount != 0 {
            let statement = try connection.prepare(
                """
                INSERT INTO property VALUES (?, ?)
                ON CONFLICT (name) DO UPDATE SET value = value + excluded.value
                """)
            statement.bind(1, counter.name)
            statement.bind(2, amount)
            try statement.run()
        }
    }

    func committed() {
        cache.committed()
        made.removeAll(keepingCapacity: true)
        floor = newFloor ?? floor
        newFloor = nil
        counted.removeAll(keepingCapacity: true)
    }

    func rolledBack() {
        cache.rolledBack()
        counted.removeAll(keepingCapacity: true)
        forgetLeases()
        made.removeAll(keepingCapacity: true)
        knownQueues = nil
    }

    // MARK: Counting

    func makeNumber(at now: WallInstant) -> Int64 {
        lastNumber = max(lastNumber + 1, WakeID.firstNumber(at: now))
        return lastNumber
    }

    func add(_ amount: Int, to counter: StoreCounter) { counted[counter, default: 0] += amount }

    func value(of counter: StoreCounter) throws(StoreFailure) -> Int {
        Int(try Self.property(counter.name, connection)) + counted[counter, default: 0]
    }

    func countByState() throws(StoreFailure) -> [WakeState: Int] {
        let statement = try connection.prepare("SELECT state, count(*) FROM wake GROUP BY state")
        defer { statement.reset() }
        var byState: [WakeState: Int] = [:]
        while try statement.step() {
            let state = (try? WakeState(number: statement.int64(0))) ?? .damaged
            byState[state, default: 0] += Int(statement.int64(1))
        }
        return byState
    }

    // MARK: Empty pages

    /// The empty pages that the file keeps for new rows: 8 192, 16 MB.
    static let keptEmptyPages: Int64 = 8_192

    /// Returns a few pages to the file system when a quarter of the file is empty, because that is
    /// the rest of a peak, which new rows will not fill soon.
    func vacuum() throws(StoreFailure) {
        let empty = try numbers(try connection.prepare("PRAGMA freelist_count")).first ?? 0
        let all = try numbers(try connection.prepare("PRAGMA page_count")).first ?? 0
        guard empty > Self.keptEmptyPages, empty > all / 4 else { return }
        try connection.execute("PRAGMA incremental_vacuum(512)")
    }

    /// The numbers in the first column of a statement's rows.
    func numbers(_ statement: Statement) throws(StoreFailure) -> [Int64] {
        defer { statement.reset() }
        var numbers: [Int64] = []
        while try statement.step() { numbers.append(statement.int64(0)) }
        return numbers
    }
}
