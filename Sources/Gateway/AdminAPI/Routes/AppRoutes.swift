// SPDX-License-Identifier: Apache-2.0

import Gateway
import HTTPTypes
import Hummingbird
import WakeModel

/// The routes of apps, their queues, statistics, history and webhook endpoints.
struct AppRoutes {
    let services: Services

    private var gateway: Gateway { services.gateway }

    var routes: [Route] { [list, read, pause, resume, stats, history, webhooks] }

    private var list: Route {
        Route(
            .get, "/v1/apps", .scope(.read),
            Operation(
                id: "listApps", summary: "The apps, and whether they are sent for",
                answers: [Operation.Answer(200, "The apps of the API key.", .named(.appList))])
        ) { _, context in
            let apps = gateway.apps.filter { context.apps?.contains($0.app.bundleID) ?? true }
            return JSONValue.object([("apps", .array(apps.map(\.json)))]).response(status: .ok)
        }
    }

    private var read: Route {
        Route(
            .get, "/v1/apps/{topic}", .scope(.read),
            Operation(
                id: "getApp", summary: "One app, and what waits for it",
                description: "Of each queue also how many wakes wait in the store, and for how "
                    + "long the next one is due already.",
                parameters: [.topic, .environmentOfQuery],
                answers: [Operation.Answer(200, "The app.", .named(.app))],
                problems: Self.problems)
        ) { request, context in
            let status = try status(try app(Query(request), context))
            let backlogs = try await asking { () async throws(StoreFailure) in
                try await gateway.backlogs(of: status.queues.map { status.key(of: $0) })
            }
            let isCountedByName = !services.metrics.registry.unnamedApps.contains(status.app)
            return status.json(backlogs, isCountedByName: isCountedByName, at: gateway.now)
                .response(status: .ok)
        }
    }

    private static let problems =
        [ProblemCode.unknownApp, .appNotAllowed, .ambiguousEnvironment] + ProblemCode.ofStore

    private var pause: Route {
        Route(
            .post, "/v1/apps/{topic}/pause", .scope(.admin),
            Operation(
                id: "pauseApp", summary: "Stop sending for an app",
                description: "Wakes are still taken, and wait. It stays so across restarts.",
                parameters: [
                    .topic, .environmentOfQuery,
                    Operation.Parameter(
                        name: "reason", place: .query,
                        schema: .string(
                            pattern: Self.reasonPattern, length: 1...Self.reasonLength),
                        description: "Why, for those who read it. Names no device token."),
                ],
                answers: [Operation.Answer(200, "It is paused.", .named(.app))],
                problems: Self.problems)
        ) { request, context in
            let query = Query(request)
            let app = try app(query, context)
            let reason = try reason(query)
            let isKnown = try await asking { () async throws(StoreFailure) in
                try await gateway.pause(app, reason: reason)
            }
            guard isKnown else {
                throw Problem.unknownApp(
                    app.bundleID.value, app.environment, field: "topic")
            }
            services.audit.note(
                "app paused", in: context, to: app.description, ["reason": reason])
            return try answer(app)
        }
    }

    /// The maximum length of a reason, in characters.
    private static let reasonLength = 200

    /// Text without control characters and without 64 consecutive hexadecimal digits. Without
    /// lookahead, which Go's regular expressions do not support.
    private static let reasonPattern =
        #"^([0-9A-Fa-f]{0,63}[^0-9A-Fa-f\x00-\x1f\x7f-\x9f])*[0-9A-Fa-f]{0,63}$"#

    /// The reason for a pause, which is shown in terminals and logs.
    private func reason(_ query: Query) throws(Problem) -> String? {
        guard let reason = query.string("reason") else { return nil }
        guard (1...Self.reasonLength).contains(reason.unicodeScalars.count) else {
            throw Problem(
                InvalidField(
                    field: "reason", problem: "has \(reason.unicodeScalars.count) characters",
                    remedy: "Write 1 to \(Self.reasonLength), or leave it out."))
        }
        guard !reason.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else {
            throw Problem(
                InvalidField(
                    field: "reason", problem: "holds a control character",
                    remedy: "Write it as one line of plain text."))
        }
        guard reason.wholeMatch(of: /(?s).*[0-9A-Fa-f]{64}.*/) == nil else {
            throw Problem(
                InvalidField(
                    field: "reason", problem: "holds what looks like a device token",
                    remedy: "Leave it out: the reason is in logs and on the dashboard."))
        }
        return reason
    }

