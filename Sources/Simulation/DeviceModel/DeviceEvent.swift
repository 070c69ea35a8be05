// SPDX-License-Identifier: Apache-2.0

/// An event on a device other than a push: an action of the user, or a change of the surroundings.
public enum DeviceEvent: Hashable, Sendable {
    /// The device is connected or disconnected.
    case online(Bool)
    /// The device is put on the charger, or removed from it.
    case charging(Bool)
    /// The battery level, in thousandths.
    case battery(permille: Int)
    /// Low Power Mode is turned on or off.
    case lowPowerMode(Bool)
    /// Low Data Mode is turned on or off.
    case lowDataMode(Bool)
    /// The device joins Wi-Fi, or changes to cellular.
    case wifi(Bool)
    /// The screen is locked or unlocked. Off the charger, a locked device sleeps.
    case locked(Bool)
    /// The user opens the app: it is in the foreground, and gets a push that was held.
    case appOpened
    /// The app leaves the foreground and is suspended.
    case appLeft
    /// The user removes the app from the app switcher.
    case appForceQuit
    /// Background App Refresh is turned on or off for the app.
    case backgroundRefresh(Bool)
    /// Notifications are allowed or disallowed for the app.
    case notifications(Bool)
    /// The token becomes valid, or invalid because the app was removed.
    case token(Bool)
    /// A debugger is attached or detached.
    case debugger(Bool)
    /// The device restarts: it is locked, and not yet unlocked.
    case reboot
    /// The system launches another app in the background, which counts in the hourly limit of the
    /// device.
    case otherAppLaunched
    /// The system starts or stops launching apps in the background.
    case backgroundLaunches(Bool)
    /// The spacing factor changes, in thousandths; 0 for no spacing.
    case launchSpacing(permille: Int64)
    /// A push with priority 10 for another app wakes a sleeping device.
    case otherAppNotified
}
