// SPDX-License-Identifier: Apache-2.0

import Logging
import PayloadRules
import Synchronization
import WakeBudget
import WakeModel

/// The state that all parts of a gateway share: the monitored store, the rules of the current
/// configuration, and the listeners that are called for each transaction.
final class GatewayContext: Sendable {
    let store: any WakeStore
    let watch: StoreWatch
    let clock: any GatewayClock
    let limits: GatewayLimits
    let metrics: any GatewayMetrics
    let logger: Logger
    let hub: OutcomeBroadcaster
    /// Fire when webhooks may have been written.
    let webhookSignals = WebhookSignals()
    private let current: Mutex<GatewayConfiguration>
    private let pauses = Mutex(KnownPauses())
    /// Fires when a hold waits to be written.
    let holdSignal = AsyncSignal()
    private let holds = Mutex<[AppHold]>([])
    private let listener = Mutex<SettlementListener?>(nil)
    /// Whether requests could wait for one another when the last transaction of intake was written:
    /// those of several callers, or one caller's calls and others.
    let isShared = Atomic(false)

    /// A listener for settlements.
    ///
    /// Not the closure itself: a lock, which is generic, stores a closure in another representation
    /// than its callers use, and wraps it twice at each access.
    private struct SettlementListener: Sendable {
        let tell: @Sendable ([Settlement], WallInstant?) -> Void
    }

    init(
        store: any WakeStore, configuration: GatewayConfiguration, clock: any GatewayClock,
        limits: GatewayLimits, metrics: any GatewayMetrics, logger: Logger
    ) {
        self.store = store
        self.clock = clock
        self.limits = limits
        self.metrics = metrics
        self.logger = logger
        watch = StoreWatch(logger: logger)
        let damage = DamageWatch(metrics: metrics, logger: logger)
        store.whenDamaged { damage.note($0) }
        hub = OutcomeBroadcaster(store: store, watch: watch, clock: clock, limits: limits)
        current = Mutex(configuration)
        metrics.serves(configuration.apps)
    }

    /// The present configuration.
    var configuration: GatewayConfiguration {
        get { current.withLock { $0 } }
        set {
            current.withLock { $0 = newValue }
            metrics.serves(newValue.apps)
        }
    }

    var rules: StoreRules {
        var rules = current.withLock { $0.rules }
        rules.pauses = pauses.withLock { $0 }
        return rules
    }

    /// Takes over which apps are paused from now on.
    func follow(_ paused: [AppIdentity: QueuePause]) {
        let now = clock.now()
        pauses.withLock { $0.follow(paused, at: now) }
    }

    /// Calls `body` for each settling transaction from now on, with what it wrote and the first due
    /// time of the wakes that wait again.
    func whenSettled(_ body: @escaping @Sendable ([Settlement], WallInstant?) -> Void) {
        listener.withLock { $0 = SettlementListener(tell: body) }
    }

    /// The most wakes of one transaction that claims or settles, when `count` is the limit of a
    /// single caller.
    func batchCount(_ count: Int) -> Int {
        isShared.load(ordering: .relaxed) ? min(count, limits.dispatchSharedBatchCount) : count
    }

    // MARK: Transactions

    /// Decides on wakes and stores them. When the store finds damage, the batch is halved until the
    /// affected wakes are known; the others are stored. The store counts as failed only at the end
    /// of that, and not with each part.
    func admit(
        _ submissions: [WakeSubmission], grant: ClaimGrant?
    ) async -> Result<AdmitAnswer, StoreFailure> {
        let result = await admitTogether(submissions, grant: grant)
        guard case .failure(let failure) = result, failure.isOfSomeRows else {
            watch.note(.write, result.failure)
            return result
        }
        guard submissions.count > 1 else {
            watch.note(.write, await failureToWrite())
            return result
        }
        var answer = AdmitAnswer()
        var rest = grant
        var isAnyKept = false
        var obstacle: StoreFailure?
        var halving = Halving(submissions)
        while let part = halving.next() {
            switch await admitTogether(part, grant: rest) {
            case .success(let kept):
                isAnyKept = true
                rest = rest?.without(kept.claims)
                answer.append(kept)
            case .failure(let failure):
                if !failure.isOfSomeRows { obstacle = failure }
                guard halving.failed(part, mayHalve: failure.isOfSomeRows) else { continue }
                // A failure of the whole transaction is not caused by these wakes.
                let admission: AdmissionResult =
                    failure.isOfSomeRows
                    ? .damaged(failure.message) : AdmissionResult(failure)
                answer.admissions += part.map { _ in admission }
            }
        }
        watch.note(.write, obstacle ?? (isAnyKept ? nil : failure))
        return isAnyKept ? .success(answer) : result
    }

