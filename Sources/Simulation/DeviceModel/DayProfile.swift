// SPDX-License-Identifier: Apache-2.0

/// A day in the life of a device, as data: what its user and its surroundings do, by the clock.
///
/// All of it is assumed (A): it gives the gates of the model something to do, with habits that
/// differ as people do. Times are local minutes after midnight; a span that ends before it begins
/// goes on into the next day.
public struct DayProfile: Hashable, Sendable {
    /// Its name, as scenarios write it.
    public var name: String
    /// Who that is, in a sentence.
    public var summary: String

    /// When its user sleeps, and the screen stays locked.
    public var night = Span(from: 23 * 60, to: 7 * 60)
    /// When it is on the charger.
    public var charging: [Span] = []
    /// When it is away from Wi-Fi.
    public var awayFromWiFi: [Span] = []
    /// When it cannot be reached.
    public var offline: [Span] = []
    /// When its user has Low Power Mode on.
    public var lowPowerMode: [Span] = []
    /// Whether Low Power Mode goes on by itself below 20 %, and off again at 80 %.
    public var savesPowerWhenLow = false
    /// What the battery loses in an hour, in thousandths, by day.
    public var drainPermillePerHour: Int64 = 40

    /// How often in an hour its user takes it up, by day.
    public var pickupsPerHour: Int64 = 5
    /// How long it is unlocked then, on average, in seconds.
    public var pickupSeconds: Int64 = 120
    /// How often in a week its user opens the app.
    public var appOpensPerWeek: Int64 = 35
    /// How often its user removes the app from the app switcher after using it; 0–1.
    public var forceQuitProbability = 0.0
    /// Whether Background App Refresh is on for the app.
    public var allowsBackgroundRefresh = true
    /// Whether the app may show notifications.
    public var allowsNotifications = true

    /// How often in an hour other apps get pushes of priority 10, by day.
    public var otherPushesPerHour: Int64 = 6
    /// The same by night.
    public var otherPushesPerNightHour: Int64 = 1
    /// How often in an hour the system launches other apps in the background.
    public var otherLaunchesPerHour: Int64 = 1

    /// How long Background App Refresh stays on and off in turn, where its user switches it.
    public var refreshSwitches: Alternation?
    /// How long Low Power Mode stays off and on in turn, where its user switches it.
    public var lowPowerSwitches: Alternation?
    /// How long the system launches apps in the background and launches none in turn. When it
    /// launches them again it takes no account of spacing for `burstMinutes`.
    public var launchPauses: Alternation?
    /// How long no spacing holds after a pause in launching, in minutes.
    public var burstMinutes: Int64 = 0
    /// How long the distance of launches stays the same, in minutes; `nil` where it never changes.
    public var spacingShiftMinutes: ClosedRange<Int64>?
    /// What the distance of launches is multiplied by then, in thousandths.
    public var spacingShiftPermille: ClosedRange<Int64> = 1000...1000

    /// A profile with the defaults of the properties.
    public init(name: String, summary: String) {
        self.name = name
        self.summary = summary
    }

    /// Two states that take turns, each for a time drawn anew.
    public struct Alternation: Hashable, Sendable {
        /// How long the usual state lasts, in minutes.
        public var usualMinutes: ClosedRange<Int64>
        /// How long the other lasts, in minutes.
        public var otherMinutes: ClosedRange<Int64>

        /// Creates an alternation.
        public init(usualMinutes: ClosedRange<Int64>, otherMinutes: ClosedRange<Int64>) {
            self.usualMinutes = usualMinutes
            self.otherMinutes = otherMinutes
        }
    }

    /// A part of the day.
    public struct Span: Hashable, Sendable {
        /// Its first minute after midnight.
        public var from: Int64
        /// Its last, not included; before ``from`` it is on the next day.
        public var to: Int64
        /// How far both ends stray from day to day, in minutes.
        public var jitter: Int64
        /// On which share of the days it happens; 0–1.
        public var probability: Double

        /// A span of minutes after midnight.
        public init(from: Int64, to: Int64, jitter: Int64 = 20, probability: Double = 1) {
            self.from = from
            self.to = to
            self.jitter = jitter
            self.probability = probability
        }
    }
}
