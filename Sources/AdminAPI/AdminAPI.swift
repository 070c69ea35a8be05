// SPDX-License-Identifier: Apache-2.0

public import Gateway
import Hummingbird
import HummingbirdCore
public import Logging
import NIOCore
public import ServiceLifecycle

/// The HTTP API in front of a gateway.
///
/// | Route | Answer |
/// |---|---|
/// | `POST /v1/wakes` | 202 once the wake is on disk |
/// | `GET /v1/wakes/{id}` | 200 with the wake and its history |
/// | `GET /healthz` | 200 while the process serves |
/// | `GET /readyz` | 200 when wakes can be taken and sent, else 503 with the reasons |
///
/// Every error is a problem document (RFC 9457) with a stable `code`; see ``ProblemCode``.
public struct AdminAPI: Sendable {
    /// The server's name in answers.
    static let serverName = "rouse"
    /// How many connections may wait to be accepted.
    static let backlog = 1_024

    private let configuration: AdminConfiguration
    private let gateway: Gateway
    private let logger: Logger

    /// An API for this gateway.
    public init(configuration: AdminConfiguration, gateway: Gateway, logger: Logger) {
        self.configuration = configuration
        self.gateway = gateway
        self.logger = logger
    }

    /// The server as a service: it listens until it is shut down gracefully, then answers the
    /// requests it has and returns. `onListening` is told where it listens, with the port that the
    /// system chose.
    public func service(
        on address: ListenAddress,
        onListening: @escaping @Sendable (ListenAddress) async -> Void = { _ in }
    ) -> any Service {
        let bindAddress: BindAddress =
            switch address {
            case .tcp(let host, let port): .hostname(host, port: port)
            case .unixSocket(let path): .unixDomainSocket(path: path)
            }
        return Application(
            router: makeRouter(),
            server: .http1(configuration: channelConfiguration),
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
    }

    private var channelConfiguration: HTTP1Channel.Configuration {
        HTTP1Channel.Configuration(
            idleTimeout: .seconds(Int64(configuration.idleSeconds)),
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: configuration.headerFieldByteCount,
                maxHeaderListSize: configuration.headerListByteCount,
                maxHeaderFieldCount: configuration.headerFieldCount))
    }

    /// All routes.
    func makeRouter() -> Router<AdminRequestContext> {
        let router = Router(context: AdminRequestContext.self)
        router.add(middleware: ProblemMiddleware())
        HealthRoutes(gateway: gateway).add(to: router)
        let version1 = router.group("v1")
            .add(middleware: KeyMiddleware(authentication: configuration.authentication))
        WakeRoutes(gateway: gateway, configuration: configuration).add(to: version1)
        return router
    }
}
