// SPDX-License-Identifier: Apache-2.0

import CoreMetrics
public import Gateway
public import Logging
public import ServiceLifecycle
import Synchronization
import WakeModel

/// Delivers the gateway's webhooks: takes them from the store under leases, posts them, and settles
/// them. It shares nothing with dispatch but the store, so a slow receiver delays no wake.
///
/// A request carries up to 100 events as `{"events": […]}`, with the headers of Standard
/// Webhooks 1.0. Any 2xx means that all of them were taken; anything else is tried again, each
/// event by itself, by `WebhookSchedule`. An event may come twice; its `id` tells.
public final class WebhookDelivery: Service {
    /// The most events of one request.
    static let batchCount = 100
    /// How long a lease lasts, in seconds: longer than a request may take.
    static let leaseSeconds = 120
    /// How long it sleeps when nothing rings, in seconds.
    static let sleepSeconds: Int64 = 30

    private let gateway: Gateway
    private let carrier: any WebhookCarrier
    private let logger: Logger
    private let endpoint: Mutex<WebhookEndpoint?>
    private let delivered: Counter
    private let failed: Counter
    private let givenUp: Counter

    /// A delivery to this endpoint; `nil` delivers nothing until there is one.
    public init(
        gateway: Gateway, endpoint: WebhookEndpoint?, carrier: any WebhookCarrier,
        metrics: MetricsRegistry, logger: Logger
    ) {
        self.gateway = gateway
        self.carrier = carrier
        self.logger = logger
        self.endpoint = Mutex(endpoint)
        func counter(_ result: String) -> Counter {
            Counter(
                label: Metric.webhooks.rawValue, dimensions: [("result", result)],
                factory: metrics)
        }
        delivered = counter("delivered")
        failed = counter("failed")
        givenUp = counter("given-up")
    }

    /// Delivers to another endpoint from now on.
    public func replace(_ endpoint: WebhookEndpoint?) {
        self.endpoint.withLock { $0 = endpoint }
    }

    /// Runs until the service group shuts down; a request under way is waited for.
    public func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                if await self.deliverSome() { continue }
                await self.gateway.waitForWebhooks(
                    until: self.gateway.now.advanced(bySeconds: Self.sleepSeconds))
            }
        }
    }

    /// Delivers one round. Returns whether there was anything.
    private func deliverSome() async -> Bool {
        guard let endpoint = endpoint.withLock({ $0 }) else { return false }
        do throws(StoreFailure) {
            let items = try await gateway.webhooks(
                limit: Self.batchCount, leaseSeconds: Self.leaseSeconds)
            // What failed before goes by itself: it may be what the receiver cannot take.
            let fresh = items.filter { $0.tries == 0 }
            let groups = items.filter { $0.tries > 0 }.map { [$0] } + (fresh.isEmpty ? [] : [fresh])
            for group in groups {
                try await gateway.settle(await deliver(group, to: endpoint))
            }
            return !items.isEmpty
        } catch {
            // The store is tried again after the pause; the leases end by themselves.
            logger.warning("webhooks wait for the store", metadata: ["error": "\(error)"])
            return false
        }
    }

    private func deliver(
        _ items: [WebhookItem], to endpoint: WebhookEndpoint
    ) async -> [WebhookSettlement] {
        let body = JSONValue.object([("events", .array(items.map(\.json)))]).bytes
        let id = items[0].eventID
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
        case .success(200..<300):
            delivered.increment(by: items.count)
            return items.map { WebhookSettlement(ticket: $0.ticket, effect: .done) }
        case .success(let status): return retry(items, endpoint, "it answered \(status)")
        case .failure(let failure): return retry(items, endpoint, failure.description)
        }
    }

    private func retry(
        _ items: [WebhookItem], _ endpoint: WebhookEndpoint, _ why: String
    ) -> [WebhookSettlement] {
        logger.warning(
            "webhooks were not taken",
            metadata: ["count": "\(items.count)", "url": "\(endpoint)", "why": "\(why)"])
        failed.increment(by: items.count)
        let now = gateway.now
        return items.map { item in
            let effect = WebhookSchedule.effect(
                tries: item.tries, createdAt: item.createdAt, now: now)
            if effect == .done { givenUp.increment() }
            return WebhookSettlement(ticket: item.ticket, effect: effect)
        }
    }
}
