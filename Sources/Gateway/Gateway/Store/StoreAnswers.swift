// SPDX-License-Identifier: Apache-2.0

public import WakeBudget
public import WakeModel

/// A wake that ended within a transaction, for those who wait for it.
public struct EndedWake: Hashable, Sendable {
    /// The wake.
    public let id: WakeID
    /// The caller's reference.
    public let ref: WakeRef?
    /// App and kind.
    public let queue: WakeQueueKey
    /// How it ended.
    public let end: WakeEnd
    /// When.
    public let at: WallInstant
    /// The reason of the last refusal before, if APNs refused it and it was to be tried again.
    public let lastReason: RejectionReason?

    /// Creates a value.
    public init(
        id: WakeID, ref: WakeRef? = nil, queue: WakeQueueKey, end: WakeEnd, at: WallInstant,
        lastReason: RejectionReason? = nil
    ) {
        self.lastReason = lastReason
        self.id = id
        self.ref = ref
        self.queue = queue
        self.end = end
        self.at = at
    }
}

/// Permission to claim wakes in the transaction that admits them, so that a wake which may be sent
/// immediately is written once and not twice.
public struct ClaimGrant: Hashable, Sendable {
    /// The queues whose wakes may be sent now, and that have no older ones waiting, each with the
    /// most wakes to claim from it.
    public private(set) var slots: [WakeQueueKey: Int]
    /// The most wakes to claim that are not immediate (``WakeModel/WakeKind/isImmediate``).
    public private(set) var background: Int
    /// The most calls, and Push to Talk, to claim.
    public private(set) var calls: Int
    /// The duration of the leases, in seconds.
    public let leaseSeconds: Int
    /// The reasons why queues do not send now: part of the decision.
    public let obstacles: [WakeQueueKey: DelayReasons]

    /// Creates a grant with room for each queue.
    public init(
        slots: [WakeQueueKey: Int], leaseSeconds: Int,
        obstacles: [WakeQueueKey: DelayReasons] = [:]
    ) {
        self.obstacles = obstacles
        func sum(areImmediate: Bool) -> Int {
            slots.reduce(0) { $1.key.kind.isImmediate == areImmediate ? $0 + $1.value : $0 }
        }
        self.slots = slots
        background = sum(areImmediate: false)
        calls = sum(areImmediate: true)
        self.leaseSeconds = leaseSeconds
    }

    /// Creates a grant whose queues share its slots.
    public init(queues: Set<WakeQueueKey>, background: Int, calls: Int, leaseSeconds: Int) {
        slots = Dictionary(
            uniqueKeysWithValues: queues.map { ($0, $0.kind.isImmediate ? calls : background) })
        self.background = background
        self.calls = calls
        self.leaseSeconds = leaseSeconds
        obstacles = [:]
    }

    /// The rest of it after these claims.
    func without(_ claims: [Claim]) -> ClaimGrant {
        var rest = self
        for claim in claims {
            rest.slots[claim.queue]? -= 1
            if claim.kind.isImmediate { rest.calls -= 1 } else { rest.background -= 1 }
        }
        return rest
    }
}

/// The result of admitting wakes.
public struct AdmitAnswer: Sendable {
    /// The answers, one by one, in order.
    public var admissions: [AdmissionResult] = []
    /// The wakes among them that were claimed immediately.
    public var claims: [Claim] = []
    /// The wakes that ended in this transaction: new ones, and older ones that had expired.
    public var ended: [EndedWake] = []
    /// When the first of those that wait is due.
    public var nextDue: WallInstant?
    /// Queues in which one is due already, and was not claimed; each once.
    public var leftDue: [WakeQueueKey] = []

    /// Nothing yet.
    public init() {}

    /// Adds the results of the submissions after these.
    mutating func append(_ other: AdmitAnswer) {
        admissions += other.admissions
        claims += other.claims
        ended += other.ended
        nextDue = [nextDue, other.nextDue].compactMap(\.self).min()
        for queue in other.leftDue where !leftDue.contains(queue) { leftDue.append(queue) }
    }
}

/// The result of a claim.
public struct ClaimAnswer: Sendable {
    /// The claimed wakes.
    public var claims: [Claim] = []
    /// Due wakes that had expired.
    public var ended: [EndedWake] = []
    /// Queues that may have more due wakes than were claimed.
    public var unfinished: Set<WakeQueueKey> = []
    /// The number of due wakes that the budget deferred.
    public var deferred = 0

    /// Nothing yet.
    public init() {}
}

/// The result of settling.
public struct SettleAnswer: Sendable {
    /// The verdicts, one by one, in order.
    public var verdicts: [SettlementVerdict] = []
    /// All that ended.
    public var ended: [EndedWake] = []
    /// When the first of those that wait again is due.
    public var nextDue: WallInstant?

    /// Nothing yet.
    public init() {}
}

/// The result of reclaiming lapsed leases.
public struct Reclaimed: Hashable, Sendable {
    /// Wakes that are pending again; the lost attempt counts as a try.
    public var returned: [WakeID] = []
    /// Those that ended: calls and others that are not repeated, whose outcome is unknown, and
    /// wakes that another carries by now.
    public var ended: [EndedWake] = []

    /// Nothing yet.
    public init() {}

    /// The number of reclaimed leases.
    public var count: Int { returned.count + ended.count }
}

/// The result of a cancellation.
public struct CancelOutcome: Sendable {
    /// Whether it took effect; `nil` for an unknown wake.
    public let isCancelled: Bool?
    /// What ended.
    public let ended: [EndedWake]

