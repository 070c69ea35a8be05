// SPDX-License-Identifier: Apache-2.0

import Foundation
import Gateway
import GatewayTestKit
import PostgreSQLTestKit
import StorePostgreSQL
import StoreRows
import StoreSQLite
import StoreTestKit
import Testing
import WakeModel

@Suite("A copy of an SQLite file in a shared store", .timeLimit(.minutes(10)))
struct StoreCopyTests {
    /// What is asked of a store before it is copied and afterwards.
    private struct Contents: Equatable {
        let count: StoreCount
        let wakes: [WakeRecord]
        let feedback: [FeedbackEntry]
        let queues: [WakeQueueRow]
        let devices: [[DeviceView]]
        let outcomes: OutcomePage
        let lastOutcome: Int64

        init(_ connection: Counter) async throws {
            let store = connection.store
            count = try await store.perform(RecountWakes())
            wakes = try await store.perform(ListWakes(WakeQuery(limit: 1_000))).wakes
            feedback = try await store.perform(ReadFeedback(after: 0, limit: 100))
            queues = try await store.perform(ListQueues())
            outcomes = try await store.perform(ReadOutcomes(after: 0, limit: 1_000))
            lastOutcome = try await store.perform(FindLastOutcome())
            var devices: [[DeviceView]] = []
            for device in 1...20 as ClosedRange<UInt64> {
                let found = try await store.perform(
                    FindDevices(
                        Samples.deviceToken(device), in: Samples.queues, at: connection.now,
                        under: connection.rules))
                devices.append(found)
            }
            self.devices = devices
        }
    }

    private static let mark = IdempotencyKey(
        key: [1, 2, 3], request: [1], expiresAt: Samples.start.advanced(bySeconds: 86_400))

    /// Makes a file with something of everything in it. Returns the id of the wake with the key.
    private func makeFile(_ path: String) async throws -> WakeID {
        let store = try SQLiteWakeStore(path: path)
        let connection = Counter(store: store)
        let refusal = Refusal(
            status: 410, reason: .unregistered, tokenDeadSince: connection.now)
        for device in 1...5 as ClosedRange<UInt64> {
            try await connection.settleSent(
                try await connection.claimOne(Samples.wake(device: device)))
            // The device's next one waits for its spacing.
            try await connection.admit([Samples.wake(device: device, ref: "order-\(device)")])
        }
        let dead = try await connection.claimOne(Samples.wake(device: 6))
        try await connection.settle(
            dead, .end(.undeliverable(refusal)), attempt: .refused(refusal))
        try await connection.settleSent(
            try await connection.claimOne(Samples.wake(.voip, device: 7, call: 70)))
        let keyed = try await connection.admitOne(
            Samples.wake(dueIn: 60, device: 8).with(Self.mark))
        _ = try await store.perform(
            ReportDevice(
                .registered(at: connection.now, .user(try UserID("u-1"))),
                of: Samples.deviceToken(3),
                in: [WakeQueueKey(app: Samples.app, kind: .background)], makes: false,
                at: connection.now, under: connection.rules))
        // Two requests that differ in what is stored of them.
        _ = try await connection.admitOne(
            Samples.wake(dueIn: 60, device: 8, payload: #"{"aps":{"content-available":1},"k":1}"#))
        // Claimed when the gateway ends.
        _ = try await connection.claimOne(Samples.wake(device: 9))
        try await connection.admit(
            [Samples.wake(device: 10)],
            grant: ClaimGrant(
                queues: Set(Samples.queues), background: 10, calls: 10, leaseSeconds: 60))
        try await store.perform(
            SetPause(
                QueuePause(at: connection.now, reason: "a test"),
                of: [WakeQueueKey(app: Samples.app, kind: .background)]))
        try store.close()
        return keyed.id
    }

    private func source(
        _ path: String, endedSince: WallInstant = WallInstant(millisecondsSinceEpoch: 0)
    ) throws -> CopiedFile {
        try CopiedFile(path: path, endedSince: endedSince, now: Samples.start)
    }

    /// What a file holds once its leases have ended.
    private func contents(ofFile path: String) async throws -> Contents {
        let store = try SQLiteWakeStore(path: path)
        let contents = try await Contents(Counter(store: store))
        try store.close()
        return contents
    }

    @Test("Everything is there, each wake is sent once, and the file is no gateway's any more")
    func everything() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            let keyed = try await makeFile(path)
            let before = try await contents(ofFile: path)
            try await StoreKind.withDatabase { url in
                let source = try source(path)
                let result = try await PostgreSQLWakeStore.copy(source, url: url)
                try source.close()
                #expect(result.count == before.count && result.leftOut == 0)
                #expect(result.counts["wake"] == 16 && result.counts["device"] == 10)
                #expect(result.counts["feedback"] == 1 && result.counts["idempotency"] == 1)
                #expect(result.counts["outcome"] == 8 && before.outcomes.events.count == 8)
                let audit = try await PostgreSQLWakeStore.audit(url: url)
                #expect(audit.isSound && audit.count == before.count, "\(audit)")

                let store = try await PostgreSQLWakeStore.open(url: url)
                let connection = Counter(store: store)
                #expect(try await Contents(connection) == before)
                let again = try await connection.admitOne(
                    Samples.wake(dueIn: 60, device: 8).with(Self.mark))
                #expect(again.id == keyed)
                try await sendAll(connection)
                await store.close()

                #expect(throws: StoreFailure.self) { try SQLiteWakeStore(path: path) }
                #expect(throws: StoreFailure.self) { try self.source(path) }
                #expect(try SQLiteWakeStore.audit(path: path).isSound)
            }
        }
    }

