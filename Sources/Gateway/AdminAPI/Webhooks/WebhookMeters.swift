// SPDX-License-Identifier: Apache-2.0

import CoreMetrics
import Synchronization

/// What is counted of one webhook endpoint.
final class WebhookMeters: Sendable {
    let delivered: Counter
    let failed: Counter
    let givenUp: Counter
    let backlog: Gauge
    private let dropped: Counter
    /// What the store had dropped when it was last asked.
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

    /// Counts what was dropped since the last time, of so many in all; how many that is. What was
    /// dropped before the first time is not counted: an earlier process did.
    func noteDrops(_ count: Int) -> Int {
        let new = known.withLock { known in
            defer { known = count }
            return known.map { max(0, count - $0) } ?? 0
        }
        if new > 0 { dropped.increment(by: new) }
        return new
    }
}
