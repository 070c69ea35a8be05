// SPDX-License-Identifier: Apache-2.0

/// What the app behind the token is and does, as far as the system judges it.
public struct AppBehaviour: Hashable, Sendable {
    /// Whether `UIBackgroundModes` holds `remote-notification`; without it nothing is launched.
    public var hasRemoteNotificationMode = true
    /// Whether its handler calls the completion handler. If not, the system ends the app after 30
    /// seconds and doubles the next spacing (facts §6.3).
    public var completesHandler = true
    /// How long a launch runs on average, in milliseconds; assumed 6 s.
    public var meanRuntimeMilliseconds: Int64 = 6_000
    /// What a launch loads, in bytes; assumed 40 kB, well below Apple's guideline of 100 KB
    /// (facts §6.1).
    public var bytesPerLaunch: Int64 = 40_000

    /// A well-behaved app.
    public init() {}
}
