// SPDX-License-Identifier: Apache-2.0

import WakeBudget
public import WakeModel

extension StoreTransaction {
    /// Takes leases on due wakes; see ``WakeStore/claim(_:under:)``.
    public func claim(
        _ order: ClaimOrder, under rules: StoreRules
    ) throws(StoreFailure) -> ClaimAnswer {
        begin(rules)
        var answer = ClaimAnswer()
        for share in order.shares {
            let room = min(share.limit, order.limit - answer.claims.count)
            guard room > 0 else {
                answer.unfinished.insert(share.queue)
                continue
            }
            guard let row = try rows.queue(of: share.queue) else { continue }
            let queue = try queue(row.number)
            let due = try rows.due(queue: row.number, at: order.now, limit: room)
            if due.count == room { answer.unfinished.insert(share.queue) }
            for number in due { try claim(number, queue, order, &answer) }
        }
        return answer
    }

    private func claim(
        _ number: Int64, _ queue: SeenQueue, _ order: ClaimOrder, _ answer: inout ClaimAnswer
    ) throws(StoreFailure) {
        guard var wake = try liveWake(number, withPayload: true) else { return }
        guard wake.state == .pending else { return try misplaced(wake) }
        // A row can be damaged and make sense: nothing goes to a device of another app for it.
        guard wake.queue == queue.row.number else { return try quarantine(number) }
        guard var device = try readableDevice(wake.device), device.queue == wake.queue else {
            answer.ended.append(try finishForgotten(&wake, at: order.now, queue))
            return
        }
        switch queue.row.queue.kind {
        case .voip:
            if let end = whyNot(wake, device, at: order.now) {
                answer.ended.append(try abandon(&wake, end, &device, queue, at: order.now))
                return
            }
        case .background:
            guard try debit(&wake, &device, queue, order, &answer) else { return }
        }
        hold(&wake, at: order.now, until: order.leaseUntil)
        try rows.update(wake, .claim)
        answer.claims.append(claim(wake, device, queue))
    }

    /// Debits a background wake; `false` when it does not go now.
    private func debit(
        _ wake: inout WakeRow, _ device: inout DeviceRow, _ queue: SeenQueue, _ order: ClaimOrder,
        _ answer: inout ClaimAnswer
    ) throws(StoreFailure) -> Bool {
        if let end = whyNot(wake, device, at: order.now) {
            answer.ended.append(try abandon(&wake, end, &device, queue, at: order.now))
            return false
        }
        switch device.ledger.claim(policy: queue.policy, at: order.now) {
        case .charged(let debit):
            // Final until it turns out that it was not sent; see the type.
            _ = device.ledger.settle(debit, as: .accepted)
            wake.debit = debit
        case .notYet:
            schedule(&wake, device, queue, at: order.now)
            // A clock that was set back must not make it due for ever.
            wake.dueAt = max(wake.dueAt, order.now.advanced(byMilliseconds: 1))
            try rows.update(wake, .schedule)
            // Its ledger may have learned that the clock was set back; else it would learn that
            // anew each time, and the wait would begin anew with it.
            try save(&device, at: order.now)
            answer.deferred += 1
            return false
        case .expired:
            device.pending = 0
            try save(&device, at: order.now)
            answer.ended.append(try finish(&wake, .expired, at: order.now, queue))
            return false
        case .nothingPending:
            // The row is the truth; the ledger was forgotten. It goes without a charge.
            wake.debit = nil
        }
        device.pending = 0
        try save(&device, at: order.now)
        return true
    }

    /// Why a due wake must not be sent, if that is so.
    private func whyNot(
        _ wake: borrowing WakeRow, _ device: borrowing DeviceRow, at now: WallInstant
    ) -> WakeEnd? {
        if let deadSince = device.deadSince {
            return .suppressed(.deviceTokenDead(since: deadSince))
        }
        return wake.deadline <= now ? .expired : nil
    }

