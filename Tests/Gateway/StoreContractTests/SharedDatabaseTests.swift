// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayTestKit
import PayloadRules
import PostgreSQLTestKit
import StorePostgreSQL
import StoreTestKit
import Synchronization
import Testing
import WakeModel

/// Gateways whose stores are independent of each other, on one database.
@Suite("Several stores on one database", .timeLimit(.minutes(10)))
struct SharedDatabaseTests {
    private static let now = Samples.start
    private let grant = ClaimGrant(
        queues: Set(Samples.queues), background: 1_000, calls: 1_000, leaseSeconds: 60)

    /// Hands two stores on an empty database to `body`, with its URI.
    private func withTwo(
        _ settings: PostgreSQLWakeStore.Settings = PostgreSQLWakeStore.Settings(),
        notice: @escaping @Sendable (String) -> Void = { _ in },
        _ body: ([PostgreSQLWakeStore], String) async throws -> Void
    ) async throws {
        try await StoreKind.withDatabase { url in
            var stores: [PostgreSQLWakeStore] = []
            for _ in 0..<2 {
                stores.append(
                    try await PostgreSQLWakeStore.open(
                        url: url, settings: settings, notice: notice))
            }
            try await body(stores, url)
            let count = try await stores[0].perform(RecountWakes())
            #expect(count.isConserved)
            let counters = try await stores[1].perform(CountWakes())
            #expect(counters.accepted == count.accepted && counters.unended == count.unended)
            for store in stores { await store.close() }
        }
    }

