// SPDX-License-Identifier: Apache-2.0

import Logging
import Synchronization
import WakeModel

/// Takes due wakes from the store to the sender, and results back.
///
/// One loop claims in batches while there is room in flight. It sleeps until something happens: a
/// wake was admitted, room came free, a wake is due, a held lane may probe, or it is time to look
/// for expired wakes and lapsed leases.
final class Dispatcher: Sendable {
    struct State {
        var inFlight = 0
        var holds: LaneHolds
        var isStopping = false
        var nextHousekeeping: WallInstant
        var rotation = 0
    }

    let state: Mutex<State>
    let bell = Bell()
    let store: any WakeStore
    let sender: any WakeSender
    let watch: StoreWatch
    let clock: any GatewayClock
    let limits: GatewayLimits
    let policy: RetryPolicy
    let logger: Logger
    let jitter: @Sendable () -> Double
    private let voipLanes: [Lane]
    private let backgroundLanes: [Lane]

    /// A dispatcher for these apps.
    init(
        apps: [AppIdentity], store: any WakeStore, sender: any WakeSender, watch: StoreWatch,
        clock: any GatewayClock, limits: GatewayLimits, logger: Logger,
        jitter: @escaping @Sendable () -> Double
    ) {
        state = Mutex(
            State(
                holds: LaneHolds(limits: limits),
                nextHousekeeping: WallInstant(millisecondsSinceEpoch: .min)))
        voipLanes = apps.map { Lane(app: $0, kind: .voip) }
        backgroundLanes = apps.map { Lane(app: $0, kind: .background) }
        policy = RetryPolicy(limits: limits)
        self.store = store
        self.sender = sender
        self.watch = watch
        self.clock = clock
        self.limits = limits
        self.logger = logger
        self.jitter = jitter
    }

    /// Stops claiming; ``run()`` then drains and returns.
    func stop() {
        state.withLock { $0.isStopping = true }
        bell.ring()
    }

