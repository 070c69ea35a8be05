// SPDX-License-Identifier: Apache-2.0

import GatewayTestKit
import PayloadRules
import Synchronization
import Testing
import WakeBudget
import WakeModel

@testable import Gateway

@Suite("What a gateway offers beside taking wakes", .timeLimit(.minutes(10)))
struct GatewayVerbTests {
    private let store = WatchfulStore(InMemoryWakeStore())
    private let clock = ManualClock()

    @Test("A caller waits for the outcome, of a merged wake for its carrier's")
    func outcome() async throws {
        let isOpen = Flag()
        let sender = ScriptedSender { _ in isOpen.isSet ? Samples.accepted : Samples.notSent }
        let gateway = sampleGateway(store: store, sender: sender, clock: clock)
        try await withRunning(gateway) { () async throws in
            let first = try #require(await gateway.accept(Samples.request()).admittedID)
            await store.waitUntilSettled(1)
            let second = try #require(await gateway.accept(Samples.request()).admittedID)
            async let waited = gateway.outcome(of: second, within: 60_000)
            async let both = gateway.outcome(of: first, within: 60_000)
            isOpen.set()
            try await eventually {
                clock.advance(bySeconds: 1)
                return try await gateway.record(of: first)?.end != nil
            }
            let record = try #require(try await waited)
            #expect(record.state == .coalesced && record.carrierEnd == .sent(apnsUniqueID: nil))
            #expect(try await both?.state == .sent)
            #expect(try await gateway.outcome(of: Samples.freshID(), within: 9) == nil)
        }
    }

    @Test("Without an outcome in time the record is what it is")
    func outcomeTimeout() async throws {
        var limits = GatewayLimits()
        limits.drainSeconds = 0
        // Real time, because nobody moves a clock while the gateway shuts down.
        let sender = ScriptedSender { _ in nil }
        let gateway = sampleGateway(store: store, sender: sender, limits: limits)
        try await withRunning(gateway) { () async throws in
            let id = try #require(await gateway.accept(Samples.request()).admittedID)
            async let waited = gateway.outcome(of: id, within: 50)
            await sender.waitUntilSent(1)
            #expect(try await waited?.state == .claimed)
        }
    }

