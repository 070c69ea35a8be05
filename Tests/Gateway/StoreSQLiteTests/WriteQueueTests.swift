// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Gateway
import StoreTestKit
import Synchronization
import Testing

@testable import StoreSQLite

@Suite("The order in which verbs are written", .timeLimit(.minutes(10)))
struct WriteQueueTests {
    /// What ran, and what holds it up.
    private final class Record: Sendable {
        let gate = DispatchSemaphore(value: 0)
        let hasBegun = Atomic(false)
        let places = Mutex<[Int]>([])
    }

    /// Writes verbs of these weights, all of which wait when the first is taken; the order in which
    /// they ran, by their places.
    private static func order(of weights: [Int]) async throws -> [Int] {
        let record = Record()
        try await withTemporaryFolder { folder in
            let store = try SQLiteWakeStore(path: folder + "/store.sqlite")
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    try await store.writing.write { _ in
                        record.hasBegun.store(true, ordering: .sequentiallyConsistent)
                        // It holds the writer's own queue, and no thread of the tasks.
                        record.gate.wait()
                    }
                }
                while !record.hasBegun.load(ordering: .sequentiallyConsistent) {
                    await Task.yield()
                }
                for (place, weight) in weights.enumerated() {
                    group.addTask {
                        try await store.writing.write(CommandProfile(.write, weight: weight)) { _ in
                            record.places.withLock { $0.append(place) }
                        }
                    }
                    while store.writing.waitingCount <= place { await Task.yield() }
                }
                record.gate.signal()
                try await group.waitForAll()
            }
            try store.close()
        }
        return record.places.withLock { $0 }
    }

    @Test("A light verb passes the heavy ones that came before it")
    func light() async throws {
        #expect(try await Self.order(of: [500, 500, 1]) == [2, 0, 1])
        #expect(try await Self.order(of: [500, 8, 9, 2]) == [1, 3, 0, 2])
    }

    @Test("Without light verbs, or without heavy ones, they are written as they came")
    func asTheyCame() async throws {
        #expect(try await Self.order(of: [500, 500, 500]) == [0, 1, 2])
        #expect(try await Self.order(of: [1, 5, 8, 2]) == [0, 1, 2, 3])
    }
}
