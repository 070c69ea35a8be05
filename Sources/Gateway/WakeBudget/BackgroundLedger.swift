// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// The ledger of one device and one background topic: the sends, the pending wake, and the app's
/// reports.
///
/// Every function requires that ``observe(_:)`` was called with the current time before.
struct BackgroundLedger: Hashable, Sendable {
    /// The present reports. Not an `OptionSet`, whose generic functions took a third of the time of
    /// the properties in an unoptimized build.
    struct Reports: Hashable, Sendable {
        var rawValue: UInt8 = 0

        static let lowPowerMode = Reports(rawValue: 1 << 0)
        static let battery = Reports(rawValue: 1 << 1)
        static let refreshOff = Reports(rawValue: 1 << 2)
        static let forceQuit = Reports(rawValue: 1 << 3)
        static let foreground = Reports(rawValue: 1 << 4)
        static let isCharging = Reports(rawValue: 1 << 5)
        static let launch = Reports(rawValue: 1 << 6)
        /// All that may be set.
        static let known = Reports(rawValue: (1 << 7) - 1)
        /// Those that delay wakes.
        static let holding = Reports(rawValue: 0b1011)

        /// Whether all of the others are among these.
        func contains(_ others: Reports) -> Bool { others.rawValue & ~rawValue == 0 }

        /// Whether any of the others is among these.
        func containsAny(of others: Reports) -> Bool { others.rawValue & rawValue != 0 }

        mutating func set(_ report: Reports, to isSo: Bool) {
            rawValue = isSo ? rawValue | report.rawValue : rawValue & ~report.rawValue
        }
    }

    /// The share of lost receipts that no loss exceeds, in 255ths. A larger share is of late ones.
    static let mostLost: UInt8 = 127

    /// The clock of a ledger that has not observed any time.
    static let beforeAllTime: Int64 = -1 << 60

    /// The latest observed second since 1970; moved back only by a correction.
    var clock = beforeAllTime
    var day = DayRing()
    var lowPowerModeAt: WrappedSeconds = 0
    var sends = SendTimes()
    var batteryPercent: UInt8 = 0
    var reports = Reports()
    /// The sends since the app's last receipt or report that count as silent.
    var unconfirmed: UInt8 = 0
    var batteryAt: WrappedSeconds = 0
    var refreshOffAt: WrappedSeconds = 0
    var forceQuitAt: WrappedSeconds = 0
    var foregroundAt: WrappedSeconds = 0
    var launchAt: WrappedSeconds = 0
    /// The time within which the device launches the app by about nine pushes in ten, in seconds
    /// from the send; 0 when no receipt showed it yet.
    var holdSeconds: UInt16 = 0
    var pending: PendingWake?
    /// Debited sends that were not settled yet.
    var inFlight: UInt8 = 0
    /// The number of corrections of the clock, wrapping: a debit from before a correction has a
    /// time of its send that is another one now.
    var corrections: UInt8 = 0
    /// The number of debits, wrapping, by which a debit detects whether another one followed.
    var debits: UInt8 = 0

    /// The share of launches whose receipt was unknown when it was needed, in 255ths: up to
    /// ``mostLost`` where receipts are lost, and up to all where they are late.
    var missingReceipts: UInt8 = 0
    /// The time after a launch by which about half of the receipts come, in seconds, where they
    /// are late; 0 when no receipt showed it yet.
    var lateSeconds: UInt16 = 0

    /// The clock as a stamp.
    var now: WrappedSeconds { WrappedSeconds(second: clock) }

    /// The second since 1970 that a stamp represents.
    func second(of stamp: WrappedSeconds) -> Int64 { clock - Int64(now &- stamp) }
}

// MARK: Time

extension BackgroundLedger {
    /// Observes the time.
    ///
    /// A step back by no more than the tolerance is ignored: the clock stops until the time has
    /// caught up. A longer one is a correction: all stored times move back with the clock, so that
    /// every age is as before. Elapsed time may be lost by that, never added, and no rule delays
    /// longer than it would have from here on.
    ///
    /// Inlined, as are the functions of every decision, so that a ledger of 120 bytes is read in
    /// place and not copied at each call.
    @inline(__always)
    mutating func observe(_ instant: WallInstant) {
        let second = instant.secondsSinceEpoch
        if second >= clock {
            advance(to: second)
        } else if clock - second > BudgetLimits.clockToleranceSeconds {
            moveBack(to: second)
        }
    }

    /// Observes the time of a send, rounded up, so that a send never counts as older than it is.
    mutating func observeSend(_ instant: WallInstant) {
        let second = instant.secondsSinceEpoch
        let isWhole = instant.millisecondsSinceEpoch.isMultiple(of: 1000)
        advance(to: max(clock, isWhole ? second : second + 1))
    }

    @inline(__always)
    private mutating func advance(to second: Int64) {
        let passed = second - clock
        clock = second
        if passed > WrappedSeconds.forgettingSeconds { forget() }
        day.advance(to: now)
    }

    private mutating func forget() {
        let waiting = pending
        self = BackgroundLedger(
            clock: clock, inFlight: inFlight, corrections: corrections, debits: debits)
        guard var waiting else { return }
        // All that waited has waited longer than the limit.
        waiting.since = now &- UInt32(BudgetLimits.holdSeconds.upperBound)
        waiting.newest = waiting.since
        pending = waiting
    }

    private mutating func moveBack(to second: Int64) {
        let seconds = UInt32(truncatingIfNeeded: clock - second)
        clock = second
        corrections &+= 1
        day.moveBack(by: seconds)
        sends.moveBack(by: seconds)
        lowPowerModeAt &-= seconds
        batteryAt &-= seconds
        refreshOffAt &-= seconds
        forceQuitAt &-= seconds
        foregroundAt &-= seconds
        launchAt &-= seconds
        pending?.since &-= seconds
        pending?.newest &-= seconds
    }
}
