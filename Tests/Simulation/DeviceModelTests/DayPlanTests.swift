// SPDX-License-Identifier: Apache-2.0

import DeviceModel
import Testing
import WakeModel

@Suite("Plans of days")
struct DayPlanTests {
    static let midnight = WallInstant(secondsSinceEpoch: 1_800_057_600)

    private func plan(_ profile: DayProfile, seed: UInt64 = 1) -> DayPlan {
        var generator = SeededGenerator(seed: seed)
        return DayPlan(profile, midnight: Self.midnight, days: 28, using: &generator)
    }

    @Test("are in order, and the same for the same seed", arguments: DayProfile.known)
    func order(profile: DayProfile) {
        let events = plan(profile).events
        #expect(zip(events, events.dropFirst()).allSatisfy { $0.at <= $1.at })
        #expect(events == plan(profile).events)
        #expect(events != plan(profile, seed: 2).events)
    }

    @Test("open the app about as often as the profile says", arguments: DayProfile.known)
    func opens(profile: DayProfile) {
        let opened = plan(profile).events.count { $0.event == .appOpened }
        let expected = Double(profile.appOpensPerWeek) * 4
        #expect(abs(Double(opened) - expected) <= 5 * expected.squareRoot() + 2, "\(opened)")
    }

    @Test("have the user asleep at night", arguments: DayProfile.known)
    func night(profile: DayProfile) {
        let middle = (profile.night.from...(profile.night.from + 60 * 8)).lowerBound + 180
        let minute = middle % 1440
        let unlocks = plan(profile).events.filter { $0.event == .locked(false) }
        let atNight = unlocks.count {
            let since = $0.at.milliseconds(since: Self.midnight) / 60_000
            return ((since % 1440) + 1440) % 1440 == minute
        }
        #expect(atNight == 0)
    }

    // By night a battery loses an eighth, whether the night begins before midnight or after it.
    @Test(
        "the battery lasts through the night, and only through the night",
        arguments: [
            DayProfile.Span(from: 3 * 60, to: 11 * 60, jitter: 0),
            DayProfile.Span(from: 22 * 60, to: 6 * 60, jitter: 0),
        ])
    func drain(night: DayProfile.Span) {
        var profile = DayProfile(name: "drained", summary: "Never charged.")
        profile.night = night
        var levels: [Int64: Int] = [:]
        for event in plan(profile).events {
            if case .battery(let permille) = event.event {
                levels[event.at.milliseconds(since: Self.midnight) / 3_600_000] = permille
            }
        }
        // From the hour before to the hour itself, while there is something to lose.
        for (hour, level) in levels {
            guard let before = levels[hour - 1], level > 20 else { continue }
            let ofDay = (hour % 24 + 24) % 24 * 60
            let isNight =
                night.from < night.to
                ? (night.from..<night.to).contains(ofDay)
                : ofDay >= night.from || ofDay < night.to
            #expect(before - level == (isNight ? 5 : 40), "hour \(hour)")
        }
        #expect(levels.values.contains { $0 > 20 && $0 < 500 })
    }

    @Test("names are unique and found")
    func names() {
        #expect(Set(DayProfile.known.map(\.name)).count == DayProfile.known.count)
        for profile in DayProfile.known { #expect(DayProfile.named(profile.name) == profile) }
        #expect(DayProfile.named("nobody") == nil)
    }
}
