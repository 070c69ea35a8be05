// SPDX-License-Identifier: Apache-2.0

public import WakeModel

extension DeviceLedger {
    /// Explains the state of a device for a person. Changes nothing.
    public func explain(policy: BudgetPolicy, at now: WallInstant) -> Explanation {
        switch form {
        case .background(var ledger):
            ledger.observe(now)
            return ledger.explanation(policy.settings)
        case .voip(var ledger):
            ledger.observe(now)
            return ledger.explanation(policy.settings)
        case .plain(var ledger):
            ledger.observe(now)
            return ledger.explanation(policy.settings)
        }
    }
}

extension BackgroundLedger {
    func explanation(_ settings: BudgetSettings) -> Explanation {
        let urgency = pending?.urgency ?? .normal
        let release = release(urgency, repeats: pending?.isRepeat ?? false, settings)
        let refreshOffEnd = refreshOffEnd(settings)
        let standing = standing(settings)
        return Explanation(
            discipline: .background, at: Self.instant(clock),
            hourly: Explanation.Window(
                used: sendsInHour, limit: hourlyLimit(standing, settings),
                opens: later(hourlyEnd(.normal, standing, settings))),
            daily: Explanation.Window(
                used: day.total, limit: dailyLimit(standing, settings),
                opens: later(dailyEnd(urgency, standing, settings))),
            burst: nil, spacingSeconds: Int(spacing(urgency, standing, settings)),
            unconfirmedSends: Int(unconfirmed), inFlight: Int(inFlight),
            nextSend: Self.instant(max(release.until, refreshOffEnd)),
            rules: release.holds.all.map { rule($0, urgency, settings) },
            waiting: waiting(settings),
            suppression: later(refreshOffEnd).map { .backgroundAppRefreshOff(until: $0) })
    }

    private var sendsInHour: Int {
        (0..<Int(sends.count)).prefix {
            clock - second(of: sends[$0]) < BudgetLimits.hourSeconds
        }.count
    }

    /// A second as an instant, if it is in the future.
    private func later(_ second: Int64) -> WallInstant? {
        second > clock ? Self.instant(second) : nil
    }

    private func waiting(_ settings: BudgetSettings) -> Explanation.Waiting? {
        guard let pending, let outlook = outlook(settings) else { return nil }
        return Explanation.Waiting(
            outlook: outlook, urgency: pending.urgency, requests: Int(pending.requests),
            since: Self.instant(second(of: pending.since)))
    }

    private func rule(
        _ hold: DelayReason, _ urgency: Urgency, _ settings: BudgetSettings
    ) -> Explanation.HoldingRule {
        let until = Self.instant(end(of: hold, urgency, settings))
        return Explanation.HoldingRule(
            hold: hold, until: until, sentence: sentence(hold, urgency, settings) + " (\(until)).")
    }

    private func end(of hold: DelayReason, _ urgency: Urgency, _ settings: BudgetSettings) -> Int64
    {
        let standing = standing(settings)
        return switch hold {
        case .spacing, .unconfirmed: spacingEnd(urgency, standing, settings)
        case .foreground: foregroundSpacingEnd(standing, settings)
        case .hourly: hourlyEnd(urgency, standing, settings)
        case .daily: dailyEnd(urgency, standing, settings)
        case .unused: probeEnd(settings)
        case .lowPowerMode: lowPowerModeEnd(settings)
        case .lowBattery: lowBatteryEnd(settings)
        case .forceQuit: forceQuitEnd(settings)
        case .paused, .held, .unresponsive, .spread, .backOff, .stopping, .leasedElsewhere, .rate:
            preconditionFailure("The budget of background pushes has no such rule.")
        }
    }

