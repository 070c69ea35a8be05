// SPDX-License-Identifier: Apache-2.0

import GatewayTestKit
import Synchronization
import Testing
import WakeModel

@testable import Gateway

@Suite("A store some of which cannot be read", .timeLimit(.minutes(10)))
struct DamageTests {
    private static let corrupt = StoreFailure(kind: .corrupt, message: "A bad page.")

    @Test("Upkeep that fails for ever holds up no claim and no admission", arguments: [0, 1])
    func upkeep(late: Int) async throws {
        let store = WatchfulStore(InMemoryWakeStore())
        let sender = ScriptedSender()
        let gateway = sampleGateway(store: store, sender: sender, clock: FastClock(factor: 1))
        store.failUpkeep(with: Self.corrupt)
        try await withRunning(gateway) { () async throws in
            // One that waits has to be claimed by the loop that also does the upkeep.
            let spread = Int(late)
            let requests = [
                Inquiry(Samples.request(device: 1)), Inquiry(Samples.request(.voip, device: 2)),
                Inquiry(Samples.request(app: Samples.otherApp, device: 3)),
            ]
            let answers = await gateway.accept(requests, spreadSeconds: spread)
            #expect(answers.allSatisfy { $0.admittedID != nil })
            try await eventually { sender.sent.count == 3 }
        }
        store.failUpkeep(with: nil)
    }

    @Test("One bad device among 512 costs one answer, however the store fails for it")
    func intake() async throws {
        for failure in [Self.corrupt, StoreFailure(kind: .damaged, message: "A bad row.")] {
            let store = WatchfulStore(InMemoryWakeStore())
            let sender = ScriptedSender()
            let gateway = sampleGateway(
                store: store, sender: sender, clock: FastClock(factor: 1))
            try await withRunning(gateway) { () async throws in
                store.spoil([Samples.deviceToken(77)], with: failure)
                let requests = (0..<512 as Range<UInt64>).map {
                    Inquiry(Samples.request(device: $0))
                }
                let answers = await gateway.accept(requests)
                for (place, answer) in answers.enumerated() {
                    if place == 77 {
                        #expect(answer == .damaged(failure.message))
                    } else {
                        #expect(answer.admittedID != nil, "\(place)")
                    }
                }
                try await eventually { sender.sent.count == 511 }
                try await eventually { try await gateway.stats().inFlight == 0 }
            }
        }
    }

    @Test("When everything is bad, a batch is given up after a bounded number of tries")
    func hopeless() async throws {
        let store = WatchfulStore(InMemoryWakeStore())
        let gateway = sampleGateway(
            store: store, sender: ScriptedSender(), clock: FastClock(factor: 1))
        try await withRunning(gateway) { () async throws in
            let devices = 0..<512 as Range<UInt64>
            store.spoil(Set(devices.map { Samples.deviceToken($0) }), with: Self.corrupt)
            let answers = await gateway.accept(
                devices.map { Inquiry(Samples.request(device: $0)) })
            #expect(answers.allSatisfy { $0 == .unavailable(Self.corrupt.message) })
            // Each part that failed may have left its sibling to be tried.
            #expect(store.admissions.count <= 3 * Halving<Int>.maximumFailureCount)
        }
    }

    @Test("One bad wake in flight costs its result, and the results of the others are recorded")
    func settlement() async throws {
        let store = WatchfulStore(InMemoryWakeStore())
        let bad = Mutex<Set<WakeID>>([])
        let sender = ScriptedSender { claim in
            if claim.deviceToken == Samples.deviceToken(5) {
                _ = bad.withLock { $0.insert(claim.id) }
                store.spoil([], wakes: [claim.id], with: Self.corrupt)
            }
            return Samples.accepted
        }
        let gateway = sampleGateway(store: store, sender: sender, clock: FastClock(factor: 1))
        try await withRunning(gateway) { () async throws in
            _ = await gateway.accept(
                (0..<50 as Range<UInt64>).map { Inquiry(Samples.request(device: $0)) })
            try await eventually {
                try await store.perform(RecountWakes()).byState == [.sent: 49, .claimed: 1]
            }
            try await eventually { try await gateway.stats().inFlight == 0 }
            #expect(bad.withLock { $0.count } == 1)
        }
    }

    @Test("While a batch is halved, neither the log nor readiness goes back and forth")
    func health() async throws {
        let store = WatchfulStore(InMemoryWakeStore())
        let lines = RecordedLines()
        let gateway = sampleGateway(
            store: store, sender: ScriptedSender(), clock: FastClock(factor: 1),
            logger: lines.logger)
        try await withRunning(gateway) { () async throws in
            store.spoil([Samples.deviceToken(77)], with: Self.corrupt)
            _ = await gateway.accept(
                (0..<128 as Range<UInt64>).map { Inquiry(Samples.request(device: $0)) })
            #expect(gateway.readiness.isReady)
            #expect(!lines.all.contains { $0.hasPrefix("the store ") }, "\(lines.all)")
            // Nor for a request for one device whose row is on a page that cannot be read.
            for _ in 0..<3 {
                _ = await gateway.accept(Samples.request(device: 77))
                #expect(gateway.readiness.isReady)
                _ = await gateway.accept(Samples.request(device: 78))
            }
            #expect(!lines.all.contains { $0.hasPrefix("the store ") }, "\(lines.all)")
            // A batch of which nothing can be kept says that the store fails, once.
            let devices = 200..<210 as Range<UInt64>
            store.spoil(Set(devices.map { Samples.deviceToken($0) }), with: Self.corrupt)
            _ = await gateway.accept(devices.map { Inquiry(Samples.request(device: $0)) })
            #expect(lines.all.count { $0.hasPrefix("the store fails") } == 1, "\(lines.all)")
        }
    }

