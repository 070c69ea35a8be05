// SPDX-License-Identifier: Apache-2.0

import Foundation
import Gateway
import GatewayTestKit
import StoreSQLite
import StoreTestKit
import Testing
import WakeModel

@Suite("A store that was restored")
struct RestoreTests {
    /// What a store called a dead token's wake, its entry of the feed and the events of it.
    private struct Names {
        let wake: WakeID
        let cursor: Int64
        var events: [Int64] = []
    }

    private static let refusal = Refusal(status: 410, reason: .unregistered, tokenDeadSince: nil)

    /// Opens a store, has a device token found dead there, delivers the events, and closes it.
    private func names(
        in path: String, at now: WallInstant, device: UInt64
    ) async throws -> Names {
        let store = try SQLiteWakeStore(path: path)
        var connection = Counter(store: store)
        connection.now = now
        connection.rules.webhooks = [Samples.endpoint, Samples.otherEndpoint].map {
            WebhookSubscription(endpoint: $0, kinds: [.tokenDead])
        }
        let before = try await store.perform(ReadFeedback(after: 0, limit: 100)).last?.number ?? 0
        let claim = try await connection.claimOne(Samples.wake(at: now, device: device))
        try await connection.settle(
            claim, .end(.undeliverable(Self.refusal)), attempt: .refused(Self.refusal))
        let entry = try #require(
            try await store.perform(ReadFeedback(after: before, limit: 100)).first)
        var names = Names(wake: entry.wake, cursor: entry.number)
        for endpoint in connection.rules.webhooks.map(\.endpoint) {
            let items = try await store.perform(
                ClaimWebhooks(
                    of: endpoint, at: now.advanced(bySeconds: 2),
                    until: now.advanced(bySeconds: 30),
                    limit: 10
                )
            ).items
            #expect(items.count == 1)
            names.events += items.map(\.ticket.number)
            try await store.perform(
                SettleWebhooks(
                    items.map { WebhookSettlement(ticket: $0.ticket, effect: .done) }))
        }
        try store.close()
        return names
    }

    @Test("It calls nothing as the lost one had called something, and its feed goes on behind")
    func restored() async throws {
        try await withTemporaryFolder { folder in
            let (path, copy) = (folder + "/store.sqlite", folder + "/copy.sqlite")
            let first = try await names(in: path, at: Samples.start, device: 1)
            try FileManager.default.copyItem(atPath: path, toPath: copy)
            let lost = try await names(
                in: path, at: Samples.start.advanced(bySeconds: 60), device: 2)
            let new = try await names(
                in: copy, at: Samples.start.advanced(bySeconds: 120), device: 3)
            #expect(Set([first, lost, new].flatMap(\.events)).count == 6)
            #expect(first.cursor < lost.cursor && lost.cursor < new.cursor)
        }
    }

    @Test("A clock that was set back over a restart repeats nothing either")
    func clockSetBack() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            // Two within a second: the floor of leases does not rise for the later one.
            let first = try await names(in: path, at: Samples.start, device: 1)
            let second = try await names(in: path, at: Samples.start, device: 2)
            let third = try await names(
                in: path, at: Samples.start.advanced(bySeconds: -3_600), device: 3)
            #expect(first.cursor < second.cursor && second.cursor < third.cursor)
            #expect(Set([first, second, third].flatMap(\.events)).count == 6)
            #expect(second.wake.number < third.wake.number)
        }
    }
}