    private func admitTogether(
        _ submissions: [WakeSubmission], grant: ClaimGrant?
    ) async -> Result<AdmitAnswer, StoreFailure> {
        do throws(StoreFailure) {
            let answer = try await timed("admit", submissions.count) {
                () async throws(StoreFailure) in
                try await store.perform(AdmitWakes(submissions, grant: grant, under: rules))
            }
            precondition(
                answer.admissions.count == submissions.count, "A store answers each submission.")
            count(submissions, answer.admissions)
            tell(answer.ended)
            return .success(answer)
        } catch {
            return .failure(error)
        }
    }

    func claim(_ order: ClaimOrder) async throws(StoreFailure) -> ClaimAnswer {
        let answer = try await perform(ClaimWakes(order, under: rules))
        if answer.deferred > 0 { metrics.deferred(answer.deferred) }
        tell(answer.ended)
        return answer
    }

    /// Writes settlements; `nil` when the store failed: then some may be written, and all must be
    /// written again. When the store finds damage, the batch is halved until the affected
    /// settlements are known; those are dropped, and the others are written. The store counts as
    /// failed only at the end of that, and not with each part.
    func settle(_ batch: [Settlement]) async -> SettleAnswer? {
        let result = await settleTogether(batch)
        guard case .failure(let failure) = result, failure.isOfSomeRows else {
            watch.note(.write, result.failure)
            return try? result.get()
        }
        var answer = SettleAnswer()
        var isAnyWritten = false
        var lost: [Settlement] = []
        var halving = Halving(batch)
        var outcome: StoreFailure? = batch.count > 1 ? failure : await failureToWrite()
        defer { watch.note(.write, outcome) }
        while let part = halving.next() {
            switch await settleTogether(part) {
            case .success(let written):
                isAnyWritten = true
                outcome = nil
                answer.verdicts += written.verdicts
                answer.nextDue = [answer.nextDue, written.nextDue].compactMap(\.self).min()
            case .failure(let failure):
                // All of it is retried; the store recognizes what was written before.
                guard failure.isOfSomeRows else {
                    outcome = failure
                    return nil
                }
                guard halving.failed(part, mayHalve: true) else { continue }
                lost += part
                answer.verdicts += part.map { _ in .damaged }
            }
        }
        // A store that refuses every write may recover; pending settlements are kept for that.
        guard isAnyWritten || failure.kind == .damaged else { return nil }
        if !lost.isEmpty { listener.withLock { $0 }?.tell(lost, nil) }
        return answer
    }

    private func settleTogether(
        _ batch: [Settlement]
    ) async -> Result<SettleAnswer, StoreFailure> {
        do throws(StoreFailure) {
            let answer = try await timed("settle", batch.count) { () async throws(StoreFailure) in
                try await store.perform(SettleWakes(batch, under: rules))
            }
            listener.withLock { $0 }?.tell(batch, answer.nextDue)
            tell(answer.ended)
            return .success(answer)
        } catch {
            return .failure(error)
        }
    }

    /// Carries out a command, and records whether the store failed.
    func perform<Command: StoreCommand>(
        _ command: Command
    ) async throws(StoreFailure) -> Command.Answer {
        try await watch.observe(command.profile.access) { () async throws(StoreFailure) in
            try await store.perform(command)
        }
    }

    func expireOverdue(
        at now: WallInstant, limit: Int, obstacles: [WakeQueueKey: DelayReasons]
    ) async throws(StoreFailure) -> [EndedWake] {
        let ended = try await perform(
            ExpireWakes(at: now, limit: limit, obstacles: obstacles, under: rules))
        tell(ended)
        return ended
    }

    func reclaimLapsed(
        at now: WallInstant, limit: Int, except held: Set<WakeID>
    ) async throws(StoreFailure) -> Reclaimed {
        let reclaimed = try await perform(
            ReclaimLeases(at: now, limit: limit, except: held, under: rules))
        tell(reclaimed.ended)
        return reclaimed
    }

    /// Writes a probe when the last write failed. A gateway that is not ready receives no requests,
    /// and where nothing is due, nothing else would detect the recovery.
    func tryWritingAgain() async throws(StoreFailure) {
        guard watch.failsToWrite else { return }
        try await watch.observe(.write, isTrial: true) { () async throws(StoreFailure) in
            try await store.perform(TryWriting())
        }
    }

    /// The reason why nothing can be written; `nil` when something can. One damaged row does not
    /// show whether the rest of the store is damaged too.
    private func failureToWrite() async -> StoreFailure? {
        do throws(StoreFailure) {
            try await store.perform(TryWriting())
            return nil
        } catch {
            return error
        }
    }