    @Test("The log names so many damaged rows, and says once that there are more")
    func manyRows() {
        let lines = RecordedLines()
        let watch = DamageWatch(metrics: NoMetrics(), logger: lines.logger)
        for _ in 0..<3 {
            for number in 0..<DamageWatch.maximumKnownCount + 5 {
                watch.note(DamagedRow(table: .wake, key: "\(number)", problem: "Bad."))
            }
        }
        #expect(lines.all.count == DamageWatch.maximumKnownCount + 1)
        #expect(lines.all.last?.hasPrefix("more rows of the store are damaged") == true)
    }

    @Test("When the disk is full for a part of a halved batch, only the bad device's wake is bad")
    func mixedIntake() async throws {
        let full = StoreFailure(kind: .full, message: "No space is left.")
        let store = WatchfulStore(InMemoryWakeStore())
        let gateway = sampleGateway(
            store: store, sender: ScriptedSender(), clock: FastClock(factor: 1))
        try await withRunning(gateway) { () async throws in
            store.spoil([Samples.deviceToken(2)], with: Self.corrupt)
            store.spoil([Samples.deviceToken(3)], with: full)
            let answers = await gateway.accept(
                (0..<4 as Range<UInt64>).map { Inquiry(Samples.request(device: $0)) })
            #expect(answers.prefix(2).allSatisfy { $0.admittedID != nil })
            #expect(
                Array(answers.suffix(2))
                    == [.damaged(Self.corrupt.message), .unavailable(full.message)])
        }
    }

    @Test("When the disk is full for a part of a halved batch, none of its results is given up")
    func mixedSettlement() async throws {
        let store = WatchfulStore(InMemoryWakeStore())
        let context = sampleContext(store: store)
        let grant = ClaimGrant(
            queues: Set(Samples.queues), background: 3, calls: 0, leaseSeconds: 60)
        let admitted = try await context.admit(
            (1...3 as ClosedRange<UInt64>).map { Samples.wake(device: $0) },
            grant: grant
        ).get()
        let claims = admitted.claims
        try #require(claims.count == 3)
        store.spoil([], wakes: [claims[0].id], with: StoreFailure(kind: .damaged, message: "Bad."))
        store.spoil(
            [], wakes: [claims[1].id], with: StoreFailure(kind: .full, message: "No space."),
            times: 1)
        let settlements = claims.map {
            Settlement(
                ticket: $0.ticket, at: Samples.start, attempt: .accepted(apnsUniqueID: nil),
                effect: .end(.sent(apnsUniqueID: nil)))
        }
        #expect(await context.settle(settlements) == nil)
        #expect(await context.settle(settlements)?.verdicts == [.damaged, .applied, .applied])
        #expect(try await store.perform(RecountWakes()).byState == [.sent: 2, .claimed: 1])
    }

    @Test("A result that cannot be written for one device's row says nothing of the store")
    func healthAfterSettlement() async throws {
        let store = WatchfulStore(InMemoryWakeStore())
        let context = sampleContext(store: store)
        let grant = ClaimGrant(
            queues: Set(Samples.queues), background: 1, calls: 0, leaseSeconds: 60)
        let admitted = try await context.admit(
            [Samples.wake()], grant: grant
        ).get()
        let claim = try #require(admitted.claims.first)
        store.spoil([], wakes: [claim.id], with: Self.corrupt)
        let settlement = Settlement(
            ticket: claim.ticket, at: Samples.start, attempt: .accepted(apnsUniqueID: nil),
            effect: .end(.sent(apnsUniqueID: nil)))
        // It is kept in hand, and tried again.
        #expect(await context.settle([settlement]) == nil)
        #expect(context.watch.currentFailure == nil)
    }

    @Test("Halves come in the order of the batch, and what fails is found")
    func halving() {
        for bad in [[], [0], [63], [7, 8, 40], Array(0..<64)] as [[Int]] {
            var halving = Halving(Array(0..<64))
            var done: [Int] = []
            var failed: [Int] = []
            while let part = halving.next() {
                if part.contains(where: bad.contains) {
                    if halving.failed(part, mayHalve: true) { failed += part }
                } else {
                    done += part
                }
            }
            #expect(done == done.sorted() && failed == failed.sorted())
            #expect(failed == bad && (done + failed).sorted() == Array(0..<64))
        }
    }
}
