// SPDX-License-Identifier: Apache-2.0

public import Gateway
import Hummingbird
import HummingbirdCore
public import Logging
import NIOCore
public import ServiceLifecycle

/// The HTTP API in front of a gateway.
///
/// What it serves is in `RouteTable`, and at `/openapi.json` for its callers. Every error is a
/// problem document (RFC 9457) with a stable `code`; see ``ProblemCode``.
public struct AdminAPI: Sendable {
    /// The server's name in answers.
    static let serverName = "rouse"
    /// How many connections may wait to be accepted.
    static let backlog = 1_024

    private let configuration: AdminConfiguration
    private let services: Services
    private let refusals: RefusalLog
    /// How many connections there is room for, besides the reserve.
    private let connectionCount: Int
    private let logger: Logger

    /// An API for this gateway, which counts its requests in `metrics`; `readings` is asked for
    /// more whenever somebody reads them, `webhooks` for how their delivery stands, and `channels`
    /// for what asks APNs about broadcast channels; `warnings` are sentences that `/readyz` has
    /// besides those about webhooks. What callers change is noted in `audit`;
    /// without one, in the log.
    public init(
        configuration: AdminConfiguration, gateway: Gateway,
        metrics: MetricsRegistry = MetricsRegistry(), logger: Logger, audit: AuditLog? = nil,
        readings: @escaping @Sendable () -> [MetricReading] = { [] },
        webhooks: @escaping @Sendable () -> [WebhookHealth] = { [] },
        channels: @escaping @Sendable () -> (any ChannelService)? = { nil },
        warnings: @escaping @Sendable () -> [String] = { [] }
    ) {
        self.configuration = configuration
        self.logger = logger
        let places = min(configuration.connectionCount, ListenerConnections.systemLimit)
        if places < configuration.connectionCount {
            logger.notice(
                "the limit of open files leaves room for fewer connections than are configured",
                metadata: [
                    "connections": "\(places)", "configured": "\(configuration.connectionCount)",
                ])
        }
        connectionCount = places
        services = Services(
            gateway: gateway, configuration: configuration, metrics: AdminMetrics(metrics),
            connections: ListenerConnections(
                places: places,
                placesOfPeer: configuration.connectionsPerPeerCount ?? places - places / 8),
            streams: ConnectionCount(), audit: audit ?? AuditLog(logger),
            readings: readings, webhooks: webhooks, channels: channels,
            warnings: warnings)
        refusals = RefusalLog(logger, intervalSeconds: configuration.refusalLogSeconds)
    }

    /// The server as a service: it listens until it is shut down gracefully, then answers the
    /// requests it has and returns. `onListening` receives the address that it listens on, with the
    /// port that the system chose. It throws a ``ListenerFailure`` when the system refuses the
    /// address.
    public func service(
        on address: ListenAddress,
        onListening: @escaping @Sendable (ListenAddress) async -> Void = { _ in }
    ) -> any Service {
        let bindAddress: BindAddress
        var socket: ListeningSocket?
        switch address {
        case .tcp(let host, let port): bindAddress = .hostname(host, port: port)
        case .unixSocket(let path):
            bindAddress = .unixDomainSocket(path: path)
            socket = ListeningSocket(path: path, access: configuration.socketAccess)
        }
        let table = RouteTable(services)
        let middleware = ProblemMiddleware(
            table: table, metrics: services.metrics,
            refusals: table.access.isOpen ? nil : refusals)
        let application = Application(
            router: table.makeRouter(services, middleware), server: server(table, middleware),
            configuration: ApplicationConfiguration(
                address: bindAddress, serverName: Self.serverName, backlog: Self.backlog,
                // Those that are about to be closed, because they found no place, count as well.
                availableConnectionsDelegate: MaximumAvailableConnections(
                    connectionCount + 2 * ListenerConnections.reserveCount, logger: logger)),
            onServerRunning: { [socket, connections = services.connections] channel in
                await KeepAlive.start(on: channel)
                await Self.pauseAtFailures(channel, connections, logger)
                if let socket, !socket.isThere() {
                    channel.close(promise: nil)
                    return
                }
                var bound = address
                if case .tcp(let host, _) = address, let port = channel.localAddress?.port {
                    bound = .tcp(host: host, port: port)
                }
                logger.info("the API listens", metadata: ["address": "\(bound)"])
                await onListening(bound)
            },
            logger: logger)
        return ListeningService(
            server: application, socket: socket,
            meanwhile: [
                { [refusals] in await refusals.run() },
                { [services] in
                    await services.history.run(services.gateway, services.metrics.registry)
                },
            ])
    }

    /// Frees descriptors, or lets the listener rest, when the system has none for another
    /// connection: it would ask again and again, as fast as it can.
    private static func pauseAtFailures(
        _ channel: any Channel, _ connections: ListenerConnections, _ logger: Logger
    ) async {
        let added = channel.eventLoop.submit {
            try channel.pipeline.syncOperations.addHandler(
                AcceptPause(connections, logger), position: .first)
        }
        // It fails for a listener that is closed already, and then nothing has to rest.
        try? await added.get()
    }

    private func server(
        _ table: RouteTable, _ middleware: ProblemMiddleware
    ) -> HTTPServerBuilder {
        let limits = configuration
        let connections = services.connections
        let refusals = refusals
        let configuration = HTTP1Channel.Configuration(
            additionalChannelHandlers: [ConnectionGuard(limits: limits, connections: connections)],
            idleTimeout: .seconds(Int64(limits.idleSeconds)),
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: limits.headerFieldByteCount,
                maxHeaderListSize: limits.headerListByteCount,
                maxHeaderFieldCount: limits.headerFieldCount))
        let direct = DirectRoute(table, middleware, logger)
        let bodies = services.bodies
        return HTTPServerBuilder { responder in
            ListenerChannel(
                base: HTTP1Channel(responder: responder, configuration: configuration),
                limits: limits, connections: connections, bodies: bodies, access: table.access,
                refusals: refusals, direct: direct)
        }
    }
}
