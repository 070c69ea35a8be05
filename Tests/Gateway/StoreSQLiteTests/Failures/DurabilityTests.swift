// SPDX-License-Identifier: Apache-2.0

import Foundation
import Gateway
import GatewayTestKit
import StoreTestKit
import Synchronization
import Testing
import WaitKit
import WakeModel

@testable import StoreSQLite

@Suite("What a store's answers wait for", .timeLimit(.minutes(10)))
struct DurabilityTests {
    /// A verb that somebody waits for.
    private final class Verb: Sendable {
        private let hasAnswered = Atomic(false)
        private let task: Mutex<Task<Void, any Error>?> = Mutex(nil)

        init(_ verb: @escaping @Sendable () async throws -> Void) {
            task.withLock {
                $0 = Task {
                    try await verb()
                    hasAnswered.store(true, ordering: .sequentiallyConsistent)
                }
            }
        }

        var isDone: Bool { hasAnswered.load(ordering: .sequentiallyConsistent) }

        func finish() async throws { try await task.withLock { $0 }?.value }
    }

    /// A store whose disk is held up from its opening on.
    private func withHeldDisk(
        _ durability: SQLiteWakeStore.Durability,
        _ body: (Counter, LogFlusherTests.Disk) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let disk = LogFlusherTests.Disk()
            let store = try SQLiteWakeStore(
                path: folder + "/store.sqlite", durability: durability, cachedDevices: 10
            ) { _ in disk.sync() }
            // Also when a requirement failed: closing waits for the disk.
            defer { disk.letGo() }
            try await body(Counter(store: store), disk)
            disk.letGo()
            try store.close()
        }
    }

    private func waitUntil(_ condition: () async throws -> Bool) async throws {
        while try await !condition() { try await Task.sleep(for: .milliseconds(1)) }
    }

    @Test("With the disk, neither who asks nor who looks hears of a wake before the disk has it")
    func disk() async throws {
        try await withHeldDisk(.disk) { (connection, disk) async throws in
            let wake = Samples.wake()
            let admission = Verb { try await connection.admit([wake]) }
            // It is committed, and its flush has begun.
            try await waitUntil { disk.count == 1 }
            #expect(try await connection.store.perform(CountWakes()).accepted == 1)
            let look = Verb {
                _ = try await connection.store.perform(ListWakes(WakeQuery(limit: 1)))
            }
            let areWaiting = try await holds(for: .milliseconds(50)) {
                !admission.isDone && !look.isDone
            }
            #expect(areWaiting)
            disk.letGo()
            try await admission.finish()
            try await look.finish()
            #expect(admission.isDone && look.isDone)
        }
    }

    @Test("Callers who wait for a disk that hangs are bounded; the gateway's own verbs are not")
    func bound() async throws {
        try await withHeldDisk(.disk) { (connection, disk) async throws in
            let receipts = (0..<CallersWeight.maximum).map { _ in
                Receipt(id: Samples.freshID())
            }
            let confirmation = Verb {
                _ = try await connection.store.confirm(
                    receipts, at: connection.now, under: connection.rules)
            }
            try await waitUntil { disk.count == 1 }
            let refusal = Verb {
                let failure = await #expect(throws: StoreFailure.self) {
                    try await connection.store.perform(
                        CancelWake(
                            Samples.freshID(), at: connection.now, under: connection.rules))
                }
                #expect(failure?.kind == .overloaded)
                #expect(failure?.message.contains("nothing was changed") == true)
            }
            try await waitUntil { refusal.isDone }
            let admission = Verb { try await connection.admit([Samples.wake()]) }
            disk.letGo()
            try await confirmation.finish()
            try await admission.finish()
            // There is room again.
            let outcome = try await connection.store.perform(
                CancelWake(
                    Samples.freshID(), at: connection.now, under: connection.rules))
            #expect(outcome.isCancelled == nil)
        }
    }

    @Test("Callers who wait to read are bounded; the gateway's own looks go beside them")
    func readers() async throws {
        try await withHeldDisk(.disk) { (connection, disk) async throws in
            let admission = Verb { try await connection.admit([Samples.wake()]) }
            try await waitUntil { disk.count == 1 }
            let store = try #require(connection.store as? SQLiteWakeStore)
            // A page weighs what is looked at for it, however little it gives.
            let query = WakeQuery(states: [.cancelled], limit: 1)
            let list = Verb { _ = try await connection.store.perform(ListWakes(query)) }
            try await waitUntil { store.callersReads.waiting == query.rowCount }
            #expect(query.rowCount == 5_000)
            #expect(WakeQuery(limit: 1).rowCount == 500)
            #expect(WakeQuery(deviceToken: Samples.deviceToken(), limit: 9).rowCount == 9)
            disk.letGo()
            try await list.finish()
            try await admission.finish()
        }
        try await withHeldDisk(.disk) { (connection, disk) async throws in
            let admission = Verb { try await connection.admit([Samples.wake()]) }
            try await waitUntil { disk.count == 1 }
            // As much as may wait: what they saw is not on the disk yet.
            let part = CallersWeight.maximum / 4
            let looks = (0..<4).map { _ in
                Verb { _ = try await connection.store.perform(ReadFeedback(after: 0, limit: part)) }
            }
            let store = try #require(connection.store as? SQLiteWakeStore)
            try await waitUntil {
                store.callersReads.waiting == CallersWeight.maximum
            }
            let failure = await #expect(throws: StoreFailure.self) {
                try await connection.store.perform(CountWakes())
            }
            #expect(failure?.kind == .overloaded)
            #expect(
                try await connection.store.perform(NextDue(in: Samples.queues)) == connection.now)
            #expect(try await connection.store.perform(ListQueues()).count == 1)
            disk.letGo()
            for look in looks { try await look.finish() }
            try await admission.finish()
            #expect(try await connection.store.perform(CountWakes()).accepted == 1)
        }
    }

    @Test("With the system, both are answered while the disk is still held up")
    func system() async throws {
        try await withHeldDisk(.system) { (connection, disk) async throws in
            let first = try await connection.admitOne(Samples.wake(device: 1))
            // The flush that nobody waits for has begun, and hangs.
            try await waitUntil { disk.count == 1 }
            let second = try await connection.admitOne(Samples.wake(device: 2))
            let page = try await connection.store.perform(ListWakes(WakeQuery(limit: 2)))
            #expect(page.wakes.map(\.id) == [second.id, first.id])
        }
    }

    @Test(
        "A disk that fails is told to who listens, and then nothing is taken",
        arguments: SQLiteWakeStore.Durability.allCases)
    func failing(_ durability: SQLiteWakeStore.Durability) async throws {
        try await withTemporaryFolder { folder in
            let store = try SQLiteWakeStore(
                path: folder + "/store.sqlite", durability: durability, cachedDevices: 10
            ) { _ in EIO }
            let connection = Counter(store: store)
            _ = try? await connection.admit([Samples.wake()])
            var ends = store.ends.makeAsyncIterator()
            let failure = try #require(await ends.next())
            #expect(failure.kind == .unavailable)
            await #expect(throws: failure) { try await connection.admit([Samples.wake()]) }
            try store.close()
        }
    }

    @Test("A look for webhooks that finds none due does not wait for the writing")
    func webhookLook() async throws {
        try await withHeldDisk(.disk) { (connection, disk) async throws in
            let hold = AppHold(
                queue: Samples.queues[0], isHeld: true, reason: "a bad key", at: connection.now)
            let note = Verb {
                try await connection.store.perform(NoteHold(hold, under: connection.rules))
            }
            try await waitUntil { disk.count == 1 }
            let early = connection.now.advanced(bySeconds: -1)
            let batch = try await connection.store.perform(
                ClaimWebhooks(
                    of: Samples.endpoint, at: early, until: connection.now, limit: 10))
            #expect(batch == WebhookBatch(backlogCount: 1))
            #expect(!note.isDone)
            disk.letGo()
            try await note.finish()
        }
    }

    @Test("Receipts whose refs nobody knows do not wait for the writing either")
    func unknownRefs() async throws {
        try await withHeldDisk(.disk) { (connection, disk) async throws in
            let wake = Samples.wake(ref: "mail")
            let admission = Verb { try await connection.admit([wake]) }
            try await waitUntil { disk.count == 1 }
            let receipts = (1...20).map { number in
                Receipt(.ref(Samples.name("other-\(number)"), Samples.deviceToken()))
            }
            let outcome = try await connection.store.confirm(
                receipts, at: connection.now, under: connection.rules)
            #expect(outcome.answers == Array(repeating: .unknownWake, count: 20))
            #expect(!admission.isDone)
            disk.letGo()
            try await admission.finish()
        }
    }
}
