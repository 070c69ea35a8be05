// SPDX-License-Identifier: Apache-2.0

import WakeBudget
import WakeModel

/// The budget of Rouse, called as the gateway calls it: admit, read the outlook, claim, settle.
///
/// APNs accepts every push here, because the effect of rejections on a ledger is not simulated.
struct BudgetedSending: SendingRule {
    private let policy: BudgetPolicy
    private var ledger = DeviceLedger(kind: .background)

    /// Creates an empty ledger. The policy says whether the topic confirms launches.
    init(_ policy: BudgetPolicy) { self.policy = policy }

    mutating func ask(_ stream: EventStream, at now: Int64) -> AskAnswer {
        let instant = WallInstant(millisecondsSinceEpoch: now)
        let request = BudgetRequest.background(
            stream.urgency, expiration: .at(instant.advanced(bySeconds: stream.lifeSeconds)))
        let verdict = ledger.admit(request, policy: policy, at: instant)
        switch verdict.decision {
        case .send, .deferred: return .waits(endsWaiting: verdict.expiredPending)
        case .coalesced, .sameCall: return .merges
        case .expired: return .ends(.expired)
        case .suppressed: return .ends(.suppressed)
        }
    }

    mutating func due(at now: Int64) -> Int64? {
        let instant = WallInstant(millisecondsSinceEpoch: now)
        guard ledger.pending != nil, let outlook = ledger.outlook(policy: policy, at: instant)
        else { return nil }
        return max(now, min(outlook.due, outlook.deadline).millisecondsSinceEpoch)
    }

    mutating func release(at now: Int64) -> ReleaseAnswer {
        let instant = WallInstant(millisecondsSinceEpoch: now)
        switch ledger.claim(policy: policy, at: instant) {
        case .charged(let debit):
            _ = ledger.settle(debit, as: .accepted)
            return .sends
        case .expired: return .expires
        case .notYet, .nothingPending: return .waits
        }
    }

    mutating func confirm(_ receipt: ReceivedReceipt, at now: Int64) -> Bool {
        ledger.confirmLaunch(
            ofSendAt: WallInstant(millisecondsSinceEpoch: receipt.sentAt),
            launchedAt: WallInstant(millisecondsSinceEpoch: receipt.launchedAt),
            hasSynced: receipt.hasSynced, at: WallInstant(millisecondsSinceEpoch: now)) != nil
    }

    mutating func report(_ signal: DeviceSignal, at now: Int64) -> Bool {
        ledger.report(signal, at: WallInstant(millisecondsSinceEpoch: now)) != nil
    }
}
