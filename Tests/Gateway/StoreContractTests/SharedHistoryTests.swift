// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayTestKit
import PostgreSQLTestKit
import SeedKit
import StorePostgreSQL
import StoreTestKit
import Synchronization
import Testing
import WaitKit
import WakeModel

/// Three gateways on one database of a real server that fails in some way while others send wakes
/// to all of them; at the end their history is checked from outside: what was admitted, what was
/// sent, and how it ended.
@Suite("The history of gateways whose database fails", .timeLimit(.minutes(20)))
struct SharedHistoryTests {
    /// What befalls them.
    enum Trouble: String, CaseIterable, CustomTestStringConvertible {
        case none
        case cutCommits = "connections cut before, in and after COMMIT"
        case frozenGateway = "a gateway that stands still until it is replaced, and goes on"
        case terminatedBackends = "backends that are terminated"
        case crashes = "a server that stops as in a crash"
        case failover = "a primary that is lost, and its synchronous standby promoted"
        case fullDisk = "a database without room for rows"
        case wrongClock = "gateways whose clocks are wrong by an hour"

        var testDescription: String { rawValue }
    }

    /// How many rounds of wakes there are, with trouble between them.
    private static let roundCount = 8
    private static let gatewayCount = 3

    // MARK: History

    /// All that is known from outside.
    private final class History: Sendable {
        struct Send {
            let wake: WakeID
            let kind: WakeKind
            let device: DeviceToken
            /// What distinguishes calls, whichever wake rings: the payload.
            let payload: [UInt8]
            /// Whether the device may have got it.
            let mayHaveArrived: Bool
        }

        private struct State {
            var sends: [Send] = []
            var accepted: Set<WakeID> = []
            var generator: SeededGenerator
        }

        private let state: Mutex<State>

        init(seed: UInt64) {
            state = Mutex(State(generator: SeededGenerator(seed: seed)))
        }

        func note(accepted ids: [WakeID]) { state.withLock { $0.accepted.formUnion(ids) } }

        var accepted: Set<WakeID> { state.withLock { $0.accepted } }
        var sends: [Send] { state.withLock { $0.sends } }

        /// APNs' answer: mostly accepted, sometimes none, sometimes certainly not sent.
        func answer(_ claim: Claim) -> Result<PushOutcome, SendFailure> {
            state.withLock { state in
                let dice = state.generator.below(100)
                let answer =
                    dice < 90
                    ? Samples.accepted : dice < 96 ? Samples.unknown : Samples.notSent
                state.sends.append(
                    Send(
                        wake: claim.id, kind: claim.kind, device: claim.deviceToken,
                        payload: claim.payload, mayHaveArrived: dice < 96))
                return answer
            }
        }

        func below(_ bound: Int) -> Int { state.withLock { $0.generator.below(bound) } }
    }

    /// A gateway with its own store, way to the database and readers.
    private final class Member: Sendable {
        let store: PostgreSQLWakeStore
        let gateway: Gateway
        let proxy: CuttingProxy?
        private let run: Task<Void, any Error>

        init(url: String, proxy: CuttingProxy?, skew: Int64, _ history: History) async throws {
            var settings = PostgreSQLWakeStore.Settings()
            settings.heartbeatSeconds = 0.2
            settings.takeoverSeconds = 2
            settings.machineClock = { MachineTime.milliseconds + skew }
            store = try await PostgreSQLWakeStore.open(url: url, settings: settings)
            self.proxy = proxy
            var limits = GatewayLimits()
            limits.leaseSeconds = 4
            limits.leaseMarginSeconds = 2
            limits.drainSeconds = 1
            var configuration = GatewayConfiguration(apps: [Samples.app, Samples.otherApp])
            configuration.sendSeconds = 2
            let gateway = Gateway(
                configuration: configuration, store: store,
                sender: ScriptedSender { history.answer($0) },
                clock: SkewedClock(store: store, skew: skew), limits: limits, logger: .silent)
            self.gateway = gateway
            run = Task { try await gateway.run() }
        }

        /// Ends the gateway, and leaves it its store, from which readers take the rest.
        func stop() async throws {
            run.cancel()
            try await run.value
        }

