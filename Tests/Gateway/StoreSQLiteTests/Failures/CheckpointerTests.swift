// SPDX-License-Identifier: Apache-2.0

import Foundation
import Gateway
import GatewayTestKit
import SeedKit
import StoreTestKit
import Synchronization
import Testing
import WakeModel

@testable import StoreSQLite

@Suite("Copying the log into the database", .timeLimit(.minutes(10)))
struct CheckpointerTests {
    private final class Notices: Sendable {
        private let kept = Mutex<[StoreNotice]>([])
        var all: [StoreNotice] { kept.withLock { $0 } }
        func take(_ notice: StoreNotice) { kept.withLock { $0.append(notice) } }
    }

    /// A log that is copied early.
    private static let bounds: CheckpointPlan.Bounds = {
        var bounds = CheckpointPlan.Bounds()
        bounds.start = 200
        bounds.rest = 50
        bounds.maximum = 1_500
        bounds.retry = .milliseconds(10)
        return bounds
    }()

    private static func open(
        _ path: String, _ bounds: CheckpointPlan.Bounds = bounds,
        _ notices: Notices = Notices()
    ) throws -> SQLiteWakeStore {
        try SQLiteWakeStore(
            path: path, durability: .disk, cachedDevices: 10, bounds: bounds,
            notify: notices.take, sync: LogFlusher.sync)
    }

    private static func logSize(_ path: String) -> Int {
        StorePath.byteCount(of: path + "-wal") ?? 0
    }

    /// A connection with a transaction that reads, and does not end.
    private static func heldReader(_ path: String) throws -> Connection {
        let reader = try Connection(path)
        try reader.run(script: "BEGIN; SELECT count(*) FROM wake")
        return reader
    }

    /// Admits batches until a condition holds.
    private static func admit(
        to connection: Counter, ids: inout [WakeID], until condition: () -> Bool
    ) async throws {
        for _ in 0..<3_000 where !condition() {
            let first = UInt64(ids.count)
            let wakes = (first..<first + 20).map { Samples.wake(dueIn: 3_600, device: $0) }
            for admission in try await connection.admit(wakes).admissions {
                if case .admitted(let wake) = admission { ids.append(wake.id) }
            }
        }
        try #require(condition())
    }

    @Test("A flush of the database that fails ends the store, and the next start copies the log")
    func failedFlush() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            let store = try Self.open(path)
            let faults = try FaultyFile.attach(to: [store.checkpointer.database, store.writer])
            let connection = Counter(store: store)
            var ids: [WakeID] = []
            faults.fault = .flush
            do {
                try await Self.admit(to: connection, ids: &ids) { store.flusher.failure != nil }
            } catch is StoreFailure {}
            var ends = store.ends.makeAsyncIterator()
            let failure = try #require(await ends.next())
            #expect(failure.kind == .unavailable)
            #expect(failure.message.hasPrefix("The log cannot be copied into the store: "))
            #expect(failure.message.hasSuffix("until the store is opened again."))
            // It is not tried again, also when it would seem to work, and not on closing.
            faults.fault = .none
            let count = faults.flushCount
            await #expect(throws: failure) { try await connection.admit([Samples.wake()]) }
            await #expect(throws: failure) { try await connection.store.perform(ListQueues()) }
            try store.close()
            #expect(faults.flushCount == count)
            #expect(Self.logSize(path) > 200 * SQLiteWakeStore.pageBytes)

