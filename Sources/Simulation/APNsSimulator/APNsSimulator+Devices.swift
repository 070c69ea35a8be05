// SPDX-License-Identifier: Apache-2.0

public import DeviceModel
public import WakeModel

/// The outcomes of accepted pushes on modelled devices.
///
/// A device is modelled when its token was registered with a ``RegisteredDevice/model``, or the
/// configuration has one for all. Its time is the configuration's clock, moved ahead by
/// ``advanceDevices(bySeconds:)``. What is due at the very millisecond of a call waits for the next
/// one, so that a push that comes within it comes first.
///
/// ```swift
/// simulator.register(RegisteredDevice(token: token, model: DeviceSetup(parameters: .exact)))
/// for _ in 1...14 {
///     await client.push(to: token)
///     simulator.advanceDevices(bySeconds: 450)
/// }
/// let launches = simulator.fates(of: token).count { $0.fate?.reachedApp == true }  // 7
/// ```
extension APNsSimulator {
    /// The pushes that a modelled device was sent, oldest first, each with its outcome: all that
    /// are undecided, and the last 1000 of the others. None for a device without a model.
    public func fates(of token: DeviceToken) -> [ModelledPush] {
        state.devices.pushes(of: token) ?? []
    }

    /// The present state of a modelled device; `nil` for a device without a model.
    public func status(of token: DeviceToken) -> DeviceStatus? { state.devices.status(of: token) }

    /// Every push that launches an app or reaches it while it runs, from now on, in the order in
    /// which that happens. Ends with the simulator; the last 10 000 wait for a slow reader.
    public func deliveries() -> AsyncStream<ModelledPush> { state.devices.deliveries() }

    /// Makes something happen to a modelled device now, as its user or its surroundings would.
    /// Returns false for a device without a model.
    @discardableResult
    public func apply(_ event: DeviceEvent, to token: DeviceToken) -> Bool {
        state.devices.apply(event, to: token)
    }

    /// Moves the time of all modelled devices ahead, and with it everything that is due by then.
    ///
    /// The senders' time does not change, nor does the age of provider tokens. `apns-expiration` is
    /// moved along: a push that may be stored for an hour is stored for an hour of the devices'
    /// time. Less than 0 counts as 0; after 100 years in total the clock no longer advances.
    public func advanceDevices(bySeconds seconds: Int64) {
        let (milliseconds, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        state.devices.advance(byMilliseconds: overflow ? .max : milliseconds)
    }

    /// The time of modelled devices.
    ///
    /// Reading it runs everything that is due, which a test needs after it has moved its clock; a
    /// program in real time does not.
    public var deviceTime: WallInstant { state.devices.deviceTime }
}
