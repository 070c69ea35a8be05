// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// Which lanes are held back because APNs refuses whatever they send: a circuit for each lane.
///
/// A held lane sends nothing until its pause is over, then one wake as a probe. An answer that
/// blames neither key nor topic ends the hold; another refusal doubles the pause. The wakes of a
/// held lane wait, and lose nothing but time.
struct LaneHolds: Sendable {
    /// One held lane.
    struct Hold: Hashable, Sendable {
        /// Why, in words.
        var reason: String
        /// Since when.
        var since: WallInstant
        /// When the next probe may go out.
        var probeAt: WallInstant
        /// How long after an attempt that is, in seconds.
        var pauseSeconds: Int
        /// How often the lane was refused in a row.
        var refusals: Int
        /// Whether a probe is out.
        var isProbing: Bool
    }

    /// The held lanes.
    private(set) var holds: [Lane: Hold] = [:]

    private let pauseSeconds: Int
    private let maximumPauseSeconds: Int

    /// No lane is held; pauses as the limits say.
    init(limits: GatewayLimits) {
        pauseSeconds = limits.holdPauseSeconds
        maximumPauseSeconds = limits.holdPauseMaximumSeconds
    }

    /// How many wakes each lane may send now: `limit` for a free one, one for a probe.
    func shares(of lanes: [Lane], limit: Int, now: WallInstant) -> [ClaimOrder.Share] {
        guard !holds.isEmpty else { return lanes.map { ClaimOrder.Share(lane: $0, limit: limit) } }
        return lanes.compactMap { lane in
            guard let hold = holds[lane] else {
                return ClaimOrder.Share(lane: lane, limit: limit)
            }
            guard !hold.isProbing, hold.probeAt <= now else { return nil }
            return ClaimOrder.Share(lane: lane, limit: min(1, limit))
        }
    }

    /// Whether the lane is held back, a probe or not.
    func isHeld(_ lane: Lane) -> Bool { !holds.isEmpty && holds[lane] != nil }

    /// How the lane stands.
    func circuit(of lane: Lane) -> Circuit {
        guard let hold = holds[lane] else { return .closed }
        return hold.isProbing
            ? .probing(reason: hold.reason, since: hold.since)
            : .open(reason: hold.reason, since: hold.since, probeAt: hold.probeAt)
    }

    /// Ends the holds of these lanes: whatever they were refused for may have been mended. Returns
    /// those that were held.
    mutating func reset(_ lanes: [Lane]) -> [Lane] {
        lanes.filter { holds.removeValue(forKey: $0) != nil }
    }

    /// Ends all holds. Returns the lanes that were held, in the order of their names.
    mutating func resetAll() -> [Lane] {
        defer { holds = [:] }
        return holds.keys.sorted { $0.description < $1.description }
    }

    /// When, after `now`, the next held lane may send its probe.
    func nextProbe(after now: WallInstant) -> WallInstant? {
        holds.values.filter { !$0.isProbing && $0.probeAt > now }.map(\.probeAt).min()
    }

    /// A wake was claimed from the lane: if it is held, that is its probe.
    mutating func claimed(_ lane: Lane) {
        holds[lane]?.isProbing = true
    }

    /// What came of an attempt. Returns whether a hold began or ended by it.
    @discardableResult
    mutating func note(_ signal: RetryPolicy.LaneSignal, on lane: Lane, now: WallInstant) -> Change
    {
        switch signal {
        case .answered:
            return holds.removeValue(forKey: lane) == nil ? .none : .ended
        case .unanswered:
            probeEnded(lane, now: now)
            return .none
        case .blocked(let reason, let minimumSeconds):
            return block(lane, reason: reason, minimumSeconds: minimumSeconds ?? 0, now: now)
        }
    }

    /// A probe came back without an answer, or was never sent: the next may go after a pause.
    mutating func probeEnded(_ lane: Lane, now: WallInstant) {
        guard holds[lane]?.isProbing == true else { return }
        holds[lane]?.isProbing = false
        holds[lane]?.pauseSeconds = pauseSeconds
        holds[lane]?.probeAt = now.advanced(bySeconds: Int64(pauseSeconds))
    }

    /// A clock that was set back must not lengthen pauses.
    mutating func clockStands(at now: WallInstant) {
        guard !holds.isEmpty else { return }
        for (lane, hold) in holds {
            let latest = now.advanced(bySeconds: Int64(hold.pauseSeconds))
            if hold.probeAt > latest { holds[lane]?.probeAt = latest }
        }
    }

    /// Whether a hold began or ended.
    enum Change: Hashable {
        case began
        case ended
        case none
    }

    private mutating func block(
        _ lane: Lane, reason: String, minimumSeconds: Int, now: WallInstant
    ) -> Change {
        guard var hold = holds[lane] else {
            let pause = max(pauseSeconds, minimumSeconds)
            holds[lane] = Hold(
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
        holds[lane] = hold
        return .none
    }
}
