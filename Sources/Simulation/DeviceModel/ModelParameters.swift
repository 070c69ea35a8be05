// SPDX-License-Identifier: Apache-2.0

/// The parameters of the device model: the table of facts §6.3, with the same names.
///
/// Each parameter has its source: documented (D), stated by an Apple engineer (E), observed (O),
/// reverse-engineered (R) or assumed (A). Real devices differ by version and in ways that are not
/// modelled. The model serves to compare schedules, not to forecast.
public struct ModelParameters: Hashable, Sendable {
    /// The behaviour of APNs before a push reaches the device.
    public var service = Service()
    /// The limits of the launch rate.
    public var rate = Rate()
    /// The daily budgets of the app.
    public var budget = Budget()
    /// The conditions for a launch.
    public var gates = Gates()

    /// Creates parameters with the defaults of facts §6.3.
    public init() {}

    /// The defaults without randomness and latency, by which the vectors M1–M12 of facts §12 are
    /// computed.
    public static var exact: ModelParameters {
        var parameters = ModelParameters()
        parameters.service.latencyMedianMilliseconds = 0
        parameters.service.latencyPercentile95Milliseconds = 0
        parameters.service.lossProbability = 0
        parameters.service.reorderProbability = 0
        parameters.service.overwriteLatestProbability = 1
        return parameters
    }

    /// The parameters of APNs: the rows `apns.…`.
    public struct Service: Hashable, Sendable {
        /// `overwrite_latest_p`: the probability that the newer of two stored pushes is kept; 0.9–1
        /// (A, "usually the latest").
        public var overwriteLatestProbability = 0.98
        /// `ttl_default_s`: the maximum storage time, in seconds, which applies to a push without
        /// an expiration (D).
        public var defaultStorageSeconds: Int64 = 2_592_000
        /// `reorder_p`: the probability that later pushes overtake a push; 0–0.05 (A).
        public var reorderProbability = 0.005
        /// `reject_p10_background`: whether APNs rejects a background push with priority 10 (O: no
        /// rejection was ever reported).
        public var rejectsImmediateBackground = false
        /// `p5_needs_awake`: whether APNs stores priorities 5 and 1 while the device sleeps (E).
        public var needsAwakeDevice = true
        /// `lpm_blocks_p10_p`: the probability that Low Power Mode blocks priority 10; 0–1 (A).
        public var lowPowerModeBlocksProbability = 0.2
        /// `latency_s`: the median, in milliseconds (A).
        public var latencyMedianMilliseconds: Int64 = 500
        /// `latency_s`: the 95th percentile, in milliseconds (A).
        public var latencyPercentile95Milliseconds: Int64 = 5_000
        /// `loss_p`: the probability that a push is lost; 0–0.05 (A).
        public var lossProbability = 0.002
    }

    /// Spacing: the rows `rate.…` and `relax.charging_spacing_factor`.
    public struct Rate: Hashable, Sendable {
        /// `min_spacing_s`: the minimum spacing of launches, in seconds; 600–1260 (E).
        public var minimumSpacingSeconds: Int64 = 900
        /// `bucket_capacity`: the number of launches that can accumulate; 1–4 (A: 1 makes 7
        /// launches of 14).
        public var bucketCapacity: Int64 = 1
        /// `bucket_refill_s`: the refill time of one launch, in seconds; 900–1800 (E/A).
        public var bucketRefillSeconds: Int64 = 900
        /// `device_cap_per_hour`: the maximum number of background launches of all apps per hour;
        /// 3–20 (A).
        public var deviceLaunchesPerHour = 8
        /// `charging_spacing_factor`: the factor of spacing and refill time on the charger; 0.2–1
        /// (A).
        public var chargingFactor = 0.5
        /// `run.no_completion`: the factor of the next spacing after a handler that did not
        /// complete (A).
        public var penaltyFactor: Int64 = 2
    }

    /// The daily budgets: the rows `budget.…` and `run.max_s`.
    public struct Budget: Hashable, Sendable {
        /// `reset_period_s`: the period of resets, in seconds (D).
        public var resetPeriodSeconds: Int64 = 86_400
        /// `reset_phase`: the time of the reset, in seconds after midnight UTC; any (A: 04:00).
        public var resetPhaseSeconds: Int64 = 14_400
        /// `energy_runtime_s_per_day`: the run time of one app, in seconds; 200–1800 (A).
        public var runtimeSeconds: Int64 = 600
        /// The part of that run time that the launch of another app uses, in seconds; 0 if each app
        /// has its own budget (A; that apps share it: facts §6.1, E).
        public var otherAppSeconds: Int64 = 0
        /// `cell_bytes_per_day`: the cellular data of one app, in bytes; 1–20 MB (A).
        public var cellularBytes: Int64 = 5_000_000
        /// `run.max_s`: the maximum run time of a launch, in seconds (D).
        public var maximumRunSeconds: Int64 = 30
    }

    /// The conditions: the rows `gate.…`, `device.hold_max_age_s` and `relax.low_data_mode`.
    public struct Gates: Hashable, Sendable {
        /// `device.hold_max_age_s`: the maximum time for which the device holds a push, in seconds;
        /// 3600–86400 (R).
        public var maximumHoldSeconds: Int64 = 86_400
        /// `battery_min`: the minimum battery level off the charger, in thousandths (E).
        public var minimumBatteryPermille = 200
        /// `lpm`: the effect of Low Power Mode (derived from D).
        public var lowPowerMode = LowPowerEffect.blocks
        /// `reboot_clears_force_quit`: whether the first unlock after a restart does (D, and
        /// contradicted by E).
        public var rebootClearsForceQuit = true
        /// `not_launched_days`: the number of days without use after which the app is not launched;
        /// 7–30, `nil` for never (E/A: sources contradict each other).
        public var unusedDays: Int64?
        /// `herd_after_s`: the time locked, or without Wi-Fi, after which the return counts as a
        /// thundering herd, in seconds (R).
        public var herdAfterSeconds: Int64 = 14_400
        /// `herd_block_s`: the time for which a herd blocks launches, in seconds (O).
        public var herdBlockSeconds: Int64 = 300
        /// `herd_block_s` while the device is in use, in seconds (O).
        public var herdBlockInUseSeconds: Int64 = 900
        /// `relax.low_data_mode`: whether Low Data Mode blocks on cellular (A).
        public var lowDataModeBlocks = true
    }

    /// The effect of Low Power Mode on background pushes.
    public enum LowPowerEffect: String, Hashable, Sendable, CaseIterable {
        /// No launches; APNs stores pushes of other priorities than 10.
        case blocks
        /// The spacing of launches is four times as long.
        case quadruplesSpacing = "quadruples-spacing"
    }
}
