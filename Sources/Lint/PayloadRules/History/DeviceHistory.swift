// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// What ``PushHistory`` keeps of one device token. Payloads and call ids are kept as hashes.
struct DeviceHistory: Sendable {
    /// One VoIP push.
    struct Call: Sendable {
        let id: UInt64
        let payload: UInt64
        let firstSentAt: Int64
    }

    /// An answer that forbids repeating the push.
    struct Refusal: Sendable {
        let payload: UInt64
        let at: Int64
        let isForGood: Bool
    }

    /// The most calls that are remembered: more than one device gets within ``callWindow``.
    static let maximumCalls = 32
    /// How long a call is remembered, in milliseconds: one hour.
    static let callWindow: Int64 = 3_600_000

    /// When the device got its last push, in milliseconds since the epoch.
    var lastPushAt: Int64 = 0
    var background = RecentTimes()
    var voip = RecentTimes()
    var immediateActivity = RecentTimes()
    var location = RecentTimes()
    var serviceUpdates = RecentTimes()
    /// When the last background push was sent.
    var lastBackgroundAt: Int64?
    /// The payload of the last background push.
    var lastHint: UInt64?
    var calls: [Call] = []
    var hasVoIPPush = false
    var hasOtherPush = false
    /// Whether VO011 was reported for this device.
    var isReportedAsMixed = false
    /// Since when APNs has called the token inactive, in milliseconds since the epoch; `nil` if it
    /// has not, or has said something else since.
    var inactiveSince: Int64?
    /// The environments in which APNs has called the token a bad one.
    var refusedIn: Set<APNsEnvironment> = []
    var refusal: Refusal?
}
