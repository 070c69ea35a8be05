// SPDX-License-Identifier: Apache-2.0

/// Something that happens to a device and is no push: what its user does, and what its
/// surroundings do.
public enum DeviceEvent: Hashable, Sendable {
    /// It can be reached, or no longer.
    case online(Bool)
    /// It is on the charger, or no longer.
    case charging(Bool)
    /// The battery's charge, in thousandths.
    case battery(permille: Int)
    /// Low Power Mode goes on or off.
    case lowPowerMode(Bool)
    /// Low Data Mode goes on or off.
    case lowDataMode(Bool)
    /// It joins Wi-Fi, or leaves it for cellular.
    case wifi(Bool)
    /// The screen is locked or unlocked. Off the charger, a locked device sleeps.
    case locked(Bool)
    /// The user opens the app: it is in front now, and what was held is handed to it.
    case appOpened
    /// The app leaves the front and is suspended.
    case appLeft
    /// The user removes the app from the app switcher.
    case appForceQuit
    /// Background App Refresh is switched for the app.
    case backgroundRefresh(Bool)
    /// Notifications are allowed for the app, or no longer.
    case notifications(Bool)
    /// The token works, or no longer: the app was removed.
    case token(Bool)
    /// A debugger is attached to the app, or no longer.
    case debugger(Bool)
    /// The device starts anew; it is locked and was not unlocked yet.
    case reboot
    /// The system launches another app in the background, which counts in the device's hour.
    case otherAppLaunched
    /// The system launches apps in the background again, or from now on none until it does.
    case backgroundLaunches(Bool)
    /// What the distance of launches is multiplied by from now on, in thousandths; 0 for none.
    case launchSpacing(permille: Int64)
    /// A push with priority 10 comes in for another app, which wakes a sleeping device.
    case otherAppNotified
}
