// SPDX-License-Identifier: Apache-2.0

import APNsWire
import AdminAPI
import FoundationEssentials
import Gateway
import PayloadLint
import PushTransport
import WakeBudget
import WakeModel

// The parts of a configuration file. The table of all keys is in `ServeConfiguration+YAML.swift`.

extension ServeConfiguration.Listen {
    /// The prefix of a socket's path.
    static let socketPrefix = "unix:"

    /// The same with a relative path begun in this folder.
    func inside(_ folder: URL) -> Self {
        guard case .unixSocket(let path) = self else { return self }
        return .unixSocket(path: ServeConfiguration.path(path, in: folder))
    }

    /// Reads `host:port`, `[address]:port` or `unix:path`. Throws ``WakeModel/InvalidField``.
    init(_ text: String) throws(InvalidField) {
        if text.hasPrefix(Self.socketPrefix), text != Self.socketPrefix {
            self = .unixSocket(path: String(text.dropFirst(Self.socketPrefix.count)))
            return
        }
        guard let colon = text.lastIndex(of: ":"),
            let port = Int(text[text.index(after: colon)...]), (0...65_535).contains(port)
        else {
            throw InvalidField(
                field: "listen", problem: "is not host:port",
                remedy: "Write it as 127.0.0.1:8080, or unix:/run/rouse.sock.")
        }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard !host.isEmpty else {
            throw InvalidField(
                field: "listen", problem: "has no host",
                remedy: "Write 127.0.0.1 before the port.")
        }
        self = .tcp(host: String(host), port: port)
    }
}

extension ServeConfiguration.ListenerSettings {
    static let keys = ["connections", "connections-per-peer", "socket-mode", "socket-group"]

    init(_ mapping: ConfigurationMapping) throws(CommandFailure) {
        self.init()
        connections = try mapping.integer("connections", in: 16...100_000) ?? connections
        connectionsPerPeer = try mapping.integer("connections-per-peer", in: 1...100_000)
        if let text = try mapping.string("socket-mode") {
            guard let mode = UInt32(text, radix: 8), mode <= 0o777, mode & 0o600 == 0o600 else {
                throw mapping.failure(
                    "socket-mode", "is not three octal digits that let the owner read and write",
                    "Write it as 0660, with socket-group, or leave it out for the owner alone.")
            }
            socketMode = mode
        }
        socketGroup = try mapping.string("socket-group")
    }
}

extension ServeConfiguration.TLSFiles {
    static let keys = ["certificate-file", "key-file"]
}

extension ServeConfiguration.Server {
    static let keys = ["host", "port", "ca-file"]
}

extension ServeConfiguration.NamedKey {
    static let keys = [
        "name", "sha256", "previous-sha256", "previous-expires", "scopes", "apps", "expires",
        "requests-per-second",
    ]

    /// What helps where a digest is none.
    private static let digestRemedy = "Give the output of: printf %s \"$KEY\" | sha256sum"

    /// Reads the keys of the list, once the apps are known.
    static func all(
        _ root: ConfigurationMapping, apps: [ServeConfiguration.App]
    ) throws(CommandFailure) -> [ServeConfiguration.NamedKey] {
        var named: [ServeConfiguration.NamedKey] = []
        for mapping in try root.list("api-keys", known: Self.keys) {
            let key = try ServeConfiguration.NamedKey(mapping, apps: apps)
            guard !named.contains(where: { $0.name == key.name }) else {
                throw mapping.failure(
                    "name", "is that of another key", "Give each key a name of its own.")
            }
            named.append(key)
        }
        return named
    }

    private init(
        _ mapping: ConfigurationMapping, apps known: [ServeConfiguration.App]
    ) throws(CommandFailure) {
        name = try mapping.requiredString("name", "Name the program that uses the key.")
        sha256 = try Self.digest(
            try mapping.requiredString("sha256", Self.digestRemedy), "sha256", mapping)
        if let text = try mapping.string("previous-sha256") {
            previous = APIKey.PreviousSecret(
                sha256: try Self.digest(text, "previous-sha256", mapping),
                expiresAt: try mapping.instant("previous-expires"))
            guard text.lowercased() != sha256.lowercased() else {
                throw mapping.failure(
                    "previous-sha256", "is the same as sha256", "Leave it out.")
            }
        } else if mapping.has("previous-expires") {
            throw mapping.failure(
                "previous-expires", "is given without previous-sha256",
                "Write expires for the end of the key.")
        }
        apps = try mapping.apps(
            among: Set(known.map(\.bundleID)), "Leave it out for a key for all apps.")
        expiresAt = try mapping.instant("expires")
        requestsPerSecond = try mapping.integer(
            "requests-per-second", in: RequestRate.perSecondRange)
        scopes = try mapping.words("scopes") ?? scopes
        // What is left to check is about the name.
        _ = try mapping.checking("name") { () throws(InvalidField) in try apiKey() }
    }

