// SPDX-License-Identifier: Apache-2.0

import GatewayTestKit
import StoreRows
import StoreTestKit
import Testing
import WakeModel

@testable import Gateway
@testable import StoreSQLite

/// Each test spoils rows of a real file behind the back of its store, and then lets a store or a
/// gateway work on it. What is damaged costs what it belongs to and nobody else.
@Suite("Rows that cannot be read", .timeLimit(.minutes(10)))
struct DamagedRowTests {
    // MARK: Spoiling

    /// Fills a store, closes it, spoils its file, and hands the store over, open again and without
    /// anything in memory.
    private func withSpoiled(
        _ fill: (Counter) async throws -> Void, _ statements: () throws -> [String],
        _ body: (Counter, _ path: String) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            let first = try SQLiteWakeStore(path: path)
            try await fill(Counter(store: first))
            try first.close()
            try spoil(path, try statements())
            let store = try SQLiteWakeStore(path: path, cachedDevices: 0)
            try await body(Counter(store: store), path)
            try store.close()
        }
    }

    private func spoil(_ path: String, _ statements: [String]) throws {
        let other = try Connection(path)
        for statement in statements {
            try other.run(script: statement)
            try #require(other.changeCount > 0, "\(statement)")
        }
        try other.close()
    }

    /// Names a wake in a statement.
    private static func wake(_ id: WakeID) -> String { "number = \(id.number)" }

    private func conserved(_ store: any WakeStore, damaged: Int) async throws {
        let recount = try await store.perform(RecountWakes())
        let count = try await store.perform(CountWakes())
        #expect(recount.isConserved && recount.byState[.damaged, default: 0] == damaged)
        #expect(recount.accepted == count.accepted && recount.unended == count.unended)
    }

    // MARK: Wakes

    @Test("A gateway sends what strangers wait for, and ends damaged wakes as damaged")
    func gateway() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            let first = try SQLiteWakeStore(path: path)
            let connection = Counter(store: first)
            let at = connection.now.advanced(bySeconds: -1)
            var damaged: [WakeID] = []
            for wake in [
                Samples.wake(at: at, device: 1), Samples.wake(.voip, at: at, device: 2),
                Samples.wake(app: Samples.otherApp, at: at, dueIn: 2, device: 3),
            ] {
                damaged.append(try await connection.admitOne(wake).id)
            }
            // One in hand when the process ended, claimed with its admission.
            let grant = ClaimGrant(
                queues: Set(Samples.queues), background: 1, calls: 0, leaseSeconds: 60)
            let claimed = try await connection.admit(
                [Samples.wake(at: at, device: 4)], grant: grant)
            damaged.append(try #require(claimed.claims.first).id)
            var strangers: Set<WakeID> = []
            for wake in [
                Samples.wake(at: at, device: 11), Samples.wake(.voip, at: at, device: 12),
                Samples.wake(app: Samples.otherApp, at: at, device: 13),
                Samples.wake(.voip, app: Samples.otherApp, at: at, device: 14),
            ] {
                strangers.insert(try await connection.admitOne(wake).id)
            }
            try first.close()
            try spoil(
                path,
                [
                    "UPDATE wake SET rest = x'00' WHERE \(Self.wake(damaged[0]))",
                    "UPDATE wake SET rest = substr(rest, 1, 30) WHERE \(Self.wake(damaged[1]))",
                    "UPDATE wake SET rest = randomblob(80), deadline = 0 "
                        + "WHERE \(Self.wake(damaged[2]))",
                    "UPDATE wake SET rest = x'' WHERE \(Self.wake(damaged[3]))",
                ])

            let store = try SQLiteWakeStore(path: path)
            let sender = ScriptedSender()
            let lines = RecordedLines()
            let gateway = sampleGateway(
                store: store, sender: sender, clock: FastClock(factor: 1), logger: lines.logger)
            try await withRunning(gateway) { () async throws in
                #expect(
                    try await comesTrue { Set(sender.sent.map(\.id)).isSuperset(of: strangers) })
                let fresh = await gateway.accept(Samples.request(device: 15))
                #expect(fresh.admittedID != nil)
                #expect(
                    try await comesTrue {
                        try await store.perform(RecountWakes()).byState[.damaged] == damaged.count
                    })
                #expect(gateway.readiness.isReady, "\(gateway.readiness.obstacles)")
            }
            #expect(Set(sender.sent.map(\.id)).isDisjoint(with: damaged))
            try await conserved(store, damaged: damaged.count)
            let told = lines.all.filter { $0.contains("row of the store is damaged") }
            #expect(told.count == damaged.count, "\(lines.all)")
            try store.close()

            let audit = try SQLiteWakeStore.audit(path: path)
            #expect(!audit.isSound && audit.count.isConserved)
            #expect(audit.damagedCount == damaged.count)
            for id in damaged {
                let key = id.description.prefix(18) + "…"
                #expect(audit.damaged.contains { $0.table == .wake && $0.key == key })
            }
        }
    }

    @Test("A device whose waiting wake is damaged begins anew with its next one")
    func carrier() async throws {
        var carrier: WakeID?
        try await withSpoiled { connection in
            try await connection.settleSent(try await connection.claimOne(Samples.wake(device: 1)))
            carrier = try await connection.admitOne(Samples.wake(device: 1)).id
        } _: {
            ["UPDATE wake SET rest = x'01ff' WHERE state = 0"]
        } _: { connection, _ in
            let id = try #require(carrier)
            let next = try await connection.admitOne(Samples.wake(device: 1))
            #expect(next.id != id)
            let again = try await connection.admitOne(Samples.wake(device: 1))
            guard case .coalesced(next.id, _, _, _) = again.decision else {
                Issue.record("\(again.decision)")
                return
            }
            try await conserved(connection.store, damaged: 1)
            // Whoever asks for it by name is told what is wrong.
            let failure = await #expect(throws: StoreFailure.self) {
                _ = try await connection.store.perform(FindWake(id))
            }
            #expect(failure?.kind == .damaged)
            let page = try await connection.store.perform(ListWakes(WakeQuery(limit: 10)))
            #expect(page.wakes.map(\.id).contains(next.id) && page.wakes.count == 3)
        }
    }

    // MARK: Devices

    @Test("One damaged ledger costs one device and not the strangers of its batch")
    func ledger() async throws {
        let spoiled = Samples.deviceToken(300)
        var waiting: WakeID?
        try await withSpoiled { connection in
            for device in [300, 301] as [UInt64] {
                try await connection.settleSent(
                    try await connection.claimOne(Samples.wake(device: device)))
            }
            waiting = try await connection.admitOne(Samples.wake(device: 300)).id
        } _: {
            ["UPDATE device SET ledger = x'0107' WHERE token = x'\(spoiled.hex)'"]
        } _: { connection, path in
            let wakes = (1...512 as ClosedRange<UInt64>).map { Samples.wake(device: $0) }
            let answer = try await connection.admit(wakes)
            #expect(answer.admissions.count == 512)
            for (place, admission) in answer.admissions.enumerated() {
                switch admission {
                case .admitted: #expect(place != 299)
                case .damaged: #expect(place == 299)
                default: Issue.record("\(admission)")
                }
            }
            let audit = try SQLiteWakeStore.audit(path: path)
            #expect(audit.damagedCount == 1 && audit.damaged.map(\.table) == [.device])

            let sender = ScriptedSender()
            let gateway = sampleGateway(
                store: connection.store, sender: sender, clock: FastClock(factor: 1))
            try await withRunning(gateway) { () async throws in
                let refused = await gateway.accept(Samples.request(device: 300))
                guard case .damaged(let reason) = refused else {
                    Issue.record("\(refused)")
                    return
                }
                #expect(reason.contains("\(spoiled)"))
                #expect(await gateway.accept(Samples.request(device: 600)).admittedID != nil)
                // Its record is still told, because the token is there.
                let id = try #require(waiting)
                #expect(try await gateway.record(of: id)?.deviceToken == spoiled)
                #expect(gateway.readiness.isReady)
                let forgotten = try await gateway.forget(spoiled)
                #expect(forgotten != .unknownApp)
                #expect(await gateway.accept(Samples.request(device: 300)).admittedID != nil)
            }
            #expect(try SQLiteWakeStore.audit(path: path).damagedCount == 0)
        }
    }

    @Test("A device whose token is damaged costs its wake, whether that waits or is in hand")
    func token() async throws {
        for isClaimed in [false, true] {
            try await withSpoiled { connection in
                try await connection.admit(
                    (1...3 as ClosedRange<UInt64>).map { Samples.wake(device: $0) })
                if isClaimed { #expect(try await connection.claim().claims.count == 3) }
            } _: {
                ["UPDATE device SET token = x'' WHERE latest = (SELECT min(number) FROM wake)"]
            } _: { connection, _ in
                if isClaimed {
                    let reclaimed = try await connection.store.perform(
                        ReclaimLeases(
                            at: connection.now, limit: 10, except: [], under: connection.rules))
                    #expect(reclaimed.ended.map(\.end) == [.damaged])
                    #expect(reclaimed.returned.count == 2)
                } else {
                    let answer = try await connection.claim()
                    #expect(answer.claims.count == 2 && answer.ended.map(\.end) == [.damaged])
                }
                try await conserved(connection.store, damaged: 1)
            }
        }
    }

    @Test("A phone whose ledger was damaged, and that was forgotten, does not ring a second time")
    func callAfterDamage() async throws {
        var first: WakeID?
        try await withSpoiled { connection in
            for call in [1, 2] as [UInt64] {
                let claim = try await connection.claimOne(
                    Samples.wake(.voip, at: connection.now, call: call))
                try await connection.settleSent(claim)
                first = first ?? claim.id
            }
        } _: {
            ["UPDATE device SET ledger = x'ff'"]
        } _: { connection, _ in
            let report = try await connection.store.perform(
                ReportDevice(
                    .forget, of: Samples.deviceToken(), in: Samples.queues, makes: false,
                    at: connection.now,
                    under: connection.rules))
            #expect(report.devices == 1)
            let later = connection.later(2)
            let again = try await later.admitOne(Samples.wake(.voip, at: later.now, call: 1))
            #expect(again.decision == .sameCall(try #require(first)))
            let other = try await later.admitOne(Samples.wake(.voip, at: later.now, call: 3))
            #expect(other.decision == .send)
        }
    }

    @Test("What is due for a device whose ledger is damaged ends, and the rest is claimed")
    func claiming() async throws {
        try await withSpoiled { connection in
            try await connection.admit(
                (1...9 as ClosedRange<UInt64>).map { Samples.wake(device: $0) })
        } _: {
            ["UPDATE device SET ledger = x'ff' WHERE pending = (SELECT min(number) FROM wake)"]
        } _: { connection, _ in
            let answer = try await connection.claim()
            #expect(answer.claims.count == 8 && answer.ended.map(\.end) == [.damaged])
            let refusal = Refusal(status: 410, reason: .unregistered)
            let spoiled = answer.claims[3].deviceToken.bytes
            try await connection.store.spoil("UPDATE device SET ledger = x'ff' WHERE token = ?") {
                $0.bind(1, spoiled)
            }
            let settled = try await connection.store.perform(
                SettleWakes(
                    answer.claims.map {
                        Settlement(
                            ticket: $0.ticket, at: connection.now, attempt: .refused(refusal),
                            effect: .end(.undeliverable(refusal)))
                    }, under: connection.rules))
            #expect(settled.verdicts.allSatisfy { $0 == .applied } && settled.ended.count == 8)
            try await conserved(connection.store, damaged: 1)
        }
    }

    @Test("A result whose wake was damaged in flight is given up, and the others are written")
    func settling() async throws {
        try await withSpoiled { connection in
            try await connection.admit(
                (1...5 as ClosedRange<UInt64>).map { Samples.wake(device: $0) })
        } _: {
            []
        } _: { connection, _ in
            let claims = try await connection.claim().claims
            let spoiled = claims[2].id.number
            try await connection.store.spoil("UPDATE wake SET rest = x'01' WHERE number = ?") {
                $0.bind(1, spoiled)
            }
            let settled = try await connection.store.perform(
                SettleWakes(
                    claims.map {
                        Settlement(
                            ticket: $0.ticket, at: connection.now,
                            attempt: .accepted(apnsUniqueID: nil),
                            effect: .end(.sent(apnsUniqueID: nil)))
                    }, under: connection.rules))
            #expect(settled.verdicts == [.applied, .applied, .damaged, .applied, .applied])
            try await conserved(connection.store, damaged: 1)
        }
    }

    // MARK: The other tables

    @Test("Damaged entries of the feed of outcomes are passed over, and those behind them read")
    func outcomes() async throws {
        try await withSpoiled { connection in
            for device in 1...4 as ClosedRange<UInt64> {
                try await connection.settleSent(
                    try await connection.claimOne(Samples.wake(device: device)))
            }
        } _: {
            [
                "UPDATE outcome SET wakes = x'010203' "
                    + "WHERE number = (SELECT min(number) FROM outcome)"
            ]
        } _: { connection, path in
            #expect(try SQLiteWakeStore.audit(path: path).damagedCount == 1)
            let page = try await connection.store.perform(ReadOutcomes(after: 0, limit: 100))
            #expect(page.events.count == 3 && !page.isFull)
        }
    }

    @Test("A damaged webhook is dropped and counted, and those behind it are delivered")
    func webhooks() async throws {
        try await withSpoiled { connection in
            for device in 1...4 as ClosedRange<UInt64> {
                try await connection.settleSent(
                    try await connection.claimOne(Samples.wake(device: device)))
            }
        } _: {
            [
                "UPDATE webhook SET kind = 'nonsense' "
                    + "WHERE number = (SELECT min(number) FROM webhook)",
                "UPDATE webhook SET fence = 9223372036854775807 "
                    + "WHERE number = (SELECT max(number) FROM webhook)",
                "UPDATE wake SET rest = x'02' WHERE number = (SELECT subject FROM webhook "
                    + "WHERE kind = 'outcome' ORDER BY number LIMIT 1)",
            ]
        } _: { connection, path in
            #expect(try SQLiteWakeStore.audit(path: path).damagedCount == 3)
            let later = connection.now.advanced(bySeconds: 5)
            let batch = try await connection.store.perform(
                ClaimWebhooks(
                    of: Samples.endpoint, at: later, until: later.advanced(bySeconds: 30),
                    limit: 100))
            #expect(batch.items.count == 1 && batch.droppedCount == 3)
            #expect(batch.backlogCount == 1)
            let audit = try SQLiteWakeStore.audit(path: path)
            #expect(audit.damagedCount == 1 && audit.faults.isEmpty)
        }
    }

    @Test("A damaged idempotency mark still stands for its wake")
    func marks() async throws {
        let mark = IdempotencyKey(
            key: Array(repeating: 7, count: 32), request: Array(repeating: 8, count: 32),
            expiresAt: Samples.start.advanced(bySeconds: 600))
        var first: AdmitAnswer?
        try await withSpoiled { connection in
            first = try await connection.store.perform(
                AdmitWakes(
                    [Samples.wake().with(mark)], grant: nil,
                    under: connection.rules))
        } _: {
            ["UPDATE idempotency SET answer = x'0102'"]
        } _: { connection, path in
            let audit = try SQLiteWakeStore.audit(path: path)
            #expect(audit.damaged.map(\.table) == [.idempotency])
            let again = try await connection.store.perform(
                AdmitWakes(
                    [
                        Samples.wake().with(mark),
                        Samples.wake(device: 8),
                    ], grant: nil, under: connection.rules))
            guard case .admitted(let old)? = first?.admissions.first,
                case .admitted(let repeated)? = again.admissions.first
            else {
                Issue.record("\(again.admissions)")
                return
            }
            #expect(repeated.id == old.id && repeated.isRepeated)
            #expect(again.admissions.count == 2)
        }
    }

    @Test("A damaged queue keeps no other app, and its wakes end")
    func queues() async throws {
        var wakes: [WakeID] = []
        try await withSpoiled { connection in
            wakes.append(try await connection.admitOne(Samples.wake(device: 1)).id)
            wakes.append(
                try await connection.admitOne(Samples.wake(app: Samples.otherApp, device: 2)).id)
        } _: {
            ["UPDATE queue SET environment = 'nowhere' WHERE number = 1"]
        } _: { connection, path in
            let audit = try SQLiteWakeStore.audit(path: path)
            #expect(Set(audit.damaged.map(\.table)) == [.queue, .wake, .device])
            #expect(try await connection.claim().claims.map(\.id) == [wakes[1]])
            #expect(try await connection.store.perform(ListQueues()).count == 1)
            let page = try await connection.store.perform(ListWakes(WakeQuery(limit: 10)))
            #expect(page.wakes.map(\.id) == [wakes[1]])
            // A day later its time is over.
            let end = connection.later(86_400 + 60)
            _ = try await end.store.perform(ExpireWakes(at: end.now, limit: 10, under: end.rules))
            try await conserved(connection.store, damaged: 1)
        }
    }

    @Test("A damaged attempt and a damaged entry of the feed are left out")
    func history() async throws {
        var wakes: [WakeID] = []
        try await withSpoiled { connection in
            let refusal = Refusal(status: 410, reason: .unregistered)
            for device in 1...3 as ClosedRange<UInt64> {
                let claim = try await connection.claimOne(Samples.wake(device: device))
                wakes.append(claim.id)
                try await connection.settle(
                    claim, .end(.undeliverable(refusal)), attempt: .refused(refusal))
            }
        } _: {
            [
                "UPDATE attempt SET result = '?' WHERE wake = (SELECT min(wake) FROM attempt)",
                "UPDATE feedback SET token = x'' "
                    + "WHERE number IN (SELECT number FROM feedback ORDER BY number LIMIT 2)",
            ]
        } _: { connection, path in
            let audit = try SQLiteWakeStore.audit(path: path)
            #expect(audit.damagedCount == 3)
            #expect(Set(audit.damaged.map(\.table)) == [.attempt, .feedback])
            let attempts = try await connection.record(wakes[0]).attempts
            guard case .unanswered(let failure)? = attempts.first?.result else {
                Issue.record("\(attempts)")
                return
            }
            // It may have reached APNs, as far as anybody knows.
            #expect(failure.certainty == .unknown)
            let feed = try await connection.store.perform(ReadFeedback(after: 0, limit: 1))
            #expect(feed.map(\.wake) == [wakes[2]])
        }
    }

    @Test("A wake in a state that there is not counts as damaged, and stops no counting")
    func state() async throws {
        try await withSpoiled { connection in
            try await connection.admit(
                (1...3 as ClosedRange<UInt64>).map { Samples.wake(device: $0) })
        } _: {
            ["UPDATE wake SET state = 99 WHERE number = (SELECT min(number) FROM wake)"]
        } _: { connection, _ in
            #expect(
                try await connection.store.perform(RecountWakes()).byState == [
                    .pending: 2, .damaged: 1,
                ])
            #expect(try await connection.claim().claims.count == 2)
            try await conserved(connection.store, damaged: 1)
        }
    }
}

extension WakeStore {
    /// Spoils rows of an open store by its own connection, and has it forget what it knows of them:
    /// the statement is run with a value, and then the transaction after it fails.
    fileprivate func spoil(
        _ sql: StaticString, _ bind: @escaping @Sendable (StoreSQLite.Statement) -> Void
    ) async throws {
        let store = try #require(self as? SQLiteWakeStore)
        try await store.writing.write { connection throws(StoreFailure) in
            let statement = try connection.connection.prepare(sql)
            bind(statement)
            try statement.run()
        }
        await #expect(throws: StoreFailure.self) {
            try await store.writing.write { _ throws(StoreFailure) in
                throw StoreFailure(kind: .unavailable, message: "A test.")
            }
        }
    }
}
