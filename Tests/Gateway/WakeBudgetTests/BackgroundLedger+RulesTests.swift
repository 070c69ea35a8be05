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
        let suppression = Suppression.backgroundAppRefreshOff(until: Device.at(3_601))
        #expect(device.ask(at: 2) == .suppressed(suppression))
        #expect(suppression.sentence.contains("alert push"))
        let decayed = device.copy()
        #expect(decayed.ask(at: 3_600.999) == .suppressed(suppression))
        #expect(decayed.ask(at: 3_601) == .send)
        #expect(device.report(.backgroundAppRefresh(true), at: 3) == nil)
        #expect(device.ask(at: 4) == .send)
    }

    @Test("a device that confirms gets one probe while refresh was reported off; a receipt ends it")
    func refreshProbe() {
        let device = Device(BudgetPolicy.standard.with(confirmsLaunches: true))
        #expect(device.send(at: 0))
        device.confirm(at: 1)
        _ = device.report(.backgroundAppRefresh(false), at: 10)
        #expect(device.send(at: 3_610))
        #expect(
            device.ask(at: 3_611)
                == .suppressed(.backgroundAppRefreshOff(until: Device.at(7_210))))
        // A receipt of a launch before the report says nothing of what came after it.
        device.confirm(at: 3_612, sentAt: 0, launchedAt: 5)
        guard case .suppressed = device.ask(at: 3_613) else {
            Issue.record("an old launch ended the report")
            return
        }
        device.confirm(at: 3_620, sentAt: 3_610)
        #expect(device.ask(at: 4_000) == .send)
    }

    // Else wakes of a device that saves power end, although it launches the app soon after.
    @Test("Background App Refresh that Low Power Mode turned off delays wakes, as that does")
    func refreshOffInLowPowerMode() {
        let device = Device()
        _ = device.report(.lowPowerMode(true), at: 0)
        #expect(device.report(.backgroundAppRefresh(false), at: 0) == nil)
        _ = device.ask(at: 1)
        #expect(device.holds(at: 1) == [.lowPowerMode])
        _ = device.report(.lowPowerMode(false), at: 2)
        #expect(device.due(at: 2) == 2)
        _ = device.report(.backgroundAppRefresh(false), at: 3)
        #expect(device.ledger.pending == nil)
        // What was reported of Low Power Mode long ago says nothing of this report.
        let other = Device()
        _ = other.report(.lowPowerMode(true), at: 0)
        _ = other.ask(at: 1)
        #expect(other.report(.backgroundAppRefresh(false), at: 3_600) == .suppressed)
    }

    // An app posts both changes at once, and requests overtake each other.
    @Test("it delays wakes likewise where it was reported before Low Power Mode")
    func refreshOffBeforeLowPowerMode() {
        let device = Device()
        _ = device.report(.backgroundAppRefresh(false), at: 0)
        _ = device.report(.lowPowerMode(true), at: 1)
        _ = device.ask(at: 2)
        #expect(device.holds(at: 2) == [.lowPowerMode])
        // A report that it is off says nothing of that, nor does one an hour later.
        for (isOn, second) in [(false, 1.0), (true, 3_600)] {
            let other = Device(Device.policy { $0.refreshOffLifeSeconds = 7_200 })
            _ = other.report(.backgroundAppRefresh(false), at: 0)
            _ = other.report(.lowPowerMode(isOn), at: second)
            #expect(
                other.ask(at: 3_601)
                    == .suppressed(.backgroundAppRefreshOff(until: Device.at(7_200))))
        }
    }

    @Test("a launch after a report of Low Power Mode or a low battery ends it")
    func launchUnderReport() {
        for signal in [DeviceSignal.lowPowerMode(true), .battery(percent: 5, isCharging: false)] {
            let device = Device()
            #expect(device.send(at: 0))
            _ = device.report(signal, at: 1_000)
            _ = device.ask(at: 1_001)
            device.confirm(at: 1_002, sentAt: 0, launchedAt: 999)
            #expect(device.holds(at: 1_002)?.count == 1)
            // Without its time, a launch may have been before the report.
            device.confirm(at: 1_003, sentAt: 0)
            #expect(device.holds(at: 1_003)?.count == 1)
            device.confirm(at: 1_300, sentAt: 0, launchedAt: 1_200)
            #expect(device.due(at: 1_300) == 1_300)
        }
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
