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
    /// The most webhooks to take.
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

    /// An endpoint that is down has webhooks that wait for their next try, and each settlement asks
    /// again.
    public static var isMostlyIdle: Bool { true }

    /// The endpoint's counts when nothing is due.
    public func idleAnswer(
        on transaction: StoreTransaction
    ) throws(StoreFailure) -> WebhookBatch? {
        try transaction.rows.hasDueWebhook(of: endpoint, at: now)
            ? nil : try transaction.webhookStanding(of: endpoint)
    }

    /// Takes the leases, and drops what has had its time before anybody took it.
    public func decide(on transaction: StoreTransaction) throws(StoreFailure) -> WebhookBatch {
        var items: [WebhookItem] = []
        let claimed = try transaction.rows.claimWebhooks(
            of: endpoint, at: now, until: leaseEnd, limit: limit)
        for row in claimed {
            let event = try transaction.readable { () throws(StoreFailure) in
                try transaction.event(row.subject)
            }
            guard let event else {
                // What it was about has had its time before anybody took the event, or cannot be
                // read.
                try transaction.remove(row.ticket)
                transaction.rows.add(1, to: .webhooksDropped(endpoint))
                continue
            }
            items.append(
                WebhookItem(
                    ticket: row.ticket, event: event, createdAt: row.createdAt, tries: row.tries))
        }
        var batch = try transaction.webhookStanding(of: endpoint)
        batch.items = items
        return batch
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

    /// Removes what is done, and puts the rest back.
    public func decide(on transaction: StoreTransaction) throws(StoreFailure) {
        for settlement in settlements {
            switch settlement.effect {
            case .done: try transaction.remove(settlement.ticket)
            case .retry(let instant):
                try transaction.rows.putBackWebhook(settlement.ticket, dueAt: instant)
            }
        }
    }
}

extension StoreTransaction {
    fileprivate func event(_ subject: WebhookSubject) throws(StoreFailure) -> WebhookEvent? {
        switch subject {
        case .outcome(let number):
            guard let wake = try rows.wake(number, withPayload: false) else { return nil }
            return try record(of: wake.id).map { .outcome($0) }
        case .tokenDead(let number):
            guard let row = try rows.feedback(number) else { return nil }
            return .tokenDead(try entry(row))
        case .appHalted(let halt):
            return .appHalted(halt)
        }
    }
}
