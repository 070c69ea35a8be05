// SPDX-License-Identifier: Apache-2.0

import GatewayTestKit
import PayloadRules
import Synchronization
import Testing
import WaitKit
import WakeBudget
import WakeModel

@testable import Gateway

@Suite("The gateway in front of a store in memory", .timeLimit(.minutes(10)))
struct GatewayTests {
    private let store = WatchfulStore(InMemoryWakeStore())
    private let clock = ManualClock()

    @Test("An accepted wake is sent with the bytes it came with, and its record says so")
    func happyPath() async throws {
        let sender = ScriptedSender()
        let gateway = sampleGateway(store: store, sender: sender, clock: clock)
        try await withRunning(gateway) {
            let request = Samples.request()
            let id = try #require(await gateway.accept(request).admittedID)
            await store.waitUntilSettled(1)
            let record = try #require(try await gateway.record(of: id))
            #expect(record.state == .sent)
            #expect(record.attempts.map(\.result) == [.accepted(apnsUniqueID: nil)])
            #expect(sender.sent.map(\.payload) == [request.payload])
            #expect(sender.sent.map(\.app) == [Samples.app])
            #expect(gateway.readiness.isReady)
        }
    }

    @Test("What cannot be is refused, and nothing is kept")
    func refusals() async throws {
        let both = [Samples.app, Samples.identity("com.example.app", .production)]
        let gateway = Gateway(
            apps: both, store: store, sender: ScriptedSender(), clock: clock, logger: .silent)
        try await withRunning(gateway) {
            var broken = Samples.request()
            broken.payload = Array("{".utf8)
            let acceptance = await gateway.accept(broken, environment: .sandbox)
            guard case .invalid(let diagnostics) = acceptance else {
                Issue.record("A broken payload was taken: \(acceptance).")
                return
            }
            #expect(diagnostics.contains { $0.severity == .error })
            #expect(await gateway.accept(Samples.request()) == .ambiguousEnvironment)
            #expect(await gateway.accept(Samples.request(app: Samples.otherApp)) == .unknownApp)
            let count = try await store.perform(RecountWakes())
            #expect(count.accepted == 0)
        }
    }

    @Test("A single wake is spread too: over a random part of the time")
    func spreadSingles() async throws {
        let gateway = sampleGateway(store: store, sender: ScriptedSender(), clock: clock)
        try await withRunning(gateway) {
            var delays: [Int64] = []
            for device in 0..<40 as Range<UInt64> {
                let inquiry = Inquiry(Samples.request(device: device), environment: nil)
                let answer = await gateway.accept([inquiry], spreadSeconds: 100)[0]
                guard case .admitted(let wake) = answer else {
                    Issue.record("It was refused: \(answer)")
                    continue
                }
                if case .deferred(let until, let holds) = wake.decision {
                    #expect(holds == DelayReasons(.spread))
                    delays.append(until.milliseconds(since: clock.now()))
                }
            }
            #expect(delays.allSatisfy { (0...100_000).contains($0) })
            #expect(delays.count { $0 < 50_000 } >= 5 && delays.count { $0 >= 50_000 } >= 5)
            let call = Inquiry(Samples.request(.voip), environment: nil)
            let answer = await gateway.accept([call], spreadSeconds: 100)[0]
            guard case .admitted(let wake) = answer else {
                Issue.record("A call was refused: \(answer)")
                return
            }
            #expect(wake.decision == .send)
        }
    }

    @Test("What is spread over more time than it has left is sent within that")
    func spreadBeyondEnd() async throws {
        let gateway = sampleGateway(store: store, sender: ScriptedSender(), clock: clock)
        let expiry = clock.now().advanced(bySeconds: 3_600)
        try await withRunning(gateway) {
            let inquiries = (0..<50 as Range<UInt64>).map { device in
                Inquiry(
                    Samples.request(device: device, expiration: device < 25 ? .at(expiry) : nil),
                    environment: nil)
            }
            for answer in await gateway.accept(inquiries, spreadSeconds: 7 * 86_400) {
                guard case .admitted(let wake) = answer else {
                    Issue.record("It was refused: \(answer)")
                    continue
                }
                if case .deferred(let until, _) = wake.decision {
                    #expect(until <= wake.deadline.advanced(bySeconds: -59))
                } else {
                    #expect(wake.decision == .send)
                }
            }
        }
    }

