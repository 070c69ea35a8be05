// SPDX-License-Identifier: Apache-2.0

import Testing
import WakeBudget
import WakeModel

@Suite("What becomes of a wake")
struct VerbTests {
    @Test("a wake that meets another merges into it, and the due time stays")
    func coalescing() {
        let device = Device()
        #expect(device.send(at: 0))
        _ = device.ask(at: 10)
        #expect(
            device.ask(at: 500, coalescing: .union)
                == .coalesced(.union, until: Device.at(900), because: DelayReasons(.spacing)))
        #expect(device.ask(at: 901) == .coalesced(.replace, until: Device.at(901), because: []))
        #expect(device.ledger.pending?.requests == 3)
        #expect(device.due(at: 901) == 901)
    }

    @Test("a wake that waits matters as much as the most urgent one in it")
    func urgency() {
        let device = Device()
        #expect(device.send(at: 0))
        _ = device.ask(at: 1, .deferrable)
        #expect(
            device.ask(at: 2, .urgent) == .coalesced(.replace, until: Device.at(2), because: []))
        _ = device.ask(at: 3, .deferrable)
        #expect(device.ledger.pending?.urgency == .urgent)
    }

    @Test("a wake that would expire before it may go ends at once, and says so")
    func expiry() {
        let device = Device()
        #expect(device.send(at: 0))
        let expired = Decision.expired(earliest: Device.at(900), because: DelayReasons(.spacing))
        #expect(device.ask(at: 1, expiresAt: 900) == expired)
        #expect(device.ask(at: 1, expiresAt: 1) == expired)
        #expect(device.ledger.pending == nil)
        #expect(
            device.ask(at: 1, expiresAt: 901)
                == .deferred(until: Device.at(900), because: DelayReasons(.spacing)))
        // It does not take the one that waits with it.
        #expect(device.ask(at: 2, expiresAt: 800) == expired)
        #expect(device.ledger.pending?.requests == 1)
        #expect(device.ledger.pending?.expiresAt == Device.at(901))
    }

    @Test("a report is no reason to call a wake expired, for another may end it in time")
    func expiryUnderReport() {
        let device = Device()
        _ = device.report(.lowPowerMode(true), at: 0)
        #expect(
            device.ask(at: 1, expiresAt: 600)
                == .deferred(until: Device.at(21_600), because: DelayReasons(.lowPowerMode)))
        #expect(!device.expire(at: 599))
        #expect(device.expire(at: 600))
        #expect(!device.expire(at: 600))
    }

    @Test(
        "replaced, a wake expires with the newer payload; united, with the later of the two",
        arguments: [(Coalescing.replace, 2_000.0), (.union, 3_000)])
    func mergedExpiry(coalescing: Coalescing, expiry: Double) {
        let device = Device()
        #expect(device.send(at: 0))
        _ = device.ask(at: 1, expiresAt: 3_000)
        _ = device.ask(at: 2, coalescing: coalescing, expiresAt: 2_000)
        #expect(device.ledger.pending?.expiresAt == Device.at(expiry))
    }

    @Test("nothing waits longer than its hold, counted from the oldest wake in it")
    func hold() {
        let device = Device()
        _ = device.report(.forceQuit, at: 0)
        _ = device.ask(at: 0)
        _ = device.ask(at: 80_000)
        let outlook = device.ledger.outlook(policy: device.policy, at: Device.at(80_000))
        #expect(outlook?.deadline == Device.at(86_400))
        #expect(
            device.claim(at: 86_399)
                == .notYet(
                    until: Device.at(604_800), because: DelayReasons(.forceQuit)))
        #expect(device.claim(at: 86_400) == .expired)
        #expect(device.claim(at: 86_400) == .nothingPending)
    }

    @Test("a request that finds an overdue wake begins anew, and the overdue one ends as expired")
    func overdue() {
        let device = Device()
        _ = device.report(.forceQuit, at: 0)
        _ = device.ask(at: 0)
        let verdict = device.admit(at: 90_000)
        #expect(verdict.expiredPending)
        #expect(
            verdict.decision
                == .deferred(
                    until: Device.at(604_800), because: DelayReasons(.forceQuit)))
        #expect(device.ledger.pending?.requests == 1)
    }

    @Test("what certainly was not sent is refunded, the spacing included; the rest stays charged")
    func refund() throws {
        for fate in SendFate.allCases {
            let device = Device()
            _ = device.ask(at: 0)
            let debit = try device.debit(at: 0)
            #expect(debit.at == Device.at(0))
            #expect(device.ledger.inFlight == 1)
            #expect(device.settle(debit, as: fate) == .ended)
            #expect(device.ledger.inFlight == 0)
            _ = device.ask(at: 1)
            #expect(device.due(at: 1) == (fate == .notSent ? 1 : 900))
        }
    }

    @Test("a refund is given once")
    func refundOnce() throws {
        let device = Device()
        _ = device.ask(at: 0)
        let debit = try device.debit(at: 0)
        #expect(device.send(at: 900))
        for _ in 0..<3 { _ = device.settle(debit, as: .notSent) }
        let hourly = device.ledger.explain(policy: device.policy, at: Device.at(904)).hourly
        #expect(hourly?.used == 1)
    }

    @Test("a wake that returns waits again, or is carried by one that waits by now")
    func returning() throws {
        let device = Device()
        _ = device.ask(at: 0, .urgent)
        let debit = try device.debit(at: 0)
        let alone = device.copy()
        let settled = alone.settle(debit, as: .notSent, returns: true)
        #expect(settled == .pending)
        #expect(alone.due(at: 1) == 1)
        _ = device.ask(at: 1, .deferrable)
        #expect(
            device.settle(debit, as: .unknown, returns: true)
                == .coalesced(isNewer: false))
        #expect(device.ledger.pending?.requests == 2)
        #expect(device.ledger.pending?.urgency == .urgent)
        #expect(
            device.ledger.outlook(policy: device.policy, at: Device.at(2))?.deadline
                == Device.at(86_400))
    }

    @Test(
        "each attempt that may have arrived is charged; its own do not space a wake, the hour does")
    func repeating() throws {
        let device = Device()
        _ = device.ask(at: 0)
        for tries in 1...3 {
            let debit = try device.debit(at: Double(tries))
            #expect(
                device.settle(debit, as: .unknown, returns: true) == .pending)
            let hourly = device.ledger.explain(policy: device.policy, at: Device.at(3)).hourly
            #expect(hourly?.used == tries)
        }
        #expect(device.due(at: 4) == 3_601)
        #expect(device.holds(at: 4) == [.hourly])
        // It ends without being sent again, and what may have arrived still counts.
        #expect(device.cancel(at: 5))
        _ = device.ask(at: 5)
        #expect(device.holds(at: 5) == [.spacing, .hourly])
    }

    @Test("a wake keeps its distance from another that was sent while it was under way")
    func repeatingBehindAnother() throws {
        let device = Device()
        _ = device.ask(at: 0)
        let lost = try device.debit(at: 0)
        #expect(device.send(at: 0, .urgent))
        #expect(device.settle(lost, as: .unknown, returns: true) == .pending)
        #expect(device.due(at: 1) == 900)
        #expect(device.holds(at: 1) == [.spacing])
    }

    @Test("a send from before a device was forgotten is not taken for a later one")
    func forgetting() throws {
        let device = Device()
        _ = device.ask(at: 0)
        let old = try device.debit(at: 0)
        device.forget()
        #expect(device.send(at: 0))
        let unsent = device.copy()
        #expect(unsent.settle(old, as: .notSent, returns: true) == .pending)
        #expect(unsent.due(at: 1) == 900)
        #expect(device.settle(old, as: .unknown, returns: true) == .pending)
        #expect(device.due(at: 1) == 900)
    }

    @Test("a try that certainly was not sent is refunded, and the one before it is not")
    func repeatingUnsent() throws {
        let device = Device()
        _ = device.ask(at: 0)
        _ = device.settle(try device.debit(at: 0), as: .unknown, returns: true)
        _ = device.settle(try device.debit(at: 5), as: .notSent, returns: true)
        let hourly = device.ledger.explain(policy: device.policy, at: Device.at(6)).hourly
        #expect(hourly?.used == 1)
        #expect(device.due(at: 6) == 6)
        #expect(device.cancel(at: 7))
        _ = device.ask(at: 7)
        #expect(device.due(at: 7) == 900)
    }

    @Test("a wake can be cancelled while it waits")
    func cancelling() {
        let device = Device()
        #expect(!device.cancel(at: 0))
        _ = device.ask(at: 0)
        #expect(device.cancel(at: 0))
        #expect(device.claim(at: 0) == .nothingPending)
    }
}
