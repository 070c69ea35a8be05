// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// The events of one device over several days, drawn from a profile.
public struct DayPlan: Hashable, Sendable {
    /// The events in order of time. Those before the first day set its initial conditions, such as
    /// whether it is night or the device is charging.
    public private(set) var events: [Moment] = []

    /// One event with its time.
    public struct Moment: Hashable, Sendable {
        /// The time of the event.
        public var at: WallInstant
        /// The event.
        public var event: DeviceEvent

        /// Creates an event with its time.
        public init(at: WallInstant, event: DeviceEvent) {
            self.at = at
            self.event = event
        }
    }

    /// The number of minutes in a day.
    private static let minutesPerDay: Int64 = 1440
    private static let millisecondsPerMinute: Int64 = 60_000

    private let profile: DayProfile
    private let midnight: WallInstant
    private let days: Int64
    /// The times on the charger, in minutes after the first midnight, in order of time.
    private var debits: [Range<Int64>] = []

    /// Draws the events of `days` days, starting at a local midnight.
    ///
    /// Time and memory are proportional to the number of events, about 300 per day.
    public init(
        _ profile: DayProfile, midnight: WallInstant, days: Int,
        using generator: inout SeededGenerator
    ) {
        self.profile = profile
        self.midnight = midnight
        self.days = Int64(days)
        setSwitches()
        for day in -1..<self.days { draw(day, &generator) }
        drawBattery(&generator)
        drawSwitches(&generator)
        sort()
    }

    private mutating func setSwitches() {
        add(-Self.minutesPerDay, .backgroundRefresh(profile.allowsBackgroundRefresh))
        add(-Self.minutesPerDay, .notifications(profile.allowsNotifications))
    }

    /// Draws one day, in minutes after the first midnight.
    private mutating func draw(_ day: Int64, _ generator: inout SeededGenerator) {
        spans(profile.offline, day, &generator) { .online(!$0) }
        spans(profile.awayFromWiFi, day, &generator) { .wifi(!$0) }
        spans(profile.lowPowerMode, day, &generator) { .lowPowerMode($0) }
        for span in profile.charging {
            if let range = drawn(span, day, &generator) { debits.append(range) }
        }
        let begin = day * Self.minutesPerDay + profile.night.to
        let length =
            Self.minutesPerDay
            - (profile.night.to - profile.night.from + Self.minutesPerDay) % Self.minutesPerDay
        let jitter = profile.night.jitter
        let waking =
            begin + generator.integer(in: -jitter...jitter)..<begin + length
            + generator.integer(in: -jitter...jitter)
        drawPickups(waking, &generator)
        drawOthers(waking, until: begin + Self.minutesPerDay, &generator)
    }

    private mutating func spans(
        _ spans: [DayProfile.Span], _ day: Int64, _ generator: inout SeededGenerator,
        event: (Bool) -> DeviceEvent
    ) {
        for span in spans {
            guard let range = drawn(span, day, &generator) else { continue }
            add(range.lowerBound, event(true))
            add(range.upperBound, event(false))
        }
    }

    private func drawn(
        _ span: DayProfile.Span, _ day: Int64, _ generator: inout SeededGenerator
    ) -> Range<Int64>? {
        guard generator.chance(span.probability) else { return nil }
        let jitter = -span.jitter...span.jitter
        let begin = day * Self.minutesPerDay + span.from + generator.integer(in: jitter)
        let isOverMidnight = span.to <= span.from
        let end =
            (isOverMidnight ? day + 1 : day) * Self.minutesPerDay + span.to
            + generator.integer(in: jitter)
        return begin < end ? begin..<end : nil
    }

    /// Draws the times at which the user unlocks the device, and sometimes opens the app.
    private mutating func drawPickups(
        _ waking: Range<Int64>, _ generator: inout SeededGenerator
    ) {
        add(waking.lowerBound, .locked(false))
        add(waking.lowerBound + 1, .locked(true))
        guard profile.pickupsPerHour > 0 else { return }
        let pickupsPerWeek =
            profile.pickupsPerHour * Int64(waking.count) * 7 / 60
        let opens = Double(profile.appOpensPerWeek) / Double(max(1, pickupsPerWeek))
        let gap = 3_600_000 / profile.pickupsPerHour
        let end = milliseconds(waking.upperBound)
        var time = milliseconds(waking.lowerBound + 1) + generator.exponential(mean: gap)
        while time < end {
            add(milliseconds: time, .locked(false))
            let length = 5_000 + generator.exponential(mean: profile.pickupSeconds * 1000)
            if generator.chance(opens) {
                add(milliseconds: time + 2_000, .appOpened)
                let isForceQuit = generator.chance(profile.forceQuitProbability)
                add(milliseconds: time + length, isForceQuit ? .appForceQuit : .appLeft)
            }
            add(milliseconds: time + length, .locked(true))
            time += length + generator.exponential(mean: gap)
        }
    }

