// SPDX-License-Identifier: Apache-2.0

/// The habits of a user and the surroundings of a device over a day.
///
/// All values are assumed (A). They vary the conditions that the gates of the model depend on.
/// Times are local minutes after midnight; a span that ends before it begins ends on the next day.
public struct DayProfile: Hashable, Sendable {
    /// The name in scenarios.
    public var name: String
    /// A description, in a sentence.
    public var summary: String

    /// The time at which the user sleeps and the screen stays locked.
    public var night = Span(from: 23 * 60, to: 7 * 60)
    /// The times on the charger.
    public var charging: [Span] = []
    /// The times without Wi-Fi.
    public var awayFromWiFi: [Span] = []
    /// The times without a connection.
    public var offline: [Span] = []
    /// The times at which the user turns Low Power Mode on.
    public var lowPowerMode: [Span] = []
    /// Whether Low Power Mode turns on below 20 % and off at 80 %.
    public var savesPowerWhenLow = false
    /// The battery drain by day, in thousandths per hour.
    public var drainPermillePerHour: Int64 = 40

    /// The number of times per hour that the user unlocks the device by day.
    public var pickupsPerHour: Int64 = 5
    /// The mean time for which it is unlocked, in seconds.
    public var pickupSeconds: Int64 = 120
    /// The number of times per week that the user opens the app.
    public var appOpensPerWeek: Int64 = 35
    /// The probability that the user removes the app from the app switcher after use; 0–1.
    public var forceQuitProbability = 0.0
    /// Whether Background App Refresh is enabled for the app.
    public var allowsBackgroundRefresh = true
    /// Whether notifications are allowed for the app.
    public var allowsNotifications = true

    /// The number of pushes with priority 10 for other apps by day, per hour.
    public var otherPushesPerHour: Int64 = 6
    /// The number of pushes with priority 10 for other apps at night, per hour.
    public var otherPushesPerNightHour: Int64 = 1
    /// The number of background launches of other apps, per hour.
    public var otherLaunchesPerHour: Int64 = 1

    /// The durations for which Background App Refresh is on and off; `nil` if the user never
    /// changes it.
    public var refreshSwitches: Alternation?
    /// The durations for which Low Power Mode is off and on; `nil` if the user never changes it.
    public var lowPowerSwitches: Alternation?
    /// The durations for which the system launches apps in the background and launches none; `nil`
    /// if it always does. After a pause it ignores spacing for `burstMinutes`.
    public var launchPauses: Alternation?
    /// The time without spacing after a pause in launching, in minutes.
    public var burstMinutes: Int64 = 0
    /// The time for which the spacing factor stays the same, in minutes; `nil` if it never changes.
    public var spacingShiftMinutes: ClosedRange<Int64>?
    /// The spacing factor, in thousandths.
    public var spacingShiftPermille: ClosedRange<Int64> = 1000...1000

    /// Creates a profile with default values.
    public init(name: String, summary: String) {
        self.name = name
        self.summary = summary
    }

    /// Two alternating states with random durations.
    public struct Alternation: Hashable, Sendable {
        /// The duration of the usual state, in minutes.
        public var usualMinutes: ClosedRange<Int64>
        /// The duration of the other state, in minutes.
        public var otherMinutes: ClosedRange<Int64>

        /// Creates an alternation.
        public init(usualMinutes: ClosedRange<Int64>, otherMinutes: ClosedRange<Int64>) {
            self.usualMinutes = usualMinutes
            self.otherMinutes = otherMinutes
        }
    }

    /// A span of the day.
    public struct Span: Hashable, Sendable {
        /// The first minute, after midnight.
        public var from: Int64
        /// The end, not included, in minutes after midnight; on the next day if it is before
        /// ``from``.
        public var to: Int64
        /// The maximum deviation of both ends from day to day, in minutes.
        public var jitter: Int64
        /// The probability that it occurs on a day; 0–1.
        public var probability: Double

        /// Creates a span of minutes after midnight.
        public init(from: Int64, to: Int64, jitter: Int64 = 20, probability: Double = 1) {
            self.from = from
            self.to = to
            self.jitter = jitter
            self.probability = probability
        }
    }
}
