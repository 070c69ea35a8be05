// SPDX-License-Identifier: Apache-2.0

/// What an app reports of its device: those of the seven factors that only the device can observe
/// (facts §6.2). The other two, system budgets and rate limiting, are modelled by the windows and
/// the spacing.
public enum DeviceSignal: Hashable, Sendable {
    /// Low Power Mode was switched on or off.
    case lowPowerMode(Bool)
    /// The battery's level, and whether the device is charging. A level outside 0 to 100 is held
    /// at the nearer end.
    case battery(percent: Int, isCharging: Bool)
    /// Background App Refresh is available to this app, or not: `false` for `denied` and
    /// `restricted`.
    case backgroundAppRefresh(Bool)
    /// The user removed the app from the app switcher.
    case forceQuit
    /// The app came to the foreground: it syncs by itself, and counts as used.
    case foreground
}
