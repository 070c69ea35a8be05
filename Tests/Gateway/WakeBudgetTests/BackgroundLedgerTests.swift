// SPDX-License-Identifier: Apache-2.0

import Testing
import WakeBudget
import WakeModel

@Suite("Trouble with the clock")
struct ClockTests {
    static let day = 86_400.0

    @Test("a clock that stands still does not matter to the next wake but by the spacing")
    func standing() {
        let device = Device()
        #expect(device.send(at: 0))
        for _ in 0..<1_000 { _ = device.ask(at: 0) }
        #expect(device.due(at: 0) == 900)
    }

    @Test("a step back within the tolerance is none", arguments: [1.0, 60, 120])
    func smallStep(seconds: Double) {
        let device = Device()
        #expect(device.send(at: 1_000))
        _ = device.ask(at: 1_000 - seconds)
        #expect(device.due(at: 1_000 - seconds) == 1_900)
    }

    @Test(
        "a longer step back keeps all ages, so that nothing is held longer from there on",
        arguments: [121.0, day, 400 * day, 20_000 * day])
    func correction(seconds: Double) {
        let device = Device()
        #expect(device.send(at: 0))
        #expect(device.send(at: 900))
        device.observe(at: 1_000)
        let later = 1_000 - seconds
        _ = device.ask(at: later)
        #expect(device.due(at: later) == later + 800)
        #expect(device.holds(at: later) == [.spacing])
        #expect(device.ledger.invariantsBroken() == [])
        #expect(device.send(at: later + 800))
        _ = device.ask(at: later + 1_000)
        #expect(device.due(at: later + 1_000) == later + 2_600)
    }

    @Test("a day ahead and back: what was sent meanwhile holds no longer than ever")
    func aheadAndBack() {
        let device = Device()
        _ = device.report(.lowPowerMode(true), at: 0)
        for number in 0..<3 { #expect(device.send(at: Self.day + Double(number) * 900)) }
        _ = device.ask(at: 3_000)
        let due = device.due(at: 3_000) ?? .infinity
        #expect(due <= 3_000 + 3_600)
        guard case .charged = device.claim(at: due) else {
            Issue.record("the device is frozen")
            return
        }
    }

    @Test("signals age by what was lived through, not by what the clock says")
    func signals() {
        let device = Device()
        _ = device.report(.lowPowerMode(true), at: 0)
        _ = device.ask(at: 10_000)
        _ = device.ask(at: -50_000)
        #expect(device.due(at: -50_000) == -38_400.0)
    }

    @Test("a charge from before a correction is not refunded in the name of another send")
    func staleCharge() throws {
        let device = Device()
        _ = device.ask(at: 1_000)
        let debit = try device.debit(at: 1_000)
        device.observe(at: -500)
        #expect(device.send(at: 1_000))
        _ = device.settle(debit, as: .notSent, returns: true)
        #expect(device.due(at: 1_001) == 1_900)
        #expect(device.ledger.invariantsBroken() == [])
    }

    @Test("the ends of time do not trap")
    func ends() {
        var ledger = DeviceLedger(kind: .background)
        let ends: [Int64] = [.min, .max, 0, .max, .min, -1, 1, .min + 1, .max - 1]
        for milliseconds in ends {
            let now = WallInstant(millisecondsSinceEpoch: milliseconds)
            for signal in [DeviceSignal.lowPowerMode(false), .foreground] {
                _ = ledger.report(signal, at: now)
            }
            _ = ledger.admit(.background(.urgent), policy: .standard, at: now)
            _ = ledger.outlook(policy: .standard, at: now)
            _ = ledger.claim(policy: .standard, at: now)
            _ = ledger.explain(policy: .standard, at: now).sentences
            #expect(ledger.invariantsBroken() == [], "at \(milliseconds)")
        }
    }

    @Test("a ledger that nobody looked at for ten years begins afresh, and what waited is over")
    func forgotten() {
        let device = Device()
        _ = device.report(.forceQuit, at: 0)
        _ = device.ask(at: 0)
        let later = 11 * 366 * Self.day
        let verdict = device.admit(at: later)
        #expect(verdict == AdmitVerdict(decision: .send, expiredPending: true))
    }
}
