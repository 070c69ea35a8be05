// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// One push as APNs takes it for a modelled device.
public struct ArrivingPush: Hashable, Sendable {
    /// The sender's number for it, by which ``PushReport`` names it.
    public var number: Int
    /// What it asks of the device.
    public var content: Content
    /// The value of `apns-priority`.
    public var priority: Priority
    /// The value of `apns-expiration`; `nil` for none, which stores it for 30 days.
    public var expiration: Expiration?

    /// What a push asks of the device.
    public enum Content: Hashable, Sendable {
        /// `content-available` alone: launch the app.
        case background
        /// Something to show; it launches nothing.
        case alert
        /// Something to show, and `content-available` beside it: passes the same gates as
        /// ``background`` (facts §6.3, `mixed.alert_wake`).
        case mixed
        /// A call: launched immediately, regardless of gates and budgets (facts §7).
        case voip
    }

    /// A background push unless said otherwise, with the priority that fits its content.
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
