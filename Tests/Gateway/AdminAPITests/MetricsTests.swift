// SPDX-License-Identifier: Apache-2.0

import CoreMetrics
import Gateway
import GatewayTestKit
import Testing
import WakeModel

@testable import AdminAPI

@Suite("Metrics", .timeLimit(.minutes(10)))
struct MetricsTests {
    private static let background = WakeQueueKey(app: Samples.app, kind: .background)
    private static let voip = WakeQueueKey(app: Samples.app, kind: .voip)

    @Test("Counters, gauges and histograms are written as Prometheus reads them")
    func text() {
        let registry = MetricsRegistry()
        Counter(label: "a_total", dimensions: [("kind", "x\"\\\n")], factory: registry)
            .increment(by: 3)
        Gauge(label: "b", dimensions: [], factory: registry).record(1.5)
        let timer = CoreMetrics.Timer(
            label: "rouse_due_lag_seconds", dimensions: [("kind", "voip")], factory: registry)
        timer.recordNanoseconds(3_000_000)
        timer.recordNanoseconds(90_000_000_000)
        let page = PrometheusText.page(of: registry)
        #expect(page.contains("# TYPE a_total counter\na_total{kind=\"x\\\"\\\\\\n\"} 3\n"))
        #expect(page.contains("# TYPE b gauge\nb 1.5\n"))
        #expect(page.contains("# TYPE rouse_due_lag_seconds histogram\n"))
        #expect(page.contains("rouse_due_lag_seconds_bucket{kind=\"voip\",le=\"0.0025\"} 0\n"))
        #expect(page.contains("rouse_due_lag_seconds_bucket{kind=\"voip\",le=\"0.005\"} 1\n"))
        #expect(page.contains("rouse_due_lag_seconds_bucket{kind=\"voip\",le=\"+Inf\"} 2\n"))
        #expect(page.contains("rouse_due_lag_seconds_sum{kind=\"voip\"} 90.003\n"))
        #expect(page.contains("rouse_due_lag_seconds_count{kind=\"voip\"} 2\n"))
    }

    @Test("There are never more series than the limit, and what falls out is counted")
    func limit() {
        let registry = MetricsRegistry()
        for number in 0..<MetricsRegistry.maximumSeriesCount + 5 {
            Counter(label: "a_total", dimensions: [("n", "\(number)")], factory: registry)
                .increment()
        }
        let page = PrometheusText.page(of: registry)
        #expect(page.ranges(of: "a_total{").count == MetricsRegistry.maximumSeriesCount)
        #expect(page.contains("rouse_metrics_dropped_series_total 5\n"))
    }

    @Test("The same name and labels are the same series")
    func sameSeries() {
        let registry = MetricsRegistry()
        for _ in 0..<3 {
            Counter(label: "a_total", dimensions: [("k", "v")], factory: registry).increment()
        }
        #expect(PrometheusText.page(of: registry).contains("a_total{k=\"v\"} 3\n"))
    }