    /// Takes the leases of the copied file back, and sends all that waits.
    private func sendAll(_ connection: Counter) async throws {
        try await connection.store.perform(SetPause(nil, of: Samples.queues))
        let later = connection.later(3_600)
        let reclaimed = try await later.store.perform(
            ReclaimLeases(at: later.now, limit: 100, under: later.rules))
        #expect(reclaimed.count == 2)
        var sent: [WakeID] = []
        for _ in 0..<3 {
            let claims = try await later.claim().claims
            for claim in claims { try await later.settleSent(claim) }
            sent += claims.map(\.id)
        }
        #expect(sent.count == 8 && Set(sent).count == 8)
        let count = try await later.store.perform(CountWakes())
        #expect(count.unended == 0)
        // New wakes get numbers of their own, and webhooks of both times are delivered.
        let new = try await later.admitOne(Samples.wake(at: later.now, device: 11))
        #expect(!sent.contains(new.id))
        let outcomes = try await later.store.perform(ReadOutcomes(after: 0, limit: 100)).events
        #expect(outcomes.count == 16 && outcomes.suffix(8).map(\.id).allSatisfy(sent.contains))
        #expect(zip(outcomes, outcomes.dropFirst()).allSatisfy { $0.cursor < $1.cursor })
        let webhooks = try await later.store.perform(
            ClaimWebhooks(
                of: Samples.endpoint, at: later.now.advanced(bySeconds: 10),
                until: later.now.advanced(bySeconds: 60), limit: 100))
        #expect(webhooks.items.count == 8 + 8 + 1, "\(webhooks.items.count)")
    }

