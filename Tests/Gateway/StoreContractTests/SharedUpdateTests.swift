// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayTestKit
import PostgreSQLTestKit
import StorePostgreSQL
import StoreTestKit
import Testing
import WakeModel

@Suite("Updates of wakes on PostgreSQL", .timeLimit(.minutes(10)))
struct SharedUpdateTests {
    private static let count = 200

    /// Hands an empty store to `body`, which makes so many updates of wakes. Returns how many the
    /// server has counted then, and how many of them changed no index (HOT).
    private func updates(
        expected: Int, _ body: (Counter) async throws -> Void
    ) async throws -> (all: Int, hot: Int) {
        var found = (all: 0, hot: 0)
        try await StoreKind.withDatabase { url in
            let store = try await PostgreSQLWakeStore.open(url: url)
            try await body(Counter(store: store))
            // The last that a session counted is added up when it ends.
            await store.close()
            let database = String(url.split(separator: "/").last ?? "")
            let server = try PostgreSQLServer.running()
            _ = try await comesTrue {
                let numbers = try server.execute(
                    """
                    SELECT sum(n_tup_upd), sum(n_tup_hot_upd) FROM pg_stat_user_tables
                    WHERE relname LIKE 'wake\\_%'
                    """, in: database
                ).split(separator: "|").compactMap { Int($0) }
                found = (numbers.first ?? 0, numbers.last ?? 0)
                return found.all >= expected
            }
        }
        return found
    }

    private func settle(_ claims: [Claim], in counter: Counter) async throws {
        #expect(claims.count == Self.count)
        _ = try await counter.store.perform(
            SettleWakes(
                claims.map {
                    Settlement(
                        ticket: $0.ticket, at: counter.now.advanced(bySeconds: 1),
                        attempt: .accepted(apnsUniqueID: nil),
                        effect: .end(.sent(apnsUniqueID: nil)))
                }, under: counter.rules))
    }

    /// Guards the speed of the usual way: an index on a column that changes with a wake's end costs
    /// an entry in every index for each wake.
    @Test("The end of a wake that was sent at once changes no index where its page has room")
    func direct() async throws {
        let updates = try await updates(expected: Self.count) { counter in
            let wakes = (0..<UInt64(Self.count)).map { Samples.wake(device: $0) }
            let grant = ClaimGrant(
                queues: Set(Samples.queues), background: Self.count, calls: 0, leaseSeconds: 60)
            try await settle(try await counter.admit(wakes, grant: grant).claims, in: counter)
        }
        #expect(updates.all == Self.count)
        #expect(updates.hot > updates.all / 2)
    }

    /// What changes an index is the place of a wake; the deadline, which has one too, only changes
    /// with it, so that no update would be cheaper without that index.
    @Test("A wake that waited changes its place twice, and with that its indexes")
    func waited() async throws {
        let updates = try await updates(expected: 2 * Self.count) { counter in
            try await counter.admit((0..<UInt64(Self.count)).map { Samples.wake(device: $0) })
            let claims = try await counter.claim(limit: Self.count).claims
            try await settle(claims, in: counter)
        }
        #expect(updates.all == 2 * Self.count)
        #expect(updates.hot == 0)
    }
}
