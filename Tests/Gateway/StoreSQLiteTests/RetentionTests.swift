// SPDX-License-Identifier: Apache-2.0

import Foundation
import Gateway
import GatewayTestKit
import StoreTestKit
import Testing
import WakeModel

@testable import StoreSQLite

@Suite("A file whose wakes have their time", .timeLimit(.minutes(10)))
struct RetentionTests {
    @Test("It stops growing when as much is pruned as comes")
    func bounded() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            var sizes: [Int] = []
            for part in 0..<3 as Range<Int64> {
                let store = try SQLiteWakeStore(path: path, durability: .system)
                let connection = Counter(store: store, rules: StoreRules())
                for round in 0..<8 as Range<Int64> {
                    try await live(connection.later((part * 8 + round) * 3_600))
                }
                try store.close()
                let attributes = try FileManager.default.attributesOfItem(atPath: path)
                sizes.append(try #require(attributes[.size] as? Int))
            }
            #expect(sizes[2] <= sizes[0] * 5 / 4, "\(sizes)")
        }
    }

    @Test("It stops growing when each wake goes to a new device")
    func newDevices() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            let store = try SQLiteWakeStore(path: path, durability: .system)
            let connection = Counter(store: store, rules: StoreRules())
            var counts: [Int] = []
            for minute in 0..<30 as Range<UInt64> {
                let connection = connection.later(Int64(minute) * 60)
                let wakes = (0..<200 as Range<UInt64>).map {
                    Samples.wake(at: connection.now, device: minute * 200 + $0)
                }
                let grant = ClaimGrant(
                    queues: Set(Samples.queues), background: 200, calls: 0, leaseSeconds: 60)
                for claim in try await connection.admit(wakes, grant: grant).claims {
                    try await connection.settleSent(claim)
                }
                // As the gateway does: at once when a step was full.
                let before = connection.now.advanced(bySeconds: -120)
                let order = PruneOrder(
                    now: connection.now, wakesBefore: before, devicesBefore: before, webhooks: [],
                    limit: 100)
                while try await store.prune(order).isFull(100) {}
                counts.append(
                    Int(try Connection(path).number("SELECT count(*) FROM device")))
            }
            try store.close()
            // What came in the two minutes and in the one that has just begun, and those that the
            // last walk met before their wakes had gone: at most as many as come in a minute.
            #expect(try #require(counts.max()) <= 800, "\(counts)")
        }
    }

    @Test("What a prune has passed that was undone is looked at again")
    func undone() async throws {
        try await withTemporaryFolder { folder in
            let store = try SQLiteWakeStore(path: folder + "/store.sqlite", durability: .system)
            let connection = Counter(store: store, rules: StoreRules())
            try await connection.settleSent(try await connection.claimOne(Samples.wake()))
            let later = connection.later(86_400)
            let order = PruneOrder(
                now: later.now, wakesBefore: later.now, devicesBefore: later.now, webhooks: [],
                limit: 100)
            let failure = StoreFailure(kind: .full, message: "No space is left.")
            await #expect(throws: failure) {
                try await store.writing.write { transaction throws(StoreFailure) in
                    _ = try transaction.prune(order)
                    throw failure
                }
            }
            #expect(try await store.prune(order).devices == 1)
            try store.close()
        }
    }

    /// An hour: some wakes come, are sent, and those of two hours before are pruned.
    private func live(_ connection: Counter) async throws {
        let wakes = (0..<200 as Range<UInt64>).map { Samples.wake(at: connection.now, device: $0) }
        let grant = ClaimGrant(
            queues: Set(Samples.queues), background: 200, calls: 200, leaseSeconds: 60)
        let claims = try await connection.admit(wakes, grant: grant).claims
        #expect(claims.count == 200)
        for claim in claims { try await connection.settleSent(claim) }
        let order = PruneOrder(
            now: connection.now, wakesBefore: connection.now.advanced(bySeconds: -7_200),
            devicesBefore: connection.now.advanced(bySeconds: -100_000), webhooks: [],
            limit: 1_000)
        _ = try await connection.store.prune(order)
        let count = try await connection.store.perform(RecountWakes())
        #expect(count.isConserved && count.ended - count.pruned <= 600)
    }
}
