// SPDX-License-Identifier: Apache-2.0

public import Gateway
public import Logging
public import ServiceLifecycle
import Synchronization

/// Delivers the gateway's webhooks: a webhook worker for each endpoint takes its events from the
/// store under leases, posts them, and settles them. Webhook workers share only the store, with
/// each other and with dispatch; so a receiver that is slow or down delays its own events only. Of
/// gateways that share a store, one at a time delivers to an endpoint.
///
/// A request carries up to 100 events as `{"events": […]}`, with the headers of Standard Webhooks
/// 1.0. Any 2xx means that all of them were accepted; anything else is retried by
/// `WebhookSchedule`. An event may arrive twice, with other events under another `webhook-id`; its
/// own `id` identifies it.
public final class WebhookDelivery: Service {
    /// The timeout of a receiver's answer, in milliseconds.
    public static let patienceMilliseconds = 15_000

    private struct State {
        var workers: [WebhookEndpointID: WebhookWorker] = [:]
        /// Those that do not run yet.
        var fresh: [WebhookWorker] = []
    }

    private let gateway: Gateway
    private let makeWebhookClient: @Sendable () -> any WebhookClient
    private let metrics: MetricsRegistry
    private let logger: Logger
    private let state = Mutex(State())
    private let changes = AsyncSignal()

    /// Creates a delivery to these endpoints, of different URLs. `makeWebhookClient` makes the
    /// client of one of them.
    public init(
        gateway: Gateway, endpoints: [WebhookEndpoint], metrics: MetricsRegistry, logger: Logger,
        makeWebhookClient: @escaping @Sendable () -> any WebhookClient
    ) {
        self.gateway = gateway
        self.makeWebhookClient = makeWebhookClient
        self.metrics = metrics
        self.logger = logger
        replace(endpoints)
    }

    /// Delivers to other endpoints from now on. One with the same URL continues; the gateway
    /// removes waiting events of one that was removed.
    public func replace(_ endpoints: [WebhookEndpoint]) {
        state.withLock { state in
            let labels = Self.labels(
                of: endpoints, keeping: state.workers.mapValues(\.label))
            var kept: [WebhookEndpointID: WebhookWorker] = [:]
            for (endpoint, label) in zip(endpoints, labels) {
                if let worker = state.workers.removeValue(forKey: endpoint.id) {
                    worker.replace(endpoint)
                    kept[endpoint.id] = worker
                } else {
                    let worker = WebhookWorker(
                        gateway: gateway, endpoint: endpoint, label: label,
                        client: makeWebhookClient(), metrics: metrics, logger: logger)
                    kept[endpoint.id] = worker
                    state.fresh.append(worker)
                }
            }
            for gone in state.workers.values { gone.replace(nil) }
            state.workers = kept
        }
        changes.ring()
    }

    /// The delivery state of each endpoint, ordered by name.
    public var health: [WebhookHealth] {
        state.withLock { $0.workers.values.map(\.health) }.sorted { $0.endpoint < $1.endpoint }
    }

    /// The labels of the endpoints in metrics and log: their hosts, because a path may contain a
    /// secret. Further ones of the same host have a number as a suffix. One that is `kept` keeps
    /// its label, which no other one gets.
    static func labels(
        of endpoints: [WebhookEndpoint], keeping kept: [WebhookEndpointID: String] = [:]
    ) -> [String] {
        var taken = Set(endpoints.compactMap { kept[$0.id] })
        return endpoints.map { endpoint in
            if let label = kept[endpoint.id] { return label }
            var label = endpoint.host
            var count = 1
            while !taken.insert(label).inserted {
                count += 1
                label = "\(endpoint.host)#\(count)"
            }
            return label
        }
    }

    /// Runs until the service group shuts down and running requests have ended.
    public func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                while !Task.isCancelled {
                    for worker in self.takeFresh() { group.addTask { await worker.run() } }
                    await self.changes.waitUnlessCancelled()
                }
                group.cancelAll()
            }
        }
    }

    private func takeFresh() -> [WebhookWorker] {
        state.withLock { state in
            defer { state.fresh = [] }
            return state.fresh
        }
    }
}
