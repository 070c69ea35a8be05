// SPDX-License-Identifier: Apache-2.0

import Logging
import PayloadRules
import Synchronization
import WakeBudget
import WakeModel

/// Passes due wakes from the store to the sender, and the results back.
///
/// Wakes reach it in two ways: one loop claims due wakes in batches while there are free in-flight
/// slots; and wakes that may be sent immediately are claimed in the transaction that admits them,
/// and passed to it. The loop sleeps until a wake with an earlier due time was admitted, a slot
/// became free, a wake is due, a held queue may probe, or housekeeping is due.
final class Dispatcher: Sendable {
    struct State {
        /// The wakes in flight of each queue, and their limits.
        var shares: QueueShares
        var holds: HeldQueues
        var silences: UnresponsiveQueues
        /// The leases that this gateway holds.
        var leases = HeldLeases()
        var paused: [AppIdentity: QueuePause] = [:]
        /// The pauses that this gateway is setting, and those that it has set: a reading of the
        /// store during that may be older.
        var pausesUnderWay = 0
        var pausesSet = 0
        var confirming: Set<WakeQueueKey> = []
        /// Unconfigured queues with waiting wakes that were already reported.
        var knownStrangers: Set<WakeQueueKey> = []
        /// Queues in which older wakes may be due: new ones must not overtake them.
        var unfinished: Set<WakeQueueKey>
        /// The apps that are configured.
        var apps: Set<AppIdentity>
        /// Queues of calls and of Push to Talk, which precede all others.
        var voipQueues: [WakeQueueKey]
        /// All other queues.
        var backgroundQueues: [WakeQueueKey]
        /// Queues of plain pushes that this gateway has had a wake of.
        var usedQueues: Set<WakeQueueKey> = []
        var sender: any WakeSender
        /// How long that may take for a push, in seconds.
        var sendSeconds: Int
        /// The number of reloads, which identifies the sender of an answer.
        var generation = 0
        /// The generation in which the sender of an app last changed; none for the first.
        var changedIn: [AppIdentity: Int] = [:]
        var isStopping = false
        var nextHousekeeping = WallInstant(millisecondsSinceEpoch: .min)
        /// Queues that the loop last skipped because they had no free slots.
        var withoutRoom: Set<WakeQueueKey> = []
        /// Queues that were reported as unresponsive, and since when they are.
        var toldUnresponsive: [WakeQueueKey: WallInstant] = [:]
        /// The time of the loop's next turn.
        var nextLook = WallInstant(millisecondsSinceEpoch: .max)
        var rotation = 0

        /// How many wakes are claimed and not settled.
        var inFlight: Int { shares.inFlight }

        /// The duration of a lease: longer than the longest push.
        func leaseSeconds(_ limits: GatewayLimits) -> Int {
            max(limits.leaseSeconds, sendSeconds + limits.leaseMarginSeconds)
        }
    }

    let state: Mutex<State>
    let signal = AsyncSignal()
    let context: GatewayContext
    let policy: RetryPolicy
    let jitter: @Sendable () -> Double
    let sendQueue = SendQueue()
    let settlementWriter: SettlementWriter

    /// Creates a dispatcher for these apps.
    init(
        context: GatewayContext, apps: [AppIdentity], sender: any WakeSender,
        jitter: @escaping @Sendable () -> Double
    ) {
        let queues = apps.flatMap { app in
            WakeKind.allCases.map { WakeQueueKey(app: app, kind: $0) }
        }
        state = Mutex(
            State(
                shares: QueueShares(limits: context.limits),
                holds: HeldQueues(limits: context.limits),
                silences: UnresponsiveQueues(limits: context.limits), unfinished: Set(queues),
                apps: Set(apps),
                voipQueues: queues.filter(\.kind.isImmediate),
                backgroundQueues: queues.filter { !$0.kind.isImmediate }, sender: sender,
                sendSeconds: context.configuration.sendSeconds))
        policy = RetryPolicy(limits: context.limits)
        self.context = context
        self.jitter = jitter
        settlementWriter = SettlementWriter(
            clock: context.clock, limits: context.limits, logger: context.logger,
            batchCount: { context.batchCount(context.limits.settleBatchCount) }
        ) { batch in
            await context.settle(batch)
        }
    }

    var clock: any GatewayClock { context.clock }
    var limits: GatewayLimits { context.limits }

