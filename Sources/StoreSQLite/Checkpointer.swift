// SPDX-License-Identifier: Apache-2.0

import GRDB
import GRDBSQLite
import Synchronization

/// Copies the write-ahead log into the database beside the writing, so that the writer waits for a
/// small rest only.
///
/// A connection of its own copies most of the log while the writer goes on, and then what came
/// meanwhile. The writer itself copies the last few pages between two transactions; when nothing
/// is left, its next transaction begins the log anew. SQLite's own way, copying all of it at some
/// commit, would make a call wait for thousands of pages.
final class Checkpointer: Sendable {
    /// How long the log may become before it is copied: 16 000 pages, 32 MB.
    static let pageCount = 16_000
    /// How long it may become before the writer waits for the copying.
    static let maximumPageCount = 128_000

    private struct State {
        var isRunning = false
        var isReadyForRest = false
        var isClosed = false
    }

    private let state = Mutex(State())
    private let database: DatabaseQueue

    /// A checkpointer with a connection of its own.
    init(_ database: DatabaseQueue) { self.database = database }

    /// To be called by the writer between two transactions, with the length of its log.
    func look(at log: LogLength, of writer: Connection) {
        let pages = log.pages
        guard pages >= Self.pageCount else { return }
        enum Step {
            case start
            case rest
            case nothing
        }
        let step = state.withLock { state -> Step in
            if state.isReadyForRest || pages >= Self.maximumPageCount {
                state.isReadyForRest = false
                return .rest
            }
            guard !state.isRunning, !state.isClosed else { return .nothing }
            state.isRunning = true
            return .start
        }
        switch step {
        case .nothing: break
        case .rest:
            // The next commit says how long the log is then; one that writes nothing says nothing,
            // and must not lead to another checkpoint of a log that is done with.
            if Self.checkpoint(writer.handle) == .complete { log.reset() }
        case .start:
            database.asyncWriteWithoutTransaction { database in
                if let handle = database.sqliteConnection,
                    Self.checkpoint(handle) == .partial
                {
                    // Never after one that was complete: SQLite before 3.51.3 may then take the old
                    // log's progress for that of one which a writer has just begun.
                    _ = Self.checkpoint(handle)
                }
                self.state.withLock { state in
                    state.isRunning = false
                    state.isReadyForRest = true
                }
            }
        }
    }

    /// How far a checkpoint came.
    private enum Progress {
        case complete
        case partial
        case failed
    }

    /// Copies what can be copied without waiting for anybody. A failure shows again at the next
    /// commit, and loses nothing: the log has it all.
    private static func checkpoint(_ handle: OpaquePointer) -> Progress {
        var (length, copied): (CInt, CInt) = (0, 0)
        let code = sqlite3_wal_checkpoint_v2(
            handle, nil, SQLITE_CHECKPOINT_PASSIVE, &length, &copied)
        guard code == SQLITE_OK || code == SQLITE_BUSY, length >= 0 else { return .failed }
        return copied == length ? .complete : .partial
    }

    func close() throws {
        state.withLock { $0.isClosed = true }
        try database.close()
    }
}
