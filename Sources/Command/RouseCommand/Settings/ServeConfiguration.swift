// SPDX-License-Identifier: Apache-2.0

import AdminAPI
import Gateway
import Logging
import PushTransport
import StoreSQLite
import WakeBudget
import WakeModel

/// Everything that a gateway is configured with. Reading it from a file is in
/// `ServeConfiguration+YAML.swift`, which documents each key.
struct ServeConfiguration: Hashable, Sendable {
    /// Where the HTTP API listens.
    var listen = Listen.tcp(host: "127.0.0.1", port: 8080)
    /// Whether it may listen on other addresses than loopback without TLS.
    var allowsInsecureListen = false
    /// What the listener allows.
    var listener = ListenerSettings()
    /// The SQLite file, where there is no ``storeURL``.
    var storePath = "rouse.sqlite"
    /// The URI of the shared store's database; `nil` for a store in a file.
    var storeURL: String?
    /// The file of the database's password; `nil` where libpq finds it by itself.
    var storePasswordPath: String?
    /// Whether a database may be used that may lose what it has acknowledged.
    var storeAcceptsLoss = false
    /// What an answer waits for, where the store is a file.
    var storeDurability = SQLiteWakeStore.Durability.disk
    /// The certificate and key of the listener; `nil` to speak plain HTTP.
    var tls: TLSFiles?
    /// Who may call the API, besides those of the keys' file.
    var apiKeys: [NamedKey] = []
    /// The file that `rouse keys` keeps; `nil` for `keys.json` beside the store, or beside
    /// the configuration where the store is a database.
    var keysPath: String?
    /// The file of the audit log; `nil` for the log.
    var auditPath: String?
    /// How long ended wakes are kept, in days.
    var retentionDays = 7
    /// How long an idempotency key is remembered, in hours; no longer than ended wakes are kept.
    var idempotencyHours = 24
    /// Where events are posted to.
    var webhooks: [Webhook] = []
    /// The apps that are served.
    var apps: [App] = []
    /// Which log lines are written.
    var logLevel = Logger.Level.info
    /// How the log is written.
    var logFormat = LogFormat.text
    /// How APNs is reached.
    var transport = TransportSettings()

    /// Where the keys' file is.
    var effectiveKeysPath: String {
        keysPath ?? KeysFile.defaultPath(storePath: storePath)
    }

    /// Where to listen.
    enum Listen: Hashable, Sendable {
        /// A host and a port; 0 lets the system choose one.
        case tcp(host: String, port: Int)
        /// A Unix domain socket.
        case unixSocket(path: String)

        /// Whether only this machine can reach it.
        var isLocal: Bool {
            switch self {
            case .tcp(let host, _): ["127.0.0.1", "::1", "localhost"].contains(host)
            case .unixSocket: true
            }
        }
    }

    /// How many may connect, and who to a Unix domain socket.
    struct ListenerSettings: Hashable, Sendable {
        /// The most connections at a time.
        var connections = 1_024
        /// The most of one address; `nil` for seven eighths of all.
        var connectionsPerPeer: Int?
        /// The permissions of a Unix domain socket.
        var socketMode: UInt32 = 0o600
        /// The name or number of its group; `nil` for that of the process.
        var socketGroup: String?
    }

    /// The PEM files of the listener's certificate, its issuers behind it, and of its key.
    struct TLSFiles: Hashable, Sendable {
        var certificatePath: String
        var keyPath: String
    }

    /// A key of the API, by its digest.
    struct NamedKey: Hashable, Sendable {
        /// The name of the program that uses it.
        var name: String
        /// The SHA-256 of the key, in hexadecimal.
        var sha256: String
        /// The secret before it, while it is still taken.
        var previous: APIKey.PreviousSecret?
        /// What it may do.
        var scopes = Scope.usual
        /// The apps that it is for; `nil` for all.
        var apps: Set<BundleID>?
        /// How many requests a second it may make; `nil` for the usual rate.
        var requestsPerSecond: Int?
        /// From when on it is refused; `nil` for never.
        var expiresAt: WallInstant?

        /// The key as the API takes it.
        func apiKey() throws(InvalidField) -> APIKey {
            let rate = try requestsPerSecond.map { (number) throws(InvalidField) in
                try RequestRate(perSecond: number)
            }
            return try APIKey(
                name: name, sha256: sha256, scopes: scopes, apps: apps, rate: rate,
                expiresAt: expiresAt, previous: previous)
        }
    }

    /// Where events are posted to.
    struct Webhook: Hashable, Sendable {
        /// Its place in the file: `webhook`, or `webhooks[0]` and so on.
        var place: String
        /// The receiver.
        var url: String
        /// The file with the secret that signs; `nil` when it is in `ROUSE_WEBHOOK_SECRET`.
        var secretPath: String?
        /// Which events.
        var events: Set<WebhookKind>
        /// Which apps they are about; `nil` for all.
        var apps: Set<BundleID>?
        /// A file of certificate authorities, instead of the system's.
        var certificateAuthorityPath: String?
    }

    /// One app in one environment.
    struct App: Hashable, Sendable {
        /// The app.
        var bundleID: BundleID
        /// The environment of its device tokens.
        var environment: APNsEnvironment
        /// Its key or certificate.
        var credential: CredentialSource
        /// Another server than Apple's.
        var server: Server?
        /// Its wake budget.
        var budget = BudgetPolicy.standard
    }

    /// A server in place of Apple's.
    struct Server: Hashable, Sendable {
        /// Its name or address.
        var host: String
        /// Its port.
        var port: Int
        /// A file of certificate authorities, instead of the system's.
        var certificateAuthorityPath: String?
    }

    /// Limits of the transport to APNs, for each app.
    struct TransportSettings: Hashable, Sendable {
        /// What carries the pushes.
        var kind = TransportKind.native
        /// The most connections.
        var maximumConnections = 4
        /// The most streams on one connection; `nil` for what suits the transport.
        var maximumStreamsPerConnection: Int?
        /// The most pushes that wait for a stream.
        var maximumQueued = 100_000
        /// How long connecting may take, in seconds.
        var connectTimeoutSeconds = 10
        /// Apple's port: 443, or 2197. A server in place of Apple's has its own.
        var port = 443
        /// The age at which a connection takes nothing new, in seconds.
        var connectionAgeSeconds = 12 * 3600
        /// For how long an idle connection is used again, in seconds.
        var connectionIdleSeconds = 3600
        /// The silence after which a peer is probed, in seconds; 0 for no probes.
        var keepAliveSeconds = 60
        /// How long one push may take, queueing and connecting included, in seconds.
        var pushTimeoutSeconds = 30
        /// The way out.
        var proxy: TransportConfiguration.Proxy = .environment
    }
}
