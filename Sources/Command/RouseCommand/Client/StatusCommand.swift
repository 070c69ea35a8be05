// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `rouse status`: how a running gateway is.
struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show how a running gateway is; live on a terminal.",
        discussion: """
            Shows whether the gateway is ready and why not, its counts, queue and apps. On \
            a terminal it shows them until Ctrl-C, otherwise once. Ends with 0 when the gateway is \
            ready, 1 when it is not, 69 when it cannot be reached. The API key needs the scope read.

            Example:

              ROUSE_API_KEY_FILE=backend.key rouse status --gateway https://push.example.com
            """)

    @OptionGroup(title: "Gateway")
    var gateway: GatewayOptions

    @Flag(help: "Show it once, on a terminal too.")
    var once = false

    @Flag(help: "Write it once, as JSON.")
    var json = false

    func run() async throws {
        let variables = Variables.current
        let console = Console(variables)
        let client = try GatewayClient(gateway, variables)
        guard console.isLive, !once, !json else {
            let status = try GatewayStatus(client)
            if json { try console.write(status.document) } else { status.tell(console) }
            if !status.isReady { throw ExitCode(ExitStatus.no.rawValue) }
            return
        }
        try await LiveScreen(console).run { () throws(CommandFailure) in
            try GatewayStatus(client).lines(console)
        }
    }
}

/// What `rouse status` has asked.
struct GatewayStatus {
    let readiness: ReadinessDocument
    let stats: StatsDocument?
    let apps: [AppListDocument.App]
    let webhooks: [WebhookListDocument.Endpoint]

    /// Queries a gateway. One whose store fails still returns its readiness.
    init(_ client: borrowing GatewayClient) throws(CommandFailure) {
        readiness = try client.ask("GET", "/readyz", accepting: [503])
            .decoded(ReadinessDocument.self)
        let answer = try client.ask("GET", "/v1/stats", accepting: [503])
        stats = answer.status == 200 ? try answer.decoded(StatsDocument.self) : nil
        apps = try client.ask("GET", "/v1/apps").decoded(AppListDocument.self).apps
        webhooks = try client.ask("GET", "/v1/webhooks").decoded(WebhookListDocument.self).endpoints
    }

    var isReady: Bool { readiness.status == "ready" }

    /// Writes it.
    func tell(_ console: Console) {
        for line in lines(console) { console.say(line) }
    }

    /// The status in lines, for a terminal. The most important ones come first, for a small one.
    func lines(_ console: Console) -> [String] {
        var lines = [
            row("Gateway", console.coloured(readiness.status, isReady ? .good : .bad))
        ]
        if let stats { lines += Self.waiting(stats) }
        lines += readiness.reasons.enumerated().map { row($0 == 0 ? "Reasons" : "", $1) }
        lines += (readiness.warnings ?? []).enumerated().map { row($0 == 0 ? "Warnings" : "", $1) }
        if let stats { lines += Self.ends(stats) }
        lines += webhooks.enumerated().map { index, endpoint in
            let words = console.coloured(
                endpoint.words, endpoint.failingSince == nil ? .good : .bad)
            return row(index == 0 ? "Webhooks" : "", "\(endpoint.endpoint): \(words)")
        }
        if let store = stats?.store { lines += Self.standing(of: store, console) }
        for app in apps {
            lines.append("")
            lines.append(row("App", "\(app.app) (\(app.environment))"))
            for queue in app.queues {
                let state = console.coloured(queue.state, queue.colour)
                lines.append(row("", "\(queue.kind): \(state)"))
                if queue.state != "sending" { lines.append(row("", "  \(queue.message)")) }
            }
        }
        return lines
    }

    private static func waiting(_ stats: StatsDocument) -> [String] {
        let oldest = stats.oldestDueMilliseconds.filter { $0.value > 0 }.sorted { $0.key < $1.key }
            .map { "\($0.key) \(Double($0.value) / 1000) s" }
        return [
            row("Waiting", "\(stats.unended), of which \(stats.inFlight) are on their way"),
            row("Overdue", oldest.isEmpty ? "nothing" : oldest.joined(separator: ", ")),
        ]
    }

