// SPDX-License-Identifier: Apache-2.0

internal import APNsWire
internal import PushTransport

/// The replies of one batch of completions, on their way to those who wait for them.
struct Deliveries {
    private var callers: [(LoneCallers.Caller, LoneCallers.Answer)] = []
    /// Those that have replies to be handed on.
    private var groups: [SentPushes] = []

    /// Adds the answer to a lone push.
    mutating func add(
        _ outcome: consuming SentPushes.Outcome, mayGoAgain: Bool, to caller: LoneCallers.Caller
    ) {
        callers.append((caller, .init(result: outcome, mayGoAgain: mayGoAgain)))
    }

    /// Adds the reply to one push of a group.
    mutating func add(_ outcome: consuming SentPushes.Outcome, to sent: SentPushes, at index: Int) {
        if sent.add(outcome, at: index) { groups.append(sent) }
    }

    /// Tells each who waits, once. Holds no lock.
    func deliver() {
        resumeCallers()
        for sent in groups { sent.handOn() }
    }

    /// Resumes several callers from a task instead of from the transport's thread. There, each one
    /// would wake a thread of the pool for itself, which sends its next push and falls asleep
    /// before the next one is resumed; from a thread of the pool, they are queued up together.
    private func resumeCallers() {
        guard callers.count > 1 else {
            for (caller, answer) in callers { caller.resume(returning: answer) }
            return
        }
        Task.detached { [callers] in
            for (caller, answer) in callers { caller.resume(returning: answer) }
        }
    }
}
