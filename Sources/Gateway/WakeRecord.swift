// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// All that the store knows of one wake, except its payload.
public struct WakeRecord: Hashable, Sendable {
    /// Its name.
    public let id: WakeID
    /// The app.
    public let app: AppIdentity
    /// Background or VoIP.
    public let kind: WakeKind
    /// The device. Shown to people as a digest only.
    public let deviceToken: DeviceToken
    /// Where it is in its life.
    public let state: WakeState
    /// When it was accepted.
    public let acceptedAt: WallInstant
    /// When it was, or is, due.
    public let dueAt: WallInstant
    /// From when on it is never sent any more.
    public let deadline: WallInstant
    /// How many attempts may have reached APNs, not counting a last one that ended it.
    public let tries: Int
    /// How it ended; `nil` while it has not.
    public let end: WakeEnd?
    /// When it ended.
    public let endedAt: WallInstant?
    /// Its attempts, the oldest first; at most ``AttemptRecord/maximumKept`` of the latest.
    public let attempts: [AttemptRecord]

    /// Spells out one record.
    public init(
        id: WakeID, app: AppIdentity, kind: WakeKind, deviceToken: DeviceToken, state: WakeState,
        acceptedAt: WallInstant, dueAt: WallInstant, deadline: WallInstant, tries: Int,
        end: WakeEnd?, endedAt: WallInstant?, attempts: [AttemptRecord]
    ) {
        self.id = id
        self.app = app
        self.kind = kind
        self.deviceToken = deviceToken
        self.state = state
        self.acceptedAt = acceptedAt
        self.dueAt = dueAt
        self.deadline = deadline
        self.tries = tries
        self.end = end
        self.endedAt = endedAt
        self.attempts = attempts
    }
}

/// The books of a store, for the law of conservation.
public struct StoreCount: Hashable, Sendable {
    /// How many wakes the store ever admitted: a counter of its own, written with each admission.
    public let accepted: Int
    /// How many wakes are in each state, counted one by one.
    public let byState: [WakeState: Int]

    /// Spells out the books.
    public init(accepted: Int, byState: [WakeState: Int]) {
        self.accepted = accepted
        self.byState = byState
    }

    /// Wakes that have not ended.
    public var unended: Int { byState[.pending, default: 0] + byState[.claimed, default: 0] }
    /// Wakes that have ended.
    public var ended: Int { byState.values.reduce(0, +) - unended }
    /// The law: accepted = ended + pending, those in hand included.
    public var isConserved: Bool { accepted == ended + unended }
}
