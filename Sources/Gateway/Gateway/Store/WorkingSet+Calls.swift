// SPDX-License-Identifier: Apache-2.0

import WakeBudget
import WakeModel

// A repeated call is recognised by its key: each call that a device's ledger counts is in the
// device's own row with the id of its wake (``DeviceRow/calls``). So the answer "the same call"
// does not depend on the number of later wakes, nor on whether the wake's own row still exists.

extension WorkingSet {
    /// Counts a call that is to be sent, after its ledger did, and drops calls that no longer
    /// count. Waiting calls are kept, even if the ledger dropped them after a leap of the clock.
    func keepCall(
        _ wake: borrowing WakeRow, _ call: CallFingerprint, on device: inout DeviceRow,
        at now: WallInstant
    ) throws(RowFault) {
        let others = device.ledger.callCount(at: now) - 1
        var kept = Array(device.calls.prefix(others))
        for old in device.calls.dropFirst(others) {
            guard let row = try readableWake(old.wake.number), !row.state.isEnd else { continue }
            kept.append(old)
        }
        device.calls = [CountedCall(call: call, wake: wake.id)] + kept
    }

    /// Removes a call that certainly was not sent from its device's ledger.
    func refundCall(_ wake: borrowing WakeRow, _ device: inout DeviceRow) {
        let id = wake.id
        guard let place = device.calls.firstIndex(where: { $0.wake == id }) else { return }
        let call = device.calls.remove(at: place).call
        let newer = device.calls[..<place].count(where: { $0.call == call })
        _ = device.ledger.refund(call, behind: newer)
    }

    /// The answer to a request for a call that the ledger counted within its deadline. Nothing is
    /// sent for it, regardless of that wake's outcome.
    func sameCall(
        _ call: CallFingerprint, on device: borrowing DeviceRow, _ queue: SeenQueue
    ) throws(RowFault) -> AdmittedWake? {
        guard let id = device.calls.first(where: { $0.call == call })?.wake else { return nil }
        if let wake = try readableWake(id.number), wake.id == id {
            return AdmittedWake(
                id: id, acceptedAt: wake.acceptedAt, deadline: wake.deadline,
                decision: .sameCall(id), isRepeated: true)
        }
        // It was removed already, as when a clock leapt, or cannot be read; its id says when it was
        // accepted.
        let acceptedAt = id.acceptedAt
        return AdmittedWake(
            id: id, acceptedAt: acceptedAt,
            deadline: acceptedAt.advanced(
                bySeconds: Int64(queue.policy.settings.callDeadlineSeconds)),
            decision: .sameCall(id), isRepeated: true)
    }

    /// Ends the calls that wait for a device, because the device is removed.
    func cancelCalls(
        of device: inout DeviceRow, at now: WallInstant, _ queue: SeenQueue
    ) throws(RowFault) -> [EndedWake] {
        var ended: [EndedWake] = []
        for call in device.calls {
            guard var wake = try liveWake(call.wake.number), wake.state == .pending else {
                continue
            }
            if wake.tries == 0 { refundCall(wake, &device) }
            ended.append(try finish(&wake, .cancelled, at: now, queue))
        }
        return ended
    }
}
