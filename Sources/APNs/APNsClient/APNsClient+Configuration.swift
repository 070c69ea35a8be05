// SPDX-License-Identifier: Apache-2.0

public import PushTransport
public import WakeModel

extension APNsClient {
    /// Where a client pushes to, and as whom.
    public struct Configuration: Sendable {
        /// How the client authenticates to APNs.
        public var authentication: Authentication
        /// How the server is reached. Its host is the environment's unless changed.
        public var transport: TransportConfiguration
        /// What carries the pushes: the native transport, which is faster and reports more
        /// exactly what happened to a push. libcurl for proxies that only libcurl supports.
        public var transportKind = TransportKind.native
        /// How long one push may take, queueing and connecting included: 30 s, by when a waiting
        /// caller has given up on it anyway.
        public var pushTimeout: Duration = .seconds(30)
        /// The clocks. Replaced in tests only.
        public var clock: WakeClock = .system

        /// Pushes to Apple.
        public init(environment: APNsEnvironment, authentication: Authentication) {
            self.init(
                transport: TransportConfiguration(environment), authentication: authentication)
        }

        /// Pushes to any server, such as an APNs simulator.
        public init(transport: TransportConfiguration, authentication: Authentication) {
            self.transport = transport
            self.authentication = authentication
        }
    }

    /// How the client authenticates to APNs.
    public enum Authentication: Sendable {
        /// By a provider token in each request. Serves every push type.
        case providerToken(ProviderTokenSource)
        /// By a certificate on the connection. Serves a part of the push types only (rule H019).
        case certificate(PushCertificate)
    }
}
