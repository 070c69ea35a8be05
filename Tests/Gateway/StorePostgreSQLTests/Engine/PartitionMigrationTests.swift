// SPDX-License-Identifier: Apache-2.0

import PostgreSQLTestKit
import Testing

@testable import StorePostgreSQL

@Suite("Partitions of a shared store", .timeLimit(.minutes(10)))
struct PartitionMigrationTests {
    /// Makes the tables of version 1, with a wake and an attempt of each of these numbers.
    private func makeFirstVersion(
        _ server: PostgreSQLServer, _ database: String, _ numbers: [String]
    ) throws {
        try server.execute(
            """
            CREATE SCHEMA rouse;
            CREATE TABLE rouse.schema_version (version integer PRIMARY KEY,
                migrated_at timestamptz NOT NULL DEFAULT clock_timestamp());
            INSERT INTO rouse.schema_version VALUES (1);
            """, in: database)
        try server.execute(
            StoreTables.migrations[0].joined(separator: "\n"), in: database)
        for number in numbers {
            try server.execute(
                """
                INSERT INTO rouse.wake SELECT \(number), 1, 7, 0, 3, 4, 5, 0, '\\x01', '\\x02';
                INSERT INTO rouse.attempt SELECT \(number), 1, 2, 3, 'abandoned';
                """, in: database)
        }
    }

    private static let now = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint << 12"
    private static let later = "(extract(epoch FROM clock_timestamp()) * 2000)::bigint << 12"

    private func partitions(_ server: PostgreSQLServer, _ database: String) throws -> [String] {
        try server.execute(
            """
            SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
            WHERE relkind = 'r' AND inhparent IN ('rouse.wake'::regclass, 'rouse.attempt'::regclass)
            ORDER BY relname
            """, in: database
        ).split(separator: "\n").map(String.init)
    }

    @Test("A new store has those of today and the next days, and one for all others")
    func fresh() async throws {
        let server = try PostgreSQLServer.running()
        let database = try server.makeDatabase()
        try await PostgreSQLWakeStore.migrate(url: server.uri(database))
        let names = try partitions(server, database)
        #expect(names.count == 10 && names.contains("wake_default"))
        #expect(names.contains("attempt_default") && !names.contains { $0.contains("until") })
        #expect(
            try server.execute(
                "SELECT DISTINCT reloptions FROM pg_class WHERE relname ~ '^wake_(2|d)' "
                    + "AND relkind = 'r'", in: database)
                == "{fillfactor=60,autovacuum_vacuum_scale_factor=0.02,"
                + "autovacuum_vacuum_insert_scale_factor=0.05}")
        // Again: nothing changes.
        try await PostgreSQLWakeStore.migrate(url: server.uri(database))
        #expect(try partitions(server, database) == names)
    }

    @Test("The rows of an earlier version become one, without being written again")
    func earlier() async throws {
        let server = try PostgreSQLServer.running()
        let database = try server.makeDatabase()
        try makeFirstVersion(
            server, database, ["4096", "(1 << 30)", Self.now, Self.later])
        let file = try server.execute(
            "SELECT pg_relation_filenode('rouse.wake')", in: database)
        #expect(try await PostgreSQLWakeStore.migrate(url: server.uri(database)) == 1)
        let names = try partitions(server, database)
        let until = try #require(names.first { $0.hasPrefix("wake_until_") })
        #expect(
            try server.execute(
                "SELECT pg_relation_filenode('rouse.\(until)')", in: database) == file)
        #expect(
            try server.execute(
                """
                SELECT tableoid::regclass || ' ' || count(*) FROM rouse.wake GROUP BY tableoid
                UNION ALL
                SELECT tableoid::regclass || ' ' || count(*) FROM rouse.attempt GROUP BY tableoid
                ORDER BY 1
                """, in: database
            ).split(separator: "\n").map(String.init) == [
                "attempt_default 1", "\(until) 3".replacing("wake", with: "attempt"),
                "wake_default 1", "\(until) 3",
            ])
        #expect(try server.execute("SELECT count(*) FROM rouse.wakes", in: database) == "4")
        // Tomorrow has its own.
        #expect(names.filter { $0.wholeMatch(of: /wake_\d{8}/) != nil }.count == 3)
    }

    @Test("A day of which rows stand elsewhere gets none, and the others do")
    func occupied() async throws {
        let server = try PostgreSQLServer.running()
        let database = try server.makeDatabase()
        try await PostgreSQLWakeStore.migrate(url: server.uri(database))
        try server.execute(
            """
            INSERT INTO rouse.wake SELECT rouse.first_number(101), 1, 7, 0, 3, 4, 5, 0, '\\x01';
            SELECT rouse.make_partitions(100, 102);
            """, in: database)
        let names = try partitions(server, database)
        #expect(names.contains("wake_19700411") && names.contains("attempt_19700411"))
        #expect(!names.contains("wake_19700412") && !names.contains("attempt_19700412"))
        #expect(names.contains("wake_19700413"))
    }
}
