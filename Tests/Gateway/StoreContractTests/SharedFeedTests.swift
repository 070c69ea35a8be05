// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayTestKit
import PostgreSQLTestKit
import StorePostgreSQL
import StoreTestKit
import Synchronization
import Testing
import WaitKit
import WakeModel

/// What readers and operators see of gateways that share nothing but the database.
@Suite("Outcomes and standing of gateways on one database", .timeLimit(.minutes(10)))
struct SharedFeedTests {
    private static let gatewayCount = 3

    /// Calls `body` with gateways whose pushes all succeed, and with their stores.
    private func withThree(
        _ settings: PostgreSQLWakeStore.Settings = PostgreSQLWakeStore.Settings(),
        notice: @escaping @Sendable (String) -> Void = { _ in },
        _ body: ([Gateway], [PostgreSQLWakeStore], String) async throws -> Void
    ) async throws {
        try await StoreKind.withDatabase { url in
            var stores: [PostgreSQLWakeStore] = []
            var gateways: [Gateway] = []
            var runs: [Task<Void, any Error>] = []
            for _ in 0..<Self.gatewayCount {
                let store = try await PostgreSQLWakeStore.open(
                    url: url, settings: settings, notice: notice)
                let gateway = sampleGateway(store: store, sender: ScriptedSender())
                stores.append(store)
                gateways.append(gateway)
                runs.append(Task { try await gateway.run() })
            }
            try await body(gateways, stores, url)
            for run in runs {
                run.cancel()
                try await run.value
            }
            for store in stores { await store.close() }
        }
    }

    /// Has a gateway send a push to each of these devices; the wakes.
    private static func wake(_ devices: Range<UInt64>, by gateway: Gateway) async -> [WakeID] {
        await gateway.accept(
            devices.map { Inquiry(Samples.request(device: $0), environment: nil) }
        ).compactMap(\.admittedID)
    }

    private static func take(_ count: Int, of events: OutcomeEvents) async -> [OutcomeEvent] {
        var taken: [OutcomeEvent] = []
        for await event in events {
            taken.append(event)
            if taken.count == count { break }
        }
        return taken
    }

    @Test("Readers at three gateways have the same outcomes in one order, each once")
    func oneOrder() async throws {
        try await withThree { gateways, _, _ in
            var readers: [Task<[OutcomeEvent], Never>] = []
            for gateway in gateways {
                let events = try #require(try await gateway.events())
                readers.append(Task { await Self.take(300, of: events) })
            }
            let ids = await withTaskGroup(of: [WakeID].self) { group in
                for (place, gateway) in gateways.enumerated() {
                    group.addTask {
                        var ids: [WakeID] = []
                        for round in 0..<10 as Range<UInt64> {
                            let first = UInt64(1_000 * place) + 10 * round
                            ids += await Self.wake(first..<first + 10, by: gateway)
                        }
                        return ids
                    }
                }
                return await group.reduce(into: []) { $0 += $1 }
            }
            let first = await readers[0].value
            #expect(Set(first.map(\.id)) == Set(ids) && first.count == 300)
            for reader in readers { #expect(await reader.value == first) }
            // From any of them on, at another gateway.
            for place in [0, 57, 298] {
                let rest = try #require(
                    try await gateways[place % 3].events(after: first[place].cursor))
                #expect(await Self.take(299 - place, of: rest) == Array(first[(place + 1)...]))
            }
        }
    }