    @Test("What a gateway tells is counted under the names of the table")
    func meters() {
        let registry = MetricsRegistry()
        let meters = GatewayMeters(registry)
        meters.serves([Samples.app])
        meters.accepted(2, of: Self.background, decision: "coalesced")
        meters.ended(1, of: Self.voip, state: .rejected, reason: "BadDeviceToken")
        meters.answered(afterMilliseconds: 12, of: Self.background)
        meters.committed(40, verb: "admit", microseconds: 900)
        let page = PrometheusText.page(of: registry)
        let app = "app=\"com.example.app\",environment=\"sandbox\""
        #expect(page.contains("rouse_wakes_accepted_total{\(app),kind=\"background\"} 2\n"))
        #expect(
            page.contains(
                "rouse_decisions_total{\(app),kind=\"background\",decision=\"coalesced\"} 2\n"))
        #expect(page.contains("rouse_wakes_coalesced_total{kind=\"background\"} 2\n"))
        #expect(
            page.contains(
                "rouse_wakes_ended_total{\(app),kind=\"voip\",state=\"rejected\","
                    + "reason=\"BadDeviceToken\"} 1\n"))
        #expect(
            page.contains("rouse_apns_request_seconds_count{\(app),kind=\"background\"} 1\n"))
        #expect(page.contains("rouse_store_commit_rows_bucket{le=\"64\"} 1\n"))
    }

    @Test("What a new gateway may count is there before the first event, with 0")
    func zeros() {
        let registry = MetricsRegistry()
        GatewayMeters(registry).serves([Self.voip.app])
        let page = PrometheusText.page(of: registry)
        for series in [
            "rouse_wakes_accepted_total{app=\"com.example.app\",environment=\"sandbox\","
                + "kind=\"voip\"}",
            "rouse_wakes_coalesced_total{kind=\"background\"}",
            "rouse_broadcasts_total{app=\"com.example.app\",environment=\"sandbox\","
                + "result=\"sent\",reason=\"\"}",
            "rouse_requests_refused_total{reason=\"overloaded\"}", "rouse_budget_deferrals_total",
        ] {
            #expect(page.contains("\n\(series) 0\n"), "\(series)")
        }
        // And of each app those kinds alone that any app may well send.
        #expect(page.ranges(of: "rouse_wakes_accepted_total{").count == 2)
        Self.expectLabelsOfTable(page)
    }

    @Test("Beyond a hundred apps, those that were configured first keep series of their own")
    func manyApps() throws {
        let registry = MetricsRegistry()
        let meters = GatewayMeters(registry)
        let apps = (0..<MetricsRegistry.appCount + 3).map {
            Samples.identity("com.example.a\($0)", .production)
        }
        meters.serves(apps)
        for app in apps {
            let queue = WakeQueueKey(app: app, kind: .background)
            meters.accepted(1, of: queue, decision: "send")
            meters.ended(1, of: queue, state: .sent, reason: nil)
        }
        let page = PrometheusText.page(of: registry)
        for (name, rest) in [
            ("rouse_wakes_accepted_total", ""), ("rouse_decisions_total", ",decision=\"send\""),
            ("rouse_wakes_ended_total", ",state=\"sent\",reason=\"\""),
        ] {
            let lines = page.split(separator: "\n").filter {
                $0.hasPrefix("\(name){") && $0.contains("background\"") && $0.hasSuffix(" 1")
            }
            #expect(lines.count == MetricsRegistry.appCount, "\(name)")
            let other = "app=\"other\",environment=\"other\",kind=\"background\"\(rest)"
            #expect(page.contains("\n\(name){\(other)} 3\n"), "\(name)")
        }
        #expect(page.contains("rouse_metrics_dropped_series_total 0\n"))
    }

    @Test("An app that is not configured any more gives its place away with a reload")
    func freedPlaces() {
        let registry = MetricsRegistry()
        let meters = GatewayMeters(registry)
        let apps = (0..<MetricsRegistry.appCount + 2).map {
            Samples.identity("com.example.a\($0)", .production)
        }
        func countEach() {
            for app in apps {
                let queue = WakeQueueKey(app: app, kind: .background)
                meters.accepted(1, of: queue, decision: "send")
                meters.answered(afterMilliseconds: 12, of: queue)
            }
        }
        // Of an app that is not configured, which takes no place.
        meters.ended(1, of: Self.voip, state: .sent, reason: nil)
        meters.serves(apps)
        #expect(registry.unnamedApps == Set(apps.suffix(2)))
        countEach()
        meters.serves(Array(apps.dropFirst()))
        #expect(registry.unnamedApps == Set(apps.suffix(1)))
        countEach()
        let page = PrometheusText.page(of: registry)
        for (app, environment, count) in [
            ("com.example.a0", "production", 1), ("com.example.a1", "production", 2),
            ("com.example.a100", "production", 1), ("other", "other", 4),
        ] {
            let labels = "{app=\"\(app)\",environment=\"\(environment)\",kind=\"background\"}"
            for name in ["rouse_wakes_accepted_total", "rouse_apns_request_seconds_count"] {
                #expect(page.contains("\n\(name)\(labels) \(count)\n"), "\(name) \(app)")
            }
        }
        #expect(!page.contains("app=\"com.example.a101\""))
        #expect(!page.contains("app=\"\(Samples.app.bundleID.value)\""))
    }

    @Test("The page has the API's requests by route, never by path")
    func page() async throws {
        try await APIBench().serve { caller in
            let id = try await caller.wake()
            _ = try await caller.send("GET", "/v1/wakes/\(id)")
            let page = try await caller.send("GET", "/metrics", as: .read)
            #expect(page.status == 200)
            #expect(page.head.contains("text/plain; version=0.0.4"))
            #expect(page.body.contains("route=\"/v1/wakes/{id}\""))
            #expect(!page.body.contains(id))
            #expect(page.body.contains("rouse_ready 1\n"))
            #expect(page.body.contains("rouse_queue_depth "))
            Self.expectLabelsOfTable(page.body)
        }
    }

    @Test("An app that is not configured any more has no gauges")
    func removedApps() async throws {
        let bench = try APIBench(
            sender: ScriptedSender { _ in Samples.refusal(403, .invalidProviderToken) })
        let series = "rouse_app_held{app=\"\(Samples.app.bundleID.value)\""
        try await bench.serve { caller in
            _ = try await caller.wake()
            var page = ""
            func isHeld() -> Bool {
                page.split(separator: "\n").contains { $0.hasPrefix(series) && $0.hasSuffix(" 1") }
            }
            while !isHeld() {
                try await Task.sleep(for: .milliseconds(5))
                page = try await caller.send("GET", "/metrics").body
            }
            bench.gateway.reload(
                GatewayConfiguration(apps: [Samples.otherApp]), sender: ScriptedSender())
            page = try await caller.send("GET", "/metrics").body
            #expect(!page.contains(series))
            let other = "rouse_app_held{app=\"\(Samples.otherApp.bundleID.value)\""
            #expect(page.contains(other))
            #expect(page.contains("rouse_ready 1\n"))
        }
    }

    @Test("A paused app is 1, until it is resumed")
    func pausedApps() async throws {
        try await APIBench().serve { caller in
            let app = Samples.app.bundleID.value
            for (verb, value) in [("pause", 1), ("resume", 0)] {
                _ = try await caller.send("POST", "/v1/apps/\(app)/\(verb)")
                let page = try await caller.send("GET", "/metrics").body
                let series = page.split(separator: "\n")
                    .filter { $0.hasPrefix("rouse_app_paused{app=\"\(app)\",") }
                #expect(!series.isEmpty && series.allSatisfy { $0.hasSuffix(" \(value)") })
                Self.expectLabelsOfTable(page)
            }
        }
    }

    @Test("All gauges of a metric at once: those that are not among them go, others stay")
    func allGauges() {
        let registry = MetricsRegistry()
        let metrics = AdminMetrics(registry)
        metrics.set(.queueAge, 3, [("kind", "voip")])
        metrics.setAll(.apnsStreams, [([("server", "a")], 1), ([("server", "b")], 2)])
        metrics.setAll(.apnsStreams, [([("server", "b")], 4)])
        let page = PrometheusText.page(of: registry)
        #expect(page.contains("{server=\"b\"} 4\n") && !page.contains("server=\"a\""))
        #expect(page.contains("{kind=\"voip\"} 3\n"))
        metrics.setAll(.apnsStreams, [])
        #expect(!PrometheusText.page(of: registry).contains("server="))
    }

    @Test("What is counted has the labels of the table")
    func labels() {
        let registry = MetricsRegistry()
        let meters = GatewayMeters(registry)
        meters.accepted(1, of: Self.background, decision: "coalesced")
        meters.accepted(1, of: Self.background, decision: "deferred")
        meters.ended(1, of: Self.voip, state: .rejected, reason: nil)
        meters.refused(1, why: "overloaded")
        meters.answered(afterMilliseconds: 12, of: Self.background)
        meters.dispatched(1, of: Self.voip, lagMilliseconds: 3)
        meters.committed(40, verb: "admit", microseconds: 900)
        Self.expectLabelsOfTable(PrometheusText.page(of: registry))
    }

    /// Compares the labels of each of Rouse's series on a page with those that the table names.
    private static func expectLabelsOfTable(_ page: String) {
        var count = 0
        for line in page.split(separator: "\n") where line.hasPrefix("rouse_") {
            guard let series = line.prefixMatch(of: #/([a-z_]+)(?:\{(.*)\})?\s/#) else { continue }
            let name = String(series.1).replacing(/_(?:bucket|sum|count)$/, with: "")
            let labels = series.2?.matches(of: /([a-z]+)="/).map { String($0.1) } ?? []
            let metric = Metric(rawValue: name) ?? Metric(rawValue: String(series.1))
            #expect(metric?.labels == labels.filter { $0 != "le" }.sorted(), "\(line)")
            count += 1
        }
        #expect(count > 5)
    }
}