    private static func digest(
        _ text: String, _ key: String, _ mapping: ConfigurationMapping
    ) throws(CommandFailure) -> String {
        guard text.utf8.count == 64, text.allSatisfy(\.isHexDigit) else {
            throw mapping.failure(key, "is not 64 hexadecimal digits", digestRemedy)
        }
        return text
    }
}

extension ServeConfiguration.Webhook {
    static let keys = ["url", "secret-file", "events", "apps", "ca-file"]

    /// Reads `webhook` or `webhooks`, after the apps.
    static func all(
        _ root: ConfigurationMapping, folder: URL, apps: [ServeConfiguration.App]
    ) throws(CommandFailure) -> [ServeConfiguration.Webhook] {
        guard root.has("webhooks") else {
            return try root.mapping("webhook", known: keys).map {
                (mapping) throws(CommandFailure) in
                [try ServeConfiguration.Webhook(mapping, folder: folder, apps: apps)]
            } ?? []
        }
        guard !root.has("webhook") else {
            throw root.failure(
                "webhook", "is set together with webhooks",
                "Move it into the list: what is under it, with a hyphen before url.")
        }
        let mappings = try root.list("webhooks", known: keys)
        guard mappings.count <= WebhookSubscription.maximumEndpointCount else {
            throw root.failure(
                "webhooks",
                "has more than \(WebhookSubscription.maximumEndpointCount) endpoints",
                "Let one of them pass events on.")
        }
        var webhooks: [ServeConfiguration.Webhook] = []
        for mapping in mappings {
            let webhook = try ServeConfiguration.Webhook(mapping, folder: folder, apps: apps)
            guard !webhooks.contains(where: { $0.url == webhook.url }) else {
                throw mapping.failure("url", "is there twice", "Remove one, or change its path.")
            }
            webhooks.append(webhook)
        }
        return webhooks
    }

    private init(
        _ mapping: ConfigurationMapping, folder: URL, apps known: [ServeConfiguration.App]
    ) throws(CommandFailure) {
        place = mapping.path
        url = try mapping.requiredString("url", "Write it as https://host/path.")
        try mapping.checking("url") { [url] () throws(InvalidField) in
            try WebhookEndpoint.check(url: url)
        }
        secretPath = try mapping.string("secret-file").map {
            ServeConfiguration.path($0, in: folder)
        }
        events = try mapping.words("events") ?? Set(WebhookKind.allCases)
        apps = try mapping.apps(
            among: Set(known.map(\.bundleID)), "Leave it out to receive events of all apps.")
        certificateAuthorityPath = try mapping.string("ca-file").map {
            ServeConfiguration.path($0, in: folder)
        }
    }

}

extension ConfigurationMapping {
    /// The bundle ids under `apps`, each that of a configured app; `nil` when the key is absent.
    /// `remedy` is what helps where the list is empty.
    fileprivate func apps(
        among known: Set<BundleID>, _ remedy: String
    ) throws(CommandFailure) -> Set<BundleID>? {
        guard let texts = try strings("apps") else { return nil }
        var apps: Set<BundleID> = []
        for text in texts {
            guard let app = known.first(where: { $0.value == text }) else {
                let names = known.map(\.value).sorted()
                let meant = Nearest.name(to: text, among: names)
                throw failure(
                    "apps", "names \(text), which is not among the apps",
                    meant.map { "Did you mean \($0)?" }
                        ?? "Use bundle ids of apps: \(names.joined(separator: ", ")).")
            }
            apps.insert(app)
        }
        guard !apps.isEmpty else {
            throw failure("apps", "is empty", remedy)
        }
        return apps
    }
}

extension ServeConfiguration.App {
    static let keys = [
        "bundle-id", "environment", "key-file", "key-id", "team-id", "certificate-file",
        "certificate-key-file", "pkcs12-file", "server", "budget",
    ]

