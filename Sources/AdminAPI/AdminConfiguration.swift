// SPDX-License-Identifier: Apache-2.0

/// What the API asks of its callers, and every limit it sets them, with its unit.
public struct AdminConfiguration: Sendable {
    /// Who may call.
    public enum Authentication: Sendable {
        /// Who shows one of these keys as a bearer token. None may, when there is no key.
        case keys([APIKey])
        /// Everybody who reaches the listener.
        case disabled
    }

    /// Who may call what lies under `/v1`. Health and readiness are open.
    public var authentication: Authentication
    /// The largest body that is read.
    public var bodyByteCount = 65_536
    /// How long a body may take to arrive; the connection is closed after that.
    public var bodySeconds = 10
    /// How long a connection may be silent.
    public var idleSeconds = 60
    /// The largest single header field.
    public var headerFieldByteCount = 8_192
    /// The largest sum of all header fields of a request.
    public var headerListByteCount = 16_384
    /// The most header fields of a request.
    public var headerFieldCount = 100
    /// The most connections at a time; more wait to be accepted.
    public var connectionCount = 1_024
    /// How long an idempotency key is remembered.
    public var idempotencySeconds = 86_400

    /// The defaults, for these callers.
    public init(authentication: Authentication) { self.authentication = authentication }
}

/// Where the API listens.
public enum ListenAddress: Hashable, Sendable, CustomStringConvertible {
    /// A host name or address, and a port; 0 lets the system choose one.
    case tcp(host: String, port: Int)
    /// A Unix domain socket.
    case unixSocket(path: String)

    /// `host:port`, or the socket's path.
    public var description: String {
        switch self {
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unixSocket(let path): path
        }
    }
}
