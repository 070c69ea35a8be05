// SPDX-License-Identifier: Apache-2.0

import GatewayTestKit
import PostgreSQLTestKit
import StoreTestKit
import Synchronization
import Testing
import WakeModel

@testable import Gateway
@testable import StorePostgreSQL

@Suite("The order in which commands get a connection", .timeLimit(.minutes(10)))
struct CommandOrderTests {
    /// The kinds of wakes in the order in which they were admitted.
    private final class Order: Sendable {
        let kinds = Mutex<[WakeKind]>([])
    }

    /// Calls `body` with a store, and with a pool of other connections to its database.
    private static func withStore(
        writers: Int = 2, _ body: (Counter, PostgreSQLWakeStore, TestPool) async throws -> Void
    ) async throws {
        let other = try TestPool()
        // Its connection is there before the role's timeouts are.
        try await other.done(Query("SELECT 1"))
        let url = other.server.uri(other.database)
        try await PostgreSQLWakeStore.migrate(url: url)
        // What waits for a lock is to wait as long as a test takes.
        _ = try other.execute(
            "ALTER ROLE CURRENT_USER IN DATABASE \(other.database) SET lock_timeout = 0")
        var settings = PostgreSQLWakeStore.Settings()
        settings.writerCount = writers
        let store = try await PostgreSQLWakeStore.open(url: url, settings: settings)
        do {
            try await body(Counter(store: store), store, other)
        } catch {
            await store.close()
            throw error
        }
        await store.close()
        await other.pool.shutDown(within: .seconds(5))
    }

    /// Waits until so many commands wait for a connection.
    private static func wait(
        for count: Int, _ role: Session.Role, of store: PostgreSQLWakeStore
    ) async throws {
        #expect(try await comesTrue { store.link.pool.condition(role).waiting == count })
    }

    @Test("A call that comes behind batches is written next")
    func call() async throws {
        try await Self.withStore(writers: 1) { connection, store, _ in
            let writer = try await store.link.pool.take(.writer).get()
            let order = Order()
            var admissions: [Task<Void, any Error>] = []
            for (place, kind) in [.background, .background, .background, WakeKind.voip].enumerated()
            {
                let wakes = (0..<10).map { Samples.wake(kind, device: UInt64(place * 10 + $0)) }
                admissions.append(
                    Task {
                        try await connection.admit(wakes)
                        order.kinds.withLock { $0.append(kind) }
                    })
                try await Self.wait(for: place + 1, .writer, of: store)
            }
            store.link.pool.giveBack(writer)
            for admission in admissions { try await admission.value }
            #expect(order.kinds.withLock { $0.first } == .voip)
        }
    }

    @Test("Reads of callers that take long delay no claim, and are bounded")
    func callersReads() async throws {
        try await Self.withStore { connection, store, other in
            try await connection.admit([Samples.wake()])
            let holder = try await other.writer()
            _ = await holder.run([Query("LOCK TABLE rouse.feedback")], transaction: .opening)
            // As much as may wait.
            let looks = (0..<16).map { _ in
                let look = ReadFeedback(after: 0, limit: CallersWeight.maximum / 16)
                return Task { try await store.perform(look) }
            }
            #expect(
                try await comesTrue { store.link.callersReads.waiting == CallersWeight.maximum })
            // The others have a connection, and wait for the lock.
            #expect(
                try await comesTrue { store.link.pool.condition(.reader).waiting >= 12 })
            let failure = await #expect(throws: StoreFailure.self) {
                try await store.perform(CountWakes())
            }
            #expect(failure?.kind == .overloaded)
            #expect(failure?.message == "Too much waits to be read from the store already.")
            #expect(try await store.perform(NextDue(in: Samples.queues)) == connection.now)
            #expect(try await connection.claim().claims.count == 1)
            _ = await holder.run([Query("SELECT 1")], transaction: .closing)
            other.pool.giveBack(holder)
            for look in looks { #expect(try await look.value.isEmpty) }
            #expect(try await store.perform(CountWakes()).accepted == 1)
        }
    }

    @Test("Writes of callers that wait are bounded; the gateway's own are not")
    func callersWrites() async throws {
        try await Self.withStore(writers: 1) { connection, store, _ in
            let writer = try await store.link.pool.take(.writer).get()
            let receipts = (0..<CallersWeight.maximum).map { _ in Receipt(id: Samples.freshID()) }
            let confirmation = Task {
                try await store.perform(
                    ConfirmLaunches(receipts, at: connection.now, under: connection.rules))
            }
            try await Self.wait(for: 1, .writer, of: store)
            let cancellation = CancelWake(
                Samples.freshID(), at: connection.now, under: connection.rules)
            let failure = await #expect(throws: StoreFailure.self) {
                try await store.perform(cancellation)
            }
            #expect(failure?.kind == .overloaded)
            #expect(failure?.message.contains("nothing was changed") == true)
            let admission = Task { _ = try await connection.admit([Samples.wake()]) }
            try await Self.wait(for: 2, .writer, of: store)
            store.link.pool.giveBack(writer)
            _ = try await confirmation.value
            try await admission.value
            // There is room again.
            #expect(try await store.perform(cancellation).isCancelled == nil)
        }
    }
}