    /// Runs the same on both stores concurrently; returns their answers.
    private func both<Answer: Sendable>(
        _ stores: [PostgreSQLWakeStore],
        _ verb: @escaping @Sendable (PostgreSQLWakeStore) async throws -> Answer
    ) async throws -> [Answer] {
        try await withThrowingTaskGroup(of: Answer.self) { group in
            for store in stores { group.addTask { try await verb(store) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// A name in the database of this URI.
    private func database(_ url: String) -> String { String(url.split(separator: "/").last ?? "") }

    @Test("The same idempotency key at both creates one wake")
    func idempotency() async throws {
        try await withTwo { stores, _ in
            for round in 0..<20 as Range<UInt8> {
                let mark = IdempotencyKey(
                    key: [round], request: [1], expiresAt: Self.now.advanced(bySeconds: 600))
                let answers = try await both(stores) { store in
                    let wake = Samples.wake(device: UInt64(round))
                    return try await store.perform(
                        AdmitWakes(
                            [wake.with(mark)], grant: nil,
                            under: Samples.rules)
                    ).admissions
                }
                let ids = answers.flatMap { $0 }.compactMap { admission -> WakeID? in
                    guard case .admitted(let wake) = admission else { return nil }
                    return wake.id
                }
                #expect(ids.count == 2 && Set(ids).count == 1)
            }
            #expect(try await stores[0].perform(CountWakes()).accepted == 20)
        }
    }

    @Test("A device's wakes are one chain, though the gateway that takes one is behind another")
    func clocksApart() async throws {
        try await withTwo { stores, _ in
            // Clocks half a minute apart, each store by turns.
            let clocks = [Self.now.advanced(bySeconds: 30), Self.now]
            for round in 0..<6 {
                let wake = Samples.wake(at: clocks[round % 2])
                _ = try await Counter(store: stores[round % 2]).admitOne(wake)
            }
            let query = WakeQuery(deviceToken: Samples.wake().wake.deviceToken)
            for store in stores {
                #expect(try await store.perform(ListWakes(query)).wakes.count == 6)
            }
        }
    }

    @Test("The same call at both rings once, and a device has its budget once")
    func callsAndBudgets() async throws {
        let grant = grant
        try await withTwo { stores, _ in
            var rings = 0
            var pushes = 0
            for round in 0..<20 as Range<UInt64> {
                let claims = try await both(stores) { store in
                    try await store.perform(
                        AdmitWakes(
                            [
                                Samples.wake(.voip, device: round, call: round),
                                Samples.wake(device: round % 4),
                            ], grant: grant, under: Samples.rules)
                    ).claims
                }.flatMap { $0 }
                rings += claims.filter { $0.kind == .voip }.count
                pushes += claims.filter { $0.kind == .background }.count
            }
            #expect(rings == 20)
            // Four devices, each at one instant: one push each.
            #expect(pushes == 4)
        }
    }

    @Test("What is due is claimed by one of both, and each claim settled once")
    func claims() async throws {
        try await withTwo { stores, _ in
            let submissions = (0..<400 as Range<UInt64>).map {
                Samples.wake(device: $0)
            }
            _ = try await stores[0].perform(
                AdmitWakes(submissions, grant: nil, under: Samples.rules))
            let claims = try await both(stores) { store in
                var claims: [Claim] = []
                while true {
                    let order = ClaimOrder(
                        shares: Samples.queues.map { .init(queue: $0, limit: 30) }, limit: 30,
                        now: Self.now, leaseUntil: Self.now.advanced(bySeconds: 60))
                    let found = try await store.perform(ClaimWakes(order, under: Samples.rules))
                    if found.claims.isEmpty { return claims }
                    claims += found.claims
                }
            }
            #expect(claims.joined().count == 400)
            #expect(Set(claims.joined().map(\.id)).count == 400)
            let all = Array(claims.joined())
            let verdicts = try await both(stores) { store in
                try await store.perform(
                    SettleWakes(
                        all.map {
                            Settlement(
                                ticket: $0.ticket, at: Self.now,
                                attempt: .accepted(apnsUniqueID: nil),
                                effect: .end(.sent(apnsUniqueID: nil)))
                        }, under: Samples.rules)
                ).verdicts
            }.flatMap { $0 }
            #expect(verdicts.filter { $0 == .applied }.count == 400)
        }
    }

    @Test("A cursor on the feed misses nothing that both write")
    func feed() async throws {
        let grant = grant
        try await withTwo { stores, _ in
            let isDone = Atomic(false)
            let read = Task {
                var seen: [Int64] = []
                while true {
                    let isLast = isDone.load(ordering: .acquiring)
                    let entries = try await stores[0].perform(
                        ReadFeedback(after: seen.last ?? 0, limit: 7))
                    seen += entries.map(\.number)
                    if isLast, entries.isEmpty { return seen }
                }
            }
            let refusal = Refusal(status: 410, reason: .unregistered, tokenDeadSince: Self.now)
            _ = try await withThrowingTaskGroup(of: Void.self) { group in
                for (place, store) in stores.enumerated() {
                    group.addTask {
                        for round in 0..<40 {
                            let wake = Samples.wake(device: UInt64(1_000 * place + round))
                            let claims = try await store.perform(
                                AdmitWakes(
                                    [wake], grant: grant, under: Samples.rules)
                            ).claims
                            _ = try await store.perform(
                                SettleWakes(
                                    claims.map {
                                        Settlement(
                                            ticket: $0.ticket, at: Self.now,
                                            attempt: .refused(refusal),
                                            effect: .end(.undeliverable(refusal)))
                                    }, under: Samples.rules))
                        }
                    }
                }
                try await group.waitForAll()
            }
            isDone.store(true, ordering: .releasing)
            let seen = try await read.value
            #expect(seen.count == 80 && seen == seen.sorted() && Set(seen).count == 80)
        }
    }

    @Test("A writer that was replaced writes nothing, and goes on as another one")
    func fence() async throws {
        let notices = Mutex<[String]>([])
        try await withTwo(notice: { notice in notices.withLock { $0.append(notice) } }) {
            stores, url in
            _ = try await Counter(store: stores[0]).admitOne(Samples.wake(device: 1))
            try PostgreSQLServer.running().execute(
                "UPDATE rouse.writer SET ended = true", in: database(url))
            _ = try await Counter(store: stores[0]).admitOne(Samples.wake(device: 2))
            #expect(notices.withLock { $0.contains { $0.contains("was replaced") } })
            #expect(try await stores[1].perform(CountWakes()).accepted == 2)
        }
    }

    @Test(
        "A commit of which no answer comes is known to be done or not",
        arguments: [CuttingProxy.Cut.beforeCommit, .afterCommit])
    func unknownCommit(_ cut: CuttingProxy.Cut) async throws {
        try await StoreKind.withDatabase { url in
            let server = try PostgreSQLServer.running()
            let proxy = try CuttingProxy(to: server.port)
            defer { proxy.stop() }
            let store = try await PostgreSQLWakeStore.open(
                url: server.uri(database(url), port: proxy.port))
            for device in 1...5 as ClosedRange<UInt64> {
                proxy.cut(cut)
                _ = try await Counter(store: store).admitOne(Samples.wake(device: device))
            }
            #expect(proxy.cutCount >= 1)
            #expect(try await store.perform(RecountWakes()).accepted == 5)
            #expect(try await store.perform(RecountWakes()).isConserved)
            await store.close()
        }
    }

    @Test(
        "What a gateway that was killed had claimed is found by another one",
        arguments: ["0 s", "1 year"])
    func killed(databaseWasAhead lead: String) async throws {
        var settings = PostgreSQLWakeStore.Settings()
        settings.heartbeatSeconds = 0.1
        settings.takeoverSeconds = 0.5
        let grant = grant
        try await StoreKind.withDatabase { url in
            let doomed = try await PostgreSQLWakeStore.open(url: url, settings: settings)
            let answer = try await Counter(store: doomed).admit(
                (1...3 as ClosedRange<UInt64>).map { Samples.wake(device: $0) }, grant: grant)
            #expect(answer.claims.count == 3)
            await doomed.abandon()
            let notices = Mutex<[String]>([])
            let other = try await PostgreSQLWakeStore.open(url: url, settings: settings) { notice in
                notices.withLock { $0.append(notice) }
            }
            // The last sign of life came while the database's clock was ahead.
            try PostgreSQLServer.running().execute(
                "UPDATE rouse.writer SET seen_at = seen_at + interval '\(lead)'",
                in: database(url))
            let later = Self.now.advanced(bySeconds: 61)
            var count = 0
            #expect(
                try await comesTrue {
                    count += try await other.perform(
                        ReclaimLeases(at: later, limit: 10, under: Samples.rules)
                    ).count
                    return count == 3
                })
            // The one that lives goes on as it was.
            #expect(!notices.withLock { $0.contains { $0.contains("was replaced") } })
            await other.close()
        }
    }

    @Test("A writer's row that is locked keeps nobody from what another dead one had claimed")
    func lockedWriter() async throws {
        var settings = PostgreSQLWakeStore.Settings()
        settings.heartbeatSeconds = 0.1
        settings.takeoverSeconds = 0.5
        let grant = grant
        try await StoreKind.withDatabase { url in
            let server = try PostgreSQLServer.running()
            let hanging = try await PostgreSQLWakeStore.open(url: url, settings: settings)
            let doomed = try await PostgreSQLWakeStore.open(url: url, settings: settings)
            for (store, device) in [(hanging, 1), (doomed, 2)] as [(PostgreSQLWakeStore, UInt64)] {
                let wake = Samples.wake(device: device)
                #expect(
                    try await Counter(store: store).admit([wake], grant: grant).claims.count == 1)
            }
            // As a backend does that hangs in a transaction of the first one.
            let name = database(url)
            server.hold(
                """
                BEGIN; SET LOCAL statement_timeout = 0;
                SELECT 1 FROM rouse.writer
                WHERE gateway = (SELECT gateway FROM rouse.writer ORDER BY id LIMIT 1)
                FOR UPDATE; SELECT pg_sleep(60)
                """, in: name)
            let sleeping =
                "FROM pg_stat_activity WHERE wait_event = 'PgSleep' "
                + "AND datname = '\(name)'"
            #expect(try await comesTrue { try server.execute("SELECT 1 \(sleeping)") == "1" })
            await hanging.abandon()
            await doomed.abandon()
            let other = try await PostgreSQLWakeStore.open(url: url, settings: settings)
            let later = Self.now.advanced(bySeconds: 61)
            #expect(
                try await comesTrue {
                    try await other.perform(
                        ReclaimLeases(at: later, limit: 10, under: Samples.rules)
                    ).count == 1
                })
            try server.execute("SELECT pg_terminate_backend(pid) \(sleeping)")
            await other.close()
        }
    }

    @Test("Tables of another version, and a database without any, are refused in words")
    func versions() async throws {
        let server = try PostgreSQLServer.running()
        let empty = server.uri(try server.makeDatabase())
        await #expect {
            _ = try await PostgreSQLWakeStore.open(url: empty)
        } throws: { error in
            "\(error)".contains("rouse store migrate")
        }
        try await StoreKind.withDatabase { url in
            #expect(
                try await PostgreSQLWakeStore.migrate(url: url) == PostgreSQLWakeStore.schemaVersion
            )
            try server.execute(
                "INSERT INTO rouse.schema_version VALUES (99)", in: database(url))
            await #expect {
                _ = try await PostgreSQLWakeStore.open(url: url)
            } throws: { error in
                "\(error)".contains("newer program")
            }
            await #expect(throws: StoreFailure.self) {
                try await PostgreSQLWakeStore.migrate(url: url)
            }
        }
    }
}
