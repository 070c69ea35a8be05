// SPDX-License-Identifier: Apache-2.0

import Testing
import WakeModel

@testable import WakeBudget

@Suite("Receipts")
struct ReceiptRuleTests {
    private var confirming: Device { Device(BudgetPolicy.standard.with(confirmsLaunches: true)) }

    @Test("a device that no longer confirms is backed off: each wait is four times the last")
    func backOff() {
        let device = confirmed(at: 0)
        var now = 100.0
        // Its pushes are taken to be held for 563 s: a sixteenth less than the 10 min of others.
        for seconds in [1_126.0, 4_504, 7_200, 7_200] {
            #expect(device.send(at: now))
            _ = device.ask(at: now + 1)
            #expect(device.due(at: now + 1) == now + seconds)
            #expect(device.holds(at: now + 1) == [.unconfirmed])
            now += seconds
        }
    }

    // Without this a device that loses receipts would wait for hours after each second loss.
    @Test("where receipts are seen to be lost, each wait is only twice the last")
    func lostReceipts() {
        let device = confirmed(at: 0)
        #expect(device.send(at: 100))
        #expect(device.send(at: 1_300))
        // It launches the app at once, so it did not hold the send before: a receipt was lost.
        device.confirm(at: 1_301)
        #expect(device.send(at: 1_400))
        #expect(device.send(at: 2_500))
        _ = device.ask(at: 2_501)
        #expect(device.due(at: 2_501) == 2_500 + 2 * 1_056.0)
        // Prompt receipts are believed again.
        for number in 0..<24 {
            let now = 5_000 + 900 * Double(number)
            #expect(device.send(at: now))
            device.confirm(at: now + 1)
        }
        #expect(device.send(at: 30_000))
        #expect(device.send(at: 31_000))
        #expect(device.send(at: 32_000))
        _ = device.ask(at: 32_001)
        #expect(device.due(at: 32_001) == 32_000 + 16 * 236.0)
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
            #expect(device.due(at: now) == 605_126)
        }
    }

    @Test("receipts that come after the next send are not waited for, until they are prompt")
    func lateReceipts() {
        let device = late()
        #expect(device.send(at: 9_100))
        _ = device.ask(at: 9_101)
        #expect(device.due(at: 9_101) == 9_802)
        #expect(device.holds(at: 9_101) == [.spacing])
        // Prompt ones are believed again soon.
        device.confirm(at: 9_103, launchedAt: 9_102)
        for second in [9_200.0, 9_300, 9_400, 9_500, 9_600, 9_700, 9_800] {
            #expect(device.send(at: second))
            device.confirm(at: second + 1, launchedAt: second)
        }
        #expect(device.send(at: 9_900))
        _ = device.ask(at: 9_901)
        #expect(device.holds(at: 9_901) == [.unconfirmed])
    }

    @Test("where receipts come late, sends are half as far again apart as pushes are held")
    func lateDistance() throws {
        let device = late()
        #expect(device.send(at: 9_100))
        #expect(device.send(at: 9_802))
        // Held for 10 min: the 468 s that were known grow by a quarter.
        device.confirm(at: 16_000, sentAt: 9_100, launchedAt: 9_690)
        #expect(device.send(at: 16_100))
        _ = device.ask(at: 16_101)
        #expect(device.due(at: 16_101) == 16_100 + 877.0)
        let explanation = device.ledger.explain(policy: device.policy, at: Device.at(16_101))
        #expect(
            explanation.rules.first?.sentence
                == "Receipts come too late to wait for, and the device holds most pushes for up to "
                + "9 min 45 s; sends are at least 14 min 37 s apart (\(Device.at(16_977))).")
        #expect(explanation.hourly?.limit == 12)
    }

    @Test("where receipts come late, an urgent wake keeps the same distance")
    func lateUrgent() {
        let device = late()
        #expect(device.send(at: 9_100))
        let other = device.copy()
        _ = device.ask(at: 9_101)
        _ = other.ask(at: 9_101, .urgent)
        #expect(device.due(at: 9_101) == other.due(at: 9_101))
    }

    // Else such a device is taken to hold its pushes, for hours, until six receipts were late.
    @Test("one late receipt is enough where it is the first")
    func firstLate() {
        let device = confirming
        for number in 0..<6 { #expect(device.send(at: 1_200 * Double(number))) }
        device.confirm(at: 6_100, sentAt: 0, launchedAt: 1)
        _ = device.ask(at: 6_101)
        #expect(device.holds(at: 6_101) == [.spacing])
    }

    // Else a device that launches nothing for hours has each of its pushes overwritten.
    @Test("where receipts come late, each that is overdue doubles the distance, from the second")
    func overdue() throws {
        let device = late()
        var now = 20_000.0
        var distances: [Double] = []
        while now < 50_000 {
            #expect(device.send(at: now))
            _ = device.ask(at: now + 1)
            let due = device.due(at: now + 1) ?? now
            distances.append(due - now)
            now = due
        }
        #expect(
            distances == [Double](repeating: 702, count: 7) + [1_404, 2_808]
                + [Double](repeating: 3_600, count: 6))
        let rules = device.ledger.explain(policy: device.policy, at: Device.at(now - 1)).rules
        #expect(
            rules.first?.sentence
                == "Receipts come too late to wait for, and the device holds most pushes for up to "
                + "7 min 48 s; 11 receipts are overdue, so sends are at least 1 h apart "
                + "(\(Device.at(now))).")
        // Where the distance is at its maximum without them, they are no reason.
        var settings = BudgetSettings()
        settings.spacingSeconds = 600
        settings.spacingMaximumSeconds = 600
        let short = try BudgetPolicy(settings).with(confirmsLaunches: true)
        let other = device.ledger.explain(policy: short, at: Device.at(now - 3_500)).rules
        #expect(other.first?.sentence.contains("overdue") == false)
        // The first receipt that comes ends it.
        device.confirm(at: now, sentAt: now - 3_600, launchedAt: now - 3_599)
        #expect(device.send(at: now))
        _ = device.ask(at: now + 1)
        #expect(device.due(at: now + 1) == now + 681.0)
    }

    @Test("the wider windows end a day after the latest launch that is confirmed")
    func windows() {
        let device = confirmed(at: 0)
        #expect(device.send(at: 60_000))
        for (second, limit) in [(86_400.0, 12), (86_401, 3)] {
            let copy = device.copy()
            #expect(copy.send(at: second))
            let explanation = copy.ledger.explain(policy: copy.policy, at: Device.at(second))
            #expect(explanation.hourly?.limit == limit)
        }
    }

    /// A device whose receipts came hours late so far.
    private func late() -> Device {
        let device = confirming
        let sent = (0..<8).map { Double(1_200 * $0) }
        for second in sent { #expect(device.send(at: second)) }
        for (number, second) in sent.enumerated() {
            device.confirm(at: 9_000 + Double(number), sentAt: second, launchedAt: second + 1)
        }
        return device
    }

    @Test("a push is held until its launch, not until its receipt")
    func launchedAt() {
        let device = confirmed(at: 0)
        #expect(device.send(at: 60))
        device.confirm(at: 1_500, sentAt: 60, launchedAt: 700)
        #expect(device.send(at: 1_600))
        _ = device.ask(at: 1_601)
        #expect(device.due(at: 1_601) == 1_600 + 2 * 640.0)
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
        for second in [0.0, 1_800, 6_400] { #expect(device.send(at: second)) }
        _ = device.ask(at: 6_401)
        #expect(device.due(at: 6_401) == 13_600)
        let opened = device.copy()
        #expect(opened.report(.foreground, at: 6_402) == .superseded)
        _ = opened.ask(at: 6_403)
        #expect(opened.due(at: 6_403) == 6_462)
        device.confirm(at: 6_402)
        // The app confirmed the last send, so the next follows soon.
        #expect(device.due(at: 6_402) == 6_460)
    }

    @Test("a receipt for an earlier send leaves the later ones unconfirmed")
    func earlierReceipt() {
        let device = confirmed(at: -100)
        for second in [0.0, 1_800, 6_400] { #expect(device.send(at: second)) }
        _ = device.ask(at: 6_401)
        _ = device.confirm(at: 6_402, sentAt: 1_800)
        #expect(device.holds(at: 6_402) == [.unconfirmed])
        #expect(
            device.ledger.explain(policy: device.policy, at: Device.at(6_402))
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

    @Test("silence is waited for twice as long as the device holds nearly all pushes")
    func hold() {
        let device = confirming
        #expect(device.send(at: 0))
        device.confirm(at: 1)
        #expect(device.send(at: 60))
        // Held for 19 min: the 563 s that were known grow by half.
        device.confirm(at: 1_201)
        #expect(device.send(at: 1_202))
        _ = device.ask(at: 1_203)
        #expect(device.due(at: 1_203) == 1_202 + 2 * 844.0)
        // A shorter time is believed slowly: a sixteenth less.
        device.confirm(at: 1_801)
        #expect(device.due(at: 1_801) == 1_801)
        #expect(device.send(at: 1_801))
        _ = device.ask(at: 1_802)
        #expect(device.due(at: 1_802) == 1_801 + 2 * 792.0)
    }

    // Else every lost receipt of the day would cost as long a wait as the night was.
    @Test("a night, or a journey, counts as one push that was held")
    func night() {
        let device = confirmed(at: 0)
        #expect(device.send(at: 60))
        device.confirm(at: 8 * 3_600)
        #expect(device.send(at: 30_000))
        _ = device.ask(at: 30_001)
        #expect(device.due(at: 30_001) == 30_000 + 2 * 844.0)
    }

    @Test("what an earlier silent send was held for counts too, where no receipts are missing")
    func overwritten() {
        let device = confirmed(at: 0)
        #expect(device.send(at: 100))
        #expect(device.send(at: 1_300))
        // The device held the first for 1 200 s longer than the second, which took its place.
        device.confirm(at: 1_400, sentAt: 1_300, launchedAt: 1_400)
        #expect(device.send(at: 1_500))
        _ = device.ask(at: 1_501)
        #expect(device.due(at: 1_501) == 1_500 + 2 * 844.0)
    }

    @Test("an urgent wake waits likewise while the device holds the last push, for up to an hour")
    func urgent() {
        let device = confirmed(at: 0)
        #expect(device.send(at: 60))
        _ = device.ask(at: 70, .urgent)
        #expect(device.due(at: 70) == 60 + 1_126.0)
        let silent = device.copy()
        device.confirm(at: 80)
        #expect(device.due(at: 80) == 80)
        #expect(silent.send(at: 1_186))
        _ = silent.ask(at: 1_187, .urgent)
        #expect(silent.due(at: 1_187) == 1_186 + 3_600.0)
    }

    @Test("a wake that a receipt could free before its expiry does not expire at once")
    func expiryBeforeReceipt() {
        let device = confirmed(at: -100)
        #expect(device.send(at: 0))
        #expect(
            device.ask(at: 1, expiresAt: 600)
                == .deferred(until: Device.at(1_126), because: DelayReasons(.unconfirmed)))
        device.confirm(at: 30)
        #expect(device.due(at: 30) == 60)
        // Nothing frees it before the confirmed spacing is over.
        let other = confirmed(at: -100)
        #expect(other.send(at: 0))
        #expect(
            other.ask(at: 1, expiresAt: 60)
                == .expired(earliest: Device.at(1_126), because: DelayReasons(.unconfirmed)))
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

    // The app is not launched to say that they ended, and a receipt that says so may be lost.
    @Test("a device that confirms is tried every two hours in spite of what it reported of power")
    func triesUnderReports() {
        let signals: [(DeviceSignal, DelayReason, end: Double)] = [
            (.lowPowerMode(true), .lowPowerMode, 21_610),
            (.battery(percent: 5, isCharging: false), .lowBattery, 14_410),
        ]
        for (signal, hold, end) in signals {
            let device = confirming
            #expect(device.send(at: 0))
            device.confirm(at: 1)
            _ = device.report(signal, at: 10)
            for sent in [100.0, 7_300] {
                #expect(device.send(at: sent))
                _ = device.ask(at: sent + 1)
                #expect(device.holds(at: sent + 1) == [.unconfirmed, hold])
                #expect(device.due(at: sent + 1) == min(sent + 7_200, end))
            }
            // Silence of one that never confirms says nothing.
            let other = Device()
            #expect(other.send(at: 0))
            _ = other.report(signal, at: 10)
            _ = other.ask(at: 101)
            #expect(other.due(at: 101) == end)
        }
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
