// SPDX-License-Identifier: Apache-2.0

import WakeBudget
import WakeModel

/// Tells all that is known of one wake; `nil` for an unknown id. One whose device is gone is not
/// told of: nobody knows its token any more.
public struct FindWake: StoreCommand {
    /// The wake.
    public let id: WakeID

    /// Creates the command.
    public init(_ id: WakeID) { self.id = id }

    /// A caller's, who only reads.
    public var profile: CommandProfile { .callersRead(isShown: true) }

    /// The record of its row, with what stands beside it.
    public func decide(on transaction: StoreTransaction) throws(StoreFailure) -> WakeRecord? {
        try transaction.record(of: id)
    }
}

/// Lists wakes, the newest first, page by page.
public struct ListWakes: StoreCommand {
    /// How many rows one page of a list looks at, so that a rare state does not cost a walk
    /// through the whole store.
    static let scannedRowCount = 5_000
    /// Rows that are looked up together.
    static let rowsPerLook = 500

    /// Which wakes.
    public let query: WakeQuery

    /// Creates the command.
    public init(_ query: WakeQuery) { self.query = query }

    /// A caller's, who only reads.
    public var profile: CommandProfile {
        .callersRead(weight: query.rowCount, isShown: true)
    }

    /// One page.
    public func decide(on transaction: StoreTransaction) throws(StoreFailure) -> WakePage {
        guard let token = query.deviceToken else { return try transaction.scan(query) }
        let before = query.after?.number ?? .max
        let cursor = try query.after.flatMap { (id) throws(StoreFailure) in
            try transaction.readableWake(id.number)
        }
        var chains: [Int64] = []
        for queue in try transaction.rows.queues() where query.includes(queue.queue.app) {
            guard let device = try transaction.rows.device(token, queue: queue.number) else {
                continue
            }
            // The page before ended in this chain, mostly the only one: this one goes on there.
            let isCursors = cursor?.device == device.number
            let first = isCursors ? cursor?.previous ?? 0 : device.latest
            if first != 0 { chains.append(first) }
        }
        return try transaction.walk(&chains, before: before, query)
    }
}

extension StoreTransaction {
    /// The record of a wake; see ``FindWake``.
    func record(of id: WakeID) throws(StoreFailure) -> WakeRecord? {
        guard let wake = try rows.wake(id.number, withPayload: false), wake.id == id else {
            return nil
        }
        guard let token = try rows.token(ofDevice: wake.device) else { return nil }
        return try record(wake, of: token)
    }

    func record(
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

    /// Follows the chains of a device's queues together, the newest first. What has to be passed in
    /// another chain than the cursor's does not count as looked at: a page that never came to what
    /// is behind the cursor would have no next one.
    fileprivate func walk(
        _ chains: inout [Int64], before: Int64, _ query: WakeQuery
    ) throws(StoreFailure) -> WakePage {
        var found: [WakeRecord] = []
        var last: WakeID?
        var looked = 0
        while looked < ListWakes.scannedRowCount, let number = chains.max() {
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

    fileprivate func scan(_ query: WakeQuery) throws(StoreFailure) -> WakePage {
        var found: [WakeRecord] = []
        var before = query.after?.number ?? .max
        var looked = 0
        while looked < ListWakes.scannedRowCount {
            let (wakes, last) = try rows.wakes(before: before, limit: ListWakes.rowsPerLook)
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
            looked += ListWakes.rowsPerLook - wakes.count
            guard looked < ListWakes.scannedRowCount else {
                // The last row may be another app's, whose ids are not to be told, or damaged: the
                // number alone, which is a time and a counter, says where to go on.
                let next = query.apps == nil ? wakes.last?.id : nil
                return WakePage(wakes: found, next: next ?? WakeID(number: last, entropy: 0))
            }
        }
        return WakePage(wakes: found, next: nil)
    }
}
