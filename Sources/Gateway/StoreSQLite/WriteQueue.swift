// SPDX-License-Identifier: Apache-2.0

import Gateway
import Synchronization

/// Group commit: commands that arrive while a transaction is being written share the next one.
/// Calls precede all other commands, and light commands heavy ones, though never twice in a row: a
/// request for a single wake does not wait for a flood of others. A command is done when its
/// transaction is as durable as the store's setting; with the disk, the next one is written
/// meanwhile.
///
/// When one command fails, the transaction is rolled back and each command is repeated in a
/// separate one, so that none fails because of another.
///
/// The number of waiting commands is bounded: the gateway's own by its loops (intake, dispatcher,
/// settler, pruner, holds and each endpoint's webhook worker), callers' by ``CallersWeight``.
final class WriteQueue: Sendable {
    /// The most work of one transaction, in wakes; a later call waits for it.
    static let maximumWeight = 1_024
    /// The most other work in a transaction with calls, in wakes.
    static let weightBesideCalls = 64
    /// A command up to this weight is light, in wakes.
    static let lightWeight = 8
    /// The most work of one transaction while there are light commands, in wakes: a heavy one has a
    /// separate transaction.
    static let weightBesideLight = 64
    /// The number of transactions after a light command in which further ones are expected, because
    /// its caller may send another.
    static let lightMemoryCount = 64

    /// A command that waits for its transaction.
    private struct Job: Sendable {
        let weight: Int
        let run: @Sendable (StoreConnection) throws(StoreFailure) -> Void
        let finish: @Sendable (StoreFailure?) -> Void

        var isLight: Bool { weight <= WriteQueue.lightWeight }
    }

    private struct State {
        var urgent: [Job] = []
        var others: [Job] = []
        var isScheduled = false
        /// Whether the last transaction skipped others because of calls.
        var wasForCalls = false
        /// Whether the last transaction skipped heavy commands because of light ones.
        var wasForLight = false
        /// The number of transactions since a light command waited with heavy ones.
        var sinceLight = WriteQueue.lightMemoryCount
    }

    private let state = Mutex(State())
    private let callers = CallersWeight(ofReads: false)
    private let database: ConnectionQueue
    private let connection: WriteConnection
    private let flusher: LogFlusher
    private let checkpointer: Checkpointer
    private let lock: StoreLock
    private let durability: SQLiteWakeStore.Durability

    /// Creates a queue for a connection, whose log `flusher` flushes and `checkpointer` copies
    /// between transactions. `lock` is checked before each of them.
    init(
        _ database: ConnectionQueue, connection: WriteConnection, flusher: LogFlusher,
        checkpointer: Checkpointer, lock: StoreLock, durability: SQLiteWakeStore.Durability
    ) {
        self.database = database
        self.connection = connection
        self.flusher = flusher
        self.checkpointer = checkpointer
        self.lock = lock
        self.durability = durability
    }

    /// The number of commands that wait for a transaction.
    var waitingCount: Int { state.withLock { $0.urgent.count + $0.others.count } }

    /// Waits until a command is done, and durable. Cancelling the calling task does not end it. A
    /// caller's command, and no other, is refused when too many of them wait. One that adds work is
    /// refused while the log is full.
    func write<Answer: Sendable>(
        _ profile: CommandProfile = CommandProfile(.write),
        _ verb: @escaping @Sendable (StoreConnection) throws(StoreFailure) -> Answer
    ) async throws(StoreFailure) -> Answer {
        if profile.addsWork, checkpointer.isFull {
            // Without other writes, nothing else would check whether the log is below its limit
            // again.
            database.async { _ in self.look() }
            throw Self.fullLog
        }
        return try await callers.bounded(profile) { () async throws(StoreFailure) in
            try await commit(profile, verb)
        }
    }

