// SPDX-License-Identifier: Apache-2.0

import Logging
import PayloadRules
import Synchronization
import WakeModel

/// Takes due wakes from the store to the sender, and results back.
///
/// Wakes come to it by two ways: one loop claims what is due, in batches, while there is room in
/// flight; and what may go at once is claimed in the transaction that admits it, and handed over.
/// The loop sleeps until something happens: a wake was admitted that is due earlier than it knew,
/// room came free, a wake is due, a held lane may probe, or it is time for housekeeping.
final class Dispatcher: Sendable {
    struct State {
        /// How many wakes of each queue are in flight, and may be.
        var shares: QueueShares
        var holds: LaneHolds
        var silences: LaneSilences
        /// What this gateway has in hand.
        var leases = LeasesInHand()
        var paused: [AppIdentity: LanePause] = [:]
        /// How many pauses are being set by this gateway, and how many it has set: what was read
        /// from the store meanwhile may be older than they are.
        var pausesUnderWay = 0
        var pausesSet = 0
        var confirming: Set<Lane> = []
        /// Lanes that are not configured, once it was told that wakes wait for them.
        var knownStrangers: Set<Lane> = []
        /// Lanes in which older wakes may be due: new ones must not overtake them.
        var unfinished: Set<Lane>
        var voipLanes: [Lane]
        var backgroundLanes: [Lane]
        var sender: any WakeSender
        /// How long that may take for a push, in seconds.
        var sendSeconds: Int
        /// Grows with each reload: which sender an answer came by.
        var generation = 0
        var isStopping = false
        var nextHousekeeping = WallInstant(millisecondsSinceEpoch: .min)
        /// Queues that the loop did not look at last, because they had no room.
        var withoutRoom: Set<Lane> = []
        /// Queues of which it was told that they are unresponsive.
        var toldUnresponsive: Set<Lane> = []
        /// When the loop will look next.
        var nextLook = WallInstant(millisecondsSinceEpoch: .max)
        var rotation = 0

        /// How many wakes are claimed and not settled.
        var inFlight: Int { shares.inFlight }

        /// How long a lease lasts that begins now: longer than the longest push.
        func leaseSeconds(_ limits: GatewayLimits) -> Int {
            max(limits.leaseSeconds, sendSeconds + limits.leaseMarginSeconds)
        }
    }

    let state: Mutex<State>
    let bell = Bell()
    let hall: Hall
    let policy: RetryPolicy
    let jitter: @Sendable () -> Double
    let deliveries = Deliveries()
    let settler: Settler

    /// A dispatcher for these apps.
    init(
        hall: Hall, apps: [AppIdentity], sender: any WakeSender,
        jitter: @escaping @Sendable () -> Double
    ) {
        let lanes = apps.flatMap { app in WakeKind.allCases.map { Lane(app: app, kind: $0) } }
        state = Mutex(
            State(
                shares: QueueShares(limits: hall.limits), holds: LaneHolds(limits: hall.limits),
                silences: LaneSilences(limits: hall.limits), unfinished: Set(lanes),
                voipLanes: lanes.filter { $0.kind == .voip },
                backgroundLanes: lanes.filter { $0.kind == .background }, sender: sender,
                sendSeconds: hall.configuration.sendSeconds))
        policy = RetryPolicy(limits: hall.limits)
        self.hall = hall
        self.jitter = jitter
        settler = Settler(clock: hall.clock, limits: hall.limits, logger: hall.logger) { batch in
            await hall.settle(batch)
        }
    }

    var clock: any GatewayClock { hall.clock }
    var limits: GatewayLimits { hall.limits }

    /// Stops claiming; ``run()`` then drains and returns.
    func stop() {
        state.withLock { $0.isStopping = true }
        bell.ring()
    }

