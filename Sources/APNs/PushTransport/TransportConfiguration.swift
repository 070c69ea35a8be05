// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// The settings of a transport. Each has the reason for its default.
public struct TransportConfiguration: Sendable {
    /// The server's name, which its certificate must carry, or an IP address.
    public var host: String
    /// The port: 443, or 2197 for a firewall that distinguishes APNs from other HTTPS (facts §1.1).
    public var port: Int = 443
    /// The certificate authorities that are trusted. Peer and name are always verified.
    public var trust: Trust = .system
    /// A certificate that authenticates this client, instead of provider tokens.
    public var clientCertificate: ClientCertificate?
    /// The proxy. The default is the environment's, as commands use it and most containers set it.
    public var proxy: Proxy = .environment
    /// The most connections that are open for new pushes. Four of 250 streams carried 27 000 pushes
    /// a second at 30 ms of round trip, one of 1000 streams 10 500 (measured with libcurl 7.88.1
    /// against nghttpd with a connection window of 64 KB). A further one is opened only when those
    /// are full.
    public var maximumConnections: Int = 4
    /// The most streams in flight on one connection; a lower limit that the server sets is obeyed.
    /// `nil` for the transport's default: 1000, which APNs announces (facts §1.3), and 250 with
    /// libcurl, whose cost grows with the streams of one connection.
    public var maximumStreamsPerConnection: Int?
    /// The most submissions that wait for a stream: 100 000 are about 100 MB with their payloads.
    /// When they are reached, a new one fails as `queueFull`.
    public var maximumQueued: Int = 100_000
    /// The time for name lookup, TCP, proxy and TLS together. 10 s: three SYNs and a handshake over
    /// a slow network.
    public var connectTimeout: Duration = .seconds(10)
    /// Whether an urgent submission waits for a connection until its timeout, regardless of failed
    /// attempts. If false, each failed attempt ends the first submission of the queue as `not-sent`
    /// with the reason, for a command that a person waits for. Submissions that are not urgent
    /// always end so.
    public var urgentWaitsForConnection = false
    /// The age at which a connection gets no new requests, and closes once its requests are
    /// answered: 12 h. Apple recommends connections that are kept for hours to days, and a new name
    /// lookup before each. The native transport uses it until its successor has had a valid answer.
    public var maximumConnectionAge: Duration = .seconds(12 * 3600)
    /// The idle time after which a connection is not used again: 1 h, after which Apple recommends
    /// a check before relying on it (facts §1.5).
    public var maximumIdleTime: Duration = .seconds(3600)
    /// How long a connection may be silent before the peer is probed, and the time between probes:
    /// 60 s and 15 s are shorter than the timeouts of common NAT tables (2 to 5 min). `nil` sends
    /// no probes.
    public var keepAlive: KeepAlive? = KeepAlive()
    /// The value of `user-agent`.
    public var userAgent: String = "rouse"

    /// The defaults, for one host.
    public init(host: String) { self.host = host }

    /// The defaults, for APNs itself.
    public init(_ environment: APNsEnvironment) { self.init(host: environment.host) }

    /// Which certificate authorities are trusted.
    public enum Trust: Hashable, Sendable {
        /// The system's.
        case system
        /// Those of a PEM file, instead of the system's.
        case file(path: String)
        /// Those of this PEM text, instead of the system's.
        case pem(String)
    }

    /// The route to the server.
    public enum Proxy: Hashable, Sendable {
        /// By `https_proxy`, `all_proxy` and `no_proxy` of the environment.
        case environment
        /// No proxy, also if the environment has one.
        case none
        /// By HTTP CONNECT through this proxy, for example `http://proxy.example:3128`, with basic
        /// authentication where credentials are given.
        case http(url: String, credentials: Credentials?)
    }

    /// The user and the password for a proxy.
    public struct Credentials: Hashable, Sendable {
        /// The user's name, without a colon.
        public let user: String
        /// The password. Secret.
        public let password: String

        /// Creates credentials.
        public init(user: String, password: String) {
            self.user = user
            self.password = password
        }
    }

    /// Probes of a silent peer.
    public struct KeepAlive: Hashable, Sendable {
        /// Silence before the first probe.
        public var idle: Duration = .seconds(60)
        /// Time between probes; also how long a native transport waits for a PING's answer.
        public var interval: Duration = .seconds(15)

        /// 60 s and 15 s.
        public init() {}
    }

    /// A client certificate with its key.
    public struct ClientCertificate: Sendable {
        /// The bytes and their form.
        public enum Form: Sendable {
            /// A PEM chain and a PEM private key.
            case pem(certificate: [UInt8], key: [UInt8])
            /// A PKCS#12 archive that holds both.
            case pkcs12([UInt8])
        }

        /// The certificate and the key.
        public let form: Form
        /// The password of the key or the archive. Secret.
        public let password: String?

        /// Creates a certificate.
        public init(_ form: Form, password: String? = nil) {
            self.form = form
            self.password = password
        }
    }
}

extension TransportConfiguration.Credentials: CustomStringConvertible,
    CustomDebugStringConvertible, CustomReflectable
{
    /// The user alone.
    public var description: String { "\(user):(secret)" }
    /// The user alone.
    public var debugDescription: String { description }
    /// No children, so that a dump does not show the password.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension TransportConfiguration.ClientCertificate: CustomStringConvertible,
    CustomDebugStringConvertible, CustomReflectable
{
    /// The form alone.
    public var description: String {
        switch form {
        case .pem: "client certificate (PEM)"
        case .pkcs12: "client certificate (PKCS#12)"
        }
    }
    /// The form alone.
    public var debugDescription: String { description }
    /// No children: a dump shows the form alone.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
