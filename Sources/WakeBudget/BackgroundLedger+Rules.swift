// SPDX-License-Identifier: Apache-2.0

/// When the rules let a wake go.
struct Release: Hashable, Sendable {
    /// The second from which on the rules allow it that no report can lift.
    var firm: Int64
    /// The second from which on all rules allow it.
    var until: Int64
    /// The rules that do not allow it now.
    var holds: Holds = []

    /// Takes account of a rule that no report can lift.
    mutating func wait(for second: Int64, _ hold: Hold, clock: Int64) {
        guard second > clock else { return }
        holds.insert(Holds(hold))
        firm = max(firm, second)
        until = max(until, second)
    }

    /// Takes account of a rule that holds until another report comes, or until it decays.
    mutating func wait(forSignal second: Int64, _ hold: Hold, clock: Int64) {
        guard second > clock else { return }
        holds.insert(Holds(hold))
        until = max(until, second)
    }
}

extension BackgroundLedger {
    /// When a wake of this urgency may go.
    func release(_ urgency: Urgency, _ settings: BudgetSettings) -> Release {
        var release = Release(firm: clock, until: clock)
        if urgency != .urgent {
            release.wait(
                for: spacingEnd(settings), isBackedOff(settings) ? .backOff : .spacing,
                clock: clock)
            release.wait(for: foregroundSpacingEnd(settings), .foreground, clock: clock)
        }
        release.wait(for: hourlyEnd(urgency, settings), .hourly, clock: clock)
        release.wait(for: dailyEnd(settings), .daily, clock: clock)
        if !reports.isDisjoint(with: [.lowPowerMode, .battery, .forceQuit]) {
            release.wait(forSignal: lowPowerModeEnd(settings), .lowPowerMode, clock: clock)
            release.wait(forSignal: lowBatteryEnd(settings), .lowBattery, clock: clock)
            release.wait(forSignal: forceQuitEnd(settings), .forceQuit, clock: clock)
        }
        // Last, for whether an app counts as used is judged at the time at which it would be woken.
        if isUnused(at: release.firm, settings) {
            release.wait(for: probeEnd(settings), .unused, clock: clock)
        } else if isUnused(at: release.until, settings) {
            release.wait(forSignal: probeEnd(settings), .unused, clock: clock)
        }
        return release
    }

    // MARK: What was sent

    /// The end of the spacing after the latest send; in the past when there was none.
    func spacingEnd(_ settings: BudgetSettings) -> Int64 {
        sends.count == 0 ? .min : second(of: sends[0]) + spacing(settings)
    }

    /// The spacing, in seconds: doubled for each send in a row that was not confirmed, beyond those
    /// that may be.
    func spacing(_ settings: BudgetSettings) -> Int64 {
        let base = Int64(settings.spacingSeconds)
        guard settings.confirmsLaunches, unconfirmed > settings.unconfirmedSends else {
            return base
        }
        // A day is under 2^17 seconds: more doublings than that change nothing.
        let doublings = min(Int64(unconfirmed) - Int64(settings.unconfirmedSends), 17)
        return min(base << doublings, Int64(settings.spacingMaximumSeconds))
    }

    /// Whether the spacing is longer than set.
    func isBackedOff(_ settings: BudgetSettings) -> Bool {
        settings.confirmsLaunches && unconfirmed > settings.unconfirmedSends
    }

    /// When the last 60 minutes have room for a send of this urgency.
    func hourlyEnd(_ urgency: Urgency, _ settings: BudgetSettings) -> Int64 {
        let limit =
            urgency == .deferrable ? max(1, settings.hourlySends - 1) : settings.hourlySends
        guard sends.count >= limit else { return .min }
        return second(of: sends[limit - 1]) + BudgetLimits.hourSeconds
    }

    /// When the last 24 hours have room for a send.
    func dailyEnd(_ settings: BudgetSettings) -> Int64 {
        guard day.total >= settings.dailySends else { return .min }
        return second(of: day.start) + day.secondsUntilUnder(settings.dailySends)
    }

    // MARK: What the app reported

    /// The end of the spacing after the latest foreground.
    func foregroundSpacingEnd(_ settings: BudgetSettings) -> Int64 {
        guard reports.contains(.foreground) else { return .min }
        return second(of: foregroundAt) + Int64(settings.foregroundSpacingSeconds)
    }

    /// Whether the app counts as not used at a second to come. Where no foreground was ever
    /// reported, nothing is known of its use.
    func isUnused(at second: Int64, _ settings: BudgetSettings) -> Bool {
        reports.contains(.foreground)
            && self.second(of: foregroundAt) + Int64(settings.unusedAfterSeconds) <= second
    }

    /// When the next probe of an app that is not used may go.
    func probeEnd(_ settings: BudgetSettings) -> Int64 {
        sends.count == 0 ? .min : second(of: sends[0]) + Int64(settings.probeSeconds)
    }

    func lowPowerModeEnd(_ settings: BudgetSettings) -> Int64 {
        guard reports.contains(.lowPowerMode) else { return .min }
        return second(of: lowPowerModeAt) + Int64(settings.lowPowerModeLifeSeconds)
    }

    func lowBatteryEnd(_ settings: BudgetSettings) -> Int64 {
        guard reports.contains(.battery), !reports.contains(.isCharging),
            batteryPercent < settings.lowBatteryPercent
        else { return .min }
        return second(of: batteryAt) + Int64(settings.lowBatteryLifeSeconds)
    }

    func forceQuitEnd(_ settings: BudgetSettings) -> Int64 {
        guard reports.contains(.forceQuit) else { return .min }
        return second(of: forceQuitAt) + Int64(settings.forceQuitLifeSeconds)
    }

    /// Until when it is believed that Background App Refresh is off; in the past when it is not.
    func refreshOffEnd(_ settings: BudgetSettings) -> Int64 {
        guard reports.contains(.refreshOff) else { return .min }
        return second(of: refreshOffAt) + Int64(settings.refreshOffLifeSeconds)
    }
}
