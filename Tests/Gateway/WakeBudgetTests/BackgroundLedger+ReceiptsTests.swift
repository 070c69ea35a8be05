// SPDX-License-Identifier: Apache-2.0

import Testing
import WakeModel

@testable import WakeBudget

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

    @Test("receipts that come later than the spacing are not waited for, until they are prompt")
    func lateReceipts() {
        let device = late()
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

    @Test("where receipts come late, sends keep to the distance of the device's launches")
    func lateDistance() throws {
        let device = late()
        let sent = [57_600.0, 58_500, 59_400]
        for second in sent { #expect(device.send(at: second)) }
        for (number, second) in sent.enumerated() {
            device.confirm(at: 65_000 + Double(number), sentAt: second, launchedAt: second + 1)
        }
        #expect(device.send(at: 65_100))
        _ = device.ask(at: 65_101)
        // Two launches at once, 15 minutes apart: a sixteenth less is tried.
        #expect(device.due(at: 65_101) == 65_944.0)
        let explanation = device.ledger.explain(policy: device.policy, at: Device.at(65_101))
        let sentence = try #require(explanation.rules.first?.sentence)
        #expect(
            sentence.hasSuffix(
                "min late, too late to wait for; sends, like the app's launches, are at least "
                    + "844 s apart (\(Device.at(65_944)))."))
        #expect(explanation.hourly?.limit == 12)
        // One that the device held until 20 minutes after the launch before is believed at once.
        device.confirm(at: 65_103, sentAt: 65_100, launchedAt: 65_102)
        #expect(device.send(at: 65_200))
        device.confirm(at: 73_000, sentAt: 65_200, launchedAt: 66_302)
        #expect(device.send(at: 73_001))
        _ = device.ask(at: 73_002)
        #expect(device.due(at: 73_002) == 74_201.0)
    }

    @Test("the wider windows end a day after the latest launch that is confirmed, if late")
    func lateWindows() {
        let device = late()
        #expect(device.send(at: 60_000))
        for (second, limit) in [(136_800.0, 12), (136_801, 3)] {
            let copy = device.copy()
            #expect(copy.send(at: second))
            let explanation = copy.ledger.explain(policy: copy.policy, at: Device.at(second))
            #expect(explanation.hourly?.limit == limit)
        }
    }

    /// A device whose receipts came two hours late so far; the last launch was at 50 401.
    private func late() -> Device {
        let device = confirming
        for round in 0..<8 {
            let now = Double(7_200 * round)
            #expect(device.send(at: now))
            device.confirm(at: now + 7_000, sentAt: now, launchedAt: now + 1)
        }
        return device
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
