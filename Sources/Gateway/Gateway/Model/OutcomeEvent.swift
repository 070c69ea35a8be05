// SPDX-License-Identifier: Apache-2.0

public import WakeBudget
public import WakeModel

/// An entry of the feed of outcomes: a wake has ended.
public struct OutcomeEvent: Hashable, Sendable {
    /// Its place in the feed, growing with time, the same at each gateway of a store and after a
    /// restart; who has seen it goes on behind it. Below 2^53 until the year 2039, so that any
    /// reader of JSON takes it as it is.
    public let cursor: Int64
    /// The wake.
    public let id: WakeID
    /// What its caller calls it.
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
