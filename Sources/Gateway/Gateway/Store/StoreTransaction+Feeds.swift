// SPDX-License-Identifier: Apache-2.0

public import WakeModel

extension StoreTransaction {
    /// Entries of the feedback feed; see ``WakeStore/feedback(after:limit:of:)``.
    public func feedback(
        after cursor: Int64, limit: Int, of apps: Set<BundleID>? = nil
    ) throws(StoreFailure) -> [FeedbackEntry] {
        var entries: [FeedbackEntry] = []
        var cursor = cursor
        while entries.isEmpty {
            let found = try feedbackRows(after: cursor, limit: limit, of: apps)
            guard let last = found.last else { break }
            // One of a queue that cannot be read says too little; those behind it are told.
            for row in found {
                let entry = try readable { () throws(StoreFailure) in try self.entry(row) }
                if let entry { entries.append(entry) }
            }
            cursor = last.number
        }
        return entries
    }

    /// The first rows of all queues, or of those of these apps: as many of each queue as are asked
    /// for, since each may have all of them.
    private func feedbackRows(
        after cursor: Int64, limit: Int, of apps: Set<BundleID>?
    ) throws(StoreFailure) -> [FeedbackRow] {
        guard let apps else { return try rows.feedback(after: cursor, limit: limit, queue: nil) }
        var found: [FeedbackRow] = []
        for queue in try rows.queues() where apps.contains(queue.queue.app.bundleID) {
            found += try rows.feedback(after: cursor, limit: limit, queue: queue.number)
        }
        return Array(found.sorted { $0.number < $1.number }.prefix(limit))
    }

    func entry(_ row: FeedbackRow) throws(StoreFailure) -> FeedbackEntry {
        let queue = try rows.queue(row.queue).queue
        return FeedbackEntry(
            number: row.number, kind: row.kind, app: queue.app, wakeKind: queue.kind,
            deviceToken: row.deviceToken, at: row.at, refusal: row.refusal, wake: row.wake)
    }

    // MARK: Queues and retention

    /// All queues; see ``WakeStore/queues()``.
    public func queues() throws(StoreFailure) -> [WakeQueueRow] { try rows.queues() }

    /// Pauses queues; see ``WakeStore/setPause(_:of:)``.
    public func setPause(_ pause: QueuePause?, of queues: [WakeQueueKey]) throws(StoreFailure) {
        begin(StoreRules())
        for queue in queues {
            var row = try self.queue(of: queue).row
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
        try rows.pullBack(from: order.farthest, to: order.now)
        try pullBackQueues(order)
        let ahead = try numberAhead(under: order)
        pruned.wakes = try rows.removeWakes(
            below: max(WakeID.firstNumber(at: order.wakesBefore), ahead), limit: order.limit)
        rows.add(pruned.wakes, to: .pruned)
        pruned.marks = try rows.forgetMarks(at: order.now, limit: order.limit)
        pruned.feedback = try rows.removeFeedback(
            before: order.wakesBefore, orBelow: ahead, limit: order.limit)
        if ahead > 0, !pruned.isFull(order.limit) { try set(.aheadNumber, to: 0) }
        try sweepDevices(order, &pruned)
        try removeWebhooks(order, &pruned)
        return pruned
    }

    /// A number below which everything is as old as what is pruned, though it does not look so: a
    /// clock that was ahead gave numbers which those after them follow, because numbers never go
    /// back. So while they are ahead, one is noted with the time, again and again, and what is
    /// below it is known to have come before. 0 where no such number is known.
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

    /// Makes a counter stand at this.
    func set(_ counter: StoreCounter, to value: Int) throws(StoreFailure) {
        rows.add(value - (try rows.value(of: counter)), to: counter)
    }

    /// Since when a queue is paused, or was told as held, is not in the future.
    private func pullBackQueues(_ order: PruneOrder) throws(StoreFailure) {
        for queue in try rows.queues() {
            var row = queue
            if let at = row.pausedAt, at > order.latest { row.pausedAt = order.now }
            if let at = row.haltToldAt, at > order.latest { row.haltToldAt = order.now }
            if row != queue { try rows.save(row) }
        }
    }

    /// A step of the walk through all devices, if one is under way or it is time for the next.
    private func sweepDevices(
        _ order: PruneOrder, _ pruned: inout Pruned
    ) throws(StoreFailure) {
        guard let place = sweep.place(under: order) else { return }
        let swept = try rows.sweepDevices(
            after: place, untouchedSince: order.devicesBefore, limit: order.limit)
        // What a clock that was ahead has touched counts as touched now, and goes in its time.
        try rows.pullBackDevices(
            after: place, through: swept.last ?? .max, from: order.latest, to: order.now)
        sweep.reached = swept.last
        pruned.devices = swept.removed
        pruned.isSweeping = swept.last != nil
    }
}
