// SPDX-License-Identifier: Apache-2.0

public import DeviceModel

/// The device behind a token: a phone with the app on it, by the model of facts §6.3.
///
/// Pushes that the simulator accepts for the token go into the model, which decides their outcomes;
/// see ``APNsSimulator/APNsSimulator/fates(of:)``.
public struct DeviceSetup: Hashable, Sendable {
    /// The figures of the model. ``DeviceModel/ModelParameters/exact`` takes chance and delay out
    /// of it.
    public var parameters: ModelParameters
    /// What the app is like.
    public var app: AppBehaviour
    /// Whose days the device lives through, by UTC. Without one it is awake, online and on Wi-Fi,
    /// and nothing happens to it but what ``APNsSimulator/APNsSimulator/apply(_:to:)`` says.
    public var profile: DayProfile?
    /// Fixes everything that is left to chance on this device. Without one it follows from the
    /// simulator's seed and the token, so that each device has its own days.
    public var seed: UInt64?

    /// A device with the defaults of facts §6.3 and a well-behaved app, to which nothing
    /// happens.
    public init(
        parameters: ModelParameters = ModelParameters(), app: AppBehaviour = AppBehaviour(),
        profile: DayProfile? = nil, seed: UInt64? = nil
    ) {
        self.parameters = parameters
        self.app = app
        self.profile = profile
        self.seed = seed
    }
}
