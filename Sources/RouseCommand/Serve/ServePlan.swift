// SPDX-License-Identifier: Apache-2.0

import AdminAPI
import WakeModel

/// What `rouse serve` needs: a configuration that can be served, and its credentials, opened.
struct ServePlan {
    private let configuration: ServeConfiguration
    private let apps: [ServedApp]
    private let keys: [APIKey]

    /// Reads the configuration, puts environment and options over it, and opens every credential.
    init(_ command: ServeCommand, variables: Variables) throws(CommandFailure) {
        guard let path = command.config ?? variables[.configuration] else {
            throw CommandFailure(
                .usage, "No configuration is named. Give --config, or --dev to try things out.")
        }
        var configuration = try ServeConfiguration(path: path, variables: variables)
        try configuration.apply(command)
        let problems = ServeReadiness.problems(of: configuration)
        guard problems.isEmpty else {
            throw CommandFailure(.configuration, "\(path): " + problems.joined(separator: "\n"))
        }
        self.configuration = configuration
        keys = try configuration.apiKeys.map { (key) throws(CommandFailure) in
            try failing(with: .configuration) { () throws(InvalidField) in
                try APIKey(name: key.name, sha256: key.sha256)
            }
        }
        apps = try ServedApp.open(configuration, variables)
    }

    /// Serves until a signal ends it.
    func run(_ console: Console) async throws(CommandFailure) {
        let assembly = GatewayAssembly(
            configuration: configuration, apps: apps, authentication: .keys(keys))
        try await assembly.run { address in
            console.say("Ready", "The gateway listens on \(address).", .good)
        }
    }
}

extension ServeConfiguration {
    /// Puts the options of the command line over what the file and the environment say.
    mutating func apply(_ command: ServeCommand) throws(CommandFailure) {
        if let text = command.listen {
            listen = try failing(with: .usage) { () throws(InvalidField) in try Listen(text) }
        }
        if let path = command.store { storePath = path }
        if let word = command.logLevel { logLevel = try Self.level(word, "--log-level") }
        if let kind = command.transport { transport.kind = kind }
        if command.insecure { allowsInsecureListen = true }
    }
}
