// SPDX-License-Identifier: Apache-2.0

import CGatheredLog
import CLibsqlite3
import Gateway
import Synchronization

/// Copies the write-ahead log into the database concurrently with the writer, which waits for a
/// small rest only.
///
/// A separate connection copies most of the log while the writer continues, and then the pages
/// since. The writer itself copies the last few pages between two transactions; when nothing is
/// left, its next transaction restarts the log. SQLite's own method, copying all of it at some
/// commit, would make a call wait for thousands of pages. ``CheckpointPlan`` decides.
///
/// An I/O error while copying ends the store, as a failed flush of the log does: the kernel may
/// have dropped pages that it could not write, and another attempt would report success. After
/// every other failure, such as a full disk, the log is complete, and copying is retried.
final class Checkpointer: Sendable {
    fileprivate struct State {
        var plan: CheckpointPlan
        var isClosed = false
        /// Whether the notice of a full log was sent.
        var isToldFull = false
        var failure: StoreFailure?
    }

    private let state: Mutex<State>
    let database: ConnectionQueue
    private let log: LogLength
    private let flusher: LogFlusher
    private let notify: @Sendable (StoreNotice) -> Void

    /// Creates a checkpointer with a separate connection, for the log whose length `log` has.
    /// `flusher` ends the store.
    init(
        _ database: ConnectionQueue, log: LogLength, flusher: LogFlusher,
        bounds: CheckpointPlan.Bounds, notify: @escaping @Sendable (StoreNotice) -> Void
    ) {
        self.database = database
        self.log = log
        self.flusher = flusher
        self.notify = notify
        state = Mutex(State(plan: CheckpointPlan(bounds)))
    }

    /// Whether the last attempt to copy failed.
    var isFailing: Bool { state.withLock { $0.failure != nil } }

    /// Whether the log is so long that new work must be refused.
    var isFull: Bool { state.withLock { $0.plan.isFull } }

    /// To be called by the writer between two transactions.
    func look(of writer: Connection) {
        let (step, notice) = state.withLock { state -> (CheckpointPlan.Step, StoreNotice?) in
            guard !state.isClosed else { return (.nothing, nil) }
            let step = state.plan.step(length: log.pages, now: .now)
            let notice = state.noteRoom()
            return (step, notice)
        }
        if let notice { notify(notice) }
        switch step {
        case .nothing: break
        case .rest:
            let result = checkpoint(writer)
            state.withLock { $0.plan.rested(copied: result?.copied, now: .now) }
        case .pass(let number):
            database.async { connection in
                var result = self.checkpoint(connection)
                // Not after one that was complete; see `CheckpointPlan`.
                if let first = result, first.copied < first.length {
                    result = self.checkpoint(connection)
                }
                self.state.withLock { $0.plan.passed(result, of: number, now: .now) }
            }
        }
    }

    /// Copies what can be copied without waiting. Returns the length of the log and the number of
    /// its pages in the database; `nil` when it failed.
    private func checkpoint(_ connection: Connection) -> (length: Int, copied: Int)? {
        guard flusher.failure == nil, connection.isOpen else { return nil }
        let handle = connection.handle
        var (length, copied): (CInt, CInt) = (0, 0)
        let code = sqlite3_wal_checkpoint_v2(
            handle, nil, SQLITE_CHECKPOINT_PASSIVE, &length, &copied)
        note(code, of: handle)
        guard code == SQLITE_OK, length >= 0 else { return nil }
        return (Int(length), Int(copied))
    }

    /// Records the result of a checkpoint.
    private func note(_ code: CInt, of handle: OpaquePointer) {
        let failure: StoreFailure?
        switch code & 0xff {
        // Another program copies the log at this moment, with the same effect.
        case SQLITE_OK, SQLITE_BUSY: failure = nil
        case SQLITE_IOERR:
            flusher.end(with: .lost("copied into the store", Self.reason(code, handle)))
            return
        default: failure = StoreFailure(code: code, message: Self.reason(code, handle))
        }
        let notice = state.withLock { state -> StoreNotice? in
            let was = state.failure
            state.failure = failure
            switch (was, failure) {
            case (nil, let failure?): return .logIsNotCopied(failure)
            case (_?, nil): return .logIsCopiedAgain
            default: return nil
            }
        }
        if let notice { notify(notice) }
    }

    private static func reason(_ code: CInt, _ handle: OpaquePointer) -> String {
        // SAFETY: SQLite returns a terminated string that is valid until the connection's next
        // call.
        String(cString: sqlite3_errmsg(handle)) + " (code \(code))"
    }

    /// Copies all of the log, as the last connection to the file, so that closing removes it. On
    /// the writer's queue, after ``close()``. After a failure the log stays for the next start.
    func copyAll(of writer: Connection) {
        guard flusher.failure == nil, writer.isOpen else { return }
        let code = sqlite3_wal_checkpoint_v2(
            writer.handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
        note(code, of: writer.handle)
        if code == SQLITE_OK { CGatheredLog_keepOnClose(writer.handle, 0) }
    }

    func close() throws(StoreFailure) {
        state.withLock { $0.isClosed = true }
        try database.close()
    }
}

extension Checkpointer.State {
    /// The notice about the log's size, if its state has changed.
    fileprivate mutating func noteRoom() -> StoreNotice? {
        guard plan.isFull != isToldFull else { return nil }
        isToldFull = plan.isFull
        return isToldFull ? .logIsFull : .logHasRoom
    }
}
