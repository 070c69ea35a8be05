// SPDX-License-Identifier: Apache-2.0

import WakeBudget
import WakeModel

/// Takes leases on due wakes and debits them: the shares in their order, within a share the longest
/// due first. Expired wakes end; wakes that the budget defers still wait.
public struct ClaimWakes: StoreCommand {
    /// Which wakes.
    public let order: ClaimOrder
    /// The rules.
    public let rules: StoreRules

    /// Creates the command.
    public init(_ order: ClaimOrder, under rules: StoreRules) {
        self.order = order
        self.rules = rules
    }

    /// Calls and Push to Talk are urgent.
    public var profile: CommandProfile {
        var profile = CommandProfile(.readThenWrite, weight: order.limit)
        profile.isUrgent = order.shares.first?.queue.kind.isImmediate ?? false
        return profile
    }

    /// Most claims find nothing due.
    public static var isMostlyIdle: Bool { true }

    /// An empty answer when nothing is due.
    public func idleAnswer(
        on set: WorkingSet
    ) throws(RowFault) -> ClaimAnswer? {
        let due = try set.nextDue(in: order.shares.map(\.queue))
        return due.map { $0 <= order.now } ?? false ? nil : ClaimAnswer()
    }

    /// Due wakes with their devices.
    public func reads(of queues: QueueTable) -> ReadSet {
        var reads = ReadSet()
        let shares = order.shares.compactMap { share in
            queues[share.queue].map {
                ReadSet.DueScan.Share(queue: $0.number, limit: share.limit)
            }
        }
        reads.due = [ReadSet.DueScan(shares: shares, now: order.now, limit: order.limit)]
        reads.addBacklogs(of: rules)
        return reads
    }

    /// Decides on each due wake by itself.
    public func decide(on set: WorkingSet) throws(RowFault) -> ClaimAnswer {
        var answer = ClaimAnswer()
        for share in order.shares {
            let room = min(share.limit, order.limit - answer.claims.count)
            guard room > 0 else {
                answer.unfinished.insert(share.queue)
                continue
            }
            guard let row = set.knownQueue(share.queue) else { continue }
            let queue = try set.queue(row.number)
            let due = try set.due(queue: row.number, at: order.now, limit: room)
            if due.count == room { answer.unfinished.insert(share.queue) }
            for number in due {
                try set.part { () throws(RowFault) in
                    try set.claim(number, queue, order, &answer)
                }
            }
        }
        return answer
    }
}

extension WorkingSet {
    fileprivate func claim(
        _ number: Int64, _ queue: SeenQueue, _ order: ClaimOrder, _ answer: inout ClaimAnswer
    ) throws(RowFault) {
        guard var wake = try liveWake(number, withPayload: true) else { return }
        guard wake.state == .pending else { return misplaced(wake) }
        // A damaged row can be decodable: it must not cause a push to a device of another app.
        guard wake.queue == queue.row.number else { return quarantine(number) }
        guard var device = try readableDevice(wake.device), device.queue == wake.queue else {
            answer.ended.append(try finishForgotten(&wake, at: order.now, queue))
            return
        }
        switch queue.row.queue.kind.discipline {
        // A plain push was counted when it was accepted.
        case .call, .plain:
            if let end = whyNot(wake, device, at: order.now) {
                answer.ended.append(try abandon(&wake, end, &device, queue, at: order.now))
                return
            }
        case .background:
            guard try debit(&wake, &device, queue, order, &answer) else { return }
        }
        hold(&wake, at: order.now, until: order.leaseUntil)
        update(wake, .claim)
        answer.claims.append(claim(wake, device, queue))
    }

    /// Debits a background wake; `false` when it may not be sent now.
    private func debit(
        _ wake: inout WakeRow, _ device: inout DeviceRow, _ queue: SeenQueue, _ order: ClaimOrder,
        _ answer: inout ClaimAnswer
    ) throws(RowFault) -> Bool {
        if let end = whyNot(wake, device, at: order.now) {
            answer.ended.append(try abandon(&wake, end, &device, queue, at: order.now))
            return false
        }
        switch device.ledger.claim(policy: queue.policy, at: order.now) {
        case .charged(let debit):
            // Final unless it is found not to be sent; see the type.
            _ = device.ledger.settle(debit, as: .accepted)
            wake.debit = debit
        case .notYet:
            schedule(&wake, device, queue, at: order.now)
            // A clock that was set back must not make it due without end.
            wake.dueAt = max(wake.dueAt, order.now.advanced(byMilliseconds: 1))
            update(wake, .schedule)
            // Its ledger may have detected that the clock was set back; unsaved, it would detect
            // that again each time, and the wait would begin again with it.
            save(&device, at: order.now)
            answer.deferred += 1
            return false
        case .expired:
            device.pending = 0
            save(&device, at: order.now)
            answer.ended.append(try finish(&wake, .expired, at: order.now, queue))
            return false
        case .nothingPending:
            // The row decides; the ledger was reset. The wake is sent without a debit.
            wake.debit = nil
        }
        device.pending = 0
        save(&device, at: order.now)
        return true
    }

    /// The reason why a due wake must not be sent; `nil` if it may be.
    private func whyNot(
        _ wake: borrowing WakeRow, _ device: borrowing DeviceRow, at now: WallInstant
    ) -> WakeEnd? {
        if let deadSince = device.deadSince {
            return .suppressed(.deviceTokenDead(since: deadSince))
        }
        return wake.deadline <= now ? .expired : nil
    }
}
