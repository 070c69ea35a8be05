// SPDX-License-Identifier: Apache-2.0

public import WakeModel

extension WakeBooks {
    /// Entries of the feedback feed; see ``WakeStore/feedback(after:limit:)``.
    public func feedback(
        after cursor: Int64, limit: Int
    ) throws(StoreFailure) -> [FeedbackEntry] {
        var entries: [FeedbackEntry] = []
        for row in try rows.feedback(after: cursor, limit: limit) {
            entries.append(try entry(row))
        }
        return entries
    }

    private func entry(_ row: FeedbackRow) throws(StoreFailure) -> FeedbackEntry {
        let lane = try rows.lane(row.lane).lane
        return FeedbackEntry(
            number: row.number, kind: row.kind, app: lane.app, wakeKind: lane.kind,
            deviceToken: row.deviceToken, at: row.at, refusal: row.refusal, wake: row.wake)
    }

    // MARK: Webhooks

    /// Writes a webhook about a lane; see ``WakeStore/note(_:under:)``.
    public func note(_ halt: AppHalt, under rules: StoreRules) throws(StoreFailure) {
        guard rules.webhooks.contains(.appHalted) else { return }
        try rows.add(.appHalted(halt), at: halt.at)
    }

    /// Takes leases on webhooks; see ``WakeStore/claimWebhooks(at:until:limit:)``.
    public func claimWebhooks(
        at now: WallInstant, until leaseEnd: WallInstant, limit: Int
    ) throws(StoreFailure) -> [WebhookItem] {
        var items: [WebhookItem] = []
        for row in try rows.claimWebhooks(at: now, until: leaseEnd, limit: limit) {
            guard let event = try event(row.subject) else {
                // What it was about has had its time.
                try rows.removeWebhook(row.ticket)
                continue
            }
            items.append(
                WebhookItem(
                    ticket: row.ticket, event: event, createdAt: row.createdAt, tries: row.tries))
        }
        return items
    }

    private func event(_ subject: WebhookSubject) throws(StoreFailure) -> WebhookEvent? {
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

    /// Records deliveries; see ``WakeStore/settleWebhooks(_:)``.
    public func settleWebhooks(_ settlements: [WebhookSettlement]) throws(StoreFailure) {
        for settlement in settlements {
            switch settlement.effect {
            case .done: try rows.removeWebhook(settlement.ticket)
            case .retry(let instant):
                try rows.putBackWebhook(settlement.ticket, dueAt: instant)
            }
        }
    }

    // MARK: Lanes and retention

    /// All lanes; see ``WakeStore/lanes()``.
    public func lanes() throws(StoreFailure) -> [LaneRow] { try rows.lanes() }

    /// Pauses lanes; see ``WakeStore/setPause(_:of:)``.
    public func setPause(_ pause: LanePause?, of lanes: [Lane]) throws(StoreFailure) {
        begin(StoreRules())
        for lane in lanes {
            var row = try self.lane(of: lane).row
            row.pausedAt = pause?.at
            row.pauseReason = pause?.reason
            try rows.save(row)
        }
    }

    /// Removes what has had its time; see ``WakeStore/prune(_:)``.
    public func prune(_ order: PruneOrder) throws(StoreFailure) -> Pruned {
        var pruned = Pruned()
        pruned.wakes = try rows.removeWakes(
            below: WakeID.firstNumber(at: order.wakesBefore), limit: order.limit)
        rows.add(pruned.wakes, to: .pruned)
        pruned.marks = try rows.forgetMarks(at: order.now, limit: order.limit)
        pruned.feedback = try rows.removeFeedback(before: order.wakesBefore, limit: order.limit)
        pruned.devices = try rows.removeDevices(
            untouchedSince: order.devicesBefore, limit: order.limit)
        return pruned
    }
}