        func close() async {
            await store.close()
            proxy?.stop()
        }
    }

    private enum MachineTime {
        static var milliseconds: Int64 { SystemGatewayClock().now().millisecondsSinceEpoch }
    }

    /// The database's time, by a machine whose clock is wrong.
    private struct SkewedClock: GatewayClock {
        let store: PostgreSQLWakeStore
        let skew: Int64
        private let machine = SystemGatewayClock()

        init(store: PostgreSQLWakeStore, skew: Int64) {
            self.store = store
            self.skew = skew
        }

        private var correction: Int64 { skew + (store.clockOffsetMilliseconds ?? 0) }

        func now() -> WallInstant { machine.now().advanced(byMilliseconds: correction) }

        func sleep(until instant: WallInstant) async throws {
            try await machine.sleep(until: instant.advanced(byMilliseconds: -correction))
        }

        func millisecondsSinceBoot() -> Int64? { machine.millisecondsSinceBoot() }
    }

    // MARK: The test

    @Test(
        "No call rings twice, no wake is lost, no device gets more than its budget",
        arguments: Trouble.allCases)
    func history(_ trouble: Trouble) async throws {
        let server = try PostgreSQLServer(
            trouble == .failover ? ["max_wal_senders": "4", "hot_standby": "on"] : [:])
        let database = try server.makeDatabase()
        try await PostgreSQLWakeStore.migrate(url: server.uri(database))
        var standby: PostgreSQLServer?
        if trouble == .failover {
            let made = try PostgreSQLServer(standbyOf: server)
            try server.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
            try server.execute("SELECT pg_reload_conf()")
            let isSynchronous = try await comesTrue {
                try server.execute("SELECT sync_state FROM pg_stat_replication") == "sync"
            }
            try #require(isSynchronous)
            standby = made
        }
        let history = History(seed: 7)
        var members: [Member] = []
        for place in 0..<Self.gatewayCount {
            var proxy: CuttingProxy?
            var url = server.uri(database)
            if let standby {
                url = url.replacing(
                    ":\(server.port)/", with: ":\(server.port),127.0.0.1:\(standby.port)/")
            } else {
                let made = try CuttingProxy(to: server.port)
                url = server.uri(database, port: made.port)
                proxy = made
            }
            let skew = trouble == .wrongClock ? Int64(place - 1) * 3_600_000 : 0
            members.append(try await Member(url: url, proxy: proxy, skew: skew, history))
        }
        var readers: [Task<[OutcomeEvent], Never>] = []
        for member in members {
            let events = try #require(try await member.gateway.events())
            readers.append(Task { await events.reduce(into: []) { $0.append($1) } })
        }
        let all = members
        for round in 0..<Self.roundCount {
            async let sent: Void = send(round, all, history)
            try await befall(trouble, round, members, server, standby, database)
            await sent
        }
        let last = members[0]
        var isOver = false
        for _ in 0..<5 where !isOver {
            isOver = try await comesTrue {
                (try? await last.store.perform(CountWakes()).unended) == 0
            }
        }
        #expect(isOver, "Some wakes never ended.")
        let feed = try await Self.feed(of: last.store)
        try await check(history, feed, last.store)
        for member in members { try await member.stop() }
        for reader in readers {
            let events = await reader.value
            #expect(events == feed)
        }
        for member in members { await member.close() }
        withExtendedLifetime(standby) {}
    }

    /// Wakes and calls of one round, to all gateways together: the same calls at two of them.
    private func send(_ round: Int, _ members: [Member], _ history: History) async {
        await withTaskGroup(of: Void.self) { group in
            for (place, member) in members.enumerated() {
                // The next gateway is asked for the same calls.
                let calls = (0..<10).map { UInt64(1_000 * round + 100 * (place / 2) + $0) }
                let devices = (0..<30).map { _ in UInt64(history.below(40)) }
                group.addTask {
                    let soon = Expiration.at(member.gateway.now.advanced(bySeconds: 120))
                    var inquiries = calls.map { call in
                        Inquiry(
                            Samples.request(.voip, device: 10_000 + call, call: call),
                            environment: nil)
                    }
                    inquiries += devices.map { device in
                        Inquiry(
                            Samples.request(device: device, expiration: soon), environment: nil)
                    }
                    let answers = await member.gateway.accept(inquiries)
                    history.note(accepted: answers.compactMap(\.admittedID))
                }
            }
        }
    }

