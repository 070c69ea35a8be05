// SPDX-License-Identifier: Apache-2.0

/// A kind of push that a server sends, as far as the app's configuration depends on it.
public enum ServerPush: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// Visible pushes.
    case alert
    /// Silent pushes, and visible ones that also wake the app.
    case background
    /// Calls.
    case voip
    /// Live Activities.
    case liveActivity = "liveactivity"
    /// Updates of Live Activities over broadcast channels.
    case broadcast
    /// Requests for the device's location.
    case location
    /// Push to Talk invitations.
    case pushToTalk = "pushtotalk"
    /// Reloads of widgets.
    case widgets
    /// Alerts with the interruption level `time-sensitive`.
    case timeSensitive = "time-sensitive"
    /// Alerts with the interruption level `critical`.
    case critical
    /// Alerts that the app shows as messages or calls from a person.
    case communication

    /// The name as an argument of `--sends`.
    public var description: String { rawValue }
}
