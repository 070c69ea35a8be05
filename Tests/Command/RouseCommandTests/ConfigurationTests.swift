// SPDX-License-Identifier: Apache-2.0

import APNsWire
import AdminAPI
import Foundation
import Gateway
import Logging
import PushTransport
import StoreSQLite
import Testing
import WakeBudget
import WakeModel

@testable import RouseCommand

@Suite("Configuration")
struct ConfigurationTests {
    /// One app, for configurations whose other keys matter.
    static let app = """
        apps:
          - bundle-id: com.example.app
            environment: production
            team-id: TEAM123456
            key-file: keys/AuthKey_ABCDE12345.p8
        """

    private func read(
        _ yaml: String, _ variables: [String: String] = [:]
    ) throws(CommandFailure) -> ServeConfiguration {
        try ServeConfiguration(
            yaml: yaml, file: "rouse.yaml", folder: URL(filePath: "/etc/rouse/"),
            variables: Variables(variables))
    }

    @Test("leases outlive the longest push that is configured", arguments: [1, 30, 3_600])
    func sendSeconds(seconds: Int) throws {
        let configuration = try read(
            Self.app + "\ntransport:\n  push-timeout-seconds: \(seconds)\n")
        let plan = ServePlan(configuration: configuration, apps: [])
        #expect(plan.gatewayConfiguration.sendSeconds == seconds)
    }

    @Test("what a shared store may lose is accepted by its own key, and by no other one")
    func acceptedLoss() throws {
        let shared = Self.app + "\nstore: postgresql://rouse@db.example/rouse\n"
        #expect(try !read(shared).storeAcceptsLoss)
        #expect(try !read(shared + "store-durability: system\n").storeAcceptsLoss)
        #expect(try read(shared + "store-accepts-loss: true\n").storeAcceptsLoss)
        #expect(throws: CommandFailure.self) { try read(shared + "store-accepts-loss: maybe\n") }
    }