    /// Stops claiming; ``run()`` then drains and returns.
    func stop() {
        state.withLock { $0.isStopping = true }
        signal.ring()
    }

    /// Dispatches until stopped, waits for the wakes in flight until the drain's deadline, abandons
    /// the rest, and returns when all are settled.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.settlementWriter.run() }
            group.addTask {
                await self.claimUntilStopped()
                await self.drain()
                self.sendQueue.close()
            }
            await deliverUntilClosed()
            settlementWriter.close()
        }
    }

    /// Passes each batch to the sender, concurrently.
    private func deliverUntilClosed() async {
        await withDiscardingTaskGroup { sends in
            while let claims = await sendQueue.next() {
                sends.addTask { await self.deliver(claims) }
            }
            sends.cancelAll()
        }
    }

    private func drain() async {
        let limit = TimeLimit(
            milliseconds: Int64(limits.drainSeconds) * 1000, from: clock.now())
        while state.withLock({ $0.inFlight }) > 0, !Task.isCancelled,
            !limit.isOver(at: clock.now())
        {
            await signal.wait(until: limit, clock: clock)
        }
    }

    // MARK: Admission

    /// The limits of what an admission of one kind may claim immediately, and the obstacles of
    /// their queues; in-flight slots are reserved for it until ``admitted(_:under:)``.
    func makeGrant(for submissions: [WakeSubmission]) -> AdmissionGrant? {
        var counts: [WakeQueueKey: Int] = [:]
        for submission in submissions { counts[submission.queue, default: 0] += 1 }
        let now = clock.now()
        let first = submissions.lazy.map(\.acceptedAt).min() ?? now
        return state.withLock { state in
            var slots: [WakeQueueKey: Int] = [:]
            var obstacles: [WakeQueueKey: DelayReasons] = [:]
            // Those with the fewest first: slots that one reserves are not available to the next.
            for (queue, count) in counts.sorted(by: { $0.value < $1.value }) {
                let found = state.obstacles(of: queue, at: now)
                if !found.isEmpty { obstacles[queue] = found }
                state.noteUse(of: queue)
                guard !state.isStopping, state.apps.contains(queue.app),
                    !state.unfinished.contains(queue),
                    !state.holds.isHeld(queue), state.paused[queue.app] == nil
                else { continue }
                let room = min(state.shares.room(for: queue, at: now), count)
                guard room > 0 else { continue }
                state.shares.take(room, of: queue, at: now)
                slots[queue] = room
            }
            guard !slots.isEmpty || !obstacles.isEmpty else { return nil }
            let leaseSeconds = state.leaseSeconds(limits)
            // The leases begin with the acceptance, which is the caller's and not the
            // transaction's.
            let promise = state.leases.promise(
                until: first.advanced(bySeconds: Int64(leaseSeconds)))
            return AdmissionGrant(
                room: ClaimGrant(
                    slots: slots, leaseSeconds: leaseSeconds, obstacles: obstacles),
                promise: promise)
        }
    }

    /// Whether wakes at intake need not wait for in-flight slots: some of them have slots, or
    /// waiting would free none, because their queue is held, paused or unresponsive. For each
    /// caller, the queue of the first wake and the number of waiting wakes are passed.
    func hasRoom(for waiting: [(queue: WakeQueueKey, count: Int)]) -> Bool {
        let now = clock.now()
        let most = max(1, limits.inFlightCount - limits.voipReserveCount)
        let enough = min(limits.intakeBatchCount, limits.inFlightCount / 8, most)
        return state.withLock { state in
            guard !state.isStopping else { return true }
            return waiting.contains { queue, count in
                state.holds.isHeld(queue) || state.paused[queue.app] != nil
                    || !state.shares.mayGetRoom(for: queue, count: min(count, enough), at: now)
            }
        }
    }

    /// Takes over what an admission claimed, and returns the slots that it did not use, for which
    /// due wakes of other queues or the drain may wait.
    func admitted(_ answer: AdmitAnswer?, under grant: AdmissionGrant?) {
        let claims = answer?.claims ?? []
        let now = clock.now()
        let rings = state.withLock { state in
            var unused = grant?.room.slots ?? [:]
            for claim in claims { unused[claim.queue, default: 0] -= 1 }
            for (queue, count) in unused { state.shares.giveBack(count, of: queue) }
            let isAwaited =
                unused.values.contains { $0 > 0 }
                && (state.isStopping
                    || state.withoutRoom.contains { state.shares.room(for: $0, at: now) > 0 })
            state.leases.take(claims)
            if let grant { state.leases.promiseEnded(grant.promise) }
            guard let answer, let nextDue = answer.nextDue else { return isAwaited }
            // New wakes must not overtake them until the loop has read them.
            state.unfinished.formUnion(answer.leftDue)
            return isAwaited || nextDue < state.nextLook
        }
        if !claims.isEmpty { sendQueue.put(claims) }
        if rings { signal.ring() }
    }

    /// Records written settlements: slots became free, and wakes may be due again.
    func settled(_ settlements: [Settlement], nextDue: WallInstant?) {
        let now = clock.now()
        let rings = state.withLock { state in
            for (queue, count) in state.leases.letGo(settlements) {
                state.shares.giveBack(count, of: queue)
            }
            return state.isStopping || nextDue.map { $0 < state.nextLook } ?? false
                || state.unfinished.union(state.withoutRoom).contains { queue in
                    state.shares.room(for: queue, at: now) > 0
                }
        }
        if rings { signal.ring() }
    }

    // MARK: Sending

    private func deliver(_ claims: [Claim]) async {
        let now = clock.now()
        guard !Task.isCancelled else {
            let releases = claims.map {
                Settlement(ticket: $0.ticket, at: now, attempt: nil, effect: .release)
            }
            return settlementWriter.settle(releases)
        }
        let (sender, sendSeconds, generation) = state.withLock {
            ($0.sender, $0.sendSeconds, $0.generation)
        }
        var settledUnsent: [Settlement] = []
        var batch: [Claim] = []
        batch.reserveCapacity(claims.count)
        for claim in claims {
            if let settlement = policy.settlementWithoutSending(
                claim, now: now, sendSeconds: sendSeconds)
            {
                settledUnsent.append(settlement)
                state.withLock { $0.holds.probeEnded(claim.queue, now: now) }
            } else {
                batch.append(claim)
            }
        }
        settlementWriter.settle(settledUnsent)
        guard !batch.isEmpty else { return }
        measure(batch, now: now)

        let counts = Dictionary(batch.lazy.map { ($0.queue, 1) }, uniquingKeysWith: +)
        state.withLock { state in
            for (queue, count) in counts { state.shares.sent(count, of: queue, at: now) }
        }
        let ledger = SendLedger(batch)
        await sender.send(batch, at: now) { report in
            guard let claim = ledger.take(report.ticket) else { return }
            self.settlementWriter.settle(
                self.decide(claim, report.result, sentAt: now, generation: generation))
        }
        let failure = SendFailure(
            certainty: .unknown, description: "The sender returned without a result.")
        settlementWriter.settle(
            ledger.takeRest().map {
                decide($0, .failure(failure), sentAt: now, generation: generation)
            })
    }

    private func measure(_ batch: [Claim], now: WallInstant) {
        var queues: [WakeQueueKey: (count: Int, earliest: WallInstant)] = [:]
        for claim in batch {
            let known = queues[claim.queue] ?? (0, claim.dueAt)
            queues[claim.queue] = (known.count + 1, min(known.earliest, claim.dueAt))
        }
        for (queue, due) in queues {
            context.metrics.dispatched(
                due.count, of: queue, lagMilliseconds: now.milliseconds(since: due.earliest))
        }
    }

    private func decide(
        _ claim: Claim, _ result: Result<PushOutcome, SendFailure>, sentAt: WallInstant,
        generation: Int
    ) -> Settlement {
        let now = clock.now()
        if case .success = result {
            context.metrics.answered(
                afterMilliseconds: now.milliseconds(since: sentAt), of: claim.queue)
        }
        let decision = policy.decide(claim, result, now: now, jitter: jitter())
        let (change, silence, responds) = state.withLock {
            $0.note(decision.signal, on: claim.queue, generation: generation, now: now)
        }
        announce(change, decision.signal, claim.queue, now: now)
        // It has more free slots now than a waiting loop assumes.
        if responds { signal.ring() }
        announce(silence, claim.queue)
        context.logger.debug(
            "an attempt has its result",
            metadata: [
                "wake": "\(claim.id)", "device": "\(claim.deviceToken)", "queue": "\(claim.queue)",
                "effect": "\(decision.settlement.effect.word)",
            ])
        return decision.settlement
    }

    /// Reports a queue that stopped or resumed, in the log and to listeners.
    private func announce(
        _ change: HeldQueues.Change, _ signal: RetryPolicy.QueueSignal, _ queue: WakeQueueKey,
        now: WallInstant
    ) {
        switch (change, signal) {
        case (.began, .blocked(let reason, _)):
            context.logger.warning(
                "dispatch is held", metadata: ["queue": "\(queue)", "reason": "\(reason)"])
            context.tell(AppHold(queue: queue, isHeld: true, reason: reason, at: now))
        case (.ended, _):
            context.logger.notice("dispatch goes on", metadata: ["queue": "\(queue)"])
            context.tell(
                AppHold(
                    queue: queue, isHeld: false, reason: "APNs takes its pushes again.", at: now))
            self.signal.ring()
        default: break
        }
    }

    /// Logs that a queue became unresponsive, or is no longer.
    private func announce(_ change: UnresponsiveQueues.Change, _ queue: WakeQueueKey) {
        switch change {
        case .began(let silence):
            context.logger.warning(
                "APNs does not answer",
                metadata: [
                    "queue": "\(queue)", "since": "\(silence.since)",
                    "failure": "\(silence.failure)",
                ])
        case .ended: context.logger.notice("APNs answers again", metadata: ["queue": "\(queue)"])
        case .none: break
        }
    }
}