    @Test("Outcomes are streamed in the order of their cursors, and a slow reader misses none")
    func events() async throws {
        let gateway = sampleGateway(store: store, sender: ScriptedSender(), clock: clock)
        let events = try #require(try await gateway.events())
        var ids: [WakeID] = []
        try await withRunning(gateway) { () async throws in
            for device in 0..<5 as Range<UInt64> {
                let request = Samples.request(device: device)
                ids.append(try #require(await gateway.accept(request).admittedID))
                await store.waitUntilSettled(ids.count)
            }
        }
        var seen: [OutcomeEvent] = []
        for await event in events { seen.append(event) }
        #expect(seen.map(\.id) == ids)
        #expect(seen.map(\.cursor) == seen.map(\.cursor).sorted())
        #expect(seen.map(\.deviceToken) == (0..<5).map { Samples.deviceToken($0) })
        #expect(seen.allSatisfy { $0.end == .sent(apnsUniqueID: nil) && $0.app == Samples.app })
    }

    @Test("A paused app sends nothing, over restarts too, and goes on when it is resumed")
    func pausing() async throws {
        let sender = ScriptedSender()
        let gateway = sampleGateway(store: store, sender: sender, clock: clock)
        try await withRunning(gateway) { () async throws in
            #expect(try await gateway.pause(Samples.app, reason: "holiday"))
            #expect(try await !gateway.pause(Samples.identity("com.example.no", .sandbox)))
            #expect(gateway.apps.map { $0.pause?.reason } == ["holiday", nil])
            _ = await gateway.accept(Samples.request(.voip))
            let free = await gateway.accept(Samples.request(app: Samples.otherApp))
            await store.waitUntilSettled(1)
            #expect(sender.sent.map(\.id) == [free.admittedID])
        }
        let next = sampleGateway(store: store, sender: sender, clock: clock)
        try await withRunning(next) { () async throws in
            let id = try #require(await next.accept(Samples.request()).admittedID)
            try await eventually { next.apps.first?.pause?.reason == "holiday" }
            #expect(try await next.record(of: id)?.state == .pending)
            #expect(try await next.resume(Samples.app))
            await store.waitUntilSettled(3)
            #expect(try await next.record(of: id)?.state == .sent)
        }
    }

    @Test("An app that is paused again is paused since the first time")
    func pausingAgain() async throws {
        let gateway = sampleGateway(store: store, sender: ScriptedSender(), clock: clock)
        try await withRunning(gateway) { () async throws in
            let first = clock.now()
            #expect(try await gateway.pause(Samples.app, reason: "holiday"))
            clock.advance(bySeconds: 60)
            #expect(try await gateway.pause(Samples.app))
            #expect(gateway.apps.first?.pause == QueuePause(at: first, reason: "holiday"))
            #expect(try await gateway.pause(Samples.app, reason: "moving keys"))
            #expect(gateway.apps.first?.pause == QueuePause(at: first, reason: "moving keys"))
        }
    }

    @Test("All that expired in a pause says so, however many are found only after the resume")
    func expiryInAPause() async throws {
        var limits = GatewayLimits()
        limits.housekeepingBatchCount = 2
        let gateway = sampleGateway(
            store: store, sender: ScriptedSender(), clock: clock, limits: limits)
        try await withRunning(gateway) { () async throws in
            #expect(try await gateway.pause(Samples.app))
            var ids: [WakeID] = []
            for device in 0..<5 as Range<UInt64> {
                let call = Samples.request(.voip, device: device)
                ids.append(try #require(await gateway.accept(call).admittedID))
            }
            clock.advance(bySeconds: 10)
            #expect(try await gateway.resume(Samples.app))
            for id in ids {
                try await eventually { try await gateway.record(of: id)?.state == .expired }
                let record = try #require(try await gateway.record(of: id))
                #expect(record.expiryExplanation == "Its deadline came while the app was paused.")
            }
            // One that expires after the resume has another cause.
            let other = try #require(await gateway.accept(Samples.request(.voip)).admittedID)
            await store.waitUntilSettled(1)
            #expect(try await gateway.record(of: other)?.holds == [])
        }
    }

    @Test("A wake that expired in a pause and is found by the next one for its device says so")
    func expiryFoundByTheNext() async throws {
        var limits = GatewayLimits()
        limits.housekeepingMilliseconds = 3_600_000
        let gateway = sampleGateway(
            store: store, sender: ScriptedSender(), clock: clock, limits: limits)
        try await withRunning(gateway) { () async throws in
            try await eventually { gateway.readiness.isReady }
            #expect(try await gateway.pause(Samples.app))
            let brief = Samples.request(
                expiration: .at(clock.now().advanced(bySeconds: 60)))
            let id = try #require(await gateway.accept(brief).admittedID)
            clock.advance(bySeconds: 61)
            _ = await gateway.accept(Samples.request())
            let record = try #require(try await gateway.record(of: id))
            #expect(record.state == .expired)
            #expect(record.expiryExplanation == "Its deadline came while the app was paused.")
        }
    }

    @Test("A reload changes apps and sender, tries held queues again, and drops nothing")
    func reloading() async throws {
        let refusing = ScriptedSender { _ in Samples.refusal(403, .invalidProviderToken) }
        let gateway = sampleGateway(store: store, sender: refusing, clock: clock)
        try await withRunning(gateway) { () async throws in
            let id = try #require(await gateway.accept(Samples.request()).admittedID)
            await store.waitUntilSettled(1)
            guard case .open(let reason, _, _) = gateway.apps[0].queues[0].circuit else {
                Issue.record("The circuit is closed: \(gateway.apps).")
                return
            }
            #expect(reason.contains("InvalidProviderToken"))
            let sender = ScriptedSender()
            gateway.reload(GatewayConfiguration(apps: [Samples.app]), sender: sender)
            await store.waitUntilSettled(2)
            #expect(try await gateway.record(of: id)?.state == .sent)
            #expect(gateway.readiness.isReady && gateway.apps.map(\.app) == [Samples.app])
            #expect(
                await gateway.accept(Samples.request(app: Samples.otherApp)) == .unknownApp)
        }
    }

    @Test(
        "An answer that a reload overtakes counts where nothing changed for the app",
        arguments: [true, false])
    func overtaken(isUnchanged: Bool) async throws {
        let sender = LateSender(Samples.accepted)
        let gateway = sampleGateway(store: store, sender: sender, clock: clock)
        try await withRunning(gateway) {
            _ = try #require(await gateway.accept(Samples.request()).admittedID)
            try await eventually { sender.sendCount == 1 }
            gateway.reload(
                GatewayConfiguration(apps: [Samples.app, Samples.otherApp]), sender: sender,
                unchanged: isUnchanged ? [Samples.app] : [])
            sender.answer()
            await store.waitUntilSettled(1)
            let queue = WakeQueueKey(app: Samples.app, kind: .background)
            let counts = gateway.dispatcher.state.withLock {
                $0.shares.isAnswered(queue, since: Samples.start)
            }
            #expect(counts == isUnchanged)
        }
    }

    @Test("A spread batch leaves evenly over its time")
    func spreading() async throws {
        let sender = ScriptedSender()
        let gateway = sampleGateway(store: store, sender: sender, clock: clock)
        try await withRunning(gateway) { () async throws in
            let inquiries = (0..<10 as Range<UInt64>).map {
                Inquiry(Samples.request(device: $0))
            }
            let answers = await gateway.accept(inquiries, spreadSeconds: 100)
            let dues = answers.compactMap { answer -> WallInstant? in
                guard case .admitted(let wake) = answer else { return nil }
                guard case .deferred(let until, let holds) = wake.decision else {
                    return Samples.start
                }
                return holds == DelayReasons(.spread) ? until : nil
            }
            #expect(dues == (0..<10).map { Samples.start.advanced(bySeconds: $0 * 10) })
            try await eventually {
                clock.advance(bySeconds: 1)
                return clock.now() >= Samples.start.advanced(bySeconds: 95)
            }
            await store.waitUntilSettled(10)
        }
    }

    @Test("Devices, receipts, cancellation and numbers are reached through the gateway")
    func verbs() async throws {
        let gateway = sampleGateway(store: store, sender: ScriptedSender(), clock: clock)
        let token = Samples.deviceToken()
        try await withRunning(gateway) { () async throws in
            #expect(try await gateway.device(token).isEmpty)
            #expect(try await gateway.report([.foreground], of: token) == .unknownDevice)
            let sent = try #require(await gateway.accept(Samples.request()).admittedID)
            await store.waitUntilSettled(1)
            let waiting = try #require(await gateway.accept(Samples.request()).admittedID)
            let view = try #require(try await gateway.device(token, app: Samples.app).first)
            #expect(view.pending?.id == waiting && view.explanation.hourly?.used == 1)
            guard case .cancelled(let record) = try await gateway.cancel(waiting) else {
                Issue.record("It was not cancelled.")
                return
            }
            #expect(record.state == .cancelled)
            guard case .tooLate = try await gateway.cancel(sent) else {
                Issue.record("It was cancelled although it was sent.")
                return
            }
            #expect(try await gateway.cancel(Samples.freshID()) == .unknown)
            let confirming = { gateway.apps[0].queues.filter(\.confirmsLaunches).map(\.kind) }
            #expect(confirming().isEmpty)
            #expect(try await gateway.confirm([Receipt(id: sent)]) == [.recorded])
            #expect(confirming() == [.background], "told at once, not only after a restart")
            #expect(
                try await gateway.registered(token, app: Samples.app) == .done(ended: []))
            #expect(try await gateway.forget(token, app: Samples.app) == .done(ended: []))
            let page = try await gateway.wakes(WakeQuery(deviceToken: token))
            #expect(page.wakes.map(\.id) == [waiting, sent])
            let stats = try await gateway.stats()
            #expect(stats.accepted == 2 && stats.unended == 0 && stats.inFlight == 0)
            #expect(stats.byState[.cancelled] == 1 && stats.byState[.sent] == 1)
        }
    }

