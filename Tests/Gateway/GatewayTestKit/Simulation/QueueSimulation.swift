// SPDX-License-Identifier: Apache-2.0

import Gateway
import SeedKit
import WakeBudget
import WakeModel

/// The whole life of a queue, in one thread and from one seed: the real decisions of several
/// gateways over a disk that fails and loses what was not synced, with a clock that leaps, a sender
/// that answers late, twice or never, and crashes anywhere. What must always hold is checked at
/// each step.
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
            sum.leaps += other.leaps
        }
    }

    /// A gateway as far as the queue knows it.
    struct SimulatedGateway {
        /// How far its clock is from the machine's, in milliseconds.
        let skew: Int64
        /// Grows with each of its deaths.
        var life = 0
        /// Claims that it was told of and has not handed to the sender.
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

    /// What a gateway hears when a transaction is durable.
    enum Notification {
        case accepted(WakeID)
        case ended(EndedWake)
        case claims([Claim])
        case settled([Claim.Ticket])
    }

    let seed: UInt64
    let disk: any SimulatedDisk
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
    var model = QueueModel()
    var pool = WakePool()
    /// Whether each step is printed, for who looks into what a seed found.
    package var isTraced = false
    package private(set) var tally = Tally()
    package private(set) var failure: String?

    /// A queue on an empty disk.
    package init(seed: UInt64, disk: any SimulatedDisk) {
        var generator = SeededGenerator(seed: seed)
        let isClockTroubled = generator.chance(oneIn: 3)
        let skewRange: Int64 = generator.chance(oneIn: 2) ? 0 : 2_000
        let count = 1 + generator.below(3)
        self.seed = seed
        self.disk = disk
        self.isClockTroubled = isClockTroubled
        self.skewRange = skewRange
        self.generator = generator
        gateways = (0..<count).map { SimulatedGateway(skew: skewRange * Int64($0) / 2) }
    }

    /// Takes so many steps, or fewer when something does not hold; then lets everything end. What
    /// did not hold, with the seed; `nil` when all did.
    package func run(steps: Int) -> String? {
        while tally.steps < steps, failure == nil {
            step()
            tally.steps += 1
        }
        if failure == nil { drain() }
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

    private func step() {
        passTime()
        let gateway = generator.below(gateways.count)
        switch generator.below(100) {
        case 0..<25: submit(gateway)
        case 25..<43: claim(gateway)
        case 43..<61: send(gateway)
        case 61..<79: settle(gateway)
        case 79..<85: keepHouse(gateway)
        case 85..<88: cancel(gateway)
        case 88..<91: report(gateway)
        case 91..<93: confirm(gateway)
        case 93: prune(gateway)
        case 94: crash(gateway)
        case 95 where generator.chance(oneIn: 4): cutPower()
        case 96 where isClockTroubled: leap()
        default: sync()
        }
        if generator.chance(oneIn: 4) { sync() }
        checkCounts()
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

    private func leap() {
        note { $0.leaps += 1 }
        // A gateway sends at once what it is told of; only here does it lie about.
        sync()
        for gateway in gateways.indices { send(gateway) }
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

    /// Runs a transaction of a gateway; `nil` when it failed, as the disk does now and then.
    func transact<Answer>(
        _ body: (StoreTransaction) throws(StoreFailure) -> Answer
    ) -> Answer? {
        let fails = !isCalm && generator.chance(oneIn: 50)
        do throws(StoreFailure) {
            return try disk.transact(fails: fails, body)
        } catch {
            expect(error == failureOnPurpose, "a transaction failed: \(error)")
            note { $0.failures += 1 }
            return nil
        }
    }

    /// Asks the store without changing it.
    func look<Answer>(_ body: (StoreTransaction) throws(StoreFailure) -> Answer) -> Answer? {
        do throws(StoreFailure) {
            return try disk.look(body)
        } catch {
            expect(false, "a look failed: \(error)")
            return nil
        }
    }

    /// Keeps what a transaction said until it is durable: nobody hears of it before.
    func notify(_ gateway: Int, _ items: [Notification]) {
        trace("gateway \(gateway): \(items)")
        notifications.append((gateway, gateways[gateway].life, items))
    }

    /// Makes all durable, and tells the gateways that still live.
    func sync() {
        do throws(StoreFailure) {
            try disk.sync()
        } catch {
            return expect(false, "a sync failed: \(error)")
        }
        let told = notifications
        notifications = []
        for (gateway, life, items) in told where gateways[gateway].life == life {
            for item in items { deliver(item, gateway) }
        }
    }

    private func deliver(_ item: Notification, _ gateway: Int) {
        switch item {
        case .accepted(let id): model.acknowledge(id)
        case .claims(let claims): gateways[gateway].held += claims
        case .settled(let tickets):
            gateways[gateway].inFlight.removeAll { tickets.contains($0.claim.ticket) }
        case .ended(let wake):
            expect(
                model.ends[wake.id] == nil,
                "\(wake.id) ended as \(wake.end), and before as \(model.ends[wake.id]!)")
            model.ends[wake.id] = wake.end
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

    private func cutPower() {
        note { $0.powerCuts += 1 }
        trace("the power is cut")
        for gateway in gateways.indices { crash(gateway) }
        notifications = []
        do throws(StoreFailure) {
            try disk.cutPower(&generator)
        } catch {
            expect(false, "the store did not open again: \(error)")
        }
        checkDurable()
    }

    // MARK: The end

    private func unendedCount() -> Int? {
        look { (transaction) throws(StoreFailure) in try transaction.count().unended }
    }

    /// Lets all that waits end, with a sender that answers and a disk that works.
    private func drain() {
        isCalm = true
        for gateway in gateways.indices { crash(gateway) }
        sync()
        // Leases of a time to which the clock had leapt end there.
        offset = farthest
        model.leaps += 1
        var rounds = 0
        while failure == nil, let count = unendedCount(), count > 0 {
            rounds += 1
            // The longest that a wake may wait is a day.
            guard rounds < 400 else {
                return expect(false, "\(count) wakes never end")
            }
            time += 600_000
            for gateway in gateways.indices {
                keepHouse(gateway)
                claim(gateway)
                sync()
                send(gateway)
                settle(gateway)
                sync()
            }
            checkCounts()
        }
        checkDurable()
        checkCarriers()
    }
}
