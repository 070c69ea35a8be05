// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// A registered device token.
public struct RegisteredDevice: Hashable, Sendable {
    /// What APNs thinks of a device token.
    public enum State: Hashable, Sendable {
        /// Pushes are accepted.
        case active
        /// The app is gone since then: 410 `Unregistered`, with this instant as `timestamp`.
        case unregistered(since: WallInstant)
        /// The token ran out then: 410 `ExpiredToken`, with this instant as `timestamp`.
        case expired(since: WallInstant)
    }

    /// The device token.
    public var token: DeviceToken
    /// The one topic it was issued for, suffix included; `nil` takes any. Another topic is
    /// answered with `DeviceTokenNotForTopic`.
    public var topic: String?
    /// The environment it belongs to; `nil` takes the simulator's. A token of the other
    /// environment is answered with `BadDeviceToken`.
    public var environment: APNsEnvironment?
    /// Whether it is active, unregistered or expired.
    public var state: State
    /// The device model; `nil` takes the configuration's
    /// ``APNsSimulator/APNsSimulator/Configuration/deviceModel``.
    public var model: DeviceSetup?

    /// Describes a device token.
    public init(
        token: DeviceToken, topic: String? = nil, environment: APNsEnvironment? = nil,
        state: State = .active, model: DeviceSetup? = nil
    ) {
        self.token = token
        self.topic = topic
        self.environment = environment
        self.state = state
        self.model = model
    }
}
