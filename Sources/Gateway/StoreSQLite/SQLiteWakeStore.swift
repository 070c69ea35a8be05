// SPDX-License-Identifier: Apache-2.0

import CGatheredLog
import CLibsqlite3
public import Gateway
import StoreRows

/// The embedded store: one SQLite file in WAL mode, owned by one process.
///
/// One connection writes, and waiting commands share a transaction; two connections read, for the
/// gateway and for its callers, and never wait for the writer. The file, its `-wal` and its `-shm`
/// are readable by their owner only, because they hold device tokens.
public final class SQLiteWakeStore: WakeStore {
    /// The durability that a commit waits for.
    public enum Durability: String, Hashable, Sendable, CaseIterable, Codable {
        /// Written to disk before any answer or notification, as with SQLite's `synchronous=FULL`:
        /// what was answered survives a power failure.
        case disk
        /// Written to the operating system, as with SQLite's `synchronous=NORMAL`: what was
        /// answered survives the end of the process, `kill -9` included. When the machine itself
        /// fails, the last ``SQLiteWakeStore/flushSeconds`` may be lost, with the record of pushes
        /// of that time, so that a phone may be woken again.
        case system
    }

    /// The longest time until transactions under ``Durability/system`` are flushed to the disk, in
    /// seconds.
    public static let flushSeconds = 1.0
    /// The size of a page of a new file, in bytes. Nearly each wake changes a device, and each
    /// device is on a different page among many; so smaller pages than SQLite's default of 4 096
    /// reduce the writes, and most wakes with their payloads still fit.
    static let pageBytes = 2_048
    /// The size of the writer's page cache, in KiB. More is slower: the system's cache serves
    /// reads, and SQLite scans its whole cache after each transaction that split pages out of their
    /// order. With 600 000 devices, transactions of 32 wakes for new ones took 37 us of processor
    /// time a wake with 64 MiB, 24 with 16 and 21 with 8; those for known ones 13 with each.
    static let cacheKibibytes = 16_384

    /// The size to which the log is truncated when it restarts, in bytes.
    static let keptLogBytes = 67_108_864

    let writing: WriteQueue
    let reader: ReadConnection
    let callersReader: ReadConnection
    /// The callers' reads that wait to be read, or for the disk after that.
    let callersReads = CallersWeight(ofReads: true)
    let writer: ConnectionQueue
    let checkpointer: Checkpointer
    let flusher: LogFlusher
    private let damage: DamageListener
    private let log: LogLength
    private let logPath: String
    let durability: Durability
    // Held until `close()`, or until this object is freed.
    private let lock: StoreLock

