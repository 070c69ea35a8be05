// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// The queues that are held because APNs refuses all that they send, each with a circuit breaker.
///
/// A held queue sends nothing for a time, then one wake as a probe. An answer that is not about key
/// or topic ends the hold; another refusal doubles the time. The wakes of a held queue wait until
/// their deadline.
struct HeldQueues: Sendable {
    /// One held queue.
    struct Hold: Hashable, Sendable {
        /// The reason, as a sentence.
        var reason: String
        /// The start of the hold.
        var since: WallInstant
        /// The time of the next probe.
        var probeAt: WallInstant
        /// The time from an attempt to the next probe, in seconds.
        var pauseSeconds: Int
        /// The number of consecutive refusals.
        var refusals: Int
        /// Whether a probe is in flight.
        var isProbing: Bool
    }

    /// The held queues.
    private(set) var holds: [WakeQueueKey: Hold] = [:]

    private let pauseSeconds: Int
    private let maximumPauseSeconds: Int

    /// Creates a set without held queues, with the times of the limits.
    init(limits: GatewayLimits) {
        pauseSeconds = limits.holdPauseSeconds
        maximumPauseSeconds = limits.holdPauseMaximumSeconds
    }

    /// The number of wakes that each queue may send now: `limit` without a hold, one for a probe.
    func shares(of queues: [WakeQueueKey], limit: Int, now: WallInstant) -> [ClaimOrder.Share] {
        guard !holds.isEmpty else {
            return queues.map { ClaimOrder.Share(queue: $0, limit: limit) }
        }
        return queues.compactMap { queue in
            guard let hold = holds[queue] else {
                return ClaimOrder.Share(queue: queue, limit: limit)
            }
            guard !hold.isProbing, hold.probeAt <= now else { return nil }
            return ClaimOrder.Share(queue: queue, limit: min(1, limit))
        }
    }

    /// Whether the queue is held, with or without a probe in flight.
    func isHeld(_ queue: WakeQueueKey) -> Bool { !holds.isEmpty && holds[queue] != nil }

    /// The state of the queue's circuit.
    func circuit(of queue: WakeQueueKey) -> Circuit {
        guard let hold = holds[queue] else { return .closed }
        return hold.isProbing
            ? .probing(reason: hold.reason, since: hold.since)
            : .open(reason: hold.reason, since: hold.since, probeAt: hold.probeAt)
    }

    /// Ends the holds of these queues: the cause of the refusal may have been fixed. Returns those
    /// that were held.
    mutating func reset(_ queues: [WakeQueueKey]) -> [WakeQueueKey] {
        queues.filter { holds.removeValue(forKey: $0) != nil }
    }

    /// Ends all holds. Returns the queues that were held, in the order of their names.
    mutating func resetAll() -> [WakeQueueKey] {
        defer { holds = [:] }
        return holds.keys.sorted { $0.description < $1.description }
    }

    /// When, after `now`, the next held queue may send its probe.
    func nextProbe(after now: WallInstant) -> WallInstant? {
        holds.values.filter { !$0.isProbing && $0.probeAt > now }.map(\.probeAt).min()
    }

    /// Records a claim from the queue: if it is held, that is its probe.
    mutating func claimed(_ queue: WakeQueueKey) {
        holds[queue]?.isProbing = true
    }

    /// Records the result of an attempt. Returns whether a hold began or ended.
    @discardableResult
    mutating func note(
        _ signal: RetryPolicy.QueueSignal, on queue: WakeQueueKey, now: WallInstant
    ) -> Change {
        switch signal {
        case .answered:
            return holds.removeValue(forKey: queue) == nil ? .none : .ended
        case .unanswered:
            probeEnded(queue, now: now)
            return .none
        case .blocked(let reason, let minimumSeconds):
            return block(queue, reason: reason, minimumSeconds: minimumSeconds ?? 0, now: now)
        }
    }

    /// Records a probe without an answer, or one that was not sent: the next may be sent after a
    /// pause.
    mutating func probeEnded(_ queue: WakeQueueKey, now: WallInstant) {
        guard holds[queue]?.isProbing == true else { return }
        holds[queue]?.isProbing = false
        holds[queue]?.pauseSeconds = pauseSeconds
        holds[queue]?.probeAt = now.advanced(bySeconds: Int64(pauseSeconds))
    }

    /// A clock that was set back must not lengthen pauses.
    mutating func clockStands(at now: WallInstant) {
        guard !holds.isEmpty else { return }
        for (queue, hold) in holds {
            let latest = now.advanced(bySeconds: Int64(hold.pauseSeconds))
            if hold.probeAt > latest { holds[queue]?.probeAt = latest }
        }
    }

    /// Whether a hold began or ended.
    enum Change: Hashable {
        case began
        case ended
        case none
    }

    private mutating func block(
        _ queue: WakeQueueKey, reason: String, minimumSeconds: Int, now: WallInstant
    ) -> Change {
        guard var hold = holds[queue] else {
            let pause = max(pauseSeconds, minimumSeconds)
            holds[queue] = Hold(
                reason: reason, since: now, probeAt: now.advanced(bySeconds: Int64(pause)),
                pauseSeconds: pause, refusals: 1, isProbing: false)
            return .began
        }
        // Answers to wakes that were in flight when the hold began must not lengthen it.
        guard hold.isProbing else { return .none }
        hold.isProbing = false
        hold.refusals += 1
        hold.reason = reason
        let backoff = RejectionReason.Backoff(
            initialSeconds: pauseSeconds, maximumSeconds: maximumPauseSeconds)
        hold.pauseSeconds = max(backoff.delaySeconds(attempt: hold.refusals), minimumSeconds)
        hold.probeAt = now.advanced(bySeconds: Int64(hold.pauseSeconds))
        holds[queue] = hold
        return .none
    }
}
