// SPDX-License-Identifier: Apache-2.0

import CGatheredLog
import GRDB
import GRDBSQLite
public import Gateway

/// The embedded store: one SQLite file in WAL mode, owned by one process.
///
/// All writing goes through one connection, and verbs that wait share a transaction; reading has
/// two of its own, for the gateway and for its callers, and never waits for it. The file, its
/// `-wal` and its `-shm` are readable by their owner only, because they hold device tokens.
public final class SQLiteWakeStore: WakeStore {
    /// What a commit waits for.
    public enum Durability: String, Hashable, Sendable, CaseIterable, Codable {
        /// Written to disk before any answer or notification, as with SQLite's `synchronous=FULL`:
        /// what was answered survives a power cut.
        case disk
        /// The operating system has it, as with SQLite's `synchronous=NORMAL`: what was answered
        /// survives the death of the process, `kill -9` included. When the machine itself fails,
        /// the last ``SQLiteWakeStore/flushSeconds`` may be lost, and pushes of that time are
        /// forgotten, so that a phone may be woken again.
        case system
    }

    /// How long the operating system may keep to itself what was answered under
    /// ``Durability/system``, in seconds; then it is flushed to the disk.
    public static let flushSeconds = 1.0
    /// How long a statement waits for another program that has the file open, in seconds.
    static let busySeconds = 5.0
    /// The size of a page of a new file, in bytes. Nearly each wake changes a device, and each
    /// device is on a different page among many; so pages smaller than SQLite's default of 4 096
    /// mean less to write, while a wake and its payload still mostly fit.
    static let pageBytes = 2_048
    /// How much of the file the writer keeps in memory, in KiB. With 600 000 devices four times as
    /// much gained nothing: what a page costs is its way to the log and the file, the system's own
    /// cache answers reads, and SQLite walks through its whole cache after each transaction that
    /// split pages out of their order.
    static let cacheKibibytes = 65_536

    /// How many bytes the log keeps when it begins anew.
    static let keptLogBytes = 67_108_864

    let writing: WriteQueue
    let reader: ReadConnection
    let callersReader: ReadConnection
    let writer: DatabaseQueue
    private let writeConnection: WriteConnection
    let checkpointer: Checkpointer
    let flusher: LogFlusher
    private let damage: DamageListener
    private let log: LogLength
    private let logPath: String
    let durability: Durability
    // Held until `close()`, or until this object is gone.
    private let lock: StoreLock

    /// Opens the file at `path`, or makes it; brings its tables up to date; and ends the leases of
    /// the process that owned it before, since no other can own it now. Symbolic links are
    /// followed: a file has one owner, whatever name is used, and its companion files are beside
    /// the file itself. A file with several names (hard links) is refused.
    ///
    /// Throws a ``Gateway/StoreFailure``: `inUse` when another process owns the store, `readOnly`
    /// when it cannot be written, `corrupt` when the file is no store or is damaged or was written
    /// by a newer version, `inUse` as well when another program keeps the last process' log from
    /// being copied, `unavailable` when it is no file or has several names. A file that is
    /// something else is not changed. `cachedDevices` is how many ledgers are kept in memory.
    /// `notify` is given what an operator should read of later, on any thread, and must not wait.
    public convenience init(
        path: String, durability: Durability = .disk,
        cachedDevices: Int = SQLiteWakeStore.defaultCachedDevices,
        notify: @escaping @Sendable (StoreNotice) -> Void = { _ in }
    ) throws(StoreFailure) {
        try self.init(
            path: path, durability: durability, cachedDevices: cachedDevices, notify: notify,
            sync: LogFlusher.sync)
    }

    /// The same; `sync` writes the log to disk (see ``LogFlusher``), and a test may delay it, limit
    /// the log to fewer pages, or change the delay of background flushes.
    init(
        path: String, durability: Durability, cachedDevices: Int,
        bounds: CheckpointPlan.Bounds = CheckpointPlan.Bounds(),
        flushPause: Double = SQLiteWakeStore.flushSeconds,
        notify: @escaping @Sendable (StoreNotice) -> Void = { _ in },
        sync: @escaping @Sendable (CInt) -> CInt
    ) throws(StoreFailure) {
        // Before anything is done by name; see the type.
        let path = StorePath.resolve(path)
        let lock = try StoreLock(besides: path)
        self.lock = lock
        try StorePath.checkFile(path)
        // Before a file is made, which would be left behind.
        if StorePath.byteCount(of: path) == nil,
            let failure = StoreIdentity.orphanedLog(besides: path)
        {
            throw failure
        }
        self.durability = durability
        logPath = path + "-wal"
        try lock.claimFile { descriptor throws(StoreFailure) in
            try StoreIdentity.check(descriptor, path: path)
        }
        let damage = DamageListener()
        self.damage = damage
        let log = LogLength()
        self.log = log
        do {
            let writer = try Self.open(path)
            try Self.prepare(writer, path)
            self.writer = writer
            // Before the connection: opening may write, and the connection takes note of who does
            // from then on.
            let copier = try Self.open(path)
            let connection = try writer.writeWithoutTransaction { database in
                try WriteConnection(
                    Self.connection(database, cachedDevices: cachedDevices, damage: damage) {
                        connection in
                        log.watch(connection)
                        // Without it the log is written in small pieces, which takes longer.
                        _ = CGatheredLog_begin(connection)
                    }, path: path)
            }
            writeConnection = connection
            lock.rememberFiles()
            flusher = try LogFlusher(besides: path, pause: flushPause, sync: sync)
            checkpointer = Checkpointer(
                copier, log: log, flusher: flusher, bounds: bounds, notify: notify)
            writing = WriteQueue(
                writer, connection: connection, flusher: flusher, checkpointer: checkpointer,
                lock: lock,
                durability: durability)
            reader = try ReadConnection(Self.openReader(path), damage: damage)
            callersReader = try ReadConnection(
                Self.openReader(path), damage: damage,
                maximumWeight: ReadConnection.maximumCallersWeight)
        } catch {
            throw StoreFailure(error)
        }
    }

