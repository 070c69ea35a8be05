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

    @Test("names are unique and found")
    func names() {
        #expect(Set(DayProfile.known.map(\.name)).count == DayProfile.known.count)
        for profile in DayProfile.known { #expect(DayProfile.named(profile.name) == profile) }
        #expect(DayProfile.named("nobody") == nil)
    }
}
