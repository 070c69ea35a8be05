// SPDX-License-Identifier: Apache-2.0

import WakeModel

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

    func entry(_ row: FeedbackRow) throws(StoreFailure) -> FeedbackEntry {
        let lane = try rows.lane(row.lane).lane
        return FeedbackEntry(
            number: row.number, kind: row.kind, app: lane.app, wakeKind: lane.kind,
            deviceToken: row.deviceToken, at: row.at, refusal: row.refusal, wake: row.wake)
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

    /// Writes something that says nothing; see ``WakeStore/tryWriting()``.
    public func tryWriting() { rows.add(1, to: .trials) }

    /// Removes what has had its time; see ``WakeStore/prune(_:)``.
    public func prune(_ order: PruneOrder) throws(StoreFailure) -> Pruned {
        var pruned = Pruned()
        pruned.wakes = try rows.removeWakes(
            below: WakeID.firstNumber(at: order.wakesBefore), limit: order.limit)
        rows.add(pruned.wakes, to: .pruned)
        pruned.marks = try rows.forgetMarks(at: order.now, limit: order.limit)
        pruned.feedback = try rows.removeFeedback(before: order.wakesBefore, limit: order.limit)
        try sweepDevices(order, &pruned)
        try removeWebhooks(except: order.webhooks, limit: order.limit, &pruned)
        return pruned
    }

    /// A step of the walk through all devices, if one is under way or it is time for the next.
    private func sweepDevices(
        _ order: PruneOrder, _ pruned: inout Pruned
    ) throws(StoreFailure) {
        guard let place = sweep.place(under: order) else { return }
        let swept = try rows.sweepDevices(
            after: place, untouchedSince: order.devicesBefore, limit: order.limit)
        sweep.reached = swept.last
        pruned.devices = swept.removed
        pruned.isSweeping = swept.last != nil
    }
}
