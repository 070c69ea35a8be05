// SPDX-License-Identifier: Apache-2.0

import WakeBudget
import WakeModel

// A debit is recorded as final when a wake is claimed, and refunded when the wake certainly was not
// sent. So the most frequent outcome changes no ledger, and a device is written once for a wake and
// not twice.

extension WorkingSet {
    /// Makes missing receipts count in this queue. Returns whether this is new.
    func noteConfirmation(in queue: SeenQueue) -> Bool {
        guard !queue.row.confirmsLaunches else { return false }
        change(queue.row, .confirmsLaunches)
        return true
    }

    // MARK: Ends

    /// Ends a wake: its row, the counter, and the webhook if an endpoint subscribes to it.
    func finish(
        _ wake: inout WakeRow, _ end: WakeEnd, at now: WallInstant, _ queue: SeenQueue
    ) throws(RowFault) -> EndedWake {
        wake.state = end.state
        wake.end = end
        wake.endedAt = now
        if case .expired = end, wake.deadline <= now, isPaused(queue, at: wake.deadline) {
            wake.holds.formUnion(DelayReasons(.paused))
        }
        wake.payload = []
        wake.parts = []
        update(wake, .end)
        return try booked(wake, end, at: now, queue)
    }

    /// Whether an app is paused, or was at the deadline of a wake that is found only now.
    private func isPaused(_ queue: SeenQueue, at deadline: WallInstant) -> Bool {
        queue.row.pausedAt.map { $0 <= deadline } ?? false
            || rules.pauses.contains(deadline, of: queue.row.queue.app)
    }

    /// Records the end of a wake whose row has it already.
    func booked(
        _ wake: borrowing WakeRow, _ end: WakeEnd, at now: WallInstant, _ queue: SeenQueue
    ) throws(RowFault) -> EndedWake {
        add(1, to: .ended(end.state))
        addOutcome(of: wake.number, at: now)
        if !rules.webhooks.isEmpty {
            try tell(.outcome(wake: wake.number), .outcome, of: queue.row.queue.app, at: now)
        }
        return EndedWake(
            id: wake.id, ref: wake.ref, queue: queue.row.queue, end: end, at: now,
            lastReason: wake.previousReason)
    }

    /// Ends the pending wake of a background device, after its ledger removed it.
    func finishPending(
        of device: inout DeviceRow, _ end: WakeEnd, at now: WallInstant, _ queue: SeenQueue
    ) throws(RowFault) -> EndedWake? {
        let number = device.pending
        device.pending = 0
        guard number != 0, var wake = try liveWake(number), wake.state == .pending else {
            return nil
        }
        return try finish(&wake, end, at: now, queue)
    }

    // MARK: Times

    /// Sets a pending wake's times by the present ledger.
    func schedule(
        _ wake: inout WakeRow, _ device: borrowing DeviceRow, _ queue: SeenQueue,
        at now: WallInstant
    ) {
        guard let outlook = device.ledger.outlook(policy: queue.policy, at: now) else { return }
        // A requested delay is shorter than the longest hold; a longer one is from a clock that
        // leapt.
        let latest = now.advanced(bySeconds: Int64(queue.policy.settings.holdSeconds))
        if wake.notBefore > latest { wake.notBefore = now }
        wake.dueAt = max(outlook.due, wake.notBefore)
        wake.deadline = outlook.deadline
        wake.holds = outlook.holds
    }

    /// Writes the times of a device's pending wake, after a command that may have changed them.
    func rescheduleBehind(
        _ device: borrowing DeviceRow, _ queue: SeenQueue, at now: WallInstant
    ) throws(RowFault) {
        guard device.pending != 0, var wake = try liveWake(device.pending),
            wake.state == .pending
        else { return }
        let before = wake
        schedule(&wake, device, queue, at: now)
        guard wake != before else { return }
        update(wake, .schedule)
        noteDue(wake)
    }
}
