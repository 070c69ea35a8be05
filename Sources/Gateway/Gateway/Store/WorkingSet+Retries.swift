// SPDX-License-Identifier: Apache-2.0

import WakeBudget
import WakeModel

extension WorkingSet {
    /// Returns a claimed wake to the queue, unless another one carries it now or it has expired.
    /// Returns its end, if it ended.
    func comeBack(
        _ wake: inout WakeRow, notBefore: WallInstant, fate: SendFate, _ queue: SeenQueue,
        at now: WallInstant
    ) throws(RowFault) -> EndedWake? {
        wake.notBefore = notBefore
        wake.state = .pending
        guard queue.row.queue.kind.discipline == .background else {
            wake.dueAt = notBefore
            update(wake, .comeback)
            noteDue(wake)
            return nil
        }
        guard var device = try readableDevice(wake.device) else {
            return try finishForgotten(&wake, at: now, queue)
        }
        guard let debit = wake.debit else {
            return try comeBackUncharged(&wake, &device, queue, at: now)
        }
        // An attempt that may have arrived stays charged, regardless of the wake's outcome: the
        // hour and the day count each attempt. Without another pending wake it is sent again as the
        // same push, with the same apns-id, and the spacing after its own lost attempt does not
        // apply, or a crash would delay every wake in flight by a quarter of an hour. Another wake
        // waits for the spacing.
        let place = device.ledger.settle(debit, as: fate, returns: true)
        wake.debit = nil
        switch place {
        case .coalesced(let isNewer):
            let end = try joinPending(&wake, isNewer: isNewer, device, queue, at: now)
            if let end {
                save(&device, at: now)
                return end
            }
            // It replaces the missing one.
            fallthrough
        case .pending, .ended:
            device.pending = wake.number
            schedule(&wake, device, queue, at: now)
            save(&device, at: now)
            update(wake, .comeback)
            noteDue(wake)
            return nil
        }
    }

    /// A wake that was sent without a debit in its ledger.
    private func comeBackUncharged(
        _ wake: inout WakeRow, _ device: inout DeviceRow, _ queue: SeenQueue, at now: WallInstant
    ) throws(RowFault) -> EndedWake? {
        if device.pending != 0,
            let end = try joinPending(&wake, isNewer: false, device, queue, at: now)
        {
            return end
        }
        wake.dueAt = wake.notBefore
        update(wake, .comeback)
        noteDue(wake)
        return nil
    }

    /// Another wake waits for the device by now; it carries this one, whose request may be the
    /// newer of the two. `nil` when that one was removed, or ended as damaged.
    private func joinPending(
        _ wake: inout WakeRow, isNewer: Bool, _ device: borrowing DeviceRow, _ queue: SeenQueue,
        at now: WallInstant
    ) throws(RowFault) -> EndedWake? {
        guard var carrier = try liveWake(device.pending, withPayload: true),
            carrier.state == .pending
        else { return nil }
        let returned = try readable { () throws(RowFault) in
            try self.wake(wake.number, withPayload: true)
        }
        if let returned {
            let (own, others) = (carrier.allParts, returned.allParts)
            carrier.merge(returned.content, wake.coalescing, wake.urgency, isNewer: isNewer)
            carrier.keep(isNewer ? own + others : others + own)
        }
        // A delay by APNs' answer concerns the device and not only the one wake.
        carrier.notBefore = max(carrier.notBefore, wake.notBefore)
        schedule(&carrier, device, queue, at: now)
        update(carrier, .content)
        noteDue(carrier)
        return try finish(&wake, .coalesced(into: carrier.id), at: now, queue)
    }
}
