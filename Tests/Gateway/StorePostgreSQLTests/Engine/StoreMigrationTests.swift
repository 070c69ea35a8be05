// SPDX-License-Identifier: Apache-2.0

import Gateway
import PostgreSQLTestKit
import Testing

@testable import StorePostgreSQL

@Suite("Making a shared store's tables", .timeLimit(.minutes(10)))
struct StoreMigrationTests {
    @Test("the role has its settings in this database alone, again and again")
    func roleSettings() async throws {
        let server = try PostgreSQLServer.running()
        let database = try server.makeDatabase()
        let other = try server.makeDatabase()
        for _ in 0..<2 {
            try await PostgreSQLWakeStore.migrate(url: server.uri(database))
            #expect(try server.execute("SHOW lock_timeout", in: database) == "2s")
            #expect(try server.execute("SHOW enable_seqscan", in: database) == "off")
        }
        #expect(try server.execute("SHOW lock_timeout", in: other) == "0")
    }

    /// Guards against the role's own limits of time ending a migration that waits or takes long.
    @Test("one that waits for another is not ended by the limits that the role has")
    func patience() async throws {
        let server = try PostgreSQLServer.running()
        let database = try server.makeDatabase()
        let url = server.uri(database)
        try await PostgreSQLWakeStore.migrate(url: url)
        try server.execute(
            "ALTER ROLE rouse IN DATABASE \(database) SET lock_timeout = '20ms'", in: database)
        let pool = try PostgreSQLPool(ConnectionSettings(uri: url), writers: 1, readers: 0)
        let holder = try await pool.take(.writer, within: .seconds(20)).get()
        _ = await holder.run([
            Query(Statement("SELECT pg_advisory_lock(\(StoreMigration.lock))"))
        ])
        async let second = PostgreSQLWakeStore.migrate(url: url)
        let waits = """
            SELECT count(*) FROM pg_stat_activity WHERE datname = '\(database)'
                AND wait_event = 'advisory' AND now() - query_start > interval '200 ms'
            """
        let end = ContinuousClock.now + .seconds(20)
        while try server.execute(waits) != "1", ContinuousClock.now < end { await Task.yield() }
        pool.giveBack(holder)
        await pool.shutDown(within: .seconds(5))
        #expect(try await second == PostgreSQLWakeStore.schemaVersion)
        #expect(try server.execute("SHOW lock_timeout", in: database) == "2s")
    }

    @Test("a gateway of an earlier version writes nothing from then on, and says why")
    func gatewayOfEarlierVersion() async throws {
        let server = try PostgreSQLServer.running()
        let database = try server.makeDatabase()
        // Version 4, with a writer.
        try server.execute(
            """
            CREATE SCHEMA rouse;
            CREATE TABLE rouse.schema_version (version integer PRIMARY KEY,
                migrated_at timestamptz NOT NULL DEFAULT clock_timestamp());
            INSERT INTO rouse.schema_version VALUES (1), (2), (3), (4);
            """, in: database)
        for statements in StoreTables.migrations.prefix(4) {
            try server.execute(statements.joined(separator: "\n"), in: database)
        }
        try server.execute(
            """
            INSERT INTO rouse.writer (slot, gateway, floor, last_number) VALUES (0, 'old', 0, 0)
            """, in: database)
        let url = server.uri(database)
        #expect(try await PostgreSQLWakeStore.migrate(url: url) == 4)
        let writers = "SELECT count(*) FROM rouse.writer WHERE NOT ended"
        #expect(try server.execute(writers, in: database) == "0")

        // This program's own version is the earlier one now.
        let store = try await PostgreSQLWakeStore.open(url: url)
        try server.execute(
            """
            INSERT INTO rouse.schema_version VALUES (\(PostgreSQLWakeStore.schemaVersion + 1));
            UPDATE rouse.writer SET ended = true;
            """, in: database)
        let failure = await #expect(throws: StoreFailure.self) {
            try await store.perform(TryWriting())
        }
        #expect(failure?.message.contains("another version") == true, "\(failure.debugDescription)")
        #expect(failure?.cause?.contains("Use the newer program") == true)
        #expect(try server.execute(writers, in: database) == "0")
        await store.close()
    }

    @Test("a writer of an earlier version is not heard any more")
    func earlierWriters() async throws {
        let server = try PostgreSQLServer.running()
        let database = try server.makeDatabase()
        try await PostgreSQLWakeStore.migrate(url: server.uri(database))
        #expect(throws: (any Error).self) {
            try server.execute("SELECT rouse.expect_writer(1)", in: database)
        }
        try server.execute("SELECT rouse.require_writer(1)", in: database)
    }
}
