// SPDX-License-Identifier: Apache-2.0

import Testing
import WakeBudget

/// The properties of the budget, each checked at every step of every walk: a million steps with an
/// orderly clock, and a million with one that steps back and leaps.
@Suite("Properties of the budget")
struct BudgetWalkTests {
    static let stepsPerWalk = 250_000

    /// The defaults; the defaults for an app that confirms launches; room for much; hardly any.
    static let policies: [BudgetPolicy] = {
        var wide = BudgetSettings()
        wide.hourlySends = 8
        wide.dailySends = 60
        wide.spacingSeconds = 60
        wide.foregroundSpacingSeconds = 0
        wide.confirmsLaunches = true
        var narrow = BudgetSettings()
        narrow.hourlySends = 1
        narrow.dailySends = 4
        narrow.unusedAfterSeconds = 43_200
        narrow.lowPowerModeLifeSeconds = 600
        let confirming = BudgetPolicy.standard.with(confirmsLaunches: true)
        return [.standard, confirming] + [wide, narrow].compactMap { try? BudgetPolicy($0) }
    }()

    @Test(
        "hour, day and spacing are kept, due times hold, decisions repeat, and each wake ends once",
        arguments: [false, true], 0..<4)
    func properties(hasClockTrouble: Bool, policy: Int) {
        let seed = UInt64(policy) + (hasClockTrouble ? 100 : 0)
        var walk = BudgetWalk(
            seed: seed, policy: Self.policies[policy], hasClockTrouble: hasClockTrouble)
        walk.run(steps: Self.stepsPerWalk)
        #expect(walk.failure == nil, "seed \(seed)")
        // A walk that sends nothing shows nothing.
        #expect(walk.sendCount > Self.stepsPerWalk / 100, "seed \(seed)")
    }
}
