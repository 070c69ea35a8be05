// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// How a transport reaches its server. Every default says why it is what it is.
public struct TransportConfiguration: Sendable {
    /// The server's name, which its certificate must carry, or an IP address.
    public var host: String
    /// The port: 443, or 2197 for a firewall that distinguishes APNs from other HTTPS (facts §1.1).
    public var port: Int = 443
    /// Which certificate authorities may vouch for the server. Peer and name are always verified.
    public var trust: Trust = .system
    /// A certificate that authenticates this client, instead of provider tokens.
    public var clientCertificate: ClientCertificate?
    /// The way out. The environment's proxy is what people expect of a command, and what most
    /// containers have set.
    public var proxy: Proxy = .environment
    /// The most connections that are open for new pushes. Four of 250 streams carried 27 000 pushes
    /// a second at 30 ms of round trip, one of 1000 streams 10 500 (measured with libcurl 7.88.1
    /// against nghttpd with a connection window of 64 KB). A further one is opened only when those
    /// there are full.
    public var maximumConnections: Int = 4
    /// The most streams in flight on one connection; a lower limit that the server sets is obeyed.
    /// `nil` for what suits the transport: 1000, which APNs announces (facts §1.3), and 250
    /// with libcurl, whose cost grows with the streams of one connection.
    public var maximumStreamsPerConnection: Int?
    /// The most submissions that wait for a stream: 100 000 are about 100 MB with their payloads.
    /// Beyond it, each new one fails as `queueFull`.
    public var maximumQueued: Int = 100_000
    /// The time for name lookup, TCP, proxy and TLS together. 10 s: three SYNs and a handshake
    /// over a bad line.
    public var connectTimeout: Duration = .seconds(10)
    /// Whether an urgent submission waits for a connection as long as its own time lasts, however
    /// many attempts fail meanwhile. Without it, each attempt that fails ends the submission that
    /// would have gone first, as `not-sent` with the reason, which suits a command that a person
    /// waits for. Submissions that are not urgent always get that reason.
    public var urgentWaitsForConnection = false
    /// A connection older than this takes nothing new, and closes once what it has is answered:
    /// 12 h. Apple asks for connections that live for hours to days, and for a fresh lookup before
    /// each. A native transport keeps it in use until a successor has brought a valid answer.
    public var maximumConnectionAge: Duration = .seconds(12 * 3600)
    /// A connection that carried nothing for this long is not used again: 1 h, after which Apple
    /// recommends a check before relying on it (facts §1.5).
    public var maximumIdleTime: Duration = .seconds(3600)
    /// How long a connection may be silent before the peer is probed, and the time between probes:
    /// 60 s and 15 s keep common NAT tables (2 to 5 min) alive. `nil` sends no probes.
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

    /// How the server is reached.
    public enum Proxy: Hashable, Sendable {
        /// By `https_proxy`, `all_proxy` and `no_proxy` of the environment.
        case environment
        /// Directly, whatever the environment says.
        case none
        /// By HTTP CONNECT through this proxy, for example `http://proxy.example:3128`, with basic
        /// authentication where credentials are given.
        case http(url: String, credentials: Credentials?)
    }

    /// A user and a password for a proxy.
    public struct Credentials: Hashable, Sendable {
        /// The user's name; must not hold a colon.
        public let user: String
        /// The password. Secret.
        public let password: String

        /// Pairs them.
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
        /// What decrypts the key or the archive. Secret.
        public let password: String?

        /// Names both.
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