    @Test("Without any answer for a minute the gateway is not ready and says why; one ends that")
    func silence() async throws {
        let isBack = Flag()
        let lines = RecordedLines()
        let gateway = sampleGateway(
            store: store,
            sender: ScriptedSender { _ in isBack.isSet ? Samples.accepted : Samples.notSent },
            clock: clock, logger: lines.logger)
        try await withRunning(gateway) {
            let id = try #require(await gateway.accept(Samples.request()).admittedID)
            try await eventually {
                #expect(clock.now() < Samples.start.advanced(bySeconds: 600), "It never said so.")
                clock.advance(bySeconds: 5)
                return !gateway.readiness.isReady
            }
            #expect(clock.now() >= Samples.start.advanced(bySeconds: 60))
            let words =
                "\(WakeQueueKey(app: Samples.app, kind: .background)): APNs has answered nothing"
            #expect(gateway.readiness.obstacles.count == 1)
            #expect(gateway.readiness.obstacles[0].hasPrefix(words))
            #expect(gateway.readiness.obstacles[0].contains("The connection was refused."))
            let status = try #require(gateway.apps.first { $0.app == Samples.app })
            #expect(status.queues.first { $0.kind == .background }?.silence != nil)
            #expect(status.queues.first { $0.kind == .voip }?.silence == nil)
            // A reload that changes nothing for the app leaves it as it is.
            let since = status.queues.first { $0.kind == .background }?.silence?.since
            gateway.reload(
                GatewayConfiguration(apps: [Samples.app, Samples.otherApp]),
                sender: ScriptedSender { _ in isBack.isSet ? Samples.accepted : Samples.notSent },
                unchanged: [Samples.app])
            let again = gateway.apps.first { $0.app == Samples.app }
            #expect(again?.queues.first { $0.kind == .background }?.silence?.since == since)
            #expect(!gateway.readiness.isReady)
            isBack.set()
            try await eventually {
                clock.advance(bySeconds: 5)
                return try await gateway.record(of: id)?.state == .sent
            }
            #expect(gateway.readiness.isReady)
        }
        #expect(lines.all.count { $0.hasPrefix("APNs does not answer") } == 1)
        #expect(lines.all.count { $0.hasPrefix("APNs answers again") } == 1)
    }

    @Test("A clock that is set back by an hour does not stop the housekeeping")
    func clockSetBack() async throws {
        let gateway = sampleGateway(store: store, sender: ScriptedSender(), clock: clock)
        try await withRunning(gateway) {
            _ = try #require(await gateway.accept(Samples.request()).admittedID)
            await store.waitUntilSettled(1)
            clock.advance(bySeconds: -3_600)
            // Another gateway has paused the app; that is learnt by housekeeping only.
            let pause = QueuePause(at: clock.now(), reason: "elsewhere")
            try await store.perform(
                SetPause(pause, of: Samples.queues.filter { $0.app == Samples.app }))
            try await eventually {
                #expect(clock.now() < Samples.start.advanced(bySeconds: -1_800), "It is stuck.")
                clock.advance(bySeconds: 1)
                // The machine's clock sleeps by another one; this one would sleep for the hour.
                gateway.dispatcher.signal.ring()
                return gateway.apps.contains { $0.pause == pause }
            }
        }
    }

    @Test("Wakes of an app that is not configured are told of, once for each configuration")
    func strangers() async throws {
        _ = try await store.perform(
            AdmitWakes(
                [
                    Samples.wake(app: Samples.otherApp),
                    Samples.wake(app: Samples.app),
                ], grant: nil, under: StoreRules()))
        let lines = RecordedLines()
        let gateway = Gateway(
            apps: [Samples.app], store: store, sender: ScriptedSender(), clock: clock,
            logger: lines.logger)
        func told() -> [String] { lines.all.filter { $0.hasPrefix("wakes wait for an app") } }
        try await withRunning(gateway) {
            await store.waitUntilSettled(1)
            for count in 1...2 {
                try await eventually {
                    clock.advance(bySeconds: 1)
                    return told().count == count
                }
                for _ in 0..<5 {
                    clock.advance(bySeconds: 1)
                    let isQuiet = try await holds(for: .milliseconds(2)) { told().count == count }
                    #expect(isQuiet)
                }
                gateway.reload(
                    GatewayConfiguration(apps: [Samples.app]), sender: ScriptedSender())
            }
        }
        #expect(told().allSatisfy { $0.contains("com.example.other") })
    }

