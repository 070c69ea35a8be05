// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayTestKit
import StoreRows
import StoreTestKit
import Testing
import WakeModel

@testable import StoreSQLite

@Suite("Files of earlier versions")
struct MigrationTests {
    /// A file of the first version, with so many events that wait.
    private func makeFirstVersion(at path: String, events: Int) throws {
        try EarlierStore.make(path, lastStep: "1 wakes")
        let file = try Connection(path)
        for number in 1...events {
            try file.rows(
                """
                INSERT INTO webhook (kind, subject, created_at, due_at, tries, bundle_id,
                    environment, lane_kind, reason)
                VALUES ('app-halted', 1, ?1, ?1, 2, ?2, ?3, ?4, ?5)
                """,
                [
                    .integer(Samples.start.millisecondsSinceEpoch),
                    .text(Samples.app.bundleID.value), .text(Samples.app.environment.rawValue),
                    .integer(WakeKind.background.number), .text("event \(number)"),
                ])
        }
        try file.close()
    }

    private func order(_ webhooks: [WebhookSubscription], limit: Int = 2) -> PruneOrder {
        PruneOrder(
            now: Samples.start, wakesBefore: Samples.start.advanced(bySeconds: -1),
            devicesBefore: Samples.start.advanced(bySeconds: -1), webhooks: webhooks,
            limit: limit)
    }

