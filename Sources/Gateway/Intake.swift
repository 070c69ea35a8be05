// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The way in: requests that arrive while a transaction is being written share the next one.
///
/// A commit costs a disk flush, whatever it holds; sharing it is what makes durable acceptance
/// cheap. The queue is bounded, and a full one says so at once.
final class Intake: Sendable {
    /// The answer to one submission.
    enum Answer: Sendable {
        /// The store took it, or recognised it.
        case stored(Admission)
        /// Too many requests wait; nothing was kept.
        case overloaded
        /// The gateway is shutting down; nothing was kept.
        case closed
        /// The store failed; nothing was kept.
        case failed(StoreFailure)
    }

    private struct Waiting {
        let submission: Submission
        let continuation: CheckedContinuation<Answer, Never>
    }

    private struct State {
        var queue: [Waiting] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    private let bell = Bell()
    private let store: any WakeStore
    private let watch: StoreWatch
    private let limits: GatewayLimits
    private let onAdmission: @Sendable () -> Void

    /// An intake into `store`. `onAdmission` is called after each transaction that kept a wake.
    init(
        store: any WakeStore, watch: StoreWatch, limits: GatewayLimits,
        onAdmission: @escaping @Sendable () -> Void
    ) {
        self.store = store
        self.watch = watch
        self.limits = limits
        self.onAdmission = onAdmission
    }

    /// Waits until the submission is on disk, or refused. Needs ``run()`` to be running.
    func submit(_ submission: Submission) async -> Answer {
        await withCheckedContinuation { continuation in
            let refusal = state.withLock { state -> Answer? in
                guard !state.isClosed else { return .closed }
                guard state.queue.count < limits.intakeQueueCount else { return .overloaded }
                state.queue.append(Waiting(submission: submission, continuation: continuation))
                return nil
            }
            if let refusal { continuation.resume(returning: refusal) } else { bell.ring() }
        }
    }

    /// Refuses what comes from now on; what waits is still written.
    func close() {
        state.withLock { $0.isClosed = true }
        bell.ring()
    }

    /// Writes what waits until the intake is closed and empty.
    func run() async {
        while true {
            let (batch, isClosed) = takeBatch()
            if !batch.isEmpty {
                await write(batch)
            } else if isClosed {
                return
            } else {
                await bell.wait()
            }
        }
    }

    private func takeBatch() -> ([Waiting], Bool) {
        state.withLock { state in
            let batch = Array(state.queue.prefix(limits.intakeBatchCount))
            state.queue.removeFirst(batch.count)
            return (batch, state.isClosed)
        }
    }

    private func write(_ batch: [Waiting]) async {
        do throws(StoreFailure) {
            let admissions = try await watch.observe { () async throws(StoreFailure) in
                try await store.admit(batch.map(\.submission))
            }
            precondition(admissions.count == batch.count, "A store answers each submission.")
            onAdmission()
            for (waiting, admission) in zip(batch, admissions) {
                waiting.continuation.resume(returning: .stored(admission))
            }
        } catch {
            for waiting in batch { waiting.continuation.resume(returning: .failed(error)) }
        }
    }
}
