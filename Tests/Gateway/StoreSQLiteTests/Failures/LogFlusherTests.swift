// SPDX-License-Identifier: Apache-2.0

import Foundation
import Gateway
import Synchronization
import Testing
import WaitKit

@testable import StoreSQLite

@Suite("Flushes of the log", .timeLimit(.minutes(10)))
struct LogFlusherTests {
    /// A disk that a test holds up, and that can fail.
    final class Disk: Sendable {
        let isHeld = Atomic(true)
        let syncs = Atomic(0)
        let reason = Atomic<CInt>(0)

        func sync() -> CInt {
            syncs.add(1, ordering: .sequentiallyConsistent)
            while isHeld.load(ordering: .sequentiallyConsistent) { usleep(500) }
            return reason.load(ordering: .sequentiallyConsistent)
        }

        func letGo() { isHeld.store(false, ordering: .sequentiallyConsistent) }
        var count: Int { syncs.load(ordering: .sequentiallyConsistent) }
    }

    final class Answers: Sendable {
        private let answers = Mutex<[(Int, StoreFailure?)]>([])
        func take(_ number: Int) -> @Sendable (StoreFailure?) -> Void {
            { failure in self.answers.withLock { $0.append((number, failure)) } }
        }
        var numbers: [Int] { answers.withLock { $0.map(\.0) } }
        var failures: [StoreFailure?] { answers.withLock { $0.map(\.1) } }
    }

    private func withFlusher(
        pause: Double = 0.01, _ body: (LogFlusher, Disk) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "rouse-flush-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "store").path
        try Data().write(to: URL(filePath: path + "-wal"))
        let disk = Disk()
        let flusher = try LogFlusher(besides: path, pause: pause) { _ in disk.sync() }
        try await body(flusher, disk)
        disk.letGo()
        flusher.drain()
    }

    private func waitUntil(_ condition: () -> Bool) async throws {
        while !condition() { try await Task.sleep(for: .milliseconds(1)) }
    }

    @Test("nobody is answered before the disk, and who comes during a flush waits for the next")
    func order() async throws {
        try await withFlusher { flusher, disk in
            let answers = Answers()
            flusher.flush(then: answers.take(1))
            try await waitUntil { disk.count == 1 }
            flusher.flush(then: answers.take(2))
            flusher.flush(then: answers.take(3))
            #expect(try await holds(for: .milliseconds(30)) { answers.numbers.isEmpty })
            disk.letGo()
            try await waitUntil { answers.numbers.count == 3 }
            #expect(answers.numbers == [1, 2, 3])
            #expect(disk.count == 2, "the two share a flush of their own")
            #expect(await flusher.flushed() == nil)
            #expect(disk.count == 3)
        }
    }

    @Test("after a flush that failed everything fails, without another try")
    func failure() async throws {
        try await withFlusher { flusher, disk in
            disk.reason.store(EIO, ordering: .sequentiallyConsistent)
            disk.letGo()
            #expect(await flusher.flushed()?.kind == .unavailable)
            #expect(flusher.failure != nil)
            disk.reason.store(0, ordering: .sequentiallyConsistent)
            #expect(await flusher.flushed()?.kind == .unavailable)
            #expect(disk.count == 1)
        }
    }

    @Test("a flush that works is not believed when copying the log has failed meanwhile")
    func failureElsewhere() async throws {
        try await withFlusher { flusher, disk in
            let answers = Answers()
            flusher.flush(then: answers.take(1))
            try await waitUntil { disk.count == 1 }
            flusher.end(with: .lost("copied into the store", "on purpose"))
            disk.letGo()
            try await waitUntil { answers.numbers == [1] }
            #expect(answers.failures == [flusher.failure] && flusher.failure != nil)
        }
    }

    @Test("what nobody waits for is flushed in a moment, and once for all that came")
    func soon() async throws {
        try await withFlusher { flusher, disk in
            flusher.flushSoon()
            try await waitUntil { disk.count == 1 }
            // During the flush: they share the next one.
            flusher.flushSoon()
            flusher.flushSoon()
            disk.letGo()
            try await waitUntil { disk.count == 2 }
            flusher.drain()
            #expect(disk.count == 2)
        }
    }

    @Test("closing does not wait for the moment, and nothing is flushed behind it")
    func drained() async throws {
        try await withFlusher(pause: 3_600) { flusher, disk in
            disk.letGo()
            flusher.flushSoon()
            #expect(disk.count == 0)
            flusher.drain()
            #expect(disk.count == 1)
            flusher.drain()
            #expect(disk.count == 1)
        }
    }

    @Test("a flush that nobody waited for fails everything after it too")
    func failureLater() async throws {
        try await withFlusher { flusher, disk in
            disk.reason.store(ENOSPC, ordering: .sequentiallyConsistent)
            disk.letGo()
            flusher.flushSoon()
            try await waitUntil { flusher.failure != nil }
            #expect(flusher.failure?.kind == .full)
            #expect(await flusher.flushed()?.kind == .full)
            flusher.flushSoon()
            flusher.drain()
            #expect(disk.count == 1)
        }
    }
}
