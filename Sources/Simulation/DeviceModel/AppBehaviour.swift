// SPDX-License-Identifier: Apache-2.0

/// The properties of the app that affect the system's scheduling.
public struct AppBehaviour: Hashable, Sendable {
    /// Whether `UIBackgroundModes` contains `remote-notification`; without it the app is never
    /// launched.
    public var hasRemoteNotificationMode = true
    /// Whether the app calls the completion handler. If not, the system ends it after 30 seconds
    /// and doubles the next spacing (facts §6.3).
    public var completesHandler = true
    /// The mean run time of a launch, in milliseconds; assumed 6 s.
    public var meanRuntimeMilliseconds: Int64 = 6_000
    /// The data that a launch loads, in bytes; assumed 40 kB, well below Apple's guideline of 100
    /// KB (facts §6.1).
    public var bytesPerLaunch: Int64 = 40_000

    /// Creates a well-behaved app.
    public init() {}
}
