// SPDX-License-Identifier: Apache-2.0

import Testing
import WakeModel

@testable import WakeBudget

@Suite("Rules about what was sent")
struct SendingRuleTests {
    static let hour = 3_600.0
    static let day = 86_400.0

    @Test("a wake goes out at once where the budget has room")
    func leadingEdge() {
        let device = Device()
        #expect(device.ask(at: 0) == .send)
        #expect(device.due(at: 0) == 0)
        #expect(device.send(at: 0.2))
    }

    @Test("sends are a quarter of an hour apart, to the millisecond")
    func spacing() {
        let device = Device()
        #expect(device.send(at: 0))
        #expect(
            device.ask(at: 1)
                == .deferred(until: Device.at(900), because: DelayReasons(.spacing)))
        #expect(
            device.claim(at: 899.999)
                == .notYet(until: Device.at(900), because: DelayReasons(.spacing)))
        guard case .charged = device.claim(at: 900) else {
            Issue.record("not sent at its due time")
            return
        }
    }

    @Test("a send within a second counts from the next, so that no spacing is too short")
    func rounding() {
        let device = Device()
        #expect(device.send(at: 0.001))
        _ = device.ask(at: 1)
        #expect(device.due(at: 1) == 901)
    }

    @Test("three go out in any hour, and the fourth when the first is an hour old")
    func hourly() {
        let device = Device()
        let asked = (0..<14).map { Double($0) * 450 }
        #expect(
            device.sends(askedAt: asked, until: 3 * Self.hour)
                == [0, 900, 1_800, 3_600, 4_500, 5_400, 7_200])
    }

    @Test("a deferrable wake leaves one send of the hour to others")
    func deferrable() {
        let device = Device()
        #expect(device.send(at: 0, .deferrable))
        #expect(device.send(at: 900, .deferrable))
        #expect(
            device.ask(at: 1_800, .deferrable)
                == .deferred(until: Device.at(3_600), because: DelayReasons(.hourly)))
        #expect(device.send(at: 1_800, .normal))
    }

    @Test("where an hour has one send, a deferrable wake may have it")
    func deferrableAlone() {
        let device = Device(Device.policy { $0.hourlySends = 1 })
        #expect(device.send(at: 0, .deferrable))
    }

    @Test("an urgent wake ignores the spacing, but counts in the hour")
    func urgent() {
        let device = Device()
        for second in [0.0, 1, 2] { #expect(device.send(at: second, .urgent)) }
        #expect(
            device.ask(at: 3, .urgent)
                == .deferred(until: Device.at(3_600), because: DelayReasons(.hourly)))
        #expect(device.holds(at: 3) == [.hourly])
    }

    @Test("48 go out in a day, however urgent, and the next when there is room for it")
    func daily() {
        let device = Device()
        for number in 0..<48 {
            #expect(device.send(at: Double(number) * 1_800, .urgent), "\(number)")
        }
        guard case .deferred(let until, let because) = device.ask(at: 47 * 1_800 + 1_000, .urgent)
        else {
            Issue.record("the 49th is not deferred")
            return
        }
        #expect(because.all == [.daily])
        #expect(until >= Device.at(Self.day) && until <= Device.at(Self.day + 1_440))
    }

    @Test("once half of the day's sends are used, the rest are spread, but for urgent ones")
    func paced() {
        let device = Device()
        for number in 0..<24 { #expect(device.send(at: Double(number) * 1_200), "\(number)") }
        let last = 23 * 1_200.0
        let (next, asked, later) = (last + 1_200, last + 1_201, last + 2_401)
        #expect(device.send(at: next))
        // An even share of the day is half an hour; 25 of 48 sends add a little.
        #expect(DayRing.pace(used: 25, limit: 48) == 1_837)
        let due: Double = next + 1_837
        _ = device.ask(at: asked)
        #expect(device.due(at: asked) == due)
        #expect(device.holds(at: later) == [.daily])
        #expect(device.send(at: later, .urgent))
        let rules = device.ledger.explain(policy: device.policy, at: Device.at(later)).rules
        #expect(rules.contains { $0.sentence.hasPrefix("More than half of the day's 48 sends") })
    }

    @Test("a month of requests every minute is sent evenly, and never stops for three hours")
    func month() {
        let device = Device()
        let asked = (0..<30 * 1_440).map { Double($0) * 60 }
        let sent = device.sends(askedAt: asked, until: 30 * Self.day)
        #expect(sent.count > 29 * 36 && sent.count <= 30 * 48)
        #expect(zip(sent.dropFirst(), sent).allSatisfy { $0 - $1 <= 3 * Self.hour })
    }

    @Test("an app that was not opened for 14 days gets one probe a day")
    func unused() {
        let device = Device()
        _ = device.report(.foreground, at: 0)
        let late = 14 * Self.day
        #expect(device.send(at: late - Self.hour))
        // Due by the spacing before the 14 days are over, and after it they do not hold it back.
        _ = device.ask(at: late - 100)
        #expect(device.due(at: late - 100) == late - 100)
        #expect(device.send(at: late - 50))
        _ = device.ask(at: late)
        #expect(device.holds(at: late) == [.spacing, .unused])
        #expect(device.due(at: late) == late - 50 + Self.day)
        #expect(device.report(.foreground, at: late + 10) == .superseded)
        _ = device.ask(at: late + 3_000)
        #expect(device.due(at: late + 3_000) == late + 3_000)
    }

    @Test("a wake that falls due when the app counts as not used waits for the probe")
    func unusedMeanwhile() {
        let device = Device()
        _ = device.report(.foreground, at: 0)
        let late = 14 * Self.day
        #expect(device.send(at: late - 60))
        _ = device.ask(at: late - 30)
        #expect(device.due(at: late - 30) == late - 60 + Self.day)
    }

    @Test("an app of whose use nothing is known is not held back for it")
    func unknownUse() {
        let device = Device()
        #expect(device.send(at: 0))
        #expect(device.send(at: 40 * Self.day))
        #expect(device.send(at: 40 * Self.day + 900))
    }
}

