// SPDX-License-Identifier: Apache-2.0

import Foundation
import Gateway
import GatewayTestKit
import PostgreSQLTestKit
import StorePostgreSQL
import StoreTestKit
import Synchronization
import Testing
import WakeModel

/// What gateways remember of a database must not outlive it.
@Suite("A database that is restored under its gateways", .timeLimit(.minutes(10)))
struct SharedRestoreTests {
    /// Restores the database of a URI to what it is before `body`, once that has returned.
    private func withRestore(
        of url: String, _ body: () async throws -> Void
    ) async throws {
        let server = try PostgreSQLServer.running()
        let file = FileManager.default.temporaryDirectory.path + "/rouse-dump-\(UUID())"
        defer { try? FileManager.default.removeItem(atPath: file) }
        try server.run("pg_dump", "--format", "custom", "--file", file, "--dbname", url)
        try await body()
        try server.execute(
            "DROP SCHEMA rouse CASCADE", in: String(url.split(separator: "/").last ?? ""))
        try server.run("pg_restore", "--dbname", url, file)
    }

    /// Opens gateways and admits a wake at each, so that each has written and knows the queue.
    private func open(_ count: Int, _ url: String) async throws -> [PostgreSQLWakeStore] {
        var stores: [PostgreSQLWakeStore] = []
        for place in 0..<count {
            let store = try await PostgreSQLWakeStore.open(url: url)
            stores.append(store)
            _ = try await Counter(store: store).admitOne(Samples.wake(device: UInt64(place)))
        }
        return stores
    }

    /// The kinds of the wakes in the database, each as its queue says.
    private func kinds(_ url: String) throws -> String {
        try PostgreSQLServer.running().execute(
            "SELECT DISTINCT coalesce(kind, 'none') FROM rouse.wakes ORDER BY 1",
            in: String(url.split(separator: "/").last ?? "")
        ).replacing("\n", with: " ")
    }

    /// The number of a queue that the back-up does not have is given to another queue. A gateway
    /// that still uses it would send calls as pushes of another kind, to another topic.
    @Test("A queue that the back-up does not have is made again", arguments: [true, false])
    func queues(hasWritten: Bool) async throws {
        try await StoreKind.withDatabase { url in
            let stores = try await open(2, url)
            try await withRestore(of: url) {
                _ = try await Counter(store: stores[0]).admitOne(Samples.wake(.voip, device: 7))
                // The other one has read of the new queue, and written nothing.
                _ = try await stores[1].perform(ListQueues())
                #expect(try kinds(url) == "background voip")
            }
            let new = try await PostgreSQLWakeStore.open(url: url)
            _ = try await Counter(store: new).admitOne(Samples.wake(.alert, device: 8))
            let old = stores[hasWritten ? 0 : 1]
            _ = try await Counter(store: old).admitOne(Samples.wake(.voip, device: 9))
            #expect(try kinds(url) == "alert background voip")
            for store in stores + [new] {
                #expect(try await store.perform(RecountWakes()).isConserved)
                #expect(try await store.perform(ListQueues()).count == 3)
                await store.close()
            }
        }
    }

    @Test("A device is found by the keys of the database that is there now")
    func keys() async throws {
        try await StoreKind.withDatabase { url in
            let old = try await open(1, url)
            try PostgreSQLServer.running().execute(
                "DROP SCHEMA rouse CASCADE", in: String(url.split(separator: "/").last ?? ""))
            try await PostgreSQLWakeStore.migrate(url: url)
            let stores = old + [try await PostgreSQLWakeStore.open(url: url)]
            for store in stores {
                _ = try await Counter(store: store).admitOne(Samples.wake(device: 5))
            }
            // Both have found the same device, and its one wake that waits.
            let count = try await stores[0].perform(CountWakes())
            #expect(count.accepted == 2 && count.unended == 1)
            for store in stores { await store.close() }
        }
    }

    /// Ids of writers are given again then.
    @Test("A writer of the forgotten time is not taken for one that has its id now")
    func writers() async throws {
        try await StoreKind.withDatabase { url in
            let database = String(url.split(separator: "/").last ?? "")
            let notices = Mutex<[String]>([])
            let store = try await PostgreSQLWakeStore.open(url: url) { notice in
                notices.withLock { $0.append(notice) }
            }
            _ = try await Counter(store: store).admitOne(Samples.wake(device: 1))
            try PostgreSQLServer.running().execute(
                "UPDATE rouse.writer SET gateway = 'another one'", in: database)
            _ = try await Counter(store: store).admitOne(Samples.wake(device: 2))
            #expect(notices.withLock { $0.contains { $0.contains("was replaced") } })
            #expect(try await store.perform(CountWakes()).accepted == 2)
            await store.close()
        }
    }
}
