// SPDX-License-Identifier: Apache-2.0

public import CoreMetrics
import Gateway
import Synchronization
import WakeModel

/// The counters, gauges and histograms of `/metrics`: a small back end of swift-metrics.
///
/// Meters get it as their factory, so that a program that embeds the gateway can bootstrap
/// swift-metrics with another one. Metrics with other names than those of `Metric` are kept too.
/// May be used from any thread.
public final class MetricsRegistry: MetricsFactory {
    /// The maximum number of series. Further ones are counted as dropped and not kept.
    static let maximumSeriesCount = 10_000
    /// The maximum number of apps with series of their own. Others share the series whose app and
    /// environment are ``otherApp``.
    static let appCount = 100
    /// The label of apps without series of their own.
    static let otherApp = "other"

    /// The identity of a series: a name and labels.
    struct Key: Hashable {
        let name: String
        /// In the order in which they were passed.
        let labels: [Label]
    }

    /// One label of a series.
    struct Label: Hashable {
        let name: String
        let value: String
    }

    private struct State {
        var counters: [Key: CounterSeries] = [:]
        var gauges: [Key: GaugeSeries] = [:]
        var histograms: [Key: HistogramSeries] = [:]
        var droppedCount = 0
        /// The configured apps that have series of their own.
        var namedApps: Set<AppIdentity> = []
        /// The other configured apps.
        var unnamedApps: Set<AppIdentity> = []

        var count: Int { counters.count + gauges.count + histograms.count }
    }

    private let state = Mutex(State())

    /// Creates an empty registry.
    public init() {}

    // MARK: Apps

    /// Sets the configured apps. Apps that have series of their own keep them; the first of the
    /// others get the free places.
    func serve(_ apps: [AppIdentity]) {
        state.withLock { state in
            state.namedApps.formIntersection(apps)
            for app in apps where state.namedApps.count < Self.appCount {
                state.namedApps.insert(app)
            }
            state.unnamedApps = Set(apps).subtracting(state.namedApps)
        }
    }

    /// The configured apps without series of their own.
    var unnamedApps: Set<AppIdentity> { state.withLock { $0.unnamedApps } }

    /// The labels of an app that is or was configured: its own if it has series of its own, else
    /// ``otherApp``.
    func labels(of app: AppIdentity) -> [(String, String)] {
        let isNamed = state.withLock { $0.namedApps.contains(app) }
        return [
            ("app", isNamed ? app.bundleID.value : Self.otherApp),
            ("environment", isNamed ? app.environment.rawValue : Self.otherApp),
        ]
    }

    // MARK: MetricsFactory

    /// Returns a counter; see `MetricsFactory`.
    public func makeCounter(
        label: String, dimensions: [(String, String)]
    ) -> any CounterHandler {
        let key = Key(label, dimensions)
        return state.withLock { state in
            state.counters[key]
                ?? Self.keep(CounterSeries(), &state) { $0.counters[key] = $1 }
        }
    }

    /// Returns a gauge, or a histogram if `aggregate` is set; see `MetricsFactory`.
    public func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        aggregate ? histogram(Key(label, dimensions)) : gauge(Key(label, dimensions))
    }

    /// Returns a gauge that can be incremented and decremented; see `MetricsFactory`.
    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        gauge(Key(label, dimensions))
    }

    /// Returns a histogram in seconds; see `MetricsFactory`.
    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        histogram(Key(label, dimensions))
    }

    /// Does nothing: series live as long as the registry.
    public func destroyCounter(_ handler: any CounterHandler) {}
    /// Does nothing: series live as long as the registry.
    public func destroyRecorder(_ handler: any RecorderHandler) {}
    /// Does nothing: series live as long as the registry.
    public func destroyMeter(_ handler: any MeterHandler) {}
    /// Does nothing: series live as long as the registry.
    public func destroyTimer(_ handler: any TimerHandler) {}

    private func gauge(_ key: Key) -> GaugeSeries {
        state.withLock { state in
            state.gauges[key] ?? Self.keep(GaugeSeries(), &state) { $0.gauges[key] = $1 }
        }
    }

    /// Removes the gauges of this name that have other labels than `kept`.
    func removeGauges(_ name: String, exceptFor kept: [[(String, String)]]) {
        let kept = Set(kept.map { Key(name, $0) })
        state.withLock { state in
            state.gauges = state.gauges.filter { $0.key.name != name || kept.contains($0.key) }
        }
    }

    private func histogram(_ key: Key) -> HistogramSeries {
        let bounds = (Metric(rawValue: key.name) ?? .requestLatency).bounds
        return state.withLock { state in
            state.histograms[key]
                ?? Self.keep(HistogramSeries(bounds: bounds), &state) { $0.histograms[key] = $1 }
        }
    }

    /// Keeps a new series up to the limit. A series beyond it can be used, but is never shown.
    private static func keep<Series>(
        _ series: Series, _ state: inout State, _ insert: (inout State, Series) -> Void
    ) -> Series {
        if state.count < maximumSeriesCount {
            insert(&state, series)
        } else {
            state.droppedCount += 1
        }
        return series
    }

    // MARK: History

    /// The counters of a name with their labels, in no particular order.
    func counters(_ name: String) -> [(labels: [Label], value: Int64)] {
        state.withLock { state in
            state.counters.compactMap { key, series in
                key.name == name ? (key.labels, series.value) : nil
            }
        }
    }

    /// The number of values in each bucket of the histograms of a name, not cumulative, with their
    /// labels, in no particular order.
    func bucketCounts(_ name: String) -> [(labels: [Label], counts: [Int])] {
        let all = state.withLock { $0.histograms.filter { $0.key.name == name } }
        return all.map { ($0.key.labels, $0.value.snapshot.counts) }
    }

    // MARK: Export

    /// The current value of a series.
    enum Sample {
        case number(Double)
        case histogram(HistogramSeries.Snapshot)
    }

    /// All series, ordered by name and then by labels.
    func snapshot() -> [(name: String, kind: Metric.Kind, series: [(Key, Sample)])] {
        let (counters, gauges, histograms, dropped) = state.withLock {
            ($0.counters, $0.gauges, $0.histograms, $0.droppedCount)
        }
        var byName: [String: (kind: Metric.Kind, series: [(Key, Sample)])] = [:]
        func add(_ key: Key, _ kind: Metric.Kind, _ sample: Sample) {
            byName[key.name, default: (kind, [])].series.append((key, sample))
        }
        for (key, series) in counters { add(key, .counter, .number(Double(series.value))) }
        for (key, series) in gauges { add(key, .gauge, .number(series.value)) }
        for (key, series) in histograms { add(key, .histogram, .histogram(series.snapshot)) }
        add(Key(Metric.droppedSeries.rawValue, []), .counter, .number(Double(dropped)))
        return byName.sorted { $0.key < $1.key }.map { name, entry in
            let series = entry.series.sorted {
                $0.0.labels.lexicographicallyPrecedes($1.0.labels) {
                    ($0.name, $0.value) < ($1.name, $1.value)
                }
            }
            return (name, entry.kind, series)
        }
    }
}

extension MetricsRegistry.Key {
    fileprivate init(_ name: String, _ dimensions: [(String, String)]) {
        self.init(
            name: name,
            labels: dimensions.map { MetricsRegistry.Label(name: $0.0, value: $0.1) })
    }
}
