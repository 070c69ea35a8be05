// SPDX-License-Identifier: Apache-2.0

import CoreMetrics
import Synchronization

/// The meters of one webhook endpoint.
final class WebhookMeters: Sendable {
    let delivered: Counter
    let failed: Counter
    let givenUp: Counter
    let backlog: Gauge
    private let dropped: Counter
    /// The number of dropped events at the last reading of the store.
    private let known = Mutex<Int?>(nil)

    init(endpoint: String, _ registry: MetricsRegistry) {
        func counter(_ result: String) -> Counter {
            Counter(
                label: Metric.webhooks.rawValue,
                dimensions: [("endpoint", endpoint), ("result", result)], factory: registry)
        }
        delivered = counter("delivered")
        failed = counter("failed")
        givenUp = counter("given-up")
        backlog = Gauge(
            label: Metric.webhookBacklog.rawValue, dimensions: [("endpoint", endpoint)],
            factory: registry)
        dropped = Counter(
            label: Metric.webhooksDropped.rawValue, dimensions: [("endpoint", endpoint)],
            factory: registry)
    }

    /// Counts the events that were dropped since the last time, from the total, and returns their
    /// number. Events before the first time are not counted, because an earlier process counted
    /// them.
    func noteDrops(_ count: Int) -> Int {
        let new = known.withLock { known in
            defer { known = count }
            return known.map { max(0, count - $0) } ?? 0
        }
        if new > 0 { dropped.increment(by: new) }
        return new
    }
}
