// SPDX-License-Identifier: Apache-2.0

import Gateway
import PostgreSQLTestKit
import Synchronization
import Testing

@testable import StorePostgreSQL

@Suite("What a database's server says of itself")
struct ServerFactsTests {
    struct Case: Sendable {
        let name: String
        let change: @Sendable (inout ServerFacts) -> Void
        let weight: DatabaseRemark.Weight?

        init(
            _ name: String, _ weight: DatabaseRemark.Weight?,
            _ change: @escaping @Sendable (inout ServerFacts) -> Void
        ) {
            self.name = name
            self.weight = weight
            self.change = change
        }
    }

    static let cases = [
        Case("PostgreSQL 12", .refused) { $0.version = 120_017 },
        Case("standby", .refused) { $0.isStandby = true },
        Case("rouse.wake", .refused) { $0.closedTables = "rouse.wake" },
        Case("LATIN1", .refused) { $0.encoding = "LATIN1" },
        Case("SQL_ASCII", nil) { $0.encoding = "SQL_ASCII" },
        Case("rouse.device", .refused) { $0.filteredTables = "rouse.device" },
        Case("partitions of new days", .warning) { $0.mayMakeTables = false },
        Case("fsync", .losesCommits) { $0.isFsyncOn = false },
        Case("synchronous_commit", .losesCommits) { $0.synchronousCommit = "off" },
        Case("synchronous_commit", .losesCommits) {
            $0.synchronousCommit = "local"
            $0.synchronousStandbys = "two"
        },
        // Without a standby it is as much as can be had.
        Case("local", nil) { $0.synchronousCommit = "local" },
        Case("remote_apply", nil) { $0.synchronousCommit = "remote_apply" },
        Case("2 hosts", .losesCommits) { $0.hostCount = 2 },
        Case("a synchronous standby", nil) {
            $0.hostCount = 2
            $0.standbyCount = 1
            $0.synchronousStandbys = "*"
        },
        Case("synchronous_standby_names", .warning) { $0.standbyCount = 1 },
        Case("full_page_writes", .warning) { $0.isFullPageWritesOn = false },
        Case("more than 5 s", .warning) { $0.clockOffset = 5_001 },
        Case("clock", .warning) { $0.clockOffset = -3_600_000 },
        Case("clock", nil) { $0.clockOffset = 5_000 },
        Case("temp_file_limit is 1 kB", .warning) { $0.temporaryByteLimit = 1_024 },
        Case("temp_file_limit", nil) { $0.temporaryByteLimit = 2_097_152 },
        Case("lock_timeout = 2s", .warning) { $0.missingSettings = "lock_timeout = 2s" },
    ]

    @Test("each fault has its remark, and no other one has", arguments: cases)
    func remarks(_ expected: Case) {
        var facts = ServerFacts()
        #expect(facts.remarks.isEmpty)
        expected.change(&facts)
        let remarks = facts.remarks
        #expect(remarks.map(\.weight) == (expected.weight.map { [$0] } ?? []))
        for remark in remarks {
            #expect("\(remark.problem) \(remark.cure)".contains(expected.name))
            #expect(remark.problem.hasSuffix(".") && !remark.cure.isEmpty)
        }
    }

