// SPDX-License-Identifier: Apache-2.0

public import WakeBudget
public import WakeModel

/// The stored data of one wake, except its payload.
public struct WakeRecord: Hashable, Sendable {
    /// Its name.
    public let id: WakeID
    /// The caller's reference.
    public let ref: WakeRef?
    /// The app.
    public let app: AppIdentity
    /// What it is.
    public let kind: WakeKind
    /// The device. Shown to people as a digest only.
    public let deviceToken: DeviceToken
    /// Its state.
    public let state: WakeState
    /// When it was accepted.
    public let acceptedAt: WallInstant
    /// What was decided then.
    public let decision: WakeDecision
    /// The value of `apns-priority`.
    public let priority: Priority
    /// Its urgency, with what merged into it. It means something of background wakes only.
    public let urgency: Urgency
    /// When it was, or is, due.
    public let dueAt: WallInstant
    /// Not to be sent before this instant, regardless of the budget: its place in a spread batch,
    /// or a back-off.
    public let notBefore: WallInstant
    /// The time from which on it is never sent.
    public let deadline: WallInstant
    /// When its lease ends; `nil` when it is not claimed.
    public let leaseUntil: WallInstant?
    /// The reasons for its delay at the last decision; of an expired wake, also what kept its queue
    /// from sending at its deadline.
    public let holds: DelayReasons
    /// How many attempts may have reached APNs, not counting a last one that ended it.
    public let tries: Int
    /// How it ended; `nil` while it has not.
    public let end: WakeEnd?
    /// When it ended.
    public let endedAt: WallInstant?
    /// The wake that carries it in the end, if one does: the one into which it merged, or the one
    /// that took the place of that.
    public private(set) var carriedBy: WakeID?
    /// The outcome that it shares, if another wake carries it: how that one ended.
    public let carrierEnd: WakeEnd?
    /// What kept the wake that carries it back, if that one expired.
    package let carrierHolds: DelayReasons
    /// When the wake that carries it ended.
    public let carrierEndedAt: WallInstant?
    /// The time at which it launched the app, by the app's report.
    public let launchedAt: WallInstant?
    /// Its attempts, the oldest first; at most ``AttemptRecord/maximumKept`` of the latest.
    public let attempts: [AttemptRecord]

    /// The record of a row, with the rows that belong to it.
    public init(
        _ row: WakeRow, queue: WakeQueueKey, deviceToken: DeviceToken, attempts: [AttemptRecord],
        carrier: WakeRow? = nil
    ) {
        id = row.id
        ref = row.ref
        app = queue.app
        kind = queue.kind
        self.deviceToken = deviceToken
        state = row.state
        acceptedAt = row.acceptedAt
        decision = row.decision
        priority = row.priority ?? queue.kind.defaultPriority
        urgency = row.urgency
        dueAt = row.dueAt
        notBefore = row.notBefore
        deadline = row.deadline
        leaseUntil = row.state == .claimed ? row.leaseUntil : nil
        holds = row.holds
        tries = row.tries
        end = row.end
        endedAt = row.endedAt
        if case .coalesced(let into) = row.end { carriedBy = carrier?.id ?? into }
        carrierEnd = carrier?.end
        carrierHolds = carrier?.holds ?? []
        carrierEndedAt = carrier?.endedAt
        launchedAt = row.launchedAt ?? carrier?.launchedAt
        var attempts = attempts
        if case .sent(let apnsUniqueID) = row.end, let endedAt = row.endedAt {
            // The row has everything about the attempt that succeeded.
            attempts.append(
                AttemptRecord(
                    startedAt: row.claimedAt, endedAt: endedAt,
                    result: .accepted(apnsUniqueID: apnsUniqueID)))
        }
        self.attempts = attempts.suffix(AttemptRecord.maximumKept)
    }
}

/// The counts of a store, for the check that accepted wakes are the sum of ended and pending ones.
public struct StoreCount: Hashable, Sendable {
    /// The number of all admitted wakes: a separate counter, written with each admission.
    public let accepted: Int
    /// The number of ended wakes that were pruned.
    public let pruned: Int
    /// The number of wakes in each state.
    public let byState: [WakeState: Int]

    /// Creates the counts.
    public init(accepted: Int, pruned: Int = 0, byState: [WakeState: Int]) {
        self.accepted = accepted
        self.pruned = pruned
        self.byState = byState
    }

    /// Wakes that have not ended.
    public var unended: Int { byState[.pending, default: 0] + byState[.claimed, default: 0] }
    /// Wakes that have ended, those that were pruned included.
    public var ended: Int { pruned + byState.values.reduce(0, +) - unended }
    /// The invariant: accepted = ended + pending, claimed ones included.
    public var isConserved: Bool { accepted == ended + unended }
}
