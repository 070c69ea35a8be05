// SPDX-License-Identifier: Apache-2.0

import WakeBudget
public import WakeModel

extension StoreTransaction {
    /// Records outcomes; see ``WakeStore/settle(_:under:)``.
    public func settle(
        _ settlements: [Settlement], under rules: StoreRules
    ) throws(StoreFailure) -> SettleAnswer {
        begin(rules)
        var answer = SettleAnswer()
        answer.verdicts.reserveCapacity(settlements.count)
        for settlement in settlements {
            answer.verdicts.append(try settle(settlement, &answer.ended))
        }
        answer.nextDue = nextDue
        return answer
    }

    private func settle(
        _ settlement: Settlement, _ ended: inout [EndedWake]
    ) throws(StoreFailure) -> SettlementVerdict {
        let ticket = settlement.ticket
        let found: WakeRow?
        do throws(StoreFailure) {
            found = try rows.wake(ticket.id.number, withPayload: false)
        } catch {
            guard error.kind == .damaged else { throw error }
            try quarantine(ticket.id.number)
            return .damaged
        }
        guard var wake = found, wake.id == ticket.id, wake.fence == ticket.fence else {
            return .stale
        }
        // The lease was settled, and has not been given out again.
        guard wake.state == .claimed else { return .repeated }
        guard let queue = try readableQueue(wake.queue) else {
            try quarantine(wake.number)
            return .damaged
        }
        if let result = settlement.attempt, !result.standsInRow {
            if case .refused(let refusal) = result { wake.previousReason = refusal.reason }
            try note(result, of: wake, at: settlement.at)
        }
        switch settlement.effect {
        case .end(let end):
            ended.append(try conclude(&wake, end, settlement, queue))
        case .retry(let instant, let charged):
            if charged { wake.tries += 1 }
            let end = try comeBack(
                &wake, notBefore: instant, fate: settlement.fate, queue, at: settlement.at)
            if let end { ended.append(end) }
        case .release:
            let end = try comeBack(
                &wake, notBefore: wake.notBefore, fate: .notSent, queue, at: settlement.at)
            if let end { ended.append(end) }
        }
        return .applied
    }

    func note(
        _ result: AttemptResult, of wake: borrowing WakeRow, at now: WallInstant
    ) throws(StoreFailure) {
        try rows.add(
            AttemptRecord(startedAt: wake.claimedAt, endedAt: now, result: result), to: wake)
    }

    // MARK: Ends

    /// Ends a claimed wake; gives back what it was charged with if it certainly was not sent.
    private func conclude(
        _ wake: inout WakeRow, _ end: WakeEnd, _ settlement: Settlement, _ queue: SeenQueue
    ) throws(StoreFailure) -> EndedWake {
        var end = end
        // What APNs took is final already; see the type.
        if settlement.fate != .accepted, var device = try readableDevice(wake.device) {
            refund(wake, &device, settlement.fate)
            if case .refused(let refusal) = settlement.attempt {
                end = try learn(refusal, end, wake, &device, queue, at: settlement.at)
            }
            try rescheduleBehind(device, queue, at: settlement.at)
            try save(&device, at: settlement.at)
        }
        return try finish(&wake, end, at: settlement.at, queue)
    }

    private func refund(
        _ wake: borrowing WakeRow, _ device: inout DeviceRow, _ fate: SendFate
    ) {
        switch device.ledger.kind {
        case .background:
            if let debit = wake.debit {
                _ = device.ledger.settle(debit, as: fate)
            }
        case .voip:
            if fate == .notSent, wake.tries == 0 { refundCall(wake, &device) }
        }
    }

    /// What a final refusal says of the device token: records it, and tells the feed.
    private func learn(
        _ refusal: Refusal, _ end: WakeEnd, _ wake: borrowing WakeRow, _ device: inout DeviceRow,
        _ queue: SeenQueue, at now: WallInstant
    ) throws(StoreFailure) -> WakeEnd {
        let kind: FeedbackKind
        switch refusal.advice.deviceToken {
        case .unaffected: return end
        case .suspectEnvironment: kind = .environmentMismatch
        case .deadForTopic: kind = .wrongTopic
        case .deadUnlessRegisteredSince: kind = .tokenDead
        }
        if kind == .tokenDead {
            let deadSince = refusal.tokenDeadSince ?? now
            // The app registered it after APNs found it dead: it is alive.
            if let registeredAt = device.registeredAt, registeredAt > deadSince {
                return .rejected(refusal)
            }
            device.deadSince = deadSince
        }
        // A device is one of a topic: for this one the token is as dead.
        if kind == .wrongTopic { device.deadSince = now }
        let number = try rows.add(
            FeedbackRow(
                kind: kind, queue: queue.row.number, deviceToken: device.token, at: now,
                refusal: refusal, wake: wake.id))
        if kind == .tokenDead {
            try tell(
                .tokenDead(feedback: number), .tokenDead, of: queue.row.queue.app, at: now)
        }
        return end
    }

    // MARK: Coming back

