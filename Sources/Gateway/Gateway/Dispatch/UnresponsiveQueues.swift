// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// Which queues APNs has not answered for a while: there is no way to it, or it says nothing.
///
/// Nothing is held back for that, because each wake is tried again by itself. It is told, because
/// the wakes alone do not show it: each of them is due later, again and again.
struct UnresponsiveQueues: Sendable {
    /// A queue without answers.
    struct Silence: Hashable, Sendable {
        /// When the first push failed that nothing was answered after.
        let since: WallInstant
        /// When the latest failed.
        var latest: WallInstant
        /// How, in words.
        var failure: String
        /// Whether it has lasted long enough to be told.
        var isTold: Bool
    }

    /// What changed for those who are told.
    enum Change: Hashable {
        case began(Silence)
        case ended
        case none
    }

    private var silences: [WakeQueueKey: Silence] = [:]
    private let patienceMilliseconds: Int64

    /// No queue is silent.
    init(limits: GatewayLimits) { patienceMilliseconds = Int64(limits.silenceSeconds) * 1000 }

    /// The silence of a queue, while it is told. One of which nothing was tried lately is over: a
    /// gateway that is not ready because of it might not be given anything to try.
    func silence(of queue: WakeQueueKey, at now: WallInstant) -> Silence? {
        guard let silence = silences[queue], silence.isTold, !isOver(silence, at: now) else {
            return nil
        }
        return silence
    }

    private func isOver(_ silence: Silence, at now: WallInstant) -> Bool {
        abs(now.milliseconds(since: silence.latest)) >= 3 * patienceMilliseconds
    }

    /// The queues that are told as silent.
    func told(at now: WallInstant) -> [(queue: WakeQueueKey, silence: Silence)] {
        silences.keys.compactMap { queue in silence(of: queue, at: now).map { (queue, $0) } }
    }

    /// What came of an attempt.
    mutating func note(
        _ signal: RetryPolicy.QueueSignal, on queue: WakeQueueKey, now: WallInstant
    ) -> Change {
        guard case .unanswered(let failure) = signal else {
            guard !silences.isEmpty, let ended = silences.removeValue(forKey: queue) else {
                return .none
            }
            return ended.isTold ? .ended : .none
        }
        // One long ago is of another time: of what was in between nothing is known.
        let known = silences[queue].flatMap { isOver($0, at: now) ? nil : $0 }
        var silence =
            known ?? Silence(since: now, latest: now, failure: failure, isTold: false)
        silence.latest = now
        silence.failure = failure
        let isNew =
            !silence.isTold && now.milliseconds(since: silence.since) >= patienceMilliseconds
        if isNew { silence.isTold = true }
        silences[queue] = silence
        return isNew ? .began(silence) : .none
    }

    /// Forgets all but these queues: the sender of the others is another one.
    mutating func reset(keeping queues: Set<WakeQueueKey>) {
        silences = silences.filter { queues.contains($0.key) }
    }
}
