// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayTestKit
import PostgreSQLTestKit
import StorePostgreSQL
import StoreTestKit
import Testing

@Suite(
    "A shared store on a full disk", .enabled(if: SmallDisk.canMount), .timeLimit(.minutes(10)))
struct SharedDiskTests {
    /// Guards against a readiness that ends with a write which needs no room, for a new wake would
    /// be refused a moment later; and against a trial that fails, or proves nothing, for a role
    /// that makes no tables.
    @Test("A trial finds room when a new wake does, whatever the role may do")
    func trial() async throws {
        let disk = try SmallDisk(kibibytes: 40 * 1_024)
        defer { disk.remove() }
        // It ends before its disk is removed.
        let server = try PostgreSQLServer()
        let database = try server.makeDatabase(in: disk.folder)
        try await PostgreSQLWakeStore.migrate(url: server.uri(database))
        try server.execute(
            """
            REVOKE ALL ON DATABASE \(database) FROM PUBLIC;
            CREATE ROLE clerk LOGIN PASSWORD 'clerk';
            GRANT CONNECT ON DATABASE \(database) TO clerk;
            GRANT USAGE ON SCHEMA rouse TO clerk;
            GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA rouse TO clerk
            """, in: database)
        let clerk = "postgresql://clerk:clerk@127.0.0.1:\(server.port)/\(database)"
        for url in [server.uri(database), clerk] {
            let store = try await PostgreSQLWakeStore.open(url: url)
            try await store.perform(TryWriting())
            try disk.fill()
            let refused = await #expect(throws: StoreFailure.self) {
                for device in 0..<2_000 as Range<UInt64> {
                    _ = try await Counter(store: store).admitOne(Samples.wake(device: device))
                }
            }
            #expect(refused?.kind == .full)
            let failure = await #expect(throws: StoreFailure.self) {
                try await store.perform(TryWriting())
            }
            #expect(failure?.kind == .full)

            disk.empty()
            try await store.perform(TryWriting())
            _ = try await Counter(store: store).admitOne(Samples.wake(device: 9_999))
            await store.close()
        }
    }

    /// Guards against tables that are made and dropped each second, of which catalogs grow.
    @Test("A trial leaves nothing behind")
    func traces() async throws {
        try await StoreKind.withDatabase { url in
            let server = try PostgreSQLServer.running()
            let database = String(url.split(separator: "/").last ?? "")
            let store = try await PostgreSQLWakeStore.open(url: url)
            let sizes = """
                SELECT count(*), pg_relation_size('pg_class'), pg_relation_size('pg_attribute')
                FROM pg_class
                """
            try await store.perform(TryWriting())
            let before = try server.execute(sizes, in: database)
            for _ in 0..<20 { try await store.perform(TryWriting()) }
            #expect(try server.execute(sizes, in: database) == before)
            await store.close()
        }
    }
}
