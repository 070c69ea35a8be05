// SPDX-License-Identifier: Apache-2.0

import GatewayTestKit
import Synchronization
import Testing
import WaitKit
import WakeModel

@testable import Gateway

/// No clock is moved here: whatever has to wait for a time-out waits for ever.
@Suite("Apps and callers do not delay each other", .timeLimit(.minutes(10)))
struct FairnessTests {
    private let store = WatchfulStore(InMemoryWakeStore())
    private let clock = ManualClock()

    private static func flood(_ kind: WakeKind, _ count: Int) -> [Inquiry] {
        (0..<UInt64(count)).map { Inquiry(Samples.request(kind, device: 1_000 + $0)) }
    }

    /// Sends wakes and calls of the other app, each after the one before has its answer.
    private func sendOthers(_ gateway: Gateway, _ devices: Range<UInt64>) async throws {
        for device in devices {
            for kind in WakeKind.allCases {
                let id = try #require(
                    await gateway.accept(
                        Samples.request(kind, app: Samples.otherApp, device: device)
                    ).admittedID)
                try await eventually { try await gateway.record(of: id)?.state == .sent }
            }
        }
    }

    @Test("An app that was never answered delays no other, with wakes and calls waiting")
    func silentFromTheStart() async throws {
        let sender = ScriptedSender { $0.app == Samples.app ? nil : Samples.accepted }
        var limits = GatewayLimits()
        limits.drainSeconds = 0
        let gateway = sampleGateway(store: store, sender: sender, clock: clock, limits: limits)
        try await withRunning(gateway) {
            _ = await gateway.accept(Self.flood(.background, 8_000))
            _ = await gateway.accept(Self.flood(.voip, 5_000))
            try await sendOthers(gateway, 0..<20)
            let silent = sender.sent.count { $0.app == Samples.app }
            #expect(silent == 2 * limits.queueWindowCount)
        }
    }

    @Test("An app that falls silent with all of the pool in flight delays no other")
    func silentAfterAnswers() async throws {
        let isSilent = Flag()
        let sender = ScriptedSender {
            $0.app == Samples.app && isSilent.isSet ? nil : Samples.accepted
        }
        var limits = GatewayLimits()
        limits.inFlightCount = 320
        limits.voipReserveCount = 32
        limits.drainSeconds = 0
        let gateway = sampleGateway(store: store, sender: sender, clock: clock, limits: limits)
        try await withRunning(gateway) {
            _ = await gateway.accept(Self.flood(.background, 2_000))
            _ = await gateway.accept(Self.flood(.voip, 2_000))
            try await eventually { try await store.perform(CountWakes()).unended == 0 }
            isSilent.set()
            clock.advance(bySeconds: 4)
            let more = (0..<2_000 as Range<UInt64>).map { 10_000 + $0 }
            for kind in WakeKind.allCases {
                _ = await gateway.accept(
                    more.map { Inquiry(Samples.request(kind, device: $0)) })
            }
            try await eventually { try await gateway.stats().inFlight >= 288 }
            try await sendOthers(gateway, 0..<20)
            // The silent app was silent all the while.
            #expect(try await gateway.stats().inFlight >= 288)
        }
    }

    @Test("A queue without answers sends probes, says why, and goes on with the first answer")
    func probes() async throws {
        let isSilent = Mutex(true)
        let sender = ScriptedSender { _ in
            isSilent.withLock { $0 } ? Samples.unknown : Samples.accepted
        }
        let lines = RecordedLines()
        let gateway = sampleGateway(
            store: store, sender: sender, clock: clock, logger: lines.logger)
        try await withRunning(gateway) {
            _ = await gateway.accept(Self.flood(.background, 600))
            func queue() throws -> QueueStatus {
                try #require(gateway.apps.first?.queues.first { $0.kind == .background })
            }
            try await eventually { try queue().unresponsive != nil }
            let explanation = try #require(try queue().unresponsive).explanation
            #expect(explanation.contains("only 4 wakes at a time are sent as probes"))
            isSilent.withLock { $0 = false }
            try await eventually {
                clock.advance(bySeconds: 1)
                return try await store.perform(CountWakes()).unended == 0
            }
            #expect(try queue().unresponsive == nil)
            #expect(try queue().inFlight == 0)
            let queue = "queue=com.example.app (sandbox) background"
            try await eventually {
                clock.advance(bySeconds: 1)
                return lines.all.contains { $0.hasPrefix("APNs answers a queue again") }
            }
            #expect(
                lines.all.filter { $0.hasPrefix("a queue gets no answers") }.count == 1,
                "\(lines.all) \(queue)")
        }
        #expect(try await store.perform(RecountWakes()).byState[.sent] == 600)
    }

    @Test("A queue whose wakes all ended without an answer is not said to be answered")
    func neverAnswered() async throws {
        let lines = RecordedLines()
        let gateway = sampleGateway(
            store: store, sender: ScriptedSender { _ in Samples.unknown }, clock: clock,
            logger: lines.logger)
        try await withRunning(gateway) {
            _ = await gateway.accept(Self.flood(.background, 100))
            func isUnresponsive() throws -> Bool {
                let app = try #require(gateway.apps.first)
                return app.queues.contains { $0.unresponsive != nil }
            }
            try await eventually { try isUnresponsive() }
            // Their time goes by: nothing is left to be answered.
            try await eventually {
                clock.advance(bySeconds: 3_600)
                return try await store.perform(CountWakes()).unended == 0
            }
            try await eventually {
                clock.advance(bySeconds: 1)
                return lines.all.contains { $0.hasPrefix("a queue that got no answers has noth") }
            }
            #expect(!lines.all.contains { $0.hasPrefix("APNs answers a queue again") })
        }
    }

    @Test("One caller's batch is in the next transaction, whatever another has waiting")
    func callers() async throws {
        let sizes = Mutex<[[String]]>([])
        let gate = AsyncSignal()
        var limits = GatewayLimits()
        limits.intakeQueueCount = 2_000
        let intake = Intake(limits: limits) { submissions, _ in
            let names = submissions.map { $0.options.ref?.value ?? "" }
            let isFirst = sizes.withLock { sizes in
                sizes.append(names)
                return sizes.count == 1
            }
            if isFirst { await gate.wait() }
            return .failure(StoreFailure(kind: .unavailable, message: "It is not kept."))
        }
        let run = Task { await intake.run() }
        func ask(_ caller: String, _ count: Int) -> Task<[AdmissionResult], Never> {
            let submissions = (0..<count).map { _ in
                Samples.wake(ref: caller)
            }
            return Task { await intake.submit(submissions, areCalls: false, caller: caller) }
        }
        // The first transaction is being written, and the flood waits behind it.
        let first = ask("flood", 9)
        try await eventually { sizes.withLock { $0.count == 1 } }
        let flood = ask("flood", 2_500)
        try await eventually { intake.waitingCount == 2_000 }
        // The flood has filled the queue; another caller has room, and its turn comes next.
        let one = ask("one", 20)
        try await eventually { intake.waitingCount == 2_020 }
        gate.ring()
        let (_, answers, answer) = (await first.value, await flood.value, await one.value)
        intake.close()
        await run.value
        guard case .unavailable("It is not kept.") = answer.first else {
            Issue.record("It was not written: \(answer)")
            return
        }
        let refused = answers.count { if case .overloaded = $0 { true } else { false } }
        #expect(answers.count == 2_500 && refused == 509)
        let batches = sizes.withLock { $0 }
        #expect(batches[1].contains("one"))
        // As long as two have requests, nobody waits for a long transaction.
        #expect(batches[1].count == limits.intakeSharedBatchCount)
        #expect(batches.flatMap(\.self).count == 2_020)
    }

    @Test("A request for a wake is written beside another caller's batch, and not behind it")
    func smallRequests() async throws {
        let gate = AsyncSignal()
        let batches = Mutex<[[String]]>([])
        let shares = Mutex<[Bool]>([])
        var limits = GatewayLimits()
        limits.intakeSharingMilliseconds = 600_000
        let intake = Intake(limits: limits) { submissions, isShared in
            let names = submissions.map { $0.options.ref?.value ?? "" }
            shares.withLock { $0.append(isShared) }
            batches.withLock { $0.append(names) }
            if names.contains("flood") { await gate.wait() }
            return .failure(StoreFailure(kind: .unavailable, message: "It is not kept."))
        }
        let run = Task { await intake.run() }
        func ask(_ caller: String, _ count: Int) async -> [AdmissionResult] {
            let submissions = (0..<count).map { _ in Samples.wake(ref: caller) }
            return await intake.submit(submissions, areCalls: false, caller: caller)
        }
        let flood = Task { await ask("flood", 600) }
        try await eventually { batches.withLock { $0.count == 1 } }
        // The flood's transaction is under way until the gate is opened.
        let one = await ask("one", 1)
        #expect(one.count == 1)
        #expect(batches.withLock { $0.last } == ["one"])
        gate.ring()
        try await eventually { batches.withLock { $0.count == 3 } }
        // What is left of the flood goes in small transactions while another caller has requests.
        #expect(batches.withLock { $0[2].count } == limits.intakeSharedBatchCount)
        gate.ring()
        try await eventually { batches.withLock { $0.count == 4 } }
        gate.ring()
        #expect(await flood.value.count == 600)
        // What is settled and claimed goes in small transactions from then on too.
        #expect(shares.withLock { $0 } == [false, true, true, true])
        intake.close()
        await run.value
    }

    @Test("A caller's own calls do not wait for long transactions of its batches")
    func callsOfOneCaller() async throws {
        let batches = Mutex<[(count: Int, isShared: Bool)]>([])
        var limits = GatewayLimits()
        limits.intakeSharingMilliseconds = 600_000
        let intake = Intake(limits: limits) { submissions, isShared in
            batches.withLock { $0.append((submissions.count, isShared)) }
            return .failure(StoreFailure(kind: .unavailable, message: "It is not kept."))
        }
        let run = Task { await intake.run() }
        func ask(_ count: Int, areCalls: Bool) async {
            let submissions = (0..<count).map { _ in Samples.wake() }
            _ = await intake.submit(submissions, areCalls: areCalls, caller: "one")
        }
        await ask(600, areCalls: true)
        // Nothing else has to wait for these.
        #expect(batches.withLock { $0.map(\.count) } == [limits.intakeBatchCount, 88])
        #expect(batches.withLock { $0.allSatisfy { !$0.isShared } })
        batches.withLock { $0 = [] }
        await ask(600, areCalls: false)
        #expect(
            batches.withLock { $0.allSatisfy { $0.count <= limits.intakeSharedBatchCount } })
        #expect(batches.withLock { $0.allSatisfy(\.isShared) })
        intake.close()
        await run.value
    }

    /// An intake whose transactions wait at a gate, each named by the refs of its wakes.
    private final class GatedIntake: Sendable {
        /// The transactions so far, each as the refs of its wakes.
        private final class Log: Sendable {
            let batches = Mutex<[[String]]>([])
        }

        private let log = Log()
        let gate = AsyncSignal()
        let intake: Intake
        private let run: Task<Void, Never>

        var batches: [[String]] { log.batches.withLock { $0 } }

        init(gated: @escaping @Sendable (String) -> Bool) {
            intake = Intake(limits: GatewayLimits()) { [log, gate] submissions, _ in
                let names = submissions.map { $0.options.ref?.value ?? "" }
                log.batches.withLock { $0.append(names) }
                if names.contains(where: gated) { await gate.wait() }
                return .failure(StoreFailure(kind: .unavailable, message: "It is not kept."))
            }
            run = Task { [intake] in await intake.run() }
        }

        func ask(
            _ name: String, _ count: Int, caller: String = "one"
        ) -> Task<[AdmissionResult], Never> {
            let submissions = (0..<count).map { _ in Samples.wake(ref: name) }
            return Task { [intake] in
                await intake.submit(submissions, areCalls: false, caller: caller)
            }
        }

        func end() async {
            intake.close()
            await run.value
        }
    }

    @Test("A request for a wake does not overtake its caller's own batch")
    func ownBatchFirst() async throws {
        let intake = GatedIntake { $0 == "batch" }
        let batch = intake.ask("batch", 600)
        try await eventually { intake.batches.count == 1 }
        let small = intake.ask("small", 1)
        try await eventually { intake.intake.waitingCount == 601 }
        let isBehind = try await holds(for: .milliseconds(20)) {
            intake.batches.count == 1
        }
        #expect(isBehind)
        intake.gate.ring()
        try await eventually { intake.batches.count >= 2 }
        intake.gate.ring()
        #expect(await small.value.count == 1)
        #expect(await batch.value.count == 600)
        #expect(intake.batches.flatMap(\.self).last == "small")
        await intake.end()
    }

    @Test("A batch does not overtake its caller's own request for a wake, nor wait at the end")
    func ownSmallFirst() async throws {
        let intake = GatedIntake { $0 == "small" }
        let small = intake.ask("small", 1)
        try await eventually { intake.batches.count == 1 }
        let batch = intake.ask("batch", 600)
        try await eventually { intake.intake.waitingCount == 601 }
        // Another caller's batch passes.
        #expect(await intake.ask("other", 20, caller: "other").value.count == 20)
        #expect(intake.batches.map { $0[0] } == ["small", "other"])
        let ending = Task { await intake.end() }
        intake.gate.ring()
        #expect(await small.value.count == 1)
        #expect(await batch.value.count == 600)
        await ending.value
    }

    @Test("Batches are written beside a flood of small requests of another caller")
    func batchBesideSmall() async throws {
        let intake = GatedIntake { $0 == "small" }
        let small = (0..<50).map { _ in intake.ask("small", 1, caller: "many") }
        try await eventually { intake.batches.count == 1 }
        // No small request is answered before the gate opens.
        #expect(await intake.ask("batch", 600).value.count == 600)
        while intake.intake.waitingCount > 0 {
            intake.gate.ring()
            await Task.yield()
        }
        for request in small { #expect(await request.value.count == 1) }
        await intake.end()
    }

    @Test("A request for a wake that is refused is told how long those before it take")
    func smallRequestsAreTold() async throws {
        let gate = AsyncSignal()
        let writes = Atomic(0)
        var limits = GatewayLimits()
        limits.intakeQueueCount = 400
        let intake = Intake(limits: limits) { submissions, _ in
            writes.wrappingAdd(1, ordering: .relaxed)
            await gate.wait()
            return .success(submissions.map { _ in .damaged("It is not kept.") })
        }
        let run = Task { await intake.run() }
        func ask(_ count: Int) -> Task<[AdmissionResult], Never> {
            let submissions = (0..<count).map { _ in Samples.wake() }
            return Task { await intake.submit(submissions, areCalls: false, caller: "one") }
        }
        var asked = [ask(1)]
        try await eventually { writes.load(ordering: .relaxed) == 1 }
        for _ in 0..<50 { asked.append(ask(limits.intakeSmallCount)) }
        try await eventually { intake.waitingCount == 400 }
        // One was written in this time at least, so that 400 take eight seconds at least.
        try await elapse(.milliseconds(20))
        gate.ring()
        try await eventually { writes.load(ordering: .relaxed) == 2 }
        let late = ask(limits.intakeSmallCount)
        try await eventually { intake.waitingCount == 400 }
        while intake.waitingCount > 0 {
            gate.ring()
            await Task.yield()
        }
        guard case .overloaded(let pause) = await late.value.last else {
            Issue.record("It was not refused.")
            return
        }
        #expect(pause >= 8)
        for request in asked { #expect(!(await request.value).isEmpty) }
        intake.close()
        await run.value
    }

    @Test("What is submitted while the intake closes is written or refused, and never kept waiting")
    func closing() async {
        for _ in 0..<500 {
            let intake = GatedIntake { _ in false }
            let asked = (0..<4).map { intake.ask("batch", $0 % 2 == 0 ? 1 : 20, caller: "\($0)") }
            let ending = Task { await intake.end() }
            for task in asked { #expect(!(await task.value).isEmpty) }
            await ending.value
        }
    }
}
