// SPDX-License-Identifier: Apache-2.0

import GRDB
import Gateway
import Synchronization

/// Group commit: verbs that arrive while a transaction is being written share the next one. Calls
/// go before everything else that waits. A verb is done when its transaction is where the store's
/// durability wants it; with the disk, the next one is written meanwhile.
///
/// When one verb fails, the transaction is undone and each verb of it is done again in one of its
/// own, so that none fails for another's sake.
final class WriteQueue: Sendable {
    /// The most work that one transaction takes on, in wakes; a call that comes meanwhile waits
    /// for it.
    static let maximumWeight = 1_024
    /// The most other work in a transaction with calls, in wakes.
    static let weightBesideCalls = 64

    /// A verb that waits for its transaction.
    private struct Job: Sendable {
        let weight: Int
        let run: @Sendable (WakeBooks) throws(StoreFailure) -> Void
        let finish: @Sendable (StoreFailure?) -> Void
    }

    private struct State {
        var urgent: [Job] = []
        var others: [Job] = []
        var isScheduled = false
        /// Whether the last transaction left others out for the sake of calls.
        var wasForCalls = false
    }

    private let state = Mutex(State())
    private let database: DatabaseQueue
    private let desk: WriterDesk
    private let flusher: LogFlusher
    private let durability: SQLiteWakeStore.Durability
    private let afterCommit: @Sendable () -> Void

    /// A queue in front of a connection, whose log `flusher` flushes. `afterCommit` is called
    /// between transactions, on the connection's queue.
    init(
        _ database: DatabaseQueue, desk: WriterDesk, flusher: LogFlusher,
        durability: SQLiteWakeStore.Durability, afterCommit: @escaping @Sendable () -> Void
    ) {
        self.database = database
        self.desk = desk
        self.flusher = flusher
        self.durability = durability
        self.afterCommit = afterCommit
    }

    /// Waits until a verb is done, and durable. It is not given up when the calling task is
    /// cancelled.
    func write<Answer: Sendable>(
        weight: Int = 1, isUrgent: Bool = false,
        _ verb: @escaping @Sendable (WakeBooks) throws(StoreFailure) -> Answer
    ) async throws(StoreFailure) -> Answer {
        let answer = Mutex<Answer?>(nil)
        let failure = await withCheckedContinuation { continuation in
            let job = Job(weight: weight) { books throws(StoreFailure) in
                let new = try verb(books)
                answer.withLock { $0 = new }
            } finish: { failure in
                continuation.resume(returning: failure)
            }
            enqueue(job, isUrgent: isUrgent)
        }
        if let failure { throw failure }
        guard let answer = answer.withLock({ $0 }) else {
            preconditionFailure("A verb that did not fail has its answer.")
        }
        return answer
    }

    private func enqueue(_ job: Job, isUrgent: Bool) {
        let schedules = state.withLock { state in
            if isUrgent { state.urgent.append(job) } else { state.others.append(job) }
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if schedules {
            database.asyncWriteWithoutTransaction { _ in self.work() }
        }
    }

    // MARK: On the connection's queue

    private func work() {
        while let jobs = take() {
            perform(jobs)
            // After a flush that failed the log must stay as it is.
            if flusher.failure == nil { afterCommit() }
        }
    }

    /// The jobs of the next transaction; `nil` when none waits, and then nothing is scheduled.
    private func take() -> [Job]? {
        state.withLock { state in
            var jobs: [Job] = []
            var weight = 0
            Self.move(&state.urgent, &jobs, &weight, Self.maximumWeight)
            // A call does not wait for a full transaction of others, nor they for every call.
            let isForCalls = !jobs.isEmpty && !state.wasForCalls
            Self.move(
                &state.others, &jobs, &weight,
                isForCalls ? Self.weightBesideCalls : Self.maximumWeight)
            state.wasForCalls = isForCalls
            if jobs.isEmpty { state.isScheduled = false }
            return jobs.isEmpty ? nil : jobs
        }
    }

    private static func move(
        _ queue: inout [Job], _ jobs: inout [Job], _ weight: inout Int, _ maximum: Int
    ) {
        var count = 0
        for job in queue {
            guard jobs.isEmpty || weight + job.weight <= maximum else { break }
            jobs.append(job)
            weight += job.weight
            count += 1
        }
        queue.removeFirst(count)
    }

    private static func finish(_ jobs: [Job], _ failure: StoreFailure?) {
        for job in jobs { job.finish(failure) }
    }

    private func perform(_ jobs: [Job]) {
        do throws(StoreFailure) {
            if let failure = flusher.failure { throw failure }
            try desk.write { books throws(StoreFailure) in
                for job in jobs { try job.run(books) }
            }
            switch durability {
            case .disk: flusher.flush { failure in Self.finish(jobs, failure) }
            case .system:
                flusher.flushSoon()
                Self.finish(jobs, nil)
            }
        } catch {
            guard jobs.count > 1 else { return jobs[0].finish(error) }
            for job in jobs { perform([job]) }
        }
    }
}

/// The desk of the writing connection.
///
// SAFETY: `@unchecked`, because a desk must not be used by two threads at a time. It is used on the
// queue of its connection only: `WriteQueue` works there, and so do opening and closing.
final class WriterDesk: @unchecked Sendable {
    private let desk: Desk

    init(_ desk: Desk) { self.desk = desk }

    func write(_ body: (WakeBooks) throws(StoreFailure) -> Void) throws(StoreFailure) {
        try desk.write(body)
    }

    var connection: Connection { desk.connection }

    func close() { desk.close() }
}
