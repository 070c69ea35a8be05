// SPDX-License-Identifier: Apache-2.0

import WakeBudget
public import WakeModel

extension StoreTransaction {
    /// How many rows one page of a list looks at, so that a rare state does not cost a walk
    /// through the whole store.
    static let scannedRowCount = 5_000
    /// Rows that are looked up together.
    static let rowsPerLook = 500

    /// One wake; see ``WakeStore/record(of:)``. One whose device is gone is not told of: nobody
    /// knows its token any more.
    public func record(of id: WakeID) throws(StoreFailure) -> WakeRecord? {
        guard let wake = try rows.wake(id.number, withPayload: false), wake.id == id else {
            return nil
        }
        guard let token = try rows.token(ofDevice: wake.device) else { return nil }
        return try record(wake, of: token)
    }

    private func record(
        _ wake: WakeRow, of token: DeviceToken
    ) throws(StoreFailure) -> WakeRecord {
        var carrier: WakeRow?
        if case .coalesced = wake.end { carrier = try self.carrier(of: wake) }
        return WakeRecord(
            wake, queue: try rows.queue(wake.queue).queue, deviceToken: token,
            attempts: try rows.attempts(of: wake.number), carrier: carrier)
    }

    /// The record of a wake in a list; `nil` when its device is gone, or it, or its queue, cannot
    /// be read.
    private func readableRecord(_ wake: WakeRow) throws(StoreFailure) -> WakeRecord? {
        try readable { () throws(StoreFailure) in
            guard let token = try rows.token(ofDevice: wake.device) else { return nil }
            return try record(wake, of: token)
        }
    }

    // MARK: Lists

    /// Wakes, page by page; see ``WakeStore/wakes(_:)``.
    public func wakes(_ query: WakeQuery) throws(StoreFailure) -> WakePage {
        guard let token = query.deviceToken else { return try scan(query) }
        let before = query.after?.number ?? .max
        let cursor = try query.after.flatMap { (id) throws(StoreFailure) in
            try readableWake(id.number)
        }
        var chains: [Int64] = []
        for queue in try rows.queues() where query.includes(queue.queue.app) {
            guard let device = try rows.device(token, queue: queue.number) else { continue }
            // The page before ended in this chain, mostly the only one: this one goes on there.
            let isCursors = cursor?.device == device.number
            let first = isCursors ? cursor?.previous ?? 0 : device.latest
            if first != 0 { chains.append(first) }
        }
        return try walk(&chains, before: before, query)
    }

    /// Follows the chains of a device's queues together, the newest first. What has to be passed in
    /// another chain than the cursor's does not count as looked at: a page that never came to what
    /// is behind the cursor would have no next one.
    private func walk(
        _ chains: inout [Int64], before: Int64, _ query: WakeQuery
    ) throws(StoreFailure) -> WakePage {
        var found: [WakeRecord] = []
        var last: WakeID?
        var looked = 0
        while looked < Self.scannedRowCount, let number = chains.max() {
            chains.removeAll { $0 == number }
            guard let wake = try readableWake(number) else { continue }
            if wake.previous != 0 { chains.append(wake.previous) }
            guard number < before else { continue }
            looked += 1
            last = wake.id
            if query.states?.contains(wake.state) ?? true,
                let record = try readableRecord(wake)
            {
                found.append(record)
                if found.count == query.limit { break }
            }
        }
        return WakePage(wakes: found, next: chains.isEmpty ? nil : last)
    }

    private func scan(_ query: WakeQuery) throws(StoreFailure) -> WakePage {
        var found: [WakeRecord] = []
        var before = query.after?.number ?? .max
        var looked = 0
        while looked < Self.scannedRowCount {
            let (wakes, last) = try rows.wakes(before: before, limit: Self.rowsPerLook)
            for wake in wakes {
                looked += 1
                before = wake.number
                guard query.states?.contains(wake.state) ?? true else { continue }
                guard
                    let queue = try readable({ () throws(StoreFailure) in
                        try self.rows.queue(wake.queue)
                    }), query.includes(queue.queue.app)
                else { continue }
                guard let record = try readableRecord(wake) else { continue }
                found.append(record)
                if found.count == query.limit { return WakePage(wakes: found, next: wake.id) }
            }
            guard let last else { return WakePage(wakes: found, next: nil) }
            before = last
            looked += Self.rowsPerLook - wakes.count
            guard looked < Self.scannedRowCount else {
                // The last row may be another app's, whose ids are not to be told, or damaged: the
                // number alone, which is a time and a counter, says where to go on.
                let next = query.apps == nil ? wakes.last?.id : nil
                return WakePage(wakes: found, next: next ?? WakeID(number: last, entropy: 0))
            }
        }
        return WakePage(wakes: found, next: nil)
    }

    // MARK: Devices

    /// A device as it stands; see ``WakeStore/devices(_:in:at:under:)``.
    public func devices(
        _ token: DeviceToken, in queues: [WakeQueueKey], at now: WallInstant,
        under rules: StoreRules
    ) throws(StoreFailure) -> [DeviceView] {
        begin(rules)
        var views: [DeviceView] = []
        for name in queues {
            guard let row = try rows.queue(of: name),
                let device = try rows.device(token, queue: row.number)
            else { continue }
            views.append(try view(of: device, try queue(row.number), at: now))
        }
        return views
    }

    private func view(
        of device: DeviceRow, _ queue: SeenQueue, at now: WallInstant
    ) throws(StoreFailure) -> DeviceView {
        var recent: [WakeRecord] = []
        var number = device.latest
        while number != 0, recent.count < DeviceView.recentCount,
            let wake = try readableWake(number)
        {
            recent.append(try record(wake, of: device.token))
            number = wake.previous
        }
        var pending = recent.first { $0.state == .pending }
        if device.pending != 0, pending?.id.number != device.pending,
            let wake = try readableWake(device.pending)
        {
            pending = try record(wake, of: device.token)
        }
        var explanation = device.ledger.explain(policy: queue.policy, at: now)
        // The transaction settles a debit as they make it, so the ledger does not know.
        explanation.inFlight = recent.count { $0.state == .claimed }
        return DeviceView(
            queue: queue.row.queue, deviceToken: device.token, explanation: explanation,
            pending: pending, recent: recent, deadSince: device.deadSince,
            registeredAt: device.registeredAt, lastReceiptAt: device.lastReceiptAt,
            topicConfirmsLaunches: queue.row.confirmsLaunches)
    }

    // MARK: Counts

    /// The counts by their counters; see ``WakeStore/count()``.
    public func count() throws(StoreFailure) -> StoreCount {
        var byState: [WakeState: Int] = [:]
        var ended = 0
        for state in WakeState.allCases where state.isEnd {
            let count = try rows.value(of: .ended(state))
            if count != 0 { byState[state] = count }
            ended += count
        }
        let accepted = try rows.value(of: .accepted)
        byState[.pending] = accepted - ended
        return StoreCount(accepted: accepted, byState: byState)
    }

    /// The counts, row by row; see ``WakeStore/recount()``.
    public func recount() throws(StoreFailure) -> StoreCount {
        StoreCount(
            accepted: try rows.value(of: .accepted), pruned: try rows.value(of: .pruned),
            byState: try rows.countByState())
    }
}