    @Test("A file of a newer version is known as one, and not opened")
    func newerVersion() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            try SQLiteWakeStore(path: path).close()
            #expect(try !SQLiteWakeStore.isOfNewerVersion(path: path))
            try Connection.run(
                "INSERT INTO grdb_migrations (identifier) VALUES ('999 later')", on: path)
            #expect(try SQLiteWakeStore.isOfNewerVersion(path: path))
            let failure = #expect(throws: StoreFailure.self) { try SQLiteWakeStore(path: path) }
            #expect(failure?.kind == .corrupt)
        }
    }

    @Test("A key of an earlier version is answered with what its wake says")
    func idempotency() async throws {
        try await withTemporaryFolder { folder in
            let mark = IdempotencyKey(
                key: [1], request: [2], expiresAt: Samples.start.advanced(bySeconds: 3_600))
            let submission = Samples.wake(dueIn: 60).with(mark)
            let today = folder + "/today.sqlite"
            let store = try SQLiteWakeStore(path: today)
            let first = try await store.perform(
                AdmitWakes([submission], grant: nil, under: StoreRules()))
            try store.close()
            try EarlierStore.makeEarlier(today, steps: 7)
            // The same rows in a file of the second version.
            let path = folder + "/store.sqlite"
            try EarlierStore.make(path, lastStep: "2 webhook endpoints")
            try Connection.run(
                """
                ATTACH '\(today)' AS today;
                DELETE FROM book;
                INSERT INTO book SELECT * FROM today.book;
                INSERT INTO lane
                    SELECT number, bundle_id, environment, kind, confirms_launches,
                        paused_at, pause_reason
                    FROM today.lane;
                INSERT INTO device
                    SELECT number, lane, token, ledger, pending, latest, registered_at,
                        dead_since, receipt_at, touched_at
                    FROM today.device;
                INSERT INTO wake SELECT * FROM today.wake;
                INSERT INTO idempotency
                    SELECT key, request, wake, expires_at FROM today.idempotency;
                """, on: path)

            let migrated = try SQLiteWakeStore(path: path)
            func ask(_ mark: IdempotencyKey) async throws -> AdmissionResult? {
                try await migrated.perform(
                    AdmitWakes(
                        [submission.with(mark)], grant: nil,
                        under: StoreRules()
                    )
                ).admissions.first
            }
            guard case .admitted(let wake) = first.admissions.first else {
                Issue.record("It was not taken.")
                return
            }
            #expect(
                try await ask(mark)
                    == .admitted(
                        AdmittedWake(
                            id: wake.id, acceptedAt: wake.acceptedAt, deadline: wake.deadline,
                            decision: wake.decision, isRepeated: true)))
            let other = IdempotencyKey(key: [1], request: [3], expiresAt: mark.expiresAt)
            #expect(try await ask(other) == .idempotencyConflict)
            let new = IdempotencyKey(key: [4], request: [5], expiresAt: mark.expiresAt)
            guard case .admitted(let next) = try await ask(new) else {
                Issue.record("It was not taken.")
                return
            }
            guard case .admitted(let again) = try await ask(new) else {
                Issue.record("It was not recognised.")
                return
            }
            #expect(again.isRepeated && again.id == next.id && again.decision == next.decision)
            try migrated.close()
        }
    }

    @Test("A call that was let through before the update is the same call after it")
    func calls() async throws {
        try await withTemporaryFolder { folder in
            func call(_ number: UInt64, _ seconds: Int64 = 0) -> WakeSubmission {
                Samples.wake(
                    .voip, at: Samples.start.advanced(bySeconds: seconds), call: number)
            }
            let path = folder + "/store.sqlite"
            let store = try SQLiteWakeStore(path: path)
            let connection = Counter(store: store)
            let first = try await connection.claimOne(call(1))
            try await connection.settleSent(first)
            let cancelled = try await connection.admitOne(call(2))
            _ = try await store.perform(
                CancelWake(cancelled.id, at: connection.now, under: connection.rules))
            try await connection.admit((3...90 as ClosedRange<UInt64>).map { call($0, 1) })
            try store.close()
            try EarlierStore.makeEarlier(path, steps: 4)

            let migrated = try SQLiteWakeStore(path: path)
            let later = Counter(store: migrated).later(2)
            let again = try await later.admitOne(call(1, 2))
            #expect(again.decision == .sameCall(first.id) && again.isRepeated)
            // Not sent, so not the same; the hour is full by now.
            #expect(try await later.admitOne(call(2, 2)).decision.word == "suppressed")
            #expect(try await later.admitOne(call(3, 2)).decision.word == "same-call")
            try migrated.close()
        }
    }

    @Test("Events that wait become the only endpoint's, in steps, and none is lost")
    func events() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            try makeFirstVersion(at: path, events: 3)
            let store = try SQLiteWakeStore(path: path)
            let order = order(Samples.rules.webhooks)
            let steps = [
                try await store.prune(order), try await store.prune(order),
                try await store.prune(order),
            ]
            #expect(steps.map(\.inheritedWebhooks) == [2, 1, 0])
            #expect(steps.map(\.webhooks) == [0, 0, 0])
            #expect(steps.map { $0.isFull(2) } == [true, false, false])
            let batch = try await store.perform(
                ClaimWebhooks(
                    of: Samples.endpoint, at: Samples.start,
                    until: Samples.start.advanced(bySeconds: 30), limit: 10))
            #expect(batch.backlogCount == 3)
            #expect(batch.items.allSatisfy { $0.tries == 2 })
            #expect(
                batch.items.map(\.event)
                    == (1...3).map { number in
                        .appHeld(
                            AppHold(
                                queue: WakeQueueKey(app: Samples.app, kind: .background),
                                isHeld: true,
                                reason: "event \(number)", at: Samples.start))
                    })
            try await store.perform(
                SettleWebhooks(
                    batch.items.map { WebhookSettlement(ticket: $0.ticket, effect: .done) }))
            for endpoint in [Samples.endpoint, .unnamed] {
                let rest = try await store.perform(
                    ClaimWebhooks(
                        of: endpoint, at: Samples.start, until: Samples.start, limit: 10))
                #expect(rest == WebhookBatch())
            }
            try store.close()
        }
    }

    @Test("The only endpoint gets what it listens to, and nothing else")
    func choosyHeir() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            try makeFirstVersion(at: path, events: 2)
            try await {
                // One event of another app, by a gateway of today, and then made as old as those.
                let store = try SQLiteWakeStore(path: path)
                let connection = Counter(store: store)
                let apps: [UInt64: AppIdentity] = [1: Samples.app, 2: Samples.otherApp]
                for (device, app) in apps {
                    let wake = Samples.wake(app: app, device: device)
                    try await connection.settleSent(try await connection.claimOne(wake))
                }
                try store.close()
            }()
            try Connection.run(
                """
                UPDATE webhook SET endpoint = 0;
                UPDATE property SET value = 4 WHERE name = 'webhooks 0';
                UPDATE property SET value = 0 WHERE name = 'webhooks 7';
                """, on: path)
            let store = try SQLiteWakeStore(path: path)
            let heir = WebhookSubscription(
                endpoint: Samples.endpoint, kinds: [.outcome], apps: [Samples.otherApp.bundleID])
            let pruned = try await store.prune(order([heir], limit: 9))
            #expect(pruned.webhooks == 3 && pruned.inheritedWebhooks == 1)
            let batch = try await store.perform(
                ClaimWebhooks(
                    of: Samples.endpoint, at: Samples.start.advanced(bySeconds: 60),
                    until: Samples.start.advanced(bySeconds: 90), limit: 10))
            #expect(batch.backlogCount == 1 && batch.items.count == 1)
            guard case .outcome(let record) = batch.items.first?.event else {
                Issue.record("No outcome is left.")
                return
            }
            #expect(record.app == Samples.otherApp)
            try store.close()
            #expect(try SQLiteWakeStore.audit(path: path).isSound)
        }
    }

    @Test("With several endpoints, or none, they come to nobody", arguments: [0, 2])
    func strangers(_ count: Int) async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            try makeFirstVersion(at: path, events: 3)
            let store = try SQLiteWakeStore(path: path)
            let webhooks = [Samples.endpoint, Samples.otherEndpoint].prefix(count).map {
                WebhookSubscription(endpoint: $0, kinds: Set(WebhookKind.allCases))
            }
            let pruned = try await store.prune(order(webhooks, limit: 9))
            #expect(pruned.webhooks == 3 && pruned.inheritedWebhooks == 0)
            for endpoint in [Samples.endpoint, Samples.otherEndpoint, .unnamed] {
                let rest = try await store.perform(
                    ClaimWebhooks(
                        of: endpoint, at: Samples.start, until: Samples.start, limit: 10))
                #expect(rest == WebhookBatch())
            }
            try store.close()
        }
    }

    @Test(
        "A file of each version is brought up to date with all that it holds",
        arguments: 1...EarlierStore.stepCount)
    func eachVersion(_ steps: Int) async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            let first = try SQLiteWakeStore(path: path)
            let connection = Counter(store: first)
            try await connection.settleSent(try await connection.claimOne(Samples.wake(device: 1)))
            _ = try await connection.claimOne(Samples.wake(.voip, device: 2, call: 1))
            try await connection.admit([
                Samples.wake(app: Samples.otherApp, dueIn: 600, device: 3),
                Samples.wake(app: Samples.otherApp, device: 3), Samples.wake(device: 1),
            ])
            let pause = QueuePause(at: connection.now, reason: "holiday")
            try await first.perform(SetPause(pause, of: [Samples.queues[0]]))
            let before = try await first.perform(ListWakes(WakeQuery())).wakes
            let queues = try await first.perform(ListQueues())
            try first.close()

            try EarlierStore.makeEarlier(path, steps: steps)
            #expect(try SQLiteWakeStore.audit(path: path).isSound)
            let store = try SQLiteWakeStore(path: path)
            #expect(before.count == 5)
            // Opening moves leases, and nothing else.
            let after = try await store.perform(ListWakes(WakeQuery())).wakes
            #expect(after.map(\.id) == before.map(\.id))
            #expect(after.map(\.state) == before.map(\.state))
            #expect(after.filter { $0.state != .claimed } == before.filter { $0.state != .claimed })
            #expect(try await store.perform(ListQueues()) == queues)
            // The call that was in hand may have rung.
            let later = Counter(store: store).later(120)
            let reclaimed = try await store.perform(
                ReclaimLeases(at: later.now, limit: 10, under: later.rules))
            #expect(reclaimed.ended.map(\.end) == [.failed(.fateUnknown)])
            #expect(try await store.perform(RecountWakes()).isConserved)
            try store.close()
        }
    }

    @Test("Who opens the file with another program reads words")
    func views() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            let store = try SQLiteWakeStore(path: path)
            let connection = Counter(store: store)
            let sent = try await connection.claimOne(Samples.wake(device: 1))
            try await connection.settleSent(sent)
            let waiting = try await connection.admitOne(
                Samples.wake(app: Samples.otherApp, dueIn: 600, device: 2))
            try store.close()
            let other = try Connection(path)
            let wakes = try other.rows(
                """
                SELECT state, id, token, bundle_id, kind, accepted_at, payload_bytes
                FROM wakes ORDER BY id
                """)
            let devices = try other.rows(
                "SELECT token, pending_wake FROM devices WHERE pending_wake IS NOT NULL")
            try other.close()
            #expect(wakes.map(\.first) == [.text("sent"), .text("pending")])
            let starts = wakes.map { row -> String in
                guard case .text(let text) = row[1] else { return "no text" }
                return text
            }
            #expect(
                zip(starts, [sent.id, waiting.id]).allSatisfy { $1.description.hasPrefix($0) })
            let row = try #require(wakes.last)
            let token = CopiedValue.text(Samples.deviceToken(2).hex)
            #expect(row[2] == token)
            #expect(row[3] == .text(Samples.otherApp.bundleID.value))
            #expect(row[4] == .text("background"))
            guard case .text(let accepted) = row[5] else {
                Issue.record("There is no time.")
                return
            }
            #expect(accepted.hasPrefix(Samples.start.description.prefix(10)))
            let payload = #"{"aps":{"content-available":1},"note":"n2"}"#
            #expect(row[6] == .integer(Int64(payload.utf8.count)))
            #expect(devices == [[token, row[1]]])
        }
    }
}
