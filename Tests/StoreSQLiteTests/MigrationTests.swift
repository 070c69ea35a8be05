// SPDX-License-Identifier: Apache-2.0

import GRDB
import Gateway
import GatewayTestKit
import Testing
import WakeModel

@testable import StoreSQLite

@Suite("Files of earlier versions")
struct MigrationTests {
    /// A file of the first version, with so many events that wait.
    private func makeFirstVersion(at path: String, events: Int) throws {
        let queue = try DatabaseQueue(path: path)
        try StoreSchema.migrator.migrate(queue, upTo: "1 wakes")
        try queue.write { database in
            for number in 1...events {
                try database.execute(
                    sql: """
                        INSERT INTO webhook (kind, subject, created_at, due_at, tries, bundle_id,
                            environment, lane_kind, reason)
                        VALUES (?, 1, ?, ?, 2, ?, ?, ?, ?)
                        """,
                    arguments: [
                        WebhookKind.appHalted.rawValue,
                        Samples.start.millisecondsSinceEpoch,
                        Samples.start.millisecondsSinceEpoch,
                        Samples.app.bundleID.value, Samples.app.environment.rawValue,
                        WakeKind.background.number, "event \(number)",
                    ])
            }
        }
        try queue.close()
    }

    private func order(_ endpoints: Set<WebhookEndpointID>, limit: Int = 2) -> PruneOrder {
        PruneOrder(
            now: Samples.start, wakesBefore: Samples.start.advanced(bySeconds: -1),
            devicesBefore: Samples.start.advanced(bySeconds: -1), webhookEndpoints: endpoints,
            limit: limit)
    }

    @Test("Events that wait become the only endpoint's, in steps, and none is lost")
    func events() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            try makeFirstVersion(at: path, events: 3)
            let store = try SQLiteWakeStore(path: path)
            let steps = [
                try await store.prune(order([Samples.endpoint])).webhooks,
                try await store.prune(order([Samples.endpoint])).webhooks,
                try await store.prune(order([Samples.endpoint])).webhooks,
            ]
            #expect(steps == [2, 1, 0])
            let batch = try await store.claimWebhooks(
                of: Samples.endpoint, at: Samples.start,
                until: Samples.start.advanced(bySeconds: 30), limit: 10)
            #expect(batch.backlogCount == 3)
            #expect(batch.items.allSatisfy { $0.tries == 2 })
            #expect(
                batch.items.map(\.event)
                    == (1...3).map { number in
                        .appHalted(
                            AppHalt(
                                lane: Lane(app: Samples.app, kind: .background), isHalted: true,
                                reason: "event \(number)", at: Samples.start))
                    })
            try await store.settleWebhooks(
                batch.items.map { WebhookSettlement(ticket: $0.ticket, effect: .done) })
            for endpoint in [Samples.endpoint, .unnamed] {
                let rest = try await store.claimWebhooks(
                    of: endpoint, at: Samples.start, until: Samples.start, limit: 10)
                #expect(rest == WebhookBatch())
            }
            try store.close()
        }
    }

    @Test("With several endpoints, or none, they come to nobody", arguments: [0, 2])
    func strangers(_ count: Int) async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            try makeFirstVersion(at: path, events: 3)
            let store = try SQLiteWakeStore(path: path)
            let endpoints = Set([Samples.endpoint, Samples.otherEndpoint].prefix(count))
            #expect(try await store.prune(order(endpoints, limit: 9)).webhooks == 3)
            for endpoint in [Samples.endpoint, Samples.otherEndpoint, .unnamed] {
                let rest = try await store.claimWebhooks(
                    of: endpoint, at: Samples.start, until: Samples.start, limit: 10)
                #expect(rest == WebhookBatch())
            }
            try store.close()
        }
    }
}