    /// Dispatches until stopped, waits for what is in flight until the drain's deadline, gives the
    /// rest up, and returns when all is settled.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.settler.run() }
            group.addTask {
                await self.claimUntilStopped()
                await self.drain()
                self.deliveries.close()
            }
            await deliverUntilClosed()
            settler.close()
        }
    }

    /// Hands each batch to the sender, beside the others.
    private func deliverUntilClosed() async {
        await withDiscardingTaskGroup { sends in
            while let claims = await deliveries.next() {
                sends.addTask { await self.deliver(claims) }
            }
            sends.cancelAll()
        }
    }

    private func drain() async {
        let deadline = clock.now().advanced(bySeconds: Int64(limits.drainSeconds))
        while state.withLock({ $0.inFlight }) > 0, !Task.isCancelled, clock.now() < deadline {
            await bell.wait(until: deadline, clock: clock)
        }
    }

    // MARK: Admission

    /// What an admission of submissions of one kind may claim at once; room in flight is reserved
    /// for it until ``admitted(_:under:)``.
    func makeGrant(for submissions: [Submission]) -> ClaimGrant? {
        let areCalls = submissions.first?.wake.wake.kind == .voip
        var counts: [Lane: Int] = [:]
        for submission in submissions { counts[submission.wake.lane, default: 0] += 1 }
        let first = submissions.lazy.map(\.wake.acceptedAt).min()
        let now = clock.now()
        return state.withLock { state in
            guard !state.isStopping else { return nil }
            var rooms: [Lane: Int] = [:]
            // Those with the fewest first: room that one has reserved is none for the next.
            for (lane, count) in counts.sorted(by: { $0.value < $1.value }) {
                let lanes = areCalls ? state.voipLanes : state.backgroundLanes
                guard lanes.contains(lane), !state.unfinished.contains(lane),
                    !state.holds.isHeld(lane), state.paused[lane.app] == nil
                else { continue }
                let room = min(state.shares.room(for: lane, at: now), count)
                guard room > 0 else { continue }
                state.shares.take(room, of: lane, at: now)
                rooms[lane] = room
            }
            guard !rooms.isEmpty else { return nil }
            let leaseSeconds = state.leaseSeconds(limits)
            // The leases begin with the acceptance, which is the caller's and not the
            // transaction's.
            if let firstEnd = first?.advanced(bySeconds: Int64(leaseSeconds)) {
                state.leases.promise(areCalls ? .voip : .background, until: firstEnd)
            }
            return ClaimGrant(rooms: rooms, leaseSeconds: leaseSeconds)
        }
    }

    /// Whether what waits at intake need not wait for room in flight: some of it has room, or
    /// waiting would bring none, because its queue is held, paused or unresponsive. Of each caller
    /// it is told the queue of the first wake, and how many wakes wait.
    func hasRoom(for waiting: [(lane: Lane, count: Int)]) -> Bool {
        let now = clock.now()
        let most = max(1, limits.inFlightCount - limits.voipReserveCount)
        let enough = min(limits.intakeBatchCount, limits.inFlightCount / 8, most)
        return state.withLock { state in
            guard !state.isStopping else { return true }
            return waiting.contains { lane, count in
                state.holds.isHeld(lane) || state.paused[lane.app] != nil
                    || !state.shares.mayGetRoom(for: lane, count: min(count, enough), at: now)
            }
        }
    }

    /// Takes over what an admission claimed, and gives the room back that it did not use, for which
    /// due wakes of other queues or the drain may wait.
    func admitted(_ answer: AdmitAnswer?, under grant: ClaimGrant?) {
        let claims = answer?.claims ?? []
        let now = clock.now()
        let rings = state.withLock { state in
            var unused = grant?.rooms ?? [:]
            for claim in claims { unused[claim.lane, default: 0] -= 1 }
            for (lane, count) in unused { state.shares.giveBack(count, of: lane) }
            let isAwaited =
                unused.values.contains { $0 > 0 }
                && (state.isStopping
                    || state.withoutRoom.contains { state.shares.room(for: $0, at: now) > 0 })
            state.leases.take(claims)
            if let grant { state.leases.promiseEnded(grant.calls > 0 ? .voip : .background) }
            guard let answer, let nextDue = answer.nextDue else { return isAwaited }
            // Until the loop has looked, new ones must not overtake those.
            state.unfinished.formUnion(answer.leftDue)
            return isAwaited || nextDue < state.nextLook
        }
        if !claims.isEmpty { deliveries.put(claims) }
        if rings { bell.ring() }
    }

    /// Settlements were written: room came free, and something may be due again.
    func settled(_ settlements: [Settlement], nextDue: WallInstant?) {
        let now = clock.now()
        let rings = state.withLock { state in
            for (lane, count) in state.leases.letGo(settlements) {
                state.shares.giveBack(count, of: lane)
            }
            return state.isStopping || nextDue.map { $0 < state.nextLook } ?? false
                || state.unfinished.union(state.withoutRoom).contains { lane in
                    state.shares.room(for: lane, at: now) > 0
                }
        }
        if rings { bell.ring() }
    }

    // MARK: Sending

    private func deliver(_ claims: [Claim]) async {
        let now = clock.now()
        guard !Task.isCancelled else {
            let releases = claims.map {
                Settlement(ticket: $0.ticket, at: now, attempt: nil, effect: .release)
            }
            return settler.settle(releases)
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
                state.withLock { $0.holds.probeEnded(claim.lane, now: now) }
            } else {
                batch.append(claim)
            }
        }
        settler.settle(settledUnsent)
        guard !batch.isEmpty else { return }
        measure(batch, now: now)

        let lanes = Set(batch.lazy.map(\.lane))
        state.withLock { state in
            for lane in lanes { state.shares.sent(lane, at: now) }
        }
        let ledger = SendLedger(batch)
        await sender.send(batch) { report in
            guard let claim = ledger.take(report.ticket) else { return }
            self.settler.settle(
                self.decide(claim, report.result, sentAt: now, generation: generation))
        }
        let failure = SendFailure(
            certainty: .unknown, description: "The sender returned without a result.")
        settler.settle(
            ledger.takeRest().map {
                decide($0, .failure(failure), sentAt: now, generation: generation)
            })
    }

    private func measure(_ batch: [Claim], now: WallInstant) {
        for kind in WakeKind.allCases {
            let ofKind = batch.filter { $0.kind == kind }
            guard let earliest = ofKind.map(\.dueAt).min() else { continue }
            hall.metrics.dispatched(
                ofKind.count, kind: kind, lagMilliseconds: now.milliseconds(since: earliest))
        }
    }

    private func decide(
        _ claim: Claim, _ result: Result<PushOutcome, SendFailure>, sentAt: WallInstant,
        generation: Int
    ) -> Settlement {
        let now = clock.now()
        if case .success = result {
            hall.metrics.answered(
                afterMilliseconds: now.milliseconds(since: sentAt), kind: claim.kind)
        }
        let decision = policy.decide(claim, result, now: now, jitter: jitter())
        let (change, silence, responds) = state.withLock {
            $0.note(decision.signal, on: claim.lane, generation: generation, now: now)
        }
        announce(change, decision.signal, claim.lane, now: now)
        // It has more room now than what waits for the next settlement knows.
        if responds { bell.ring() }
        announce(silence, claim.lane)
        hall.logger.debug(
            "an attempt has its result",
            metadata: [
                "wake": "\(claim.id)", "device": "\(claim.deviceToken)", "lane": "\(claim.lane)",
                "effect": "\(decision.settlement.effect.word)",
            ])
        return decision.settlement
    }

    /// A lane stopped, or goes on: says so in the log and to who listens.
    private func announce(
        _ change: LaneHolds.Change, _ signal: RetryPolicy.LaneSignal, _ lane: Lane,
        now: WallInstant
    ) {
        switch (change, signal) {
        case (.began, .blocked(let reason, _)):
            hall.logger.warning(
                "dispatch is held", metadata: ["lane": "\(lane)", "reason": "\(reason)"])
            hall.tell(AppHalt(lane: lane, isHalted: true, reason: reason, at: now))
        case (.ended, _):
            hall.logger.notice("dispatch goes on", metadata: ["lane": "\(lane)"])
            hall.tell(
                AppHalt(
                    lane: lane, isHalted: false, reason: "APNs takes its pushes again.", at: now))
            bell.ring()
        default: break
        }
    }

    /// A lane is silent, or is no more: says so in the log.
    private func announce(_ change: LaneSilences.Change, _ lane: Lane) {
        switch change {
        case .began(let silence):
            hall.logger.warning(
                "APNs does not answer",
                metadata: [
                    "lane": "\(lane)", "since": "\(silence.since)",
                    "failure": "\(silence.failure)",
                ])
        case .ended: hall.logger.notice("APNs answers again", metadata: ["lane": "\(lane)"])
        case .none: break
        }
    }
}

