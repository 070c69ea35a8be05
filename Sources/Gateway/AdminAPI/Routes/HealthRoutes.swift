// SPDX-License-Identifier: Apache-2.0

import Gateway
import HTTPTypes
import Hummingbird
import NIOCore
import WakeModel

/// `GET /healthz` and `GET /readyz`, which require no key, and `GET /metrics`.
struct HealthRoutes {
    let services: Services

    var routes: [Route] {
        [
            Route(
                .get, "/healthz", .open,
                Operation(
                    id: "getHealth", summary: "Is the process alive?",
                    answers: [Operation.Answer(200, "It is.", .named(.health))])
            ) { _, _ in
                JSONValue.object([("status", .string("alive"))]).response(status: .ok)
            },
            Route(
                .get, "/readyz", .open,
                Operation(
                    id: "getReadiness", summary: "Can wakes be taken and sent?",
                    description: "The reasons say in words what is wrong. With warnings alone, of "
                        + "a reload that was refused, an app that is paused, or webhooks that "
                        + "their receiver does not take, the gateway works as it was told to.",
                    answers: [
                        Operation.Answer(200, "They can.", .named(.readiness)),
                        Operation.Answer(503, "They cannot: see the reasons.", .named(.readiness)),
                    ])
            ) { _, _ in readiness() },
            Route(
                .get, "/metrics", .scope(.read),
                Operation(
                    id: "getMetrics", summary: "Metrics for Prometheus",
                    answers: [
                        Operation.Answer(
                            200, "The text format 0.0.4.", .string(),
                            mediaType: PrometheusText.mediaType)
                    ], problems: [.appNotAllowed])
            ) { _, context in
                try context.checkAccessToAllApps()
                return await metrics()
            },
        ]
    }

    private func readiness() -> Response {
        let readiness = services.gateway.readiness
        let now = services.gateway.now
        // Without the operator's reason for a pause, because this route requires no key.
        let paused = services.gateway.apps.compactMap { app in
            app.pause.map { "\(app.app): \($0.sentence(saying: nil))" }
        }
        let warnings =
            services.warnings() + paused
            + services.webhooks().compactMap { $0.warning(at: now) }
        return JSONValue.object([
            ("status", .string(readiness.isReady ? "ready" : "not-ready")),
            ("reasons", .array(readiness.obstacles.map { .string($0) })),
            ("warnings", .array(warnings.map { .string($0) })),
        ]).response(status: readiness.isReady ? .ok : .serviceUnavailable)
    }

    private func metrics() async -> Response {
        let metrics = services.metrics
        metrics.set(.ready, services.gateway.readiness.isReady ? 1 : 0)
        metrics.set(.httpConnections, Double(services.connections.value))
        metrics.set(.eventStreams, Double(services.streams.value))
        let readings = services.readings()
        for gauge in MetricReading.Gauge.allCases {
            metrics.setAll(
                gauge.metric,
                readings.filter { $0.gauge == gauge }.map { ($0.labels, $0.value) })
        }
        setWebhookGauges()
        await setGatewayGauges()
        var headers = HTTPFields()
        headers[.contentType] = PrometheusText.mediaType
        return Response(
            status: .ok, headers: headers,
            body: ResponseBody(
                byteBuffer: ByteBuffer(string: PrometheusText.page(of: metrics.registry))))
    }

    private func setWebhookGauges() {
        let now = services.gateway.now
        func seconds(since instant: WallInstant?) -> Double {
            instant.map { Double(max(0, now.milliseconds(since: $0))) / 1000 } ?? 0
        }
        let health = services.webhooks().map { ([("endpoint", $0.endpoint)], $0) }
        services.metrics.setAll(
            .webhookAge, health.map { ($0, seconds(since: $1.oldestAt)) })
        services.metrics.setAll(
            .webhookFailing, health.map { ($0, seconds(since: $1.failingSince)) })
    }

    /// Sets the gauges. If the store does not answer, or has too much to read, those that it knows
    /// keep their values.
    private func setGatewayGauges() async {
        let metrics = services.metrics
        let apps = services.gateway.apps.map { app in
            let labels = [
                ("app", app.app.bundleID.value), ("environment", app.app.environment.rawValue),
            ]
            return (labels: labels, status: app)
        }
        let queues = apps.flatMap { app in
            app.status.queues.map { (app.labels + [("kind", $0.kind.rawValue)], $0) }
        }
        metrics.setAll(.appPaused, apps.map { ($0.labels, $0.status.pause == nil ? 0 : 1) })
        metrics.setAll(.appHeld, queues.map { ($0, $1.circuit == .closed ? 0 : 1) })
        metrics.setAll(.queueInFlight, queues.map { ($0, Double($1.inFlight)) })
        metrics.setAll(.queueUnresponsive, queues.map { ($0, $1.isUnresponsive ? 1 : 0) })
        guard let stats = try? await services.gateway.stats() else { return }
        metrics.set(.queueDepth, Double(stats.unended))
        metrics.set(.inFlight, Double(stats.inFlight))
        metrics.set(.intakeQueue, Double(stats.intakeQueue))
        for (kind, milliseconds) in stats.oldestDueMilliseconds {
            metrics.set(.queueAge, Double(milliseconds) / 1000, [("kind", kind.rawValue)])
        }
        stats.store?.set(metrics)
    }
}
