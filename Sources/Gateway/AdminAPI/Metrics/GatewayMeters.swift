// SPDX-License-Identifier: Apache-2.0

import CoreMetrics
public import Gateway
import Synchronization
import WakeModel

/// Counts the gateway's events for `/metrics`.
///
/// Handlers are looked up once for each set of labels and then kept, so that counting a batch costs
/// a lookup in a small table. May be used from any thread.
public final class GatewayMeters: GatewayMetrics {
    private struct Key: Hashable {
        let metric: Metric
        let labels: [String]
    }

    private struct Handlers {
        var counters: [Key: Counter] = [:]
        var timers: [Key: CoreMetrics.Timer] = [:]
        /// By queue, because one is counted for each answer of APNs.
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

    /// What the gateway calls its refusals; see `GatewayMetrics.refused(_:why:)`.
    private static let refusals = [
        "invalid", "unknown-app", "wrong-credential", "conflict", "overloaded", "unavailable",
        "damaged",
    ]

    private let registry: MetricsRegistry
    private let handlers = Mutex(Handlers())
    private let commitRows: Recorder
    private let unconfiguredWebhooks: Recorder

    /// Meters that count in this registry.
    public init(_ registry: MetricsRegistry) {
        self.registry = registry
        commitRows = Recorder(
            label: Metric.commitRows.rawValue, dimensions: [], aggregate: true, factory: registry)
        unconfiguredWebhooks = Recorder(
            label: Metric.webhooksUnconfigured.rawValue, dimensions: [], aggregate: false,
            factory: registry)
        // Counters that nothing has counted yet are there with 0: a series that begins with its
        // first event has no increase to show, and that event would never raise an alert.
        // Only they merge.
        for kind in WakeKind.allCases where kind.discipline == .background {
            add(0, .coalesced, [("kind", kind.rawValue)])
        }
        for reason in Self.refusals { refused(0, why: reason) }
        for table in DamagedRow.Table.allCases { damaged(0, table: table) }
        deferred(0)
    }

    /// These apps are served: the background and VoIP wakes that they are asked for are there with
    /// 0. Each other kind has a series from its first wake on: no app sends all of them.
    public func serves(_ apps: [AppIdentity]) {
        registry.serve(apps)
        // Their labels may be others by now.
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

    /// Wakes were accepted, with this decision; merged ones have a counter of their own.
    public func accepted(_ count: Int, of queue: WakeQueueKey, decision: String) {
        let labels = labels(of: queue)
        add(count, .accepted, labels)
        add(count, .decisions, labels + [("decision", decision)])
        if decision == "coalesced" { add(count, .coalesced, [("kind", queue.kind.rawValue)]) }
        if decision == "deferred" { deferred(count) }
    }

    /// Wakes have ended.
    public func ended(_ count: Int, of queue: WakeQueueKey, state: WakeState, reason: String?) {
        add(
            count, .ended,
            labels(of: queue) + [("state", state.rawValue), ("reason", reason ?? "")])
    }

    /// What tells a queue's series apart; wakes of an app that is not configured any more can still
    /// end.
    private func labels(of queue: WakeQueueKey) -> [(String, String)] {
        registry.labels(of: queue.app) + [("kind", queue.kind.rawValue)]
    }

    /// Requests were refused.
    public func refused(_ count: Int, why: String) { add(count, .refused, [("reason", why)]) }

    /// APNs answered.
    public func answered(afterMilliseconds milliseconds: Int64, of queue: WakeQueueKey) {
        let timer = handlers.withLock { handlers in
            if let timer = handlers.answers[queue] { return timer }
            // The labels are read under the lock, so that none is kept that has others by then.
            let timer = handlers.timer(.apnsLatency, labels(of: queue), registry)
            handlers.answers[queue] = timer
            return timer
        }
        timer.recordNanoseconds(max(0, milliseconds) * 1_000_000)
    }

    /// Wakes were handed to the transport. The lag is that of the latest of them, recorded once.
    public func dispatched(_ count: Int, of queue: WakeQueueKey, lagMilliseconds: Int64) {
        timer(.dueLag, labels(of: queue)).recordNanoseconds(max(0, lagMilliseconds) * 1_000_000)
    }

    /// The budget made wakes wait.
    public func deferred(_ count: Int) { add(count, .budgetDeferrals, []) }

    /// The store wrote a transaction.
    public func committed(_ count: Int, verb: String, microseconds: Int64) {
        timer(.commitTime, [("verb", verb)]).recordNanoseconds(microseconds * 1_000)
        commitRows.record(count)
    }

    /// Rows of the store were found damaged.
    public func damaged(_ count: Int, table: DamagedRow.Table) {
        add(count, .damagedRows, [("table", table.rawValue)])
    }

    /// Webhooks are kept for endpoints that are not configured.
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
