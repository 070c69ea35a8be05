// SPDX-License-Identifier: Apache-2.0

/// The address of the API's listener.
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

    /// The address that a person types into a browser for the dashboard; `nil` for a Unix domain
    /// socket, which browsers do not open.
    public func dashboardAddress(isEncrypted: Bool) -> String? {
        switch self {
        case .tcp: (isEncrypted ? "https" : "http") + "://\(self)/"
        case .unixSocket: nil
        }
    }
}
