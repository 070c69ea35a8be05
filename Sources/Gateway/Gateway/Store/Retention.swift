// SPDX-License-Identifier: Apache-2.0

import WakeModel

/// Removes rows whose retention has ended, step by step: the part of an engine's upkeep that is not
/// a decision on a few rows.
public struct Retention {
    private let rows: any RetainedRows
    /// The walk through all devices.
    private var sweep = DeviceSweep()
    /// The walk as far as what it did is kept.
    private var keptSweep = DeviceSweep()

    /// The retention of these rows.
    public init(of rows: any RetainedRows) { self.rows = rows }

    /// To be called when a transaction with a step is kept.
    public mutating func committed() { keptSweep = sweep }

    /// To be called when a transaction with a step is undone.
    public mutating func rolledBack() { sweep = keptSweep }

    /// Removes rows whose retention has ended; see ``WakeStore/prune(_:)``.
    public mutating func step(_ order: PruneOrder) throws(StoreFailure) -> Pruned {
        var pruned = Pruned()
        try rows.pullBack(from: order.farthest, to: order.now)
        try pullBackQueues(order)
        let ahead = try numberAhead(under: order)
        pruned.wakes = try rows.removeWakes(
            below: max(WakeID.firstNumber(at: order.wakesBefore), ahead), limit: order.limit)
        rows.add(pruned.wakes, to: .pruned)
        pruned.marks = try rows.forgetMarks(at: order.now, limit: order.limit)
        pruned.feedback = try rows.removeFeedback(
            before: order.wakesBefore, orBelow: ahead, limit: order.limit)
        pruned.outcomes = try rows.removeOutcomes(
            below: max(WakeID.firstNumber(at: order.wakesBefore), ahead), limit: order.limit)
        if ahead > 0, !pruned.isFull(order.limit) { try set(.aheadNumber, to: 0) }
        try sweepDevices(order, &pruned)
        try removeWebhooks(order, &pruned)
        return pruned
    }

    /// A number below which everything is old enough to be pruned, even if its own time says
    /// otherwise: a clock that was ahead produced numbers which later ones follow, because numbers
    /// never decrease. So while numbers are ahead, the current one is recorded with the time at
    /// intervals, and everything below it was written before. 0 without such a record.
    private func numberAhead(under order: PruneOrder) throws(StoreFailure) -> Int64 {
        let next = rows.makeNumber(at: order.now)
        let noted = try rows.value(of: .aheadNumber)
        guard next > WakeID.firstNumber(at: order.latest) else {
            if noted != 0 { try set(.aheadNumber, to: 0) }
            return 0
        }
        let since = WallInstant(
            millisecondsSinceEpoch: Int64(try rows.value(of: .aheadSince)))
        guard noted != 0, since <= order.now else {
            try set(.aheadNumber, to: Int(next))
            try set(.aheadSince, to: Int(order.now.millisecondsSinceEpoch))
            return 0
        }
        return since < order.wakesBefore ? Int64(noted) : 0
    }

    /// Sets a counter to a value.
    private func set(_ counter: StoreCounter, to value: Int) throws(StoreFailure) {
        rows.add(value - (try rows.value(of: counter)), to: counter)
    }

    /// No queue is paused, or was reported as held, in the future.
    private func pullBackQueues(_ order: PruneOrder) throws(StoreFailure) {
        for queue in try rows.queues() {
            var row = queue
            if let at = row.pausedAt, at > order.latest { row.pausedAt = order.now }
            if let at = row.heldToldAt, at > order.latest { row.heldToldAt = order.now }
            if row != queue { try rows.save(row) }
        }
    }

    /// A step of the walk through all devices, if one is under way or it is time for the next.
    private mutating func sweepDevices(
        _ order: PruneOrder, _ pruned: inout Pruned
    ) throws(StoreFailure) {
        guard let place = sweep.place(under: order) else { return }
        let swept = try rows.sweepDevices(
            after: place, untouchedSince: order.devicesBefore, limit: order.limit)
        // A device that was touched by a clock that was ahead counts as touched now, and is removed
        // after its retention.
        try rows.pullBackDevices(
            after: place, through: swept.last ?? .max, from: order.latest, to: order.now)
        sweep.reached = swept.last
        pruned.devices = swept.removed
        pruned.isSweeping = swept.last != nil
    }

    // MARK: Endpoints that are gone

    /// Removes webhooks of endpoints that are no longer configured, in one step of pruning, once
    /// their grace period is over. Those written before endpoints had names are assigned to the
    /// only endpoint, if there is only one: with several the right one is not known, and no other
    /// may receive them.
    private func removeWebhooks(
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
            let origin: (kind: WebhookKind, app: AppIdentity)?
            do throws(StoreFailure) {
                origin = try self.origin(of: row.subject)
            } catch {
                guard error.kind == .damaged else { throw error }
                origin = nil
            }
            if let origin, heir.listens(to: origin.kind, of: origin.app) {
                try rows.moveWebhook(row.ticket, to: heir.endpoint)
                rows.add(-1, to: .webhooks(.unnamed))
                rows.add(1, to: .webhooks(heir.endpoint))
                pruned.inheritedWebhooks += 1
            } else {
                if try rows.removeWebhook(row.ticket) {
                    rows.add(-1, to: .webhooks(row.ticket.endpoint))
                }
                pruned.webhooks += 1
            }
        }
    }

    /// The kind and app of a webhook's event; `nil` when its subject has been pruned.
    private func origin(
        of subject: WebhookSubject
    ) throws(StoreFailure) -> (kind: WebhookKind, app: AppIdentity)? {
        switch subject {
        case .outcome(let number):
            guard let wake = try rows.wake(number) else { return nil }
            return (.outcome, try rows.queue(wake.queue).queue.app)
        case .tokenDead(let number):
            guard let row = try rows.feedback(number) else { return nil }
            return (.tokenDead, try rows.queue(row.queue).queue.app)
        case .appHeld(let hold):
            return (.appHeld, hold.queue.app)
        }
    }
}