@Suite("Rules about what the device reported")
struct ReportRuleTests {
    @Test(
        "a report holds wakes back until it decays, or until another ends it",
        arguments: [
            (
                DeviceSignal.lowPowerMode(true), DelayReason.lowPowerMode, 21_600.0,
                DeviceSignal.lowPowerMode(false)
            ),
            (
                .battery(percent: 19, isCharging: false), .lowBattery, 14_400,
                .battery(percent: 19, isCharging: true)
            ),
            (
                .battery(percent: -5, isCharging: false), .lowBattery, 14_400,
                .battery(percent: 20, isCharging: false)
            ),
            (.forceQuit, .forceQuit, 604_800, .foreground),
        ])
    func holds(signal: DeviceSignal, hold: DelayReason, life: Double, end: DeviceSignal) {
        let device = Device()
        #expect(device.report(signal, at: 0) == nil)
        #expect(
            device.ask(at: 10) == .deferred(until: Device.at(life), because: DelayReasons(hold)))
        #expect(hold.isSignalled)
        let other = device.copy()
        #expect(other.due(at: 20) == life)
        _ = device.report(end, at: 100)
        if end == .foreground {
            // The foreground has its own spacing, and the app has synced.
            #expect(device.ledger.pending == nil)
            #expect(device.send(at: 1_000))
        } else {
            #expect(device.due(at: 100) == 100)
        }
    }

    @Test(
        "a good battery, or one that charges, holds nothing back",
        arguments: [(20, false), (3, true), (300, false)])
    func goodBattery(percent: Int, isCharging: Bool) {
        let device = Device()
        _ = device.report(.battery(percent: percent, isCharging: isCharging), at: 0)
        #expect(device.ask(at: 1) == .send)
    }

    @Test("Background App Refresh off suppresses, also what waits, until it decays or is on again")
    func refreshOff() {
        let device = Device()
        _ = device.ask(at: 0)
        #expect(device.report(.backgroundAppRefresh(false), at: 1) == .suppressed)
        let suppression = Suppression.backgroundAppRefreshOff(until: Device.at(10_801))
        #expect(device.ask(at: 2) == .suppressed(suppression))
        #expect(suppression.sentence.contains("alert push"))
        let decayed = device.copy()
        #expect(decayed.ask(at: 10_800.999) == .suppressed(suppression))
        #expect(decayed.ask(at: 10_801) == .send)
        #expect(device.report(.backgroundAppRefresh(true), at: 3) == nil)
        #expect(device.ask(at: 4) == .send)
    }

    @Test("a device that confirms gets one probe while refresh was reported off; a receipt ends it")
    func refreshProbe() {
        let device = Device(BudgetPolicy.standard.with(confirmsLaunches: true))
        #expect(device.send(at: 0))
        device.confirm(at: 1)
        _ = device.report(.backgroundAppRefresh(false), at: 10)
        #expect(device.send(at: 10_810))
        #expect(
            device.ask(at: 10_811)
                == .suppressed(.backgroundAppRefreshOff(until: Device.at(21_610))))
        // A receipt of a launch before the report says nothing of what came after it.
        device.confirm(at: 10_812, sentAt: 0, launchedAt: 5)
        guard case .suppressed = device.ask(at: 10_813) else {
            Issue.record("an old launch ended the report")
            return
        }
        device.confirm(at: 10_820, sentAt: 10_810)
        #expect(device.ask(at: 11_000) == .send)
    }

    @Test("a foreground supersedes what waits, and the spacing starts afresh")
    func foreground() {
        let device = Device()
        #expect(device.send(at: 0))
        _ = device.ask(at: 1)
        #expect(device.report(.foreground, at: 500) == .superseded)
        #expect(device.report(.foreground, at: 501) == nil)
        #expect(
            device.ask(at: 600)
                == .deferred(
                    until: Device.at(1_401),
                    because: [DelayReasons(.spacing), DelayReasons(.foreground)]))
        #expect(device.send(at: 601, .urgent))
    }

    @Test("calls are not held back by any report")
    func calls() {
        var ledger = DeviceLedger(kind: .voip)
        #expect(ledger.report(.forceQuit, at: Device.start) == nil)
        #expect(ledger.report(.backgroundAppRefresh(false), at: Device.start) == nil)
        let call = BudgetRequest.voip(CallFingerprint("a"))
        #expect(ledger.decide(on: call, policy: .standard, at: Device.start) == .send)
    }
}

