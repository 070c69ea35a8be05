// SPDX-License-Identifier: Apache-2.0

public import WakeBudget
public import WakeModel

/// An entry of the feed of outcomes: a wake has ended.
public struct OutcomeEvent: Hashable, Sendable {
    /// Its cursor, growing with time, the same at each gateway on a store and after a restart; a
    /// reader continues after it. Below 2^53 until the year 2039, so that every JSON parser reads
    /// it exactly.
    public let cursor: Int64
    /// The wake.
    public let id: WakeID
    /// The caller's reference.
    public let ref: WakeRef?
    /// Its app.
    public let app: AppIdentity
    /// What it is.
    public let kind: WakeKind
    /// Its device; `nil` when it is no longer stored.
    public let deviceToken: DeviceToken?
    /// How it ended.
    public let end: WakeEnd
    /// When.
    public let at: WallInstant
    /// Of one that expired: what kept it back.
    public let holds: DelayReasons

    /// Creates an event.
    public init(
        cursor: Int64, id: WakeID, ref: WakeRef?, app: AppIdentity, kind: WakeKind,
        deviceToken: DeviceToken?, end: WakeEnd, at: WallInstant, holds: DelayReasons = []
    ) {
        self.cursor = cursor
        self.id = id
        self.ref = ref
        self.app = app
        self.kind = kind
        self.deviceToken = deviceToken
        self.end = end
        self.at = at
        self.holds = holds
    }
}
