// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// The limits of wakes in flight for each queue (app, environment, push type), so that a queue
/// whose pushes are not answered does not use the slots of the others.
///
/// - All queues share a pool (``GatewayLimits/inFlightCount``), and one that is alone may use all
///   of it. Among queues with due wakes the one with the fewest in flight is served first.
/// - Each queue may have a few in flight regardless of the others
///   (``GatewayLimits/queueReserveCount``), so none ever waits for another's answers.
/// - A queue begins with a window (``GatewayLimits/queueWindowCount``) that grows by one with each
///   answer, so a queue that APNs does not answer from the start never uses much of the pool.
/// - A queue that gets no answers is unresponsive: it has a few probes in flight until an answer
///   comes, and its other wakes in flight no longer count against the pool, up to the size of the
///   pool.
///
/// A pure value: time is an argument. Linear in the number of queues that are in use.
struct QueueShares: Sendable {
    private struct Queue {
        /// Wakes that are claimed and not settled, and slots reserved by an admission.
        var inFlight = 0
        /// The limit of wakes in flight by its answers.
        var window: Int
        /// How many pushes were passed to the sender and have no result yet. Beside them in flight
        /// is what waits to be settled, which APNs has answered.
        var unansweredCount = 0
        /// When the first push was sent that nothing was answered after, among those without a
        /// result.
        var unansweredSince: WallInstant?
        /// The number of pushes that failed since the last answer.
        var failures = 0
        /// The time of the last answer.
        var answeredAt: WallInstant?
        /// The time of the last claim.
        var claimedAt: WallInstant?
    }

    private let limits: GatewayLimits
    private var queues: [WakeQueueKey: Queue] = [:]
    /// The wakes in flight of all queues, with the slots that admissions reserved.
    private(set) var inFlight = 0

    /// Creates shares with nothing in flight.
    init(limits: GatewayLimits) { self.limits = limits }

    // MARK: Room

    /// The number of free slots of a queue.
    func room(for key: WakeQueueKey, at now: WallInstant) -> Int {
        room(for: key, besides: poolRoom(at: now), at: now).total
    }

    /// The limit of a claim for each queue, the queue with the fewest in flight first; queues
    /// without free slots are omitted. `limit` is the limit for all of them.
    func order(
        of shares: [ClaimOrder.Share], limit: Int, at now: WallInstant
    ) -> (shares: [ClaimOrder.Share], limit: Int) {
        let pool = poolRoom(at: now)
        var reserved = 0
        var ordered: [(share: ClaimOrder.Share, inFlight: Int)] = []
        for share in shares {
            let room = room(for: share.queue, besides: pool, at: now)
            let most = min(share.limit, room.total, limit)
            guard most > 0 else { continue }
            reserved += min(room.own, most)
            ordered.append(
                (
                    ClaimOrder.Share(queue: share.queue, limit: most),
                    queues[share.queue]?.inFlight ?? 0
                ))
        }
        // By place among equals: the caller rotates them.
        let sorted = ordered.enumerated().sorted {
            ($0.element.inFlight, $0.offset) < ($1.element.inFlight, $1.offset)
        }
        // All of these queues are of one kind.
        let free = shares.first.map { pool.room(for: $0.queue.kind) } ?? 0
        return (sorted.map(\.element.share), min(limit, max(0, free) + reserved))
    }

    /// The free slots of the pool.
    private struct PoolRoom {
        let count: Int
        let voipReserveCount: Int

        /// The part of it for wakes of a kind. Not positive when there is none.
        func room(for kind: WakeKind) -> Int {
            kind.isImmediate ? count : count - voipReserveCount
        }
    }

    private func poolRoom(at now: WallInstant) -> PoolRoom {
        var taken = 0
        for queue in queues.values {
            taken +=
                isUnresponsive(queue, at: now)
                ? min(queue.inFlight, limits.queueProbeCount) : queue.inFlight
        }
        return PoolRoom(
            count: min(limits.inFlightCount - taken, 2 * limits.inFlightCount - inFlight),
            voipReserveCount: limits.voipReserveCount)
    }

    /// The number of free slots of a queue, and how many of them are independent of the others.
    private func room(
        for key: WakeQueueKey, besides pool: PoolRoom, at now: WallInstant
    ) -> (total: Int, own: Int) {
        let queue = queues[key] ?? Queue(window: limits.firstWindowCount)
        guard !isUnresponsive(queue, at: now) else {
            let probes = probeRoom(of: queue, at: now)
            return (probes, probes)
        }
        let byWindow = max(0, queue.window - queue.inFlight)
        let own = max(0, min(byWindow, limits.ownReserveCount - queue.inFlight))
        return (max(own, min(byWindow, pool.room(for: key.kind))), own)
    }

    /// A few probes at a time, and one more at intervals: a push may take long to fail, and APNs
    /// may answer a new one before that.
    private func probeRoom(of queue: Queue, at now: WallInstant) -> Int {
        if queue.inFlight < limits.queueProbeCount {
            return limits.queueProbeCount - queue.inFlight
        }
        return nextProbe(of: queue).map { $0 <= now } ?? true ? 1 : 0
    }

    private func nextProbe(of queue: Queue) -> WallInstant? {
        queue.claimedAt?.advanced(bySeconds: Int64(limits.queueProbePauseSeconds))
    }

    /// When, after `now`, one of these queues may send another probe although none has come back.
    func nextProbe(of keys: [WakeQueueKey], after now: WallInstant) -> WallInstant? {
        keys.compactMap { key in
            queues[key].flatMap { isUnresponsive($0, at: now) ? nextProbe(of: $0) : nil }
        }
        .filter { $0 > now }.min()
    }

