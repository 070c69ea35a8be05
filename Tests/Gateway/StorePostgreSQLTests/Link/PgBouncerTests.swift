// SPDX-License-Identifier: Apache-2.0

import PostgreSQLTestKit
import Testing

@testable import StorePostgreSQL

@Suite("PgBouncer", .timeLimit(.minutes(10)))
struct PgBouncerTests {
    /// In transaction mode, with fewer connections to the server than clients. Debian 12's version
    /// gives clients each other's connections with each other's prepared statements.
    @Test("several sessions take turns on fewer connections, with statements of their own")
    func transactionMode() async throws {
        let server = try PostgreSQLServer.running()
        let bouncer = try PgBouncer(to: server, poolSize: 2)
        let test = try TestPool(port: bouncer.port, writers: 6)
        try await test.done(Query("CREATE TABLE one (writer int8, value int8, UNIQUE (value))"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<6 {
                group.addTask {
                    for round in 0..<30 {
                        // Statements of which each session has some that the others have not.
                        let insert = Statement(
                            "INSERT INTO one SELECT $1 + \(writer % 3), $2", .int8, .int8)
                        let value = Int64(writer * 1000 + round)
                        let results = try await test.done(
                            Query(insert, .int8(Int64(-(writer % 3))), .int8(value)),
                            Query(Statement("SELECT $1::int8", .int8), .int8(value)))
                        #expect(results[0].affectedRowCount == 1)
                        #expect(results[1].int64(0, 0) == value)
                        let session = try await test.writer()
                        let refused = await session.run(
                            [Query(insert, .int8(0), .int8(value))], transaction: .write)
                        #expect(refused.refusal?.state == .uniqueViolation)
                        test.pool.giveBack(session)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try test.execute("SELECT count(*), sum(writer) FROM one") == "180|0")
        await test.pool.shutDown(within: .seconds(5))
    }

    @Test("what a role is given holds behind it, too")
    func roleSettings() async throws {
        let server = try PostgreSQLServer.running()
        let bouncer = try PgBouncer(to: server, poolSize: 2)
        let database = try server.makeDatabase()
        // Not behind it: a connection that is open keeps what it has.
        try await PostgreSQLWakeStore.migrate(url: server.uri(database))
        let pool = try PostgreSQLPool(
            ConnectionSettings(
                uri: server.uri(database, port: bouncer.port), variable: { _ in nil }),
            writers: 0, readers: 1)
        let version = try Int(server.execute("SHOW server_version_num")) ?? 0
        for setting in RoleSetting.all
        where setting.name != "transaction_timeout" || version >= 170_000 {
            let outcome = try await pool.run([Query("SHOW \(setting.name)")]).get()
            #expect(outcome.results?[0].string(0, 0) == setting.value)
        }
        await pool.shutDown(within: .seconds(5))
    }

    @Test("a pooler that ends connections to the server loses a run, not the pool")
    func serverEnds() async throws {
        let server = try PostgreSQLServer.running()
        let bouncer = try PgBouncer(to: server, poolSize: 1)
        let test = try TestPool(port: bouncer.port)
        let session = try await test.writer()
        async let outcome = session.run([Query("SELECT pg_sleep(31)")], transaction: .write)
        while try test.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%sleep(31)%'"
                + " AND datname = current_database() AND pid <> pg_backend_pid()") == ""
        { await Task.yield() }
        #expect(await outcome.doubt == true)
        test.pool.giveBack(session)
        #expect(await (try await test.writer()).run([Query("SELECT 1")]).results != nil)
        await test.pool.shutDown(within: .seconds(5))
    }
}