    private func commit<Answer: Sendable>(
        _ profile: CommandProfile,
        _ verb: @escaping @Sendable (StoreConnection) throws(StoreFailure) -> Answer
    ) async throws(StoreFailure) -> Answer {
        let answer = Mutex<Answer?>(nil)
        let failure = await withCheckedContinuation { continuation in
            let job = Job(weight: profile.weight) { store throws(StoreFailure) in
                let new = try verb(store)
                answer.withLock { $0 = new }
            } finish: { failure in
                continuation.resume(returning: failure)
            }
            enqueue(job, isUrgent: profile.isUrgent)
        }
        if let failure { throw failure }
        guard let answer = answer.withLock({ $0 }) else {
            preconditionFailure("A verb that did not fail has its answer.")
        }
        return answer
    }

    private static let fullLog = StoreFailure(
        kind: .overloaded,
        message: "The store's log is so long that no new work is taken, because another program "
            + "has been reading the store's file for long; nothing was changed. End that program.")

    private func enqueue(_ job: Job, isUrgent: Bool) {
        let schedules = state.withLock { state in
            if isUrgent { state.urgent.append(job) } else { state.others.append(job) }
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if schedules {
            database.async { _ in self.work() }
        }
    }

    // MARK: On the connection's queue

    private func work() {
        while let jobs = take() {
            perform(jobs)
            look()
        }
    }

    private func look() {
        // After a failed flush the log must not change.
        if flusher.failure == nil { checkpointer.look(of: connection.connection) }
    }

    /// The jobs of the next transaction; `nil` when none waits, and then nothing is scheduled.
    private func take() -> [Job]? {
        state.withLock { state in
            var jobs: [Job] = []
            var weight = 0
            Self.move(&state.urgent, &jobs, &weight, Self.maximumWeight)
            // A call does not wait for a full transaction of others, nor they for every call.
            let isForCalls = !jobs.isEmpty && !state.wasForCalls
            if state.others.contains(where: { !$0.isLight }) {
                let hasLight = state.others.contains(where: \.isLight)
                state.sinceLight = hasLight ? 0 : state.sinceLight + 1
                state.wasForLight = hasLight && !state.wasForLight
            } else {
                state.wasForLight = false
            }
            let maximum =
                state.sinceLight < Self.lightMemoryCount
                ? Self.weightBesideLight : Self.maximumWeight
            Self.move(
                &state.others, &jobs, &weight, isForCalls ? Self.weightBesideCalls : maximum,
                lightOnly: state.wasForLight)
            state.wasForCalls = isForCalls
            if jobs.isEmpty { state.isScheduled = false }
            return jobs.isEmpty ? nil : jobs
        }
    }

    /// Moves jobs into the next transaction as far as they fit, in their order; with `lightOnly`
    /// without the heavy ones, which stay.
    private static func move(
        _ queue: inout [Job], _ jobs: inout [Job], _ weight: inout Int, _ maximum: Int,
        lightOnly: Bool = false
    ) {
        var rest: [Job] = []
        for (place, job) in queue.enumerated() {
            if lightOnly && !job.isLight {
                rest.append(job)
                continue
            }
            guard jobs.isEmpty || weight + job.weight <= maximum else {
                rest += queue[place...]
                break
            }
            jobs.append(job)
            weight += job.weight
        }
        queue = rest
    }

    private func finish(_ jobs: [Job], _ failure: StoreFailure?) {
        for job in jobs { job.finish(failure) }
    }

    private func perform(_ jobs: [Job]) {
        do throws(StoreFailure) {
            if let failure = lock.loss() { flusher.end(with: failure) }
            if let failure = flusher.failure { throw failure }
            try connection.write(endingWith: flusher.end) { store throws(StoreFailure) in
                for job in jobs { try job.run(store) }
            }
            switch durability {
            case .disk: flusher.flush { failure in self.finish(jobs, failure) }
            case .system:
                flusher.flushSoon()
                finish(jobs, nil)
            }
        } catch {
            guard jobs.count > 1 else { return finish(jobs, error) }
            for job in jobs { perform([job]) }
        }
    }
}