    /// Whether a short wait would give a batch of this queue slots to be sent immediately; `count`
    /// of them are enough.
    func mayGetRoom(for key: WakeQueueKey, count: Int, at now: WallInstant) -> Bool {
        if let queue = queues[key] {
            if isUnresponsive(queue, at: now) { return false }
            return room(for: key, at: now) < min(count, max(1, queue.window / 2))
        }
        return room(for: key, at: now) < min(count, limits.firstWindowCount)
    }

    // MARK: Counting

    /// Records claimed wakes of a queue, or slots that were reserved for them.
    mutating func take(_ count: Int, of key: WakeQueueKey, at now: WallInstant) {
        guard count > 0 else { return }
        inFlight += count
        var queue = queues[key] ?? Queue(window: limits.firstWindowCount)
        if queue.inFlight == 0 { forgetThePast(of: &queue, at: now) }
        queue.inFlight += count
        queue.claimedAt = now
        queues[key] = queue
    }

    /// The demand and the failures of an earlier time do not apply now.
    private func forgetThePast(of queue: inout Queue, at now: WallInstant) {
        func isLongAgo(_ instant: WallInstant?, milliseconds: Int64) -> Bool {
            instant.map { abs(now.milliseconds(since: $0)) >= milliseconds } ?? false
        }
        if isLongAgo(queue.claimedAt, milliseconds: 3 * Int64(limits.silenceSeconds) * 1000) {
            queue = Queue(window: limits.firstWindowCount)
        } else if isLongAgo(queue.answeredAt, milliseconds: patienceMilliseconds) {
            queue.window = limits.firstWindowCount
        }
    }

    /// Records settled wakes of a queue, or reserved slots that were not used.
    mutating func giveBack(_ count: Int, of key: WakeQueueKey) {
        guard count > 0, var queue = queues[key] else { return }
        inFlight -= count
        queue.inFlight -= count
        // Results of a sender that was replaced are not noted.
        if queue.inFlight < queue.unansweredCount { expectAnswers(queue.inFlight, of: &queue) }
        queues[key] = queue
    }

    /// So many pushes have no result yet. With none, no answer is waited for; a queue that failed
    /// so often stays unresponsive.
    private func expectAnswers(_ count: Int, of queue: inout Queue) {
        queue.unansweredCount = count
        if count == 0, queue.failures < limits.queueFailureCount { queue.unansweredSince = nil }
    }

    // MARK: Answers

    /// So many wakes of a queue were passed to the sender.
    mutating func sent(_ count: Int, of key: WakeQueueKey, at now: WallInstant) {
        queues[key]?.unansweredCount += count
        if queues[key]?.unansweredSince == nil { queues[key]?.unansweredSince = now }
    }

    /// Records the result of a push. Returns whether the queue was unresponsive until then and is
    /// no longer.
    mutating func note(
        _ signal: RetryPolicy.QueueSignal, on key: WakeQueueKey, at now: WallInstant
    ) -> Bool {
        guard var queue = queues[key] else { return false }
        defer { queues[key] = queue }
        let unansweredCount = max(0, queue.unansweredCount - 1)
        if case .unanswered = signal {
            queue.failures += 1
            expectAnswers(unansweredCount, of: &queue)
            return false
        }
        let wasUnresponsive = isUnresponsive(queue, at: now)
        if wasUnresponsive && queue.failures > 0 {
            queue.window = limits.firstWindowCount
        } else if queue.window < limits.inFlightCount, 2 * queue.inFlight >= queue.window {
            queue.window += 1
        }
        queue.answeredAt = now
        queue.failures = 0
        queue.unansweredCount = unansweredCount
        queue.unansweredSince = unansweredCount > 0 ? now : nil
        return wasUnresponsive
    }

    /// Records a new sender for all queues but the kept ones: unanswered pushes of the old one do
    /// not count for it. Queues that are not configured and have nothing in flight are removed.
    mutating func reset(keeping kept: Set<WakeQueueKey>, among configured: [WakeQueueKey]) {
        let known = Set(configured)
        for (key, queue) in queues where !kept.contains(key) {
            if queue.inFlight == 0 && !known.contains(key) {
                queues[key] = nil
            } else {
                queues[key] = Queue(
                    inFlight: queue.inFlight, window: limits.firstWindowCount,
                    unansweredSince: nil)
            }
        }
    }

    // MARK: Standing

    /// The number of wakes in flight of a queue.
    func inFlight(of key: WakeQueueKey) -> Int { queues[key]?.inFlight ?? 0 }

    /// The unresponsiveness of a queue, while it lasts.
    func unresponsiveness(of key: WakeQueueKey, at now: WallInstant) -> Unresponsiveness? {
        guard let queue = queues[key], isUnresponsive(queue, at: now),
            let since = queue.unansweredSince
        else { return nil }
        return Unresponsiveness(since: since, probeCount: limits.queueProbeCount)
    }

    /// Whether APNs has answered anything of a queue since then.
    func isAnswered(_ key: WakeQueueKey, since: WallInstant) -> Bool {
        queues[key]?.answeredAt.map { $0 >= since } ?? false
    }

    /// The queues that are unresponsive.
    func unresponsive(at now: WallInstant) -> [WakeQueueKey: Unresponsiveness] {
        var found: [WakeQueueKey: Unresponsiveness] = [:]
        for key in queues.keys { found[key] = unresponsiveness(of: key, at: now) }
        return found
    }

    private func isUnresponsive(_ queue: Queue, at now: WallInstant) -> Bool {
        guard let since = queue.unansweredSince else { return false }
        return queue.failures >= limits.queueFailureCount
            || now.milliseconds(since: since) >= patienceMilliseconds
    }

    private var patienceMilliseconds: Int64 { Int64(limits.queuePatienceMilliseconds) }
}