    private var resume: Route {
        Route(
            .post, "/v1/apps/{topic}/resume", .scope(.admin),
            Operation(
                id: "resumeApp", summary: "Send for an app again",
                description: "Also tries a held queue at once, whose key or topic APNs refused.",
                parameters: [.topic, .environmentOfQuery],
                answers: [Operation.Answer(200, "It is sent for.", .named(.app))],
                problems: Self.problems)
        ) { request, context in
            let app = try app(Query(request), context)
            let isKnown = try await asking { () async throws(StoreFailure) in
                try await gateway.resume(app)
            }
            guard isKnown else {
                throw Problem.unknownApp(
                    app.bundleID.value, app.environment, field: "topic")
            }
            services.audit.note("app resumed", in: context, to: app.description)
            return try answer(app)
        }
    }

    private func app(
        _ query: Query, _ context: AdminRequestContext
    ) throws(Problem) -> AppIdentity {
        try services.app(
            named: context.parameters.get("topic") ?? "", try query.choice("environment"),
            for: context, field: "topic")
    }

    private func answer(_ app: AppIdentity) throws(Problem) -> Response {
        try status(app).json.response(status: .ok)
    }

    private func status(_ app: AppIdentity) throws(Problem) -> AppStatus {
        guard let status = gateway.apps.first(where: { $0.app == app }) else {
            throw Problem.unknownApp(
                app.bundleID.value, app.environment, field: "topic")
        }
        return status
    }

    private var stats: Route {
        Route(
            .get, "/v1/stats", .scope(.read),
            Operation(
                id: "getStats", summary: "The counts: how many wakes are where",
                answers: [Operation.Answer(200, "The present numbers.", .named(.stats))],
                problems: [.appNotAllowed] + ProblemCode.ofStore)
        ) { _, context in
            try context.checkAccessToAllApps()
            let stats = try await asking { () async throws(StoreFailure) in
                try await gateway.stats()
            }
            return stats.json(services).response(status: .ok)
        }
    }

    private var history: Route {
        Route(
            .get, "/v1/history", .scope(.read),
            Operation(
                id: "getHistory", summary: "The last hour of decisions, outcomes and latency",
                description: "A point every ten seconds, kept in the memory of the answering "
                    + "gateway since its start; a dashboard that is opened now begins with it. "
                    + "Prometheus and `/metrics` are for more. Of an app that is not counted by "
                    + "its name, as those beyond the first \(MetricsRegistry.appCount), a point "
                    + "has no decisions, outcomes and answers.",
                parameters: [.appOfQuery, .environmentOfQuery],
                answers: [Operation.Answer(200, "The points.", .named(.history))],
                problems: [.unknownApp, .appNotAllowed, .ambiguousEnvironment])
        ) { request, context in
            try context.checkAccessToAllApps()
            let filter = try services.filter(Query(request), for: context)
            return services.history.json(of: filter).response(status: .ok)
        }
    }

    private var webhooks: Route {
        Route(
            .get, "/v1/webhooks", .scope(.read),
            Operation(
                id: "listWebhooks", summary: "The webhook endpoints and the state of delivery",
                description: "What the answering gateway has seen since it started.",
                answers: [Operation.Answer(200, "The endpoints.", .named(.webhookList))],
                problems: [.appNotAllowed])
        ) { _, context in
            try context.checkAccessToAllApps()
            let now = gateway.now
            let endpoints = services.webhooks().map { $0.json(at: now) }
            return JSONValue.object([("endpoints", .array(endpoints))]).response(status: .ok)
        }
    }
}
