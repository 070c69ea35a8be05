// SPDX-License-Identifier: Apache-2.0

internal import CCurlShims
internal import PushTransport
internal import Synchronization

/// What the front and the loop share: messages in, gauges out.
///
/// Messages are appended under a lock and swapped out whole, and the loop is woken only if it said
/// that it sleeps, so under load a submission costs one short lock and no system call.
final class Mailbox: Sendable {
    /// Everything that came in since the last look.
    struct Contents {
        var submissions: [Submission] = []
        var cancellations: [Cancellation] = []
        var replacesConnections = false
        /// When shutdown was asked for: the time left for what is in flight.
        var shutdownGrace: Duration?

        /// A cancellation, and how many of `submissions` came before it.
        struct Cancellation {
            let id: Submission.ID
            let submittedBefore: Int
        }

        var isEmpty: Bool {
            submissions.isEmpty && cancellations.isEmpty && !replacesConnections
                && shutdownGrace == nil
        }
    }

    private struct State {
        var contents = Contents()
        var isAsleep = false
        var phase = Phase.open
        var gauges = TransportGauges()
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private enum Phase {
        case open
        case shuttingDown
        /// The loop has left; its reactor may be gone.
        case closed
    }

    /// A reactor, for waking it alone.
    ///
    /// `@unchecked`: the pointer is not Sendable by itself. The one function called through it,
    /// `CCurlReactor_wake`, may be called from any thread until the reactor is destroyed; it is
    /// called only under the lock and before the phase `closed`, and the loop enters that phase,
    /// under the same lock, before it destroys the reactor.
    private struct Waker: @unchecked Sendable {
        let reactor: OpaquePointer
    }

    private let state = StateLock(State())
    private let waker: Waker

    init(reactor: OpaquePointer) { waker = Waker(reactor: reactor) }

    // MARK: The front's side

    /// Leaves messages for the loop. False once shutdown has begun: then nothing was left.
    func leave(_ edit: (inout Contents) -> Void) -> Bool {
        state.withLock { state in
            guard state.phase == .open else { return false }
            edit(&state.contents)
            wake(&state)
            return true
        }
    }

    /// Asks the loop to shut down; a shorter grace than one asked for earlier replaces it.
    func requestShutdown(grace: Duration) {
        state.withLock { state in
            guard state.phase != .closed else { return }
            state.phase = .shuttingDown
            state.contents.shutdownGrace = min(grace, state.contents.shutdownGrace ?? grace)
            wake(&state)
        }
    }

    /// Returns when the loop has left.
    func waitUntilClosed() async {
        await withCheckedContinuation { continuation in
            let isClosed = state.withLock { state in
                if state.phase != .closed { state.waiters.append(continuation) }
                return state.phase == .closed
            }
            if isClosed { continuation.resume() }
        }
    }

    /// What the loop held at its last turn, and what has come in since.
    var gauges: TransportGauges {
        state.withLock { state in
            var gauges = state.gauges
            if state.phase != .closed { gauges.queued += state.contents.submissions.count }
            return gauges
        }
    }

    private func wake(_ state: inout State) {
        guard state.isAsleep else { return }
        state.isAsleep = false
        CCurlReactor_wake(waker.reactor)
    }

    // MARK: The loop's side

    /// Takes all messages into `contents`, which must be empty and whose storage is reused.
    func take(into contents: inout Contents) {
        state.withLock { state in
            state.isAsleep = false
            swap(&state.contents, &contents)
        }
    }

    /// Says what the loop holds.
    func publish(_ gauges: TransportGauges) { state.withLock { $0.gauges = gauges } }

    /// Says that the loop is about to wait. False if a message is there, so that it must not.
    func mayFallAsleep() -> Bool {
        state.withLock { state in
            guard state.contents.isEmpty else { return false }
            state.isAsleep = true
            return true
        }
    }

    /// The loop's last act: from here on nobody touches the reactor. Answers what came too late.
    func close(gauges: TransportGauges) -> Contents {
        state.withLock { state in
            state.phase = .closed
            state.gauges = gauges
            return state.contents
        }
    }

    /// Lets those go who wait for the end.
    func releaseWaiters() {
        let waiters = state.withLock { state in
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}
