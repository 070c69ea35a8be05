// SPDX-License-Identifier: Apache-2.0

import Gateway
import Glibc

/// The mark of a store's file: the application id in the header of its database
/// (sqlite.org/fileformat.html §1.3). A file that is something else is never written to.
enum StoreIdentity {
    /// "Rous".
    static let applicationID: Int32 = 0x526f_7573

    /// The first bytes of every database of SQLite.
    private static let magic = Array("SQLite format 3\0".utf8)
    /// Where its header has the application id, most significant byte first, and how long that is.
    private static let applicationIDPlace = 68
    private static let headerByteCount = 100

    /// The tables that a store had before it had an application id.
    private static let firstTables: Set = ["grdb_migrations", "book", "lane", "device", "wake"]
    /// The table that is created before the first of them. A store whose creation was interrupted
    /// has no other.
    private static let migrations: Set = ["grdb_migrations"]
    /// The number of tables of another program's file that are named.
    private static let namedTables = 5

    /// Throws a ``Gateway/StoreFailure`` of kind `corrupt` unless the file is a store, or an empty
    /// file or database that can become one, and the log beside it can be its own. The file is read
    /// through `descriptor`, and where its header is not enough, by SQLite, without changes.
    static func check(_ descriptor: CInt, path: String) throws(StoreFailure) {
        var header = [UInt8](repeating: 0, count: headerByteCount)
        // SAFETY: pread writes at most as many bytes as the buffer has, within the call.
        let count = header.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        if count == 0, let failure = orphanedLog(besides: path) { throw failure }
        if let failure = LogPairing.failure(besides: path, descriptor) { throw failure }
        // SQLite reports read errors better.
        guard count != 0 else { return }
        guard count == headerByteCount, header.starts(with: magic) else {
            throw noDatabase(at: path)
        }
        let id = header[applicationIDPlace..<applicationIDPlace + 4].reduce(0 as UInt32) {
            $0 << 8 | UInt32($1)
        }
        // Otherwise the log may have another header.
        if id == UInt32(applicationID) { return }
        if let failure = try failure(at: path, allowsEmpty: true) { throw failure }
    }

    /// A file that SQLite refuses as a whole. It may be a store whose first page is damaged, and
    /// most likely is another program's.
    static func noDatabase(at path: String) -> StoreFailure {
        StoreFailure(
            kind: .corrupt,
            message: "\(path) is no database of SQLite, and so no store of Rouse. It was not "
                + "changed. Name another file, or restore a backup of it.")
    }

    /// The reason why a store must not be created at this path: there is the log of a missing
    /// database, as when it was moved away or its disk is not mounted. SQLite would overwrite the
    /// log, with accepted wakes. `nil` when there is no log.
    static func orphanedLog(besides path: String) -> StoreFailure? {
        guard let length = StorePath.byteCount(of: path + "-wal"), length > 0 else { return nil }
        return StoreFailure(
            kind: .corrupt,
            message: "\(path) is missing or empty, but its log \(path)-wal is there, with work "
                + "that was accepted. The log was not changed. Bring the database back to its "
                + "place, or restore a backup; to begin with an empty store, move the log away.")
    }

    /// The reason why a database is no store; `nil` when it is one.
    static func failure(
        at path: String, allowsEmpty: Bool
    ) throws(StoreFailure) -> StoreFailure? {
        try AuditedFile(path: path).read { connection throws(StoreFailure) in
            try failure(in: connection, path: path, allowsEmpty: allowsEmpty)
        }
    }

    /// The same of an open database.
    static func failure(
        in connection: Connection, path: String, allowsEmpty: Bool
    ) throws(StoreFailure) -> StoreFailure? {
        let id = Int32(
            truncatingIfNeeded: try connection.number("PRAGMA application_id"))
        if id == applicationID { return nil }
        let tables = try connection.texts(
            """
            SELECT name FROM sqlite_master
            WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name
            """)
        if id == 0 {
            if firstTables.isSubset(of: tables) { return nil }
            if allowsEmpty, tables.isEmpty { return nil }
            if allowsEmpty, Set(tables) == migrations,
                try connection.number("SELECT count(*) FROM grdb_migrations") == 0
            {
                return nil
            }
        }
        let number = String(UInt32(bitPattern: id), radix: 16)
        var names = "the tables " + tables.prefix(namedTables).joined(separator: ", ")
        if tables.count > namedTables { names += " and \(tables.count - namedTables) more" }
        if tables.isEmpty { names = "no tables" }
        return StoreFailure(
            kind: .corrupt,
            message: "\(path) is a database of SQLite, but no store of Rouse: its application id "
                + "is 0x\(number), and it has \(names). It was not changed. Name another file, or "
                + "move this one away."
        )
    }
}
