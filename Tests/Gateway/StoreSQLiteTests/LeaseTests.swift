// SPDX-License-Identifier: Apache-2.0

import GatewayTestKit
import StoreTestKit
import Testing
import WakeModel

@testable import Gateway
@testable import StoreSQLite

/// Leases that are given out with an admission stand in no queue, and yet none is lost.
@Suite("Leases in no queue")
struct LeaseTests {
    private static let grant = ClaimGrant(
        queues: Set(Samples.queues), background: 100, calls: 100, leaseSeconds: 60)

    /// Admits a wake that goes at once.
    private static func admit(_ counter: Counter, device: UInt64) async throws -> Claim {
        let wake = Samples.wake(at: counter.now, device: device)
        return try #require(try await counter.admit([wake], grant: grant).claims.first)
    }

    @Test("An old one holds the floor, and the next process takes it back")
    func floor() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            var kept: [WakeID] = []
            try await {
                let store = try SQLiteWakeStore(path: path)
                let counter = Counter(store: store)
                try await counter.settleSent(try await Self.admit(counter, device: 1))
                for second in 1...40 as ClosedRange<Int64> {
                    let later = counter.later(5 * second)
                    let claim = try await Self.admit(later, device: UInt64(1 + second))
                    if second.isMultiple(of: 13) {
                        kept.append(claim.id)
                    } else {
                        try await later.settleSent(claim)
                    }
                }
                try store.close()
            }()
            let store = try SQLiteWakeStore(path: path)
            let counter = Counter(store: store).later(3_600)
            let taken = try await store.perform(
                ReclaimLeases(
                    at: counter.now, limit: 100, under: counter.rules))
            #expect(taken.returned == kept)
            #expect(try await store.perform(RecountWakes()).isConserved)
            try store.close()
        }
    }

    @Test("The floor rises behind wakes that have ended")
    func rising() async throws {
        try await withTemporaryFolder { folder in
            let store = try SQLiteWakeStore(path: folder + "/store.sqlite")
            let counter = Counter(store: store)
            var last: Claim?
            for second in 0..<20 as Range<Int64> {
                let later = counter.later(5 * second)
                let claim = try await Self.admit(later, device: UInt64(second))
                try await later.settleSent(claim)
                last = claim
            }
            let (floor, lastNumber) = try await store.writing.write {
                connection throws(StoreFailure) in
                (connection.rows.floor, connection.rows.lastNumber)
            }
            let number = try #require(last).id.number
            // Behind the last wake, of which an event was written, no other begins.
            #expect(floor > number - SQLiteRows.floorStep && floor <= lastNumber + 1)
            try store.close()
        }
    }

    @Test("A slow push does not hold the floor down, and its lease still ends")
    func slowPush() async throws {
        try await withTemporaryFolder { folder in
            let store = try SQLiteWakeStore(path: folder + "/store.sqlite")
            let counter = Counter(store: store)
            let slow = try await Self.admit(counter, device: 1)
            let later = counter.later(90)
            try await later.settleSent(try await Self.admit(later, device: 2))
            try await later.later(5).admit([Samples.wake(at: later.later(5).now, device: 3)])
            let floor = try await store.writing.write { connection throws(StoreFailure) in
                connection.rows.floor
            }
            #expect(floor > slow.id.number)
            #expect(try await later.record(slow.id).state == .claimed)
            let taken = try await store.perform(
                ReclaimLeases(
                    at: later.now, limit: 100, under: later.rules))
            #expect(taken.returned == [slow.id])
            try store.close()
        }
    }

    @Test("A transaction that is undone takes no lease with it")
    func undone() async throws {
        try await withTemporaryFolder { folder in
            let store = try SQLiteWakeStore(path: folder + "/store.sqlite")
            let counter = Counter(store: store)
            let claim = try await Self.admit(counter, device: 1)
            let failure = StoreFailure(kind: .unavailable, message: "On purpose.")
            await #expect(throws: failure) {
                try await store.writing.write { connection throws(StoreFailure) in throw failure }
            }
            let later = counter.later(61)
            let taken = try await store.perform(
                ReclaimLeases(
                    at: later.now, limit: 100, under: later.rules))
            #expect(taken.returned == [claim.id])
            try store.close()
        }
    }

    @Test("What is no lease is not taken back, though it stands in the queue of the leases")
    func misplaced() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            let store = try SQLiteWakeStore(path: path)
            let counter = Counter(store: store)
            let sent = try await Self.admit(counter, device: 1)
            try await counter.settleSent(sent)
            let deferred = try await counter.admitOne(Samples.wake(dueIn: 600, device: 1))
            let waiting = try await counter.admitOne(Samples.wake(dueIn: 600, device: 2))
            let claimed = try await Self.admit(counter, device: 3)
            try store.writer.sync { connection in
                try connection.run(script: "UPDATE wake SET queue = 0, at = 0 WHERE state <> 1")
            }
            let later = counter.later(61)
            let ids = [sent.id, deferred.id, waiting.id]
            var before: [WakeRecord] = []
            for id in ids { before.append(try await counter.record(id)) }
            let taken = try await store.perform(
                ReclaimLeases(
                    at: later.now, limit: 100, under: later.rules))
            #expect(taken.returned == [claimed.id] && taken.ended.isEmpty)
            var after: [WakeRecord] = []
            for id in ids { after.append(try await counter.record(id)) }
            #expect(after == before)
            // Each stands again where it belongs.
            let again = try await store.perform(
                ReclaimLeases(
                    at: later.now, limit: 1, under: later.rules))
            #expect(again.count == 0)
            let due = try await counter.later(3_600).claim().claims.map(\.id)
            #expect(due.contains(waiting.id) && !due.contains(sent.id))
            #expect(try await store.perform(RecountWakes()).isConserved)
            try store.close()
        }
    }

    @Test("Numbers leave in the order in which they came")
    func order() {
        var queue = NumberQueue()
        var next: Int64 = 0
        for count in 1...100 {
            for _ in 0..<count {
                next += 1
                queue.append(next)
            }
            for _ in 0..<count / 2 { queue.removeFirst() }
        }
        var left: [Int64] = []
        while let first = queue.first {
            left.append(first)
            queue.removeFirst()
        }
        #expect(left.last == next && left == left.sorted() && left.count == Set(left).count)
    }
}