            let again = try Self.open(path)
            #expect(Self.logSize(path) < 100 * SQLiteWakeStore.pageBytes)
            #expect(ids.count > 20)
            for id in ids { #expect(try await again.perform(FindWake(id)) != nil) }
            #expect(try await again.perform(RecountWakes()).isConserved)
            try again.close()
            #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
        }
    }

    @Test("A flush that fails as the store is closed leaves the log for the next start")
    func failedFlushOnClosing() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            let store = try Self.open(path)
            let faults = try FaultyFile.attach(to: [store.checkpointer.database, store.writer])
            let id = try await Counter(store: store).admitOne(Samples.wake()).id
            faults.fault = .flush
            try store.close()
            #expect(faults.flushCount == 1)
            #expect(Self.logSize(path) > 0)
            let again = try Self.open(path)
            #expect(try await again.perform(FindWake(id)) != nil)
            try again.close()
        }
    }

    @Test("A disk without space for the copy is told once, and the store goes on")
    func full() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            let notices = Notices()
            let store = try Self.open(path, Self.bounds, notices)
            let faults = try FaultyFile.attach(to: [store.checkpointer.database, store.writer])
            let connection = Counter(store: store)
            var ids: [WakeID] = []
            faults.fault = .space
            try await Self.admit(to: connection, ids: &ids) { store.checkpointer.isFailing }
            #expect(store.logStatus.isCopyingFailed)
            guard case .logIsNotCopied(let failure) = notices.all.first else {
                Issue.record("\(notices.all)")
                return
            }
            #expect(failure.kind == .full)
            faults.fault = .none
            try await Self.admit(to: connection, ids: &ids) { !store.checkpointer.isFailing }
            #expect(notices.all.count == 2 && notices.all.last == .logIsCopiedAgain)
            #expect(store.flusher.failure == nil)
            for id in ids { #expect(try await store.perform(FindWake(id)) != nil) }
            try store.close()
        }
    }

    @Test("A log that another program keeps from being copied is not opened")
    func busy() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            let store = try Self.open(path)
            try await Counter(store: store).admit([Samples.wake()])
            let copy = folder + "/copy.sqlite"
            for suffix in ["", "-wal"] {
                try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
            }
            try store.close()
            let reader = try Self.heldReader(copy)
            let failure = #expect(throws: StoreFailure.self) { try Self.open(copy) }
            #expect(failure?.kind == .inUse)
            #expect(failure?.message.contains("End that program") == true)
            try reader.run(script: "COMMIT")
            let opened = try Self.open(copy)
            #expect(try await opened.perform(CountWakes()).accepted == 1)
            try opened.close()
            try reader.close()
        }
    }

    @Test("While somebody reads, the log grows to its bound, new work is refused, and then not")
    func heldLog() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            let notices = Notices()
            let store = try Self.open(path, Self.bounds, notices)
            let connection = Counter(store: store)
            let claim = try await connection.claimOne(Samples.wake(device: 1_000_000))
            let reader = try Self.heldReader(path)
            var ids: [WakeID] = []
            let failure = await #expect(throws: StoreFailure.self) {
                try await Self.admit(to: connection, ids: &ids) { false }
            }
            #expect(failure?.kind == .overloaded)
            #expect(failure?.message.contains("another program") == true)
            #expect(store.logStatus.isFull)
            #expect(notices.all == [.logIsFull])
            // A transaction may go over it by what it writes.
            let bound = (Self.bounds.maximum + 300) * (SQLiteWakeStore.pageBytes + 24)
            #expect(Self.logSize(path) <= bound)
            // What was accepted goes on, and an app can be paused.
            #expect(try await connection.settleSent(claim).verdicts == [.applied])
            try await store.perform(
                SetPause(
                    QueuePause(at: connection.now, reason: nil), of: Samples.queues))
            try await store.perform(SetPause(nil, of: Samples.queues))
            let order = PruneOrder(
                now: connection.now, wakesBefore: connection.now, devicesBefore: connection.now,
                webhooks: [],
                limit: 100)
            let pruning = await #expect(throws: StoreFailure.self) { try await store.prune(order) }
            #expect(pruning == failure)
            try reader.run(script: "COMMIT")
            try reader.close()
            for _ in 0..<15_000 where store.logStatus.isFull {
                _ = try? await connection.admitOne(Samples.wake(device: 2_000_000))
                try await Task.sleep(for: .milliseconds(2))
            }
            #expect(!store.logStatus.isFull)
            var batches = 0
            try await Self.admit(to: connection, ids: &ids) {
                batches += 1
                return batches > 10
            }
            #expect(notices.all == [.logIsFull, .logHasRoom])
            for id in ids { #expect(try await store.perform(FindWake(id)) != nil) }
            try store.close()
            #expect(try SQLiteWakeStore.audit(path: path).isSound)
        }
    }

    @Test("A transaction that reads for too long is ended, and the connection goes on")
    func slowReader() async throws {
        try await withTemporaryFolder { folder in
            let store = try Self.open(folder + "/store.sqlite")
            let connection = Counter(store: store)
            for _ in 0..<20 {
                try await connection.admit(
                    (0..<500 as Range<UInt64>).map { Samples.wake(device: $0) })
            }
            let failure = await #expect(throws: StoreFailure.self) {
                try await store.callersReader.read(within: .zero) {
                    connection throws(StoreFailure) in
                    try connection.rows.perform(RecountWakes())
                }
            }
            #expect(failure?.kind == .overloaded)
            #expect(failure?.message.contains("took too long") == true)
            #expect(try await store.perform(RecountWakes()).accepted == 10_000)
            try store.close()
        }
    }
}

