// SPDX-License-Identifier: Apache-2.0

import DeviceModel

/// The conditions that a device is in, by the events that happened to it.
public struct DeviceConditions: Hashable, Sendable {
    /// Whether APNs can reach it.
    public var isOnline = true
    /// Whether it is on Wi-Fi; if not, on cellular.
    public var isOnWiFi = true
    /// Whether it is on the charger.
    public var isCharging = false
    /// The battery's charge, in percent.
    public var batteryPercent = 80
    /// Whether Low Power Mode is on.
    public var isInLowPowerMode = false
    /// Whether the screen is locked.
    public var isLocked = false
    /// Whether the app is in front.
    public var isInForeground = false
    /// Whether Background App Refresh is on for the app.
    public var allowsBackgroundRefresh = true

    /// The state that a modelled device begins in.
    init() {}

    /// Notes what an event changes.
    mutating func note(_ event: DeviceEvent) {
        switch event {
        case .online(let isOn): isOnline = isOn
        case .wifi(let isOn): isOnWiFi = isOn
        case .charging(let isOn): isCharging = isOn
        case .battery(let permille): batteryPercent = permille / 10
        case .lowPowerMode(let isOn): isInLowPowerMode = isOn
        case .locked(let isOn): isLocked = isOn
        case .appOpened: isInForeground = true
        case .appLeft, .appForceQuit: isInForeground = false
        case .backgroundRefresh(let isOn): allowsBackgroundRefresh = isOn
        case .reboot:
            isInForeground = false
            isLocked = true
        case .lowDataMode, .notifications, .token, .debugger, .otherAppLaunched,
            .otherAppNotified, .backgroundLaunches, .launchSpacing:
            break
        }
    }
}
