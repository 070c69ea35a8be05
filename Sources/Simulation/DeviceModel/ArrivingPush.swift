// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// A push that APNs accepted for a modelled device.
public struct ArrivingPush: Hashable, Sendable {
    /// The sender's number of the push, which ``PushReport`` repeats.
    public var number: Int
    /// The content, which determines the effect on the device.
    public var content: Content
    /// The value of `apns-priority`.
    public var priority: Priority
    /// The value of `apns-expiration`; `nil` for none, in which case APNs stores the push for 30
    /// days.
    public var expiration: Expiration?

    /// The content of a push.
    public enum Content: Hashable, Sendable {
        /// `content-available` only: launches the app in the background.
        case background
        /// A notification; launches nothing.
        case alert
        /// A notification with `content-available`: passes the same gates as ``background`` (facts
        /// §6.3, `mixed.alert_wake`).
        case mixed
        /// A VoIP call: launched immediately, regardless of gates and budgets (facts §7).
        case voip
    }

    /// Creates a push, by default in the background, with the priority that suits its content.
    public init(
        number: Int, content: Content = .background, priority: Priority? = nil,
        expiration: Expiration? = nil
    ) {
        self.number = number
        self.content = content
        self.priority = priority ?? (content == .background ? .powerConsiderate : .immediate)
        self.expiration = expiration
    }
}
