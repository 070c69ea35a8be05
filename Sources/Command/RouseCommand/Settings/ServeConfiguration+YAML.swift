// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Logging
import PushTransport
import StoreSQLite
import WakeBudget
import WakeModel

extension ServeConfiguration {
    /// The keys at the top of the file.
    static let keys = [
        "listen", "listener", "insecure", "tls", "store", "store-password-file",
        "store-accepts-loss", "store-durability", "retention-days", "idempotency-hours",
        "log-level", "log-format", "audit-file",
        "keys-file", "api-keys", "budget",
        "webhook", "webhooks", "apps", "transport",
    ]
    /// The largest configuration file that is read, in bytes.
    static let maximumByteCount = 1_048_576

    /// Reads a YAML file, with the environment and `options` over it: see ``OuterSettings``.
    ///
    /// | Key | Value | Default |
    /// |---|---|---|
    /// | `listen` | `host:port`, or `unix:` and a path | `127.0.0.1:8080` |
    /// | `listener.connections` | the most connections at a time, 16–100000 | 1024 |
    /// | `listener.connections-per-peer` | the most of one address, 1–100000 | 7/8 of all |
    /// | `listener.socket-mode` | the permissions of a Unix domain socket, octal | `0600` |
    /// | `listener.socket-group` | its group, by name or number | that of the process |
    /// | `insecure` | `true` to listen, and post webhooks, beyond loopback without TLS | `false` |
    /// | `tls.certificate-file` | the listener's chain in PEM | none |
    /// | `tls.key-file` | its key in PEM | none |
    /// | `store` | the SQLite file, or a database's URI | `rouse.sqlite` |
    /// | `store-password-file` | the file of the database's password | libpq's |
    /// | `store-accepts-loss` | `true` to use a database that may lose commits | `false` |
    /// | `store-durability` | `disk` or `system` | `disk` |
    /// | `retention-days` | how long ended wakes are kept, 1–365 | 7 |
    /// | `idempotency-hours` | how long an `Idempotency-Key` holds, 1 up to the retention | 24 |
    /// | `log-level` | `trace` … `critical` | `info` |
    /// | `log-format` | `text`, or `json`: an object a line | `text` |
    /// | `audit-file` | the audit log, a line of JSON for each change | the log |
    /// | `keys-file` | what `rouse keys` keeps | `keys.json` by the store |
    /// | `api-keys` | list of `name`, `sha256` (64 hexadecimal digits), `previous-sha256` and |
    /// | | `previous-expires`, `scopes` (of `wake`, `read`, `device`, `admin`), `apps`, |
    /// | | `expires`, `requests-per-second` | none; the first three scopes, all apps |
    /// | `budget` | for all apps: see ``BudgetSettings``, in kebab case | its defaults |
    /// | `webhooks` | list of at most 8, each with what follows | none |
    /// | `url` | where events are posted to, `https://` | – |
    /// | `secret-file` | what signs them; for one alone, or `ROUSE_WEBHOOK_SECRET` | – |
    /// | `events` | list of `outcome`, `token-dead`, `app-held` | all |
    /// | `apps` | list of bundle ids that it is told about | all |
    /// | `ca-file` | trust these authorities for it | the system's |
    /// | `webhook` | instead of `webhooks`: one alone | none |
    /// | `apps` | list, see below | – |
    /// | `transport` | `native` or `curl`; or a mapping of what follows | `native` |
    /// | `transport.kind` | `native` or `curl` | `native` |
    /// | `transport.connections` | the most connections of an app, 1–64 | 4 |
    /// | `transport.streams-per-connection` | 1–1000 | native 1000, curl 250 |
    /// | `transport.queue` | pushes that wait for a stream, 1–10000000 | 100000 |
    /// | `transport.connect-timeout-seconds` | 1–300 | 10 |
    /// | `transport.proxy` | `http://[user:password@]host:port` or `none` | `https_proxy` |
    /// | `transport.port` | Apple's port, 443 or 2197 | 443 |
    /// | `transport.connection-age-seconds` | age of the oldest connection, 60–604800 | 43200 |
    /// | `transport.connection-idle-seconds` | for how long an idle one is used, 10–604800 | 3600 |
    /// | `transport.keep-alive-seconds` | silence before a probe, 0 for none | 60 |
    /// | `transport.push-timeout-seconds` | all that one push may take, 1–3600 | 30 |
    ///
    /// | Key of an app | Value |
    /// |---|---|
    /// | `bundle-id` | without any suffix |
    /// | `environment` | `production` or `sandbox` |
    /// | `key-file`, `key-id`, `team-id` | a signing key; the id may stand in the file's name |
    /// | `certificate-file`, `certificate-key-file` | instead: a certificate and its key, in PEM |
    /// | `pkcs12-file` | instead: an archive of both |
    /// | `budget` | what differs from the `budget` of all apps |
    /// | `server.host`, `server.port`, `server.ca-file` | a simulator for Apple's servers |
    ///
    /// The password of a certificate is in `ROUSE_CERT_PASSWORD`. Paths are relative to the file's
    /// folder. A key that is not listed is an error.
    init(
        path: String, variables: Variables, options: [OuterSettings.Option] = []
    ) throws(CommandFailure) {
        let bytes = try InputFile.read(path, "configuration", limit: Self.maximumByteCount)
        guard bytes.count <= Self.maximumByteCount else {
            throw CommandFailure(.configuration, "\(path) has more than 1 MiB.")
        }
        let folder = URL(filePath: path).deletingLastPathComponent()
        try self.init(
            yaml: String(decoding: bytes, as: UTF8.self), file: path, folder: folder,
            variables: variables, options: options)
    }

