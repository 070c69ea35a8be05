// SPDX-License-Identifier: Apache-2.0

/// Decides when the write-ahead log is copied into the database, and by whom. Pure: time and
/// lengths are arguments.
///
/// Three rules hold in every order of events:
/// - The writer copies few pages itself, so that no transaction waits for a large copy.
/// - Only one checkpoint runs at a time. The background one never begins when the log may have been
///   copied completely: SQLite before 3.51.3 may then use the old log's progress for a new log that
///   the writer begins at the same moment, and lose transactions.
/// - While a reader of the file prevents the log from being copied or restarted, attempts are
///   spaced in time.
struct CheckpointPlan {
    /// Lengths in pages, and times.
    struct Bounds: Sendable {
        /// The length at which the log is copied: 32 000 pages, 64 MB. Each copy makes the writer
        /// wait once: with half of this, the 99th percentile of single requests during a flood was
        /// 7 to 9 ms instead of 6 (`RouseBenchmarks gateway-neighbours`).
        var start = 32_000
        /// The most that the writer copies itself, for each background copy since the log began, so
        /// that the copying ends even if the writer is always faster than the disk.
        var rest = 250
        /// The number of background copies that raise that limit.
        var maximumRests = 16
        /// The length of the log, while a reader prevents its restart, at which new work is
        /// refused: 131 072 pages, 256 MB.
        var maximum = 131_072
        /// The pause after an attempt without progress.
        var retry: Duration = .milliseconds(250)
    }

    /// The next step.
    enum Step: Hashable {
        case nothing
        /// A copy in the background. To be reported with ``passed(_:of:now:)``.
        case pass(log: Int)
        /// The writer copies the rest. To be reported with ``rested(copied:now:)``.
        case rest
    }

    let bounds: Bounds
    /// The number of the log, among those since the store was opened.
    private var log = 0
    /// Its length after the last transaction.
    private(set) var length = 0
    /// The number of its pages that are in the database.
    private var copied = 0
    private var passes = 0
    private var isRunning = false
    private var earliest: ContinuousClock.Instant?

    init(_ bounds: Bounds = Bounds()) { self.bounds = bounds }

    /// Whether the log is so long that new work is refused, and the next transaction cannot restart
    /// it. Work on stored wakes still makes it longer.
    var isFull: Bool { length >= bounds.maximum && copied < length }

    /// The step between two transactions, when the log has this number of pages.
    mutating func step(length new: Int, now: ContinuousClock.Instant) -> Step {
        if new < length {
            log += 1
            copied = 0
            passes = 0
            earliest = nil
        }
        length = new
        guard !isRunning, length >= bounds.start, length > copied,
            earliest.map({ $0 <= now }) ?? true
        else { return .nothing }
        guard passes == 0 || length - copied > bounds.rest * min(passes, bounds.maximumRests)
        else { return .rest }
        isRunning = true
        return .pass(log: log)
    }

    /// A background copy of a log has ended: that log had `length` pages, and `copied` of them are
    /// in the database; `nil` when it failed.
    mutating func passed(
        _ result: (length: Int, copied: Int)?, of log: Int, now: ContinuousClock.Instant
    ) {
        isRunning = false
        guard let result else {
            earliest = now + bounds.retry
            return
        }
        if log != self.log {
            // The writer has restarted the log meanwhile, so the report may be about the old one.
            // An estimate that is too high is safe, because then nothing runs in the background.
            copied = result.length <= length ? result.copied : 0
            return
        }
        if result.copied > copied { passes += 1 } else { earliest = now + bounds.retry }
        copied = result.copied
    }

    /// The writer has copied the rest; `copied` pages are in the database, `nil` when it failed. If
    /// the log does not restart now, a reader is using it.
    mutating func rested(copied new: Int?, now: ContinuousClock.Instant) {
        copied = new ?? copied
        earliest = now + bounds.retry
    }
}
