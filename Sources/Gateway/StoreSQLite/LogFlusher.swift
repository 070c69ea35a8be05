// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Gateway
import Glibc
import Synchronization

/// Flushes committed transactions to disk concurrently with the writing of the next ones.
///
/// With SQLite's `synchronous=FULL`, the writer waits for the disk within each commit, which is
/// most of a commit's time. Here a commit only writes its frames of the write-ahead log to the
/// operating system (`synchronous=NORMAL`); then this flushes the log, and the transaction is not
/// answered before that is done. So every answered transaction is on disk, as with FULL;
/// transactions that are committed during one flush share the next one; and the log and the
/// database keep their order on disk, because SQLite itself flushes the log before it copies from
/// it.
///
/// With ``SQLiteWakeStore/Durability/system``, where no caller waits for the disk, it still flushes
/// within a second after a transaction, so that a power failure loses no more than that.
///
/// After a failed flush, even a later one that succeeds proves nothing: the kernel may have dropped
/// the pages that it could not write. From then on every transaction fails until the store is
/// opened again, which copies the readable part of the log before anything is appended to it. The
/// program exits for that; see ``ends``.
///
/// A checkpoint flushes the log too, by SQLite's own descriptor, and its failure ends the store in
/// the same way (``Checkpointer``). Once that failure is known, a concurrent flush does not count,
/// even if it succeeded. A flush that ends between the failure and its detection reports its own
/// result. Since Linux 4.13 each descriptor that was open when the write failed gets the error from
/// its own next `fdatasync` (fsync(2)), so that such a flush fails too; on a system that reports it
/// to one descriptor only, the flush would count.
final class LogFlusher: Sendable {
    private struct State {
        var waiting: [@Sendable (StoreFailure?) -> Void] = []
        var isRunning = false
        /// Whether a background flush is due shortly.
        var isPlanned = false
        var failure: StoreFailure?
    }

    /// Yields the failure after which every transaction fails. For one listener.
    let ends: AsyncStream<StoreFailure>
    private let end: AsyncStream<StoreFailure>.Continuation

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "rouse.store.flush")
    private let descriptor: CInt
    private let sync: @Sendable (CInt) -> CInt

    private let pause: Double

    /// Creates a flusher for the log of the database at `path`, which must be open already. `sync`
    /// writes a descriptor's file to disk and returns an `errno`, 0 on success; a test may delay
    /// it. `pause` is the delay of a background flush, in seconds.
    init(
        besides path: String, pause: Double = SQLiteWakeStore.flushSeconds,
        sync: @escaping @Sendable (CInt) -> CInt = LogFlusher.sync
    ) throws(StoreFailure) {
        self.sync = sync
        self.pause = pause
        (ends, end) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
        // Closing a descriptor drops a process' locks on a file, but the log is never locked.
        descriptor = open(path + "-wal", O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw StoreFailure(
                kind: .readOnly,
                message: "The log \(path)-wal cannot be opened: \(StoreLock.reason(errno)).")
        }
    }

    deinit {
        end.finish()
        if descriptor >= 0 { Self.closeDescriptor(descriptor) }
    }

    private static func closeDescriptor(_ descriptor: CInt) { close(descriptor) }

    /// The reason why nothing more may be written; `nil` if it may.
    var failure: StoreFailure? { state.withLock { $0.failure } }

    /// Makes everything fail from now on; the first reason is kept.
    func end(with failure: StoreFailure) {
        let isFirst = state.withLock { state in
            guard state.failure == nil else { return false }
            state.failure = failure
            return true
        }
        if isFirst { end.yield(failure) }
    }

    /// Calls `finish` when the present contents of the log are on disk, or cannot be written.
    func flush(then finish: @escaping @Sendable (StoreFailure?) -> Void) {
        let starts = state.withLock { state in
            state.waiting.append(finish)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if starts { queue.async { self.work() } }
    }

    /// Waits for a flush that begins from now on. Returns its failure; `nil` on success.
    func flushed() async -> StoreFailure? {
        await withCheckedContinuation { continuation in
            flush { continuation.resume(returning: $0) }
        }
    }

    /// Schedules a background flush of the log, with everything added until then.
    func flushSoon() {
        let plans = state.withLock { state in
            defer { state.isPlanned = true }
            return !state.isPlanned
        }
        guard plans else { return }
        queue.asyncAfter(deadline: .now() + pause) { [weak self] in self?.flushPlanned() }
    }

    /// Waits until nothing is left to flush.
    func drain() { queue.sync { flushPlanned() } }

    // MARK: On the queue

    /// Does the scheduled flush, unless another has been done.
    private func flushPlanned() {
        let isPlanned = state.withLock { state in
            defer { state.isPlanned = false }
            return state.isPlanned && state.failure == nil
        }
        guard isPlanned, let failure = flushLog() else { return }
        end(with: failure)
    }

    private func work() {
        while let waiting = take() {
            let known = self.failure
            // When a checkpoint has failed to flush the log meanwhile, this flush may have found
            // nothing left to write.
            let failure = known ?? flushLog() ?? self.failure
            if known == nil, let failure { end(with: failure) }
            for finish in waiting { finish(failure) }
        }
    }

    /// The waiting callers; `nil` when there are none, and then nothing is running.
    private func take() -> [@Sendable (StoreFailure?) -> Void]? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isRunning = false
                return nil
            }
            defer { state.waiting = [] }
            return state.waiting
        }
    }

    private func flushLog() -> StoreFailure? {
        let reason = sync(descriptor)
        guard reason != 0 else { return nil }
        return .lost(
            "brought to the disk", StoreLock.reason(reason),
            kind: reason == ENOSPC || reason == EDQUOT ? .full : .unavailable)
    }

    /// Flushes with `fdatasync`.
    static func sync(_ descriptor: CInt) -> CInt {
        while true {
            let code = fdatasync(descriptor)
            if code == 0 { return 0 }
            if errno != EINTR { return errno }
        }
    }
}

extension StoreFailure {
    /// The log could not be handled as in `what`, for `reason`, and the contents of the disk are
    /// unknown.
    static func lost(_ what: String, _ reason: String, kind: Kind = .unavailable) -> Self {
        StoreFailure(
            kind: kind,
            message: "The log cannot be \(what): \(reason). It is not known what of the last "
                + "moments is kept. Nothing more is written until the store is opened again.")
    }
}
