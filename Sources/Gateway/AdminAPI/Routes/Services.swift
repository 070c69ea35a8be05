// SPDX-License-Identifier: Apache-2.0

import Gateway

/// The objects that the routes use.
struct Services: Sendable {
    let gateway: Gateway
    let configuration: AdminConfiguration
    let metrics: AdminMetrics
    /// The last hour of the dashboard's charts.
    let history = MetricsHistory()
    let connections: ListenerConnections
    /// The number of open event streams.
    let streams: ConnectionCount
    /// The memory budget for large bodies of all connections.
    let bodies: BodyBudget
    /// The audit log, for changes by callers.
    let audit: AuditLog
    /// The gauges that are read when metrics are requested.
    let readings: @Sendable () -> [MetricReading]
    /// The client for APNs' channel API; `nil` if there is none.
    let channels: @Sendable () -> (any ChannelService)?
    /// The delivery state of each webhook endpoint.
    let webhooks: @Sendable () -> [WebhookHealth]
    /// Further warnings for an operator, as sentences.
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
    /// The memory for one wake of a request for many devices, in bytes: the wake, its result, and
    /// its part of the answer. The body of such a request can be much smaller.
    private static let wakeByteCount = 1_024

    /// Counts the wakes of a request for many devices against the memory budget and the rate limit
    /// of the caller's key. The request itself was counted at the authentication. Throws
    /// ``Problem``.
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
