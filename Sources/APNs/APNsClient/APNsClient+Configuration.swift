// SPDX-License-Identifier: Apache-2.0

public import PushTransport
public import WakeModel

extension APNsClient {
    /// The server and the credential of a client.
    public struct Configuration: Sendable {
        /// How the client authenticates to APNs.
        public var authentication: Authentication
        /// How the server is reached. Its host is the environment's unless changed.
        public var transport: TransportConfiguration
        /// The transport. The default, the native one, is faster and reports more exactly what
        /// happened to a push; libcurl supports more kinds of proxy.
        public var transportKind = TransportKind.native
        /// The timeout of one push, queueing and connecting included: 30 s, a usual timeout of
        /// callers.
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
