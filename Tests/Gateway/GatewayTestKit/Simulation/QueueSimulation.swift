// SPDX-License-Identifier: Apache-2.0

import Gateway
import SeedKit
import WakeBudget
import WakeModel

/// The whole life of a queue, one step after another and from one seed: the real verbs of a store
/// for several gateways, over a disk that fails and loses what was not synced, with a clock that
/// leaps, a sender that answers late, twice or never, and crashes anywhere. What must always hold
/// is checked at each step.
///
/// A seed that finds something finds it again: nothing here depends on time, on addresses, or on
/// the order of a set.
package final class QueueSimulation {
    /// What a run did, so that a test can see that it did something.
    package struct Tally: Hashable, Sendable {
        package var steps = 0
        package var accepted = 0
        package var pushes = 0
        package var sameCalls = 0
        package var unknown = 0
        package var merged = 0
        package var failures = 0
        package var crashes = 0
        package var powerCuts = 0
        package var restarts = 0
        /// Transactions with an unknown result.
        package var doubtful = 0
        package var leaps = 0

        package init() {}

        package static func += (sum: inout Tally, other: Tally) {
            sum.steps += other.steps
            sum.accepted += other.accepted
            sum.pushes += other.pushes
            sum.sameCalls += other.sameCalls
            sum.unknown += other.unknown
            sum.merged += other.merged
            sum.failures += other.failures
            sum.crashes += other.crashes
            sum.powerCuts += other.powerCuts
            sum.restarts += other.restarts
            sum.doubtful += other.doubtful
            sum.leaps += other.leaps
        }
    }

    /// A gateway as far as the queue is concerned.
    struct SimulatedGateway {
        /// How far its clock is from the machine's, in milliseconds.
        let skew: Int64
        /// Grows with each of its deaths.
        var life = 0
        /// Claims that it received and has not passed to the sender.
        var held: [Claim] = []
        /// Pushes whose answers have not been written.
        var inFlight: [PushInFlight] = []
    }

    /// A push that the sender was handed.
    struct PushInFlight {
        let claim: Claim
        /// What the answer is; `nil` when none ever comes.
        let result: Result<PushOutcome, SendFailure>?
        /// When it comes, in true time.
        let answerAt: Int64
        /// What is settled instead, when it was never handed to the sender.
        let unsent: Settlement?
    }

    /// What a gateway is notified of about a transaction.
    enum Notification {
        case accepted(WakeID, isNew: Bool)
        case ended(EndedWake)
        case claims([Claim])
        case settled([Claim.Ticket])
    }

    let seed: UInt64
    let machine: any SimulatedMachine
    var generator: SeededGenerator
    /// Whether the clock leaps, ahead and back. Then windows of time say nothing.
    let isClockTroubled: Bool
    /// The largest distance of two gateways' clocks, in milliseconds.
    let skewRange: Int64
    let retry = RetryPolicy(limits: GatewayLimits())
    let sendSeconds = 30
    let leaseSeconds = 120

    /// True time, in milliseconds since the epoch.
    var time = Samples.start.millisecondsSinceEpoch
    /// How far the machine's clock is from it.
    var offset: Int64 = 0
    /// The farthest that it was ahead.
    private var farthest: Int64 = 0
    var gateways: [SimulatedGateway]
    var notifications: [(gateway: Int, life: Int, items: [Notification])] = []
    var isCalm = false
    /// Whether it is unknown if the last transaction before a crash pruned wakes.
    var mayHavePruned = false
    var model = QueueModel()
    var pool = WakePool()
    /// Whether each step is printed, for examining a seed's failure.
    package var isTraced = false
    package private(set) var tally = Tally()
    package private(set) var failure: String?

    /// A queue on a machine whose disk is empty.
    package init(seed: UInt64, machine: any SimulatedMachine) {
        var generator = SeededGenerator(seed: seed)
        let isClockTroubled = generator.chance(oneIn: 3)
        let skewRange: Int64 = generator.chance(oneIn: 2) ? 0 : 2_000
        let count = 1 + generator.below(3)
        self.seed = seed
        self.machine = machine
        self.isClockTroubled = isClockTroubled
        self.skewRange = skewRange
        self.generator = generator
        gateways = (0..<count).map { SimulatedGateway(skew: skewRange * Int64($0) / 2) }
    }

    /// Takes so many steps, or fewer when something does not hold; then lets everything end. What
    /// did not hold, with the seed; `nil` when all did.
    package func run(steps: Int) async -> String? {
        await sync()
        while tally.steps < steps, failure == nil {
            await step()
            tally.steps += 1
        }
        if failure == nil { await drain() }
        if let problem = await machine.end() { expect(false, problem) }
        return failure.map { "seed \(seed), step \(tally.steps): \($0)" }
    }

    /// Books the first thing that does not hold.
    func expect(_ isSo: Bool, _ sentence: @autoclosure () -> String) {
        if !isSo, failure == nil { failure = sentence() }
    }

    func note(_ change: (inout Tally) -> Void) { change(&tally) }

    func trace(_ sentence: @autoclosure () -> String) {
        if isTraced { print("\(tally.steps) at \(time): \(sentence())") }
    }

    /// What a gateway's clock says.
    func now(_ gateway: Int) -> WallInstant {
        WallInstant(millisecondsSinceEpoch: time + offset + gateways[gateway].skew)
    }

    // MARK: Steps

    private func step() async {
        passTime()
        let gateway = generator.below(gateways.count)
        switch generator.below(100) {
        case 0..<25: await submit(gateway)
        case 25..<43: await claim(gateway)
        case 43..<60: await send(gateway)
        case 60..<78: await settle(gateway)
        case 78..<84: await keepHouse(gateway)
        case 84..<87: await cancel(gateway)
        case 87..<90: await report(gateway)
        case 90..<92: await confirm(gateway)
        case 92: await prune(gateway)
        case 93: crash(gateway)
        case 94 where generator.chance(oneIn: 3): await restart(.powerCut)
        case 95 where generator.chance(oneIn: 3):
            await restart(generator.chance(oneIn: 2) ? .shutdown : .kill)
        case 96 where isClockTroubled: await leap()
        case 97: await intrude()
        default: await sync()
        }
        if generator.chance(oneIn: 4) { await sync() }
        if !machine.isAlive { await restart(generator.chance(oneIn: 2) ? .powerCut : .kill) }
        await checkCounts()
    }

    private func passTime() {
        switch generator.below(1_000) {
        case 0..<400: break
        case 400..<700: time += Int64(generator.below(1_000))
        case 700..<940: time += Int64(generator.below(20_000))
        case 940..<995: time += Int64(generator.below(1_200_000))
        default: time += Int64(generator.below(20_000_000))
        }
    }

    private func leap() async {
        note { $0.leaps += 1 }
        // A gateway sends what it receives immediately; only here is it kept for a while.
        await sync()
        for gateway in gateways.indices { await send(gateway) }
        let before = offset
        switch generator.below(4) {
        case 0: offset = 0
        case 1: offset += Int64(generator.below(400 * 86_400)) * 1_000
        case 2: offset -= Int64(generator.below(7_200)) * 1_000
        default: offset -= Int64(generator.below(100)) * 1_000
        }
        if offset > before { model.leaps += 1 }
        farthest = max(farthest, offset)
    }

    // MARK: Transactions

    /// The seed of a trouble that comes over the disk now and then.
    private func trouble() -> UInt64? {
        guard !isCalm, generator.chance(oneIn: machine.troubleInterval) else { return nil }
        return generator.next()
    }

    /// Runs a transaction of a gateway; `nil` when it failed. `doubt` is called when the result is
    /// unknown.
    func transact<Answer>(
        _ verb: (any WakeStore) async throws(StoreFailure) -> Answer, doubt: () -> Void = {}
    ) async -> Answer? {
        // The process is dead, and its end is not over.
        guard machine.isAlive else { return nil }
        switch await machine.transact(troubleFrom: trouble(), verb) {
        case .done(let answer): return answer
        case .undone: note { $0.failures += 1 }
        case .unknown:
            trace("a transaction of which nobody knows")
            note {
                $0.failures += 1
                $0.doubtful += 1
            }
            doubt()
        case .wrong(let sentence): expect(false, "a transaction failed: \(sentence)")
        }
        return nil
    }

    /// Asks the store without changing it; `nil` as well while the process is dead.
    func look<Answer>(
        _ question: (any WakeStore) async throws(StoreFailure) -> Answer
    ) async -> Answer? {
        guard machine.isAlive else { return nil }
        do throws(StoreFailure) {
            return try await machine.look(question)
        } catch {
            expect(false, "a look failed: \(error)")
            return nil
        }
    }

    /// Notifies a gateway of a transaction's results, as soon as it may have them.
    func notify(_ gateway: Int, _ items: [Notification]) {
        trace("gateway \(gateway): \(items)")
        switch machine.answers {
        case .afterSync: notifications.append((gateway, gateways[gateway].life, items))
        case .beforeSync:
            notifications.append((gateway, gateways[gateway].life, items))
            for item in items { deliver(item, gateway) }
        case .durable: for item in items { deliver(item, gateway) }
        }
    }

    /// Makes all durable. Notifies the running gateways, if that is still to be done.
    func sync() async {
        guard machine.isAlive else { return }
        let isAlwaysDurable = machine.answers == .durable
        guard await machine.sync(troubleFrom: isAlwaysDurable ? nil : trouble()) else {
            trace("a sync failed")
            note { $0.failures += 1 }
            return
        }
        let told = notifications
        notifications = []
        guard machine.answers == .afterSync else { return }
        for (gateway, life, items) in told where gateways[gateway].life == life {
            for item in items { deliver(item, gateway) }
        }
    }

    private func deliver(_ item: Notification, _ gateway: Int) {
        switch item {
        case .accepted(let id, _): model.acknowledge(id)
        case .claims(let claims): gateways[gateway].held += claims
        case .settled(let tickets):
            gateways[gateway].inFlight.removeAll { tickets.contains($0.claim.ticket) }
        case .ended(let wake):
            // One that had merged into another is cancelled by itself, or takes its place.
            let before = model.ends[wake.id]
            expect(
                before == nil || before?.state == .coalesced,
                "\(wake.id) ended as \(wake.end), and before as \(before.map { "\($0)" } ?? "")")
            // Of a wake that merged, was revived and ended the reports may come in any order.
            if wake.end.state != .coalesced || before == nil { model.ends[wake.id] = wake.end }
        }
    }

    // MARK: Crashes

    private func crash(_ gateway: Int) {
        note { $0.crashes += 1 }
        trace("gateway \(gateway) dies")
        gateways[gateway].life += 1
        gateways[gateway].held = []
        gateways[gateway].inFlight = []
    }

    private func restart(_ way: SimulatedRestart) async {
        trace("all gateways end: \(way)")
        note {
            $0.restarts += 1
            if way == .powerCut { $0.powerCuts += 1 }
        }
        for gateway in gateways.indices { crash(gateway) }
        let start = await machine.restart(way, seed: generator.next())
        if let problem = start.problem { return expect(false, problem) }
        if start.mayHaveLost, machine.answers == .beforeSync { await findLosses() }
        notifications = []
        await checkAccepted(mayHaveLost: start.mayHaveLost)
        if mayHavePruned { await forgetPruned() }
        mayHavePruned = false
        await checkDurable()
    }

    private func intrude() async {
        guard machine.isAlive else { return }
        if let problem = await machine.intrude() { expect(false, problem) }
    }

    // MARK: The end

    private func unendedCount() async -> Int? {
        await look { (store) async throws(StoreFailure) in
            try await store.perform(CountWakes()).unended
        }
    }

    /// Lets all that waits end, with a sender that answers and a disk that works.
    private func drain() async {
        isCalm = true
        if !machine.isAlive { await restart(.kill) }
        for gateway in gateways.indices { crash(gateway) }
        await sync()
        // Leases of a time to which the clock had leapt end there.
        offset = farthest
        model.leaps += 1
        var rounds = 0
        while failure == nil, let count = await unendedCount(), count > 0 {
            rounds += 1
            // The longest that a wake may wait is a day.
            guard rounds < 400 else {
                return expect(false, "\(count) wakes never end")
            }
            time += 1_200_000
            for gateway in gateways.indices {
                await keepHouse(gateway)
                await claim(gateway, limit: 200)
                await sync()
                await send(gateway)
                await settle(gateway)
                await sync()
            }
            await checkCounts()
        }
        await checkDurable()
        await checkCarriers()
    }
}