    @Test("VoIP leaves before background that was due longer")
    func voipFirst() async throws {
        let wakes = (0..<20 as Range<UInt64>).map { Samples.wake(device: $0) }
        _ = try await store.perform(
            AdmitWakes(
                wakes + [Samples.wake(.voip)], grant: nil,
                under: StoreRules()))
        let sender = ScriptedSender()
        let gateway = sampleGateway(store: store, sender: sender, clock: clock)
        try await withRunning(gateway) {
            await store.waitUntilSettled(21)
            #expect(sender.sent.first?.kind == .voip)
        }
    }

    @Test("A VoIP wake that waited ten seconds expires unsent")
    func voipExpires() async throws {
        let sender = ScriptedSender { _ in Samples.notSent }
        let gateway = sampleGateway(store: store, sender: sender, clock: clock)
        try await withRunning(gateway) {
            let id = try #require(await gateway.accept(Samples.request(.voip)).admittedID)
            await sender.waitUntilSent(1)
            await store.waitUntilSettled(1)
            clock.advance(bySeconds: 10)
            try await eventually { try await gateway.record(of: id)?.state == .expired }
            #expect(sender.sent.count == 1)
        }
    }

    @Test("A background wake of unknown fate is sent again with the same apns-id")
    func resend() async throws {
        let sender = ScriptedSender { $0.tries == 0 ? Samples.unknown : Samples.accepted }
        let gateway = sampleGateway(store: store, sender: sender, clock: clock)
        try await withRunning(gateway) {
            let id = try #require(await gateway.accept(Samples.request()).admittedID)
            await store.waitUntilSettled(1)
            // It may have been sent, but it is the same push: only its pause holds it.
            clock.advance(bySeconds: 61)
            await store.waitUntilSettled(2)
            #expect(sender.sent.map(\.id) == [id, id])
            #expect(try await gateway.record(of: id)?.state == .sent)
        }
    }

    @Test("A VoIP wake of unknown fate is not sent again")
    func noSecondRing() async throws {
        let sender = ScriptedSender { _ in Samples.unknown }
        let gateway = sampleGateway(store: store, sender: sender, clock: clock)
        try await withRunning(gateway) {
            let id = try #require(await gateway.accept(Samples.request(.voip)).admittedID)
            await store.waitUntilSettled(1)
            clock.advance(bySeconds: 5)
            #expect(try await gateway.record(of: id)?.end == .failed(.fateUnknown))
        }
        #expect(sender.sent.count == 1)
    }

    @Test("A sender that forgets a claim leaves its fate unknown, and a second report is void")
    func carelessSender() async throws {
        let gateway = sampleGateway(store: store, sender: CarelessSender(), clock: clock)
        try await withRunning(gateway) {
            let voip = try #require(await gateway.accept(Samples.request(.voip)).admittedID)
            let background = try #require(await gateway.accept(Samples.request()).admittedID)
            await store.waitUntilSettled(2)
            #expect(try await gateway.record(of: voip)?.end == .failed(.fateUnknown))
            #expect(try await gateway.record(of: background)?.state == .sent)
        }
    }

    @Test("A refused key holds the app, turns readiness red, loses nothing, and mends")
    func circuit() async throws {
        let isMended = Flag()
        let sender = ScriptedSender { claim in
            claim.app == Samples.app && !isMended.isSet
                ? Samples.refusal(403, .invalidProviderToken) : Samples.accepted
        }
        let gateway = sampleGateway(store: store, sender: sender, clock: clock)
        try await withRunning(gateway) {
            let held = try #require(await gateway.accept(Samples.request()).admittedID)
            await store.waitUntilSettled(1)
            #expect(gateway.readiness.obstacles.count == 1)
            #expect(gateway.readiness.obstacles[0].contains("InvalidProviderToken"))

            // Nothing more of this app goes out; the other app is not affected.
            let second = try #require(
                await gateway.accept(Samples.request(device: 8)).admittedID)
            let free = try #require(
                await gateway.accept(Samples.request(app: Samples.otherApp)).admittedID)
            await store.waitUntilSettled(2)
            #expect(try await gateway.record(of: free)?.state == .sent)
            #expect(sender.sent.count == 2)

