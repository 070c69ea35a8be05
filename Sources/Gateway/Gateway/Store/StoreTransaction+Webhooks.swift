// SPDX-License-Identifier: Apache-2.0

import WakeModel

extension StoreTransaction {
    /// Writes a webhook for each endpoint that listens, unless too many wait for that one.
    func tell(
        _ subject: WebhookSubject, _ kind: WebhookKind, of app: AppIdentity, at now: WallInstant
    ) throws(StoreFailure) {
        if backlogs.isEmpty { backlogs = Array(repeating: nil, count: rules.webhooks.count) }
        for (index, subscription) in rules.webhooks.enumerated()
        where subscription.listens(to: kind, of: app) {
            let endpoint = subscription.endpoint
            let backlog: Int
            if let known = backlogs[index] {
                backlog = known
            } else {
                backlog = try rows.value(of: .webhooks(endpoint))
            }
            guard backlog < subscription.backlogCount else {
                backlogs[index] = backlog
                rows.add(1, to: .webhooksDropped(endpoint))
                continue
            }
            backlogs[index] = backlog + 1
            try rows.add(subject, for: endpoint, at: now)
            rows.add(1, to: .webhooks(endpoint))
        }
    }

    /// How an endpoint stands, without any items.
    func webhookStanding(
        of endpoint: WebhookEndpointID
    ) throws(StoreFailure) -> WebhookBatch {
        WebhookBatch(
            backlogCount: try rows.value(of: .webhooks(endpoint)),
            droppedCount: try rows.value(of: .webhooksDropped(endpoint)))
    }

    func remove(_ ticket: WebhookItem.Ticket) throws(StoreFailure) {
        guard try rows.removeWebhook(ticket) else { return }
        rows.add(-1, to: .webhooks(ticket.endpoint))
    }

    // MARK: Endpoints that are gone

    /// Removes webhooks of endpoints that nobody configures any more, in one step of pruning, once
    /// their grace is over. Those that were written before endpoints had names become the only
    /// endpoint's, if there is only one: with several nobody knows whom they are for, and they must
    /// not come to a stranger.
    func removeWebhooks(
        _ order: PruneOrder, _ pruned: inout Pruned
    ) throws(StoreFailure) {
        let kept = order.webhooks
        for subscription in kept { try set(.absentSince(subscription.endpoint), to: 0) }
        for endpoint in try rows.webhookEndpoints()
        where !kept.contains(where: { $0.endpoint == endpoint }) {
            let rest = order.limit - pruned.webhooks - pruned.inheritedWebhooks
            guard rest > 0 else { return }
            if endpoint == .unnamed, kept.count == 1, let heir = kept.first {
                try handOver(to: heir, limit: rest, &pruned)
            } else if try isGraceOver(for: endpoint, under: order, &pruned) {
                let count = try rows.removeWebhooks(of: endpoint, limit: rest)
                rows.add(-count, to: .webhooks(endpoint))
                pruned.webhooks += count
                if count < rest { try set(.absentSince(endpoint), to: 0) }
            }
        }
    }

    /// Whether an endpoint has been missing from the configuration for so long that its webhooks
    /// go; else they are counted among those that wait.
    private func isGraceOver(
        for endpoint: WebhookEndpointID, under order: PruneOrder, _ pruned: inout Pruned
    ) throws(StoreFailure) -> Bool {
        var since = WallInstant(
            millisecondsSinceEpoch: Int64(try rows.value(of: .absentSince(endpoint))))
        // A clock that was ahead must not make the grace longer.
        if since.millisecondsSinceEpoch == 0 || since > order.now {
            since = order.now
            try set(.absentSince(endpoint), to: Int(since.millisecondsSinceEpoch))
        }
        let end = since.advanced(bySeconds: Int64(order.webhookGraceSeconds))
        guard end > order.now else { return true }
        pruned.waitingWebhooks += try rows.value(of: .webhooks(endpoint))
        pruned.waitingUntil = min(pruned.waitingUntil ?? end, end)
        return false
    }

    /// Gives webhooks without an endpoint to this one, as far as it listens to such events.
    private func handOver(
        to heir: WebhookSubscription, limit: Int, _ pruned: inout Pruned
    ) throws(StoreFailure) {
        for row in try rows.webhooks(of: .unnamed, limit: limit) {
            let origin = try readable { () throws(StoreFailure) in
                try self.origin(of: row.subject)
            }
            if let origin, heir.listens(to: origin.kind, of: origin.app) {
                try rows.moveWebhook(row.ticket, to: heir.endpoint)
                rows.add(-1, to: .webhooks(.unnamed))
                rows.add(1, to: .webhooks(heir.endpoint))
                pruned.inheritedWebhooks += 1
            } else {
                try remove(row.ticket)
                pruned.webhooks += 1
            }
        }
    }

    /// What a webhook tells, and of which app; `nil` when what it is about has had its time.
    private func origin(
        of subject: WebhookSubject
    ) throws(StoreFailure) -> (kind: WebhookKind, app: AppIdentity)? {
        switch subject {
        case .outcome(let number):
            guard let wake = try rows.wake(number, withPayload: false) else { return nil }
            return (.outcome, try rows.queue(wake.queue).queue.app)
        case .tokenDead(let number):
            guard let row = try rows.feedback(number) else { return nil }
            return (.tokenDead, try rows.queue(row.queue).queue.app)
        case .appHalted(let halt):
            return (.appHalted, halt.queue.app)
        }
    }
}
