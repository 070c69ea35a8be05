// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// The ledger of one device and one topic of plain pushes: how far the pushes that it was promised
/// are ahead of the rate.
///
/// This is the generic cell rate algorithm (ITU-T I.371) in one number: each push adds one interval
/// to the lead, and time takes from it. A push may be sent immediately while the lead is no longer
/// than a burst; otherwise it is due when it will be. So due times are assigned when pushes are
/// accepted, and waiting pushes never compete for them.
struct PlainLedger: Hashable, Sendable {
    /// The latest instant that it observed, in milliseconds since 1970.
    var clock = Int64.min
    /// How long after ``clock`` all pushes are sent at the sustained rate, in milliseconds. A
    /// length of time, so a correction of the clock need not touch it.
    var lead: Int64 = 0

    /// Observes the time, by the same rule as ``BackgroundLedger/observe(_:)``.
    mutating func observe(_ instant: WallInstant) {
        let now = instant.millisecondsSinceEpoch
        if now >= clock {
            let (passed, overflow) = now.subtractingReportingOverflow(clock)
            lead = overflow ? 0 : max(0, lead - passed)
            clock = now
        } else if instant.milliseconds(since: WallInstant(millisecondsSinceEpoch: clock))
            < -1000 * BudgetLimits.clockToleranceSeconds
        {
            clock = now
        }
    }

    /// Decides on a push that expires at `deadline`.
    func decide(until deadline: WallInstant, _ settings: BudgetSettings) -> Decision {
        let turn = turn(settings)
        guard turn < deadline else { return .expired(earliest: turn, because: reasons(settings)) }
        return wait(settings) > 0 ? .deferred(until: turn, because: reasons(settings)) : .send
    }

    /// Takes the next turn.
    mutating func take(_ settings: BudgetSettings) {
        lead = min(lead + settings.pushIntervalMilliseconds, Self.longestLead)
    }

    /// Gives a turn back, for a push that certainly was not sent.
    mutating func giveBack(_ settings: BudgetSettings) {
        lead = max(0, lead - settings.pushIntervalMilliseconds)
    }

    /// When the next push may go.
    func turn(_ settings: BudgetSettings) -> WallInstant {
        WallInstant(millisecondsSinceEpoch: clock).advanced(byMilliseconds: wait(settings))
    }

    /// How long the next push waits for its turn, in milliseconds.
    func wait(_ settings: BudgetSettings) -> Int64 {
        max(0, lead - Int64(settings.burstPushes - 1) * settings.pushIntervalMilliseconds)
    }

    private func reasons(_ settings: BudgetSettings) -> DelayReasons {
        wait(settings) > 0 ? DelayReasons(.rate) : []
    }

    /// No push waits longer, so no lead is: twice the longest time that a wake is held.
    static let longestLead = 2000 * Int64(BudgetLimits.holdSeconds.upperBound)
}

extension BudgetSettings {
    /// The distance of plain pushes to one device at the sustained rate, in milliseconds.
    var pushIntervalMilliseconds: Int64 { 60_000 / Int64(pushesPerMinute) }
}

extension PlainLedger {
    func explanation(_ settings: BudgetSettings) -> Explanation {
        let now = WallInstant(millisecondsSinceEpoch: clock)
        let turn = turn(settings)
        let interval = settings.pushIntervalMilliseconds
        let isLate = turn > now
        let sentence =
            "The device has had \(settings.burstPushes) pushes in a row, and from then on gets "
            + "\(settings.pushesPerMinute) a minute (\(turn))."
        return Explanation(
            discipline: .plain, at: now, hourly: nil, daily: nil,
            burst: Explanation.Window(
                used: Int((lead + interval - 1) / interval), limit: settings.burstPushes,
                opens: isLate ? turn : nil),
            spacingSeconds: nil, unconfirmedSends: 0, inFlight: 0, nextSend: turn,
            rules: isLate
                ? [Explanation.HoldingRule(hold: .rate, until: turn, sentence: sentence)] : [],
            waiting: nil, suppression: nil)
    }

    func invariantsBroken() -> [String] {
        0...Self.longestLead ~= lead ? [] : ["the lead of the pushes is impossible"]
    }
}
