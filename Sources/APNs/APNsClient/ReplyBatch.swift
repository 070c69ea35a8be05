// SPDX-License-Identifier: Apache-2.0

internal import APNsWire
internal import PushTransport

/// The replies of one batch of completions, on their way to those who wait for them.
struct ReplyBatch {
    private var callers: [LoneReply] = []
    /// Those that have replies to be handed on.
    private var groups: [SentPushes] = []

    /// With room for the answers to so many lone pushes.
    init(lonePushes: Int) { callers.reserveCapacity(lonePushes) }

    /// Adds the answer to a lone push.
    mutating func add(
        _ outcome: consuming SentPushes.Outcome, mayGoAgain: Bool, to caller: PendingSends.Caller
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

    /// Resumes every waiting caller once, and empties the batch. Holds no lock. `transport` is the
    /// one on which those that have their answer may send their next push.
    mutating func deliver(by transport: (any PushTransport)?) {
        resumeCallers(transport)
        for sent in groups { sent.handOn() }
        groups = []
    }

    /// Resumes several callers from a task instead of from the transport's thread. There, each one
    /// would wake a thread of the pool for itself, which sends its next push and falls asleep
    /// before the next one is resumed; from a thread of the pool, they are queued up together.
    ///
    /// Their next pushes wait for each other, until the task has its turn again, behind them: the
    /// first would wake the transport's thread, which sends it alone, and so the server answers it
    /// alone, until each push goes by itself.
    private mutating func resumeCallers(_ transport: (any PushTransport)?) {
        guard hasManyCallers else {
            callers.first?.resume()
            callers = []
            return
        }
        transport?.beginGathering()
        let replies = callers
        callers = []
        Task.detached {
            for reply in replies { reply.resume() }
            await Task.yield()
            transport?.endGathering()
        }
    }
}

/// The answer to a lone push, and who waits for it.
private struct LoneReply: Sendable {
    let caller: PendingSends.Caller
    let answer: PendingSends.Answer

    func resume() { caller.resume(returning: answer) }
}
