// SPDX-License-Identifier: Apache-2.0

import PayloadRules

/// A threshold of a rule, with its name in a configuration file.
struct Threshold: Sendable {
    /// The valid values of a threshold.
    static let range = 0...1_000_000_000

    let name: String
    let set: @Sendable (inout WakeValidator.Configuration, Int) -> Void

    /// All thresholds; their meaning is documented in the rules' configuration.
    static let all: [Threshold] = [
        seconds("voip-expiration-seconds", \.voipExpirationLimitSeconds),
        count("background-per-hour", \.thresholds.backgroundPerHour),
        count("background-per-hour-error", \.thresholds.backgroundPerHourError),
        seconds("background-spacing-seconds", \.thresholds.backgroundSpacingSeconds),
        count("burst-devices", \.thresholds.burstDevices),
        seconds("burst-seconds", \.thresholds.burstSeconds),
        count("voip-per-hour", \.thresholds.voipPerHour),
        seconds("voip-retry-seconds", \.thresholds.voipRetrySeconds),
        count(
            "live-activity-immediate-per-hour", \.thresholds.liveActivityImmediatePerHour),
        count("location-per-hour", \.thresholds.locationPerHour),
        count("service-updates-per-hour", \.thresholds.serviceUpdatesPerHour),
        seconds("token-minimum-age-seconds", \.thresholds.tokenMinimumAgeSeconds),
        seconds("token-maximum-age-seconds", \.thresholds.tokenMaximumAgeSeconds),
        seconds("clock-skew-seconds", \.thresholds.clockSkewSeconds),
        seconds("server-error-pause-seconds", \.thresholds.serverErrorPauseSeconds),
    ]

    private static func count(
        _ name: String, _ path: any WritableKeyPath<WakeValidator.Configuration, Int> & Sendable
    ) -> Threshold {
        Threshold(name: name) { $0[keyPath: path] = $1 }
    }

    private static func seconds(
        _ name: String, _ path: any WritableKeyPath<WakeValidator.Configuration, Int64> & Sendable
    ) -> Threshold {
        Threshold(name: name) { $0[keyPath: path] = Int64($1) }
    }
}
