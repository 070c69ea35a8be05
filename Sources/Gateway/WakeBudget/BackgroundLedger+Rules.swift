// SPDX-License-Identifier: Apache-2.0

/// The times at which the rules allow a wake.
struct Release: Hashable, Sendable {
    /// The second from which on the rules allow it that neither a report nor a receipt can lift.
    var firm: Int64
    /// The second from which on all rules allow it.
    var until: Int64
    /// The rules that do not allow it now.
    var holds = DelayReasons(rawValue: 0)

    /// Adds a rule that no report can lift.
    mutating func wait(for second: Int64, _ hold: DelayReason, clock: Int64) {
        guard second > clock else { return }
        holds.add(hold)
        firm = max(firm, second)
        until = max(until, second)
    }

    /// Adds a rule that holds until another report, or until it decays.
    mutating func wait(forSignal second: Int64, _ hold: DelayReason, clock: Int64) {
        guard second > clock else { return }
        holds.add(hold)
        until = max(until, second)
    }
}

/// The state of a device by its receipts, as far as the rules use it.
struct Standing: Hashable, Sendable {
    /// Whether no push that was sent to it still waits there.
    var isConfirmed: Bool
    /// Whether the windows of a confirmed device apply: as long as a launch within a day of the
    /// latest send was confirmed.
    var isTrusted: Bool
    /// Whether an expected receipt is missing.
    var isAwaitingReceipt: Bool
    /// The meaning of its silence, if it confirms launches.
    var silence: Silence

    /// The meanings of a missing receipt.
    enum Silence: Hashable, Sendable {
        /// The device holds the push, because it confirms nearly all launches.
        case held
        /// It holds the push, or a receipt was lost again.
        case heldOrLost
        /// None yet: its receipts are late.
        case late
    }

    /// The same as a receipt for the last send.
    static let confirmed = Standing(
        isConfirmed: true, isTrusted: true, isAwaitingReceipt: false, silence: .held)
}

extension BackgroundLedger {
    /// The time at which a wake of this urgency may be sent. One that `repeats` its own attempts
    /// has no spacing from them if there was no other send since; all other rules apply.
    func release(
        _ urgency: Urgency, repeats: Bool = false, _ settings: BudgetSettings
    ) -> Release {
        let standing = standing(settings)
        var release = release(urgency, repeats: repeats, standing, settings)
        guard settings.confirmsLaunches, !standing.isConfirmed, release.firm > clock else {
            return release
        }
        // A receipt may lift most rules, so only those that hold in spite of it are firm.
        release.firm = self.release(urgency, repeats: repeats, .confirmed, settings).firm
        return release
    }

    /// When a wake of this urgency may be sent if the device's state stays as it is.
    private func release(
        _ urgency: Urgency, repeats: Bool, _ standing: Standing, _ settings: BudgetSettings
    ) -> Release {
        var release = Release(firm: clock, until: clock)
        if !repeats {
            let hold: DelayReason = standing.isAwaitingReceipt ? .unconfirmed : .spacing
            release.wait(for: spacingEnd(urgency, standing, settings), hold, clock: clock)
        }
        if urgency != .urgent {
            release.wait(
                for: foregroundSpacingEnd(standing, settings), .foreground, clock: clock)
        }
        release.wait(for: hourlyEnd(urgency, standing, settings), .hourly, clock: clock)
        release.wait(for: dailyEnd(urgency, standing, settings), .daily, clock: clock)
        if reports.containsAny(of: .holding) {
            // iOS or APNs delivers a push for a sleeping device as soon as possible.
            if !standing.isConfirmed {
                release.wait(forSignal: lowPowerModeEnd(settings), .lowPowerMode, clock: clock)
                release.wait(forSignal: lowBatteryEnd(settings), .lowBattery, clock: clock)
            }
            release.wait(forSignal: forceQuitEnd(settings), .forceQuit, clock: clock)
        }
        guard !repeats else { return release }
        // Last, because whether an app counts as used is determined for the time of the wake.
        if isUnused(at: release.firm, settings) {
            release.wait(for: probeEnd(settings), .unused, clock: clock)
        } else if isUnused(at: release.until, settings) {
            release.wait(forSignal: probeEnd(settings), .unused, clock: clock)
        }
        return release
    }

    // MARK: What was sent

