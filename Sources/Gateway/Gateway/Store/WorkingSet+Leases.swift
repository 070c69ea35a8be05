// SPDX-License-Identifier: Apache-2.0

import WakeBudget
import WakeModel

extension WorkingSet {
    /// Ends a pending wake that is not sent, and removes it from its ledger, if there is one.
    func abandon(
        _ wake: inout WakeRow, _ end: WakeEnd, _ queue: SeenQueue, at now: WallInstant
    ) throws(RowFault) -> EndedWake {
        guard var device = try readableDevice(wake.device) else {
            return try finish(&wake, end, at: now, queue)
        }
        return try abandon(&wake, end, &device, queue, at: now)
    }

    /// Ends a wake whose device does not exist, which earlier versions could cause, or cannot be
    /// read. The token of a removed device is unknown, so its wake ends as cancelled.
    func finishForgotten(
        _ wake: inout WakeRow, at now: WallInstant, _ queue: SeenQueue
    ) throws(RowFault) -> EndedWake {
        let isGone: Bool
        do throws(RowFault) {
            isGone = try token(ofDevice: wake.device) == nil
        } catch {
            // It is there, and not even whose it is can be read.
            guard case .damaged = error else { throw error }
            isGone = false
        }
        return try finish(&wake, isGone ? .cancelled : .damaged, at: now, queue)
    }

    func abandon(
        _ wake: inout WakeRow, _ end: WakeEnd, _ device: inout DeviceRow, _ queue: SeenQueue,
        at now: WallInstant
    ) throws(RowFault) -> EndedWake {
        switch queue.row.queue.kind.discipline {
        case .background:
            if device.pending == wake.number {
                _ = device.ledger.cancelPending(at: now)
                device.pending = 0
            }
        case .call:
            // A call that may have rung stays counted.
            if wake.tries == 0 { refundCall(wake, &device) }
        case .plain:
            if wake.tries == 0 { device.ledger.giveBackTurn(policy: queue.policy) }
        }
        save(&device, at: now)
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
            expiration: wake.expiration, collapseID: wake.collapseID, priority: wake.priority,
            deadline: wake.deadline, dueAt: wake.dueAt, tries: wake.tries,
            previousReason: wake.previousReason,
            claimedAt: wake.claimedAt, leaseUntil: wake.leaseUntil)
    }
}
