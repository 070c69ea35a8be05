// SPDX-License-Identifier: Apache-2.0

public import WakeModel

extension WakeBooks {
    /// Entries of the feedback feed; see ``WakeStore/feedback(after:limit:of:)``.
    public func feedback(
        after cursor: Int64, limit: Int, of apps: Set<BundleID>? = nil
    ) throws(StoreFailure) -> [FeedbackEntry] {
        var entries: [FeedbackEntry] = []
        for row in try feedbackRows(after: cursor, limit: limit, of: apps) {
            entries.append(try entry(row))
        }
        return entries
    }

    /// The first rows of all lanes, or of those of these apps: as many of each lane as are asked
    /// for, since each may have all of them.
    private func feedbackRows(
        after cursor: Int64, limit: Int, of apps: Set<BundleID>?
    ) throws(StoreFailure) -> [FeedbackRow] {
        guard let apps else { return try rows.feedback(after: cursor, limit: limit, lane: nil) }
        var found: [FeedbackRow] = []
        for lane in try rows.lanes() where apps.contains(lane.lane.app.bundleID) {
            found += try rows.feedback(after: cursor, limit: limit, lane: lane.number)
        }
        return Array(found.sorted { $0.number < $1.number }.prefix(limit))
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
