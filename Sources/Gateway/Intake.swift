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
        let answers: Answers
        /// The submission's place among those that are answered together.
        let index: Int
    }

    /// The answers to submissions that came together, and who waits for them.
    private final class Answers: Sendable {
        private struct State {
            var answers: [Answer?]
            var missing: Int
        }

        private let state: Mutex<State>
        private let continuation: CheckedContinuation<[Answer], Never>

        init(count: Int, _ continuation: CheckedContinuation<[Answer], Never>) {
            state = Mutex(State(answers: Array(repeating: nil, count: count), missing: count))
            self.continuation = continuation
        }

        func give(_ answer: Answer, at index: Int) {
            let all = state.withLock { state -> [Answer]? in
                precondition(state.answers[index] == nil, "A submission was answered twice.")
                state.answers[index] = answer
                state.missing -= 1
                return state.missing == 0 ? state.answers.compactMap(\.self) : nil
            }
            if let all { continuation.resume(returning: all) }
        }
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

    /// Waits until each submission is on disk, or refused; answers one by one, in order. They may
    /// end up in several transactions. Needs ``run()`` to be running.
    func submit(_ submissions: [Submission]) async -> [Answer] {
        guard !submissions.isEmpty else { return [] }
        return await withCheckedContinuation { continuation in
            let answers = Answers(count: submissions.count, continuation)
            let (taken, refusal) = state.withLock { state -> (Int, Answer) in
                guard !state.isClosed else { return (0, .closed) }
                let room = max(0, limits.intakeQueueCount - state.queue.count)
                for (index, submission) in submissions.prefix(room).enumerated() {
                    state.queue.append(
                        Waiting(submission: submission, answers: answers, index: index))
                }
                return (min(room, submissions.count), .overloaded)
            }
            for index in taken..<submissions.count { answers.give(refusal, at: index) }
            if taken > 0 { bell.ring() }
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
                waiting.answers.give(.stored(admission), at: waiting.index)
            }
        } catch {
            for waiting in batch { waiting.answers.give(.failed(error), at: waiting.index) }
        }
    }
}
