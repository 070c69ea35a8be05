// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import PushTransport
internal import Synchronization

/// Ends a loop's wait, or its next one.
package protocol LoopWaker: Sendable {
    /// Called from any thread, and never after ``Mailbox/close(gauges:)`` has returned.
    func wake()
}

/// The state that a transport and its loop share: messages to the loop, and the loop's gauges.
///
/// Messages are appended under a lock and swapped out whole, and the loop is woken only if it is
/// marked as sleeping, so under load a submission costs one short lock and no system call.
package final class Mailbox: Sendable {
    /// All messages since the loop last took them.
    package struct Contents {
        /// In the order in which they came.
        package var submissions: [TransportRequest] = []
        /// In the order in which they came.
        package var cancellations: [Cancellation] = []
        /// Whether all connections are to be replaced.
        package var replacesConnections = false
        /// Whether the loop was woken without any message.
        package var isRung = false
        /// The grace period, once shutdown was requested.
        package var shutdownGrace: Duration?

        /// Nothing.
        package init() {}

        /// A cancellation, and its position in the order of `submissions`.
        package struct Cancellation {
            /// The id of the submission.
            package let id: TransportRequest.ID
            /// The number of submissions before it.
            package let submittedBefore: Int

            /// Creates a cancellation.
            package init(id: TransportRequest.ID, submittedBefore: Int) {
                self.id = id
                self.submittedBefore = submittedBefore
            }
        }

        /// Removes all messages and passes them on, each cancellation after the submissions before
        /// it. Submissions are moved, since a copy retains all that it refers to.
        package mutating func drain(
            submission take: (consuming TransportRequest) -> Void,
            cancellation giveUp: (TransportRequest.ID) -> Void
        ) {
            let count = submissions.count
            // An array's elements can be moved out only at its end. SAFETY: the buffer is not kept.
            // It moves the elements; the array would copy them.
            submissions.withUnsafeMutableBufferPointer { $0.reverse() }
            for cancellation in cancellations {
                while count - submissions.count < cancellation.submittedBefore,
                    let submission = submissions.popLast()
                {
                    take(submission)
                }
                giveUp(cancellation.id)
            }
            while let submission = submissions.popLast() { take(submission) }
            if count >= Self.keptCapacity { submissions = [] }
            cancellations.removeAll(keepingCapacity: cancellations.count < Self.keptCapacity)
            replacesConnections = false
            isRung = false
            shutdownGrace = nil
        }

        /// Memory for this many messages and more is freed.
        private static let keptCapacity = 4096

        var isEmpty: Bool {
            submissions.isEmpty && cancellations.isEmpty && !replacesConnections && !isRung
                && shutdownGrace == nil
        }
    }

    fileprivate struct State {
        var contents = Contents()
        var isAsleep = false
        /// Whether it sleeps only for a moment, while submissions gather.
        var naps = false
        /// The number of groups of callers that are about to submit one by one.
        var gatherings = 0
        /// Whether there is a message that does not wait for them.
        var isPressing = false
        /// The number of threads that are about to wake the loop, or are waking it.
        var wakes = 0
        var phase = Phase.open
        var gauges = TransportGauges()
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    fileprivate enum Phase {
        case open
        case shuttingDown
        /// Whether the loop is about to end, so that its reactor must not be used any more.
        case closed
        /// Whether the loop has reported its last outcome and closed everything that it opened.
        case left
    }

    /// The longest delay of a submission while others gather.
    private static let gatheringMilliseconds: Int64 = 1

    private let state = StateLock(State())
    private let waker: any LoopWaker

    /// Creates an open mailbox of the loop that `waker` wakes.
    package init(waker: any LoopWaker) { self.waker = waker }

    // MARK: The front's side

    /// Adds messages for the loop. Returns false once shutdown has begun; then nothing was added.
    package func leave(_ edit: (inout Contents) -> Void) -> Bool {
        let (isTaken, mustWake) = state.withLock { state in
            guard state.phase == .open else { return (false, false) }
            edit(&state.contents)
            state.isPressing = true
            return (true, state.rouse())
        }
        if mustWake { wake() }
        return isTaken
    }

    /// Adds a batch, with one lock, and a wake-up only if the loop sleeps. Returns the batch once
    /// shutdown has begun. The loop moves submissions out of the array in place if the caller keeps
    /// no copy of it; otherwise it copies the array first.
    package func submit(_ batch: consuming [TransportRequest]) -> [TransportRequest]? {
        var rest = Optional(consume batch)
        _ = leave { contents in
            guard let batch = rest.take() else { return }
            if contents.submissions.isEmpty {
                contents.submissions = consume batch
            } else {
                contents.submissions.append(contentsOf: batch)
            }
        }
        return rest
    }

    /// Adds one submission, which is delayed while others gather. Returns it once shutdown has
    /// begun.
    package func submit(_ submission: consuming TransportRequest) -> TransportRequest? {
        // Moved, because a copy would retain all that it refers to.
        var rest = Optional(consume submission)
        let mustWake = state.withLock { state in
            guard state.phase == .open, let submission = rest.take() else { return false }
            state.contents.submissions.append(consume submission)
            // A loop that sleeps for longer was not told that submissions gather.
            let mayWait = state.gatherings > 0 && (state.naps || !state.isAsleep)
            return !mayWait && state.rouse()
        }
        if mustWake { wake() }
        return rest
    }

    /// Announces single submissions, from the loop's own thread. Otherwise the first would wake the
    /// loop, which would send it alone.
    package func beginGathering() { state.withLock { $0.gatherings += 1 } }

    /// Ends what `beginGathering` began.
    package func endGathering() {
        let mustWake = state.withLock { state in
            state.gatherings -= 1
            return state.gatherings == 0 && state.isReachable && !state.contents.isEmpty
                && state.rouse()
        }
        if mustWake { wake() }
    }

    /// Requests the cancellation of an earlier submission.
    package func cancel(_ id: TransportRequest.ID) {
        _ = leave { contents in
            contents.cancellations.append(
                .init(id: id, submittedBefore: contents.submissions.count))
        }
    }

    /// Requests new connections.
    package func replaceConnections() { _ = leave { $0.replacesConnections = true } }

    /// Requests shutdown, and returns when the loop has ended.
    package func shutDown(grace: Duration) async {
        requestShutdown(grace: grace)
        await waitUntilClosed()
    }

    /// Ends the loop's wait, so that it handles changes made elsewhere. Also during shutdown.
    package func ring() {
        let mustWake = state.withLock { state in
            guard state.isReachable else { return false }
            state.contents.isRung = true
            state.isPressing = true
            return state.rouse()
        }
        if mustWake { wake() }
    }

    /// Requests shutdown; a shorter grace period replaces an earlier one.
    package func requestShutdown(grace: Duration) {
        let mustWake = state.withLock { state in
            guard state.isReachable else { return false }
            state.phase = .shuttingDown
            state.isPressing = true
            state.contents.shutdownGrace = min(grace, state.contents.shutdownGrace ?? grace)
            return state.rouse()
        }
        if mustWake { wake() }
    }

    /// Returns when the loop has ended.
    package func waitUntilClosed() async {
        await withCheckedContinuation { continuation in
            let hasLeft = state.withLock { state in
                if state.phase != .left { state.waiters.append(continuation) }
                return state.phase == .left
            }
            if hasLeft { continuation.resume() }
        }
    }

    /// The gauges at the loop's last turn, with the submissions since then.
    package var gauges: TransportGauges {
        state.withLock { state in
            var gauges = state.gauges
            if state.isReachable { gauges.queued += state.contents.submissions.count }
            return gauges
        }
    }

    /// Ends the loop's wait, after the lock was released: the loop may run before this thread
    /// continues, and would wait for the lock.
    private func wake() {
        waker.wake()
        state.withLock { $0.wakes -= 1 }
    }

    // MARK: The loop's side

    /// Takes all messages into `contents`, which must be empty and whose storage is reused.
    package func take(into contents: inout Contents) {
        state.withLock { state in
            state.isAsleep = false
            state.isPressing = false
            swap(&state.contents, &contents)
        }
    }

    /// Publishes the loop's gauges.
    package func publish(_ gauges: TransportGauges) { state.withLock { $0.gauges = gauges } }

    /// Marks the loop as about to wait, and returns for how many milliseconds it may: 0 if there is
    /// a message. While submissions gather it is short, since nothing else may end the wait.
    package func fallAsleep() -> Int64 {
        state.withLock { state in
            let isGathering = state.gatherings > 0 && !state.isPressing
            guard isGathering || state.contents.isEmpty else { return 0 }
            state.isAsleep = true
            state.naps = isGathering
            return isGathering ? Self.gatheringMilliseconds : .max
        }
    }

    /// The loop's last step: after this the reactor is not used. Returns the messages that were too
    /// late.
    package func close(gauges: TransportGauges) -> Contents {
        let rest = state.withLock { state in
            state.phase = .closed
            state.gauges = gauges
            defer { state.contents = Contents() }
            return state.contents
        }
        // From here on no thread starts to wake the loop. One that has started ends within a system
        // call.
        while state.withLock({ $0.wakes > 0 }) { sched_yield() }
        return rest
    }

    /// Resumes the callers that wait for the end.
    package func releaseWaiters() {
        let waiters = state.withLock { state in
            state.phase = .left
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}

extension Mailbox.State {
    /// Whether the loop may still be woken.
    fileprivate var isReachable: Bool { phase == .open || phase == .shuttingDown }

    /// Whether the loop sleeps, so that the caller must wake it.
    fileprivate mutating func rouse() -> Bool {
        guard isAsleep else { return false }
        isAsleep = false
        wakes += 1
        return true
    }
}