    /// Draws the pushes and launches of other apps.
    private mutating func drawOthers(
        _ waking: Range<Int64>, until nextDay: Int64, _ generator: inout SeededGenerator
    ) {
        let night = waking.upperBound..<max(waking.upperBound, nextDay)
        poisson(profile.otherPushesPerHour, waking, .otherAppNotified, &generator)
        poisson(profile.otherPushesPerNightHour, night, .otherAppNotified, &generator)
        poisson(profile.otherLaunchesPerHour, waking, .otherAppLaunched, &generator)
    }

    private mutating func poisson(
        _ perHour: Int64, _ range: Range<Int64>, _ event: DeviceEvent,
        _ generator: inout SeededGenerator
    ) {
        guard perHour > 0 else { return }
        let gap = 3_600_000 / perHour
        var time = milliseconds(range.lowerBound) + generator.exponential(mean: gap)
        while time < milliseconds(range.upperBound) {
            add(milliseconds: time, event)
            time += generator.exponential(mean: gap)
        }
    }

    /// Draws the battery level by the hour, and the Low Power Mode that depends on it.
    private mutating func drawBattery(_ generator: inout SeededGenerator) {
        for debit in debits {
            add(debit.lowerBound, .charging(true))
            add(debit.upperBound, .charging(false))
        }
        // A full charge takes 2.5 hours: 400 thousandths per hour.
        var level = generator.integer(in: 500...1000)
        var isSaving = false
        for hour in -24..<days * 24 {
            let minute = hour * 60
            let isCharged = debits.contains { $0.contains(minute) }
            let drain = profile.drainPermillePerHour / (isNight(minute) ? 8 : 1)
            level = isCharged ? min(1000, level + 400) : max(20, level - drain)
            add(minute, .battery(permille: Int(level)))
            guard profile.savesPowerWhenLow else { continue }
            if level < 200, !isCharged, !isSaving {
                isSaving = true
                add(minute, .lowPowerMode(true))
            } else if level >= 800, isSaving {
                isSaving = false
                add(minute, .lowPowerMode(false))
            }
        }
    }

    /// Draws the changes that do not depend on the time of day.
    private mutating func drawSwitches(_ generator: inout SeededGenerator) {
        alternate(profile.refreshSwitches, &generator) { .backgroundRefresh($0) }
        alternate(profile.lowPowerSwitches, &generator) { .lowPowerMode(!$0) }
        let burst = profile.burstMinutes
        for pause in alternate(profile.launchPauses, &generator, { .backgroundLaunches($0) }) {
            guard burst > 0 else { break }
            add(pause.upperBound, .launchSpacing(permille: 0))
            add(pause.upperBound + burst, .launchSpacing(permille: 1000))
        }
        guard let lengths = profile.spacingShiftMinutes else { return }
        var minute = -Self.minutesPerDay
        while minute < days * Self.minutesPerDay {
            let permille = generator.integer(in: profile.spacingShiftPermille)
            add(minute, .launchSpacing(permille: permille))
            minute += max(1, generator.integer(in: lengths))
        }
    }

    /// Draws the changes between two states, the usual one first. Returns the spans of the other
    /// state.
    @discardableResult
    private mutating func alternate(
        _ alternation: DayProfile.Alternation?, _ generator: inout SeededGenerator,
        _ event: (_ isUsual: Bool) -> DeviceEvent
    ) -> [Range<Int64>] {
        guard let alternation else { return [] }
        var turns: [Range<Int64>] = []
        var minute = -Self.minutesPerDay
        while minute < days * Self.minutesPerDay {
            let begin = minute + max(1, generator.integer(in: alternation.usualMinutes))
            let end = begin + max(1, generator.integer(in: alternation.otherMinutes))
            add(begin, event(false))
            add(end, event(true))
            turns.append(begin..<end)
            minute = end
        }
        return turns
    }

    /// Whether the user usually sleeps at this minute after the first midnight.
    private func isNight(_ minute: Int64) -> Bool {
        let (begin, end) = (profile.night.from, profile.night.to)
        let ofDay = (minute + Self.minutesPerDay) % Self.minutesPerDay
        return begin <= end
            ? (begin..<end).contains(ofDay) : ofDay >= begin || ofDay < end
    }

    private func milliseconds(_ minute: Int64) -> Int64 {
        midnight.millisecondsSinceEpoch + minute * Self.millisecondsPerMinute
    }

    private mutating func add(_ minute: Int64, _ event: DeviceEvent) {
        add(milliseconds: milliseconds(minute), event)
    }

    private mutating func add(milliseconds: Int64, _ event: DeviceEvent) {
        events.append(
            Moment(at: WallInstant(millisecondsSinceEpoch: milliseconds), event: event))
    }

    /// Sorts the events by time. Simultaneous events keep the order in which they were drawn.
    private mutating func sort() {
        // The index breaks ties, so that the order does not depend on a stable sort.
        let order = events.indices.sorted { left, right in
            let leftAt = events[left].at
            let rightAt = events[right].at
            return leftAt == rightAt ? left < right : leftAt < rightAt
        }
        events = order.map { events[$0] }
    }
}