    @Test("A reader of one app has its outcomes alone, and a position that moves with the others'")
    func ofOneApp() async throws {
        try await withThree { gateways, _, _ in
            let events = try #require(
                try await gateways[1].events(among: [Samples.otherApp.bundleID]))
            let start = events.position
            let reader = Task { await Self.take(1, of: events) }
            let others = await Self.wake(0..<20, by: gateways[0])
            #expect(others.count == 20)
            #expect(try await comesTrue { events.position > start })
            let own = await gateways[2].accept(Samples.request(app: Samples.otherApp, device: 99))
            #expect(await reader.value.map(\.id) == [try #require(own.admittedID)])
        }
    }

    @Test("Who waits for an outcome at one gateway has it soon from another")
    func waiting() async throws {
        try await withThree { gateways, _, _ in
            _ = try await gateways[0].pause(Samples.app)
            let id = try #require(await gateways[0].accept(Samples.request()).admittedID)
            async let waited = gateways[2].outcome(of: id, within: 20_000)
            try await elapse(.milliseconds(300))
            let start = ContinuousClock.now
            _ = try await gateways[1].resume(Samples.app)
            #expect(try await waited?.state == .sent)
            // A pause's end is seen within a second, an outcome within two polls.
            #expect(start.duration(to: .now) < .seconds(6))
        }
    }

    @Test("Nobody looks into the database for readers that are not there")
    func idle() async throws {
        try await withThree { gateways, stores, _ in
            _ = await Self.wake(0..<5, by: gateways[0])
            try await elapse(.milliseconds(500))
            let verbs = Set(stores.compactMap(\.sharedStatus).flatMap(\.verbs.keys))
            #expect(!verbs.contains("read-outcomes") && !verbs.contains("find-ended"))
        }
    }

    // MARK: Standing

    private var lively: PostgreSQLWakeStore.Settings {
        var settings = PostgreSQLWakeStore.Settings()
        settings.heartbeatSeconds = 0.1
        settings.takeoverSeconds = 1
        settings.longTransactionSeconds = 1
        return settings
    }

    @Test("Each gateway knows the others, what commands cost, and who is gone")
    func members() async throws {
        try await withThree(lively) { gateways, stores, _ in
            _ = await Self.wake(0..<20, by: gateways[0])
            #expect(
                try await comesTrue {
                    stores.allSatisfy { $0.sharedStatus?.members.count(where: \.isAlive) == 3 }
                })
            #expect(
                try await comesTrue {
                    stores[0].sharedStatus?.verbs["admit-wakes"]?.tripCount ?? 0 > 0
                })
            let status = try #require(stores[0].sharedStatus)
            #expect(status.members.map(\.isThis) == [true, false, false])
            #expect(status.members.allSatisfy { $0.writerCount > 0 })
            #expect(status.verbs["admit-wakes"]?.microseconds ?? 0 > 0)
            #expect(status.serverVersion > 130_000 && Self.openHere(stores[0]).isEmpty)
            #expect(abs(status.clockOffsetMilliseconds) < 1_000)
            await stores[2].abandon()
            #expect(
                try await comesTrue {
                    stores[0].sharedStatus?.members.count(where: \.isAlive) == 2
                })
            #expect(stores[0].sharedStatus?.members.count == 3)
        }
    }

    @Test("Leases in hand are told")
    func leases() async throws {
        try await StoreKind.withDatabase { url in
            let store = try await PostgreSQLWakeStore.open(url: url, settings: lively)
            let grant = ClaimGrant(
                queues: Set(Samples.queues), background: 10, calls: 10, leaseSeconds: 60)
            let now = SystemGatewayClock().now()
            let answer = try await store.perform(
                AdmitWakes(
                    (0..<4).map { Samples.wake(at: now, device: $0) }, grant: grant,
                    under: Samples.rules))
            #expect(answer.claims.count == 4)
            #expect(try await comesTrue { store.sharedStatus?.members.first?.leaseCount == 4 })
            _ = try await store.perform(
                SettleWakes(
                    answer.claims.map {
                        Settlement(
                            ticket: $0.ticket, at: now, attempt: .accepted(apnsUniqueID: nil),
                            effect: .end(.sent(apnsUniqueID: nil)))
                    }, under: Samples.rules))
            #expect(try await comesTrue { store.sharedStatus?.members.first?.leaseCount == 0 })
            await store.close()
        }
    }

    /// Those of the store's own database: other tests have theirs on the server.
    private static func openHere(
        _ store: PostgreSQLWakeStore
    ) -> [SharedStoreStatus.OpenTransaction] {
        store.sharedStatus?.openTransactions.filter { !$0.owner.contains("in database") } ?? []
    }

    @Test("A transaction in another database is found if it has written, which stops pruning here")
    func forgottenElsewhere() async throws {
        try await StoreKind.withDatabase { url in
            let server = try PostgreSQLServer.running()
            let other = try server.makeDatabase()
            let idle = try server.makeDatabase()
            server.hold("BEGIN; SELECT txid_current(); SELECT pg_sleep(60)", in: other)
            server.hold("BEGIN; SELECT pg_sleep(60)", in: idle)
            let store = try await PostgreSQLWakeStore.open(url: url, settings: lively)
            func open(in name: String) -> SharedStoreStatus.OpenTransaction? {
                store.sharedStatus?.openTransactions.first {
                    $0.owner.hasSuffix(", in database \(name)")
                }
            }
            #expect(try await comesTrue { open(in: other)?.seconds ?? 0 >= 2 })
            #expect(open(in: idle) == nil)
            let ending = try #require(open(in: other)?.ending)
            try server.execute(ending)
            #expect(try await comesTrue { open(in: other) == nil })
            try server.execute(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE datname = '\(idle)' AND pid <> pg_backend_pid()
                """)
            await store.close()
        }
    }

    @Test("A transaction that somebody forgot is found, and named once")
    func forgotten() async throws {
        let notices = RecordedNotices()
        try await StoreKind.withDatabase { url in
            let store = try await PostgreSQLWakeStore.open(
                url: url, settings: lively, notice: notices.add)
            let server = try PostgreSQLServer.running()
            let database = String(url.split(separator: "/").last ?? "")
            // Kept open by psql for as long as its statement takes.
            server.hold(
                "BEGIN; SET LOCAL statement_timeout = 0; SELECT pg_sleep(30)", in: database)
            #expect(try await comesTrue { Self.openHere(store).count == 1 })
            let open = try #require(Self.openHere(store).first)
            #expect(open.owner.contains("rouse") && open.owner.contains("psql"))
            #expect(open.explanation.contains("pg_terminate_backend"))
            let count = notices.all.count { $0.contains(open.ending) }
            #expect(count == 1)
            try server.execute(open.ending, in: database)
            #expect(try await comesTrue { Self.openHere(store).isEmpty })
            await store.close()
        }
    }

    @Test("What a server loses of its safety is told while gateways run, and when it is back")
    func settingsChange() async throws {
        let notices = RecordedNotices()
        var settings = lively
        settings.heartbeatSeconds = 0.02
        try await StoreKind.withDatabase { url in
            let store = try await PostgreSQLWakeStore.open(
                url: url, settings: settings, notice: notices.add)
            let server = try PostgreSQLServer.running()
            let database = String(url.split(separator: "/").last ?? "")
            // Of new connections only; a pooler or a failover brings those.
            try server.execute("ALTER DATABASE \(database) SET synchronous_commit = off")
            try server.execute(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE datname = '\(database)' AND pid <> pg_backend_pid()
                """)
            #expect(
                try await comesTrue {
                    notices.all.contains { $0.hasPrefix("synchronous_commit is off") }
                })
            await store.close()
        }
    }
}

/// Notices, from any thread.
private final class RecordedNotices: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    @Sendable func add(_ line: String) { lines.withLock { $0.append(line) } }
}
