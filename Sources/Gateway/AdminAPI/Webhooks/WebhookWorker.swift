// SPDX-License-Identifier: Apache-2.0

import CoreMetrics
import Gateway
import Logging
import Synchronization
import WakeModel

/// Delivers the events of one endpoint, one request at a time.
final class WebhookWorker: Sendable {
    /// The maximum number of events in one request.
    static let batchCount = 100
    /// The duration of a lease, on events and on the duty to deliver to the endpoint, in seconds:
    /// longer than the timeout of a request. After it, another gateway posts the events of one that
    /// has ended.
    static let leaseSeconds = 60
    /// The maximum sleep without a signal, in seconds.
    static let sleepSeconds: Int64 = 30
    /// The interval of polls for events that are due again, in seconds: no signal fires then.
    static let lookSeconds: Int64 = 2
    /// The first interval of polls while events wait and another gateway has the duty, in
    /// milliseconds; it doubles each time, up to ``lookSeconds``.
    static let firstLookMilliseconds: Int64 = 50
    /// The pause before a settlement is written again, in milliseconds.
    static let settlementPauseMilliseconds: Int64 = 500

    private let gateway: Gateway
    private let id: WebhookEndpointID
    /// The endpoint's label in metrics and log: of its URL only the host.
    let label: String
    private let endpoint: Mutex<WebhookEndpoint?>
    private let client: any WebhookClient
    private let signal: AsyncSignal
    private let meters: WebhookMeters
    private let record: WebhookRecord
    private let logger: Logger
    /// The time until which this gateway certainly has the duty to deliver; `nil` when it may not
    /// have it.
    private let dutyEnd = Mutex<ContinuousClock.Instant?>(nil)

    init(
        gateway: Gateway, endpoint: WebhookEndpoint, label: String,
        client: any WebhookClient, metrics: MetricsRegistry, logger: Logger
    ) {
        self.gateway = gateway
        id = endpoint.id
        self.label = label
        self.endpoint = Mutex(endpoint)
        self.client = client
        signal = gateway.webhookSignal(of: endpoint.id)
        meters = WebhookMeters(endpoint: label, metrics)
        record = WebhookRecord(endpoint: label)
        self.logger = logger
    }

    /// The delivery state.
    var health: WebhookHealth { record.health }

    /// Delivers with another secret or other authorities from now on; with `nil` it ends, and
    /// releases the gauge with its label to the next worker with that label.
    func replace(_ endpoint: WebhookEndpoint?) {
        let isNew = self.endpoint.withLock { old in
            defer { old = endpoint }
            if old != nil, endpoint == nil { meters.backlog.record(0) }
            return old != endpoint
        }
        if isNew { signal.ring() }
    }

    private var current: WebhookEndpoint? { endpoint.withLock { $0 } }

    /// Delivers until the endpoint is removed or the task is cancelled, and a running request has
    /// ended.
    func run() async {
        var failures = 0
        var pause = Self.firstLookMilliseconds
        while !Task.isCancelled, let endpoint = current {
            let outcome = await deliverSome(to: endpoint)
            if outcome != .busy { pause = Self.firstLookMilliseconds }
            switch outcome {
            case .taken: failures = 0
            case .nothing(let seconds):
                await signal.wait(
                    until: gateway.now.advanced(bySeconds: seconds), clock: gateway.clock)
            case .busy:
                let end = gateway.now.advanced(byMilliseconds: pause)
                await signal.wait(until: end, clock: gateway.clock)
                // The other one may not have a signal for a new event, and may release the duty
                // soon.
                pause =
                    gateway.now < end
                    ? Self.firstLookMilliseconds : min(2 * pause, Self.lookSeconds * 1000)
            case .down:
                await rest(
                    for: WebhookSchedule.receiverPauseSeconds(failures: failures), endpoint)
                failures += 1
            }
        }
        await giveBackDuty()
    }

    /// Pauses for a receiver that is down, but not after a change of its settings.
    private func rest(for seconds: Int64, _ endpoint: WebhookEndpoint) async {
        let limit = TimeLimit(milliseconds: seconds * 1000, from: gateway.now)
        while !limit.isOver(at: gateway.now), !Task.isCancelled, current == endpoint {
            await signal.wait(until: limit, clock: gateway.clock)
        }
    }

    // MARK: One round

    private enum Outcome: Equatable {
        /// Nothing is due; poll again after this number of seconds, unless the signal fires.
        case nothing(seconds: Int64)
        /// Events wait, and another gateway has the duty to deliver them.
        case busy
        case taken
        case down
    }

    private func deliverSome(to endpoint: WebhookEndpoint) async -> Outcome {
        let outcome = await attempt(endpoint)
        // While nothing is posted here, another gateway may post.
        if case .taken = outcome { return outcome }
        await giveBackDuty()
        return outcome
    }

