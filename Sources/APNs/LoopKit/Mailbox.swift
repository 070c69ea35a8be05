// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import PushTransport
internal import Synchronization

/// Ends a loop's wait, or its next one.
package protocol LoopWaker: Sendable {
    /// Called from any thread, and never after ``Mailbox/close(gauges:)`` has returned.
    func wake()
}

/// What the front and the loop share: messages in, gauges out.
///
/// Messages are appended under a lock and swapped out whole, and the loop is woken only if it said
/// that it sleeps, so under load a submission costs one short lock and no system call.
package final class Mailbox: Sendable {
    /// Everything that came in since the last look.
    package struct Contents {
        /// In the order in which they came.
        package var submissions: [TransportRequest] = []
        /// In the order in which they came.
        package var cancellations: [Cancellation] = []
        /// Whether all connections are to be replaced.
        package var replacesConnections = false
        /// Whether the loop was woken without any message.
        package var isRung = false
        /// When shutdown was asked for: the time left for what is in flight.
        package var shutdownGrace: Duration?

        /// Nothing.
        package init() {}

        /// A cancellation, and how many of `submissions` came before it.
        package struct Cancellation {
            /// Of which submission.
            package let id: TransportRequest.ID
            /// How many submissions precede it.
            package let submittedBefore: Int

            /// Pairs them.
            package init(id: TransportRequest.ID, submittedBefore: Int) {
                self.id = id
                self.submittedBefore = submittedBefore
            }
        }

        /// Hands out what came in and forgets it: a cancellation behind what was submitted before
        /// it. Each submission is moved out, since to copy one counts up all that it refers to.
        package mutating func drain(
            submission take: (consuming TransportRequest) -> Void,
            cancellation giveUp: (TransportRequest.ID) -> Void
        ) {
            let count = submissions.count
            // An array gives its elements away at its end only.
            // SAFETY: the buffer is not kept. It moves the elements; the array would copy them.
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

        /// Memory for so many messages and more is given back.
        private static let keptCapacity = 4096

        var isEmpty: Bool {
            submissions.isEmpty && cancellations.isEmpty && !replacesConnections && !isRung
                && shutdownGrace == nil
        }
    }

    fileprivate struct State {
        var contents = Contents()
        var isAsleep = false
        /// Whether it sleeps for those who gather, and so for a moment only.
        var naps = false
        /// How many groups of callers are about to submit, each for itself.
        var gatherings = 0
        /// Whether something came that does not wait for them.
        var isPressing = false
        /// How many threads are about to wake the loop, or are at it.
        var wakes = 0
        var phase = Phase.open
        var gauges = TransportGauges()
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    fileprivate enum Phase {
        case open
        case shuttingDown
        /// The loop is about to end: its reactor must not be used any more.
        case closed
        /// The loop has reported its last outcome, and everything it opened is closed.
        case left
    }

    /// How long submissions wait for those that gather with them.
    private static let gatheringMilliseconds: Int64 = 1

    private let state = StateLock(State())
    private let waker: any LoopWaker

    /// An open mailbox of the loop that `waker` wakes.
    package init(waker: any LoopWaker) { self.waker = waker }

    // MARK: The front's side

    /// Leaves messages for the loop. False once shutdown has begun: then nothing was left.
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

    /// Leaves a batch; one lock, and a wake-up only if the loop sleeps. Gives it back once shutdown
    /// has begun. Of a batch that its caller keeps nothing of, the loop empties the array where it
    /// is; another one it copies first.
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

    /// Leaves one submission, which waits for others if they are about to come. Gives it back once
    /// shutdown has begun.
    package func submit(_ submission: consuming TransportRequest) -> TransportRequest? {
        // The words that move it spare a copy, which would count up all that it refers to.
        var rest = Optional(consume submission)
        let mustWake = state.withLock { state in
            guard state.phase == .open, let submission = rest.take() else { return false }
            state.contents.submissions.append(consume submission)
            // A loop that sleeps longer is not aware of them.
            let mayWait = state.gatherings > 0 && (state.naps || !state.isAsleep)
            return !mayWait && state.rouse()
        }
        if mustWake { wake() }
        return rest
    }

    /// Says that submissions one by one are about to come, from the loop's own thread: it would be
    /// woken by the first and find no other, and so would the server.
    package func beginGathering() { state.withLock { $0.gatherings += 1 } }

    /// They have come, or will be on their own.
    package func endGathering() {
        let mustWake = state.withLock { state in
            state.gatherings -= 1
            return state.gatherings == 0 && state.isReachable && !state.contents.isEmpty
                && state.rouse()
        }
        if mustWake { wake() }
    }

    /// Asks the loop to give up on a submission that came before.
    package func cancel(_ id: TransportRequest.ID) {
        _ = leave { contents in
            contents.cancellations.append(
                .init(id: id, submittedBefore: contents.submissions.count))
        }
    }

    /// Asks the loop to move to new connections.
    package func replaceConnections() { _ = leave { $0.replacesConnections = true } }

    /// Asks the loop to shut down, and returns when it has left.
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

    /// Asks the loop to shut down; a shorter grace than one asked for earlier replaces it.
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

    /// Returns when the loop has left.
    package func waitUntilClosed() async {
        await withCheckedContinuation { continuation in
            let hasLeft = state.withLock { state in
                if state.phase != .left { state.waiters.append(continuation) }
                return state.phase == .left
            }
            if hasLeft { continuation.resume() }
        }
    }

    /// What the loop held at its last turn, and what has come in since.
    package var gauges: TransportGauges {
        state.withLock { state in
            var gauges = state.gauges
            if state.isReachable { gauges.queued += state.contents.submissions.count }
            return gauges
        }
    }

    /// Ends the loop's wait, with the lock given back: the loop may run before this thread goes on,
    /// and would only wait for the lock.
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

    /// Says what the loop holds.
    package func publish(_ gauges: TransportGauges) { state.withLock { $0.gauges = gauges } }

    /// Says that the loop is about to wait: for how many milliseconds it may, which is 0 if a
    /// message is there. While submissions gather it is short, since nothing else may end the wait.
    package func fallAsleep() -> Int64 {
        state.withLock { state in
            let isGathering = state.gatherings > 0 && !state.isPressing
            guard isGathering || state.contents.isEmpty else { return 0 }
            state.isAsleep = true
            state.naps = isGathering
            return isGathering ? Self.gatheringMilliseconds : .max
        }
    }

    /// The loop's last step: after this the reactor is not used. Answers messages that came too
    /// late.
    package func close(gauges: TransportGauges) -> Contents {
        let rest = state.withLock { state in
            state.phase = .closed
            state.gauges = gauges
            defer { state.contents = Contents() }
            return state.contents
        }
        // No thread begins to wake the loop from here on. One that has begun finishes within a
        // system call.
        while state.withLock({ $0.wakes > 0 }) { sched_yield() }
        return rest
    }

    /// Lets those go who wait for the end.
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