    /// Puts a claimed wake back, unless another one carries it by now or its time is over; how it
    /// ended, if it did.
    private func comeBack(
        _ wake: inout WakeRow, notBefore: WallInstant, fate: SendFate, _ queue: SeenQueue,
        at now: WallInstant
    ) throws(StoreFailure) -> EndedWake? {
        wake.notBefore = notBefore
        wake.state = .pending
        guard queue.row.queue.kind == .background else {
            wake.dueAt = notBefore
            try rows.update(wake, .comeback)
            noteDue(wake)
            return nil
        }
        guard var device = try readableDevice(wake.device) else {
            return try finishForgotten(&wake, at: now, queue)
        }
        guard let debit = wake.debit else {
            return try comeBackUncharged(&wake, &device, queue, at: now)
        }
        // What may have arrived stays charged, whatever becomes of the wake from here on: the hour
        // and the day count each attempt. Alone, it is sent again as the same push, with the same
        // apns-id, and the spacing does not hold it back from its own lost attempt, or a crash
        // would cost every wake in flight a quarter of an hour. Another wake keeps its distance.
        let place = device.ledger.settle(debit, as: fate, returns: true)
        wake.debit = nil
        switch place {
        case .coalesced(let isNewer):
            let end = try joinPending(&wake, isNewer: isNewer, device, queue, at: now)
            if let end {
                try save(&device, at: now)
                return end
            }
            // It takes the place of the one that is not there.
            fallthrough
        case .pending, .ended:
            device.pending = wake.number
            schedule(&wake, device, queue, at: now)
            try save(&device, at: now)
            try rows.update(wake, .comeback)
            noteDue(wake)
            return nil
        }
    }

    /// A wake that was sent although its ledger knew nothing of it.
    private func comeBackUncharged(
        _ wake: inout WakeRow, _ device: inout DeviceRow, _ queue: SeenQueue, at now: WallInstant
    ) throws(StoreFailure) -> EndedWake? {
        if device.pending != 0,
            let end = try joinPending(&wake, isNewer: false, device, queue, at: now)
        {
            return end
        }
        wake.dueAt = wake.notBefore
        try rows.update(wake, .comeback)
        noteDue(wake)
        return nil
    }

    /// Another wake waits for the device by now; it carries this one, whose request may be the
    /// newer of the two. `nil` when that one is gone, or ended as damaged.
    private func joinPending(
        _ wake: inout WakeRow, isNewer: Bool, _ device: borrowing DeviceRow, _ queue: SeenQueue,
        at now: WallInstant
    ) throws(StoreFailure) -> EndedWake? {
        guard var carrier = try liveWake(device.pending, withPayload: true),
            carrier.state == .pending
        else { return nil }
        let returned = try readable { () throws(StoreFailure) in
            try rows.wake(wake.number, withPayload: true)
        }
        if let returned {
            carrier.merge(returned.content, wake.coalescing, wake.urgency, isNewer: isNewer)
        }
        // What APNs asked to wait for, it asked of the device and not of the one wake.
        carrier.notBefore = max(carrier.notBefore, wake.notBefore)
        schedule(&carrier, device, queue, at: now)
        try rows.update(carrier, .content)
        noteDue(carrier)
        return try finish(&wake, .coalesced(into: carrier.id), at: now, queue)
    }

    /// Takes lapsed leases back; see ``WakeStore/reclaimLapsed(at:limit:except:under:)``.
    public func reclaimLapsed(
        at now: WallInstant, limit: Int, except held: Set<WakeID>, under rules: StoreRules
    ) throws(StoreFailure) -> Reclaimed {
        begin(rules)
        var reclaimed = Reclaimed()
        for number in try rows.lapsed(at: now, limit: limit + held.count) {
            guard reclaimed.count < limit, var wake = try liveWake(number),
                !held.contains(wake.id)
            else { continue }
            guard wake.state == .claimed else {
                try misplaced(wake)
                continue
            }
            guard let queue = try readableQueue(wake.queue) else {
                try quarantine(number)
                continue
            }
            try note(.abandoned, of: wake, at: now)
            wake.fence += 1
            if queue.row.queue.kind == .voip {
                reclaimed.ended.append(try finish(&wake, .failed(.fateUnknown), at: now, queue))
                continue
            }
            wake.tries += 1
            if let end = try comeBack(&wake, notBefore: now, fate: .unknown, queue, at: now) {
                reclaimed.ended.append(end)
            } else {
                reclaimed.returned.append(wake.id)
            }
        }
        return reclaimed
    }
}

extension Settlement {
    /// What the attempt says of the send, for the budget: a refusal means that the device got
    /// nothing.
    var fate: SendFate {
        switch attempt {
        case .accepted: .accepted
        case .refused, nil: .notSent
        case .unanswered(let failure): failure.certainty == .unknown ? .unknown : .notSent
        case .abandoned: .unknown
        }
    }
}

extension AttemptResult {
    /// Whether the wake's own row says all that there is to say of it.
    var standsInRow: Bool {
        if case .accepted = self { true } else { false }
    }
}
