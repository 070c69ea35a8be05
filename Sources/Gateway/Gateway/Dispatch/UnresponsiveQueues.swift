// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// The queues that APNs has not answered for a while: it is unreachable, or does not respond.
///
/// It holds nothing, because each wake is retried separately. It is reported, because the wakes do
/// not show it: each of them is only due later.
struct UnresponsiveQueues: Sendable {
    /// A queue without answers.
    struct Silence: Hashable, Sendable {
        /// The time of the first failed push after which nothing was answered.
        let since: WallInstant
        /// The time of the latest failure.
        var latest: WallInstant
        /// The latest failure, as a sentence.
        var failure: String
        /// Whether it has lasted long enough to be reported.
        var isTold: Bool
    }

    /// A change that is reported.
    enum Change: Hashable {
        case began(Silence)
        case ended
        case none
    }

    private var silences: [WakeQueueKey: Silence] = [:]
    private let patienceMilliseconds: Int64

    /// Creates a set without unresponsive queues.
    init(limits: GatewayLimits) { patienceMilliseconds = Int64(limits.silenceSeconds) * 1000 }

    /// The silence of a queue, while it is reported. It ends when nothing was tried recently: a
    /// gateway that is not ready because of it might receive no pushes to try.
    func silence(of queue: WakeQueueKey, at now: WallInstant) -> Silence? {
        guard let silence = silences[queue], silence.isTold, !isOver(silence, at: now) else {
            return nil
        }
        return silence
    }

    private func isOver(_ silence: Silence, at now: WallInstant) -> Bool {
        abs(now.milliseconds(since: silence.latest)) >= 3 * patienceMilliseconds
    }

    /// The queues that are reported as unresponsive.
    func told(at now: WallInstant) -> [(queue: WakeQueueKey, silence: Silence)] {
        silences.keys.compactMap { queue in silence(of: queue, at: now).map { (queue, $0) } }
    }

    /// Records the result of an attempt.
    mutating func note(
        _ signal: RetryPolicy.QueueSignal, on queue: WakeQueueKey, now: WallInstant
    ) -> Change {
        guard case .unanswered(let failure) = signal else {
            guard !silences.isEmpty, let ended = silences.removeValue(forKey: queue) else {
                return .none
            }
            return ended.isTold ? .ended : .none
        }
        // An earlier failure long ago does not count, because nothing is known of the time between.
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

    /// Removes all but these queues, because the others have a new sender.
    mutating func reset(keeping queues: Set<WakeQueueKey>) {
        silences = silences.filter { queues.contains($0.key) }
    }
}
