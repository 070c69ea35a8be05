// SPDX-License-Identifier: Apache-2.0

import PayloadRules
import WakeModel

extension InMemoryWakeStore {
    /// One wake and its life so far.
    struct Entry: Sendable {
        let new: NewWake
        private(set) var state = WakeState.pending
        private(set) var dueAt: WallInstant
        private(set) var leaseUntil = WallInstant(millisecondsSinceEpoch: 0)
        private var fence: Int64 = 0
        private var tries = 0
        private var claimedAt = WallInstant(millisecondsSinceEpoch: 0)
        private var previousReason: RejectionReason?
        private var outcome: WakeEnd?
        private var endedAt: WallInstant?
        private var attempts: [AttemptRecord] = []

        init(new: NewWake) {
            self.new = new
            dueAt = new.dueAt
        }

        var lane: Lane { Lane(app: new.app, kind: new.wake.kind) }

        var receipt: AdmittedWake {
            AdmittedWake(id: new.id, acceptedAt: new.acceptedAt, deadline: new.deadline)
        }

        mutating func claim(at now: WallInstant, until leaseEnd: WallInstant) {
            state = .claimed
            fence += 1
            claimedAt = now
            leaseUntil = leaseEnd
        }

        mutating func settle(_ settlement: Settlement) -> SettlementVerdict {
            guard settlement.ticket.fence == fence else { return .stale }
            // The lease was settled, and has not been given out again.
            guard state == .claimed else { return .repeated }
            if let result = settlement.attempt { note(result, at: settlement.at) }
            switch settlement.effect {
            case .end(let end):
                self.end(end, at: settlement.at)
            case .retry(let instant, let charged):
                state = .pending
                dueAt = instant
                if charged { tries += 1 }
            case .release:
                state = .pending
            }
            return .applied
        }

        mutating func end(_ end: WakeEnd, at now: WallInstant) {
            state = end.state
            outcome = end
            endedAt = now
        }

        func hasLapsed(at now: WallInstant) -> Bool { state == .claimed && leaseUntil <= now }

        mutating func reclaim(at now: WallInstant) {
            note(.abandoned, at: now)
            fence += 1
            switch new.wake.kind {
            case .voip:
                end(.failed(.fateUnknown), at: now)
            case .background:
                state = .pending
                dueAt = now
                tries += 1
            }
        }

        private mutating func note(_ result: AttemptResult, at now: WallInstant) {
            if case .refused(let refusal) = result { previousReason = refusal.reason }
            attempts.append(AttemptRecord(startedAt: claimedAt, endedAt: now, result: result))
            if attempts.count > AttemptRecord.maximumKept { attempts.removeFirst() }
        }

        var asClaim: Claim {
            Claim(
                ticket: Claim.Ticket(id: new.id, fence: fence), app: new.app, kind: new.wake.kind,
                deviceToken: new.wake.deviceToken, payload: new.wake.payload,
                expiration: new.wake.expiration, collapseID: new.wake.collapseID,
                deadline: new.deadline, tries: tries, previousReason: previousReason,
                claimedAt: claimedAt, leaseUntil: leaseUntil)
        }

        var record: WakeRecord {
            WakeRecord(
                id: new.id, app: new.app, kind: new.wake.kind, deviceToken: new.wake.deviceToken,
                state: state, acceptedAt: new.acceptedAt, dueAt: dueAt, deadline: new.deadline,
                tries: tries, end: outcome, endedAt: endedAt, attempts: attempts)
        }
    }
}