    /// Reads an app, whose budget is that of all apps but for what it says itself.
    init(
        _ mapping: ConfigurationMapping, folder: URL, budget: BudgetSettings
    ) throws(CommandFailure) {
        let text = try mapping.requiredString(
            "bundle-id", "Give the app's bundle id, such as com.example.app.")
        bundleID = try mapping.checking("bundle-id") { () throws(InvalidField) in
            try BundleID(text)
        }
        guard let environment: APNsEnvironment = try mapping.choice("environment") else {
            throw mapping.failure("environment", "is missing", "Write production or sandbox.")
        }
        self.environment = environment
        credential = try CredentialSource(mapping, folder: folder)
        self.budget = try BudgetMapping.policy(in: mapping, over: budget)
        if let mapping = try mapping.mapping("server", known: ServeConfiguration.Server.keys) {
            server = ServeConfiguration.Server(
                host: try mapping.requiredString("host", "Name the simulator's host."),
                port: try mapping.integer("port", in: 1...65_535) ?? 443,
                certificateAuthorityPath: try mapping.string("ca-file").map {
                    ServeConfiguration.path($0, in: folder)
                })
        }
    }
}

extension CredentialSource {
    init(_ mapping: ConfigurationMapping, folder: URL) throws(CommandFailure) {
        let forms = ["key-file", "certificate-file", "pkcs12-file"].filter(mapping.has)
        guard forms.count == 1 else {
            throw mapping.failure(
                forms.last ?? "key-file",
                forms.isEmpty ? "is missing" : "is set together with \(forms[0])",
                "Give one of key-file, certificate-file and pkcs12-file.")
        }
        func path(_ key: String) throws(CommandFailure) -> String {
            ServeConfiguration.path(
                try mapping.requiredString(key, "Give the path of the file."), in: folder)
        }
        switch forms[0] {
        case "key-file":
            let place = KeyPlace.file(path: try path("key-file"))
            self = .key(
                place,
                keyID: try Self.identifier("key-id", mapping, default: place.guessedKeyID),
                teamID: try Self.identifier("team-id", mapping, default: nil))
        case "certificate-file":
            self = .certificate(
                path: try path("certificate-file"), keyPath: try path("certificate-key-file"))
        default:
            self = .pkcs12(path: try path("pkcs12-file"))
        }
    }

    private static func identifier(
        _ key: String, _ mapping: ConfigurationMapping, default guess: String?
    ) throws(CommandFailure) -> DeveloperID {
        guard let text = try mapping.string(key) ?? guess else {
            throw mapping.failure(key, "is missing", "Copy it from Apple's developer account.")
        }
        return try mapping.checking(key) { () throws(InvalidField) in
            try DeveloperID(text, field: key)
        }
    }
}

extension ServeConfiguration.TransportSettings {
    static let keys = [
        "kind", "connections", "streams-per-connection", "queue", "connect-timeout-seconds",
        "proxy", "port", "connection-age-seconds", "connection-idle-seconds",
        "keep-alive-seconds", "push-timeout-seconds",
    ]

    init(_ mapping: ConfigurationMapping) throws(CommandFailure) {
        self.init()
        kind = try mapping.choice("kind") ?? kind
        maximumConnections =
            try mapping.integer("connections", in: 1...64) ?? maximumConnections
        maximumStreamsPerConnection =
            try mapping.integer("streams-per-connection", in: 1...1000)
        maximumQueued = try mapping.integer("queue", in: 1...10_000_000) ?? maximumQueued
        connectTimeoutSeconds =
            try mapping.integer("connect-timeout-seconds", in: 1...300) ?? connectTimeoutSeconds
        port = try mapping.integer("port", in: 443...2197) ?? port
        guard port == 443 || port == 2197 else {
            throw mapping.failure("port", "is none of Apple's", "Write 443 or 2197.")
        }
        connectionAgeSeconds =
            try mapping.integer("connection-age-seconds", in: 60...604_800) ?? connectionAgeSeconds
        connectionIdleSeconds =
            try mapping.integer("connection-idle-seconds", in: 10...604_800)
            ?? connectionIdleSeconds
        keepAliveSeconds =
            try mapping.integer("keep-alive-seconds", in: 0...86_400) ?? keepAliveSeconds
        pushTimeoutSeconds =
            try mapping.integer("push-timeout-seconds", in: 1...3600) ?? pushTimeoutSeconds
        if let text = try mapping.string("proxy") {
            proxy = try mapping.checking("proxy") { () throws(InvalidField) in
                try ServerSettings.proxy(text, field: "proxy")
            }
        }
    }
}