    @Test("A held queue is told by webhook, with all else that somebody listens to")
    func webhooks() async throws {
        var configuration = GatewayConfiguration(apps: [Samples.app])
        configuration.webhooks = Samples.rules.webhooks
        let sender = ScriptedSender { claim in
            claim.kind == .voip
                ? Samples.refusal(410, .unregistered)
                : Samples.refusal(403, .invalidProviderToken)
        }
        let gateway = Gateway(
            configuration: configuration, store: store, sender: sender, clock: clock,
            logger: .silent)
        try await withRunning(gateway) { () async throws in
            _ = await gateway.accept(Samples.request())
            _ = await gateway.accept(Samples.request(.voip))
            await store.waitUntilSettled(2)
            var items: [WebhookItem] = []
            // The hold is written by a task of its own.
            try await eventually {
                items += try await gateway.webhooks(
                    of: Samples.endpoint, limit: 10, leaseSeconds: 30
                ).items
                return Set(items.map(\.event.kind)) == Set(WebhookKind.allCases)
            }
            try await gateway.settle(
                items.map { WebhookSettlement(ticket: $0.ticket, effect: .done) })
            clock.advance(bySeconds: 60)
            #expect(
                try await gateway.webhooks(of: Samples.endpoint, limit: 10, leaseSeconds: 30)
                    == WebhookBatch())
        }
    }

    @Test("A hold is kept without anybody who asks for it, and the last one when it ends")
    func holdsAreKept() async throws {
        var configuration = GatewayConfiguration(apps: [Samples.app])
        configuration.webhooks = Samples.rules.webhooks
        let gateway = Gateway(
            configuration: configuration, store: store, sender: ScriptedSender(), clock: clock,
            logger: .silent)
        // Of the queues of plain pushes none was used.
        let queues = 2
        try await withRunning(gateway) { () async throws in
            #expect(try await gateway.pause(Samples.app))
            try await eventually { try await kept() == queues }
            // It cannot be written for now, and nobody tells when it can be again.
            let failure = StoreFailure(kind: .unavailable, message: "The disk is gone.")
            store.fail(with: failure)
            gateway.context.tell(hold)
            try await eventually { gateway.context.watch.currentFailure != nil }
            store.fail(with: nil)
            try await eventually {
                clock.advance(bySeconds: 1)
                return try await kept() == queues + 1
            }
        }
        // Between the last look of the task and the end.
        let next = Gateway(
            configuration: configuration, store: store, sender: ScriptedSender(), clock: clock,
            logger: .silent)
        try await withRunning(next) { () async throws in
            try await eventually { next.readiness.isReady }
            next.context.tell(hold)
        }
        #expect(try await kept() == queues + 2)
    }

    @Test("A hold that the store refuses to the end is named in the log")
    func lostHolds() async throws {
        var configuration = GatewayConfiguration(apps: [Samples.app])
        configuration.webhooks = Samples.rules.webhooks
        let lines = RecordedLines()
        let gateway = Gateway(
            configuration: configuration, store: store, sender: ScriptedSender(),
            logger: lines.logger)
        try await withRunning(gateway) { () async throws in
            try await eventually { gateway.readiness.isReady }
            store.fail(with: StoreFailure(kind: .full, message: "The disk is full."))
            gateway.context.tell(hold)
        }
        #expect(
            lines.all.filter { $0.contains("held or go on") } == [
                "no webhook will tell that apps were held or go on: the store failed to the end "
                    + "count=1 events=\(hold.queue) was held"
            ])
        store.fail(with: nil)
        #expect(try await kept() == 0)
    }

    @Test(
        "Webhooks that nobody is configured for wait a day, and are removed, with a line for each")
    func removedWebhooks() async throws {
        for _ in 1...5 { try await store.perform(NoteHold(hold, under: Samples.rules)) }
        #expect(try await kept() == 5)
        var limits = GatewayLimits()
        limits.pruneBatchCount = 2
        let lines = RecordedLines()
        let gateway = Gateway(
            configuration: GatewayConfiguration(apps: [Samples.app]), store: store,
            sender: ScriptedSender(), clock: clock, limits: limits, logger: lines.logger)
        let line =
            "webhooks that waited were removed, because no configured endpoint asks for them "
            + "count=5"
        let waits =
            "webhooks wait for an endpoint that is not configured count=5 removed_at="
            + "\(clock.now().advanced(bySeconds: Int64(limits.webhookGraceSeconds)))"
        try await withRunning(gateway) { () async throws in
            try await eventually { lines.all.contains(waits) }
            for _ in 1...5 { clock.advance(bySeconds: 3_600) }
            #expect(try await kept() == 5)
            clock.advance(bySeconds: Int64(limits.webhookGraceSeconds))
            try await eventually {
                clock.advance(bySeconds: 1)
                return lines.all.contains(line)
            }
            // Later steps have nothing to tell.
            clock.advance(bySeconds: 60)
        }
        #expect(try await kept() == 0)
        #expect(lines.all.filter { $0.hasPrefix("webhooks") } == [waits, line])
    }

    private let hold = AppHold(
        queue: WakeQueueKey(app: Samples.app, kind: .voip), isHeld: true, reason: "a bad key",
        at: Samples.start)

    /// How many events the store keeps; a claim of none takes no lease.
    private func kept() async throws -> Int {
        try await store.perform(
            ClaimWebhooks(
                of: Samples.endpoint, at: Samples.start, until: Samples.start, limit: 0
            )
        ).backlogCount
    }
}
