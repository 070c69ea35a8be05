// SPDX-License-Identifier: Apache-2.0

import GRDBSQLite
import Synchronization

/// How many pages the write-ahead log has, as SQLite says after each commit.
final class LogLength: Sendable {
    private let count = Atomic(0)

    /// The pages after the last commit.
    var pages: Int { count.load(ordering: .relaxed) }

    /// Has a connection report its commits here. This takes the place of SQLite's own automatic
    /// checkpoints, which use the same hook. The object must outlive the connection.
    func watch(_ connection: OpaquePointer) {
        // SAFETY: the pointer is given back to the hook only, which runs within commits of this
        // connection; the store holds this object until its connections are closed.
        sqlite3_wal_hook(
            connection,
            { context, _, _, pages in
                if let context {
                    Unmanaged<LogLength>.fromOpaque(context).takeUnretainedValue()
                        .count.store(Int(pages), ordering: .relaxed)
                }
                return SQLITE_OK
            }, Unmanaged.passUnretained(self).toOpaque())
    }
}
