// SPDX-License-Identifier: Apache-2.0

internal import APNsWire
internal import CCacheHints
internal import DequeModule
internal import LoopKit
internal import PushTransport
internal import Synchronization

/// The replies of one batch of completions, on their way to those who wait for them.
struct ReplyBatch {
    private var callers: Deque<LoneReply> = []
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

    /// Tells each who waits, and forgets them: each is told once. Holds no lock. `transport` is the
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
            if let reply = callers.popFirst() { reply.resume() }
            return
        }
        transport?.beginGathering()
        // Of a deque with two owners, the one that takes from it would copy it first.
        var replies: Deque<LoneReply> = []
        swap(&replies, &callers)
        let luggage = Luggage(consume replies)
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
    let caller: PendingSends.Caller
    let answer: PendingSends.Answer

    func resume() { caller.resume(returning: answer) }
}

extension Deque<LoneReply> {
    /// For whose memory is asked, so many places ahead of the one that is resumed: those between
    /// take as long as the memory.
    private static var lookahead: Int { 5 }

    /// Resumes them in their order. Each is moved out: a copy would count up all that it refers to.
    fileprivate mutating func resumeAll() {
        for place in indices.prefix(Self.lookahead) { self[place].caller.prefetchTask() }
        while let reply = popFirst() {
            if count >= Self.lookahead { self[Self.lookahead - 1].caller.prefetchTask() }
            reply.resume()
        }
    }
}

extension PendingSends.Caller {
    /// Asks the processor for the memory of the task that waits.
    ///
    /// A thousand tasks that have slept for the time of an answer are in no near cache any more,
    /// and to wake each up waits for its memory, piece by piece: for some hundredths of the
    /// time that a push takes.
    fileprivate func prefetchTask() {
        // SAFETY: read within its bounds, as a number. It is the address of the task, but nothing
        // depends on that: it is a hint's, which any number may be.
        withUnsafeBytes(of: self) { bytes in
            guard bytes.count >= MemoryLayout<UInt>.size else { return }
            CCacheHints_prefetch(bytes.loadUnaligned(as: UInt.self), Self.prefetchedLines)
        }
    }

    /// 896 bytes: most of a task that waits in `send(_:timeout:)`. To ask for 1536 brought no more.
    private static var prefetchedLines: Int { 14 }
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
