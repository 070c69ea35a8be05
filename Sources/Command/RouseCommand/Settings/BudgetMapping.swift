// SPDX-License-Identifier: Apache-2.0

import WakeBudget
import WakeModel

/// The key `budget` of a configuration: the numbers of ``BudgetSettings``, by their names in kebab
/// case.
enum BudgetMapping {
    private struct Number: Sendable {
        let key: String
        let path: any WritableKeyPath<BudgetSettings, Int> & Sendable
        let range: ClosedRange<Int>

        init(
            _ key: String, _ path: any WritableKeyPath<BudgetSettings, Int> & Sendable,
            _ range: ClosedRange<Int>
        ) {
            self.key = key
            self.path = path
            self.range = range
        }
    }

    private static let numbers = [
        Number("spacing-seconds", \.spacingSeconds, BudgetLimits.spacingSeconds),
        Number("spacing-maximum-seconds", \.spacingMaximumSeconds, BudgetLimits.spacingSeconds),
        Number(
            "foreground-spacing-seconds", \.foregroundSpacingSeconds,
            BudgetLimits.spacingSeconds),
        Number("hourly-sends", \.hourlySends, BudgetLimits.hourlySends),
        Number("daily-sends", \.dailySends, BudgetLimits.dailySends),
        Number("hold-seconds", \.holdSeconds, BudgetLimits.holdSeconds),
        Number("confirmed-spacing-seconds", \.confirmedSpacingSeconds, BudgetLimits.spacingSeconds),
        Number("confirmed-hourly-sends", \.confirmedHourlySends, BudgetLimits.hourlySends),
        Number("confirmed-daily-sends", \.confirmedDailySends, BudgetLimits.dailySends),
        Number(
            "low-power-mode-life-seconds", \.lowPowerModeLifeSeconds,
            BudgetLimits.signalLifeSeconds),
        Number("low-battery-percent", \.lowBatteryPercent, BudgetLimits.lowBatteryPercent),
        Number("low-battery-life-seconds", \.lowBatteryLifeSeconds, BudgetLimits.signalLifeSeconds),
        Number("refresh-off-life-seconds", \.refreshOffLifeSeconds, BudgetLimits.signalLifeSeconds),
        Number("force-quit-life-seconds", \.forceQuitLifeSeconds, BudgetLimits.signalLifeSeconds),
        Number("unused-after-seconds", \.unusedAfterSeconds, BudgetLimits.signalLifeSeconds),
        Number("probe-seconds", \.probeSeconds, BudgetLimits.probeSeconds),
        Number("call-deadline-seconds", \.callDeadlineSeconds, BudgetLimits.callDeadlineSeconds),
        Number("hourly-calls", \.hourlyCalls, BudgetLimits.hourlyCalls),
        Number("burst-pushes", \.burstPushes, BudgetLimits.burstPushes),
        Number("pushes-per-minute", \.pushesPerMinute, BudgetLimits.pushesPerMinute),
    ]

    /// Their keys.
    static var keys: [String] { numbers.map(\.key) }

    /// The settings that a mapping's `budget` makes of others.
    static func settings(
        in parent: ConfigurationMapping, over settings: BudgetSettings
    ) throws(CommandFailure) -> BudgetSettings {
        guard let mapping = try parent.mapping("budget", known: keys) else {
            return settings
        }
        var settings = settings
        for number in numbers {
            if let value = try mapping.integer(number.key, in: number.range) {
                settings[keyPath: number.path] = value
            }
        }
        return settings
    }

    /// The same as a policy, whose numbers also fit each other.
    static func policy(
        in parent: ConfigurationMapping, over settings: BudgetSettings
    ) throws(CommandFailure) -> BudgetPolicy {
        let settings = try self.settings(in: parent, over: settings)
        do throws(InvalidBudgetSettings) {
            return try BudgetPolicy(settings)
        } catch {
            throw parent.failure(
                "budget", "has numbers that do not fit each other",
                error.problems.map(\.description).joined(separator: " "))
        }
    }
}