    /// Dispatches until stopped, waits for what is in flight until the drain's deadline, gives the
    /// rest up, and returns when all is settled.
    func run() async {
        let settler = Settler(
            store: store, watch: watch, clock: clock, limits: limits, logger: logger
        ) { count in
            self.state.withLock { $0.inFlight -= count }
            self.bell.ring()
        }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await settler.run() }
            await withDiscardingTaskGroup { sends in
                while !state.withLock({ $0.isStopping }) {
                    let claims = await nextBatch()
                    if !claims.isEmpty {
                        sends.addTask { await self.deliver(claims, settler: settler) }
                    }
                }
                await drain()
                sends.cancelAll()
            }
            settler.close()
        }
    }

    private func drain() async {
        let deadline = clock.now().advanced(bySeconds: Int64(limits.drainSeconds))
        while state.withLock({ $0.inFlight }) > 0, !Task.isCancelled, clock.now() < deadline {
            await bell.wait(until: deadline, clock: clock)
        }
    }

    // MARK: Claiming

    /// Claims what is due and fits; sleeps, and returns nothing, when there is nothing to do.
    private func nextBatch() async -> [Claim] {
        do throws(StoreFailure) {
            try await keepHouse()
            let claims = try await claim()
            if claims.isEmpty {
                let instant = try await nextInstant()
                await bell.wait(until: instant, clock: clock)
            }
            return claims
        } catch {
            let pause = Int64(limits.storePauseMilliseconds)
            await bell.wait(until: clock.now().advanced(byMilliseconds: pause), clock: clock)
            return []
        }
    }

    /// VoIP first and with all the room; background with what is left beside the reserve.
    private func claim() async throws(StoreFailure) -> [Claim] {
        let free = limits.inFlightCount - state.withLock { $0.inFlight }
        let voip = try await claim(rotated(voipLanes), limit: min(free, limits.claimBatchCount))
        let room = min(
            free - voip.count - limits.voipReserveCount, limits.claimBatchCount - voip.count)
        do throws(StoreFailure) {
            return voip + (try await claim(rotated(backgroundLanes), limit: room))
        } catch {
            // Calls that were claimed must go out, whatever became of the rest.
            guard !voip.isEmpty else { throw error }
            return voip
        }
    }

    private func claim(_ lanes: [Lane], limit: Int) async throws(StoreFailure) -> [Claim] {
        guard limit > 0 else { return [] }
        let now = clock.now()
        let shares = state.withLock { $0.holds.shares(of: lanes, limit: limit, now: now) }
        guard !shares.isEmpty else { return [] }
        let order = ClaimOrder(
            shares: shares, limit: limit, now: now,
            leaseUntil: now.advanced(bySeconds: Int64(limits.leaseSeconds)))
        let claims = try await watch.observe { () async throws(StoreFailure) in
            try await store.claim(order)
        }
        state.withLock { state in
            state.inFlight += claims.count
            guard !state.holds.holds.isEmpty else { return }
            for claim in claims { state.holds.claimed(claim.lane) }
        }
        return claims
    }

    /// The lanes beginning with another one each time, so that none always comes last.
    private func rotated(_ lanes: [Lane]) -> [Lane] {
        guard lanes.count > 1 else { return lanes }
        let start = state.withLock { state in
            state.rotation &+= 1
            return Int(UInt(bitPattern: state.rotation) % UInt(lanes.count))
        }
        return Array(lanes[start...] + lanes[..<start])
    }

    /// When to look again if nothing rings before: the next due time in a lane that may send, or
    /// the next housekeeping. Without room in flight only a settlement, which rings, changes that.
    private func nextInstant() async throws(StoreFailure) -> WallInstant {
        let now = clock.now()
        let (inFlight, free, housekeeping) = state.withLock { state in
            let lanes = voipLanes + backgroundLanes
            let shares = state.holds.shares(of: lanes, limit: 1, now: now)
            let earliest = state.holds.nextProbe(after: now).map { min($0, state.nextHousekeeping) }
            return (state.inFlight, shares.map(\.lane), earliest ?? state.nextHousekeeping)
        }
        let hasRoom = inFlight < limits.inFlightCount - limits.voipReserveCount
        let lanes = hasRoom ? free : free.filter { $0.kind == .voip }
        guard inFlight < limits.inFlightCount, !lanes.isEmpty else { return housekeeping }
        let due = try await watch.observe { () async throws(StoreFailure) in
            try await store.nextDue(in: lanes)
        }
        guard let due else { return housekeeping }
        // Due, and yet not claimed: its deadline has come, and it is time to end it.
        if due <= now { state.withLock { $0.nextHousekeeping = now } }
        return min(due, housekeeping)
    }

    // MARK: Sending

    private func deliver(_ claims: [Claim], settler: Settler) async {
        let now = clock.now()
        guard !Task.isCancelled else {
            let releases = claims.map {
                Settlement(ticket: $0.ticket, at: now, attempt: nil, effect: .release)
            }
            return settler.settle(releases)
        }
        var settledUnsent: [Settlement] = []
        var batch: [Claim] = []
        batch.reserveCapacity(claims.count)
        for claim in claims {
            if let settlement = policy.settlementWithoutSending(claim, now: now) {
                settledUnsent.append(settlement)
                state.withLock { $0.holds.probeEnded(claim.lane, now: now) }
            } else {
                batch.append(claim)
            }
        }
        settler.settle(settledUnsent)
        guard !batch.isEmpty else { return }

        let ledger = SendLedger(batch)
        await sender.send(batch) { report in
            guard let claim = ledger.take(report.ticket) else { return }
            settler.settle([self.decide(claim, report.result)])
        }
        let failure = SendFailure(
            certainty: .unknown, description: "The sender returned without a result.")
        settler.settle(ledger.takeRest().map { decide($0, .failure(failure)) })
    }

    private func decide(
        _ claim: Claim, _ result: Result<PushOutcome, SendFailure>
    ) -> Settlement {
        let now = clock.now()
        let decision = policy.decide(claim, result, now: now, jitter: jitter())
        let change = state.withLock {
            $0.holds.note(decision.signal, on: claim.lane, now: now)
        }
        if case (.began, .blocked(let reason, _)) = (change, decision.signal) {
            logger.info(
                "dispatch is held", metadata: ["lane": "\(claim.lane)", "reason": "\(reason)"])
        } else if change == .ended {
            logger.info("dispatch goes on", metadata: ["lane": "\(claim.lane)"])
        }
        logger.debug(
            "an attempt has its result",
            metadata: [
                "wake": "\(claim.id)", "device": "\(claim.deviceToken)", "lane": "\(claim.lane)",
                "effect": "\(decision.settlement.effect.word)",
            ])
        return decision.settlement
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