    private func attempt(_ endpoint: WebhookEndpoint) async -> Outcome {
        do throws(StoreFailure) {
            // Without the duty only the counts are read.
            let isOurs = try await hasDuty()
            // Begins before the leases, so that it ends before they do.
            let lease = TimeLimit(
                milliseconds: Int64(Self.leaseSeconds) * 1000, from: gateway.now)
            let batch = try await gateway.webhooks(
                of: id, limit: isOurs ? Self.batchCount : 0, leaseSeconds: Self.leaseSeconds)
            note(batch)
            guard !batch.items.isEmpty else {
                if batch.backlogCount == 0 { return .nothing(seconds: Self.sleepSeconds) }
                return isOurs ? .nothing(seconds: Self.lookSeconds) : .busy
            }
            let round = await deliver(batch.items, to: endpoint)
            let (settlements, givenUpCount) = settlements(of: round)
            try await settle(settlements, within: lease)
            meters.delivered.increment(by: round.taken.count)
            meters.givenUp.increment(by: givenUpCount)
            return round.isDown ? .down : .taken
        } catch {
            // The store is tried again after the pause; the leases end by themselves.
            logger.warning("webhooks wait for the store", metadata: ["error": "\(error)"])
            return .nothing(seconds: Self.sleepSeconds)
        }
    }

    /// Writes settlements. When the store fails, it is tried again until the leases have ended:
    /// then the receiver gets events again that it has accepted.
    private func settle(
        _ settlements: [WebhookSettlement], within lease: TimeLimit
    ) async throws(StoreFailure) {
        while true {
            do throws(StoreFailure) {
                return try await gateway.settle(settlements)
            } catch {
                // Damage stays.
                guard !error.isOfSomeRows, !lease.isOver(at: gateway.now) else { throw error }
                let next = gateway.now.advanced(byMilliseconds: Self.settlementPauseMilliseconds)
                // Fails when the task is cancelled, and then nothing is tried again.
                guard (try? await gateway.clock.sleep(until: next)) != nil else { throw error }
            }
        }
    }

    /// Whether this gateway may post: the duty is its own for longer than a request may take,
    /// measured by a clock that cannot be set.
    private func hasDuty() async throws(StoreFailure) -> Bool {
        let patience = Duration.milliseconds(WebhookDelivery.patienceMilliseconds)
        // Taken before the request, so that it ends here before it ends in the store.
        let asked = ContinuousClock.now
        if let end = dutyEnd.withLock({ $0 }), asked + patience < end { return true }
        let isOurs = try await gateway.takeDelivery(to: id, seconds: Self.leaseSeconds)
        let end = asked + .seconds(Self.leaseSeconds)
        dutyEnd.withLock { $0 = isOurs ? end : nil }
        return isOurs && ContinuousClock.now + patience < end
    }

    private func giveBackDuty() async {
        let hadIt = dutyEnd.withLock { end in
            defer { end = nil }
            return end != nil
        }
        guard hadIt else { return }
        do throws(StoreFailure) {
            try await gateway.giveBackDelivery(to: id)
        } catch {
            // It ends by itself.
            logger.debug("a duty was not given back", metadata: ["error": "\(error)"])
        }
    }

    private func note(_ batch: WebhookBatch) {
        endpoint.withLock { if $0 != nil { meters.backlog.record(batch.backlogCount) } }
        let dropped = meters.noteDrops(batch.droppedCount)
        record.note(batch, dropped: dropped)
        guard dropped > 0 else { return }
        logger.warning(
            "webhooks were dropped, because too many wait for their receiver",
            metadata: [
                "count": "\(dropped)", "endpoint": "\(label)", "waiting": "\(batch.backlogCount)",
            ])
    }

    /// Posts a batch until nothing of it is left, the endpoint has changed, or another gateway has
    /// the duty.
    private func deliver(
        _ items: [WebhookItem], to endpoint: WebhookEndpoint
    ) async -> WebhookRound {
        var round = WebhookRound(items)
        while !Task.isCancelled, current == endpoint, (try? await hasDuty()) == true,
            let part = round.next()
        {
            round.note(await post(part, to: endpoint), to: part)
        }
        return round
    }

    private func post(
        _ items: [WebhookItem], to endpoint: WebhookEndpoint
    ) async -> WebhookAnswer {
        let body = JSONValue.object([("events", .array(items.map(\.json)))]).bytes
        let id = items.messageID
        let timestamp = gateway.now.secondsSinceEpoch
        let result = await client.post(
            body, to: endpoint,
            headers: [
                ("content-type", JSONValue.mediaType), ("user-agent", AdminAPI.serverName),
                ("webhook-id", id), ("webhook-timestamp", "\(timestamp)"),
                (
                    "webhook-signature",
                    endpoint.signature(id: id, timestamp: timestamp, body: body)
                ),
            ])
        return WebhookAnswer(result)
    }

    /// The settlements of a round's items, and the number of those that are not retried. The round
    /// is also recorded and logged.
    private func settlements(
        of round: WebhookRound
    ) -> (settlements: [WebhookSettlement], givenUpCount: Int) {
        let now = gateway.now
        let settled =
            round.taken.map { WebhookSettlement(ticket: $0.ticket, effect: .done) }
            + round.unposted.map { WebhookSettlement(ticket: $0.ticket, effect: .retry(at: now)) }
        var givenUp: [WebhookItem] = []
        defer { record.note(round, givenUp: givenUp, at: now) }
        guard let why = round.why else { return (settled, 0) }
        logger.warning(
            "webhooks were not taken",
            metadata: [
                "count": "\(round.failed.count)", "endpoint": "\(label)", "why": "\(why)",
            ])
        meters.failed.increment(by: round.failed.count)
        let unsettled = round.failed.map { item in
            let effect = WebhookSchedule.effect(
                tries: item.tries, createdAt: item.createdAt, now: now,
                spread: Double.random(in: 0..<1))
            if effect == .done { givenUp.append(item) }
            return WebhookSettlement(ticket: item.ticket, effect: effect)
        }
        return (settled + unsettled, givenUp.count)
    }
}
