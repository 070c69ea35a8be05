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
    private let logger: Logger

    /// An API for this gateway, which counts its requests in `metrics`; `readings` is asked for
    /// more whenever somebody reads them.
    public init(
        configuration: AdminConfiguration, gateway: Gateway,
        metrics: MetricsRegistry = MetricsRegistry(), logger: Logger,
        readings: @escaping @Sendable () -> [MetricReading] = { [] }
    ) {
        self.configuration = configuration
        self.logger = logger
        services = Services(
            gateway: gateway, configuration: configuration, metrics: AdminMetrics(metrics),
            connections: ConnectionCount(), streams: ConnectionCount(), audit: AuditLog(logger),
            readings: readings)
    }

    /// The server as a service: it listens until it is shut down gracefully, then answers the
    /// requests it has and returns. `onListening` is told where it listens, with the port that the
    /// system chose. It throws a ``ListenerFailure`` when the system refuses the address.
    public func service(
        on address: ListenAddress,
        onListening: @escaping @Sendable (ListenAddress) async -> Void = { _ in }
    ) -> any Service {
        let bindAddress: BindAddress =
            switch address {
            case .tcp(let host, let port): .hostname(host, port: port)
            case .unixSocket(let path): .unixDomainSocket(path: path)
            }
        let application = Application(
            router: RouteTable(services).makeRouter(services), server: server,
            configuration: ApplicationConfiguration(
                address: bindAddress, serverName: Self.serverName, backlog: Self.backlog,
                availableConnectionsDelegate: MaximumAvailableConnections(
                    configuration.connectionCount, logger: logger)),
            onServerRunning: { channel in
                var bound = address
                if case .tcp(let host, _) = address, let port = channel.localAddress?.port {
                    bound = .tcp(host: host, port: port)
                }
                logger.info("the API listens", metadata: ["address": "\(bound)"])
                await onListening(bound)
            },
            logger: logger)
        return ListeningService(server: application)
    }

    private var server: HTTPServerBuilder {
        let limits = configuration
        let connections = services.connections
        let configuration = HTTP1Channel.Configuration(
            additionalChannelHandlers: [ConnectionGuard(limits: limits, connections: connections)],
            idleTimeout: .seconds(Int64(limits.idleSeconds)),
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: limits.headerFieldByteCount,
                maxHeaderListSize: limits.headerListByteCount,
                maxHeaderFieldCount: limits.headerFieldCount))
        return HTTPServerBuilder { responder in
            ListenerChannel(
                base: HTTP1Channel(responder: responder, configuration: configuration),
                tls: limits.tls)
        }
    }
}
