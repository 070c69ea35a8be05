// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// Which queues are held back because APNs refuses whatever they send: a circuit for each queue.
///
/// A held queue sends nothing until its pause is over, then one wake as a probe. An answer that
/// blames neither key nor topic ends the hold; another refusal doubles the pause. The wakes of a
/// held queue wait, until their deadline at the longest.
struct HeldQueues: Sendable {
    /// One held queue.
    struct DelayReason: Hashable, Sendable {
        /// Why, in words.
        var reason: String
        /// Since when.
        var since: WallInstant
        /// When the next probe may go out.
        var probeAt: WallInstant
        /// How long after an attempt that is, in seconds.
        var pauseSeconds: Int
        /// How often the queue was refused in a row.
        var refusals: Int
        /// Whether a probe is out.
        var isProbing: Bool
    }

    /// The held queues.
    private(set) var holds: [WakeQueueKey: DelayReason] = [:]

    private let pauseSeconds: Int
    private let maximumPauseSeconds: Int

    /// No queue is held; pauses as the limits say.
    init(limits: GatewayLimits) {
        pauseSeconds = limits.holdPauseSeconds
        maximumPauseSeconds = limits.holdPauseMaximumSeconds
    }

    /// How many wakes each queue may send now: `limit` for a free one, one for a probe.
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

    /// Whether the queue is held back, a probe or not.
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

    /// A wake was claimed from the queue: if it is held, that is its probe.
    mutating func claimed(_ queue: WakeQueueKey) {
        holds[queue]?.isProbing = true
    }

    /// Records the result of an attempt. Returns whether a hold began or ended by it.
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

    /// A probe came back without an answer, or was never sent: the next may go after a pause.
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
            holds[queue] = DelayReason(
                reason: reason, since: now, probeAt: now.advanced(bySeconds: Int64(pause)),
                pauseSeconds: pause, refusals: 1, isProbing: false)
            return .began
        }
        // Answers to what was already in flight when the hold began must not lengthen it.
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
