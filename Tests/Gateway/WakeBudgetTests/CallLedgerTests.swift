// SPDX-License-Identifier: Apache-2.0

import SeedKit
import Testing
import WakeModel

@testable import WakeBudget

@Suite("Calls")
struct CallLedgerTests {
    /// A VoIP ledger, told the time in seconds.
    final class Phone {
        private(set) var ledger = DeviceLedger(kind: .voip)

        func call(_ callID: String, at second: Double) -> Decision {
            ledger.admit(
                .voip(CallFingerprint(callID)), policy: .standard, at: Device.at(second)
            ).decision
        }

        func refund(_ callID: String) -> Bool {
            ledger.refund(CallFingerprint(callID))
        }
    }

    @Test("calls have no spacing")
    func spacing() {
        let phone = Phone()
        for number in 0..<10 { #expect(phone.call("\(number)", at: 0) == .send) }
    }

    @Test("the same call id within the deadline is the same wake, to the millisecond")
    func sameCall() {
        let phone = Phone()
        #expect(phone.call("a", at: 0.5) == .send)
        #expect(phone.call("b", at: 0.5) == .send)
        #expect(phone.call("a", at: 0.5) == .sameCall)
        #expect(phone.call("a", at: 10.499) == .sameCall)
        #expect(phone.call("a", at: 10.5) == .send)
    }

    @Test("more than ten calls an hour are refused, until the first of them is an hour old")
    func misuse() {
        let phone = Phone()
        for number in 0..<10 { #expect(phone.call("\(number)", at: Double(number) * 60) == .send) }
        let refused = Decision.suppressed(.tooManyCalls(until: Device.at(3_600)))
        #expect(phone.call("x", at: 600) == refused)
        #expect(phone.call("x", at: 3_599.999) == refused)
        #expect(phone.call("x", at: 3_600) == .send)
        #expect(
            phone.call("y", at: 3_600) == .suppressed(.tooManyCalls(until: Device.at(3_660))))
    }

    @Test("what was not sent is not counted, and the same call may be tried again")
    func refund() {
        let phone = Phone()
        for number in 0..<10 { #expect(phone.call("\(number)", at: 0) == .send) }
        #expect(phone.refund("4"))
        #expect(!phone.refund("4"))
        #expect(phone.call("4", at: 2) == .send)
        #expect(phone.ledger.invariantsBroken() == [])
    }

    @Test("a clock that is set back keeps the age of calls", arguments: [121.0, 86_400, 4e7])
    func correction(seconds: Double) {
        let phone = Phone()
        for number in 0..<10 { #expect(phone.call("\(number)", at: 0) == .send) }
        let refused = Decision.suppressed(.tooManyCalls(until: Device.at(3_600 - seconds)))
        #expect(phone.call("x", at: -seconds) == refused)
        #expect(phone.call("3", at: 9.999 - seconds) == .sameCall)
        #expect(phone.call("x", at: 3_600 - seconds) == .send)
    }

    @Test("a small step back is none")
    func tolerance() {
        let phone = Phone()
        #expect(phone.call("a", at: 100) == .send)
        #expect(phone.call("a", at: 0) == .sameCall)
        #expect(phone.call("a", at: 110) == .send)
    }

    @Test("calls do not wait, and nothing is to be claimed")
    func noPending() {
        var ledger = DeviceLedger(kind: .voip)
        let now = Device.start
        _ = ledger.admit(.voip(CallFingerprint("a")), policy: .standard, at: now)
        #expect(ledger.outlook(policy: .standard, at: now) == nil)
        let verdict = ledger.claim(policy: .standard, at: now)
        #expect(verdict == .nothingPending)
        #expect(ledger.pending == nil)
    }

    @Test("fingerprints of many call ids differ")
    func fingerprints() {
        let fingerprints = Set((0..<100_000).map { CallFingerprint("call-\($0)") })
        #expect(fingerprints.count == 100_000)
    }

    // A million steps in all.
    @Test("by a plain list of calls, the same is decided", arguments: 1...4)
    func model(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var ledger = DeviceLedger(kind: .voip)
        var calls: [(id: Int, at: Int64)] = []
        let fingerprints = (0..<8).map { CallFingerprint("\($0)") }
        var now: Int64 = 1_800_000_000_000
        for step in 0..<250_000 {
            now += Int64(generator.next() % (generator.next() % 4 == 0 ? 1_500_000 : 9_000))
            calls.removeAll { now - $0.at >= 3_600_000 }
            let id = Int(generator.next() % 8)
            let instant = WallInstant(millisecondsSinceEpoch: now)
            let verdict = ledger.admit(
                .voip(fingerprints[id]), policy: .standard, at: instant)
            let expected: Decision =
                if calls.contains(where: { $0.id == id && now - $0.at < 10_000 }) {
                    .sameCall
                } else if calls.count >= 10 {
                    .suppressed(
                        .tooManyCalls(
                            until: WallInstant(
                                millisecondsSinceEpoch: calls[calls.count - 10].at + 3_600_000)))
                } else {
                    .send
                }
            guard verdict.decision == expected, ledger.invariantsBroken().isEmpty else {
                Issue.record("seed \(seed), step \(step): \(verdict), not \(expected)")
                return
            }
            if expected == .send { calls.append((id, now)) }
        }
    }
}
