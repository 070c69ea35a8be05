// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// Takes leases on webhooks of an endpoint that are due, the longest due first.
public struct ClaimWebhooks: StoreCommand {
    /// The endpoint.
    public let endpoint: WebhookEndpointID
    /// The present instant.
    public let now: WallInstant
    /// When the leases end.
    public let leaseEnd: WallInstant
    /// The most webhooks to take; with 0 only the endpoint's counts are read.
    public let limit: Int

    /// Creates the command.
    public init(
        of endpoint: WebhookEndpointID, at now: WallInstant, until leaseEnd: WallInstant,
        limit: Int
    ) {
        self.endpoint = endpoint
        self.now = now
        self.leaseEnd = leaseEnd
        self.limit = limit
    }

    /// It writes when a webhook is due.
    public var profile: CommandProfile { CommandProfile(.readThenWrite, weight: limit) }

    /// An endpoint that is down has webhooks that wait for their next attempt, and each settlement
    /// checks again.
    public static var isMostlyIdle: Bool { true }

    /// The endpoint's counts when nothing is due, or nothing is to be taken.
    public func idleAnswer(
        on set: WorkingSet
    ) throws(RowFault) -> WebhookBatch? {
        guard limit > 0 else { return try set.webhookStanding(of: endpoint) }
        let due = try set.part { () throws(RowFault) in
            try set.numbers(.dueWebhooks(endpoint, at: now, limit: 1))
        }
        let standing = try set.webhookStanding(of: endpoint)
        return due?.isEmpty ?? true ? standing : nil
    }

    /// Due webhooks, and the endpoint's counts.
    public func reads(of queues: QueueTable) -> ReadSet {
        var reads = ReadSet()
        reads.scans = [.dueWebhooks(endpoint, at: now, limit: limit)]
        reads.counters = [.webhooks(endpoint), .webhooksDropped(endpoint)]
        return reads
    }

    /// Takes the leases, and drops webhooks whose subject has been pruned.
    public func decide(on set: WorkingSet) throws(RowFault) -> WebhookBatch {
        var batch = WebhookBatch()
        for number in try set.numbers(.dueWebhooks(endpoint, at: now, limit: limit)) {
            let item = try set.part { () throws(RowFault) in try claim(number, on: set) }
            if let item = item.flatMap(\.self) { batch.items.append(item) }
        }
        let standing = try set.webhookStanding(of: endpoint)
        batch.backlogCount = standing.backlogCount
        batch.droppedCount = standing.droppedCount
        return batch
    }

    private func claim(_ number: Int64, on set: WorkingSet) throws(RowFault) -> WebhookItem? {
        let row: WebhookRow
        switch try set.webhook(number) {
        case .absent: return nil
        case .damaged(let fence):
            set.change(webhook: number, fence: fence, .removed)
            set.add(-1, to: .webhooks(endpoint))
            set.add(1, to: .webhooksDropped(endpoint))
            return nil
        case .found(let found): row = found
        }
        let event = try set.readable { () throws(RowFault) in try set.event(row.subject) }
        guard let event else {
            // Its subject was pruned before the delivery, or cannot be read.
            try set.remove(row.ticket)
            set.add(1, to: .webhooksDropped(endpoint))
            return nil
        }
        if case .outcome(let record) = event,
            record.endedAt.map({ $0 > row.createdAt && number < WakeID.firstNumber(at: $0) })
                ?? true
        {
            // Its carrier was cancelled, and it is pending again, or was: its outcome is another
            // event. The number distinguishes the two if a clock has leapt.
            try set.remove(row.ticket)
            return nil
        }
        set.change(webhook: number, fence: row.ticket.fence, .leased(until: leaseEnd))
        let ticket = WebhookItem.Ticket(
            endpoint: endpoint, number: number, fence: row.ticket.fence + 1)
        return WebhookItem(
            ticket: ticket, event: event, createdAt: row.createdAt, tries: row.tries)
    }
}

/// Records deliveries; those of older leases change nothing.
public struct SettleWebhooks: StoreCommand {
    /// The deliveries.
    public let settlements: [WebhookSettlement]

    /// Creates the command.
    public init(_ settlements: [WebhookSettlement]) { self.settlements = settlements }

    /// It writes unless all leases are older.
    public var profile: CommandProfile {
        CommandProfile(.readThenWrite, weight: settlements.count)
    }

    /// The webhooks.
    public func reads(of queues: QueueTable) -> ReadSet {
        var reads = ReadSet()
        reads.webhooks = Set(settlements.map(\.ticket.number))
        return reads
    }

    /// Removes delivered webhooks, and reschedules the rest.
    public func decide(on set: WorkingSet) throws(RowFault) {
        for settlement in settlements {
            switch settlement.effect {
            case .done: try set.remove(settlement.ticket)
            case .retry(let instant):
                try set.putBack(settlement.ticket, dueAt: instant)
            }
        }
    }
}

extension WorkingSet {
    fileprivate func event(_ subject: WebhookSubject) throws(RowFault) -> WebhookEvent? {
        switch subject {
        case .outcome(let number):
            guard let wake = try wake(number) else { return nil }
            return try record(of: wake.id).map { .outcome($0) }
        case .tokenDead(let number):
            guard let row = try feedback(number) else { return nil }
            return .tokenDead(try entry(row))
        case .appHeld(let hold):
            return .appHeld(hold)
        }
    }
}
