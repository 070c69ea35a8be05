// SPDX-License-Identifier: Apache-2.0

import SeedKit
import Testing
import WakeModel

@testable import WakeBudget

@Suite("Plain pushes")
struct PlainLedgerTests {
    /// The ledger of a topic of plain pushes, told the time in seconds.
    final class Phone {
        private(set) var ledger = DeviceLedger(kind: .alert)
        let policy: BudgetPolicy

        init(burst: Int = 3, perMinute: Int = 60) throws {
            var settings = BudgetSettings()
            settings.burstPushes = burst
            settings.pushesPerMinute = perMinute
            policy = try BudgetPolicy(settings)
        }

        func push(at second: Double, until deadline: Double = 86_400) -> Decision {
            ledger.admit(
                .plain(until: Device.at(deadline)), policy: policy, at: Device.at(second)
            ).decision
        }

        func ask(at second: Double, until deadline: Double = 86_400) -> Decision {
            ledger.decide(
                on: .plain(until: Device.at(deadline)), policy: policy, at: Device.at(second))
        }

        func giveBack() { ledger.giveBackTurn(policy: policy) }

        func explain(at second: Double) -> Explanation {
            ledger.explain(policy: policy, at: Device.at(second))
        }
    }

    private func turn(_ second: Double) -> Decision {
        .deferred(until: Device.at(second), because: DelayReasons(.rate))
    }

    @Test("A burst goes at once; those beyond get their turns one after the other")
    func burst() throws {
        let phone = try Phone()
        for _ in 0..<3 { #expect(phone.push(at: 0) == .send) }
        #expect(phone.push(at: 0) == turn(1))
        #expect(phone.push(at: 0) == turn(2))
        #expect(phone.push(at: 0.5) == turn(3))
        #expect(phone.push(at: 4) == .send)
        #expect(phone.push(at: 4) == turn(5))
        for _ in 0..<3 { #expect(phone.push(at: 60) == .send) }
        #expect(phone.push(at: 60) == turn(61))
    }

    @Test("What cannot have its turn before its deadline expires, and takes none")
    func deadline() throws {
        let phone = try Phone(burst: 1)
        #expect(phone.push(at: 0, until: 1) == .send)
        let expired = Decision.expired(earliest: Device.at(1), because: DelayReasons(.rate))
        for _ in 0..<5 { #expect(phone.push(at: 0, until: 1) == expired) }
        #expect(phone.push(at: 0, until: 1.5) == turn(1))
        #expect(
            phone.push(at: 5, until: 5) == .expired(earliest: Device.at(5), because: []))
    }

    @Test("A turn that is given back is the next one's, and to ask takes none")
    func giveBack() throws {
        let phone = try Phone(burst: 1)
        #expect(phone.push(at: 0) == .send)
        #expect(phone.ask(at: 0) == turn(1))
        #expect(phone.ask(at: 0) == turn(1))
        #expect(phone.push(at: 0) == turn(1))
        phone.giveBack()
        #expect(phone.push(at: 0) == turn(1))
        for _ in 0..<10 { phone.giveBack() }
        #expect(phone.push(at: 0) == .send)
        #expect(phone.ledger.invariantsBroken() == [])
    }

    @Test(
        "In no stretch of time does a device get more than the burst and the rate",
        arguments: 1...20)
    func walk(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        func draw(_ range: ClosedRange<UInt64>) -> UInt64 {
            range.lowerBound + random.next() % (range.upperBound - range.lowerBound + 1)
        }
        let burst = Int(draw(1...20))
        let perMinute = Int(draw(1...300))
        let phone = try Phone(burst: burst, perMinute: perMinute)
        var now = 0.0
        var sent: [Double] = []
        for _ in 0..<500 {
            now += Double(draw(0...2_000)) / 1000 * Double(draw(0...1))
            switch phone.push(at: now, until: now + Double(draw(1...120))) {
            case .send: sent.append(now)
            case .deferred(let turn, let reasons):
                #expect(reasons == DelayReasons(.rate) && turn > Device.at(now))
                sent.append(Double(turn.milliseconds(since: Device.start)) / 1000)
            case .expired(let earliest, _): #expect(earliest > Device.at(now))
            case .coalesced, .sameCall, .suppressed: Issue.record("Not of plain pushes.")
            }
            #expect(phone.ledger.invariantsBroken() == [])
        }
        #expect(sent == sent.sorted(), "A turn overtakes another.")
        let interval = Double(60_000 / perMinute) / 1000
        for (index, first) in sent.enumerated() where index + burst < sent.count {
            #expect(sent[index + burst] - first > interval - 0.002 * Double(burst))
        }
    }

    @Test("A clock that is set back, or leaps, makes no wait longer")
    func clocks() throws {
        let phone = try Phone(burst: 1)
        #expect(phone.push(at: 0) == .send)
        #expect(phone.push(at: -60) == turn(1), "a small step is none")
        #expect(phone.push(at: -86_400) == turn(-86_398))
        #expect(phone.push(at: 4e7, until: 5e7) == .send)
    }

    @Test("Its bytes are short, and say all of it")
    func encoding() throws {
        let phone = try Phone(burst: 1)
        #expect(try DeviceLedger(decoding: phone.ledger.encoded()) == phone.ledger)
        for _ in 0..<5 { _ = phone.push(at: 0) }
        let bytes = phone.ledger.encoded()
        #expect(bytes.count <= 18)
        let read = try DeviceLedger(decoding: bytes)
        #expect(read == phone.ledger && read.discipline == .plain)
        var damaged = bytes
        damaged += Array(repeating: 0xff, count: 18 - bytes.count)
        damaged[17] = 0xff
        #expect(throws: LedgerDecodingError.self) { try DeviceLedger(decoding: damaged) }
    }

    @Test("What is left is told as a burst, and the wait with its reason")
    func explanation() throws {
        let phone = try Phone()
        _ = phone.push(at: 0)
        var explanation = phone.explain(at: 0)
        #expect(explanation.discipline == .plain && explanation.hourly == nil)
        #expect(explanation.burst?.left == 2 && explanation.rules.isEmpty)
        #expect(explanation.sentences == ["1 of 3 pushes in a row are used."])
        for _ in 0..<4 { _ = phone.push(at: 0) }
        explanation = phone.explain(at: 0)
        #expect(explanation.burst?.left == 0 && explanation.nextSend == Device.at(3))
        #expect(explanation.rules.map(\.hold) == [.rate])
        #expect(explanation.rules.first?.sentence.contains("60 a minute") == true)
        #expect(
            explanation.sentences == [
                "3 of 3 pushes in a row are used, and 2 more wait for a turn; the next turn is at "
                    + "\(Device.at(3))."
            ])
    }

    @Test("What was sent lately stays counted when a device is forgotten; reports change nothing")
    func forgotten() throws {
        let phone = try Phone(burst: 1)
        var ledger = phone.ledger
        _ = ledger.admit(
            .plain(until: Device.at(9)), policy: phone.policy, at: Device.at(0))
        let before = ledger
        ledger.forget()
        #expect(ledger == before)
        #expect(ledger.report(.foreground, at: Device.at(0)) == nil)
        #expect(ledger.outlook(policy: phone.policy, at: Device.at(0)) == nil)
        #expect(ledger.pending == nil && ledger.inFlight == 0)
    }
}
