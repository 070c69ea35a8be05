// SPDX-License-Identifier: Apache-2.0

internal import PushTransport
internal import Synchronization
internal import WakeModel

/// Who waits for the reply to one push.
enum Receiver: Sendable {
    typealias Outcome = Result<PushOutcome, TransportFailure>

    /// One caller of `send(_:)`. The index is always 0.
    case continuation(CheckedContinuation<Outcome, Never>, Int)
    /// A caller who wants all replies of a batch at once.
    case batch(ReplyBatch, index: Int)
    /// A caller who takes replies as they come.
    case receiver(ReplyReceiver, index: Int)
}

/// Gathers the replies of a batch until all are there.
final class ReplyBatch: Sendable {
    private struct State {
        var replies: [PushReply?]
        var missing: Int
    }

    private let state: Mutex<State>
    private let finish: @Sendable ([PushReply]) -> Void

    init(count: Int, finish: @escaping @Sendable ([PushReply]) -> Void) {
        state = Mutex(State(replies: Array(repeating: nil, count: count), missing: count))
        self.finish = finish
    }

    func add(_ replies: [PushReply]) {
        let complete = state.withLock { state -> [PushReply]? in
            for reply in replies {
                precondition(state.replies[reply.index] == nil, "A push was answered twice.")
                state.replies[reply.index] = reply
            }
            state.missing -= replies.count
            return state.missing == 0 ? state.replies.compactMap(\.self) : nil
        }
        if let complete { finish(complete) }
    }
}

/// Takes replies in groups.
final class ReplyReceiver: Sendable {
    let receive: @Sendable ([PushReply]) -> Void

    init(_ receive: @escaping @Sendable ([PushReply]) -> Void) { self.receive = receive }
}

/// Sorts the replies of one batch of completions by who waits for them, so that each waiter is
/// told once.
struct ReplyRouter {
    private var continuations: [(CheckedContinuation<Receiver.Outcome, Never>, Receiver.Outcome)] =
        []
    private var batches: [ObjectIdentifier: (ReplyBatch, [PushReply])] = [:]
    private var receivers: [ObjectIdentifier: (ReplyReceiver, [PushReply])] = [:]

    mutating func add(_ result: Receiver.Outcome, to receiver: Receiver) {
        switch receiver {
        case .continuation(let continuation, _): continuations.append((continuation, result))
        case .batch(let batch, let index):
            batches[ObjectIdentifier(batch), default: (batch, [])].1.append(
                PushReply(index: index, result: result))
        case .receiver(let receiver, let index):
            receivers[ObjectIdentifier(receiver), default: (receiver, [])].1.append(
                PushReply(index: index, result: result))
        }
    }

    func deliver() {
        resumeContinuations()
        for (batch, replies) in batches.values { batch.add(replies) }
        for (receiver, replies) in receivers.values { receiver.receive(replies) }
    }

    /// Resumes several callers from a task instead of from the transport's thread. There, each one
    /// would wake a thread of the pool for itself, which sends its next push and falls asleep
    /// before the next one is resumed; from a thread of the pool, they are queued up together.
    private func resumeContinuations() {
        guard continuations.count > 1 else {
            for (continuation, result) in continuations { continuation.resume(returning: result) }
            return
        }
        Task.detached { [continuations] in
            for (continuation, result) in continuations { continuation.resume(returning: result) }
        }
    }
}
