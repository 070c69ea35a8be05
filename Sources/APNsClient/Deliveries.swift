// SPDX-License-Identifier: Apache-2.0

internal import APNsWire
internal import DequeModule
internal import LoopKit
internal import PushTransport
internal import Synchronization

/// The replies of one batch of completions, on their way to those who wait for them.
struct Deliveries {
    private var callers: Deque<LoneReply> = []
    /// Those that have replies to be handed on.
    private var groups: [SentPushes] = []

    /// With room for the answers to so many lone pushes.
    init(lonePushes: Int) { callers.reserveCapacity(lonePushes) }

    /// Adds the answer to a lone push.
    mutating func add(
        _ outcome: consuming SentPushes.Outcome, mayGoAgain: Bool, to caller: LoneCallers.Caller
    ) {
        callers.append(
            LoneReply(caller: caller, answer: .init(result: outcome, mayGoAgain: mayGoAgain)))
    }

    /// Adds the reply to one push of a group.
    mutating func add(_ outcome: consuming SentPushes.Outcome, to sent: SentPushes, at index: Int) {
        if sent.add(outcome, at: index) { groups.append(sent) }
    }

    /// Whether several lone pushes have their answers.
    var hasManyCallers: Bool { callers.count > 1 }

    /// Tells each who waits, once. Holds no lock. `transport` is the one on which those that have
    /// their answer may send their next push.
    consuming func deliver(by transport: (any PushTransport)?) {
        let groups = groups
        resumeCallers(transport)
        for sent in groups { sent.handOn() }
    }

    /// Resumes several callers from a task instead of from the transport's thread. There, each one
    /// would wake a thread of the pool for itself, which sends its next push and falls asleep
    /// before the next one is resumed; from a thread of the pool, they are queued up together.
    ///
    /// Their next pushes wait for each other, until the task has its turn again, behind them: the
    /// first would wake the transport's thread, which sends it alone, and so the server answers it
    /// alone, until each push goes by itself.
    private consuming func resumeCallers(_ transport: (any PushTransport)?) {
        guard hasManyCallers else {
            callers.resumeAll()
            return
        }
        transport?.beginGathering()
        let luggage = Luggage(callers)
        Task.detached {
            var callers = luggage.unpack()
            callers.resumeAll()
            await Task.yield()
            transport?.endGathering()
        }
    }
}

/// The answer to a lone push, and who waits for it.
private struct LoneReply: Sendable {
    let caller: LoneCallers.Caller
    let answer: LoneCallers.Answer
}

extension Deque<LoneReply> {
    /// Resumes them in their order. Each is moved out: to look at it where it is would copy it,
    /// and count up all that it refers to.
    fileprivate mutating func resumeAll() {
        while let reply = popFirst() { reply.caller.resume(returning: reply.answer) }
    }
}

/// Replies on their way to a task: what a closure holds can only be copied out of it.
private final class Luggage: Sendable {
    private let replies: StateLock<Deque<LoneReply>>

    init(_ replies: consuming Deque<LoneReply>) { self.replies = StateLock(replies) }

    /// All of them, once.
    func unpack() -> Deque<LoneReply> {
        replies.withLock { replies in
            var taken: Deque<LoneReply> = []
            swap(&taken, &replies)
            return taken
        }
    }
}
