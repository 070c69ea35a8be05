// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// The ledger of one device and one ordinary topic: what was sent, what waits, what the app
/// reported.
///
/// Every function requires that ``observe(_:)`` was called with the current time before.
struct BackgroundLedger: Hashable, Sendable {
    /// Which reports there are. No `OptionSet`: its generic verbs took a third of the time of the
    /// properties in an unoptimized build.
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
        /// Those that hold wakes back.
        static let holding = Reports(rawValue: 0b1011)

        /// Whether all of the others are among these.
        func contains(_ others: Reports) -> Bool { others.rawValue & ~rawValue == 0 }

        /// Whether any of the others is among these.
        func containsAny(of others: Reports) -> Bool { others.rawValue & rawValue != 0 }

        mutating func set(_ report: Reports, to isSo: Bool) {
            rawValue = isSo ? rawValue | report.rawValue : rawValue & ~report.rawValue
        }
    }

    /// The share of lost receipts that no loss exceeds, in 255ths. Beyond it they come late.
    static let mostLost: UInt8 = 127

    /// The clock of a ledger that has not observed any time.
    static let beforeAllTime: Int64 = -1 << 60

    /// The latest second that it observed, since 1970; moved back only by a correction.
    var clock = beforeAllTime
    var day = DayRing()
    var lowPowerModeAt: WrappedSeconds = 0
    var sends = SendTimes()
    var batteryPercent: UInt8 = 0
    var reports = Reports()
    /// Sends since the app's last receipt or report, as far as they count.
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
    /// Charged sends that were not settled yet.
    var inFlight: UInt8 = 0
    /// How often the clock was corrected, wrapping: a charge from before a correction names its
    /// send by a time that means another now.
    var corrections: UInt8 = 0
    /// How many sends were debited, wrapping: a debit detects by it whether another one followed.
    var debits: UInt8 = 0

    /// The share of launches whose receipt was not there when it was wanted, in 255ths: up to
    /// ``mostLost`` where receipts are lost, and up to all where they come late.
    var missingReceipts: UInt8 = 0

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
    /// every age is as before. Time is lost then, never gained, and no rule delays longer than it
    /// would have from here on.
    ///
    /// Inlined, as is what every decision goes through: a ledger of 120 bytes is then read field by
    /// field where it lies, and not copied from call to call.
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
        // Whatever waited has waited longer than anything may.
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
