// SPDX-License-Identifier: Apache-2.0

import CoreMetrics
import Gateway
import Logging
import Synchronization
import WakeModel

/// Takes the events of one endpoint to it, one request at a time.
final class WebhookCourier: Sendable {
    /// The most events of one request.
    static let batchCount = 100
    /// How long a lease lasts, in seconds: longer than a request may take.
    static let leaseSeconds = 120
    /// How long it sleeps when nothing rings, in seconds.
    static let sleepSeconds: Int64 = 30

    private let gateway: Gateway
    private let id: WebhookEndpointID
    private let endpoint: Mutex<WebhookEndpoint?>
    private let carrier: any WebhookCarrier
    private let bell: WebhookBell
    private let meters: WebhookMeters
    private let logger: Logger

    init(
        gateway: Gateway, endpoint: WebhookEndpoint, carrier: any WebhookCarrier,
        meters: WebhookMeters, logger: Logger
    ) {
        self.gateway = gateway
        id = endpoint.id
        self.endpoint = Mutex(endpoint)
        self.carrier = carrier
        bell = gateway.webhookBell(of: endpoint.id)
        self.meters = meters
        self.logger = logger
    }

    /// Delivers with another secret or other authorities from now on; with `nil` it ends.
    func replace(_ endpoint: WebhookEndpoint?) {
        let isNew = self.endpoint.withLock { old in
            defer { old = endpoint }
            return old != endpoint
        }
        if isNew { bell.ring() }
    }

    private var current: WebhookEndpoint? { endpoint.withLock { $0 } }

    /// Delivers until the endpoint is gone or the task is cancelled; a request under way is waited
    /// for.
    func run() async {
        var failures = 0
        while !Task.isCancelled, let endpoint = current {
            switch await deliverSome(to: endpoint) {
            case .taken: failures = 0
            case .nothing:
                await bell.wait(until: gateway.now.advanced(bySeconds: Self.sleepSeconds))
            case .down:
                await rest(
                    for: WebhookSchedule.receiverPauseSeconds(failures: failures), endpoint)
                failures += 1
            }
        }
        if current == nil { meters.backlog.record(0) }
    }

    /// Lets a receiver that is down alone for a while, but not one that is reached otherwise now.
    private func rest(for seconds: Int64, _ endpoint: WebhookEndpoint) async {
        let end = gateway.now.advanced(bySeconds: seconds)
        while gateway.now < end, !Task.isCancelled, current == endpoint {
            await bell.wait(until: end)
        }
    }

    // MARK: One round

    private enum Round {
        case nothing
        case taken
        case down
    }

    private func deliverSome(to endpoint: WebhookEndpoint) async -> Round {
        do throws(StoreFailure) {
            let batch = try await gateway.webhooks(
                of: id, limit: Self.batchCount, leaseSeconds: Self.leaseSeconds)
            note(batch, endpoint)
            guard !batch.items.isEmpty else { return .nothing }
            let (settlements, isDown) = await deliver(batch.items, to: endpoint)
            try await gateway.settle(settlements)
            return isDown ? .down : .taken
        } catch {
            // The store is tried again after the pause; the leases end by themselves.
            logger.warning("webhooks wait for the store", metadata: ["error": "\(error)"])
            return .nothing
        }
    }

    private func note(_ batch: WebhookBatch, _ endpoint: WebhookEndpoint) {
        meters.backlog.record(batch.backlogCount)
        let dropped = meters.noteDrops(batch.droppedCount)
        guard dropped > 0 else { return }
        logger.warning(
            "webhooks were dropped, because too many wait for their receiver",
            metadata: [
                "count": "\(dropped)", "url": "\(endpoint)", "waiting": "\(batch.backlogCount)",
            ])
    }

    /// Posts all items, together if the receiver takes them so. One that it cannot take is found by
    /// halves, so that it does not hold up the others.
    private func deliver(
        _ items: [WebhookItem], to endpoint: WebhookEndpoint
    ) async -> (settlements: [WebhookSettlement], isDown: Bool) {
        var settlements: [WebhookSettlement] = []
        var parts = [items[...]]
        while let part = parts.popLast(), !Task.isCancelled {
            switch await post(part, to: endpoint) {
            case .taken:
                meters.delivered.increment(by: part.count)
                settlements += part.map { WebhookSettlement(ticket: $0.ticket, effect: .done) }
            case .refused where part.count > 1:
                let middle = part.startIndex + part.count / 2
                parts.append(part[middle...])
                parts.append(part[..<middle])
            case .refused(let why): settlements += retry(part, endpoint, why)
            case .down(let why):
                let rest = part + parts.reversed().joined()
                return (settlements + retry(rest, endpoint, why), true)
            }
        }
        return (settlements, false)
    }

    // MARK: One request

    private enum Answer {
        /// All were taken.
        case taken
        /// The receiver does not take what is in it.
        case refused(String)
        /// The receiver takes nothing at present.
        case down(String)
    }

    /// Statuses that speak of the content: Bad Request, Content Too Large, Unprocessable Content
    /// (RFC 9110 §15.5).
    private static let contentStatuses: Set<Int> = [400, 413, 422]

    private func post(
        _ items: ArraySlice<WebhookItem>, to endpoint: WebhookEndpoint
    ) async -> Answer {
        let body = JSONValue.object([("events", .array(items.map(\.json)))]).bytes
        let id = items.messageID
        let timestamp = gateway.now.secondsSinceEpoch
        let result = await carrier.post(
            body, to: endpoint,
            headers: [
                ("content-type", JSONValue.mediaType), ("user-agent", AdminAPI.serverName),
                ("webhook-id", id), ("webhook-timestamp", "\(timestamp)"),
                (
                    "webhook-signature",
                    endpoint.signature(id: id, timestamp: timestamp, body: body)
                ),
            ])
        switch result {
        case .success(200..<300): return .taken
        case .success(let status):
            let why = "it answered \(status)"
            return Self.contentStatuses.contains(status) ? .refused(why) : .down(why)
        case .failure(let failure): return .down(failure.description)
        }
    }

    private func retry(
        _ items: ArraySlice<WebhookItem>, _ endpoint: WebhookEndpoint, _ why: String
    ) -> [WebhookSettlement] {
        logger.warning(
            "webhooks were not taken",
            metadata: ["count": "\(items.count)", "url": "\(endpoint)", "why": "\(why)"])
        meters.failed.increment(by: items.count)
        let now = gateway.now
        return items.map { item in
            let effect = WebhookSchedule.effect(
                tries: item.tries, createdAt: item.createdAt, now: now)
            if effect == .done { meters.givenUp.increment() }
            return WebhookSettlement(ticket: item.ticket, effect: effect)
        }
    }
}
