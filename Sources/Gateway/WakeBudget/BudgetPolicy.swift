// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// The rules that decide when a device can afford a wake: checked settings.
public struct BudgetPolicy: Hashable, Sendable {
    /// The defaults of ``BudgetSettings``.
    public static let standard = BudgetPolicy(unchecked: BudgetSettings())

    /// The settings, each within its range.
    public let settings: BudgetSettings

    /// Checks settings.
    ///
    /// Throws ``InvalidBudgetSettings``, which names every setting that is out of its range.
    public init(_ settings: BudgetSettings) throws(InvalidBudgetSettings) {
        let problems = Self.problems(of: settings)
        guard problems.isEmpty else { throw InvalidBudgetSettings(problems: problems) }
        self.settings = settings
    }

    private init(unchecked settings: BudgetSettings) { self.settings = settings }

    /// The same rules for a topic whose app confirms launches, or does not.
    public func with(confirmsLaunches: Bool) -> BudgetPolicy {
        var settings = settings
        settings.confirmsLaunches = confirmsLaunches
        return BudgetPolicy(unchecked: settings)
    }

    /// The faults of settings; empty when a policy can be made of them.
    public static func problems(of settings: BudgetSettings) -> [InvalidField] {
        var problems = numbers.compactMap { number -> InvalidField? in
            let value = settings[keyPath: number.path]
            guard !number.range.contains(value) else { return nil }
            let (least, most) = (number.range.lowerBound, number.range.upperBound)
            return InvalidField(
                field: number.name, problem: "is \(value)",
                remedy: "Use a whole number from \(least) to \(most).")
        }
        if settings.spacingMaximumSeconds < settings.spacingSeconds {
            problems.append(
                InvalidField(
                    field: "spacingMaximumSeconds",
                    problem: "is \(settings.spacingMaximumSeconds), less than spacingSeconds "
                        + "(\(settings.spacingSeconds))",
                    remedy: "Use at least the spacing itself."))
        }
        if settings.dailySends < settings.hourlySends {
            problems.append(
                InvalidField(
                    field: "dailySends",
                    problem: "is \(settings.dailySends), less than hourlySends "
                        + "(\(settings.hourlySends))",
                    remedy: "Use at least the hourly number."))
        }
        return problems
    }

    private struct Number {
        let name: String
        let path: any KeyPath<BudgetSettings, Int> & Sendable
        let range: ClosedRange<Int>
    }

    private static let numbers = [
        Number(
            name: "spacingSeconds", path: \.spacingSeconds, range: BudgetLimits.spacingSeconds),
        Number(
            name: "spacingMaximumSeconds", path: \.spacingMaximumSeconds,
            range: BudgetLimits.spacingSeconds),
        Number(
            name: "foregroundSpacingSeconds", path: \.foregroundSpacingSeconds,
            range: BudgetLimits.spacingSeconds),
        Number(name: "hourlySends", path: \.hourlySends, range: BudgetLimits.hourlySends),
        Number(name: "dailySends", path: \.dailySends, range: BudgetLimits.dailySends),
        Number(name: "holdSeconds", path: \.holdSeconds, range: BudgetLimits.holdSeconds),
        Number(
            name: "confirmedSpacingSeconds", path: \.confirmedSpacingSeconds,
            range: BudgetLimits.spacingSeconds),
        Number(
            name: "confirmedHourlySends", path: \.confirmedHourlySends,
            range: BudgetLimits.hourlySends),
        Number(
            name: "confirmedDailySends", path: \.confirmedDailySends,
            range: BudgetLimits.dailySends),
        Number(
            name: "lowPowerModeLifeSeconds", path: \.lowPowerModeLifeSeconds,
            range: BudgetLimits.signalLifeSeconds),
        Number(
            name: "lowBatteryPercent", path: \.lowBatteryPercent,
            range: BudgetLimits.lowBatteryPercent),
        Number(
            name: "lowBatteryLifeSeconds", path: \.lowBatteryLifeSeconds,
            range: BudgetLimits.signalLifeSeconds),
        Number(
            name: "refreshOffLifeSeconds", path: \.refreshOffLifeSeconds,
            range: BudgetLimits.signalLifeSeconds),
        Number(
            name: "forceQuitLifeSeconds", path: \.forceQuitLifeSeconds,
            range: BudgetLimits.signalLifeSeconds),
        Number(
            name: "unusedAfterSeconds", path: \.unusedAfterSeconds,
            range: BudgetLimits.signalLifeSeconds),
        Number(name: "probeSeconds", path: \.probeSeconds, range: BudgetLimits.probeSeconds),
        Number(
            name: "callDeadlineSeconds", path: \.callDeadlineSeconds,
            range: BudgetLimits.callDeadlineSeconds),
        Number(name: "hourlyCalls", path: \.hourlyCalls, range: BudgetLimits.hourlyCalls),
        Number(name: "burstPushes", path: \.burstPushes, range: BudgetLimits.burstPushes),
        Number(
            name: "pushesPerMinute", path: \.pushesPerMinute,
            range: BudgetLimits.pushesPerMinute),
    ]
}

/// Invalid settings: every fault, so that all can be fixed together.
public struct InvalidBudgetSettings: Error, Hashable, Sendable, CustomStringConvertible {
    /// The faults, in the order of the settings; never empty.
    public let problems: [InvalidField]

    /// The problems, one a line.
    public var description: String {
        problems.map(\.description).joined(separator: "\n")
    }
}