    /// Opens the file at `path`, or creates it; migrates its tables; and ends the leases of the
    /// process that owned it before, since no other can own it now. Symbolic links are resolved: a
    /// file has one owner under all names, and its companion files are next to the file itself. A
    /// file with several names (hard links) is refused.
    ///
    /// Throws a ``Gateway/StoreFailure``: `inUse` when another process owns the store, `readOnly`
    /// when it cannot be written, `corrupt` when the file is no store or is damaged or was written
    /// by a newer version, `inUse` as well when another program keeps the last process' log from
    /// being copied, `unavailable` when it is no file or has several names. A file that is
    /// something else is not changed. `cachedDevices` is the number of ledgers in memory. `notify`
    /// is called with notices for the operator, on any thread, and must not block.
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
        // Before any access by name; see the type.
        let path = StorePath.resolve(path)
        let lock = try StoreLock(besides: path)
        self.lock = lock
        try StorePath.checkFile(path)
        // Before a file is created, which would remain.
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
        let writer = try Self.open(path)
        self.writer = writer
        try writer.sync { connection throws(StoreFailure) in try Self.prepare(connection, path) }
        // Before the connection: opening may write, and the connection records writes from then on.
        let copier = try Self.open(path)
        let connection = try writer.sync { connection throws(StoreFailure) in
            log.watch(connection.handle)
            // Without it the log is written in small pieces, which takes longer.
            _ = CGatheredLog_begin(connection.handle)
            return try WriteConnection(
                StoreConnection(connection, cachedDevices: cachedDevices, damage: damage),
                path: path)
        }
        lock.rememberFiles()
        flusher = try LogFlusher(besides: path, pause: flushPause, sync: sync)
        checkpointer = Checkpointer(
            copier, log: log, flusher: flusher, bounds: bounds, notify: notify)
        writing = WriteQueue(
            writer, connection: connection, flusher: flusher, checkpointer: checkpointer,
            lock: lock,
            durability: durability)
        reader = try ReadConnection(Self.openReader(path), damage: damage)
        callersReader = try ReadConnection(Self.openReader(path), damage: damage)
    }

    /// Yields the failure after which the store refuses everything until it is opened again: a
    /// flush to the disk failed, or another program has written to the file or replaced it. For one
    /// listener, which ends the process.
    public var ends: AsyncStream<StoreFailure> { flusher.ends }

    /// The present state of the log.
    public var logStatus: StoreLogStatus {
        StoreLogStatus(
            byteCount: StorePath.byteCount(of: logPath) ?? 0, isFull: checkpointer.isFull,
            isCopyingFailed: checkpointer.isFailing)
    }

    /// Reports rows that cannot be read; see ``Gateway/WakeStore/whenDamaged(_:)``.
    public func whenDamaged(_ tell: @escaping @Sendable (DamagedRow) -> Void) {
        damage.listen(tell)
    }

    /// The default number of ledgers in memory.
    public static let defaultCachedDevices = DeviceCache.defaultCapacity

    /// Closes the connections and releases the file for another owner. The store must not be used
    /// afterwards. After a failure this object keeps the file until it is freed.
    public func close() throws(StoreFailure) {
        try reader.close()
        try callersReader.close()
        try checkpointer.close()
        flusher.drain()
        writer.sync { checkpointer.copyAll(of: $0) }
        try writer.close()
        lock.release()
    }

    // MARK: Opening

    private static func open(_ path: String) throws(StoreFailure) -> ConnectionQueue {
        let connection = try Connection(
            path: path, flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        ) { connection throws(StoreFailure) in
            // The writer does not wait for the disk: see `LogFlusher`. First, because the next ones
            // write. The size of a page and the mode of the vacuum take effect on a new file only,
            // before anything is written to it. A long log returns its space when it restarts.
            try connection.run(
                script: """
                    PRAGMA synchronous = NORMAL;
                    PRAGMA page_size = \(pageBytes);
                    PRAGMA auto_vacuum = INCREMENTAL;
                    PRAGMA cache_size = -\(cacheKibibytes);
                    PRAGMA journal_size_limit = \(keptLogBytes);
                    """)
        }
        guard try connection.texts("PRAGMA journal_mode = WAL") == ["wal"] else {
            throw StoreFailure(
                kind: .unavailable, message: "The store \(path) cannot be put into WAL mode.")
        }
        // No automatic checkpoints, because their failures are not reported; see `Checkpointer`.
        try connection.keepLogOnClose()
        return ConnectionQueue(connection, label: "rouse.store")
    }

    private static func openReader(_ path: String) throws(StoreFailure) -> ConnectionQueue {
        ConnectionQueue(
            try Connection(path: path, flags: SQLITE_OPEN_READONLY), label: "rouse.store.reader")
    }

    private static func prepare(
        _ connection: Connection, _ path: String
    ) throws(StoreFailure) {
        guard try !StoreSchema.isNewer(connection) else {
            throw StoreFailure(
                kind: .corrupt,
                message: "The store was written by a newer version; use that, or another file.")
        }
        try copyLog(connection, path)
        try checkIsInUse(connection, path)
        try StoreSchema.migrate(connection)
        // The leases of an earlier process end now; those in no queue are found from the floor on.
        try connection.transaction("BEGIN IMMEDIATE") { () throws(StoreFailure) in
            try connection.run(
                script: """
                    UPDATE wake SET at = 0 WHERE queue = 0;
                    UPDATE wake SET queue = 0, at = 0 WHERE state = 1 AND queue IS NULL
                        AND number >= coalesce(
                            (SELECT value FROM property
                                WHERE name = '\(SQLiteRows.floorName)'), 0);
                    """)
        }
    }

    /// Copies an earlier process' log into the database and flushes that, before anything is
    /// appended to it. If that process ended because the disk failed, the page cache may have pages
    /// of the log that are not on disk and will not be written again.
    private static func copyLog(
        _ connection: Connection, _ path: String
    ) throws(StoreFailure) {
        let code = sqlite3_wal_checkpoint_v2(
            connection.handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        guard code & 0xff != SQLITE_BUSY else {
            throw StoreFailure(
                kind: .inUse,
                message: "The log \(path)-wal cannot be copied into the store, because another "
                    + "program reads or writes the store. End that program (rouse audit-store, "
                    + "sqlite3, a backup) and start again.")
        }
        guard code == SQLITE_OK else { throw connection.failure() }
    }
}