    /// Gives a failure after which the store refuses everything until it is opened again, when it
    /// comes: a flush to the disk failed, or another program has written to the file or replaced
    /// it. For one listener, who ends the process.
    public var ends: AsyncStream<StoreFailure> { flusher.ends }

    /// How the log is at present.
    public var logStatus: StoreLogStatus {
        StoreLogStatus(
            byteCount: StorePath.byteCount(of: logPath) ?? 0, isFull: checkpointer.isFull,
            isCopyingFailed: checkpointer.isFailing)
    }

    /// Reports rows that cannot be read; see ``Gateway/WakeStore/whenDamaged(_:)``.
    public func whenDamaged(_ tell: @escaping @Sendable (DamagedRow) -> Void) {
        damage.listen(tell)
    }

    /// How many ledgers are kept in memory unless it is said otherwise.
    public static let defaultCachedDevices = DeviceCache.defaultCapacity

    /// Closes the connections and gives the file free for another owner. The store must not be
    /// used afterwards. After a failure the file stays this object's until it is gone.
    public func close() throws(StoreFailure) {
        do {
            try reader.close()
            try callersReader.close()
            try checkpointer.close()
            flusher.drain()
            writer.writeWithoutTransaction { _ in
                checkpointer.copyAll(of: writeConnection.connection)
                writeConnection.close()
            }
            try writer.close()
            lock.release()
        } catch {
            throw StoreFailure(error)
        }
    }

    // MARK: Opening

    private static func open(_ path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.label = "rouse.store"
        configuration.busyMode = .timeout(busySeconds)
        configuration.journalMode = .wal
        configuration.foreignKeysEnabled = false
        configuration.prepareDatabase { database in
            // What waits for the disk is not the writer: see `LogFlusher`. Before all else, because
            // the next ones write.
            try database.execute(sql: "PRAGMA synchronous = NORMAL")
            // These two take effect on a new file only, before anything is written to it.
            try database.execute(sql: "PRAGMA page_size = \(pageBytes)")
            try database.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL")
            try database.execute(sql: "PRAGMA cache_size = -\(cacheKibibytes)")
        }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.writeWithoutTransaction { database in
            // A log that has been long gives its space back when it begins anew.
            try database.execute(sql: "PRAGMA journal_size_limit = \(keptLogBytes)")
            // A log is copied by those who look whether that worked; see `Checkpointer`.
            if let handle = database.sqliteConnection { CGatheredLog_keepOnClose(handle, 1) }
        }
        return queue
    }

    private static func openReader(_ path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.label = "rouse.store.reader"
        configuration.busyMode = .timeout(busySeconds)
        configuration.readonly = true
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    private static func prepare(_ queue: DatabaseQueue, _ path: String) throws {
        let migrator = StoreSchema.migrator
        guard try !queue.read(migrator.hasBeenSuperseded) else {
            throw StoreFailure(
                kind: .corrupt,
                message: "The store was written by a newer version; use that, or another file.")
        }
        try copyLog(queue, path)
        try checkIsInUse(queue, path)
        try migrator.migrate(queue)
        try queue.write { database in
            // The leases of an earlier process end now; those in no queue are found from the floor
            // on.
            try database.execute(
                sql: """
                    UPDATE wake SET at = 0 WHERE queue = 0;
                    UPDATE wake SET queue = 0, at = 0 WHERE state = 1 AND queue IS NULL
                        AND number >= coalesce(
                            (SELECT value FROM property
                                WHERE name = '\(SQLiteRows.floorName)'), 0);
                    """)
        }
    }

    /// Copies an earlier process' log into the database and flushes that, before anything is
    /// written behind it. If that process ended because the disk failed, the system's memory may
    /// hold pages of the log that are not on disk and are not tried again.
    private static func copyLog(_ queue: DatabaseQueue, _ path: String) throws {
        try queue.writeWithoutTransaction { database in
            let code = sqlite3_wal_checkpoint_v2(
                database.sqliteConnection, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
            guard code & 0xff != SQLITE_BUSY else {
                throw StoreFailure(
                    kind: .inUse,
                    message: "The log \(path)-wal cannot be copied into the store, because another "
                        + "program reads or writes the store. End that program (rouse audit-store, "
                        + "sqlite3, a backup) and start again.")
            }
            guard code == SQLITE_OK else {
                throw DatabaseError(resultCode: ResultCode(rawValue: code))
            }
        }
    }

    /// A connection on a connection.
    static func connection(
        _ database: Database, cachedDevices: Int, damage: DamageListener,
        isOfEarlierVersion: Bool = false, _ prepare: (OpaquePointer) -> Void
    ) throws(StoreFailure) -> StoreConnection {
        guard let handle = database.sqliteConnection else {
            throw StoreFailure(kind: .unavailable, message: "The store is closed.")
        }
        prepare(handle)
        let connection = Connection(handle)
        connection.isOfEarlierVersion = isOfEarlierVersion
        return try StoreConnection(connection, cachedDevices: cachedDevices, damage: damage)
    }
}