    /// Runs a measured command; the caller records whether the store failed.
    private func timed<Answer>(
        _ verb: String, _ wakes: Int, _ body: () async throws(StoreFailure) -> Answer
    ) async throws(StoreFailure) -> Answer {
        let start = ContinuousClock.now
        let answer = try await body()
        let elapsed = start.duration(to: .now).components
        metrics.committed(
            wakes, verb: verb,
            microseconds: elapsed.seconds * 1_000_000 + elapsed.attoseconds / 1_000_000_000_000)
        return answer
    }

    // MARK: Telling

    /// Notifies waiting tasks, and counts.
    func tell(_ ended: [EndedWake]) {
        guard !ended.isEmpty else { return }
        var counts: [EndLabel: Int] = [:]
        for wake in ended { counts[EndLabel(wake), default: 0] += 1 }
        for (label, count) in counts {
            metrics.ended(count, of: label.queue, state: label.state, reason: label.reason)
        }
        hub.publish(ended)
        ringWebhooks { endpoint in ended.contains { endpoint.mayListen(to: $0) } }
    }

    /// Queues a hold to be written, because its thread must not wait for a disk.
    func tell(_ hold: AppHold) {
        let app = hold.queue.app
        guard
            current.withLock({ $0.webhooks.contains { $0.listens(to: .appHeld, of: app) } })
        else { return }
        holds.withLock { $0.append(hold) }
        holdSignal.ring()
    }

    /// Writes holds until the gateway stops. The webhook workers do not, because one that pauses
    /// for its receiver would keep them in memory, where they would be lost with the process.
    func keepHolds(until isStopping: @Sendable () -> Bool) async {
        while !isStopping() {
            if await writeHolds() {
                await holdSignal.wait()
            } else {
                let pause = Int64(limits.storePauseMilliseconds)
                await holdSignal.wait(
                    until: clock.now().advanced(byMilliseconds: pause), clock: clock)
            }
        }
    }

    /// Writes the holds that wait, one task at a time; `false` when the store failed, and then the
    /// rest still waits.
    func writeHolds() async -> Bool {
        while let hold = holds.withLock({ $0.first }) {
            do throws(StoreFailure) {
                try await perform(NoteHold(hold, under: rules))
            } catch {
                return false
            }
            holds.withLock { _ = $0.removeFirst() }
            ringWebhooks { $0.listens(to: .appHeld, of: hold.queue.app) }
        }
        return true
    }

    /// Logs the holds that could not be written and will not be retried.
    func giveUpHolds() {
        let lost = holds.withLock { holds in
            defer { holds = [] }
            return holds
        }
        let names = lost.map { "\($0.queue) \($0.isHeld ? "was held" : "goes on")" }
        logger.error(
            "no webhook will tell that apps were held or go on: the store failed to the end",
            metadata: ["count": "\(lost.count)", "events": "\(names.joined(separator: ", "))"])
    }

    /// Fires the signals of the endpoints for which this is true.
    private func ringWebhooks(_ isConcerned: (WebhookSubscription) -> Bool) {
        let concerned = Set(
            current.withLock { $0.webhooks }.filter(isConcerned).map(\.endpoint))
        guard !concerned.isEmpty else { return }
        webhookSignals.ring { concerned.contains($0) }
    }

    private func count(_ submissions: [WakeSubmission], _ admissions: [AdmissionResult]) {
        var counts: [DecisionLabel: Int] = [:]
        for (submission, admission) in zip(submissions, admissions) {
            guard case .admitted(let wake) = admission, !wake.isRepeated else { continue }
            let label = DecisionLabel(queue: submission.queue, decision: wake.decision.word)
            counts[label, default: 0] += 1
        }
        for (label, count) in counts {
            metrics.accepted(count, of: label.queue, decision: label.decision)
        }
    }

    private struct DecisionLabel: Hashable {
        let queue: WakeQueueKey
        let decision: String
    }

    private struct EndLabel: Hashable {
        let queue: WakeQueueKey
        let state: WakeState
        let reason: String?

        init(_ wake: EndedWake) {
            queue = wake.queue
            state = wake.end.state
            switch wake.end {
            case .rejected(let refusal), .undeliverable(let refusal):
                reason = refusal.reason?.entry == nil ? "other" : refusal.reason?.rawValue
            case .failed(let cause): reason = cause.rawValue
            case .suppressed(let suppression): reason = suppression.word
            case .expired:
                // APNs' answer was the cause that there was no time for another attempt.
                reason = wake.lastReason.map { $0.entry == nil ? "other" : $0.rawValue }
            default: reason = nil
            }
        }
    }
}

extension WebhookSubscription {
    /// Whether it may have been notified of this end, or of what the end says about the device
    /// token.
    fileprivate func mayListen(to wake: EndedWake) -> Bool {
        let app = wake.queue.app
        return switch wake.end {
        case .rejected, .undeliverable:
            listens(to: .outcome, of: app) || listens(to: .tokenDead, of: app)
        default: listens(to: .outcome, of: app)
        }
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}