    /// The state by the receipts so far.
    @inline(__always)
    func standing(_ settings: BudgetSettings) -> Standing {
        let hasReceipt = hasReceipt(settings)
        let silence = hasReceipt ? silence : .held
        return Standing(
            isConfirmed: hasReceipt && unconfirmed == 0,
            isTrusted: hasReceipt && sinceLaunch < BudgetLimits.daySeconds,
            isAwaitingReceipt: hasReceipt && unconfirmed > 0 && silence != .late,
            silence: silence)
    }

    /// The meaning of the device's silence, by the receipts that were missing so far.
    var silence: Standing.Silence {
        if missingReceipts > Self.mostLost { return .late }
        return missingReceipts < BudgetLimits.lostReceipts ? .held : .heldOrLost
    }

    /// Whether this device confirms its launches, by its own record and not by that of others: a
    /// device that never did, or not in the week before its latest send, is treated as those of an
    /// app without receipts. By the send and not by the clock, so that a due time holds until then.
    @inline(__always)
    func hasReceipt(_ settings: BudgetSettings) -> Bool {
        guard settings.confirmsLaunches, reports.contains(.launch) else { return false }
        return sinceLaunch < BudgetLimits.receiptLifeSeconds
    }

    /// The time from the latest confirmed launch to the latest send, in seconds: negative when the
    /// send was before; without a send, to the clock.
    private var sinceLaunch: Int64 {
        let asked = sends.count == 0 ? now : sends.latest
        return Int64(Int32(truncatingIfNeeded: asked &- launchAt))
    }

    /// The end of the spacing after the latest send; in the past when there was none.
    func spacingEnd(
        _ urgency: Urgency, _ standing: Standing, _ settings: BudgetSettings
    ) -> Int64 {
        sends.count == 0 ? .min : second(of: sends.latest) + spacing(urgency, standing, settings)
    }

    /// The spacing in force for wakes of this urgency, in seconds.
    func spacing(
        _ urgency: Urgency, _ standing: Standing, _ settings: BudgetSettings
    ) -> Int64 {
        if standing.isConfirmed {
            return urgency == .urgent ? 0 : Int64(settings.confirmedSpacingSeconds)
        }
        if standing.isAwaitingReceipt { return patience(urgency, standing, settings) }
        guard standing.silence == .late else {
            return urgency == .urgent ? 0 : Int64(settings.spacingSeconds)
        }
        let maximum = Int64(settings.spacingMaximumSeconds)
        return min(lateDistance(settings) << (max(overdueReceipts, 1) - 1), maximum)
    }

    /// The distance between sends where receipts come late and none is overdue, in seconds.
    func lateDistance(_ settings: BudgetSettings) -> Int64 {
        max(3 * Int64(knownHold) / 2, Int64(settings.confirmedSpacingSeconds))
    }

    /// The receipts that would have come by the latest send if each send since the one that was
    /// confirmed last had launched the app at once: of a send as old as half of the receipts are
    /// late, a half; of one that is twice as old, or older, a whole one. The sends between the
    /// oldest and the latest are taken to be evenly apart.
    var overdueReceipts: UInt32 {
        let others = UInt32(min(unconfirmed, sends.count))
        guard lateSeconds > 0, others > 1 else { return 0 }
        let oldest = sends.latest &- sends[Int(others) - 1]
        let width = 2 * UInt32(lateSeconds)
        return oldest <= width
            ? (others - 1) * oldest / (2 * width)
            : (others - 1) - (others - 1) * width / (2 * oldest)
    }

    /// The wait for a receipt, in seconds: at first twice the time for which the device holds
    /// nearly all pushes. A device that is silent then holds the push for hours, or the receipt was
    /// lost, and a second loss in a row is rare: so each further silent send waits four times as
    /// long, or twice as long where some receipts are lost; and none less than the spacing.
    private func patience(
        _ urgency: Urgency, _ standing: Standing, _ settings: BudgetSettings
    ) -> Int64 {
        let isHeld = standing.silence == .held
        // A day is under 2^17 seconds: more doublings than that change nothing.
        let doublings = min((Int64(unconfirmed) - 1) * (isHeld ? 2 : 1), 17)
        let wait = max(2 * Int64(knownHold) << doublings, Int64(settings.spacingSeconds))
        let maximum = Int64(settings.spacingMaximumSeconds)
        return min(
            wait, isHeld && urgency != .urgent ? settings.longestWaitSeconds : maximum)
    }

    /// The time within which the device launches the app by nearly all pushes, in seconds.
    var knownHold: UInt16 { holdSeconds == 0 ? BudgetLimits.unknownHoldSeconds : holdSeconds }