@Suite("The plan of copying the log")
struct CheckpointPlanTests {
    private static let start = ContinuousClock.now

    @Test("The writer copies a rest only, and never beside a background copy")
    func steps() {
        var plan = CheckpointPlan()
        #expect(plan.step(length: 31_999, now: Self.start) == .nothing)
        #expect(plan.step(length: 32_000, now: Self.start) == .pass(log: 0))
        // However long it becomes.
        #expect(plan.step(length: 128_000, now: Self.start) == .nothing)
        plan.passed((length: 40_000, copied: 40_000), of: 0, now: Self.start)
        #expect(plan.step(length: 128_000, now: Self.start) == .pass(log: 0))
        plan.passed((length: 127_800, copied: 127_800), of: 0, now: Self.start)
        #expect(plan.step(length: 128_000, now: Self.start) == .rest)
        plan.rested(copied: 128_000, now: Self.start)
        #expect(plan.step(length: 128_000, now: Self.start) == .nothing)
        #expect(plan.step(length: 10, now: Self.start) == .nothing)
        #expect(plan.step(length: 32_000, now: Self.start) == .pass(log: 1))
    }

    @Test("While a reader holds the log, trying is spaced, and the bound is told")
    func held() {
        var plan = CheckpointPlan()
        #expect(plan.step(length: 32_000, now: Self.start) == .pass(log: 0))
        plan.passed((length: 32_000, copied: 0), of: 0, now: Self.start)
        #expect(plan.step(length: 300_000, now: Self.start) == .nothing)
        #expect(plan.isFull)
        let later = Self.start + plan.bounds.retry
        #expect(plan.step(length: 300_000, now: later) == .pass(log: 0))
        plan.passed((length: 300_000, copied: 300_000), of: 0, now: later)
        #expect(!plan.isFull)
    }

    /// A log, a checkpointer and readers as SQLite has them, in a random order.
    @Test(
        "In every order no checkpoint begins beside another one or on a log that is copied whole",
        arguments: 1...40 as ClosedRange<UInt64>)
    func anyOrder(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var bounds = CheckpointPlan.Bounds()
        bounds.start = 100
        bounds.rest = 10
        bounds.maximum = 1_000
        var plan = CheckpointPlan(bounds)
        var now = Self.start
        // What is true of the file.
        var (length, copied, mark) = (0, 0, Int.max)
        var running: Int?
        var largest = 0
        for _ in 0..<4_000 {
            now += .milliseconds(Int.random(in: 0..<40, using: &random))
            switch Int.random(in: 0..<10, using: &random) {
            case 0: mark = mark == .max ? length : .max
            case 1:
                // The end of a background copy: it may have seen any length up to now.
                guard let log = running else { continue }
                running = nil
                let seen = Int.random(in: copied...length, using: &random)
                copied = max(copied, min(seen, mark))
                plan.passed((length: seen, copied: copied), of: log, now: now)
            default:
                if copied == length, mark == .max, length > 0, running == nil {
                    (length, copied) = (0, 0)
                }
                length += Int.random(in: 0..<30, using: &random)
                guard length > 0 else { continue }
                switch plan.step(length: length, now: now) {
                case .nothing: break
                case .pass(let log):
                    #expect(running == nil && copied < length, "seed \(seed)")
                    running = log
                case .rest:
                    #expect(running == nil, "seed \(seed)")
                    #expect(length - copied <= bounds.rest * bounds.maximumRests, "seed \(seed)")
                    copied = max(copied, min(length, mark))
                    plan.rested(copied: copied, now: now)
                }
                largest = max(largest, length)
            }
        }
        #expect(largest > bounds.start)
    }
}
