// SPDX-License-Identifier: Apache-2.0

import AdminAPI
import Foundation
import Gateway
import PushTransport
import Testing
import WakeBudget
import WakeModel

@testable import RouseCommand

/// The example configuration is what an operator begins with, so it must be right and complete.
@Suite("Deploy/rouse.yaml")
struct ExampleConfigurationTests {
    private static let text = Result {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        return try String(
            contentsOf: folder.appending(path: "../../../Deploy/rouse.yaml"), encoding: .utf8)
    }

    /// The file with each setting switched on: a "#" before a key and its indentation is gone, one
    /// before a single space and words stays.
    private static func switchedOn() throws -> String {
        let setting = /#((?: {2,})?(?:- )?[a-z0-9-]+:.*)/
        return try text.get().split(separator: "\n", omittingEmptySubsequences: false)
            .map { line in line.wholeMatch(of: setting)?.1 ?? line }
            .joined(separator: "\n")
    }

    private static func read(_ yaml: String) throws(CommandFailure) -> ServeConfiguration {
        try ServeConfiguration(
            yaml: yaml, file: "rouse.yaml", folder: URL(filePath: "/etc/rouse/"),
            variables: Variables([:]))
    }

    @Test("as it is, it lacks only what nobody but the operator can know")
    func asItIs() throws {
        let configuration = try Self.read(Self.text.get())
        let problems = ServeReadiness.problems(of: configuration, keysFile: KeysFile())
        #expect(problems.count == 2)
        #expect(problems.contains { $0.hasPrefix("apps is empty") })
        #expect(problems.contains { $0.hasPrefix("There is no API key") })
        #expect(configuration.storePath == "/var/lib/rouse/wakes.sqlite")
    }

    @Test("with every setting switched on it is a configuration that serves, and the defaults stay")
    func everySetting() throws {
        let configuration = try Self.read(Self.switchedOn())
        #expect(ServeReadiness.problems(of: configuration, keysFile: KeysFile()) == [])
        var untouched = ServeConfiguration()
        untouched.storePath = configuration.storePath
        // What has no default.
        #expect(configuration.tls != nil && configuration.webhooks.count == 1)
        untouched.tls = configuration.tls
        untouched.webhooks = configuration.webhooks
        untouched.apps = configuration.apps
        untouched.apiKeys = configuration.apiKeys
        #expect(configuration.keysPath == untouched.effectiveKeysPath)
        untouched.keysPath = configuration.keysPath
        #expect(configuration.storePasswordPath == "/etc/rouse/database-password")
        untouched.storePasswordPath = configuration.storePasswordPath
        #expect(configuration.auditPath == "/var/lib/rouse/audit.jsonl")
        untouched.auditPath = configuration.auditPath
        // What the machine's limits decide where nobody says it, and what only a socket has.
        #expect(configuration.listener.connections == 1024)
        #expect(configuration.listener.connectionsPerPeer == 896)
        untouched.listener = configuration.listener
        // What stands there beside the default.
        untouched.transport.maximumStreamsPerConnection = 1000
        untouched.transport.proxy = .none
        #expect(configuration == untouched)

        #expect(configuration.apps.count == 3)
        let standard = try BudgetPolicy(BudgetSettings())
        #expect(configuration.apps.dropFirst().allSatisfy { $0.budget == standard })
        #expect(configuration.apps[0].budget != standard, "this one shows what can differ")
        #expect(configuration.webhooks[0].events == Set(WebhookKind.allCases))
        #expect(configuration.webhooks[0].apps?.map(\.value) == ["com.example.app"])
        #expect(configuration.apiKeys.map(\.scopes) == [Scope.usual])
        #expect(configuration.apiKeys[0].apps?.map(\.value) == ["com.example.app"])
        #expect(configuration.apiKeys[0].expiresAt != nil)
        #expect(configuration.apiKeys[0].previous?.expiresAt != nil)
    }

    @Test("every key that the gateway reads is there")
    func everyKey() throws {
        let yaml = try Self.switchedOn()
        let keys = Set(yaml.matches(of: /(?m)^ *(?:- )?([a-z0-9-]+):/).map { String($0.1) })
        let known =
            ServeConfiguration.keys + ServeConfiguration.App.keys
            + ServeConfiguration.NamedKey.keys + ServeConfiguration.Server.keys
            + ServeConfiguration.TLSFiles.keys + ServeConfiguration.TransportSettings.keys
            + ServeConfiguration.Webhook.keys + ServeConfiguration.ListenerSettings.keys
            + BudgetMapping.keys
        // One endpoint alone is said in words: it does not stand beside the list.
        #expect(Set(known).subtracting(keys) == ["webhook"])
        #expect(keys.subtracting(known) == [])
    }

    @Test(
        "those for several gateways name a database, and serve",
        arguments: ["docker/rouse-shared.yaml", "kubernetes-shared/rouse.yaml"])
    func shared(_ path: String) throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Deploy/\(path)")
        let configuration = try Self.read(String(contentsOf: file, encoding: .utf8))
        #expect(configuration.storeURL?.hasPrefix("postgresql://rouse@") == true)
        #expect(configuration.storePasswordPath != nil && !configuration.storeAcceptsLoss)
        #expect(ServeReadiness.problems(of: configuration, keysFile: KeysFile()) == [])
    }

    @Test("beside it, the configuration for Compose gives Prometheus a key that only reads")
    func compose() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Deploy/docker")
        let configuration = try Self.read(
            String(contentsOf: folder.appending(path: "rouse.yaml"), encoding: .utf8))
        let scopes = Dictionary(
            uniqueKeysWithValues: configuration.apiKeys.map { ($0.name, $0.scopes) })
        #expect(scopes["prometheus"] == [.read])
        // The secret that Prometheus is given is that key's, and no service has the gateway's.
        let prometheus = try String(
            contentsOf: folder.appending(path: "prometheus.yaml"), encoding: .utf8)
        #expect(prometheus.contains("credentials_file: /run/secrets/prometheus-key"))
        let services = try String(
            contentsOf: folder.appending(path: "compose.yaml"), encoding: .utf8)
        #expect(!services.contains(/(?m)^ *- api-key$/))
    }
}
