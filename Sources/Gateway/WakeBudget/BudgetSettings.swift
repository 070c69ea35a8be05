// SPDX-License-Identifier: Apache-2.0

/// The numbers of a wake budget as configured for one topic.
///
/// ``BudgetPolicy`` is made from them and checks them; nothing decides by unchecked settings. The
/// letter after each source is its confidence (facts §0): D documented by Apple, E said by an
/// Apple engineer, O observed, A assumed by Rouse.
public struct BudgetSettings: Hashable, Sendable {
    /// Seconds between two sends to one device, unless the later one is urgent and the device
    /// neither holds a push nor confirms late. Default: 15 min, the distance at which iOS launched
    /// an app under load (WWDC20 session 10063, E). Range: ``BudgetLimits/spacingSeconds``.
    public var spacingSeconds = 900
    /// The longest spacing that backing off may reach, in seconds; twice as long, unless the wake
    /// is urgent, for a device that confirms nearly all launches. Default: 1 h (A), which the
    /// simulation showed: the documentation of `WakeSimulation` has the figures. At least
    /// ``spacingSeconds``. Range: ``BudgetLimits/spacingSeconds``.
    public var spacingMaximumSeconds = 3_600
    /// Seconds from a foreground to the next send, unless that is urgent: the app has just synced
    /// by itself. Default: 15 min, like the spacing (A). Range: ``BudgetLimits/spacingSeconds``.
    public var foregroundSpacingSeconds = 900
    /// The most sends in any 60 minutes. Default: 3, because Apple recommends no more than two or
    /// three background pushes an hour ("Pushing background updates to your App", D). Range:
    /// ``BudgetLimits/hourlySends``.
    public var hourlySends = 3
    /// The most sends in any 24 hours. Default: 48, because budgets shrink with each launch and
    /// refill through the day (WWDC20 session 10063, E; the number A). So the sends beyond half of
    /// them are spread: an even share of the day apart, and up to half as much again, unless one is
    /// urgent.
    /// Range: ``BudgetLimits/dailySends``.
    public var dailySends = 48
    /// The longest that a wake waits, in seconds. Default: 24 h, the window that iOS itself gives
    /// a held push (reverse engineered, facts §6.1). Range: ``BudgetLimits/holdSeconds``.
    public var holdSeconds = 86_400

    /// Whether this topic's app ever confirmed a launch with a receipt. If not, silence has no
    /// meaning, and no device is backed off (A). Nor is a device that never confirmed one itself,
    /// or not for ``BudgetLimits/receiptLifeSeconds``; and a device whose receipts come late gets
    /// its sends spaced by its estimated hold time.
    public var confirmsLaunches = false
    /// Seconds between two sends to a device that has confirmed the last one. iOS holds one push
    /// per app, the newest, and launches it when its own spacing lets it ("Pushing background
    /// updates to your App", D), so a device with no push left to launch can be given the next:
    /// the device does the waiting, and nothing is overwritten. Default: 60 s (A).
    /// Range: ``BudgetLimits/spacingSeconds``.
    public var confirmedSpacingSeconds = 60
    /// The most sends in any 60 minutes to a device that has confirmed a launch within a day of its
    /// latest send. Default: 12 (A; such a device launches each of them, however many that are, and
    /// where it is silent, the growing spacing limits it more than the plain windows would).
    /// Range: ``BudgetLimits/hourlySends``.
    public var confirmedHourlySends = 12
    /// The most sends in any 24 hours to such a device. Default: 144 (A).
    /// Range: ``BudgetLimits/dailySends``.
    public var confirmedDailySends = 144

    /// The time for which a report of Low Power Mode delays wakes, in seconds. While it is on, the
    /// app is not launched and cannot report its end (A-BRS, D), so the report decays. Default: 6 h
    /// (A). A device that confirms launches is tried before, twice ``spacingMaximumSeconds`` after
    /// its latest send. Range: ``BudgetLimits/signalLifeSeconds``.
    public var lowPowerModeLifeSeconds = 21_600
    /// The battery level, in percent, below which only essential work runs on a device that is not
    /// charging. Default: 20 (WWDC20 session 10063, E). Range: 0 to 100.
    public var lowBatteryPercent = 20
    /// The time for which a report of a low battery delays wakes, in seconds. Default: 4 h (A). It
    /// does not delay the one push that a device with confirmed launches may store, and delays
    /// others for such a device no longer than Low Power Mode does. Range:
    /// ``BudgetLimits/signalLifeSeconds``.
    public var lowBatteryLifeSeconds = 14_400
    /// How long a report that Background App Refresh is off suppresses wakes, in seconds: then the
    /// next wake is sent, and its receipt ends the report. While none comes, a device that confirms
    /// gets one wake in that time. Default: 1 h, because there is no other sign that it is on
    /// again (A; that it stops background launches: WWDC20 session 10063, E). Within an hour before
    /// or after a report of Low Power Mode, which turns it off, it is taken for part of that.
    /// Range: ``BudgetLimits/signalLifeSeconds``.
    public var refreshOffLifeSeconds = 3_600
    /// The time for which a report of a force-quit delays wakes, in seconds, if no foreground ends
    /// it. Default: 7 days (A; a restart of the device may end it unseen: A-UIAD, D). Range:
    /// ``BudgetLimits/signalLifeSeconds``.
    public var forceQuitLifeSeconds = 604_800
    /// How long after its last foreground an app counts as not used, in seconds. Default: 14 days
    /// (E that iOS then delivers none, forum thread 776933; the number A).
    /// Range: ``BudgetLimits/signalLifeSeconds``.
    public var unusedAfterSeconds = 1_209_600
    /// Seconds between two sends to an app that is not used. Default: 24 h, one probe a day (A).
    /// Range: ``BudgetLimits/probeSeconds``.
    public var probeSeconds = 86_400