    /// Creates an outcome.
    public init(isCancelled: Bool?, ended: [EndedWake]) {
        self.isCancelled = isCancelled
        self.ended = ended
    }
}

/// The result of a device's report.
public struct ReportOutcome: Sendable {
    /// The number of the token's queues that it applied to.
    public let devices: Int
    /// What ended by it.
    public let ended: [EndedWake]
    /// Queues in which more plain pushes may wait for a removed device than one transaction ends,
    /// each with the number of the wake with which ``ForgetPushes`` continues.
    public let unfinished: [WakeQueueKey: Int64]

    /// Creates an outcome.
    public init(devices: Int, ended: [EndedWake], unfinished: [WakeQueueKey: Int64]) {
        self.devices = devices
        self.ended = ended
        self.unfinished = unfinished
    }
}

/// The result of receipts.
public struct ReceiptOutcome: Sendable {
    /// The answers, one by one, in order.
    public var answers: [ReceiptAnswer] = []
    /// What ended by them, because the app had synced.
    public var ended: [EndedWake] = []
    /// The queues whose first receipts were among them: from now on missing ones count there.
    public var confirmingQueues: [WakeQueueKey] = []

    /// Nothing yet.
    public init() {}
}

/// What one step of pruning removed.
public struct Pruned: Hashable, Sendable {
    /// Ended wakes.
    public var wakes = 0
    /// Idempotency keys.
    public var marks = 0
    /// Entries of the feedback feed.
    public var feedback = 0
    /// Entries of the feed of outcomes, as many as a transaction made counting as one.
    public var outcomes = 0
    /// Devices without any state.
    public var devices = 0
    /// Whether the walk through all devices has not ended.
    public var isSweeping = false
    /// Webhooks without a receiver: their endpoint was removed, or they were written before
    /// endpoints had names, and no endpoint gets them.
    public var webhooks = 0
    /// Webhooks without an endpoint that the only one inherited.
    public var inheritedWebhooks = 0
    /// Webhooks that are kept for endpoints which are not configured any more.
    public var waitingWebhooks = 0
    /// When the first of those are removed.
    public var waitingUntil: WallInstant?

    /// Nothing yet.
    public init() {}

    /// Whether some table had as many rows as the step may remove, or the walk through the devices
    /// has not ended, so that another step can follow immediately.
    public func isFull(_ limit: Int) -> Bool {
        isSweeping || max(wakes, marks, feedback, outcomes, webhooks + inheritedWebhooks) >= limit
    }
}

/// The limits of a step of pruning.
public struct PruneOrder: Hashable, Sendable {
    /// Now: idempotency keys that expired before it.
    public let now: WallInstant
    /// Ended wakes that were accepted before this instant, and feedback that is as old.
    public let wakesBefore: WallInstant
    /// Devices without any activity since this instant, whose wakes were removed.
    public let devicesBefore: WallInstant
    /// The webhook endpoints; webhooks of others are removed after the grace period. Gateways that
    /// share a store must have the same ones.
    public let webhooks: [WebhookSubscription]
    /// The grace period of webhooks for other endpoints, in seconds.
    public let webhookGraceSeconds: Int
    /// The most rows of one table; of devices, the most that are read.
    public let limit: Int

    /// Creates an order.
    public init(
        now: WallInstant, wakesBefore: WallInstant, devicesBefore: WallInstant,
        webhooks: [WebhookSubscription], webhookGraceSeconds: Int = 0, limit: Int
    ) {
        self.now = now
        self.wakesBefore = wakesBefore
        self.devicesBefore = devicesBefore
        self.webhooks = webhooks
        self.webhookGraceSeconds = webhookGraceSeconds
        self.limit = limit
    }
}

extension PruneOrder {
    /// The most that numbers may be ahead of the time; more is a leap of the clock: an hour.
    static let toleratedMilliseconds: Int64 = 3_600_000

    /// The latest instant at which anything can have happened, as clocks are.
    package var latest: WallInstant { now.advanced(byMilliseconds: Self.toleratedMilliseconds) }

    /// An instant after every due time and expiry: two days more than the longest retention.
    package var farthest: WallInstant {
        now.advanced(byMilliseconds: max(0, now.milliseconds(since: wakesBefore)))
            .advanced(bySeconds: 2 * 86_400)
    }
}

/// The stored row of a queue.
public struct WakeQueueRow: Hashable, Sendable {
    /// The queue's number in the store, from 1.
    public let number: Int64
    /// App and kind.
    public let queue: WakeQueueKey
    /// Whether the app ever sent a receipt: from then on missing ones count.
    public var confirmsLaunches: Bool
    /// Since when it is paused; `nil` when it is not.
    public var pausedAt: WallInstant?
    /// Why, if it was said.
    public var pauseReason: String?
    /// Since when webhooks have reported it as held; `nil` when nothing was reported, or its
    /// release.
    public var heldToldAt: WallInstant?

    /// Creates a queue.
    public init(
        number: Int64, queue: WakeQueueKey, confirmsLaunches: Bool = false,
        pausedAt: WallInstant? = nil,
        pauseReason: String? = nil, heldToldAt: WallInstant? = nil
    ) {
        self.number = number
        self.queue = queue
        self.confirmsLaunches = confirmsLaunches
        self.pausedAt = pausedAt
        self.pauseReason = pauseReason
        self.heldToldAt = heldToldAt
    }
}
