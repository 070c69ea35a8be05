// SPDX-License-Identifier: Apache-2.0

import CoreMetrics
public import Gateway
import Synchronization
public import WakeModel

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
        /// The apps that have series of their own.
        var apps: Set<AppIdentity> = []
    }

    /// How many apps have series of their own, those that were configured first. What others count
    /// stands under the app and the environment ``otherApp``.
    static let appCount = 100
    /// What the apps beyond ``appCount`` are called.
    static let otherApp = "other"

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

    /// These apps are served: what they are asked for is there with 0.
    public func serves(_ apps: [AppIdentity]) {
        for app in apps {
            for kind in WakeKind.allCases {
                add(0, .accepted, labels(of: WakeQueueKey(app: app, kind: kind)))
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

    /// What tells a queue's series apart. An app that is among the first has its name there; wakes
    /// of one that is not configured any more can still end.
    private func labels(of queue: WakeQueueKey) -> [(String, String)] {
        let isNamed = handlers.withLock { handlers in
            if handlers.apps.contains(queue.app) { return true }
            guard handlers.apps.count < Self.appCount else { return false }
            handlers.apps.insert(queue.app)
            return true
        }
        return [
            ("app", isNamed ? queue.app.bundleID.value : Self.otherApp),
            ("environment", isNamed ? queue.app.environment.rawValue : Self.otherApp),
            ("kind", queue.kind.rawValue),
        ]
    }

    /// Requests were refused.
    public func refused(_ count: Int, why: String) { add(count, .refused, [("reason", why)]) }

    /// APNs answered.
    public func answered(afterMilliseconds milliseconds: Int64, kind: WakeKind) {
        record(max(0, milliseconds) * 1_000_000, .apnsLatency, [("kind", kind.rawValue)])
    }

    /// Wakes were handed to the transport. The lag is that of the latest of them, recorded once.
    public func dispatched(_ count: Int, kind: WakeKind, lagMilliseconds: Int64) {
        record(max(0, lagMilliseconds) * 1_000_000, .dueLag, [("kind", kind.rawValue)])
    }

    /// The budget made wakes wait.
    public func deferred(_ count: Int) { add(count, .budgetDeferrals, []) }

    /// The store wrote a transaction.
    public func committed(_ count: Int, verb: String, microseconds: Int64) {
        record(microseconds * 1_000, .commitTime, [("verb", verb)])
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

    private func record(_ nanoseconds: Int64, _ metric: Metric, _ labels: [(String, String)]) {
        let key = Key(metric: metric, labels: labels.map(\.1))
        let timer = handlers.withLock { handlers in
            if let timer = handlers.timers[key] { return timer }
            let timer = CoreMetrics.Timer(
                label: metric.rawValue, dimensions: labels, factory: registry)
            handlers.timers[key] = timer
            return timer
        }
        timer.recordNanoseconds(nanoseconds)
    }
}
