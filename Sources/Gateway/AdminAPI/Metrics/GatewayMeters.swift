// SPDX-License-Identifier: Apache-2.0

import CoreMetrics
public import Gateway
import Synchronization
import WakeModel

/// Records the gateway's metrics for `/metrics`.
///
/// Handlers are cached by their labels, so that counting a batch costs one lookup in a small table.
/// May be used from any thread.
public final class GatewayMeters: GatewayMetrics {
    private struct Key: Hashable {
        let metric: Metric
        let labels: [String]
    }

    private struct Handlers {
        var counters: [Key: Counter] = [:]
        var timers: [Key: CoreMetrics.Timer] = [:]
        /// By queue, because one is recorded for each answer of APNs.
        var answers: [WakeQueueKey: CoreMetrics.Timer] = [:]

        mutating func timer(
            _ metric: Metric, _ labels: [(String, String)], _ registry: MetricsRegistry
        ) -> CoreMetrics.Timer {
            let key = Key(metric: metric, labels: labels.map(\.1))
            if let timer = timers[key] { return timer }
            let timer = CoreMetrics.Timer(
                label: metric.rawValue, dimensions: labels, factory: registry)
            timers[key] = timer
            return timer
        }
    }

    /// The reasons for refusals; see `GatewayMetrics.refused(_:why:)`.
    private static let refusals = [
        "invalid", "unknown-app", "wrong-credential", "conflict", "overloaded", "unavailable",
        "damaged",
    ]

    private let registry: MetricsRegistry
    private let handlers = Mutex(Handlers())
    private let commitRows: Recorder
    private let unconfiguredWebhooks: Recorder

    /// Creates meters in this registry.
    public init(_ registry: MetricsRegistry) {
        self.registry = registry
        commitRows = Recorder(
            label: Metric.commitRows.rawValue, dimensions: [], aggregate: true, factory: registry)
        unconfiguredWebhooks = Recorder(
            label: Metric.webhooksUnconfigured.rawValue, dimensions: [], aggregate: false,
            factory: registry)
        // Counters start at 0 before their first event: a series that starts with its first event
        // shows no increase, so that no alert would fire for it. Only background wakes can be
        // merged.
        for kind in WakeKind.allCases where kind.discipline == .background {
            add(0, .coalesced, [("kind", kind.rawValue)])
        }
        for reason in Self.refusals { refused(0, why: reason) }
        for table in DamagedRow.Table.allCases { damaged(0, table: table) }
        deferred(0)
    }

    /// Creates the series of background and VoIP wakes and of broadcasts of these apps, with the
    /// value 0. Series of other kinds start with the first wake, because no app uses all kinds.
    public func serves(_ apps: [AppIdentity]) {
        registry.serve(apps)
        // The labels of an app may have changed.
        handlers.withLock { $0.answers = [:] }
        for app in apps {
            for kind in [WakeKind.background, .voip] {
                add(0, .accepted, labels(of: WakeQueueKey(app: app, kind: kind)))
            }
            for result in BroadcastResult.allCases where result != .rejected {
                add(0, .broadcasts, result.labels(of: registry.labels(of: app)))
            }
        }
    }

    /// Counts accepted wakes by their decision; merged and deferred ones are counted separately
    /// too.
    public func accepted(_ count: Int, of queue: WakeQueueKey, decision: String) {
        let labels = labels(of: queue)
        add(count, .accepted, labels)
        add(count, .decisions, labels + [("decision", decision)])
        if decision == "coalesced" { add(count, .coalesced, [("kind", queue.kind.rawValue)]) }
        if decision == "deferred" { deferred(count) }
    }

    /// Counts ended wakes by state and reason.
    public func ended(_ count: Int, of queue: WakeQueueKey, state: WakeState, reason: String?) {
        add(
            count, .ended,
            labels(of: queue) + [("state", state.rawValue), ("reason", reason ?? "")])
    }

    /// The labels of a queue. Its app may no longer be configured: its wakes can still end.
    private func labels(of queue: WakeQueueKey) -> [(String, String)] {
        registry.labels(of: queue.app) + [("kind", queue.kind.rawValue)]
    }

    /// Counts refused requests by reason.
    public func refused(_ count: Int, why: String) { add(count, .refused, [("reason", why)]) }

    /// Records the time until APNs answered.
    public func answered(afterMilliseconds milliseconds: Int64, of queue: WakeQueueKey) {
        let timer = handlers.withLock { handlers in
            if let timer = handlers.answers[queue] { return timer }
            // Under the lock, so that no timer with outdated labels is cached after a reload.
            let timer = handlers.timer(.apnsLatency, labels(of: queue), registry)
            handlers.answers[queue] = timer
            return timer
        }
        timer.recordNanoseconds(max(0, milliseconds) * 1_000_000)
    }

    /// Records the lag of wakes that were passed to the transport: that of the latest of them,
    /// once.
    public func dispatched(_ count: Int, of queue: WakeQueueKey, lagMilliseconds: Int64) {
        timer(.dueLag, labels(of: queue)).recordNanoseconds(max(0, lagMilliseconds) * 1_000_000)
    }

    /// Counts wakes that the budget deferred.
    public func deferred(_ count: Int) { add(count, .budgetDeferrals, []) }

    /// Records a transaction of the store: its duration, and its number of rows.
    public func committed(_ count: Int, verb: String, microseconds: Int64) {
        timer(.commitTime, [("verb", verb)]).recordNanoseconds(microseconds * 1_000)
        commitRows.record(count)
    }

    /// Counts damaged rows of the store.
    public func damaged(_ count: Int, table: DamagedRow.Table) {
        add(count, .damagedRows, [("table", table.rawValue)])
    }

    /// Sets the number of webhook events that are kept for endpoints that are not configured.
    public func webhooksWaitUnconfigured(_ count: Int) { unconfiguredWebhooks.record(count) }

    private func add(_ count: Int, _ metric: Metric, _ labels: [(String, String)]) {
        let key = Key(metric: metric, labels: labels.map(\.1))
        let counter = handlers.withLock { handlers in
            if let counter = handlers.counters[key] { return counter }
            let counter = Counter(
                label: metric.rawValue, dimensions: labels, factory: registry)
            handlers.counters[key] = counter
            return counter
        }
        counter.increment(by: count)
    }

    private func timer(_ metric: Metric, _ labels: [(String, String)]) -> CoreMetrics.Timer {
        handlers.withLock { $0.timer(metric, labels, registry) }
    }
}
