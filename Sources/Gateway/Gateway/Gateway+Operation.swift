// SPDX-License-Identifier: Apache-2.0

import Logging
import Synchronization
import WakeBudget
import WakeModel

extension Gateway {
    // MARK: Apps

    /// The status of each app. It has the queues of plain pushes that were used since the gateway
    /// started.
    public var apps: [AppStatus] {
        let now = clock.now()
        let apps = context.configuration.apps
        return dispatcher.state.withLock { state in
            apps.map { app in
                AppStatus(
                    app: app, pause: state.paused[app],
                    queues: state.shownQueues(of: app).map { state.status(of: $0, at: now) })
            }
        }
    }

    /// Everything that currently delays wakes, for explaining wakes and devices.
    public var waitContext: WaitContext { waitContext(isStopping: false) }

    /// The same for a caller that may know before the gateway does that all of it shuts down.
    public func waitContext(isStopping: Bool) -> WaitContext {
        let now = clock.now()
        let queues = context.configuration.queues()
        return dispatcher.state.withLock { state in
            WaitContext(
                now: now,
                queues: Dictionary(
                    queues.map { ($0, state.status(of: $0, at: now, isStopping: isStopping)) }
                ) { first, _ in first },
                ownLeases: context.store.sharedStatus == nil ? nil : state.leases.wakes)
        }
    }

    /// Pauses an app's dispatch until it is resumed, across restarts too. Its wakes are accepted
    /// and wait. An app that is paused already keeps the time of its pause, and its reason unless
    /// one is given. Returns `false` for an unknown app.
    public func pause(
        _ app: AppIdentity, reason: String? = nil
    ) async throws(StoreFailure) -> Bool {
        try await setPause(QueuePause(at: clock.now(), reason: reason), of: app)
    }

    /// Resumes an app's dispatch, and ends its holds. Returns `false` for an unknown app.
    public func resume(_ app: AppIdentity) async throws(StoreFailure) -> Bool {
        try await setPause(nil, of: app)
    }

    private func setPause(
        _ pause: QueuePause?, of app: AppIdentity
    ) async throws(StoreFailure) -> Bool {
        let configuration = context.configuration
        guard configuration.apps.contains(app) else { return false }
        let queues = configuration.queues(of: app)
        dispatcher.state.withLock { $0.pausesUnderWay += 1 }
        defer { dispatcher.state.withLock { $0.pausesUnderWay -= 1 } }
        try await context.perform(SetPause(pause, of: queues))
        let changed = dispatcher.state.withLock { state in
            state.pausesSet += 1
            let former = state.paused[app]
            let wasPaused = former != nil
            state.paused[app] = pause?.continuing(former)
            context.follow(state.paused)
            // A queue that was held resumes like one that was paused.
            let freed = pause == nil ? state.holds.reset(queues) : []
            // Subscribers are notified for the queues that the app uses.
            return wasPaused == (pause != nil) ? freed : state.shownQueues(of: app)
        }
        dispatcher.signal.ring()
        let reason = pause?.reason ?? (pause == nil ? "It was resumed." : "It was paused.")
        for queue in changed {
            context.tell(
                AppHold(queue: queue, isHeld: pause != nil, reason: reason, at: clock.now()))
        }
        return true
    }

    /// Reads from the store which apps are paused, and reports queues that the previous process
    /// held as released: its holds were in memory only. Retried until the store answers and no app
    /// was paused meanwhile.
    func loadPauses() async {
        while true {
            // A failure shows in readiness; this is retried.
            if let queues = try? await dispatcher.readQueues() {
                dispatcher.state.withLock { state in
                    // Reported here, so that a pause that begins meanwhile is reported after it.
                    tellFreed(queues.filter { state.paused[$0.queue.app] == nil })
                }
                return
            }
            guard !Task.isCancelled, !dispatcher.state.withLock({ $0.isStopping }) else { return }
            let pause = Int64(context.limits.storePauseMilliseconds)
            // A cancelled sleep ends the wait, which the guard above then sees.
            try? await clock.sleep(until: clock.now().advanced(byMilliseconds: pause))
        }
    }

    /// Reports that queues last reported as held are released; once, because the report is recorded
    /// with it. If APNs still refuses their pushes, the next attempt holds them again, which is
    /// reported as well.
    private func tellFreed(_ queues: [WakeQueueRow]) {
        let configured = context.configuration.queues()
        for row in queues where row.heldToldAt != nil {
            let reason =
                configured.contains(row.queue)
                ? "The gateway was started again." : Self.removalReason
            context.tell(
                AppHold(queue: row.queue, isHeld: false, reason: reason, at: clock.now()))
        }
    }

    private static let removalReason = "The app is not configured any more."

    // MARK: Reload