    /// Reads YAML text that was in `file`; relative paths begin in `folder`.
    init(
        yaml: String, file: String, folder: URL, variables: Variables,
        options: [OuterSettings.Option] = []
    ) throws(CommandFailure) {
        var outer = try OuterSettings(variables)
        try outer.put(options)
        let node = try ConfigurationMapping.parse(
            yaml, file: file, hint: "It needs apps.")
        let root = try ConfigurationMapping(
            outer.over(node), file: file, known: Self.keys, origins: outer.origins)
        self.init()
        if let text = try root.string("listen") {
            listen = try root.checking("listen") { () throws(InvalidField) in
                try Listen(text).inside(folder)
            }
        }
        if let mapping = try root.mapping("listener", known: ListenerSettings.keys) {
            listener = try ListenerSettings(mapping)
        }
        allowsInsecureListen = try root.boolean("insecure") ?? false
        try readFiles(root, folder)
        logLevel = try root.choice("log-level") ?? logLevel
        logFormat = try root.choice("log-format") ?? logFormat
        retentionDays = try root.integer("retention-days", in: 1...365) ?? retentionDays
        // The wake that a key's answer names must still be in the store.
        idempotencyHours =
            try root.integer("idempotency-hours", in: 1...retentionDays * 24) ?? idempotencyHours
        let budget = try BudgetMapping.settings(in: root, over: BudgetSettings())
        apps = try root.list("apps", known: App.keys).map {
            (mapping) throws(CommandFailure) in
            try App(mapping, folder: folder, budget: budget)
        }
        apiKeys = try NamedKey.all(root, apps: apps)
        webhooks = try Webhook.all(root, folder: folder, apps: apps)
        if root.isText("transport") {
            transport.kind = try root.choice("transport") ?? transport.kind
        } else if let mapping = try root.mapping("transport", known: TransportSettings.keys) {
            transport = try TransportSettings(mapping)
        }
        try checkAppsDiffer(root)
    }

    /// The files of the store, the keys and the listener's TLS.
    private mutating func readFiles(
        _ root: ConfigurationMapping, _ folder: URL
    ) throws(CommandFailure) {
        let place = try root.string("store") ?? storePath
        if Self.isStoreURL(place) {
            storeURL = place
            storePath = Self.path(storePath, in: folder)
        } else {
            storePath = Self.path(place, in: folder)
        }
        storePasswordPath = try root.string("store-password-file").map {
            Self.path($0, in: folder)
        }
        storeAcceptsLoss = try root.boolean("store-accepts-loss") ?? storeAcceptsLoss
        storeDurability = try root.choice("store-durability") ?? storeDurability
        keysPath = try root.string("keys-file").map { Self.path($0, in: folder) }
        auditPath = try root.string("audit-file").map { Self.path($0, in: folder) }
        guard let mapping = try root.mapping("tls", known: TLSFiles.keys) else { return }
        let certificate = try mapping.string("certificate-file").map { Self.path($0, in: folder) }
        let key = try mapping.string("key-file").map { Self.path($0, in: folder) }
        switch (certificate, key) {
        case (nil, nil): break
        case (let certificate?, let key?):
            tls = TLSFiles(certificatePath: certificate, keyPath: key)
        case (nil, .some), (.some, nil):
            throw root.failure(
                "tls", "lacks one of its two files", "Give both certificate-file and key-file.")
        }
    }

    /// A path in a file, relative to the file's folder.
    static func path(_ text: String, in folder: URL) -> String {
        text.hasPrefix("/") ? text : folder.appending(path: text).path(percentEncoded: false)
    }

    /// A log level from a word that `field` has.
    static func level(_ word: String, _ field: String) throws(CommandFailure) -> Logger.Level {
        guard let level = Logger.Level(rawValue: word) else {
            let words = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
            throw CommandFailure(.configuration, "\(field) is no log level. Use one of \(words).")
        }
        return level
    }

    /// A form of the log from a word that `field` has.
    static func format(_ word: String, _ field: String) throws(CommandFailure) -> LogFormat {
        guard let format = LogFormat(rawValue: word) else {
            let words = LogFormat.allCases.map(\.rawValue).joined(separator: " or ")
            throw CommandFailure(.configuration, "\(field) is no form of the log. Use \(words).")
        }
        return format
    }

    private func checkAppsDiffer(_ root: ConfigurationMapping) throws(CommandFailure) {
        var seen: Set<String> = []
        for app in apps where !seen.insert("\(app.bundleID) \(app.environment)").inserted {
            throw root.failure(
                "apps", "has \(app.bundleID) (\(app.environment)) twice",
                "Remove one of the two.")
        }
    }
}
