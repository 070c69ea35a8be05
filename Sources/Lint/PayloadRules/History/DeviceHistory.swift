// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// The state of one device token in ``PushHistory``. Payloads and call ids are stored as hashes.
struct DeviceHistory: Sendable {
    /// A VoIP push.
    struct Call: Sendable {
        let id: UInt64
        let payload: UInt64
        let firstSentAt: Int64
    }

    /// An answer after which the push must not be repeated.
    struct Refusal: Sendable {
        let payload: UInt64
        let at: Int64
        let isForGood: Bool
    }

    /// The maximum number of stored calls: more than a device gets within ``callWindow``.
    static let maximumCalls = 32
    /// The time for which a call is stored, in milliseconds: one hour.
    static let callWindow: Int64 = 3_600_000

    /// The time of the last push, in milliseconds since the epoch.
    var lastPushAt: Int64 = 0
    var background = RecentTimes()
    var voip = RecentTimes()
    var immediateActivity = RecentTimes()
    var location = RecentTimes()
    var serviceUpdates = RecentTimes()
    /// The time of the last background push, in milliseconds since the epoch.
    var lastBackgroundAt: Int64?
    /// The hash of the last background push's payload.
    var lastHint: UInt64?
    var calls: [Call] = []
    var hasVoIPPush = false
    var hasOtherPush = false
    /// Whether VO011 was reported for this device.
    var isReportedAsMixed = false
    /// The time since which APNs has reported the token as inactive, in milliseconds since the
    /// epoch; `nil` if it has not, or has answered otherwise since.
    var inactiveSince: Int64?
    /// The environments in which APNs has reported a bad device token.
    var refusedIn: Set<APNsEnvironment> = []
    var refusal: Refusal?
}
