// SPDX-License-Identifier: Apache-2.0

import GRDB
public import Gateway

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The embedded store: one SQLite file in WAL mode, owned by one process.
///
/// All writing goes through one connection, one transaction at a time; reading has connections of
/// its own and never waits for it. The file, its `-wal` and its `-shm` are readable by their owner
/// only, because they hold device tokens.
public final class SQLiteWakeStore: WakeStore {
    /// What a commit waits for.
    public enum Durability: String, Hashable, Sendable, CaseIterable {
        /// The disk has it (`synchronous=FULL`): an accepted wake survives a power cut.
        case full
        /// The operating system has it (`synchronous=NORMAL`): an accepted wake survives the death
        /// of the process, but the last moments may be lost in a power cut.
        case normal
    }

    /// How long a statement waits for another program that has the file open, in seconds.
    static let busySeconds = 5.0
    /// The most connections that read at the same time.
    static let readerCount = 2

    private let pool: DatabasePool
    // Held for as long as the store is open; `close()` is followed by the end of this object.
    private let lock: StoreLock

    /// Opens the file at `path`, or makes it; brings its tables up to date; and ends the leases of
    /// the process that owned it before, since no other can own it now.
    ///
    /// Throws a ``Gateway/StoreFailure``: `inUse` when another process owns the store, `readOnly`
    /// when it cannot be written, `corrupt` when the file is no store or is damaged or was written
    /// by a newer version.
    public init(path: String, durability: Durability = .full) throws(StoreFailure) {
        lock = try StoreLock(besides: path)
        try Self.makeFile(at: path)
        do {
            var configuration = Configuration()
            configuration.label = "rouse.store"
            configuration.busyMode = .timeout(Self.busySeconds)
            configuration.maximumReaderCount = Self.readerCount
            pool = try DatabasePool(path: path, configuration: configuration)
            try Self.prepare(pool, durability: durability)
        } catch let failure as StoreFailure {
            throw failure
        } catch {
            throw StoreFailure(error)
        }
    }

    /// Closes the connections. The store must not be used afterwards; the file is free for another
    /// process when the object is gone.
    public func close() throws(StoreFailure) {
        do {
            try pool.close()
        } catch {
            throw StoreFailure(error)
        }
    }

    // MARK: Opening

    /// Makes the file before SQLite does, so that it is never readable by others.
    private static func makeFile(at path: String) throws(StoreFailure) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0, fchmod(descriptor, 0o600) == 0 else {
            let reason = StoreLock.reason(errno)
            if descriptor >= 0 { Self.closeDescriptor(descriptor) }
            throw StoreFailure(
                kind: .readOnly, message: "The store \(path) cannot be opened: \(reason).")
        }
        closeDescriptor(descriptor)
    }

    private static func closeDescriptor(_ descriptor: CInt) {
        #if canImport(Glibc)
        Glibc.close(descriptor)
        #elseif canImport(Musl)
        Musl.close(descriptor)
        #else
        Darwin.close(descriptor)
        #endif
    }

    private static func prepare(_ pool: DatabasePool, durability: Durability) throws {
        try pool.writeWithoutTransaction { database in
            try database.execute(
                sql: "PRAGMA synchronous = \(durability == .full ? "FULL" : "NORMAL")")
        }
        let migrator = StoreSchema.migrator
        guard try !pool.read(migrator.hasBeenSuperseded) else {
            throw StoreFailure(
                kind: .corrupt,
                message: "The store was written by a newer version; use that, or another file.")
        }
        try migrator.migrate(pool)
        try pool.write { database in
            try database.execute(sql: "UPDATE wake SET lease_until = 0 WHERE state = 1")
        }
    }

    // MARK: Transactions

    /// One writing transaction. It is not given up when the calling task is cancelled.
    func write<Answer: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Answer
    ) async throws(StoreFailure) -> Answer {
        do {
            return try await withCheckedThrowingContinuation { continuation in
                pool.asyncWrite(body) { _, result in continuation.resume(with: result) }
            }
        } catch {
            throw StoreFailure(error)
        }
    }

    /// One reading transaction, beside any writing one.
    func read<Answer: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Answer
    ) async throws(StoreFailure) -> Answer {
        do {
            return try await withCheckedThrowingContinuation { continuation in
                pool.asyncRead { database in
                    continuation.resume(with: Result { try body(database.get()) })
                }
            }
        } catch {
            throw StoreFailure(error)
        }
    }
}
