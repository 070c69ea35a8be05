// SPDX-License-Identifier: Apache-2.0

public import WakeBudget
public import WakeModel

/// All that is known of one device token in one queue.
public struct DeviceView: Hashable, Sendable {
    /// The most recent wakes that a view shows.
    public static let recentCount = 10

    /// App and kind.
    public let queue: WakeQueueKey
    /// The device.
    public let deviceToken: DeviceToken
    /// The budget: what is left, what waits, until when, because of which rules.
    public let explanation: Explanation
    /// The wake that waits, if any. Of calls, the newest that waits.
    public let pending: WakeRecord?
    /// The latest wakes, the newest first.
    public let recent: [WakeRecord]
    /// Since when APNs reports the token as unregistered; `nil` if it does not.
    public let deadSince: WallInstant?
    /// When the app registered the token, as far as was reported.
    public let registeredAt: WallInstant?
    /// When the last receipt came.
    public let lastReceiptAt: WallInstant?
    /// Whether the topic's app ever sent a receipt, so that missing ones count.
    public let topicConfirmsLaunches: Bool
    /// The user under whom it is registered, if any.
    public let user: UserID?

    /// Creates a view.
    public init(
        queue: WakeQueueKey, deviceToken: DeviceToken, explanation: Explanation,
        pending: WakeRecord?,
        recent: [WakeRecord], deadSince: WallInstant?, registeredAt: WallInstant?,
        lastReceiptAt: WallInstant?, topicConfirmsLaunches: Bool,
        user: UserID? = nil
    ) {
        self.user = user
        self.queue = queue
        self.deviceToken = deviceToken
        self.explanation = explanation
        self.pending = pending
        self.recent = recent
        self.deadSince = deadSince
        self.registeredAt = registeredAt
        self.lastReceiptAt = lastReceiptAt
        self.topicConfirmsLaunches = topicConfirmsLaunches
    }
}

/// What is reported of a device, or asked of its ledger.
public enum DeviceReport: Hashable, Sendable {
    /// The app reported these signals.
    case signals([DeviceSignal])
    /// The app registered the token with APNs at this instant: it is alive, whatever an older 410
    /// says. It may say whose the device is.
    case registered(at: WallInstant, UserChange = .kept)
    /// The device is to be forgotten: its pending wake ends as cancelled, and its ledger is reset.
    case forget
}

/// The answer to a report.
public enum DeviceAnswer: Hashable, Sendable {
    /// It is recorded; these wakes ended by it.
    case done(ended: [WakeID])
    /// No such app is configured.
    case unknownApp
    /// The device never had a wake, and nothing was reported of it before.
    case unknownDevice
}

/// The app says that a wake launched it.
public struct Receipt: Hashable, Sendable {
    /// How the app says which wake it was.
    public enum Subject: Hashable, Sendable {
        /// By its id, which is also its `apns-id`.
        case wake(WakeID)
        /// By its caller's name for it, which was in the payload, and the device that received it.
        case ref(WakeRef, DeviceToken)
    }

    /// The wake.
    public let subject: Subject
    /// When the app was launched, by the device's clock.
    public let launchedAt: WallInstant?
    /// Whether the app fetched all there was when it was launched.
    public let hasSynced: Bool
    /// The apps of which its caller may name wakes; `nil` for all. A wake of another one is
    /// unknown.
    public let apps: Set<BundleID>?

    /// Creates a receipt.
    public init(
        _ subject: Subject, launchedAt: WallInstant? = nil, hasSynced: Bool = false,
        among apps: Set<BundleID>? = nil
    ) {
        self.subject = subject
        self.launchedAt = launchedAt
        self.hasSynced = hasSynced
        self.apps = apps
    }

    /// The receipt of a wake that is named by its id.
    public init(id: WakeID, launchedAt: WallInstant? = nil, hasSynced: Bool = false) {
        self.init(.wake(id), launchedAt: launchedAt, hasSynced: hasSynced)
    }
}

/// The answer to a receipt.
public enum ReceiptAnswer: String, Hashable, Sendable, CaseIterable {
    /// It is recorded.
    case recorded
    /// The same wake was confirmed before; nothing changed.
    case repeated
    /// No wake has this id, or none of the device's latest has this ref.
    case unknownWake = "unknown-wake"
    /// That wake never left.
    case notSent = "not-sent"
}