    /// Ends a pending wake that is not sent, and has its ledger, if there is one, let go of it.
    func abandon(
        _ wake: inout WakeRow, _ end: WakeEnd, _ queue: SeenQueue, at now: WallInstant
    ) throws(StoreFailure) -> EndedWake {
        guard var device = try readableDevice(wake.device) else {
            return try finish(&wake, end, at: now, queue)
        }
        return try abandon(&wake, end, &device, queue, at: now)
    }

    /// Ends a wake whose device is gone, as an earlier version could leave one, or cannot be read.
    /// Of one that is gone nobody knows the token any more, so the wake has the end of what waits
    /// for a device that is forgotten.
    func finishForgotten(
        _ wake: inout WakeRow, at now: WallInstant, _ queue: SeenQueue
    ) throws(StoreFailure) -> EndedWake {
        let isGone: Bool
        do throws(StoreFailure) {
            isGone = try rows.token(ofDevice: wake.device) == nil
        } catch {
            // It is there, and not even whose it is can be read.
            guard error.kind == .damaged else { throw error }
            isGone = false
        }
        return try finish(&wake, isGone ? .cancelled : .damaged, at: now, queue)
    }

    private func abandon(
        _ wake: inout WakeRow, _ end: WakeEnd, _ device: inout DeviceRow, _ queue: SeenQueue,
        at now: WallInstant
    ) throws(StoreFailure) -> EndedWake {
        switch queue.row.queue.kind {
        case .background:
            if device.pending == wake.number {
                _ = device.ledger.cancelPending(at: now)
                device.pending = 0
            }
        case .voip:
            // One that may have rung stays counted.
            if wake.tries == 0 { refundCall(wake, &device) }
        }
        try save(&device, at: now)
        return try finish(&wake, end, at: now, queue)
    }

    /// Marks a wake as held under a lease.
    func hold(_ wake: inout WakeRow, at now: WallInstant, until leaseEnd: WallInstant) {
        wake.state = .claimed
        wake.fence += 1
        wake.claimedAt = now
        wake.leaseUntil = leaseEnd
    }

    func claim(
        _ wake: borrowing WakeRow, _ device: borrowing DeviceRow, _ queue: SeenQueue
    ) -> Claim {
        Claim(
            ticket: Claim.Ticket(id: wake.id, fence: wake.fence), app: queue.row.queue.app,
            kind: queue.row.queue.kind, deviceToken: device.token, payload: wake.payload,
            expiration: wake.expiration, collapseID: wake.collapseID, deadline: wake.deadline,
            dueAt: wake.dueAt, tries: wake.tries, previousReason: wake.previousReason,
            claimedAt: wake.claimedAt, leaseUntil: wake.leaseUntil)
    }

    // MARK: Deadlines

    /// Ends overdue wakes; see ``WakeStore/expireOverdue(at:limit:under:)``.
    public func expireOverdue(
        at now: WallInstant, limit: Int, under rules: StoreRules
    ) throws(StoreFailure) -> [EndedWake] {
        begin(rules)
        var ended: [EndedWake] = []
        for number in try rows.overdue(at: now, limit: limit) {
            guard var wake = try liveWake(number) else { continue }
            guard wake.state == .pending else {
                try misplaced(wake)
                continue
            }
            guard let queue = try readableQueue(wake.queue) else {
                try quarantine(number)
                continue
            }
            ended.append(try abandon(&wake, .expired, queue, at: now))
        }
        return ended
    }

    /// When the next pending wake is due; see ``WakeStore/nextDue(in:)``.
    public func nextDue(in queues: [WakeQueueKey]) throws(StoreFailure) -> WallInstant? {
        var earliest: WallInstant?
        for queue in queues {
            guard let row = try rows.queue(of: queue),
                let due = try rows.nextDue(queue: row.number)
            else { continue }
            earliest = min(earliest ?? due, due)
        }
        return earliest
    }
}
