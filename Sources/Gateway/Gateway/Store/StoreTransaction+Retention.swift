// SPDX-License-Identifier: Apache-2.0

import WakeModel

extension StoreTransaction {
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
