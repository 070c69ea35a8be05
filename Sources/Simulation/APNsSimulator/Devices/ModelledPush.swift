// SPDX-License-Identifier: Apache-2.0

public import DeviceModel
public import WakeModel

/// A push that the simulator accepted for a modelled device, and its outcome there.
public struct ModelledPush: Hashable, Sendable {
    /// The request's number, the same as ``ReceivedPush/number``.
    public var number: Int
    /// The `apns-id` that it was answered with.
    public var apnsID: String
    /// Whom it was for.
    public var deviceToken: DeviceToken
    /// The value of `apns-topic`; `nil` when the certificate implied it.
    public var topic: String?
    /// What it asks of the device.
    public var content: ArrivingPush.Content
    /// When it was accepted, in the devices' time.
    public var acceptedAt: WallInstant
    /// Its outcome; `nil` while undecided: APNs stores it, it is in transit, or the device holds
    /// it.
    public var fate: PushFate?
    /// When that was decided, in the devices' time.
    public var decidedAt: WallInstant?

    /// The label of facts §6.3, such as `delivered-after-hold`; `undecided` until there is one.
    public var label: String { fate?.label ?? "undecided" }
}
