// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logging
import PushTransport
import StoreSQLite
import UnixSignals

/// `rouse serve`: the gateway.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the gateway: accept wakes over HTTP, send them to APNs, report outcomes.",
        discussion: """
            POST /v1/wakes takes a wake; it is on disk before the answer. GET /v1/wakes/{id} says \
            what became of it; /openapi.json has all the rest. SIGHUP reads the configuration, \
            keys and certificates again and drops nothing; with a faulty file the old ones stay. \
            SIGTERM stops taking wakes, waits for answers, and ends with 0.

            --dev needs no configuration and no account at Apple: an APNs simulator, a key made \
            on the spot, one demo app, and three commands to paste.

            A configuration file:

              listen: 127.0.0.1:8080
              store: /var/lib/rouse/wakes.sqlite
              apps:
                - bundle-id: com.example.app
                  environment: production
                  team-id: TEAM123456
                  key-file: AuthKey_ABCDE12345.p8

            Examples:

              rouse keys create --config rouse.yaml --name backend > backend.key
              rouse serve --config rouse.yaml
              rouse serve --dev
            """)

    @Option(
        help: ArgumentHelp("The configuration. Or ROUSE_CONFIG.", valueName: "file"),
        completion: .file())
    var config: String?

    @Option(
        help: ArgumentHelp(
            "Where to listen, as host:port or unix:path. Or ROUSE_LISTEN.", valueName: "address"))
    var listen: String?

    @Option(
        help: ArgumentHelp(
            "The SQLite file, or the URI of a database of PostgreSQL. Or ROUSE_STORE.",
            valueName: "file"), completion: .file())
    var store: String?

    @Option(
        help: ArgumentHelp("trace … critical. Or ROUSE_LOG_LEVEL.", valueName: "level"),
        completion: .list(Logger.Level.allCases.map(\.rawValue)))
    var logLevel: String?

    @Option(
        help: ArgumentHelp(
            "How the log is written: text, or json, an object a line. Or ROUSE_LOG_FORMAT.",
            valueName: "format"))
    var logFormat: LogFormat?

    @Option(
        help: ArgumentHelp(
            "What carries the pushes: native, or curl for proxies that only libcurl knows. Or, "
                + "with --config, ROUSE_TRANSPORT.",
            valueName: "kind"))
    var transport: TransportKind?

    @Option(
        help: ArgumentHelp(
            "The listener's certificate chain (PEM). Or ROUSE_TLS_CERTIFICATE.", valueName: "file"),
        completion: .file())
    var tlsCertificate: String?

    @Option(
        help: ArgumentHelp("The listener's key (PEM). Or ROUSE_TLS_KEY.", valueName: "file"),
        completion: .file())
    var tlsKey: String?

    @Option(
        help: ArgumentHelp(
            "What `rouse keys` keeps. Or ROUSE_KEYS_FILE. Without it: keys.json by the store.",
            valueName: "file"), completion: .file())
    var keysFile: String?

    @Flag(help: "Listen beyond this machine without TLS. Or ROUSE_INSECURE=true.")
    var insecure = false

    @Option(
        help: ArgumentHelp(
            "What answers wait for: disk or system. Or ROUSE_STORE_DURABILITY.", valueName: "word"),
        completion: .list(SQLiteWakeStore.Durability.allCases.map(\.rawValue)))
    var storeDurability: String?

    @Option(
        help: ArgumentHelp(
            "How long ended wakes are kept. Or ROUSE_RETENTION_DAYS.", valueName: "days"))
    var retentionDays: String?

    @Option(
        help: ArgumentHelp(
            "How long an Idempotency-Key holds. Or ROUSE_IDEMPOTENCY_HOURS.", valueName: "hours"))
    var idempotencyHours: String?

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp(
            "Put a value over any key of the file that is no list, as budget.hourly-sends=2; may "
                + "be repeated. Or ROUSE_BUDGET_HOURLY_SENDS, and so on.",
            valueName: "key=value"))
    var keyValues: [String] = []

    @Flag(
        help: ArgumentHelp(
            "Start with every app paused, as for a store from a backup. Wakes wait until "
                + "POST /v1/apps/{app}/resume, webhooks until a start without it."))
    var paused = false

    @Flag(help: "Run with an APNs simulator and a demo app, without a configuration.")
    var dev = false

    @Option(
        help: ArgumentHelp(
            "With --dev: keep store, key and CA in this folder. Without it: a temporary one.",
            valueName: "path"), completion: .directory)
    var folder: String?

    func validate() throws {
        if dev, config != nil {
            throw ValidationError("--dev needs no configuration. Give --config or --dev.")
        }
        if dev, paused { throw ValidationError("--paused goes with --config.") }
        if folder != nil, !dev { throw ValidationError("--folder goes with --dev.") }
        if (tlsCertificate == nil) != (tlsKey == nil) {
            throw ValidationError("--tls-certificate and --tls-key go together.")
        }
        if dev, !(try settings.isEmpty) {
            throw ValidationError(
                "--store-durability, --retention-days, --idempotency-hours and --set go with "
                    + "--config.")
        }
        // Other users of the machine see the arguments of a process.
        if let store, ServeConfiguration.isStoreURL(store), store.contains(/:[^@\/]*@|password=/) {
            throw ValidationError(
                "--store must not hold a password. Name its file: store-password-file.")
        }
        if dev, store != nil {
            throw ValidationError("With --dev the store is in the folder. Give --folder.")
        }
    }

    /// The options that override keys of the configuration, without those that `--dev` has too.
    var settings: [OuterSettings.Option] {
        get throws(CommandFailure) {
            var settings: [OuterSettings.Option] = []
            for text in keyValues {
                guard let sign = text.firstIndex(of: "="), sign != text.startIndex else {
                    throw CommandFailure(
                        .usage, "--set needs key=value, such as budget.hourly-sends=2.")
                }
                let path = String(text[..<sign])
                let value = String(text[text.index(after: sign)...])
                settings.append(.init(name: "--set \(path)", path: path, text: value))
            }
            // A dedicated option takes precedence over --set.
            for (path, text) in [
                ("store-durability", storeDurability), ("retention-days", retentionDays),
                ("idempotency-hours", idempotencyHours),
            ] {
                if let text { settings.append(.init(name: "--\(path)", path: path, text: text)) }
            }
            return settings
        }
    }

    func run() async throws {
        // Before anything is read, so that later changes are read again once the gateway runs.
        let hangUps = await UnixSignalsSequence(trapping: .sighup)
        let variables = Variables.current
        let console = Console(variables)
        if dev {
            try await DevelopmentServe(self, variables: variables).run(console, hangUps: hangUps)
        } else {
            try await ServePlan.run(self, variables: variables, console, hangUps: hangUps)
        }
    }
}
