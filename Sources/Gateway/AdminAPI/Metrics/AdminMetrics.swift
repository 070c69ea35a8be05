// SPDX-License-Identifier: Apache-2.0

import CoreMetrics
import Gateway
import HTTPTypes
import Synchronization

/// Meters of the API. Timers are cached by route, method and class of status, so that a request
/// creates none.
final class AdminMetrics: Sendable {
    private struct Key: Hashable {
        let route: String
        let method: String
        let status: Int
    }

    let registry: MetricsRegistry
    private let timers = Mutex<[Key: CoreMetrics.Timer]>([:])

    init(_ registry: MetricsRegistry) { self.registry = registry }

    /// Records the duration of an answered request. The label `route` is a pattern, so that the
    /// number of series is bounded.
    func answered(
        _ route: String?, _ method: HTTPRequest.Method, _ status: Int, _ duration: Duration
    ) {
        let isNothing = route == nil || route == "NotFound"
        let key = Key(
            route: isNothing ? "none" : route ?? "none",
            method: isNothing ? "any" : method.rawValue, status: status / 100)
        let timer = timers.withLock { timers in
            if let timer = timers[key] { return timer }
            let timer = CoreMetrics.Timer(
                label: Metric.requestLatency.rawValue,
                dimensions: [
                    ("route", key.route), ("method", key.method), ("status", "\(key.status)xx"),
                ], factory: registry)
            timers[key] = timer
            return timer
        }
        timer.recordNanoseconds(duration.nanoseconds)
    }

    /// Counts a broadcast, and records the time until APNs answered if it did.
    func broadcast(of app: AppIdentity, _ result: BroadcastResult, reason: String, _ time: Duration)
    {
        let labels = registry.labels(of: app)
        Counter(
            label: Metric.broadcasts.rawValue, dimensions: result.labels(of: labels, reason),
            factory: registry
        ).increment()
        guard result.isAnswer else { return }
        CoreMetrics.Timer(
            label: Metric.broadcastLatency.rawValue, dimensions: labels, factory: registry
        ).recordNanoseconds(time.nanoseconds)
    }

    /// Sets a gauge.
    func set(_ metric: Metric, _ value: Double, _ labels: [(String, String)] = []) {
        Gauge(label: metric.rawValue, dimensions: labels, factory: registry).record(value)
    }

    /// Sets all gauges of a metric, and removes its gauges with other labels, because their app or
    /// key is no longer configured.
    func setAll(_ metric: Metric, _ gauges: [(labels: [(String, String)], value: Double)]) {
        registry.removeGauges(metric.rawValue, exceptFor: gauges.map(\.labels))
        for gauge in gauges { set(metric, gauge.value, gauge.labels) }
    }
}

extension Duration {
    fileprivate var nanoseconds: Int64 {
        components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
    }
}