    private func befall(
        _ trouble: Trouble, _ round: Int, _ members: [Member], _ server: PostgreSQLServer,
        _ standby: PostgreSQLServer?, _ database: String
    ) async throws {
        switch trouble {
        case .none, .wrongClock: break
        case .cutCommits:
            let cuts: [CuttingProxy.Cut] = [.beforeCommit, .inCommit, .afterCommit, .now]
            for (place, member) in members.enumerated() {
                member.proxy?.cut(cuts[(round + place) % cuts.count])
            }
        case .frozenGateway:
            guard round % 3 == 1 else { return }
            members[round % members.count].proxy?.isFrozen = true
            // Longer than its leases last, and than the others wait for a sign of life.
            try await elapse(.seconds(6))
            members[round % members.count].proxy?.isFrozen = false
        case .terminatedBackends:
            try server.execute(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE pid <> pg_backend_pid() AND datname LIKE 'test%'
                """)
        case .crashes:
            guard round % 2 == 1 else { return }
            server.stop(.immediate)
            try server.start()
        case .fullDisk:
            // As the server answers then; a disk of a size of one's own is root's to make.
            guard round % 2 == 1 else { return }
            try server.execute(
                """
                CREATE OR REPLACE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN RAISE EXCEPTION 'no space left on device' USING ERRCODE = '53100'; END $$;
                CREATE TRIGGER no_room BEFORE INSERT OR UPDATE ON rouse.wake
                    FOR EACH STATEMENT EXECUTE FUNCTION no_room()
                """, in: database)
            try await elapse(.milliseconds(500))
            let answer = await members[0].gateway.accept(Samples.request(device: 99_999))
            #expect(answer.admittedID == nil)
            try server.execute("DROP TRIGGER no_room ON rouse.wake", in: database)
        case .failover:
            guard round == Self.roundCount / 2 else { return }
            server.stop(.immediate)
            try standby?.promote()
        }
    }

    // MARK: Checks

    private static func feed(of store: PostgreSQLWakeStore) async throws -> [OutcomeEvent] {
        var feed: [OutcomeEvent] = []
        var cursor: Int64 = 0
        while true {
            let page = try await store.perform(ReadOutcomes(after: cursor, limit: 500))
            feed += page.events
            cursor = page.cursor
            guard page.isFull else { return feed }
        }
    }

    private func check(
        _ history: History, _ feed: [OutcomeEvent], _ store: PostgreSQLWakeStore
    ) async throws {
        let accepted = history.accepted
        let sends = history.sends
        #expect(accepted.count > 100, "Hardly anything was admitted.")
        // Nothing answered is lost, and each wake ends once: some were admitted without an answer.
        let ended = Set(feed.map(\.id))
        #expect(ended.count == feed.count)
        #expect(accepted.subtracting(ended).isEmpty)
        let count = try await store.perform(RecountWakes())
        #expect(count.isConserved && count.accepted == feed.count)
        #expect(zip(feed, feed.dropFirst()).allSatisfy { $0.cursor < $1.cursor })
        // What was sent was stored, whoever got the answer.
        #expect(Set(sends.map(\.wake)).isSubset(of: ended))
        // No phone rings twice for one call.
        let rings = Dictionary(
            grouping: sends.filter { $0.kind == .voip && $0.mayHaveArrived }, by: \.payload)
        #expect(rings.values.allSatisfy { $0.count == 1 })
        // All that happened fits into one spacing: a device has one background push, which may be
        // sent again under its own id.
        let pushes = Dictionary(
            grouping: sends.filter { $0.kind == .background && $0.mayHaveArrived }, by: \.device)
        #expect(pushes.values.allSatisfy { Set($0.map(\.wake)).count == 1 })
        // What APNs accepted and no gateway took over is reported as sent.
        let sentEnds = feed.filter { if case .sent = $0.end { true } else { false } }.map(\.id)
        #expect(Set(sentEnds).isSubset(of: Set(sends.map(\.wake))))
    }
}
