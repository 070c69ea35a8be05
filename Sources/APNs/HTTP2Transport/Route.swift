// SPDX-License-Identifier: Apache-2.0

internal import PushTransport

/// The route of a connection: directly, or through an HTTP proxy.
struct Route: Hashable {
    /// The server.
    let host: String
    let port: Int
    /// The proxy, if there is one.
    let proxy: ProxyAddress?

    /// A route, or the reason why there is none, without credentials.
    enum Choice: Hashable {
        case route(Route)
        case failure(String)
    }

    /// Chooses by the configuration; `environment` returns a variable's value.
    static func choose(
        _ configuration: TransportConfiguration, environment: (String) -> String?
    ) -> Choice {
        let (host, port) = (configuration.host, configuration.port)
        switch configuration.proxy {
        case .none: return .route(Route(host: host, port: port, proxy: nil))
        case .http(let url, let credentials):
            return through(url, credentials, host: host, port: port)
        case .environment:
            let settings = ProxyEnvironment(environment)
            guard let url = settings.proxy(for: host) else {
                return .route(Route(host: host, port: port, proxy: nil))
            }
            return through(url, nil, host: host, port: port)
        }
    }

    private static func through(
        _ url: String, _ credentials: TransportConfiguration.Credentials?, host: String, port: Int
    ) -> Choice {
        guard let proxy = ProxyAddress(url, credentials: credentials) else {
            return .failure(
                "the proxy's address is not of the form http://host:port, which is all that the "
                    + "native transport speaks; the curl transport speaks others")
        }
        return .route(Route(host: host, port: port, proxy: proxy))
    }

    /// What the TCP connection goes to.
    var firstHop: (host: String, port: Int) {
        if let proxy { (proxy.host, proxy.port) } else { (host, port) }
    }

    /// `host:port`, with brackets around an IPv6 address.
    var authority: String { Self.bracketed(host) + ":\(port)" }

    /// The value of `:authority`, which leaves out the port that https implies.
    var pseudoHeader: String { port == 443 ? Self.bracketed(host) : authority }

    private static func bracketed(_ host: String) -> String {
        host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
    }
}

/// An HTTP proxy's address, out of its URL.
struct ProxyAddress: Hashable {
    let host: String
    let port: Int
    /// `user:password`, if the proxy requires it. Secret.
    let credentials: String?

    /// The port of a URL without one, as libcurl has it.
    static let defaultPort = 1080

    /// Reads `http://[user[:password]@]host[:port][/]`; without a scheme, http is meant. `nil` for
    /// anything else. Explicit credentials take precedence over the URL's.
    init?(_ url: String, credentials: TransportConfiguration.Credentials?) {
        var rest = url[...]
        if let scheme = rest.firstRange(of: "://") {
            guard rest[..<scheme.lowerBound].lowercased() == "http" else { return nil }
            rest = rest[scheme.upperBound...]
        }
        rest = rest.prefix { $0 != "/" }
        var userInfo: String?
        if let at = rest.lastIndex(of: "@") {
            guard let decoded = Self.percentDecoded(rest[..<at]) else { return nil }
            userInfo = decoded
            rest = rest[rest.index(after: at)...]
        }
        guard let (host, port) = Self.hostAndPort(rest) else { return nil }
        self.host = host
        self.port = port
        self.credentials = credentials.map { $0.user + ":" + $0.password } ?? userInfo
    }

    private static func hostAndPort(_ text: Substring) -> (String, Int)? {
        var (host, port) = (text, Substring())
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            host = text[text.index(after: text.startIndex)..<end]
            port = text[text.index(after: end)...]
            guard port.isEmpty || port.first == ":" else { return nil }
            port = port.dropFirst()
        } else if let colon = text.lastIndex(of: ":") {
            host = text[..<colon]
            port = text[text.index(after: colon)...]
        }
        guard !host.isEmpty, host.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f }) else { return nil }
        if port.isEmpty { return (String(host), defaultPort) }
        guard let number = Int(port), (1...65535).contains(number) else { return nil }
        return (String(host), number)
    }

    private static func percentDecoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let value = UInt8(String(Substring(rest.prefix(2))), radix: 16),
                rest.count >= 2
            else { return nil }
            rest = rest.dropFirst(2)
            bytes.append(value)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

extension ProxyAddress: CustomStringConvertible, CustomReflectable {
    /// Host and port alone.
    var description: String { "\(host):\(port)" }
    /// No children, so that a dump does not show the credentials.
    var customMirror: Mirror { Mirror(self, children: [:]) }
}
