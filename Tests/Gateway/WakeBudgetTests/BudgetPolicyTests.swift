// SPDX-License-Identifier: Apache-2.0

import Testing
import WakeBudget
import WakeModel

@Suite("Budget policy")
struct BudgetPolicyTests {
    @Test("the defaults are the documented ones")
    func defaults() throws {
        let settings = BudgetPolicy.standard.settings
        #expect(settings.spacingSeconds == 15 * 60)
        #expect(settings.spacingMaximumSeconds == 3_600)
        #expect(settings.hourlySends == 3)
        #expect(settings.dailySends == 48)
        #expect(settings.holdSeconds == 24 * 3_600)
        #expect(settings.lowBatteryPercent == 20)
        #expect(settings.unusedAfterSeconds == 14 * 86_400)
        #expect(settings.probeSeconds == 86_400)
        #expect(settings.callDeadlineSeconds == 10)
        #expect(settings.hourlyCalls == 10)
        #expect(settings.burstPushes == 60 && settings.pushesPerMinute == 60)
        #expect(!settings.confirmsLaunches)
        #expect(try BudgetPolicy(BudgetSettings()) == .standard)
    }

    @Test("every number has a range, and a number outside is named with its remedy")
    func ranges() {
        let names = Mirror(reflecting: BudgetSettings()).children.filter { $0.value is Int }
            .compactMap(\.label)
        var settings = BudgetSettings()
        let all: [WritableKeyPath<BudgetSettings, Int>] = [
            \.spacingSeconds, \.spacingMaximumSeconds, \.foregroundSpacingSeconds, \.hourlySends,
            \.dailySends, \.holdSeconds, \.confirmedSpacingSeconds, \.confirmedHourlySends,
            \.confirmedDailySends, \.lowPowerModeLifeSeconds, \.lowBatteryPercent,
            \.lowBatteryLifeSeconds, \.refreshOffLifeSeconds, \.forceQuitLifeSeconds,
            \.unusedAfterSeconds, \.probeSeconds, \.callDeadlineSeconds, \.hourlyCalls,
            \.burstPushes, \.pushesPerMinute,
        ]
        #expect(all.count == names.count)
        for path in all { settings[keyPath: path] = -1 }
        let problems = BudgetPolicy.problems(of: settings)
        #expect(Set(problems.map(\.field)) == Set(names))
        #expect(problems[0].description.contains("is -1. Use a whole number from 0 to 86400."))
        for path in all { settings[keyPath: path] = .max }
        #expect(BudgetPolicy.problems(of: settings).count == names.count)
    }

    @Test("settings that contradict each other are no policy")
    func contradictions() {
        var settings = BudgetSettings()
        settings.spacingMaximumSeconds = 60
        settings.dailySends = 2
        do throws(InvalidBudgetSettings) {
            _ = try BudgetPolicy(settings)
            Issue.record("a policy was made")
        } catch {
            #expect(error.problems.map(\.field) == ["spacingMaximumSeconds", "dailySends"])
            #expect(error.description.contains("less than spacingSeconds (900)"))
        }
    }

    @Test("a topic that confirms launches has the same rules otherwise")
    func confirming() {
        let confirming = BudgetPolicy.standard.with(confirmsLaunches: true)
        #expect(confirming != .standard)
        #expect(confirming.with(confirmsLaunches: false) == .standard)
    }
}