            // The probe goes out alone, is answered, and the rest follows.
            isMended.set()
            clock.advance(bySeconds: 31)
            await store.waitUntilSettled(4)
            #expect(try await gateway.record(of: held)?.state == .sent)
            #expect(try await gateway.record(of: second)?.state == .sent)
            #expect(gateway.readiness.isReady)
        }
    }

    @Test("Requests that wait share one transaction")
    func groupCommit() async throws {
        let gateway = sampleGateway(store: store, sender: ScriptedSender(), clock: clock)
        store.closeGate()
        try await withRunning(gateway) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for device in 0..<200 as Range<UInt64> {
                    group.addTask {
                        let acceptance = await gateway.accept(Samples.request(device: device))
                        #expect(acceptance.admittedID != nil)
                    }
                }
                // The first transaction is under way; the others gather behind it.
                for _ in 0..<1_000 { await Task.yield() }
                store.openGate()
                try await group.waitForAll()
            }
            #expect(store.admissions.reduce(0, +) == 200)
            #expect(store.admissions.count < 20)
        }
    }

    @Test("What waits at intake for longer than a lease lasts is sent under a new one, once")
    func slowAdmission() async throws {
        let sender = ScriptedSender()
        let gateway = sampleGateway(store: store, sender: sender, clock: clock)
        try await withRunning(gateway) {
            // Once the dispatcher has looked, a wake is claimed with its admission.
            while gateway.dispatcher.state.withLock({ !$0.unfinished.isEmpty }) {
                await Task.yield()
            }
            store.closeGate()
            async let acceptance = gateway.accept(Samples.request())
            while !store.isWaitingAtGate { await Task.yield() }
            clock.advance(bySeconds: Int64(GatewayLimits().leaseSeconds))
            store.openGate()
            let id = try #require(await acceptance.admittedID)
            try await eventually { try await gateway.record(of: id)?.state == .sent }
            #expect(try await gateway.record(of: id)?.attempts.count == 1)
        }
        #expect(sender.sent.map(\.ticket.fence) == [2])
        #expect(sender.sent.allSatisfy { $0.leaseUntil > clock.now() })
    }

    @Test("A batch of ten thousand is no matter, not even in memory")
    func manyAtOnce() async throws {
        let gateway = sampleGateway(store: store, sender: ScriptedSender(), clock: clock)
        try await withRunning(gateway) {
            let inquiries = (0..<10_000 as Range<UInt64>).map {
                Inquiry(Samples.request(device: $0), environment: nil)
            }
            let answers = await gateway.accept(inquiries)
            #expect(answers.count == 10_000 && answers.allSatisfy { $0.admittedID != nil })
            try await eventually { try await store.perform(CountWakes()).unended == 0 }
        }
        #expect(try await store.perform(RecountWakes()).byState[.sent] == 10_000)
    }

    @Test("A full intake refuses at once, and keeps what it has")
    func overload() async throws {
        var limits = GatewayLimits()
        limits.intakeQueueCount = 3
        limits.intakeBatchCount = 1
        let gateway = sampleGateway(
            store: store, sender: ScriptedSender(), clock: clock, limits: limits)
        store.closeGate()
        try await withRunning(gateway) {
            let answers = await crowd(gateway, count: 20, opensAfter: 16)
            let refused = answers.count { answer in
                guard case .overloaded(let pause) = answer else { return false }
                return AdmissionResult.overloadPauseSeconds.contains(pause)
            }
            #expect(answers.count { $0.admittedID != nil } == 20 - refused)
            #expect(refused == 16 || refused == 17)
        }
    }

    @Test("A failing store keeps nothing, says why, and is asked again")
    func failingStore() async throws {
        let gateway = sampleGateway(store: store, sender: ScriptedSender(), clock: clock)
        try await withRunning(gateway) {
            store.fail(with: StoreFailure(kind: .full, message: "The disk is full."))
            #expect(await gateway.accept(Samples.request()) == .unavailable("The disk is full."))
            #expect(gateway.readiness.obstacles == ["The store fails: The disk is full."])
            store.fail(with: nil)
            let id = try #require(await gateway.accept(Samples.request()).admittedID)
            try await eventually {
                clock.advance(bySeconds: 1)
                return try await gateway.record(of: id)?.state == .sent
            }
            try await eventually {
                clock.advance(bySeconds: 1)
                return gateway.readiness.isReady
            }
        }
    }

    @Test("Reads that work do not hide that nothing can be written, nor does a quiet house")
    func failingWrites() async throws {
        let gateway = sampleGateway(store: store, sender: ScriptedSender(), clock: clock)
        try await withRunning(gateway) {
            try await eventually { gateway.readiness.isReady }
            store.fail(
                with: StoreFailure(kind: .full, message: "The disk is full."), sparingReads: true)
            #expect(await gateway.accept(Samples.request()) == .unavailable("The disk is full."))
            let obstacles = ["The store fails: The disk is full."]
            #expect(try await gateway.wakes(WakeQuery()).wakes.isEmpty)
            #expect(gateway.readiness.obstacles == obstacles)
            #expect(try await gateway.record(of: Samples.freshID()) == nil)
            #expect(gateway.readiness.obstacles == obstacles)
            for _ in 1...20 {
                clock.advance(bySeconds: 1)
                let isSame = try await holds(for: .milliseconds(5)) {
                    gateway.readiness.obstacles == obstacles
                }
                #expect(isSame)
            }
            // Nobody sends requests to what is not ready; it finds out by itself.
            store.fail(with: nil)
            try await eventually {
                clock.advance(bySeconds: 1)
                return gateway.readiness.isReady
            }
        }
    }

    @Test("Shutdown waits for answers in flight, then gives the rest up and settles them")
    func shutdown() async throws {
        var limits = GatewayLimits()
        limits.drainSeconds = 1
        // The drain is real time here, because nobody moves a clock during a shutdown.
        let sender = ScriptedSender { $0.kind == .voip ? nil : Samples.accepted }
        let gateway = sampleGateway(store: store, sender: sender, limits: limits)
        var ids: [WakeID] = []
        try await withRunning(gateway) {
            for kind in [WakeKind.background, .voip] {
                ids.append(try #require(await gateway.accept(Samples.request(kind)).admittedID))
            }
            await sender.waitUntilSent(2)
        }
        let states = try await ids.asyncMap { try await store.perform(FindWake($0))?.state }
        #expect(states == [.sent, .failed])
        #expect(
            await gateway.accept(Samples.request()) == .unavailable("The gateway is shutting down.")
        )
        #expect(try await store.perform(RecountWakes()).isConserved)
    }

    @Test("What was claimed but not handed over when the gateway is cancelled goes back untouched")
    func cancelledBeforeSending() async throws {
        let answer = try await store.perform(
            AdmitWakes(
                [Samples.wake(.voip)], grant: nil, under: StoreRules()))
        guard case .admitted(let wake) = answer.admissions[0] else {
            Issue.record("It was not admitted.")
            return
        }
        let sender = ScriptedSender()
        let gateway = sampleGateway(store: store, sender: sender, clock: clock)
        let (start, starter) = AsyncStream<Void>.makeStream()
        let run = Task {
            for await _ in start { break }
            try await gateway.run()
        }
        store.whenClaimed { run.cancel() }
        starter.yield()
        try await run.value
        let record = try #require(try await store.perform(FindWake(wake.id)))
        #expect(sender.sent.isEmpty)
        #expect(record.state == .pending)
        #expect(record.attempts.isEmpty && record.tries == 0)
    }

    /// Sends requests all at once; opens the store's gate when so many answers are there.
    private func crowd(_ gateway: Gateway, count: Int, opensAfter: Int) async -> [AdmissionResult] {
        let store = store
        return await withTaskGroup(of: AdmissionResult.self) { group in
            for device in 0..<UInt64(count) {
                group.addTask { await gateway.accept(Samples.request(device: device)) }
            }
            var answers: [AdmissionResult] = []
            while let answer = await group.next() {
                answers.append(answer)
                // One is being written and three wait: the others come back first.
                if answers.count == opensAfter { store.openGate() }
            }
            return answers
        }
    }
}
