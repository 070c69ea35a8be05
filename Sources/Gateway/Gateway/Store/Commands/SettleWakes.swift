// SPDX-License-Identifier: Apache-2.0

import WakeBudget
import WakeModel

/// Records the outcomes of claimed wakes. Returns an answer for each, in order. Idempotent.
public struct SettleWakes: StoreCommand {
    /// The outcomes.
    public let settlements: [Settlement]
    /// The rules.
    public let rules: StoreRules

    /// Creates the command.
    public init(_ settlements: [Settlement], under rules: StoreRules) {
        self.settlements = settlements
        self.rules = rules
    }

    /// It always writes.
    public var profile: CommandProfile { CommandProfile(.write, weight: settlements.count) }

    /// The wakes, with the devices of those that APNs has not accepted.
    public func reads(of queues: QueueTable) -> ReadSet {
        var reads = ReadSet()
        for settlement in settlements {
            reads.add(
                wake: settlement.ticket.id.number, settlement.fate == .accepted ? [] : .device)
        }
        reads.addBacklogs(of: rules)
        return reads
    }

    /// Settles each by itself; the fencing token of its ticket determines whether it still counts.
    public func decide(on set: WorkingSet) throws(RowFault) -> SettleAnswer {
        var answer = SettleAnswer()
        answer.verdicts.reserveCapacity(settlements.count)
        for settlement in settlements {
            let verdict = try set.part { () throws(RowFault) in
                try set.settle(settlement, &answer.ended)
            }
            if let verdict { answer.verdicts.append(verdict) }
        }
        answer.nextDue = set.nextDue
        return answer
    }
}

extension WorkingSet {
    fileprivate func settle(
        _ settlement: Settlement, _ ended: inout [EndedWake]
    ) throws(RowFault) -> SettlementVerdict {
        let ticket = settlement.ticket
        let found: WakeRow?
        do throws(RowFault) {
            found = try wake(ticket.id.number)
        } catch {
            guard case .damaged = error else { throw error }
            quarantine(ticket.id.number)
            return .damaged
        }
        guard var wake = found, wake.id == ticket.id, wake.fence == ticket.fence else {
            return .stale
        }
        // The lease was settled, and the wake was not claimed again.
        guard wake.state == .claimed else { return .repeated }
        guard let queue = try readableQueue(wake.queue) else {
            quarantine(wake.number)
            return .damaged
        }
        if let result = settlement.attempt, !result.standsInRow {
            if case .refused(let refusal) = result { wake.previousReason = refusal.reason }
            note(result, of: wake, at: settlement.at)
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

    /// Ends a claimed wake, and refunds its debit if it certainly was not sent.
    private func conclude(
        _ wake: inout WakeRow, _ end: WakeEnd, _ settlement: Settlement, _ queue: SeenQueue
    ) throws(RowFault) -> EndedWake {
        var end = end
        // A push that APNs accepted is final already; see the type.
        if settlement.fate != .accepted, var device = try readableDevice(wake.device) {
            refund(wake, &device, settlement.fate, queue)
            if case .refused(let refusal) = settlement.attempt {
                end = try learn(refusal, end, wake, &device, queue, at: settlement.at)
            }
            try rescheduleBehind(device, queue, at: settlement.at)
            save(&device, at: settlement.at)
        }
        return try finish(&wake, end, at: settlement.at, queue)
    }

    private func refund(
        _ wake: borrowing WakeRow, _ device: inout DeviceRow, _ fate: SendFate, _ queue: SeenQueue
    ) {
        switch device.ledger.discipline {
        case .background:
            if let debit = wake.debit {
                _ = device.ledger.settle(debit, as: fate)
            }
        case .call:
            if fate == .notSent, wake.tries == 0 { refundCall(wake, &device) }
        case .plain:
            if fate == .notSent, wake.tries == 0 {
                device.ledger.giveBackTurn(policy: queue.policy)
            }
        }
    }

    /// Records the consequence of a final refusal for the device token, also in the feed.
    private func learn(
        _ refusal: Refusal, _ end: WakeEnd, _ wake: borrowing WakeRow, _ device: inout DeviceRow,
        _ queue: SeenQueue, at now: WallInstant
    ) throws(RowFault) -> WakeEnd {
        let kind: FeedbackKind
        switch refusal.advice.deviceToken {
        case .unaffected: return end
        case .suspectEnvironment: kind = .environmentMismatch
        case .deadForTopic: kind = .wrongTopic
        case .deadUnlessRegisteredSince: kind = .tokenDead
        }
        if kind == .tokenDead {
            // Without a time, as in an answer that was cut off after its status, it is not known
            // whether the app registered the token since. The answer to the next push shows it.
            if let registeredAt = device.registeredAt,
                refusal.tokenDeadSince.map({ registeredAt > $0 }) ?? true
            {
                return .rejected(refusal)
            }
            device.deadSince = refusal.tokenDeadSince ?? now
        }
        // A device belongs to one topic, for which the token is unregistered too.
        if kind == .wrongTopic { device.deadSince = now }
        if device.deadSince != nil { device.user = nil }
        let number = add(
            FeedbackRow(
                kind: kind, queue: queue.row.number, deviceToken: device.token, at: now,
                refusal: refusal, wake: wake.id))
        if kind == .tokenDead {
            try tell(
                .tokenDead(feedback: number), .tokenDead, of: queue.row.queue.app, at: now)
        }
        return end
    }
}

extension Settlement {
    /// The meaning of the attempt for the budget: after a refusal the device received nothing.
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
    /// Whether the wake's row contains everything about it.
    var standsInRow: Bool {
        if case .accepted = self { true } else { false }
    }
}
