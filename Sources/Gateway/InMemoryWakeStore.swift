// SPDX-License-Identifier: Apache-2.0

import PayloadRules
public import WakeModel

/// The specification of a store, in memory: it says what every verb means, in the plainest way.
///
/// It keeps the contract except that nothing survives the process, and its costs are linear in
/// the number of wakes. It is for tests and for trying things out.
public actor InMemoryWakeStore: WakeStore {
    var entries: [WakeID: Entry] = [:]
    /// Ids in the order of acceptance, which breaks ties between equal due times.
    var order: [WakeID] = []
    private var accepted = 0
    private var marks: [[UInt8]: (mark: IdempotencyMark, wake: WakeID)] = [:]

    /// An empty store.
    public init() {}

    /// Keeps wakes; see ``WakeStore/admit(_:)``.
    public func admit(_ submissions: [Submission]) throws(StoreFailure) -> [Admission] {
        submissions.map { submission in
            if let mark = submission.idempotency, let known = marks[mark.key],
                known.mark.expiresAt > submission.wake.acceptedAt
            {
                guard known.mark.request == mark.request, let entry = entries[known.wake] else {
                    return .conflict
                }
                return .repeated(entry.receipt)
            }
            let entry = Entry(new: submission.wake)
            entries[submission.wake.id] = entry
            order.append(submission.wake.id)
            accepted += 1
            if let mark = submission.idempotency {
                marks[mark.key] = (mark, submission.wake.id)
            }
            return .admitted(entry.receipt)
        }
    }

    /// Takes leases; see ``WakeStore/claim(_:)``.
    public func claim(_ claimOrder: ClaimOrder) throws(StoreFailure) -> [Claim] {
        var claims: [Claim] = []
        for share in claimOrder.shares {
            let room = min(share.limit, claimOrder.limit - claims.count)
            guard room > 0 else { continue }
            let due = pending(in: [share.lane]).filter {
                $0.dueAt <= claimOrder.now && $0.new.deadline > claimOrder.now
            }
            for id in due.prefix(room).map(\.new.id) {
                entries[id]?.claim(at: claimOrder.now, until: claimOrder.leaseUntil)
                if let claim = entries[id]?.asClaim { claims.append(claim) }
            }
        }
        return claims
    }

    /// Records outcomes; see ``WakeStore/settle(_:)``.
    public func settle(_ settlements: [Settlement]) throws(StoreFailure) -> [SettlementVerdict] {
        settlements.map { entries[$0.ticket.id]?.settle($0) ?? .stale }
    }

    /// Ends overdue wakes; see ``WakeStore/expireOverdue(at:limit:)``.
    public func expireOverdue(
        at now: WallInstant, limit: Int
    ) throws(StoreFailure) -> [WakeID] {
        let overdue = entries.values
            .filter { $0.state == .pending && $0.new.deadline <= now }
            .sorted { $0.new.deadline < $1.new.deadline }
            .prefix(limit).map(\.new.id)
        for id in overdue { entries[id]?.end(.expired, at: now) }
        return overdue
    }

    /// Takes lapsed leases back; see ``WakeStore/reclaimLapsed(at:limit:)``.
    public func reclaimLapsed(
        at now: WallInstant, limit: Int
    ) throws(StoreFailure) -> Reclaimed {
        let lapsed = order.compactMap { entries[$0] }.filter { $0.hasLapsed(at: now) }
            .sorted { $0.leaseUntil < $1.leaseUntil }
            .prefix(limit)
        for entry in lapsed { entries[entry.new.id]?.reclaim(at: now) }
        return Reclaimed(
            returned: lapsed.filter { $0.new.wake.kind == .background }.map(\.new.id),
            failed: lapsed.filter { $0.new.wake.kind == .voip }.map(\.new.id))
    }

    /// The next due time; see ``WakeStore/nextDue(in:)``.
    public func nextDue(in lanes: [Lane]) throws(StoreFailure) -> WallInstant? {
        pending(in: lanes).first?.dueAt
    }

    /// One wake; see ``WakeStore/record(of:)``.
    public func record(of id: WakeID) throws(StoreFailure) -> WakeRecord? { entries[id]?.record }

    /// How many have not ended; see ``WakeStore/countUnended()``.
    public func countUnended() throws(StoreFailure) -> Int {
        entries.values.count { !$0.state.isEnd }
    }

    /// The books; see ``WakeStore/recount()``.
    public func recount() throws(StoreFailure) -> StoreCount {
        var byState: [WakeState: Int] = [:]
        for entry in entries.values { byState[entry.state, default: 0] += 1 }
        return StoreCount(accepted: accepted, byState: byState)
    }

    /// Forgets old keys; see ``WakeStore/forgetIdempotencyKeys(at:limit:)``.
    public func forgetIdempotencyKeys(
        at now: WallInstant, limit: Int
    ) throws(StoreFailure) -> Int {
        let old = marks.values.filter { $0.mark.expiresAt <= now }.prefix(limit)
        for entry in old { marks[entry.mark.key] = nil }
        return old.count
    }

    /// Pending wakes of these lanes, the longest due first.
    private func pending(in lanes: [Lane]) -> [Entry] {
        order.compactMap { entries[$0] }
            .filter { $0.state == .pending && lanes.contains($0.lane) }
            .sorted { $0.dueAt < $1.dueAt }
    }
}
