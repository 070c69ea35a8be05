// SPDX-License-Identifier: Apache-2.0

/// Devices with similar limits: the ranges from which the parameters and habits of each device are
/// drawn uniformly.
///
/// All values are assumed (A), with wider ranges than facts §6.3: a family tests a schedule on
/// devices that were not measured.
public struct DeviceFamily: Hashable, Sendable {
    /// The name in reports.
    public var name: String
    /// The common property of its devices, in a sentence.
    public var summary: String

    /// `rate.min_spacing_s`.
    public var spacingSeconds: ClosedRange<Int64> = 300...1_800
    /// `rate.bucket_capacity`.
    public var bucketCapacity: ClosedRange<Int64> = 1...4
    /// `rate.bucket_refill_s`, in thousandths of the spacing.
    public var refillPermille: ClosedRange<Int64> = 1000...1500
    /// `rate.device_cap_per_hour`.
    public var launchesPerHour: ClosedRange<Int64> = 4...20
    /// `budget.energy_runtime_s_per_day`.
    public var runtimeSeconds: ClosedRange<Int64> = 300...1_800
    /// `device.hold_max_age_s`.
    public var holdSeconds: ClosedRange<Int64> = 3_600...86_400
    /// `apns.loss_p`, in thousandths.
    public var lossPermille: ClosedRange<Int64> = 0...20
    /// The number of launches of other apps by day, per hour.
    public var otherLaunchesPerHour: ClosedRange<Int64> = 0...2
    /// The part of a shared run time that each of them uses, in seconds.
    public var otherAppSeconds: ClosedRange<Int64> = 0...0

    /// The time for which the spacing factor stays the same, in minutes; `nil` if it never changes.
    public var shiftMinutes: ClosedRange<Int64>?
    /// The spacing factor, in thousandths.
    public var shiftPermille: ClosedRange<Int64> = 1000...1000
    /// The durations for which the system launches apps and launches none; `nil` if it always does.
    public var launchPauses: DayProfile.Alternation?
    /// The time without spacing after such a pause, in minutes.
    public var burstMinutes: ClosedRange<Int64> = 0...0
    /// The durations for which Background App Refresh is on and off; `nil` if it stays on.
    public var refreshSwitches: DayProfile.Alternation?
    /// The durations for which Low Power Mode is off and on; `nil` if it stays off.
    public var lowPowerSwitches: DayProfile.Alternation?

    /// The number of times per week that the user opens the app.
    public var opensPerWeek: ClosedRange<Int64> = 7...70
    /// The probability that the user removes the app from the app switcher after use, in
    /// thousandths.
    public var forceQuitPermille: ClosedRange<Int64> = 0...0
    /// The number of times per day without a connection.
    public var outages: ClosedRange<Int64> = 0...1
    /// The duration of each, in minutes.
    public var outageMinutes: ClosedRange<Int64> = 5...40

    /// Creates a family with default ranges.
    public init(name: String, summary: String) {
        self.name = name
        self.summary = summary
    }

    /// Draws the hidden parameters of one device, and its profile.
    public func drawn(
        using generator: inout SeededGenerator
    ) -> (parameters: ModelParameters, profile: DayProfile) {
        (drawnParameters(&generator), drawnProfile(&generator))
    }

    private func drawnParameters(_ generator: inout SeededGenerator) -> ModelParameters {
        var drawn = ModelParameters.drawn(using: &generator)
        drawn.service.lossProbability = Double(generator.integer(in: lossPermille)) / 1000
        drawn.rate.minimumSpacingSeconds = generator.integer(in: spacingSeconds)
        drawn.rate.bucketCapacity = generator.integer(in: bucketCapacity)
        drawn.rate.bucketRefillSeconds =
            drawn.rate.minimumSpacingSeconds * generator.integer(in: refillPermille) / 1000
        drawn.rate.deviceLaunchesPerHour = Int(generator.integer(in: launchesPerHour))
        drawn.budget.runtimeSeconds = generator.integer(in: runtimeSeconds)
        drawn.budget.otherAppSeconds = generator.integer(in: otherAppSeconds)
        drawn.gates.maximumHoldSeconds = generator.integer(in: holdSeconds)
        return drawn
    }