    private static func ends(_ stats: StatsDocument) -> [String] {
        let ends = stats.byState.filter { $0.key != "pending" && $0.key != "claimed" }
            .filter { $0.value > 0 }.sorted { $0.key < $1.key }
            .map { "\($0.value) \($0.key)" }
        return [
            row("Accepted", "\(stats.accepted)"),
            row("Ended", ends.isEmpty ? "none" : ends.joined(separator: ", ")),
        ]
    }

    /// The shared store: who works on it, and what is in its way.
    private static func standing(
        of store: StatsDocument.Store, _ console: Console
    ) -> [String] {
        let server = "PostgreSQL \(store.serverVersion)"
        let alive = store.gateways.count(where: \.alive)
        var lines = [
            "", row("Store", "\(server), shared by \(alive) gateway\(alive == 1 ? "" : "s")"),
        ]
        for gateway in store.gateways {
            let state =
                gateway.alive
                ? "\(gateway.leases) leases, since \(gateway.since)"
                : console.coloured(
                    "no sign of life for \(gateway.silentMilliseconds / 1000) s", .bad)
            lines.append(
                row("", "\(gateway.name)\(gateway.this ? " (this one)" : ""): \(state)"))
        }
        let conflicts = (store.conflictsPerSecond * 10).rounded() / 10
        lines.append(
            row(
                "",
                "\(conflicts) conflicts a second here, clock "
                    + "\(store.clockOffsetMilliseconds) ms behind the database's"))
        if let lag = store.standbyLagBytes {
            lines.append(row("", "standby \(lag) bytes of log behind"))
        }
        for transaction in store.openTransactions {
            lines.append(row("", console.coloured(transaction.message, .bad)))
        }
        return lines
    }

    /// `rouse status --json`.
    var document: StatusDocument { StatusDocument(self) }
}

private func row(_ label: String, _ text: String) -> String {
    label.padding(toWidth: Console.fieldIndent) + text
}

/// `rouse status --json`.
struct StatusDocument: Encodable {
    let ready: Bool
    let reasons: [String]
    let warnings: [String]
    let accepted: Int?
    let unended: Int?
    let inFlight: Int?
    let byState: [String: Int]?
    let apps: [App]
    let webhooks: [WebhookListDocument.Endpoint]
    let store: StatsDocument.Store?

    struct App: Encodable {
        let app: String
        let environment: String
        let paused: Bool
        let states: [String: String]
        let held: [String: String]
        let unanswered: [String: String]
        let unresponsive: [String: String]
    }

    init(_ status: GatewayStatus) {
        ready = status.isReady
        reasons = status.readiness.reasons
        warnings = status.readiness.warnings ?? []
        webhooks = status.webhooks
        accepted = status.stats?.accepted
        unended = status.stats?.unended
        inFlight = status.stats?.inFlight
        byState = status.stats?.byState
        store = status.stats?.store
        apps = status.apps.map { app in
            let held = app.queues.filter { $0.reason != nil }
            let states = app.queues.map { ($0.kind, $0.state) }
            let unanswered = app.queues.filter { $0.unansweredSince != nil }
            let unresponsive = app.queues.compactMap { queue in
                queue.unresponsive.map { (queue.kind, $0.explanation) }
            }
            return App(
                app: app.app, environment: app.environment, paused: app.paused != nil,
                states: Dictionary(states) { first, _ in first },
                held: Dictionary(held.map { ($0.kind, $0.reason ?? "") }) { first, _ in first },
                unanswered: Dictionary(unanswered.map { ($0.kind, $0.failure ?? "") }) {
                    first, _ in first
                },
                unresponsive: Dictionary(unresponsive) { first, _ in first })
        }
    }
}

extension WebhookListDocument.Endpoint {
    /// The delivery state, in a line.
    fileprivate var words: String {
        var parts = [
            backlog.map { $0 == 0 ? "nothing waits" : "\($0) wait" } ?? "not looked at yet"
        ]
        if let oldestAt { parts.append("the oldest since \(oldestAt)") }
        if dropped > 0 { parts.append("\(dropped) were dropped") }
        if let failingSince { parts.append("has taken nothing since \(failingSince)") }
        if let lastFailure, let lastFailureAt {
            parts.append("last failure at \(lastFailureAt): \(lastFailure)")
        }
        return parts.joined(separator: ", ")
    }
}

extension AppListDocument.WakeQueueKey {
    fileprivate var colour: Console.Colour {
        switch state {
        case "sending": .good
        case "paused": .doubtful
        default: .bad
        }
    }
}
