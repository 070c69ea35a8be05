// SPDX-License-Identifier: Apache-2.0

import Foundation
import Gateway
import GatewayTestKit
import StoreTestKit
import Testing
import WakeModel

@testable import StoreSQLite

@Suite("A store has one owner", .timeLimit(.minutes(10)))
struct OwnershipTests {
    private func withStore(
        _ body: (_ path: String, SQLiteWakeStore, Counter) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            let store = try SQLiteWakeStore(path: path)
            try await body(path, store, Counter(store: store))
            try store.close()
        }
    }

    /// Expects that the store has ended, for a reason that has this in its words.
    private func expectEnd(
        _ connection: Counter, _ store: SQLiteWakeStore, _ words: String
    ) async throws {
        let failure = await #expect(throws: StoreFailure.self) {
            try await connection.admit([Samples.wake(device: 2)])
        }
        #expect(failure?.kind == .inUse)
        #expect(failure?.message.contains(words) == true, "\(failure?.message ?? "")")
        var ends = store.ends.makeAsyncIterator()
        #expect(await ends.next() == failure)
        await #expect(throws: try #require(failure)) {
            try await connection.store.perform(ListQueues())
        }
    }

    @Test("A lock file that was deleted lets nobody in, and is there again with the next write")
    func deletedLock() async throws {
        try await withStore { path, store, connection in
            try await connection.admit([Samples.wake()])
            try FileManager.default.removeItem(atPath: path + ".lock")
            // It makes a lock file anew, locks it, and meets the lock on the database.
            let failure = #expect(throws: StoreFailure.self) { try SQLiteWakeStore(path: path) }
            #expect(failure?.kind == .inUse)
            #expect(failure?.message.contains("in use by another gateway") == true)
            try await connection.admit([Samples.wake(device: 2)])
            #expect(store.flusher.failure == nil)
            let second = #expect(throws: StoreFailure.self) { try SQLiteWakeStore(path: path) }
            #expect(second?.kind == .inUse)
            try FileManager.default.removeItem(atPath: path + ".lock")
            try await connection.admit([Samples.wake(device: 3)])
            #expect(FileManager.default.fileExists(atPath: path + ".lock"))
        }
    }

    @Test("A lock file that another process has locked anew ends the store")
    func stolenLock() async throws {
        try await withStore { path, store, connection in
            try await connection.admit([Samples.wake()])
            try FileManager.default.removeItem(atPath: path + ".lock")
            let thief = open(path + ".lock", O_RDWR | O_CREAT, 0o600)
            #expect(flock(thief, LOCK_EX | LOCK_NB) == 0)
            try await expectEnd(connection, store, "lock file")
            close(thief)
        }
    }

    @Test("A file that another program has emptied ends the store before more is written")
    func emptied() async throws {
        try await withStore { path, store, connection in
            try await connection.admit([Samples.wake()])
            #expect(truncate(path, 0) == 0)
            try await expectEnd(connection, store, "moved, deleted, replaced or cut")
        }
    }

    @Test("A file that was moved away or replaced ends the store", arguments: ["", "-wal"])
    func moved(_ suffix: String) async throws {
        try await withStore { path, store, connection in
            try await connection.admit([Samples.wake()])
            try FileManager.default.moveItem(atPath: path + suffix, toPath: path + ".old")
            if suffix.isEmpty { try Data("another".utf8).write(to: URL(filePath: path)) }
            try await expectEnd(connection, store, "moved, deleted, replaced or cut")
            if suffix.isEmpty {
                #expect(try Data(contentsOf: URL(filePath: path)) == Data("another".utf8))
            }
        }
    }

    @Test("Another program's transaction ends the store before the next one")
    func foreignWriter() async throws {
        try await withStore { path, store, connection in
            try await connection.admit([Samples.wake()])
            let other = try Connection(path)
            // Reading is anybody's.
            _ = try other.number("SELECT count(*) FROM wake")
            try await connection.admit([Samples.wake(device: 5)])
            try other.run(script: "UPDATE device SET latest = 0")
            try other.close()
            try await expectEnd(connection, store, "Another program has written to the store")
        }
    }

    @Test("The store's own copying of the log is nobody's writing")
    func ownCheckpoints() async throws {
        try await withTemporaryFolder { folder in
            var bounds = CheckpointPlan.Bounds()
            bounds.start = 20
            bounds.retry = .zero
            let store = try SQLiteWakeStore(
                path: folder + "/store.sqlite", durability: .system, cachedDevices: 10,
                bounds: bounds, sync: LogFlusher.sync)
            let connection = Counter(store: store)
            for batch in 0..<100 as Range<UInt64> {
                let wakes = (0..<10 as Range<UInt64>).map {
                    Samples.wake(device: batch * 10 + $0)
                }
                try await connection.admit(wakes)
            }
            #expect(store.flusher.failure == nil)
            #expect(try await store.perform(RecountWakes()).accepted == 1_000)
            try store.close()
        }
    }
}
