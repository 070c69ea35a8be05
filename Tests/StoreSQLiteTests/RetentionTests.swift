// SPDX-License-Identifier: Apache-2.0

import Foundation
import Gateway
import GatewayTestKit
import StoreSQLite
import Testing
import WakeModel

@Suite("A file whose wakes have their time", .timeLimit(.minutes(2)))
struct RetentionTests {
    @Test("It stops growing when as much is pruned as comes")
    func bounded() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            var sizes: [Int] = []
            for part in 0..<3 as Range<Int64> {
                let store = try SQLiteWakeStore(path: path, durability: .system)
                let desk = Counter(store: store, rules: StoreRules())
                for round in 0..<8 as Range<Int64> {
                    try await live(desk.later((part * 8 + round) * 3_600))
                }
                try store.close()
                let attributes = try FileManager.default.attributesOfItem(atPath: path)
                sizes.append(try #require(attributes[.size] as? Int))
            }
            #expect(sizes[2] <= sizes[0] * 5 / 4, "\(sizes)")
        }
    }

    /// An hour: some wakes come, are sent, and those of two hours before are pruned.
    private func live(_ desk: Counter) async throws {
        let wakes = (0..<200 as Range<UInt64>).map { Samples.wake(at: desk.now, device: $0) }
        let grant = ClaimGrant(
            lanes: Set(Samples.lanes), background: 200, calls: 200, leaseSeconds: 60)
        let claims = try await desk.admit(wakes, grant: grant).claims
        #expect(claims.count == 200)
        for claim in claims { try await desk.settleSent(claim) }
        let order = PruneOrder(
            now: desk.now, wakesBefore: desk.now.advanced(bySeconds: -7_200),
            devicesBefore: desk.now.advanced(bySeconds: -100_000), webhooks: [],
            limit: 1_000)
        _ = try await desk.store.prune(order)
        let count = try await desk.store.recount()
        #expect(count.isConserved && count.ended - count.pruned <= 600)
    }
}
