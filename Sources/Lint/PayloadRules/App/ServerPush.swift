// SPDX-License-Identifier: Apache-2.0

/// What an app's server sends, as far as the app has to be configured for it.
public enum ServerPush: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// Visible pushes.
    case alert
    /// Silent pushes, and visible ones that wake the app as well.
    case background
    /// Calls.
    case voip
    /// Live Activities.
    case liveActivity = "liveactivity"
    /// Updates of Live Activities over broadcast channels.
    case broadcast
    /// Requests for the device's location.
    case location
    /// Invitations to talk.
    case pushToTalk = "pushtotalk"
    /// Reloads of widgets.
    case widgets
    /// Alerts with the interruption level `time-sensitive`.
    case timeSensitive = "time-sensitive"
    /// Alerts with the interruption level `critical`.
    case critical
    /// Alerts that the app shows as messages or calls from a person.
    case communication

    /// The name, as `--sends` takes it.
    public var description: String { rawValue }
}