    /// Changes apps, rules and the sender, from one transaction to the next; nothing is dropped.
    /// Held queues are tried again immediately. Wakes in flight end with the old sender; wakes of
    /// an app that was removed wait until it is configured again or they expire.
    ///
    /// `unchanged` are the apps whose pushes use the same connections as before: their unanswered
    /// pushes still count, and so do answers that are in flight.
    public func reload(
        _ configuration: GatewayConfiguration, sender: any WakeSender,
        unchanged: Set<AppIdentity> = []
    ) {
        configuration.check()
        context.configuration = configuration
        let queues = configuration.queues()
        let freed = dispatcher.state.withLock { state in
            state.sender = sender
            state.sendSeconds = configuration.sendSeconds
            state.generation += 1
            for app in state.apps.union(configuration.apps).subtracting(unchanged) {
                state.changedIn[app] = state.generation
            }
            let kept = Set(queues.filter { unchanged.contains($0.app) })
            state.silences.reset(keeping: kept)
            state.shares.reset(keeping: kept, among: queues)
            state.knownStrangers = []
            state.apps = Set(configuration.apps)
            state.voipQueues = queues.filter(\.kind.isImmediate)
            state.backgroundQueues = queues.filter { !$0.kind.isImmediate }
            state.unfinished = Set(queues)
            // One that is paused too stays paused.
            return state.holds.resetAll().filter { state.paused[$0.app] == nil }
        }
        dispatcher.signal.ring()
        for queue in freed {
            let reason =
                queues.contains(queue)
                ? "The configuration was loaded again." : Self.removalReason
            context.logger.info(
                "dispatch is not held any more",
                metadata: ["queue": "\(queue)", "reason": "\(reason)"])
            context.tell(AppHold(queue: queue, isHeld: false, reason: reason, at: clock.now()))
        }
    }

    // MARK: Numbers

    /// The gateway's figures, at a cost that does not grow with the store.
    public func stats() async throws(StoreFailure) -> GatewayStats {
        let count = try await counts()
        let dues = try await context.perform(
            NextDueByQueue(queues: context.configuration.queues()))
        let now = clock.now()
        var oldest = Dictionary(uniqueKeysWithValues: WakeKind.allCases.map { ($0, Int64(0)) })
        for (queue, due) in dues {
            oldest[queue.kind] = max(oldest[queue.kind] ?? 0, now.milliseconds(since: due))
        }
        return GatewayStats(
            accepted: count.accepted, byState: count.byState, unended: count.unended,
            inFlight: dispatcher.state.withLock { $0.inFlight },
            intakeQueue: intake.waitingCount, oldestDueMilliseconds: oldest,
            store: context.store.sharedStatus)
    }

    /// The counts of the store alone, at the cost of one command: accepted wakes, and how many of
    /// them are in each state, where claimed ones are among the pending.
    public func counts() async throws(StoreFailure) -> StoreCount {
        try await context.perform(CountWakes())
    }

    /// The waiting wakes of these queues.
    public func backlogs(
        of queues: [WakeQueueKey]
    ) async throws(StoreFailure) -> [WakeQueueKey: QueueBacklog] {
        try await context.perform(MeasureQueues(queues))
    }

    /// Counts the store's wakes row by row: linear in the number of wakes.
    public func recount() async throws(StoreFailure) -> StoreCount {
        try await context.perform(RecountWakes())
    }

    // MARK: Webhooks

    /// Takes leases on webhooks of an endpoint that are due. The holder delivers and settles them;
    /// one that is not settled is claimed again when its lease has ended.
    public func webhooks(
        of endpoint: WebhookEndpointID, limit: Int, leaseSeconds: Int
    ) async throws(StoreFailure) -> WebhookBatch {
        let now = clock.now()
        return try await context.perform(
            ClaimWebhooks(
                of: endpoint, at: now, until: now.advanced(bySeconds: Int64(leaseSeconds)),
                limit: limit))
    }

    /// Takes or keeps the duty to deliver the webhooks of an endpoint, for so many seconds from now
    /// on; returns whether this gateway has it. Of the gateways on a store one has it at a time, so
    /// that no two post the same event concurrently.
    public func takeDelivery(
        to endpoint: WebhookEndpointID, seconds: Int
    ) async throws(StoreFailure) -> Bool {
        try await context.watch.observe(.write) { () async throws(StoreFailure) in
            try await context.store.take(.webhooks(endpoint), seconds: seconds)
        }
    }

    /// Releases that duty.
    public func giveBackDelivery(to endpoint: WebhookEndpointID) async throws(StoreFailure) {
        try await context.watch.observe(.write) { () async throws(StoreFailure) in
            try await context.store.giveBack(.webhooks(endpoint))
        }
    }

    /// Records the outcomes of deliveries.
    public func settle(_ webhooks: [WebhookSettlement]) async throws(StoreFailure) {
        try await context.perform(SettleWebhooks(webhooks))
    }

    /// A signal that fires when webhooks of an endpoint may have been written, for as long as the
    /// caller retains it.
    package func webhookSignal(of endpoint: WebhookEndpointID) -> AsyncSignal {
        context.webhookSignals.make(for: endpoint)
    }
}

extension Dispatcher.State {
    /// The status of a queue; `isStopping` where a shutdown has begun that has not come here yet.
    func status(
        of queue: WakeQueueKey, at now: WallInstant, isStopping isEnding: Bool = false
    ) -> QueueStatus {
        let silence = silences.silence(of: queue, at: now)
        return QueueStatus(
            kind: queue.kind, pause: paused[queue.app], circuit: holds.circuit(of: queue),
            silence: silence.map { Silence(since: $0.since, failure: $0.failure) },
            inFlight: shares.inFlight(of: queue),
            unresponsive: shares.unresponsiveness(of: queue, at: now),
            confirmsLaunches: confirming.contains(queue), isStopping: isStopping || isEnding)
    }

    /// The reasons why a queue does not send now.
    func obstacles(of queue: WakeQueueKey, at now: WallInstant) -> DelayReasons {
        status(of: queue, at: now).reasons.reduce(into: []) { $0.insert(DelayReasons($1.kind)) }
    }
}
