// SPDX-License-Identifier: Apache-2.0

/// Every figure of the device model: the table of facts §6.3, under the same names.
///
/// Each parameter carries its source: documented (D), stated by an Apple engineer (E), observed
/// (O), reverse-engineered (R) or assumed (A). Real devices differ by version and in ways that are
/// not modelled; the model serves to compare schedules with each other, never to forecast.
public struct ModelParameters: Hashable, Sendable {
    /// What APNs does before a push reaches the device.
    public var service = Service()
    /// How far apart the system lets launches be.
    public var rate = Rate()
    /// What the app may use up in a day.
    public var budget = Budget()
    /// What must be so before anything is launched.
    public var gates = Gates()

    /// The defaults of facts §6.3.
    public init() {}

    /// The defaults without chance and without delay: what the vectors M1–M12 of facts §12
    /// are computed by.
    public static var exact: ModelParameters {
        var parameters = ModelParameters()
        parameters.service.latencyMedianMilliseconds = 0
        parameters.service.latencyPercentile95Milliseconds = 0
        parameters.service.lossProbability = 0
        parameters.service.reorderProbability = 0
        parameters.service.overwriteLatestProbability = 1
        return parameters
    }

    /// APNs' side: the rows `apns.…`.
    public struct Service: Hashable, Sendable {
        /// `overwrite_latest_p`: how often the newer of two stored pushes survives; 0.9–1 (A,
        /// "usually the latest").
        public var overwriteLatestProbability = 0.98
        /// `ttl_default_s`: how long a push is stored at most, in seconds; one without an
        /// expiration is stored that long (D).
        public var defaultStorageSeconds: Int64 = 2_592_000
        /// `reorder_p`: how often a push is overtaken by later ones; 0–0.05 (A).
        public var reorderProbability = 0.005
        /// `reject_p10_background`: whether a background push with priority 10 is refused (O: no
        /// refusal was ever reported).
        public var rejectsImmediateBackground = false
        /// `p5_needs_awake`: whether priority 5 and 1 wait at APNs while the device sleeps (E).
        public var needsAwakeDevice = true
        /// `lpm_blocks_p10_p`: how often priority 10 does not pass in Low Power Mode; 0–1 (A).
        public var lowPowerModeBlocksProbability = 0.2
        /// `latency_s`, median in milliseconds (A).
        public var latencyMedianMilliseconds: Int64 = 500
        /// `latency_s`, 95th percentile in milliseconds (A).
        public var latencyPercentile95Milliseconds: Int64 = 5_000
        /// `loss_p`: how often a push vanishes; 0–0.05 (A).
        public var lossProbability = 0.002
    }

    /// Spacing: the rows `rate.…` and `relax.charging_spacing_factor`.
    public struct Rate: Hashable, Sendable {
        /// `min_spacing_s`: from launch to launch, in seconds; 600–1260 (E).
        public var minimumSpacingSeconds: Int64 = 900
        /// `bucket_capacity`: launches that can be saved up; 1–4 (A: 1 makes 7 launches of 14).
        public var bucketCapacity: Int64 = 1
        /// `bucket_refill_s`: how long one launch takes to be earned, in seconds; 900–1800 (E/A).
        public var bucketRefillSeconds: Int64 = 900
        /// `device_cap_per_hour`: background launches of all apps in any hour; 3–20 (A).
        public var deviceLaunchesPerHour = 8
        /// `charging_spacing_factor`: what spacing and refill time are multiplied by on the
        /// charger; 0.2–1 (A).
        public var chargingFactor = 0.5
        /// `run.no_completion`: what the next spacing is multiplied by after a handler that never
        /// completed (A).
        public var penaltyFactor: Int64 = 2
    }

    /// What is counted by the day: the rows `budget.…` and `run.max_s`.
    public struct Budget: Hashable, Sendable {
        /// `reset_period_s`: in seconds (D).
        public var resetPeriodSeconds: Int64 = 86_400
        /// `reset_phase`: when in the period it is reset, in seconds after the epoch's midnight;
        /// any (A: 04:00).
        public var resetPhaseSeconds: Int64 = 14_400
        /// `energy_runtime_s_per_day`: run time of one app, in seconds; 200–1800 (A).
        public var runtimeSeconds: Int64 = 600
        /// What the launch of another app takes of that run time, in seconds: 0 where each app has
        /// a budget of its own (A; that apps share them: facts §6.1, E).
        public var otherAppSeconds: Int64 = 0
        /// `cell_bytes_per_day`: cellular bytes of one app; 1–20 MB (A).
        public var cellularBytes: Int64 = 5_000_000
        /// `run.max_s`: the longest run, in seconds (D).
        public var maximumRunSeconds: Int64 = 30
    }

    /// Conditions: the rows `gate.…`, `device.hold_max_age_s`, `relax.low_data_mode`.
    public struct Gates: Hashable, Sendable {
        /// `device.hold_max_age_s`: how long the device keeps a push, in seconds; 3600–86400 (R).
        public var maximumHoldSeconds: Int64 = 86_400
        /// `battery_min`: the lowest charge off the charger, in thousandths (E).
        public var minimumBatteryPermille = 200
        /// `lpm`: what Low Power Mode does (derived from D).
        public var lowPowerMode = LowPowerEffect.blocks
        /// `reboot_clears_force_quit`: after the first unlock (D, and contradicted by E).
        public var rebootClearsForceQuit = true
        /// `not_launched_days`: after how many days without use nothing is launched; 7–30, `nil`
        /// for never (E/A: sources contradict each other).
        public var unusedDays: Int64?
        /// `herd_after_s`: how long locked, or without Wi-Fi, until coming back counts as a
        /// thundering herd, in seconds (R).
        public var herdAfterSeconds: Int64 = 14_400
        /// `herd_block_s`: how long a herd blocks, in seconds (O).
        public var herdBlockSeconds: Int64 = 300
        /// `herd_block_s` while the device is in use, in seconds (O).
        public var herdBlockInUseSeconds: Int64 = 900
        /// `relax.low_data_mode`: whether Low Data Mode blocks on cellular (A).
        public var lowDataModeBlocks = true
    }

    /// What Low Power Mode does to background pushes.
    public enum LowPowerEffect: String, Hashable, Sendable, CaseIterable {
        /// Nothing is launched, and APNs stores what is not priority 10.
        case blocks
        /// Launches are four times as far apart.
        case quadruplesSpacing = "quadruples-spacing"
    }
}
