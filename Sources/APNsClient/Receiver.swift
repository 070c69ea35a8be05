// SPDX-License-Identifier: Apache-2.0

internal import PushTransport
internal import WakeModel

/// Who waits for the replies to the pushes of one call.
enum Receiver: Sendable {
    typealias Outcome = Result<PushOutcome, TransportFailure>

    /// The caller of `send(_:)` with one push.
    ///
    /// Unsafe only in name: the transport's contract is one answer for each submission, and
    /// ``InFlightPushes`` traps on a second one, so that it is resumed exactly once. A checked
    /// continuation costs an allocation for each push to find that out again.
    case caller(UnsafeContinuation<Outcome, Never>)
    /// A caller who wants all replies of a batch at once, in the order of its pushes.
    case collector(@Sendable ([PushReply]) -> Void)
    /// A caller who takes replies as they come.
    case stream(@Sendable ([PushReply]) -> Void)
}

/// The replies of one batch of completions, on their way to those who wait for them.
struct Deliveries {
    private var callers: [(UnsafeContinuation<Receiver.Outcome, Never>, Receiver.Outcome)] = []
    private var groups: [(@Sendable ([PushReply]) -> Void, [PushReply])] = []
    /// Groups that are complete: their pushes are let go of outside the lock.
    private var finished: [InFlightPushes.Group] = []

    mutating func add(
        _ outcome: Receiver.Outcome, to caller: UnsafeContinuation<Receiver.Outcome, Never>
    ) {
        callers.append((caller, outcome))
    }

    mutating func add(_ replies: [PushReply], to receive: @escaping @Sendable ([PushReply]) -> Void)
    {
        groups.append((receive, replies))
    }

    mutating func letGo(of group: consuming InFlightPushes.Group) { finished.append(group) }

    /// Tells each who waits, once. Holds no lock.
    func deliver() {
        resumeCallers()
        for (receive, replies) in groups { receive(replies) }
    }

    /// Resumes several callers from a task instead of from the transport's thread. There, each one
    /// would wake a thread of the pool for itself, which sends its next push and falls asleep
    /// before the next one is resumed; from a thread of the pool, they are queued up together.
    private func resumeCallers() {
        guard callers.count > 1 else {
            for (caller, outcome) in callers { caller.resume(returning: outcome) }
            return
        }
        Task.detached { [callers] in
            for (caller, outcome) in callers { caller.resume(returning: outcome) }
        }
    }
}