extension Dispatcher.State {
    /// Records a wake of this queue.
    mutating func noteUse(of queue: WakeQueueKey) {
        if queue.kind.discipline == .plain { usedQueues.insert(queue) }
    }

    /// The queues of an app that are shown: those of background pushes and calls, and those of
    /// plain pushes that were used.
    func shownQueues(of app: AppIdentity) -> [WakeQueueKey] {
        WakeKind.allCases.map { WakeQueueKey(app: app, kind: $0) }.filter {
            $0.kind.discipline != .plain || usedQueues.contains($0)
        }
    }

    /// The result of an attempt with the sender of a generation. An answer to a replaced sender
    /// does not concern the current key and topics, and one from before a reload holds no queue
    /// that the reload has freed; and the app may have been removed, also between the claim and the
    /// sending.
    fileprivate mutating func note(
        _ signal: RetryPolicy.QueueSignal, on queue: WakeQueueKey, generation: Int, now: WallInstant
    ) -> (HeldQueues.Change, UnresponsiveQueues.Change, responds: Bool) {
        guard generation >= changedIn[queue.app] ?? 0 else { return (.none, .none, false) }
        if signal != .answered, !apps.contains(queue.app) { return (.none, .none, false) }
        return (
            generation == self.generation ? holds.note(signal, on: queue, now: now) : .none,
            silences.note(signal, on: queue, now: now),
            shares.note(signal, on: queue, at: now)
        )
    }
}