extension Dispatcher.State {
    /// What came of an attempt with the sender of a generation. What a sender that was replaced
    /// hears says nothing of the key and the topics that there are now; and the app may be gone,
    /// or have gone between its claim and its sending.
    fileprivate mutating func note(
        _ signal: RetryPolicy.LaneSignal, on lane: Lane, generation: Int, now: WallInstant
    ) -> (LaneHolds.Change, LaneSilences.Change, responds: Bool) {
        guard generation == self.generation else { return (.none, .none, false) }
        if signal != .answered {
            let lanes = lane.kind == .voip ? voipLanes : backgroundLanes
            guard lanes.contains(lane) else { return (.none, .none, false) }
        }
        return (
            holds.note(signal, on: lane, now: now), silences.note(signal, on: lane, now: now),
            shares.note(signal, on: lane, at: now)
        )
    }
}

extension Settlement.Effect {
    /// One word for a log.
    fileprivate var word: String {
        switch self {
        case .end(let end): end.state.rawValue
        case .retry: "retry"
        case .release: "release"
        }
    }
}

/// Claims on their way to the sender. Bounded by the number of wakes in flight.
final class Deliveries: Sendable {
    private struct State {
        var queue: [[Claim]] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    private let bell = Bell()

    func put(_ claims: [Claim]) {
        state.withLock { $0.queue.append(claims) }
        bell.ring()
    }

    /// No more claims come; what waits is still handed out.
    func close() {
        state.withLock { $0.isClosed = true }
        bell.ring()
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
            await bell.wait()
        }
    }
}

/// Which claims of a batch still wait for their result: each gives one, and only one.
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
