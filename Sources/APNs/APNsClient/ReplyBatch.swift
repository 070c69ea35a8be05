// SPDX-License-Identifier: Apache-2.0

internal import APNsWire
internal import PushTransport

/// The replies of one batch of completions, which are to be delivered.
struct ReplyBatch {
    private var callers: [LoneReply] = []
    /// Groups with replies to deliver.
    private var groups: [SentPushes] = []

    /// Reserves room for the answers to so many single pushes.
    init(lonePushes: Int) { callers.reserveCapacity(lonePushes) }

    /// Adds the answer to a single push.
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

    /// Whether it has the answers to several single pushes.
    var hasManyCallers: Bool { callers.count > 1 }

    /// Resumes every waiting caller once, and empties the batch. Call it without a lock.
    /// `transport` is the one on which the resumed callers may send their next push.
    mutating func deliver(by transport: (any PushTransport)?) {
        resumeCallers(transport)
        for sent in groups { sent.handOn() }
        groups = []
    }

    /// Resumes several callers from a task instead of from the transport's thread. There, each
    /// resumption would wake a thread of the pool, which sends the next push and sleeps again
    /// before the next caller is resumed; from a thread of the pool, the callers are queued
    /// together.
    ///
    /// Their next pushes are gathered until the task runs again, after them. Otherwise the first
    /// would wake the transport's thread, which would send it alone; the server would answer it
    /// alone, and soon each push would be sent alone.
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

/// The answer to a single push, and its caller.
private struct LoneReply: Sendable {
    let caller: PendingSends.Caller
    let answer: PendingSends.Answer

    func resume() { caller.resume(returning: answer) }
}
