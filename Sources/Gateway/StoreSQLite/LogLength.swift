// SPDX-License-Identifier: Apache-2.0

import CLibsqlite3
import Synchronization

/// The number of pages of the write-ahead log, which SQLite reports after each commit.
final class LogLength: Sendable {
    private let count = Atomic(0)

    /// The pages after the last commit.
    var pages: Int { count.load(ordering: .relaxed) }

    /// Makes a connection report its commits here. This replaces SQLite's automatic checkpoints,
    /// which use the same hook. The object must outlive the connection.
    func watch(_ connection: OpaquePointer) {
        // SAFETY: the pointer is passed only to the hook, which runs within commits of this
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