    @Test("Wakes that ended before the retention count as pruned")
    func retention() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            _ = try await makeFile(path)
            let before = try await contents(ofFile: path)
            try await StoreKind.withDatabase { url in
                let source = try source(path, endedSince: Samples.start.advanced(bySeconds: 60))
                let result = try await PostgreSQLWakeStore.copy(source, url: url)
                try source.close()
                #expect(result.leftOut == 8 && result.count.pruned == 8)
                #expect(result.count.accepted == before.count.accepted)
                #expect(result.count.unended == before.count.unended)
                #expect(result.counts["wake"] == 8 && result.counts["attempt"] == 0)
                #expect(result.counts["outcome"] == 0)
                #expect(try await PostgreSQLWakeStore.audit(url: url).isSound)
            }
        }
    }

    @Test("Neither side may have a gateway, and the database must be empty")
    func inUse() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            _ = try await makeFile(path)
            let running = try SQLiteWakeStore(path: path)
            #expect(throws: StoreFailure.self) { try source(path) }
            try running.close()
            try await StoreKind.withDatabase { url in
                let store = try await PostgreSQLWakeStore.open(url: url)
                let source = try source(path)
                await #expect { try await PostgreSQLWakeStore.copy(source, url: url) } throws: {
                    ($0 as? StoreFailure)?.message.contains("A gateway uses the database") == true
                }
                try await Counter(store: store).admit([Samples.wake()])
                await store.close()
                await #expect { try await PostgreSQLWakeStore.copy(source, url: url) } throws: {
                    ($0 as? StoreFailure)?.message.contains("contents already") == true
                }
                try source.close()
                // Nothing came of it: the file is a gateway's still.
                try SQLiteWakeStore(path: path).close()
            }
        }
    }

    /// A file of which something cannot be read.
    private struct FailingSource: CopiedStore {
        let source: CopiedFile

        func facts() throws(StoreFailure) -> CopiedFacts { try source.facts() }

        func rows(
            of table: CopiedTable, after key: [CopiedValue]?, limit: Int
        ) throws(StoreFailure) -> [[CopiedValue]] {
            guard table != .webhook else {
                throw StoreFailure(kind: .unavailable, message: "The disk failed.")
            }
            return try source.rows(of: table, after: key, limit: limit)
        }

        func retire() throws(StoreFailure) { try source.retire() }

        func reinstate() throws(StoreFailure) { try source.reinstate() }
    }

    /// A file whose disk is full when it is to be marked.
    private struct FullSource: CopiedStore {
        let source: CopiedFile

        func facts() throws(StoreFailure) -> CopiedFacts { try source.facts() }

        func rows(
            of table: CopiedTable, after key: [CopiedValue]?, limit: Int
        ) throws(StoreFailure) -> [[CopiedValue]] {
            try source.rows(of: table, after: key, limit: limit)
        }

        func retire() throws(StoreFailure) {
            throw StoreFailure(kind: .full, message: "The disk is full.")
        }

        func reinstate() throws(StoreFailure) { try source.reinstate() }
    }

    /// A file one of whose rows is read otherwise than it was counted.
    private struct ChangingSource: CopiedStore {
        let source: CopiedFile

        func facts() throws(StoreFailure) -> CopiedFacts {
            var facts = try source.facts()
            facts.counters["accepted", default: 0] += 1
            return facts
        }

        func rows(
            of table: CopiedTable, after key: [CopiedValue]?, limit: Int
        ) throws(StoreFailure) -> [[CopiedValue]] {
            try source.rows(of: table, after: key, limit: limit)
        }

        func retire() throws(StoreFailure) { try source.retire() }

        func reinstate() throws(StoreFailure) { try source.reinstate() }
    }

    @Test("One that fails, or whose counts do not match, leaves nothing, and can be done again")
    func allOrNothing() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            _ = try await makeFile(path)
            try await StoreKind.withDatabase { url in
                let source = try source(path)
                await #expect(throws: StoreFailure.self) {
                    try await PostgreSQLWakeStore.copy(FailingSource(source: source), url: url)
                }
                await #expect(throws: StoreFailure.self) {
                    try await PostgreSQLWakeStore.copy(FullSource(source: source), url: url)
                }
                try source.retire()
                try source.reinstate()
                await #expect {
                    try await PostgreSQLWakeStore.copy(ChangingSource(source: source), url: url)
                } throws: {
                    ($0 as? StoreFailure)?.message.contains("has lost wakes") == true
                }
                let result = try await PostgreSQLWakeStore.copy(source, url: url)
                #expect(result.counts["wake"] == 16)
                try source.close()
            }
        }
    }
}
