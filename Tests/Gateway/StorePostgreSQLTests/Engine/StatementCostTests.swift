// SPDX-License-Identifier: Apache-2.0

import PostgreSQLTestKit
import Testing
import WakeModel

@testable import Gateway
@testable import StorePostgreSQL

@Suite("What statements cost", .timeLimit(.minutes(10)))
struct StatementCostTests {
    /// 30 000 wakes that ended over nine days.
    private static let ended = """
        SELECT rouse.make_partitions(today - 9, today - 1)
        FROM (SELECT floor(extract(epoch FROM clock_timestamp()) / 86400)::bigint AS today) AS c;
        INSERT INTO rouse.wake
        SELECT ((extract(epoch FROM clock_timestamp()) * 1000)::bigint - n * 25900) << 12,
            1, n, 0, NULL, 5, NULL, 2, decode(repeat('cd', 70), 'hex'), NULL
        FROM generate_series(1, 30000) AS n;
        """
    /// As many that wait, and a device for each of those.
    private static let waiting = """
        INSERT INTO rouse.wake
        SELECT ((extract(epoch FROM clock_timestamp()) * 1000)::bigint + n) << 12, 1, n, 0, 1,
            10000 + n, 100000 + n, 0, decode(repeat('cd', 70), 'hex'), decode('ef', 'hex')
        FROM generate_series(1, 30000) AS n;
        INSERT INTO rouse.device
        SELECT device, 1, 1, number, number, NULL, NULL, NULL, 1,
            decode(repeat('ab', 32), 'hex'), decode(repeat('ab', 100), 'hex'), NULL
        FROM rouse.wake WHERE state = 0;
        """

    /// The most pages that a statement for a few rows may look at. A look into each of the
    /// partitions is some hundred; a walk through the rows that wait or have ended is thousands.
    private static let maximumPages = 500

