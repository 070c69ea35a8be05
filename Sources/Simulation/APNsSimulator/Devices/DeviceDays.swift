// SPDX-License-Identifier: Apache-2.0

import DeviceModel
import WakeModel

/// The events of a device by a profile, day after day without end. One day is drawn at a time, so
/// that a device needs the memory of one.
struct DeviceDays: Sendable {
    private let profile: DayProfile
    private var generator: SeededGenerator
    /// The day that is drawn, in the order of time.
    private var moments: [DayPlan.Moment]
    private var place = 0
    /// The midnight at which the next day must be drawn.
    private var end: WallInstant

    private static let millisecondsPerDay: Int64 = 86_400_000

    /// Days by UTC, from the evening before `start` on, which brings the device into the state
    /// that it has then.
    init(_ profile: DayProfile, from start: WallInstant, using generator: SeededGenerator) {
        self.profile = profile
        self.generator = generator
        let day = start.millisecondsSinceEpoch / Self.millisecondsPerDay
        let midnight = WallInstant(millisecondsSinceEpoch: day * Self.millisecondsPerDay)
        let plan = DayPlan(profile, midnight: midnight, days: 1, using: &self.generator)
        end = midnight.advanced(byMilliseconds: Self.millisecondsPerDay)
        moments = plan.events.filter { [end] in $0.at < end }
    }

    /// When the next thing happens, or the next day must be drawn.
    var next: WallInstant { place < moments.count ? moments[place].at : end }

    /// Takes the next thing that happens before `instant`; `nil` when there is none.
    mutating func take(before instant: WallInstant) -> DayPlan.Moment? {
        while place == moments.count {
            guard end < instant else { return nil }
            drawNextDay()
        }
        guard moments[place].at < instant else { return nil }
        defer { place += 1 }
        return moments[place]
    }

    /// Each day is drawn for itself, so at midnight the device changes from how the old day left
    /// it to how the new one finds it.
    private mutating func drawNextDay() {
        let midnight = end
        let plan = DayPlan(profile, midnight: midnight, days: 1, using: &generator)
        end = midnight.advanced(byMilliseconds: Self.millisecondsPerDay)
        let evening = plan.events.prefix { $0.at < midnight }
        let today = plan.events.dropFirst(evening.count).prefix { [end] in $0.at < end }
        moments = Self.state(after: evening).map { DayPlan.Moment(at: midnight, event: $0) } + today
        place = 0
    }

    /// The events that bring a device into the state that others left it in. The app is left.
    private static func state(after moments: ArraySlice<DayPlan.Moment>) -> [DeviceEvent] {
        var conditions = DeviceConditions()
        for moment in moments { conditions.note(moment.event) }
        return [
            .appLeft, .online(conditions.isOnline), .wifi(conditions.isOnWiFi),
            .charging(conditions.isCharging), .lowPowerMode(conditions.isInLowPowerMode),
            .locked(conditions.isLocked),
        ]
    }
}
