// SPDX-License-Identifier: Apache-2.0

import WakeBudget
import WakeModel

/// A ledger with its policy, told the time in seconds since a beginning. A class, so that an
/// expectation may call what changes it.
final class Device {
    static let start = WallInstant(secondsSinceEpoch: 1_800_000_000)

    private(set) var ledger = DeviceLedger(kind: .background)
    let policy: BudgetPolicy

    init(_ policy: BudgetPolicy = .standard) { self.policy = policy }

    /// Another device of the same past.
    func copy() -> Device {
        let copy = Device(policy)
        copy.ledger = ledger
        return copy
    }

    /// The defaults, with changes.
    static func policy(_ change: (inout BudgetSettings) -> Void) -> BudgetPolicy {
        var settings = BudgetSettings()
        change(&settings)
        do throws(InvalidBudgetSettings) {
            return try BudgetPolicy(settings)
        } catch {
            preconditionFailure("A test asks for settings that no policy allows: \(error)")
        }
    }

    static func at(_ second: Double) -> WallInstant {
        start.advanced(byMilliseconds: Int64(second * 1000))
    }

    func ask(
        at second: Double, _ urgency: Urgency = .normal, coalescing: Coalescing = .replace,
        expiresAt: Double? = nil
    ) -> Decision {
        let expiration = expiresAt.map { Expiration.at(Self.at($0)) } ?? .immediately
        let request = BudgetRequest.background(
            urgency, coalescing: coalescing, expiration: expiration)
        return ledger.admit(request, policy: policy, at: Self.at(second)).decision
    }

    func claim(at second: Double) -> ClaimVerdict {
        ledger.claim(policy: policy, at: Self.at(second))
    }

    /// Asks for a wake and sends it if it may go at once; whether it did.
    func send(at second: Double, _ urgency: Urgency = .normal) -> Bool {
        _ = ask(at: second, urgency)
        guard case .charged(let debit) = claim(at: second) else { return false }
        _ = ledger.settle(debit, as: .accepted)
        return true
    }

    func report(_ signal: DeviceSignal, at second: Double) -> PendingEnd? {
        ledger.report(signal, at: Self.at(second))
    }

    func forget() { ledger.forget() }

    func observe(at second: Double) { ledger.observe(Self.at(second)) }

    func settle(
        _ debit: BudgetDebit, as fate: SendFate, returns: Bool = false
    ) -> SettledWake {
        ledger.settle(debit, as: fate, returns: returns)
    }

    func expire(at second: Double) -> Bool {
        ledger.expirePending(policy: policy, at: Self.at(second))
    }

    func cancel(at second: Double) -> Bool { ledger.cancelPending(at: Self.at(second)) }

    func admit(at second: Double) -> AdmitVerdict {
        ledger.admit(.background(), policy: policy, at: Self.at(second))
    }

    @discardableResult
    func confirm(
        at second: Double, sentAt: Double? = nil, launchedAt: Double? = nil,
        hasSynced: Bool = false
    ) -> PendingEnd? {
        ledger.confirmLaunch(
            ofSendAt: sentAt.map(Self.at), launchedAt: launchedAt.map(Self.at),
            hasSynced: hasSynced, at: Self.at(second))
    }

    /// The charge of the pending wake, which must be due.
    func debit(at second: Double) throws -> BudgetDebit {
        guard case .charged(let debit) = claim(at: second) else { throw NotCharged() }
        return debit
    }

    struct NotCharged: Error {}

    /// When the pending wake is due, in seconds since the beginning.
    func due(at second: Double) -> Double? {
        ledger.outlook(policy: policy, at: Self.at(second)).map {
            Double($0.due.milliseconds(since: Self.start)) / 1000
        }
    }

    func holds(at second: Double) -> [DelayReason]? {
        ledger.outlook(policy: policy, at: Self.at(second))?.holds.all
    }

    /// Asks for a wake at each of these times and sends each as soon as it may go; when they went.
    func sends(askedAt seconds: [Double], until end: Double) -> [Double] {
        var sent: [Double] = []
        var questions = seconds[...]
        var now = 0.0
        while true {
            let next = questions.first ?? end
            if let due = due(at: now), due < next {
                guard due < end, case .charged(let debit) = claim(at: due) else { return sent }
                _ = ledger.settle(debit, as: .accepted)
                sent.append(due)
                now = due
            } else {
                guard let asked = questions.popFirst() else { return sent }
                now = asked
                _ = ask(at: asked)
                guard case .charged(let debit) = claim(at: asked) else { continue }
                _ = ledger.settle(debit, as: .accepted)
                sent.append(asked)
            }
        }
    }
}