    @Test("reads every key")
    func everyKey() throws {
        let configuration = try read(
            """
            listen: "[::1]:9000"
            insecure: true
            store: data/wakes.sqlite
            store-durability: system
            log-level: debug
            api-keys:
              - name: backend
                sha256: \(String(repeating: "0f", count: 32))
            transport:
              kind: curl
              connections: 2
              streams-per-connection: 100
              queue: 5000
              connect-timeout-seconds: 3
              port: 2197
              connection-age-seconds: 7200
              connection-idle-seconds: 600
              keep-alive-seconds: 0
              push-timeout-seconds: 20
              proxy: http://user:secret@proxy.example:3128
            apps:
              - bundle-id: com.example.app
                environment: production
                team-id: TEAM123456
                key-file: keys/AuthKey_ABCDE12345.p8
                server:
                  host: 127.0.0.1
                  port: 2197
                  ca-file: /tmp/ca.pem
              - bundle-id: com.example.app
                environment: sandbox
                certificate-file: cert.pem
                certificate-key-file: cert.key
              - bundle-id: com.example.other
                environment: sandbox
                pkcs12-file: other.p12
            """)
        #expect(configuration.listen == .tcp(host: "::1", port: 9000))
        #expect(configuration.allowsInsecureListen)
        #expect(configuration.storePath == "/etc/rouse/data/wakes.sqlite")
        #expect(configuration.storeDurability == .system)
        #expect(configuration.logLevel == .debug)
        #expect(configuration.apiKeys.map(\.name) == ["backend"])
        #expect(configuration.transport.kind == .curl)
        #expect(configuration.transport.maximumConnections == 2)
        #expect(configuration.transport.maximumStreamsPerConnection == 100)
        #expect(configuration.transport.maximumQueued == 5000)
        #expect(configuration.transport.connectTimeoutSeconds == 3)
        #expect(configuration.transport.port == 2197)
        #expect(configuration.transport.connectionAgeSeconds == 7200)
        #expect(configuration.transport.connectionIdleSeconds == 600)
        #expect(configuration.transport.keepAliveSeconds == 0)
        #expect(configuration.transport.pushTimeoutSeconds == 20)
        #expect(
            configuration.transport.proxy
                == .http(
                    url: "http://proxy.example:3128",
                    credentials: .init(user: "user", password: "secret")))
        #expect(
            configuration.apps.map(\.credential) == [
                .key(
                    .file(path: "/etc/rouse/keys/AuthKey_ABCDE12345.p8"),
                    keyID: try DeveloperID("ABCDE12345", field: ""),
                    teamID: try DeveloperID("TEAM123456", field: "")),
                .certificate(path: "/etc/rouse/cert.pem", keyPath: "/etc/rouse/cert.key"),
                .pkcs12(path: "/etc/rouse/other.p12"),
            ])
        #expect(configuration.apps[0].server?.certificateAuthorityPath == "/tmp/ca.pem")
        #expect(ServeReadiness.problems(of: configuration, keysFile: KeysFile()).isEmpty)
    }

    @Test("the transport may be named in one word", arguments: TransportKind.allCases)
    func transportKind(kind: TransportKind) throws {
        let configuration = try read("transport: \(kind.rawValue)\n" + Self.app)
        #expect(configuration.transport.kind == kind)
    }

    @Test(
        "a command's transport is the native one, and libcurl behind a proxy, wherever it is named",
        arguments: [
            (.environment, [:], .native),
            (.environment, ["https_proxy": "http://proxy.example:3128"], .curl),
            (.environment, ["ALL_PROXY": "socks5://proxy.example"], .curl),
            (.environment, ["https_proxy": "", "http_proxy": "http://proxy.example"], .native),
            (.none, ["https_proxy": "http://proxy.example:3128"], .native),
            (.http(url: "http://proxy.example:3128", credentials: nil), [:], .curl),
        ] as [(TransportConfiguration.Proxy, [String: String], TransportKind)])
    func commandTransport(
        proxy: TransportConfiguration.Proxy, environment: [String: String], expected: TransportKind
    ) throws {
        var configuration = try read(Self.app)
        configuration.transport.proxy = proxy
        let settings = try ServerSettings(
            nil, configured: nil, configuration, lookUp: { environment[$0] },
            hasNewLibcurl: { false })
        #expect(settings.transportKind == expected)
    }

    @Test("a command waits for a connection as long as it waits for an answer")
    func connectTimeout() throws {
        var configuration = try read(Self.app)
        configuration.transport.pushTimeoutSeconds = 45
        let settings = try ServerSettings(
            nil, configured: nil, configuration, lookUp: { _ in nil }, hasNewLibcurl: { false })
        let transport = settings.transport(host: "127.0.0.1", port: nil)
        #expect(transport.connectTimeout == .seconds(settings.timeoutSeconds))
        #expect(settings.timeoutSeconds > 10)
    }

    @Test("a command takes a libcurl that reports every refused stream without being asked")
    func newLibcurl() throws {
        for (isNew, expected) in [(true, TransportKind.curl), (false, .native)] {
            let settings = try ServerSettings(
                nil, configured: nil, nil, lookUp: { _ in nil }, hasNewLibcurl: { isNew })
            #expect(settings.transportKind == expected)
        }
    }

    @Test("has defaults for everything but apps and keys, and says what is missing")
    func defaults() throws {
        let configuration = try read(Self.app)
        #expect(configuration.listen == .tcp(host: "127.0.0.1", port: 8080))
        #expect(configuration.storePath == "/etc/rouse/rouse.sqlite")
        #expect(configuration.storeDurability == .disk)
        #expect(configuration.transport.kind == .native)
        let problems = ServeReadiness.problems(of: configuration, keysFile: KeysFile())
        #expect(problems.count == 1)
        #expect(problems[0].hasPrefix("There is no API key"))
    }

    @Test("the environment overrides the file")
    func environment() throws {
        let configuration = try read(
            "listen: 127.0.0.1:1\nstore: a\nlog-level: info\n" + Self.app,
            [
                "ROUSE_LISTEN": "unix:/run/rouse.sock", "ROUSE_STORE": "/var/b",
                "ROUSE_LOG_LEVEL": "trace", "ROUSE_STORE_DURABILITY": "system",
            ])
        #expect(configuration.listen == .unixSocket(path: "/run/rouse.sock"))
        #expect(configuration.storePath == "/var/b")
        #expect(configuration.logLevel == .trace)
        #expect(configuration.storeDurability == .system)
    }

    @Test("a socket's path begins in the file's folder, or where the program was started")
    func socket() throws {
        let here = FileManager.default.currentDirectoryPath
        let file = "listen: unix:run/rouse.sock\n" + Self.app
        #expect(try read(file).listen == .unixSocket(path: "/etc/rouse/run/rouse.sock"))
        #expect(
            try read(file, ["ROUSE_LISTEN": "unix:b.sock"]).listen
                == .unixSocket(path: here + "/b.sock"))
        #expect(
            try read("listen: unix:/run/rouse.sock\n" + Self.app).listen
                == .unixSocket(path: "/run/rouse.sock"))
        #expect(throws: CommandFailure.self) { try read("listen: \"unix:\"\n" + Self.app) }
    }

    @Test(
        "names line, field, problem and fix",
        arguments: [
            ("lisen: 127.0.0.1:1", "rouse.yaml:1: lisen is no key that Rouse knows", "listen?"),
            ("a: b", "a is no key that Rouse knows", "The keys here are listen"),
            ("listen: 8080", "listen is not host:port", "127.0.0.1:8080"),
            ("listen: localhost:99999", "listen is not host:port", "127.0.0.1:8080"),
            ("insecure: maybe", "insecure is neither true nor false", "true or false"),
            ("store-durability: sytem", "store-durability is not one of", "Did you mean system?"),
            ("store-durabilty: disk", "store-durabilty is no key", "mean store-durability?"),
            ("log-level: wrning", "log-level is not one of its values", "Did you mean warning?"),
            ("apps: com.example.app", "apps is not a list", "hyphen"),
            ("apps:\n  - text", "rouse.yaml:2: apps[0] is not a mapping", "bundle-id"),
            ("apps:\n  - bundle_id: a", "apps[0].bundle_id is no key", "Did you mean bundle-id?"),
            ("apps:\n  - environment: sandbox", "apps[0].bundle-id is missing", "com.example.app"),
            (
                "apps:\n  - bundle-id: com.example.app.voip", "rouse.yaml:2: apps[0].bundle-id",
                "without it"
            ),
            (
                "apps:\n  - bundle-id: a\n    environment: prod",
                "rouse.yaml:3: apps[0].environment", "production"
            ),
            (
                "apps:\n  - bundle-id: a\n    environment: sandbox", "apps[0].key-file is missing",
                "pkcs12-file"
            ),
            (
                "apps:\n  - bundle-id: a\n    environment: sandbox\n    key-file: k.p8",
                "apps[0].key-id is missing", "developer account"
            ),
            (
                "apps:\n  - bundle-id: a\n    environment: sandbox\n    key-file: k.p8\n"
                    + "    pkcs12-file: x", "is set together with key-file", "Give one of"
            ),
            (
                "apps:\n  - bundle-id: a\n    environment: sandbox\n    key-file: k.p8\n"
                    + "    key-id: ABC", "rouse.yaml:5: apps[0].key-id has 3 characters", "Copy it"
            ),
            (
                "api-keys:\n  - name: x\n    sha256: abc", "api-keys[0].sha256 is not 64",
                "sha256sum"
            ),
            ("transport: nativ", "transport", "Did you mean native?"),
            ("transport:\n  connections: 0", "transport.connections", "1 to 64"),
            ("transport:\n  proxy: ftp://user:secret@x", "transport.proxy", "http://"),
            ("listen: a:1\nlisten: b:1", "listen appears twice", "Remove one"),
            ("listen: [", "rouse.yaml:", "not YAML"),
            ("", "rouse.yaml is empty", "apps"),
        ])
    func faults(yaml: String, problem: String, fix: String) throws {
        let failure = try #require(throws: CommandFailure.self) { try read(yaml) }
        #expect(failure.status == .configuration)
        #expect(failure.message.contains(problem), "\(failure.message)")
        #expect(failure.message.contains(fix), "\(failure.message)")
        #expect(!failure.message.contains("secret"))
    }

    @Test("the same app twice in one environment is an error")
    func twice() throws {
        let failure = try #require(throws: CommandFailure.self) {
            try read(
                Self.app + "\n"
                    + Self.app.split(separator: "\n").dropFirst().joined(separator: "\n"))
        }
        #expect(failure.message.contains("com.example.app (production) twice"))
    }

    @Test("beyond loopback only with insecure")
    func insecure() throws {
        var configuration = try read("listen: 0.0.0.0:80\n" + Self.app)
        func isTold() -> Bool {
            ServeReadiness.problems(of: configuration, keysFile: KeysFile())
                .contains { $0.contains("insecure: true") }
        }
        #expect(isTold())
        configuration.allowsInsecureListen = true
        #expect(!isTold())
        configuration.allowsInsecureListen = false
        configuration.tls = .init(certificatePath: "chain.pem", keyPath: "key.pem")
        #expect(!isTold())
    }

    @Test("reads the listener's bounds and who may connect to its socket")
    func listener() throws {
        let usual = try read("listen: unix:/run/rouse.sock\n" + Self.app).listener
        #expect(usual == .init())
        #expect(usual.socketMode == 0o600)
        let set = try read(
            """
            listener:
              connections: 4096
              connections-per-peer: 4096
              socket-mode: 0660
              socket-group: www-data

            """ + Self.app
        ).listener
        #expect(set.connections == 4_096)
        #expect(set.connectionsPerPeer == 4_096)
        #expect(set.socketMode == 0o660)
        #expect(set.socketGroup == "www-data")
        for wrong in ["0888", "rw-rw----", "1777", "0440", "-1"] {
            let error = #expect(throws: CommandFailure.self) {
                try read("listener: {socket-mode: \"\(wrong)\"}\n" + Self.app)
            }
            #expect(error?.message.contains("listener.socket-mode") == true, "\(wrong)")
        }
        #expect(throws: CommandFailure.self) {
            try read("listener: {connections: 0}\n" + Self.app)
        }
    }

    @Test("reads keys with scopes, TLS, retention, webhooks and budgets")
    func gatewayKeys() throws {
        let configuration = try read(
            """
            tls:
              certificate-file: tls/chain.pem
              key-file: tls/key.pem
            keys-file: secrets/keys.json
            retention-days: 30
            idempotency-hours: 48
            api-keys:
              - name: backend
                sha256: \(String(repeating: "0f", count: 32))
                scopes: [wake, admin]
                requests-per-second: 50
            webhook:
              url: https://example.com/hook
              secret-file: secrets/hook
              events: [token-dead, app-held]
            budget:
              spacing-seconds: 600
              hourly-sends: 4
            apps:
              - bundle-id: com.example.app
                environment: production
                team-id: TEAM123456
                key-file: keys/AuthKey_ABCDE12345.p8
                budget:
                  hourly-sends: 2
              - bundle-id: com.example.other
                environment: production
                team-id: TEAM123456
                key-file: keys/AuthKey_ABCDE12345.p8
            """)
        #expect(configuration.tls?.certificatePath == "/etc/rouse/tls/chain.pem")
        #expect(configuration.effectiveKeysPath == "/etc/rouse/secrets/keys.json")
        #expect(configuration.retentionDays == 30)
        #expect(configuration.idempotencyHours == 48)
        #expect(configuration.apiKeys.first?.scopes == [.wake, .admin])
        #expect(configuration.apiKeys.first?.requestsPerSecond == 50)
        #expect(configuration.webhooks.map(\.events) == [[.tokenDead, .appHeld]])
        #expect(configuration.webhooks.map(\.place) == ["webhook"])
        #expect(configuration.apps.map(\.budget.settings.spacingSeconds) == [600, 600])
        #expect(configuration.apps.map(\.budget.settings.hourlySends) == [2, 4])
        #expect(try read(Self.app).effectiveKeysPath == "/etc/rouse/keys.json")
    }

    @Test("reads several webhook endpoints, each with its events, apps and secret")
    func webhooks() throws {
        let folder = try TestFolder()
        let secrets = try [
            folder.write("a-secret-of-the-first-one", to: "a"),
            folder.write("a-secret-of-the-second-one", to: "b"),
        ]
        let yaml = """
            webhooks:
              - url: https://a.example/hook
                secret-file: \(secrets[0])
              - url: http://b.example:81/hook
                secret-file: \(secrets[1])
                events: [token-dead]
                apps: [com.example.app]
                ca-file: ca.pem

            """ + Self.app
        let configuration = try read(yaml)
        let webhooks = configuration.webhooks
        #expect(webhooks.map(\.place) == ["webhooks[0]", "webhooks[1]"])
        #expect(webhooks.map(\.events) == [Set(WebhookKind.allCases), [.tokenDead]])
        #expect(webhooks.map { $0.apps?.map(\.value) } == [nil, ["com.example.app"]])
        #expect(webhooks[1].certificateAuthorityPath == "/etc/rouse/ca.pem")
        // The variable has the secret of one alone, and is not taken for one of several.
        let variables = Variables(["ROUSE_WEBHOOK_SECRET": "a-secret-of-the-variable"])
        #expect(throws: CommandFailure.self, "ca.pem is not there") {
            try configuration.webhookEndpoints(variables)
        }
        let authority = try folder.write("-----BEGIN CERTIFICATE-----", to: "ca.pem")
        let whole = try read(yaml.replacing("ca.pem", with: authority))
        #expect(
            try whole.webhookEndpoints(variables)
                == zip(whole.webhooks, secrets).map { webhook, path in
                    try WebhookEndpoint(
                        url: webhook.url, secret: String(contentsOfFile: path, encoding: .utf8),
                        certificateAuthorityPath: webhook.certificateAuthorityPath)
                })
        let bare = try read(yaml.replacing("    secret-file: \(secrets[1])\n", with: ""))
        let failure = #expect(throws: CommandFailure.self) {
            try bare.webhookEndpoints(variables)
        }
        #expect(failure?.message.contains("webhooks[1] has no secret") == true)
        let alone = try read("webhooks: [{ url: http://x.example }]\n" + Self.app)
        #expect(try alone.webhookEndpoints(variables).count == 1)
    }

    @Test(
        "refuses what a gateway cannot use, with the nearest known key",
        arguments: [
            ("tsl: {}", "tls"), ("tls: { certificate-file: a }", "both"),
            ("retention-days: 0", "retention-days"),
            ("retention-days: 1\nidempotency-hours: 25", "idempotency-hours"),
            ("budget: { hourly-send: 3 }", "hourly-sends"),
            ("budget: { hourly-sends: 13 }", "hourly-sends"),
            ("webhook: { url: ftp://x }", "webhook.url does not begin with https:// or http://"),
            ("webhok: { url: http://x }", "Did you mean webhook?"),
            ("webhooks: { url: http://x }", "webhooks is not a list. Begin each entry"),
            ("webhooks: [{ ulr: http://x }]", "webhooks[0].ulr is no key"),
            ("webhooks: [{ url: http://x }, { url: ftp://x }]", "webhooks[1].url"),
            ("webhooks: [{ url: http://x }, { url: http://x }]", "webhooks[1].url is there twice"),
            (
                "webhook: { url: http://x }\nwebhooks: [{ url: http://y }]",
                "webhook is set together with webhooks. Move it into the list"
            ),
            (
                "webhooks: [{ url: http://x, apps: [com.example.ap] }]",
                "webhooks[0].apps names com.example.ap, which is not among the apps. "
                    + "Did you mean com.example.app?"
            ),
            ("webhooks: [{ url: http://x, apps: [] }]", "Leave it out"),
            (
                "webhooks: [\((1...9).map { "{ url: http://x/\($0) }" }.joined(separator: ","))]",
                "webhooks has more than 8 endpoints"
            ),
            ("webhook: { url: http://x, events: [outcom] }", "outcome"),
            ("api-keys: [{ name: a b, sha256: \(String(repeating: "0f", count: 32)) }]", "name"),
            (
                "api-keys: [{ name: a, scopes: [red], sha256: "
                    + "\(String(repeating: "0f", count: 32)) }]",
                "read"
            ),
        ])
    func gatewayRefusals(yaml: String, words: String) {
        let error = #expect(throws: CommandFailure.self) { try read(yaml + "\n" + Self.app) }
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    }

    @Test("the environment overrides the file")
    func gatewayVariables() throws {
        let configuration = try read(
            Self.app,
            [
                "ROUSE_KEYS_FILE": "/run/keys.json", "ROUSE_TLS_CERTIFICATE": "/run/chain.pem",
                "ROUSE_TLS_KEY": "/run/key.pem",
            ])
        #expect(configuration.effectiveKeysPath == "/run/keys.json")
        #expect(configuration.tls?.keyPath == "/run/key.pem")
    }
}
