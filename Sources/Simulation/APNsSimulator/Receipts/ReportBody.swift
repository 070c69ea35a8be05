// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import WakeModel

/// The body of `POST /v1/receipts`.
struct ReceiptsBody: Codable, Hashable, Sendable {
    var receipts: [Receipt]

    /// "This push launched me."
    struct Receipt: Codable, Hashable, Sendable {
        var apnsID: String
        /// RFC 3339, in the senders' time.
        var launchedAt: String
        /// Whether the app fetched all there is in that launch.
        var synced: Bool

        enum CodingKeys: String, CodingKey {
            case apnsID = "apns_id"
            case launchedAt = "launched_at"
            case synced
        }
    }
}

/// The body of `PUT /v1/devices/{token}/signals`.
struct SignalsBody: Codable, Hashable, Sendable {
    /// RFC 3339, in the senders' time.
    var at: String
    /// True when the user just opened the app; absent otherwise.
    var foreground: Bool?
    var lowPowerMode: Bool
    var batteryPercent: Int
    var charging: Bool
    var backgroundAppRefresh: Bool

    enum CodingKeys: String, CodingKey {
        case at
        case foreground
        case lowPowerMode = "low_power_mode"
        case batteryPercent = "battery_percent"
        case charging
        case backgroundAppRefresh = "background_app_refresh"
    }

    init(_ signals: DeviceSignals, opened: Bool, at instant: WallInstant) {
        at = instant.description
        foreground = opened ? true : nil
        lowPowerMode = signals.isInLowPowerMode
        batteryPercent = signals.batteryPercent
        charging = signals.isCharging
        backgroundAppRefresh = signals.allowsBackgroundRefresh
    }
}