@Suite("Receipts")
struct ReceiptRuleTests {
    private var confirming: Device { Device(BudgetPolicy.standard.with(confirmsLaunches: true)) }

    @Test("a device that no longer confirms is backed off: the spacing doubles up to an hour")
    func backOff() {
        let device = confirmed(at: 0)
        var now = 100.0
        for minutes in [30.0, 60, 60, 60] {
            #expect(device.send(at: now))
            _ = device.ask(at: now + 1)
            #expect(device.due(at: now + 1) == now + minutes * 60)
            #expect(device.holds(at: now + 1) == [.unconfirmed])
            now += minutes * 60
        }
    }

    @Test("a device that never confirms, or not for a week, is not backed off")
    func neverConfirms() {
        let never = confirming
        for second in [0.0, 1_800, 3_600] { #expect(never.send(at: second)) }
        let week = confirmed(at: 0)
        for second in [604_810.0, 606_610, 608_410] { #expect(week.send(at: second)) }
    }

    @Test("a due time that was told holds when the week after the last receipt ends before it")
    func dueOverTheWeek() {
        let device = confirmed(at: 0)
        #expect(device.send(at: 604_000))
        for now in [604_001.0, 604_900] {
            _ = device.ask(at: now)
            #expect(device.due(at: now) == 605_800)
        }
    }

    @Test("receipts that come later than the spacing are not waited for, and teach the interval")
    func lateReceipts() {
        let device = confirming
        for round in 0..<8 {
            let now = Double(7_200 * round)
            #expect(device.send(at: now))
            device.confirm(at: now + 7_000, sentAt: now, launchedAt: now + 1)
        }
        #expect(device.send(at: 57_600))
        _ = device.ask(at: 57_601)
        #expect(device.due(at: 57_601) == 58_500)
        #expect(device.holds(at: 57_601) == [.spacing])
        let rules = device.ledger.explain(policy: device.policy, at: Device.at(57_601)).rules
        #expect(rules.contains { $0.sentence.hasPrefix("Receipts come about") })
        // Prompt ones are believed again soon.
        device.confirm(at: 57_603, launchedAt: 57_602)
        for second in [58_600.0, 59_600, 60_600, 61_600] {
            #expect(device.send(at: second))
            device.confirm(at: second + 1, launchedAt: second)
        }
        #expect(device.ask(at: 61_700) == .send)
    }

    @Test("the device's own spacing is that of its launches, not of its receipts")
    func launchedAt() {
        let device = confirmed(at: 0)
        #expect(device.send(at: 60))
        device.confirm(at: 1_500, sentAt: 60, launchedAt: 1_201)
        #expect(device.send(at: 1_600))
        _ = device.ask(at: 1_601)
        #expect(device.due(at: 1_601) == 4_000)
    }

    /// A device whose launch at this time is confirmed.
    private func confirmed(at second: Double) -> Device {
        let device = confirming
        _ = device.send(at: second)
        device.confirm(at: second + 1)
        return device
    }

    @Test("an app that sends no receipts at all is not punished")
    func silentApp() {
        let device = Device()
        for number in 0..<24 { #expect(device.send(at: Double(number) * 1_800)) }
    }

    @Test("one receipt, or a foreground, ends the backing off")
    func restored() {
        let device = confirmed(at: -100)
        for second in [0.0, 1_800, 5_400] { #expect(device.send(at: second)) }
        _ = device.ask(at: 5_401)
        #expect(device.due(at: 5_401) == 9_000)
        let opened = device.copy()
        #expect(opened.report(.foreground, at: 5_402) == .superseded)
        _ = opened.ask(at: 5_403)
        #expect(opened.due(at: 5_403) == 5_462)
        device.confirm(at: 5_402)
        // The app confirmed the last send, so the next follows soon.
        #expect(device.due(at: 5_402) == 5_460)
    }

    @Test("a receipt for an earlier send leaves the later ones unconfirmed")
    func earlierReceipt() {
        let device = confirmed(at: -100)
        for second in [0.0, 1_800, 5_400] { #expect(device.send(at: second)) }
        _ = device.ask(at: 5_401)
        _ = device.confirm(at: 5_402, sentAt: 1_800)
        #expect(device.holds(at: 5_402) == [.unconfirmed])
        #expect(
            device.ledger.explain(policy: device.policy, at: Device.at(5_402))
                .unconfirmedSends == 1)
    }

    @Test("a device that confirms each launch may have twelve in an hour, a minute apart")
    func confirmed() {
        let device = confirming
        var now = 0.0
        for _ in 0..<12 {
            #expect(device.send(at: now))
            device.confirm(at: now + 2)
            now += 60
        }
        _ = device.ask(at: now)
        #expect(device.holds(at: now) == [.hourly])
        #expect(device.due(at: now) == 3_600)
    }

    @Test("a few silent sends leave it the wider windows; more do not")
    func trust() {
        let device = Device(
            Device.policy {
                $0.confirmsLaunches = true
                $0.spacingMaximumSeconds = 900
            })
        for number in 0..<3 {
            #expect(device.send(at: Double(number) * 60))
            device.confirm(at: Double(number) * 60 + 2)
        }
        for number in 1...5 { #expect(device.send(at: 120 + Double(number) * 900)) }
        // Five unconfirmed are one too many: three an hour from now on.
        _ = device.ask(at: 4_700)
        #expect(device.holds(at: 4_700) == [.unconfirmed, .hourly])
    }

    @Test("a receipt that comes late teaches the device's own spacing")
    func launchInterval() {
        let device = confirming
        #expect(device.send(at: 0))
        device.confirm(at: 1)
        #expect(device.send(at: 60))
        // Held by the device until 20 minutes after the launch before.
        device.confirm(at: 1_201)
        #expect(device.send(at: 1_202))
        _ = device.ask(at: 1_203)
        #expect(device.due(at: 1_203) == 1_202 + 1_200 * 2.0)
        // A shorter one is believed slowly: an eighth less each time.
        device.confirm(at: 1_801)
        #expect(device.due(at: 1_801) == 1_801)
        #expect(device.send(at: 1_801))
        _ = device.ask(at: 1_802)
        #expect(device.due(at: 1_802) == 1_801 + 1_050 * 2.0)
    }

    // Else every lost receipt of the day would cost as long a wait as the night was.
    @Test("the launch after a night, or after a journey, teaches nothing")
    func night() {
        for (gap, patience) in [(2_400.0, 3_600.0), (2_401, 1_800), (8 * 3_600, 1_800)] {
            let device = confirming
            #expect(device.send(at: 0))
            device.confirm(at: 1)
            #expect(device.send(at: 60))
            device.confirm(at: gap + 1)
            let now = gap + 100
            #expect(device.send(at: now))
            _ = device.ask(at: now + 1)
            #expect(device.due(at: now + 1) == now + patience, "\(gap) s")
        }
    }

    @Test("an urgent wake waits twice the device's own spacing while it holds the last push")
    func urgent() {
        let device = confirming
        #expect(device.send(at: 0))
        device.confirm(at: 1)
        #expect(device.send(at: 60))
        _ = device.ask(at: 70, .urgent)
        #expect(device.due(at: 70) == 1_860)
        device.confirm(at: 80)
        #expect(device.due(at: 80) == 80)
    }

    @Test("a wake that a receipt could free before its expiry does not expire at once")
    func expiryBeforeReceipt() {
        let device = confirmed(at: -100)
        #expect(device.send(at: 0))
        #expect(
            device.ask(at: 1, expiresAt: 600)
                == .deferred(until: Device.at(1_800), because: DelayReasons(.unconfirmed)))
        device.confirm(at: 30)
        #expect(device.due(at: 30) == 60)
        // Nothing frees it before the confirmed spacing is over.
        let other = confirmed(at: -100)
        #expect(other.send(at: 0))
        #expect(
            other.ask(at: 1, expiresAt: 60)
                == .expired(earliest: Device.at(1_800), because: DelayReasons(.unconfirmed)))
    }

    @Test("one push is parked with a device in Low Power Mode, and its receipt frees the next")
    func parking() {
        let device = confirming
        #expect(device.send(at: 0))
        device.confirm(at: 1)
        _ = device.report(.lowPowerMode(true), at: 10)
        #expect(device.send(at: 100))
        _ = device.ask(at: 101)
        #expect(device.holds(at: 101) == [.unconfirmed, .lowPowerMode])
        device.confirm(at: 9_000)
        #expect(device.due(at: 9_000) == 9_000)
    }

    @Test("a launch that synced supersedes what was asked for before it, and nothing else")
    func synced() {
        let device = confirming
        #expect(device.send(at: 0))
        _ = device.ask(at: 10)
        _ = device.ask(at: 20.5)
        for (launched, ends) in [(15.0, false), (20.9, false), (21, true)] {
            let copy = device.copy()
            let end = copy.confirm(
                at: 30, sentAt: 0, launchedAt: launched, hasSynced: true)
            #expect((end == .superseded) == ends, "launched at \(launched)")
            #expect((copy.ledger.pending == nil) == ends)
        }
        let copy = device.copy()
        #expect(copy.confirm(at: 30, launchedAt: 25) == nil)
        #expect(copy.confirm(at: 30, hasSynced: true) == nil)
    }
}
