// SPDX-License-Identifier: Apache-2.0

import CurlTransport
import PushTransport
import WakeModel

/// How servers are reached.
struct ServerSettings: Hashable, Sendable {
    /// Another server than Apple's.
    var host: String?
    /// The port; `nil` for the usual one.
    var port: Int?
    /// A file of certificate authorities, instead of the system's.
    var certificateAuthorityPath: String?
    /// The way out.
    var proxy: TransportConfiguration.Proxy = .environment
    /// How long an answer may take, in seconds.
    var timeoutSeconds = 30
    /// What carries the requests of a command that sends few: see ``usualTransport(_:_:_:)``.
    let transportKind: TransportKind

    /// What was typed, over what an app's configuration says. `lookUp` reads the environment;
    /// `hasNewLibcurl` says whether the libcurl of this process reports every refused stream.
    init(
        _ options: ServerOptions?, configured: ServeConfiguration.App?,
        _ configuration: ServeConfiguration?,
        lookUp: (String) -> String? = { Variables.current[$0] },
        hasNewLibcurl: () -> Bool = {
            (try? CurlLibrary.loaded())?.reportsRefusedStreams == true
        }
    ) throws(CommandFailure) {
        host = options?.host ?? configured?.server?.host
        port = options?.port ?? (options?.host == nil ? configured?.server?.port : nil)
        certificateAuthorityPath = options?.ca ?? configured?.server?.certificateAuthorityPath
        timeoutSeconds = options?.timeout ?? timeoutSeconds
        if let text = options?.proxy {
            proxy = try failing(with: .usage) { () throws(InvalidField) in
                try Self.proxy(text, field: "--proxy")
            }
        } else if let configuration {
            proxy = configuration.transport.proxy
        }
        transportKind = options?.transport ?? Self.usualTransport(proxy, lookUp, hasNewLibcurl)
        if let path = certificateAuthorityPath {
            try InputFile.checkCertificates(path, "CA file")
        }
    }

    /// The default transport: libcurl behind a proxy, because it supports every kind, and where it
    /// is new enough to report every stream that was refused, because the distribution keeps it up
    /// to date; else the native one.
    private static func usualTransport(
        _ proxy: TransportConfiguration.Proxy, _ lookUp: (String) -> String?,
        _ hasNewLibcurl: () -> Bool
    ) -> TransportKind {
        let names = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
        let usesProxy =
            switch proxy {
            case .none: false
            case .http: true
            case .environment: names.contains { lookUp($0)?.isEmpty == false }
            }
        return usesProxy || hasNewLibcurl() ? .curl : .native
    }

    /// The transport for an environment; `nil` where only ``host`` says where to push.
    func transport(
        for environment: APNsEnvironment?
    ) throws(CommandFailure)
        -> TransportConfiguration
    {
        guard let host = host ?? environment?.host else {
            throw CommandFailure(
                .usage,
                "Say where to push: --production, --sandbox, or --host for a simulator. Builds "
                    + "from TestFlight and the App Store are production; 'rouse probe' finds out.")
        }
        return transport(host: host, port: port)
    }

    /// The transport for one server, with everything else as it is.
    func transport(host: String, port: Int?) -> TransportConfiguration {
        var transport = TransportConfiguration(host: host)
        if let port { transport.port = port }
        if let path = certificateAuthorityPath { transport.trust = .file(path: path) }
        transport.proxy = proxy
        // One push may wait for a connection as long as for its answer.
        transport.connectTimeout = .seconds(timeoutSeconds)
        transport.userAgent = "rouse/\(RouseVersion.current)"
        return transport
    }

    /// A proxy from text: `none`, or `http://[user:password@]host:port`. Throws ``InvalidField``,
    /// which repeats nothing of the text, because it may hold a password.
    static func proxy(
        _ text: String, field: String
    ) throws(InvalidField) -> TransportConfiguration.Proxy {
        guard text != "none" else { return .none }
        guard let scheme = text.firstRange(of: "://"), text[..<scheme.lowerBound] == "http",
            !text[scheme.upperBound...].isEmpty
        else {
            throw InvalidField(
                field: field, problem: "is not the URL of an HTTP proxy",
                remedy: "Write it as http://proxy.example:3128, or none.")
        }
        let rest = text[scheme.upperBound...]
        guard let at = rest.lastIndex(of: "@") else {
            return .http(url: text, credentials: nil)
        }
        let login = rest[..<at].split(
            separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard login.count == 2 else {
            throw InvalidField(
                field: field, problem: "has a user without a password",
                remedy: "Write it as http://user:password@proxy.example:3128.")
        }
        return .http(
            url: "http://" + rest[rest.index(after: at)...],
            credentials: .init(user: String(login[0]), password: String(login[1])))
    }
}