    private func drawnProfile(_ generator: inout SeededGenerator) -> DayProfile {
        var profile = DayProfile(name: name, summary: summary)
        let bedtime = generator.integer(in: 20 * 60...26 * 60)
        let night = generator.integer(in: 5 * 60...9 * 60)
        profile.night = DayProfile.Span(
            from: bedtime % 1440, to: (bedtime + night) % 1440,
            jitter: generator.integer(in: 0...60))
        // Charging at night, or for some hours of the day.
        let isNightly = generator.chance(0.7)
        let plugged = isNightly ? bedtime : generator.integer(in: 8 * 60...18 * 60)
        let charge = isNightly ? night : generator.integer(in: 60...240)
        profile.charging = [
            DayProfile.Span(from: plugged % 1440, to: (plugged + charge) % 1440, jitter: 30)
        ]
        profile.drainPermillePerHour = generator.integer(in: 15...70)
        profile.savesPowerWhenLow = generator.chance(0.4)
        profile.pickupsPerHour = generator.integer(in: 1...12)
        profile.appOpensPerWeek = generator.integer(in: opensPerWeek)
        profile.forceQuitProbability = Double(generator.integer(in: forceQuitPermille)) / 1000
        profile.otherPushesPerHour = generator.integer(in: 0...12)
        profile.otherLaunchesPerHour = generator.integer(in: otherLaunchesPerHour)
        profile.awayFromWiFi = spans(generator.integer(in: 0...2), 30...540, &generator)
        profile.offline = spans(generator.integer(in: outages), outageMinutes, &generator)
        profile.refreshSwitches = refreshSwitches
        profile.lowPowerSwitches = lowPowerSwitches
        profile.launchPauses = launchPauses
        profile.burstMinutes = generator.integer(in: burstMinutes)
        profile.spacingShiftMinutes = shiftMinutes
        profile.spacingShiftPermille = shiftPermille
        return profile
    }

    private func spans(
        _ count: Int64, _ minutes: ClosedRange<Int64>, _ generator: inout SeededGenerator
    ) -> [DayProfile.Span] {
        (0..<count).map { _ in
            let from = generator.integer(in: 0...1439)
            let to = (from + generator.integer(in: minutes)) % 1440
            return DayProfile.Span(from: from, to: to, jitter: 15, probability: 0.7)
        }
    }
}

// The families that Rouse ships.
extension DeviceFamily {
    /// All families, in the order of reports.
    public static let known: [DeviceFamily] = [
        unmeasured, sharing, shifting, pausing, switching, unreachable,
    ]

    /// Unmeasured spacings, buckets and limits only.
    public static let unmeasured: DeviceFamily = {
        var family = DeviceFamily(
            name: "unmeasured", summary: "Any spacing from 3 minutes to an hour, with savings.")
        family.spacingSeconds = 180...3_600
        family.bucketCapacity = 1...6
        family.refillPermille = 700...2_000
        return family
    }()

    /// The hourly limit and the daily run time are shared with other apps.
    public static let sharing: DeviceFamily = {
        var family = DeviceFamily(
            name: "sharing", summary: "The hour and the day's run time are shared with other apps.")
        family.launchesPerHour = 3...12
        family.otherLaunchesPerHour = 1...8
        family.otherAppSeconds = 1...8
        return family
    }()

    /// The spacing factor changes every few hours.
    public static let shifting: DeviceFamily = {
        var family = DeviceFamily(
            name: "shifting", summary: "The distance of launches changes every few hours.")
        family.shiftMinutes = 90...480
        family.shiftPermille = 250...4_000
        return family
    }()

    /// The system launches no app for hours, and then all at once.
    public static let pausing: DeviceFamily = {
        var family = DeviceFamily(
            name: "pausing", summary: "Nothing is launched for hours, then all that comes.")
        family.launchPauses = .init(usualMinutes: 60...600, otherMinutes: 60...420)
        family.burstMinutes = 5...60
        return family
    }()

    /// Background App Refresh and Low Power Mode are turned off and on.
    public static let switching: DeviceFamily = {
        var family = DeviceFamily(
            name: "switching",
            summary: "Background App Refresh and Low Power Mode are switched off and on again.")
        family.refreshSwitches = .init(usualMinutes: 600...4_320, otherMinutes: 60...1_440)
        family.lowPowerSwitches = .init(usualMinutes: 240...2_880, otherMinutes: 30...600)
        return family
    }()

    /// Often offline, with lost pushes, and an app that is removed from the app switcher.
    public static let unreachable: DeviceFamily = {
        var family = DeviceFamily(
            name: "unreachable",
            summary: "Often offline, pushes lost, the app removed from the app switcher at times.")
        family.outages = 1...4
        family.outageMinutes = 10...300
        family.lossPermille = 0...60
        family.forceQuitPermille = 0...150
        return family
    }()
}
