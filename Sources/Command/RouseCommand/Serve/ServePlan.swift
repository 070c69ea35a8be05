// SPDX-License-Identifier: Apache-2.0

import APNsClient
import AdminAPI
import OpenSSLCrypto
import UnixSignals
import WakeModel

/// What `rouse serve` needs: a configuration that can be served, and its credentials, opened.
struct ServePlan {
    /// The configuration, with the options that override it.
    let configuration: ServeConfiguration
    /// The apps.
    let apps: [ServedApp]
    /// The keys of the API in `api-keys`.
    let configuredKeys: [APIKey]
    /// The keys of the API in the keys' file.
    let fileKeys: [APIKey]
    /// The webhook endpoints, in the order of the configuration.
    let webhooks: [WebhookEndpoint]

    /// Reads the configuration, applies environment and options, and opens every credential. A
    /// reload does the same, with the same `cache`.
    init(
        _ command: ServeCommand, variables: Variables, cache: CredentialCache,
        isReload: Bool = false
    ) throws(CommandFailure) {
        guard let path = command.config ?? variables[.configuration] else {
            throw CommandFailure(
                .usage, "No configuration is named. Give --config, or --dev to try things out.")
        }
        var configuration = try ServeConfiguration(
            path: path, variables: variables, options: try command.settings)
        try configuration.apply(command)
        let keysFile = try KeysFile(path: configuration.effectiveKeysPath)
        let problems = ServeReadiness.problems(
            of: configuration, keysFile: keysFile, isReload: isReload)
        guard problems.isEmpty else {
            throw CommandFailure(.configuration, "\(path): " + problems.joined(separator: "\n"))
        }
        self.configuration = configuration
        configuredKeys = try failing(with: .configuration) { () throws(InvalidField) in
            try configuration.configuredKeys()
        }
        fileKeys = try failing(with: .configuration) { () throws(InvalidField) in
            try keysFile.activeKeys()
        }
        apps = try ServedApp.open(configuration, variables, cache)
        webhooks = try configuration.webhookEndpoints(variables)
    }

    /// Serves until a signal ends it. `hangUps` is trapped before anything is read.
    static func run(
        _ command: ServeCommand, variables: Variables, _ console: Console,
        hangUps: UnixSignalsSequence
    ) async throws(CommandFailure) {
        let cache = CredentialCache()
        let plan = try ServePlan(command, variables: variables, cache: cache)
        let assembly = GatewayAssembly(
            plan: plan, authentication: .keys(KeyRing(plan.configuredKeys + plan.fileKeys)),
            reread: { () throws(CommandFailure) in
                try ServePlan(command, variables: variables, cache: cache, isReload: true)
            }, hangUps: hangUps, startsPaused: command.paused)
        let isEncrypted = plan.configuration.tls != nil
        try await assembly.run { address in
            console.say("Ready", "The gateway listens on \(address).", .good)
            if let page = address.dashboardAddress(isEncrypted: isEncrypted) {
                console.say("Dashboard", page)
            }
        }
    }

    /// Creates a plan for `--dev`.
    init(configuration: ServeConfiguration, apps: [ServedApp]) {
        self.configuration = configuration
        self.apps = apps
        configuredKeys = []
        fileKeys = []
        webhooks = []
    }
}

extension ServeConfiguration {
    /// The endpoints of the webhooks, with their secrets. The variable has that of one alone.
    func webhookEndpoints(
        _ variables: Variables
    ) throws(CommandFailure) -> [WebhookEndpoint] {
        var endpoints: [WebhookEndpoint] = []
        for webhook in webhooks { endpoints.append(try webhook.endpoint(webhookSecret(variables))) }
        return endpoints
    }

    /// The secret that is a variable, for one endpoint alone.
    func webhookSecret(_ variables: Variables) -> String? {
        webhooks.count == 1 ? variables[.webhookSecret] : nil
    }
}

extension ServeConfiguration.Webhook {
    /// The text of its secret: this one, or that of its file.
    func secret(_ text: String?) throws(CommandFailure) -> String {
        if let text { return text }
        guard let path = secretPath else {
            throw CommandFailure(
                .configuration,
                "\(place) has no secret. Give \(place).secret-file; for one endpoint alone "
                    + "\(Variable.webhookSecret.rawValue) does too.")
        }
        var bytes = try InputFile.read(path, "\(place).secret-file", limit: 4_096)
        defer { bytes.cleanse() }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The endpoint with its secret, see ``secret(_:)``. Fails also for a file of authorities that
    /// no request could use.
    func endpoint(_ text: String?) throws(CommandFailure) -> WebhookEndpoint {
        let secret = try secret(text)
        if let path = certificateAuthorityPath {
            try InputFile.checkCertificates(path, "\(place).ca-file")
        }
        return try failing(with: .configuration) { () throws(InvalidField) in
            try WebhookEndpoint(
                url: url, secret: secret, certificateAuthorityPath: certificateAuthorityPath)
        }
    }
}

extension ServeConfiguration {
    /// Overrides the file and the environment with the options of the command line.
    mutating func apply(_ command: ServeCommand) throws(CommandFailure) {
        if let text = command.listen {
            listen = try failing(with: .usage) { () throws(InvalidField) in try Listen(text) }
        }
        if let place = command.store {
            storeURL = Self.isStoreURL(place) ? place : nil
            if storeURL == nil { storePath = place }
        }
        if let word = command.logLevel { logLevel = try Self.level(word, "--log-level") }
        if let format = command.logFormat { logFormat = format }
        if let kind = command.transport { transport.kind = kind }
        if command.insecure { allowsInsecureListen = true }
        if let path = command.keysFile { keysPath = path }
        if let certificate = command.tlsCertificate, let key = command.tlsKey {
            tls = TLSFiles(certificatePath: certificate, keyPath: key)
        }
    }
}
