// SPDX-License-Identifier: Apache-2.0

import Testing
import WakeBudget
import WakeModel

@Suite("Explanation")
struct ExplanationTests {
    private func explain(_ device: Device, at second: Double) -> Explanation {
        device.ledger.explain(policy: device.policy, at: Device.at(second))
    }

    @Test("a device without a past may be woken now")
    func fresh() {
        let explanation = explain(Device(), at: 0)
        #expect(
            explanation.sentences == [
                "0 of 3 sends in the last 60 minutes.", "0 of 48 sends in the last 24 hours.",
            ])
        #expect(explanation.nextSend == Device.at(0))
        #expect(explanation.hourly?.left == 3)
        #expect(explanation.spacingSeconds == 900)
    }

    @Test("a waiting wake is explained with every rule that holds it")
    func waiting() {
        let device = Device()
        for second in [0.0, 900, 1_800] { #expect(device.send(at: second)) }
        _ = device.report(.lowPowerMode(true), at: 1_900)
        _ = device.ask(at: 2_000)
        _ = device.ask(at: 2_100)
        let explanation = explain(device, at: 2_200)
        #expect(explanation.rules.map(\.hold) == [.spacing, .hourly, .lowPowerMode])
        #expect(explanation.rules.map(\.until) == [2_700, 3_600, 23_500].map(Device.at))
        #expect(explanation.nextSend == Device.at(23_500))
        #expect(explanation.waiting?.requests == 2)
        #expect(
            explanation.rules.map(\.sentence) == [
                "Sends are at least 15 min apart (2027-01-15T08:45:00.000Z).",
                "The hour has had its 3 sends (2027-01-15T09:00:00.000Z).",
                "Low Power Mode is on; a report that it is off ends this at once "
                    + "(2027-01-15T14:31:40.000Z).",
            ])
        #expect(
            explanation.sentences == [
                "2 requests wait as one since 2027-01-15T08:33:20.000Z, and will be given up at "
                    + "2027-01-16T08:33:20.000Z.",
                "3 of 3 sends in the last 60 minutes; there is room again from "
                    + "2027-01-15T09:00:00.000Z on.",
                "3 of 48 sends in the last 24 hours.",
            ])
    }

    @Test("the explanation agrees with the outlook, whatever holds")
    func agreement() {
        let device = Device(BudgetPolicy.standard.with(confirmsLaunches: true))
        _ = device.report(.foreground, at: 0)
        _ = device.report(.forceQuit, at: 1)
        _ = device.report(.battery(percent: 3, isCharging: false), at: 2)
        _ = device.ask(at: 3, .deferrable)
        let explanation = explain(device, at: 4)
        #expect(explanation.waiting?.outlook.due == explanation.nextSend)
        #expect(explanation.rules.map(\.hold) == device.holds(at: 4))
        #expect(explanation.rules.map(\.until).max() == explanation.nextSend)
        #expect(explanation.rules.contains { $0.sentence.contains("app switcher") })
        #expect(explanation.rules.contains { $0.sentence.contains("at 3 %") })
    }

    @Test("a try in spite of a report is told, where it is what ends the delay")
    func trial() {
        let device = Device(BudgetPolicy.standard.with(confirmsLaunches: true))
        device.confirm(at: 0)
        _ = device.report(.lowPowerMode(true), at: 1)
        #expect(device.send(at: 2))
        for (second, isTried) in [(3.0, true), (14_600, false)] {
            if second > 3 { #expect(device.send(at: second - 1)) }
            _ = device.ask(at: second)
            let rule = explain(device, at: second).rules.first { $0.hold == .lowPowerMode }
            let sentence = rule?.sentence ?? ""
            #expect(sentence.contains("; a wake is tried 2 h after the last one") == isTried)
            #expect(rule?.until == Device.at(isTried ? 7_202 : 21_601))
        }
    }

    @Test("backing off is told with its reason")
    func backOff() {
        let device = Device(BudgetPolicy.standard.with(confirmsLaunches: true))
        device.confirm(at: 0)
        for second in [0.0, 1_800] { #expect(device.send(at: second)) }
        _ = device.ask(at: 1_801)
        #expect(
            explain(device, at: 1_801).rules.first?.sentence
                == "The last 2 sends were not confirmed by the app, and the device may still hold "
                + "one, most for up to 9 min 23 s, so the next waits 75 min 4 s unless a receipt "
                + "comes (2027-01-15T09:45:04.000Z).")
    }

    @Test("Background App Refresh off is told with its end")
    func suppressed() {
        let device = Device()
        _ = device.report(.backgroundAppRefresh(false), at: 0)
        let explanation = explain(device, at: 1)
        let sentence = explanation.suppression?.sentence ?? ""
        #expect(sentence.contains("Use an alert push"))
        #expect(sentence.contains("counts until \(Device.at(3_600))"))
        #expect(explanation.nextSend == Device.at(3_600))
    }

    @Test("calls are counted by the hour")
    func calls() {
        var ledger = DeviceLedger(kind: .voip)
        for number in 0..<10 {
            let call = BudgetRequest.voip(CallFingerprint("\(number)"))
            _ = ledger.admit(call, policy: .standard, at: Device.start)
        }
        let explanation = ledger.explain(policy: .standard, at: Device.at(1))
        #expect(explanation.discipline == .call)
        #expect(explanation.hourly?.left == 0)
        #expect(explanation.daily == nil)
        #expect(explanation.nextSend == Device.at(3_600))
        #expect(explanation.sentences.last?.hasPrefix("10 of 10 calls") == true)
    }
}