    /// How long after its acceptance a call, or Push to Talk, may still be sent, in seconds: the
    /// same call id within that time is the same wake. Default: 10 s, a late call is worse than
    /// none (A).
    /// Range: ``BudgetLimits/callDeadlineSeconds``.
    public var callDeadlineSeconds = 10
    /// The most calls to one device in any 60 minutes. Default: 10; more is above a human call
    /// rate (facts §7.6, A). Range: ``BudgetLimits/hourlyCalls``.
    public var hourlyCalls = 10

    /// The most plain pushes to one device in a row, of one push type: those beyond wait for their
    /// turn. Default: 60 (A). APNs answers 429 TooManyRequests to too many in a row for one token
    /// and does not say how many that are (A-RESP, D); this is as many as the sustained rate lets
    /// go in a minute. Range: ``BudgetLimits/burstPushes``.
    public var burstPushes = 60
    /// The plain pushes to one device in a minute, of one push type, that a burst fills up with.
    /// Default: 60, one a second: faster than people read, and than a Live Activity changes (A).
    /// Range: ``BudgetLimits/pushesPerMinute``.
    public var pushesPerMinute = 60

    /// The longest wait for a receipt, in seconds: twice ``spacingMaximumSeconds``.
    var longestWaitSeconds: Int64 { 2 * Int64(spacingMaximumSeconds) }

    /// The defaults.
    public init() {}
}

/// The ranges of ``BudgetSettings``, and the limits of a ledger.
public enum BudgetLimits {
    /// Spacings, in seconds: up to a day.
    public static let spacingSeconds = 0...86_400
    /// Sends an hour: a ledger keeps the exact times of its last 13.
    public static let hourlySends = 1...12
    /// Sends a day: eight an hour.
    public static let dailySends = 1...192
    /// How long a wake may wait, in seconds: up to 30 days, as long as APNs stores a push (A-SEND).
    public static let holdSeconds = 60...2_592_000
    /// The lifetime of a signal, in seconds: up to 90 days.
    public static let signalLifeSeconds = 60...7_776_000
    /// Seconds between two probes: from an hour to a week.
    public static let probeSeconds = 3_600...604_800
    /// The battery level that counts as low, in percent.
    public static let lowBatteryPercent = 0...100
    /// The deadline of a call, in seconds.
    public static let callDeadlineSeconds = 1...60
    /// Calls an hour: a ledger keeps the last 12.
    public static let hourlyCalls = 1...12

    /// Plain pushes in a row.
    public static let burstPushes = 1...10_000
    /// Plain pushes in a minute.
    public static let pushesPerMinute = 1...6_000

    /// How far the clock may step back, in seconds, while a ledger's clock merely stops: clocks of
    /// two gateways differ, and calls overtake each other. A longer step back is a correction.
    public static let clockToleranceSeconds: Int64 = 120
    /// The hourly window, in seconds.
    public static let hourSeconds: Int64 = 3_600
    /// The daily window, in seconds.
    public static let daySeconds: Int64 = 86_400
    /// How long after its send a receipt shows that the device had held the push, in seconds.
    public static let heldReceiptSeconds: Int64 = 30
    /// The assumed time within which a device launches the app by nearly all pushes, until its
    /// receipts show it, in seconds: 10 min (A; launches are 10 to 30 minutes apart, facts §6.3).
    public static let unknownHoldSeconds: UInt16 = 600
    /// The longest such time that is accepted, in seconds: 12 h (A), a night.
    public static let longestHoldSeconds: Int64 = 43_200
    /// From which share of missing receipts on a device's silence may mean that one was lost, in
    /// 255ths: one in sixteen (A).
    public static let lostReceipts: UInt8 = 16
    /// How long after its latest launch a device counts as one that confirms them, in seconds: 7
    /// days (A). Later its silence does not mean that it holds a push.
    public static let receiptLifeSeconds: Int64 = 604_800
    /// The largest payload of a background push, in bytes (rule G003).
    public static let backgroundPayloadBytes = 4_096
}
