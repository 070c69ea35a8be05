// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// The kinds of entries of the feedback feed.
public enum FeedbackKind: String, Hashable, Sendable, CaseIterable {
    /// The device token is unregistered: remove it.
    case tokenDead = "token-dead"
    /// The token is not valid in this environment: it belongs to the other one, or to none (facts
    /// §3.3, BadDeviceToken).
    case environmentMismatch = "environment-mismatch"
    /// The token belongs to another topic (facts §3.3, DeviceTokenNotForTopic).
    case wrongTopic = "wrong-topic"
}

/// One entry of the feedback feed: a fact about a device token for its provider.
public struct FeedbackEntry: Hashable, Sendable {
    /// Its cursor in the feed, growing with time. Below 2^53 until the year 2039, so that every
    /// JSON parser reads it exactly.
    public let number: Int64
    /// Its kind.
    public let kind: FeedbackKind
    /// The app.
    public let app: AppIdentity
    /// Which of the app's topics.
    public let wakeKind: WakeKind
    /// The token.
    public let deviceToken: DeviceToken
    /// When it became known.
    public let at: WallInstant
    /// APNs' answer, with the time since when it reports the token as unregistered.
    public let refusal: Refusal
    /// The wake with that answer.
    public let wake: WakeID

    /// Creates an entry.
    public init(
        number: Int64, kind: FeedbackKind, app: AppIdentity, wakeKind: WakeKind,
        deviceToken: DeviceToken, at: WallInstant, refusal: Refusal, wake: WakeID
    ) {
        self.number = number
        self.kind = kind
        self.app = app
        self.wakeKind = wakeKind
        self.deviceToken = deviceToken
        self.at = at
        self.refusal = refusal
        self.wake = wake
    }
}