extension Settlement.Effect {
    /// The result in one word, for a log.
    fileprivate var word: String {
        switch self {
        case .end(let end): end.state.rawValue
        case .retry: "retry"
        case .release: "release"
        }
    }
}

/// Claims that wait for the sender. Bounded by the number of wakes in flight.
final class SendQueue: Sendable {
    private struct State {
        var queue: [[Claim]] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    private let signal = AsyncSignal()

    func put(_ claims: [Claim]) {
        state.withLock { $0.queue.append(claims) }
        signal.ring()
    }

    /// No more claims are accepted; waiting ones are still passed on.
    func close() {
        state.withLock { $0.isClosed = true }
        signal.ring()
    }

    /// The next claims; `nil` when it is closed and empty.
    func next() async -> [Claim]? {
        while true {
            let (claims, isClosed) = state.withLock { state -> ([Claim]?, Bool) in
                guard !state.queue.isEmpty else { return (nil, state.isClosed) }
                return (state.queue.removeFirst(), false)
            }
            if let claims { return claims }
            if isClosed { return nil }
            await signal.wait()
        }
    }
}

/// The claims of a batch without a result: each must have exactly one.
private final class SendLedger: Sendable {
    private let open: Mutex<[Claim.Ticket: Claim]>

    init(_ batch: [Claim]) {
        open = Mutex(Dictionary(uniqueKeysWithValues: batch.map { ($0.ticket, $0) }))
    }

    func take(_ ticket: Claim.Ticket) -> Claim? {
        open.withLock { $0.removeValue(forKey: ticket) }
    }

    func takeRest() -> [Claim] {
        open.withLock { open in
            defer { open = [:] }
            return Array(open.values)
        }
    }
}
