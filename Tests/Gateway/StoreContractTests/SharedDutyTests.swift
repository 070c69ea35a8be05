// SPDX-License-Identifier: Apache-2.0

import AdminAPI
import Gateway
import GatewayTestKit
import PostgreSQLTestKit
import ServiceLifecycle
import StorePostgreSQL
import StoreTestKit
import Synchronization
import Testing
import WakeModel

@Suite("Duties that one gateway of a database has at a time", .timeLimit(.minutes(10)))
struct SharedDutyTests {
    private static let duty = StoreDuty.webhooks(Samples.endpoint)

    @Test("A duty is one gateway's until it is given back, or the gateway has died and it lapses")
    func takeover() async throws {
        try await StoreKind.withDatabase { url in
            let first = try await PostgreSQLWakeStore.open(url: url)
            let second = try await PostgreSQLWakeStore.open(url: url)
            #expect(try await first.take(Self.duty, seconds: 60))
            #expect(try await second.take(Self.duty, seconds: 60) == false)
            // Another endpoint's is another one.
            #expect(try await second.take(.webhooks(Samples.otherEndpoint), seconds: 60))
            // A gateway cannot release another one's duty.
            try await second.giveBack(Self.duty)
            #expect(try await second.take(Self.duty, seconds: 60) == false)
            try await first.giveBack(Self.duty)
            #expect(try await second.take(Self.duty, seconds: 60))
            #expect(try await first.take(Self.duty, seconds: 60) == false)
            try await second.giveBack(Self.duty)

            #expect(try await first.take(Self.duty, seconds: 60))
            // It is kept on, with another end.
            #expect(try await first.take(Self.duty, seconds: 2))
            await first.abandon()
            #expect(try await second.take(Self.duty, seconds: 60) == false)
            var isTaken = false
            let start = ContinuousClock.now
            while !isTaken, ContinuousClock.now - start < .seconds(30) {
                isTaken = try await second.take(Self.duty, seconds: 60)
            }
            #expect(isTaken && ContinuousClock.now - start < .seconds(10))
            await second.close()
        }
    }

    @Test("Taking a duty and giving it back again and again makes no rows and removes none")
    func rows() async throws {
        try await StoreKind.withDatabase { url in
            let server = try PostgreSQLServer.running()
            let database = String(url.split(separator: "/").last ?? "")
            let store = try await PostgreSQLWakeStore.open(url: url)
            for _ in 0..<20 {
                #expect(try await store.take(Self.duty, seconds: 60))
                try await store.giveBack(Self.duty)
                // Of one that is not held nothing is written.
                try await store.giveBack(Self.duty)
            }
            await store.close()
            let counts = try server.execute(
                "SELECT count(*), min(until) FROM rouse.duty WHERE name = '\(Self.duty.name)'",
                in: database)
            #expect(counts == "1|-infinity")
        }
    }

    @Test("A duty that was taken while the database's clock was ahead is not lost for that long")
    func clockAhead() async throws {
        try await StoreKind.withDatabase { url in
            let server = try PostgreSQLServer.running()
            let database = String(url.split(separator: "/").last ?? "")
            let store = try await PostgreSQLWakeStore.open(url: url)
            try server.execute(
                """
                INSERT INTO rouse.duty VALUES
                    ('\(Self.duty.name)', 'gone', clock_timestamp() + interval '1 year')
                """, in: database)
            #expect(try await store.take(Self.duty, seconds: 60))
            await store.close()
        }
    }

    @Test("Who looks at an endpoint's counts alone waits for nobody's turn, though events are due")
    func counts() async throws {
        try await StoreKind.withDatabase { url in
            let server = try PostgreSQLServer.running()
            let database = String(url.split(separator: "/").last ?? "")
            let store = try await PostgreSQLWakeStore.open(url: url)
            let counter = Counter(store: store)
            try await counter.settleSent(try await counter.claimOne(Samples.wake()))
            let now = counter.now.advanced(bySeconds: 1)
            let turns = "SELECT count(*) FROM rouse.turn WHERE name LIKE 'webhooks%'"
            let batch = try await store.perform(
                ClaimWebhooks(of: Samples.endpoint, at: now, until: now, limit: 0))
            #expect(batch == WebhookBatch(backlogCount: 1))
            #expect(try server.execute(turns, in: database) == "0")
            // As those who take some do.
            let taken = try await store.perform(
                ClaimWebhooks(of: Samples.endpoint, at: now, until: now, limit: 1))
            #expect(taken.items.count == 1)
            #expect(try server.execute(turns, in: database) == "1")
            await store.close()
        }
    }

    /// What arrives at a receiver, from whichever gateway.
    private final class Receiver: WebhookClient {
        private struct State {
            var open = 0
            var mostOpen = 0
            var events: [String] = []
        }

        private let state = Mutex(State())

        var mostOpen: Int { state.withLock { $0.mostOpen } }
        var events: [String] { state.withLock { $0.events } }

        func post(
            _ body: [UInt8], to endpoint: WebhookEndpoint,
            headers: [(name: String, value: String)]
        ) async -> Result<Int, WebhookFailure> {
            let ids = String(decoding: body, as: UTF8.self).matches(of: /evt_\d+/)
            state.withLock { state in
                state.open += 1
                state.mostOpen = max(state.mostOpen, state.open)
                state.events += ids.map { String($0.output) }
            }
            for _ in 0..<1_000 { await Task.yield() }
            state.withLock { $0.open -= 1 }
            return .success(204)
        }
    }

    @Test("Gateways that all have events for an endpoint never post to it at once, nor one twice")
    func delivery() async throws {
        try await StoreKind.withDatabase { url in
            let receiver = Receiver()
            let endpoint = try WebhookEndpoint(
                url: "https://example.com/hook", secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
            var stores: [PostgreSQLWakeStore] = []
            var gateways: [Gateway] = []
            var runs: [(ServiceGroup, Task<Void, any Error>)] = []
            for _ in 0..<3 {
                let store = try await PostgreSQLWakeStore.open(url: url)
                var configuration = GatewayConfiguration(apps: [Samples.app])
                configuration.webhooks = [
                    WebhookSubscription(endpoint: endpoint.id, kinds: [.outcome])
                ]
                let gateway = Gateway(
                    configuration: configuration, store: store, sender: ScriptedSender(),
                    logger: .silent)
                let delivery = WebhookDelivery(
                    gateway: gateway, endpoints: [endpoint], metrics: MetricsRegistry(),
                    logger: .silent
                ) { receiver }
                let group = ServiceGroup(
                    configuration: .init(
                        services: [.init(service: gateway), .init(service: delivery)],
                        logger: .silent))
                stores.append(store)
                gateways.append(gateway)
                runs.append((group, Task { try await group.run() }))
            }
            for gateway in gateways {
                #expect(try await comesTrue { gateway.readiness.isReady })
            }
            let rounds = 20
            await withTaskGroup(of: Void.self) { group in
                for (place, gateway) in gateways.enumerated() {
                    group.addTask {
                        for round in 0..<rounds {
                            let device = UInt64(1_000 * (place + 1) + round)
                            _ = await gateway.accept(Samples.request(device: device))
                        }
                    }
                }
            }
            #expect(
                try await comesTrue { receiver.events.count >= rounds * gateways.count })
            for (group, run) in runs {
                await group.triggerGracefulShutdown()
                try await run.value
            }
            for store in stores { await store.close() }
            #expect(receiver.events.count == rounds * gateways.count)
            #expect(Set(receiver.events).count == receiver.events.count)
            #expect(receiver.mostOpen == 1)
        }
    }
}