    @Test("a name in the advice is one that SQL reads")
    func quotedNames() {
        var facts = ServerFacts()
        facts.role = "My \"role\""
        facts.database = "push-gateway"
        facts.synchronousCommit = "off"
        let cure = facts.remarks.first?.cure ?? ""
        #expect(
            cure.contains("ALTER ROLE \"My \"\"role\"\"\" IN DATABASE \"push-gateway\" SET"))
        #expect(ServerFacts.quoted("rouse") == "rouse")
    }

    @Suite("A real server", .timeLimit(.minutes(10)))
    struct Real {
        @Test("one whose answer is not whole is not taken for a good one")
        func nothingSaid() async throws {
            let pool = try TestPool()
            for sql in [
                "SELECT 1::bigint WHERE false",
                "SELECT 150000::bigint, 'a', 'b', true, NULL::boolean, 'on', '', 0::bigint, "
                    + "false, '', '', true, 0::bigint, 'UTF8', '', -1::bigint",
            ] {
                let result = try await pool.done(Query(Statement(sql)))[0]
                #expect(throws: StoreFailure.self) {
                    try ServerFacts(result, hostCount: 1, between: 0, and: 0)
                }
            }
            await pool.pool.shutDown(within: .seconds(5))
        }

        @Test("a role that may not see the tables is told so, by the doctor's look too")
        func noAccess() async throws {
            let server = try PostgreSQLServer.running()
            let database = try server.makeDatabase()
            try await PostgreSQLWakeStore.migrate(url: server.uri(database))
            try server.execute(
                "CREATE ROLE \(database)_blind LOGIN PASSWORD 'blind'", in: database)
            let url =
                "postgresql://\(database)_blind:blind@127.0.0.1:\(server.port)/\(database)"
            let failure = await #expect(throws: StoreFailure.self) {
                try await PostgreSQLWakeStore.open(url: url)
            }
            #expect(
                failure?.message.contains("the schema rouse") == true, "\(failure?.message ?? "")")
            let (version, remarks) = try await PostgreSQLWakeStore.survey(url: url)
            #expect(version == nil)
            #expect(remarks.first?.weight == .refused)
            // With the schema but not its tables, each of them is named.
            try server.execute("GRANT USAGE ON SCHEMA rouse TO \(database)_blind", in: database)
            let again = try await PostgreSQLWakeStore.survey(url: url).remarks
            #expect(again.first?.problem.contains("rouse.schema_version") == true)
        }

        @Test("a store is not opened where acknowledged commits may be lost, unless it may be")
        func refusal() async throws {
            let server = try PostgreSQLServer(["fsync": "off"])
            let database = try server.makeDatabase()
            let url = server.uri(database)
            try await PostgreSQLWakeStore.migrate(url: url)
            let failure = await #expect(throws: StoreFailure.self) {
                try await PostgreSQLWakeStore.open(url: url)
            }
            #expect(failure?.message.contains("fsync = on") == true)
            #expect(failure?.message.contains("store-accepts-loss: true") == true)

            var settings = PostgreSQLWakeStore.Settings()
            settings.acceptsLoss = true
            let notices = Mutex<[String]>([])
            let store = try await PostgreSQLWakeStore.open(url: url, settings: settings) { notice in
                notices.withLock { $0.append(notice) }
            }
            await store.close()
            #expect(notices.withLock { $0 }.filter { $0.hasPrefix("fsync is off") }.count == 1)
        }

        @Test("what it answers to the statement is read")
        func answers() async throws {
            let server = try PostgreSQLServer.running()
            let database = try server.makeDatabase()
            let url = server.uri(database)
            let before = try await PostgreSQLWakeStore.survey(url: url)
            #expect(before.version == 0)
            #expect(before.remarks.map(\.weight) == [.warning])
            #expect(before.remarks[0].problem.contains("lock_timeout = 2s"))
            #expect(!before.remarks[0].problem.contains("synchronous"))

            try await PostgreSQLWakeStore.migrate(url: url)
            let after = try await PostgreSQLWakeStore.survey(url: url)
            #expect(after.version == PostgreSQLWakeStore.schemaVersion)
            #expect(after.remarks == [])
            var wrong = PostgreSQLWakeStore.Settings()
            let machineClock = wrong.machineClock
            wrong.machineClock = { machineClock() - 3_600_000 }
            let ahead = try await PostgreSQLWakeStore.survey(url: url, settings: wrong)
            #expect(ahead.remarks.map(\.weight) == [.warning])
            #expect(ahead.remarks.first?.problem.contains("clock") == true)

            try server.execute("ALTER DATABASE \(database) SET synchronous_commit = off")
            let loose = try await PostgreSQLWakeStore.survey(url: url)
            #expect(loose.remarks.map(\.weight) == [.losesCommits])

            try server.execute(
                """
                ALTER DATABASE \(database) RESET synchronous_commit;
                ALTER DATABASE \(database) SET temp_file_limit = '1MB'
                """)
            let tight = try await PostgreSQLWakeStore.survey(url: url)
            #expect(tight.remarks.map(\.weight) == [.warning])
            #expect(tight.remarks[0].problem.contains("temp_file_limit is 1024 kB"))
        }

        @Test("a role that can make no partitions is warned of, and a member of the owner is not")
        func ownership() async throws {
            let server = try PostgreSQLServer.running()
            let database = try server.makeDatabase()
            let role = "\(database)_clerk"
            try await PostgreSQLWakeStore.migrate(url: server.uri(database))
            try server.execute(
                """
                CREATE ROLE \(database)_owner;
                GRANT \(database)_owner TO \(PostgreSQLServer.user);
                GRANT CREATE ON DATABASE \(database) TO \(database)_owner;
                ALTER SCHEMA rouse OWNER TO \(database)_owner;
                DO $$ DECLARE name text; BEGIN
                    FOR name IN SELECT oid::regclass FROM pg_class
                        WHERE relnamespace = 'rouse'::regnamespace AND relkind IN ('r', 'p', 'v')
                    LOOP EXECUTE 'ALTER TABLE ' || name || ' OWNER TO \(database)_owner';
                    END LOOP;
                END $$;
                CREATE ROLE \(role) LOGIN PASSWORD 'clerk';
                GRANT USAGE ON SCHEMA rouse TO \(role);
                GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA rouse TO \(role)
                """, in: database)
            let url = "postgresql://\(role):clerk@127.0.0.1:\(server.port)/\(database)"
            // As far as it goes without them, it goes on.
            try await PostgreSQLWakeStore.open(url: url).close()
            let remark = try #require(
                try await PostgreSQLWakeStore.survey(url: url).remarks.first {
                    $0.problem.contains("partitions of new days")
                })
            #expect(remark.weight == .warning)
            #expect(remark.cure.contains("the role that made the tables"))

            try server.execute("GRANT \(database)_owner TO \(role)")
            try await PostgreSQLWakeStore.migrate(url: url)
            let (version, remarks) = try await PostgreSQLWakeStore.survey(url: url)
            #expect(version == PostgreSQLWakeStore.schemaVersion && remarks == [])
            try await PostgreSQLWakeStore.open(url: url).close()
        }

        @Test("a database that cannot hold every letter, or hides rows, is refused in words")
        func lettersAndRows() async throws {
            let server = try PostgreSQLServer.running()
            let latin = try server.makeDatabase() + "_latin"
            try server.execute(
                "CREATE DATABASE \(latin) TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'")
            try await PostgreSQLWakeStore.migrate(url: server.uri(latin))
            let failure = await #expect(throws: StoreFailure.self) {
                try await PostgreSQLWakeStore.open(url: server.uri(latin))
            }
            #expect(failure?.message.contains("encoding is LATIN1") == true)

            let hiding = try server.makeDatabase()
            let owner = "\(hiding)_owner"
            try server.execute(
                """
                CREATE ROLE \(owner) LOGIN PASSWORD 'owner';
                GRANT CREATE ON DATABASE \(hiding) TO \(owner)
                """)
            let url = "postgresql://\(owner):owner@127.0.0.1:\(server.port)/\(hiding)"
            try await PostgreSQLWakeStore.migrate(url: url)
            try await PostgreSQLWakeStore.open(url: url).close()
            // Only forced security is in its owner's way.
            try server.execute(
                "ALTER TABLE rouse.device ENABLE ROW LEVEL SECURITY", in: hiding)
            try await PostgreSQLWakeStore.open(url: url).close()
            try server.execute("ALTER TABLE rouse.device FORCE ROW LEVEL SECURITY", in: hiding)
            let hidden = await #expect(throws: StoreFailure.self) {
                try await PostgreSQLWakeStore.open(url: url)
            }
            #expect(hidden?.message.contains("hides rows of rouse.device") == true)
        }

        @Test("a role that may not write the tables is told which")
        func privileges() async throws {
            let server = try PostgreSQLServer.running()
            let database = try server.makeDatabase()
            try await PostgreSQLWakeStore.migrate(url: server.uri(database))
            try server.execute(
                """
                CREATE ROLE \(database)_guest LOGIN PASSWORD 'guest';
                GRANT USAGE ON SCHEMA rouse TO \(database)_guest;
                GRANT SELECT ON ALL TABLES IN SCHEMA rouse TO \(database)_guest
                """, in: database)
            let url =
                "postgresql://\(database)_guest:guest@127.0.0.1:\(server.port)/\(database)"
            let failure = await #expect(throws: StoreFailure.self) {
                try await PostgreSQLWakeStore.open(url: url)
            }
            #expect(failure?.message.contains("rouse.wake") == true, "\(failure?.message ?? "")")
        }
    }
}
