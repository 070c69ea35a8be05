// SPDX-License-Identifier: Apache-2.0

import Gateway

/// What the routes work with.
struct Services: Sendable {
    let gateway: Gateway
    let configuration: AdminConfiguration
    let metrics: AdminMetrics
    /// The last hour of what the dashboard draws.
    let history = MetricsHistory()
    let connections: ListenerConnections
    /// Event streams that are open.
    let streams: ConnectionCount
    /// The room for large bodies, of all connections together.
    let bodies: BodyBudget
    /// Where changes that a caller makes are written, a line each.
    let audit: AuditLog
    /// What else is read for the metrics.
    let readings: @Sendable () -> [MetricReading]
    /// What asks APNs about channels; `nil` where nothing does.
    let channels: @Sendable () -> (any ChannelService)?
    /// How the delivery to each webhook endpoint stands.
    let webhooks: @Sendable () -> [WebhookHealth]
    /// What else an operator should know, in sentences.
    let warnings: @Sendable () -> [String]

    init(
        gateway: Gateway, configuration: AdminConfiguration, metrics: AdminMetrics,
        connections: ListenerConnections, streams: ConnectionCount, audit: AuditLog,
        readings: @escaping @Sendable () -> [MetricReading],
        webhooks: @escaping @Sendable () -> [WebhookHealth] = { [] },
        channels: @escaping @Sendable () -> (any ChannelService)? = { nil },
        warnings: @escaping @Sendable () -> [String] = { [] }
    ) {
        self.gateway = gateway
        self.configuration = configuration
        self.metrics = metrics
        self.connections = connections
        self.streams = streams
        self.audit = audit
        self.readings = readings
        self.webhooks = webhooks
        self.channels = channels
        self.warnings = warnings
        bodies = BodyBudget(
            byteCount: configuration.bodyBudgetByteCount,
            freeByteCount: configuration.bodyByteCount)
    }
}

extension Services {
    /// What is in memory at a time for a wake of a request for many devices, in bytes: what the
    /// gateway is asked, what it answers and the text of that. Of such a request the body may be
    /// short.
    private static let wakeByteCount = 1_024

    /// Takes room for the wakes of a request for many devices, and counts them in the rate of its
    /// key; the request itself has been counted.
    func takeWakes(_ count: Int, _ context: AdminRequestContext) throws(Problem) {
        let bytes = count * Self.wakeByteCount - bodies.freeByteCount
        guard bytes <= 0 || context.takeBodyBytes(bytes, of: bodies) else {
            throw Problem.noRoomForBody
        }
        guard count > 1 else { return }
        try AccessControl(authentication: configuration.authentication)
            .debit(context.caller, for: count - 1)
    }
}
