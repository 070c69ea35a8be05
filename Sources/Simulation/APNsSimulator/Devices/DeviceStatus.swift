// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// How a modelled device is at one moment, in the devices' time.
public struct DeviceStatus: Hashable, Sendable {
    /// The device token.
    public var token: DeviceToken
    /// The moment.
    public var at: WallInstant
    /// The name of the profile whose days it lives through, if any.
    public var profile: String?
    /// What it is like there.
    public var conditions: DeviceConditions
    /// Whether a background push arriving now would launch the app, apart from earlier launches and
    /// spent budgets.
    public var isAble: Bool
    /// How many pushes it was sent.
    public var pushes: Int
    /// How many of them launched the app, or reached it while it ran.
    public var reachedApp: Int
    /// The numbers of the undecided pushes, oldest first.
    public var undecided: [Int]
    /// When it next does something by itself; `nil` when it will not.
    public var nextChange: WallInstant?
}
