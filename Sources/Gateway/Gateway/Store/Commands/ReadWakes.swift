// SPDX-License-Identifier: Apache-2.0

import WakeBudget
import WakeModel

/// Returns the record of one wake; `nil` for an unknown id, and for one whose device was removed,
/// with its token.
public struct FindWake: StoreCommand {
    /// The wake.
    public let id: WakeID

    /// Creates the command.
    public init(_ id: WakeID) { self.id = id }

    /// A read for a caller.
    public var profile: CommandProfile { .callersRead(isShown: true) }

    /// The wake with its device and its attempts.
    public func reads(of queues: QueueTable) -> ReadSet {
        var reads = ReadSet()
        reads.add(wake: id.number, .device)
        reads.attempts = [id.number]
        return reads
    }

    /// The record of its row, with the rows that belong to it.
    public func decide(on set: WorkingSet) throws(RowFault) -> WakeRecord? {
        try set.record(of: id)
    }
}

/// Lists wakes, the newest first, page by page.
public struct ListWakes: StoreCommand {
    /// The number of rows that one page of a list reads, so that a rare state does not cost a scan
    /// of the whole store.
    static let scannedRowCount = 5_000
    /// Rows that are looked up together at first.
    static let rowsPerLook = 500

    /// Which wakes.
    public let query: WakeQuery

    /// Creates the command.
    public init(_ query: WakeQuery) { self.query = query }

    /// A read for a caller.
    public var profile: CommandProfile {
        .callersRead(weight: query.rowCount, isShown: true)
    }

    /// One page.
    public func decide(on set: WorkingSet) throws(RowFault) -> WakePage {
        guard let token = query.deviceToken else { return try set.scan(query) }
        let before = query.after?.number ?? .max
        let cursor = try query.after.flatMap { (id) throws(RowFault) in
            try set.readableWake(id.number)
        }
        var chains: [Int64] = []
        for queue in set.queues where query.includes(queue.queue.app) {
            guard let device = try set.device(token, queue: queue.number) else {
                continue
            }
            // The previous page ended in this chain, mostly the only one: this one continues there.
            let isCursors = cursor?.device == device.number
            let first = isCursors ? cursor?.previous ?? 0 : device.latest
            if first != 0 { chains.append(first) }
        }
        return try set.walk(&chains, before: before, query)
    }
}

extension WorkingSet {
    /// The record of a wake; see ``FindWake``.
    func record(of id: WakeID) throws(RowFault) -> WakeRecord? {
        guard let wake = try wake(id.number), wake.id == id,
            let token = try token(ofDevice: wake.device)
        else { return nil }
        return try record(wake, of: token)
    }

    func record(
        _ wake: WakeRow, of token: DeviceToken
    ) throws(RowFault) -> WakeRecord {
        let attempts = try part { () throws(RowFault) in try self.attempts(of: wake.number) }
        var carrier: WakeRow?
        if case .coalesced = wake.end { carrier = try self.carrier(of: wake) }
        guard let attempts else { throw .notLoaded }
        return WakeRecord(
            wake, queue: try queue(wake.queue).row.queue, deviceToken: token, attempts: attempts,
            carrier: carrier)
    }

    /// The record of a wake in a list; `nil` when its device is gone, or it, or its queue, cannot
    /// be read.
    private func readableRecord(_ wake: WakeRow) throws(RowFault) -> WakeRecord? {
        try readable { () throws(RowFault) in
            guard let token = try token(ofDevice: wake.device) else { return nil }
            return try record(wake, of: token)
        }
    }

    /// Whether a wake is of a device with this digest.
    private func hasDigest(_ wake: WakeRow, _ digest: String) throws(RowFault) -> Bool {
        try readable { () throws(RowFault) in try token(ofDevice: wake.device)?.digest } == digest
    }

    /// Follows the chains of a device's queues together, the newest first. Rows of other chains
    /// before the cursor do not count as read: otherwise a page could end before the cursor, and
    /// would have no next one.
    fileprivate func walk(
        _ chains: inout [Int64], before: Int64, _ query: WakeQuery
    ) throws(RowFault) -> WakePage {
        var page = PageBuilder(limit: query.limit, set: self)
        var last: WakeID?
        var looked = 0
        var passed = 0
        while looked < ListWakes.scannedRowCount, let number = chains.max() {
            chains.removeAll { $0 == number }
            // The number doubles, so that a long chain needs few rounds.
            guard let wake = try readableWake(number, chain: max(query.limit, passed)) else {
                continue
            }
            passed += 1
            if wake.previous != 0 { chains.append(wake.previous) }
            guard number < before else { continue }
            looked += 1
            last = wake.id
            if query.includes(wake) {
                try page.append { () throws(RowFault) in try readableRecord(wake) }
                if page.isFull { break }
            }
        }
        return WakePage(wakes: page.wakes, next: chains.isEmpty ? nil : last)
    }

    fileprivate func scan(_ query: WakeQuery) throws(RowFault) -> WakePage {
        var page = PageBuilder(limit: query.limit, set: self)
        var before = query.after?.number ?? .max
        var looked = 0
        while looked < ListWakes.scannedRowCount {
            // The number doubles, so that a page needs few rounds.
            let limit = min(
                max(ListWakes.rowsPerLook, looked), ListWakes.scannedRowCount - looked)
            let numbers = try self.numbers(.wakes(before: before, limit: limit))
            var lastReadable: WakeID?
            var isWhole = true
            for number in numbers {
                looked += 1
                before = number
                guard let wake = try readableWake(number) else { continue }
                lastReadable = wake.id
                guard query.includes(wake),
                    let queue = try readableQueue(wake.queue),
                    query.includes(queue.row.queue.app)
                else { continue }
                if let digest = query.digest {
                    // One round loads the devices of all of these rows.
                    let matches = try part { () throws(RowFault) in
                        try hasDigest(wake, digest)
                    }
                    guard let matches else {
                        isWhole = false
                        continue
                    }
                    guard matches else { continue }
                }
                try page.append { () throws(RowFault) in try readableRecord(wake) }
                if page.isFull { return WakePage(wakes: page.wakes, next: wake.id) }
            }
            guard isWhole else { throw .notLoaded }
            guard numbers.count == limit else {
                return WakePage(wakes: page.wakes, next: nil)
            }
            guard looked < ListWakes.scannedRowCount else {
                // The last row may be another app's, whose ids must not be disclosed, or damaged:
                // the number alone, a time and a counter, is the position to continue from.
                let next = query.apps == nil ? lastReadable : nil
                return WakePage(wakes: page.wakes, next: next ?? WakeID(number: before, entropy: 0))
            }
        }
        return WakePage(wakes: page.wakes, next: nil)
    }
}

/// A page of a list while it is filled. A wake with rows that are not loaded yet takes a place too,
/// so that no more is loaded than the page needs.
private struct PageBuilder {
    let limit: Int
    let set: WorkingSet
    private(set) var wakes: [WakeRecord] = []
    private var count = 0

    init(limit: Int, set: WorkingSet) {
        self.limit = limit
        self.set = set
    }

    var isFull: Bool { count == limit }

    mutating func append(_ record: () throws(RowFault) -> WakeRecord?) throws(RowFault) {
        guard let record = try set.part(record) else {
            count += 1
            return
        }
        guard let record else { return }
        wakes.append(record)
        count += 1
    }
}