    @Test("No statement for a few rows reads what waits or has ended", arguments: [true, false])
    func independence(doSomeWait: Bool) async throws {
        let server = try PostgreSQLServer.running()
        let database = try server.makeDatabase()
        let url = server.uri(database)
        try await PostgreSQLWakeStore.migrate(url: url)
        try server.execute(Self.ended + (doSomeWait ? Self.waiting : ""), in: database)
        try server.execute("VACUUM ANALYZE rouse.wake, rouse.device", in: database)
        let newest = try #require(
            Int64(try server.execute("SELECT max(number) FROM rouse.wake", in: database)))
        let pool = try PostgreSQLPool(ConnectionSettings(uri: url), writers: 1, readers: 0)
        let session = try await pool.take(.writer, within: .seconds(20)).get()
        var costs: [String: Int] = [:]
        for query in Self.queries(newest) {
            let plan = try await Self.plan(of: query, on: session)
            #expect(
                !plan.contains {
                    $0.contains("Seq Scan on wake") || $0.contains("Gather")
                },
                "\(query.statement.sql)")
            let buffers = plan.first { $0.contains("Buffers: shared") } ?? ""
            let pages = buffers.matches(of: /=(\d+)/).compactMap { Int($0.1) }.reduce(0, +)
            costs[query.statement.sql] = pages
            #expect(pages <= Self.maximumPages, "\(pages): \(query.statement.sql)")
        }
        #expect(costs.count >= 17)
        pool.giveBack(session)
        await pool.shutDown(within: .seconds(5))
    }

    /// In a partition that begins with the day the server has not counted yet what is there, and
    /// takes it for small; plans for that compared each row with each.
    @Test("Many rows are found one by one in a table that was not analyzed yet")
    func freshTable() async throws {
        let server = try PostgreSQLServer.running()
        let database = try server.makeDatabase()
        let url = server.uri(database)
        try await PostgreSQLWakeStore.migrate(url: url)
        let count = 500
        try server.execute(
            """
            INSERT INTO rouse.wake
            SELECT ((extract(epoch FROM now()) * 1000)::bigint << 12) + n,
                1, n, 0, NULL, 5, NULL, 1, decode(repeat('cd', 70), 'hex'), decode('ef', 'hex')
            FROM generate_series(1, \(2 * count)) AS n
            """, in: database)
        let first = try #require(
            Int64(try server.execute("SELECT min(number) FROM rouse.wake", in: database)))
        let numbers = (0..<count).map { first + Int64($0) * 2 }
        let nothing = [Int64?](repeating: nil, count: count)
        let rest = [[UInt8]](repeating: [0xcd], count: count)
        var reads = ReadSet()
        for number in numbers { reads.wakes[number] = [.payload] }
        var plan = LoadPlan()
        plan.add(reads, fresh: FreshLeases())
        let settle = Query(
            WritePlan.wakes, .int8s(numbers), .int8s(numbers.map { _ in 1 }),
            .int2s(numbers.map { _ in 2 }), .optionalInt8s(nothing), .optionalInt8s(nothing),
            .optionalInt8s(nothing), .int2s(numbers.map { _ in 2 }), .bytesArray(rest),
            .bytesArray(nothing.map { _ in nil }), .int8(Int64(count)))
        let pool = try PostgreSQLPool(ConnectionSettings(uri: url), writers: 1, readers: 0)
        let session = try await pool.take(.writer, within: .seconds(20)).get()
        for query in plan.queries + [settle] {
            let plan = try await Self.plan(of: query, on: session)
            let compared = plan.compactMap { $0.firstMatch(of: /Removed by Join Filter: (\d+)/) }
                .compactMap { Int($0.1) }.reduce(0, +)
            #expect(compared <= count, "\(compared): \(plan)")
        }
        pool.giveBack(session)
        await pool.shutDown(within: .seconds(5))
    }

    @Test("A page of the feed of outcomes opens no more transactions than it shows")
    func feedPage() async throws {
        let server = try PostgreSQLServer.running()
        let database = try server.makeDatabase()
        let url = server.uri(database)
        try await PostgreSQLWakeStore.migrate(url: url)
        try server.execute(
            """
            INSERT INTO rouse.outcome
            SELECT n * 2000, (SELECT array_agg(n * 2000 + k) FROM generate_series(1, 1000) AS k)
            FROM generate_series(1, 600) AS n;
            ANALYZE rouse.outcome
            """, in: database)
        var reads = ReadSet()
        reads.scans = [.outcomes(after: 3_500, limit: 500)]
        var plan = LoadPlan()
        plan.add(reads, fresh: FreshLeases())
        let pool = try PostgreSQLPool(ConnectionSettings(uri: url), writers: 1, readers: 0)
        let session = try await pool.take(.writer, within: .seconds(20)).get()
        let look = try #require(plan.queries.first { $0.statement.sql.contains("rouse.outcome") })
        let result = try await session.run([look], transaction: .write).results()[0]
        #expect(result.rowCount == 500)
        let lines = try await Self.plan(of: look, on: session)
        let scan = try #require(lines.first { $0.contains("Function Scan on") })
        let numbers = try #require(scan.firstMatch(of: /rows=(\d+).* loops=(\d+)/))
        let opened = try #require(Int(numbers.2))
        #expect(opened <= 3, "\(lines)")
        pool.giveBack(session)
        await pool.shutDown(within: .seconds(5))
    }

    /// Guards against a version of PostgreSQL that finds a way to keep it in memory.
    @Test("The trial of a full disk writes a megabyte to it")
    func room() async throws {
        let server = try PostgreSQLServer.running()
        let pool = try PostgreSQLPool(
            ConnectionSettings(uri: server.uri(try server.makeDatabase())), writers: 1, readers: 0)
        let session = try await pool.take(.writer, within: .seconds(20)).get()
        let (memory, kept) = (WritePlan.room[0], WritePlan.room[1])
        let look = Statement("EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) \(kept.sql)")
        let result = try await session.run([Query(memory), Query(look)], transaction: .write)
            .results()[1]
        let lines = (0..<result.rowCount).compactMap { result.string($0, 0) }
        let pages =
            lines.compactMap { $0.firstMatch(of: /temp .*written=(\d+)/) }
            .compactMap { Int($0.1) }.max() ?? 0
        #expect(pages >= 128, "\(lines)")
        pool.giveBack(session)
        await pool.shutDown(within: .seconds(5))
    }

    @Test("Where temp_file_limit forbids such a file, the trial passes without one")
    func noRoomAllowed() async throws {
        let server = try PostgreSQLServer.running()
        let database = try server.makeDatabase()
        try await PostgreSQLWakeStore.migrate(url: server.uri(database))
        for limit in ["0", "1MB", "2MB", "-1"] {
            try server.execute(
                "ALTER DATABASE \(database) SET temp_file_limit = '\(limit)'", in: database)
            let store = try await PostgreSQLWakeStore.open(url: server.uri(database))
            await #expect(throws: Never.self, "temp_file_limit = \(limit)") {
                try await store.perform(TryWriting())
            }
            await store.close()
        }
    }

    /// How the server carries out a query, line by line.
    private static func plan(of query: Query, on session: Session) async throws -> [String] {
        let statement = Statement(
            "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, COSTS OFF) \(query.statement.sql)",
            query.statement.parameterTypes)
        let result = try await session.run([Query(statement, of: query)], transaction: .write)
            .results()[0]
        return (0..<result.rowCount).map { result.string($0, 0) ?? "" }
    }

    /// Every look that a gateway takes, for a few rows.
    private static func queries(_ newest: Int64) -> [Query] {
        let now = WallInstant(millisecondsSinceEpoch: 10_005)
        var reads = ReadSet()
        reads.wakes = [newest: [.payload, .device]]
        reads.chains = [newest: 5]
        reads.due = [
            ReadSet.DueScan(
                shares: (1...4).map { ReadSet.DueScan.Share(queue: $0, limit: 5) }, now: now,
                limit: 5)
        ]
        reads.scans = [
            .overdue(at: now, limit: 5), .lapsed(at: now, limit: 5),
            .wakes(before: newest, limit: 5), .feedback(after: 0, limit: 5, queue: nil),
            .feedback(after: 0, limit: 5, queue: 1),
            .dueWebhooks(WebhookEndpointID(rawValue: 7), at: now, limit: 5),
        ]
        reads.keys = [[1]]
        reads.attempts = [newest]
        reads.feedback = [1]
        reads.webhooks = [1]
        reads.counters = [.accepted]
        reads.nextDue = [1, 2, 3, 4]
        var plan = LoadPlan()
        plan.add(reads, fresh: FreshLeases())
        plan.addDevices([30_000: true]) { _ in }
        return plan.queries + [
            QueueCache.query(after: QueueCache.Mark()),
            Query(StoreUpkeep.placeLeases, .int8s([newest])),
            Query(StoreUpkeep.recoverLeases),
            Query(WritePlan.removeDevices, .int8s([29_999])),
        ]
    }
}