    /// The explanation of a rule, as a sentence without its time.
    private func sentence(
        _ hold: DelayReason, _ urgency: Urgency, _ settings: BudgetSettings
    ) -> String {
        let standing = standing(settings)
        return switch hold {
        case .spacing:
            late(standing, settings) + " are at least "
                + "\(Self.span(spacing(urgency, standing, settings))) apart"
        case .unconfirmed:
            "\(unconfirmed == 1 ? "The last send was" : "The last \(unconfirmed) sends were") not "
                + "confirmed by the app, and the device may still hold one, most for up to "
                + "\(Self.span(Int64(knownHold))), so the next waits "
                + "\(Self.span(spacing(urgency, standing, settings))) unless a receipt comes"
        case .foreground:
            "The app was in the foreground and synced by itself"
        case .hourly:
            urgency == .deferrable
                ? "The last send of the hour is kept free for wakes that matter more"
                : "The hour has had its \(hourlyLimit(standing, settings)) sends"
        case .daily:
            daily(dailyLimit(standing, settings))
        case .unused:
            "The app was not opened since \(Self.instant(second(of: foregroundAt))), so it gets "
                + "one probe in \(Self.span(Int64(settings.probeSeconds)))"
        case .lowPowerMode:
            "Low Power Mode is on; a report that it is off ends this at once"
                + trial(lowPowerModeEnd(settings), settings)
        case .lowBattery:
            "The battery is at \(batteryPercent) % and not charging; a better report ends this "
                + "at once" + trial(lowBatteryEnd(settings), settings)
        case .forceQuit:
            "The user removed the app from the app switcher; its next foreground ends this"
        case .paused, .held, .unresponsive, .spread, .backOff, .stopping, .leasedElsewhere, .rate:
            preconditionFailure("The budget of background pushes has no such rule.")
        }
    }

    /// The explanation of a delay for power that ends with a try, before the report decays.
    private func trial(_ end: Int64, _ settings: BudgetSettings) -> String {
        let wait = settings.longestWaitSeconds
        guard sends.count > 0, hasReceipt(settings), end == second(of: sends.latest) + wait else {
            return ""
        }
        return "; a wake is tried \(Self.span(wait)) after the last one"
    }

    /// The explanation of the distance between sends where receipts are too late.
    private func late(_ standing: Standing, _ settings: BudgetSettings) -> String {
        guard standing.silence == .late else { return "Sends" }
        // Where pushes are held for long, overdue receipts change nothing.
        let isLong = lateDistance(settings) >= Int64(settings.spacingMaximumSeconds)
        let overdue = isLong ? 0 : overdueReceipts
        return "Receipts come too late to wait for, and the device holds most pushes for up to "
            + "\(Self.span(Int64(knownHold))); "
            + (overdue > 1 ? "\(overdue) receipts are overdue, so sends" : "sends")
    }

    /// The explanation of the daily limit.
    private func daily(_ limit: Int) -> String {
        guard day.total < limit else { return "The day has had its \(limit) sends" }
        return "More than half of the day's \(limit) sends are used, so the rest are spread over it"
    }

    /// A duration as text.
    private static func span(_ seconds: Int64) -> String {
        if seconds >= 3_600 && seconds.isMultiple(of: 3_600) { return "\(seconds / 3_600) h" }
        if seconds >= 60 && seconds.isMultiple(of: 60) { return "\(seconds / 60) min" }
        return seconds > 60 ? "\(seconds / 60) min \(seconds % 60) s" : "\(seconds) s"
    }
}

extension CallLedger {
    func explanation(_ settings: BudgetSettings) -> Explanation {
        let now = WallInstant(millisecondsSinceEpoch: clock)
        let limit = settings.hourlyCalls
        var suppression: Suppression?
        if marks.count >= limit {
            let wait = Self.windowMilliseconds - marks.age(at: limit - 1)
            suppression = .tooManyCalls(until: now.advanced(byMilliseconds: wait))
        }
        var opens: WallInstant?
        if case .tooManyCalls(let until) = suppression { opens = until }
        return Explanation(
            discipline: .call, at: now,
            hourly: Explanation.Window(used: Int(marks.count), limit: limit, opens: opens),
            daily: nil, burst: nil, spacingSeconds: nil, unconfirmedSends: 0, inFlight: 0,
            nextSend: opens ?? now, rules: [], waiting: nil, suppression: suppression)
    }
}