    /// When the last 60 minutes have room for a send of this urgency.
    func hourlyEnd(
        _ urgency: Urgency, _ standing: Standing, _ settings: BudgetSettings
    ) -> Int64 {
        let all = hourlyLimit(standing, settings)
        let limit = urgency == .deferrable ? max(1, all - 1) : all
        // If the latest send is over an hour old, the hour is empty: a fast and common case.
        guard sends.count >= limit, second(of: sends.latest) + BudgetLimits.hourSeconds > clock
        else { return .min }
        return second(of: sends[limit - 1]) + BudgetLimits.hourSeconds
    }

    /// The hourly limit in force.
    func hourlyLimit(_ standing: Standing, _ settings: BudgetSettings) -> Int {
        standing.isTrusted
            ? max(settings.hourlySends, settings.confirmedHourlySends) : settings.hourlySends
    }

    /// The time at which the last 24 hours have room for a send, and, if more than half of the
    /// limit is used, at which the distance that spreads the rest has passed. An urgent wake
    /// ignores that distance.
    func dailyEnd(
        _ urgency: Urgency, _ standing: Standing, _ settings: BudgetSettings
    ) -> Int64 {
        let limit = dailyLimit(standing, settings)
        guard 2 * day.total > limit else { return .min }
        let latest = sends.count == 0 || urgency == .urgent ? .min / 2 : second(of: sends.latest)
        let start = second(of: day.start)
        return start + day.opens(limit: limit, latest: latest - start)
    }

    /// The daily limit in force.
    func dailyLimit(_ standing: Standing, _ settings: BudgetSettings) -> Int {
        standing.isTrusted
            ? max(settings.dailySends, settings.confirmedDailySends) : settings.dailySends
    }

    // MARK: What the app reported

    /// The end of the spacing after the latest foreground. A device whose last send is confirmed
    /// needs no more than its spacing.
    func foregroundSpacingEnd(_ standing: Standing, _ settings: BudgetSettings) -> Int64 {
        guard reports.contains(.foreground) else { return .min }
        let seconds =
            standing.isConfirmed
            ? min(settings.foregroundSpacingSeconds, settings.confirmedSpacingSeconds)
            : settings.foregroundSpacingSeconds
        return second(of: foregroundAt) + Int64(seconds)
    }

    /// Whether the app counts as not used at a future second. Without any report of a foreground,
    /// its use is unknown.
    func isUnused(at second: Int64, _ settings: BudgetSettings) -> Bool {
        reports.contains(.foreground)
            && self.second(of: foregroundAt) + Int64(settings.unusedAfterSeconds) <= second
    }

    /// When the next probe of an app that is not used may go.
    func probeEnd(_ settings: BudgetSettings) -> Int64 {
        sends.count == 0 ? .min : second(of: sends.latest) + Int64(settings.probeSeconds)
    }

    func lowPowerModeEnd(_ settings: BudgetSettings) -> Int64 {
        guard reports.contains(.lowPowerMode) else { return .min }
        return powerEnd(
            second(of: lowPowerModeAt) + Int64(settings.lowPowerModeLifeSeconds), settings)
    }

    func lowBatteryEnd(_ settings: BudgetSettings) -> Int64 {
        guard reports.contains(.battery), !reports.contains(.isCharging),
            batteryPercent < settings.lowBatteryPercent
        else { return .min }
        return powerEnd(second(of: batteryAt) + Int64(settings.lowBatteryLifeSeconds), settings)
    }

    /// The end of a delay for power that decays at `end`. A device that confirms launches is tried
    /// before, after the longest wait for a receipt: the app is not launched to report that the
    /// cause is over, and the receipt that would show it may be lost or late.
    private func powerEnd(_ end: Int64, _ settings: BudgetSettings) -> Int64 {
        guard sends.count > 0, hasReceipt(settings) else { return end }
        return min(end, second(of: sends.latest) + settings.longestWaitSeconds)
    }

    func forceQuitEnd(_ settings: BudgetSettings) -> Int64 {
        guard reports.contains(.forceQuit) else { return .min }
        return second(of: forceQuitAt) + Int64(settings.forceQuitLifeSeconds)
    }

    /// The end of a report that Background App Refresh is off; in the past without one.
    func refreshOffEnd(_ settings: BudgetSettings) -> Int64 {
        guard reports.contains(.refreshOff) else { return .min }
        return second(of: refreshOffAt) + Int64(settings.refreshOffLifeSeconds)
    }
}
