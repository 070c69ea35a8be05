// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logging
import PushTransport
import WakeModel

extension ServeConfiguration {
    /// The largest configuration file that is read, in bytes.
    static let maximumByteCount = 1_048_576

    /// Reads a YAML file, and the environment over it.
    ///
    /// | Key | Value | Default |
    /// |---|---|---|
    /// | `listen` | `host:port`, or `unix:` and a path; `ROUSE_LISTEN` | `127.0.0.1:8080` |
    /// | `insecure` | `true` to listen beyond loopback without TLS | `false` |
    /// | `store` | the SQLite file; `ROUSE_STORE` | `rouse.sqlite` |
    /// | `log-level` | `trace` … `critical`; `ROUSE_LOG_LEVEL` | `info` |
    /// | `api-keys` | list of `name` and `sha256` (64 hexadecimal digits) | none |
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
    /// | `server.host`, `server.port`, `server.ca-file` | a stand-in for Apple's servers |
    ///
    /// The password of a certificate is in `ROUSE_CERT_PASSWORD`. Paths are relative to the file's
    /// folder. A key that is not listed is an error.
    init(path: String, variables: Variables) throws(CommandFailure) {
        let bytes = try InputFile.read(path, "configuration", limit: Self.maximumByteCount)
        guard bytes.count <= Self.maximumByteCount else {
            throw CommandFailure(.configuration, "\(path) has more than 1 MiB.")
        }
        let folder = URL(filePath: path).deletingLastPathComponent()
        try self.init(
            yaml: String(decoding: bytes, as: UTF8.self), file: path, folder: folder,
            variables: variables)
    }

    /// Reads YAML text that was in `file`; relative paths begin in `folder`.
    init(
        yaml: String, file: String, folder: URL, variables: Variables
    ) throws(CommandFailure) {
        let root = try ConfigurationMapping(
            ConfigurationMapping.parse(
                yaml, file: file, hint: "It needs apps and api-keys."), file: file,
            known: [
                "listen", "insecure", "store", "log-level", "api-keys", "apps", "transport",
            ])
        self.init()
        if let text = variables[.listen] {
            listen = try failing(with: .usage) { () throws(InvalidField) in try Listen(text) }
        } else if let text = try root.string("listen") {
            listen = try root.checking("listen") { () throws(InvalidField) in try Listen(text) }
        }
        allowsInsecureListen = try root.boolean("insecure") ?? false
        if let path = variables[.store] {
            storePath = path
        } else {
            storePath = Self.path(try root.string("store") ?? storePath, in: folder)
        }
        if let level = variables[.logLevel] {
            logLevel = try Self.level(level, Variable.logLevel.rawValue)
        } else {
            logLevel = try root.choice("log-level") ?? logLevel
        }
        apiKeys = try root.list("api-keys", known: ["name", "sha256"]).map {
            (mapping) throws(CommandFailure) in try NamedKey(mapping)
        }
        apps = try root.list("apps", known: App.keys).map {
            (mapping) throws(CommandFailure) in try App(mapping, folder: folder)
        }
        if root.isText("transport") {
            transport.kind = try root.choice("transport") ?? transport.kind
        } else if let mapping = try root.mapping("transport", known: TransportSettings.keys) {
            transport = try TransportSettings(mapping)
        }
        try checkAppsDiffer(root)
    }

    /// A path as it stands in a file, from the file's folder.
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

    private func checkAppsDiffer(_ root: ConfigurationMapping) throws(CommandFailure) {
        var seen: Set<String> = []
        for app in apps where !seen.insert("\(app.bundleID) \(app.environment)").inserted {
            throw root.failure(
                "apps", "has \(app.bundleID) (\(app.environment)) twice",
                "Remove one of the two.")
        }
    }
}
