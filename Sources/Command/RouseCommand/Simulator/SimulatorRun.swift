// SPDX-License-Identifier: Apache-2.0

import APNsSimulator
import DeviceModel
import Logging
import ServiceLifecycle
import UnixSignals
import WakeModel

/// What `rouse apns-simulator` needs, and its life.
struct SimulatorRun {
    private let configuration: APNsSimulator.Configuration
    private let folder: SimulatorFolder
    private let asJSON: Bool

    /// Takes what was typed, and makes the folder and its key.
    init(_ command: SimulatorCommand, variables: Variables) throws(CommandFailure) {
        var configuration = APNsSimulator.Configuration()
        configuration.host = command.host
        configuration.port = command.port
        configuration.controlPort = command.controlPort
        configuration.environment = command.environment.environment
        configuration.unknownDeviceTokens = command.refuseUnknownTokens ? .refused : .accepted
        configuration.refusesBackgroundPriority10 = command.strictPriority
        configuration.requiresALPN = command.strictALPN
        configuration.refusesDERSignatures = command.strictSignature
        configuration.refusesTextualIssuedAt = command.strictIssuedAt
        configuration.seed = command.seed
        configuration.deviceModel = command.deviceModel?.setup
        if let path = command.clientCA {
            configuration.trustedClientCertificateAuthorityPEM =
                try InputFile.checkCertificates(path, "--client-ca", .data)
        }
        if let url = command.receipts {
            configuration.receipts = try failing(with: .usage) { () throws(InvalidField) in
                try ReceiptTarget(
                    url: url, key: variables[.receiptsKey], appsSync: !command.noSync)
            }
        }
        let named = try command.providerKey.map { (key) throws(CommandFailure) in
            try key.read()
        }
        asJSON = command.json
        folder = try SimulatorFolder(path: command.folder)
        _ = try folder.key()
        let areKeysNamed = command.folder != nil || !named.isEmpty
        if command.strictAuthentication ?? areKeysNamed {
            let own = try ProviderKeyArgument.read(
                folder.keyPath, "--folder", teamID: SimulatorFolder.teamID,
                keyID: SimulatorFolder.keyID)
            configuration.providerKeys = [own] + named
        }
        self.configuration = configuration
    }

    /// Runs the simulator until a signal ends it.
    func run(_ console: Console) async throws(CommandFailure) {
        defer { folder.remove() }
        let service = SimulatorService(
            configuration: configuration, folder: folder, console: console, asJSON: asJSON)
        var logger = Logger(label: "rouse")
        logger.logLevel = .warning
        let group = ServiceGroup(
            services: [service], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        do {
            try await group.run()
        } catch {
            throw CommandFailure(
                .unavailable,
                "The simulator did not start on \(configuration.host):\(configuration.port): "
                    + "\(error)")
        }
    }
}

/// The simulator as a service.
private struct SimulatorService: Service {
    let configuration: APNsSimulator.Configuration
    let folder: SimulatorFolder
    let console: Console
    let asJSON: Bool

    func run() async throws {
        try await cancelWhenGracefulShutdown {
            var logger = Logger(label: "apns-simulator")
            logger.logLevel = .warning
            try await APNsSimulator.run(
                configuration, certificateAuthorityPath: folder.certificateAuthorityPath,
                logger: logger
            ) { tell($0) }
        }
    }

    /// Which provider tokens are taken.
    private var tokens: String {
        let keys = configuration.providerKeys.map { "\($0.keyID) (\($0.teamID))" }
        return keys.isEmpty
            ? "any well-formed provider token; signatures are not verified"
            : "only of \(keys.joined(separator: ", ")); others get InvalidProviderToken"
    }

    private func tell(_ ready: APNsSimulator.ReadyLine) {
        if asJSON {
            try? console.write(
                ReadyDocument(ready, folder, keys: configuration.providerKeys), onOneLine: true)
            return
        }
        console.say("CA", ready.certificateAuthorityPath)
        console.say("Key", "\(folder.keyPath), team \(SimulatorFolder.teamID)")
        console.say("Tokens", tokens)
        if let profile = configuration.deviceModel.map({ $0.profile?.name ?? "steady" }) {
            console.say("Devices", "\(profile), seed \(configuration.seed)")
        }
        if let receipts = configuration.receipts { console.say("Receipts", "\(receipts)") }
        if let port = ready.controlPort {
            console.say("Control", "http://\(ready.host):\(port)/pushes")
        }
        console.sayVerbatim(
            "Try",
            "rouse push --host \(ready.host) --port \(ready.port) --ca "
                + "\(ready.certificateAuthorityPath) --key \(folder.keyPath) --team-id "
                + "\(SimulatorFolder.teamID) --bundle-id com.example.app 0123456789abcdef")
        console.say(
            "Ready",
            "\(ready.host):\(ready.port) simulates APNs (\(ready.environment)).", .good)
    }
}

/// `rouse apns-simulator --json`: one document, once it is ready.
///
/// | Key | Value |
/// |---|---|
/// | `host`, `port` | where it listens |
/// | `control_port` | where the control endpoint listens, if it was asked for |
/// | `environment` | `sandbox` or `production` |
/// | `ca_path` | the certificate authority that clients must trust |
/// | `provider_keys` | `key_id` and `team_id` of each key that it knows; empty when it takes any |
/// | `key_path`, `key_id`, `team_id` | a signing key that clients may use |
struct ReadyDocument: Encodable {
    let host: String
    let port: Int
    let controlPort: Int?
    let environment: String
    let caPath: String
    let keyPath: String
    let keyId: String
    let teamId: String
    let providerKeys: [KeyDocument]

    /// One key.
    struct KeyDocument: Encodable {
        let keyId: String
        let teamId: String
    }

    /// Describes a simulator that is ready.
    init(_ ready: APNsSimulator.ReadyLine, _ folder: SimulatorFolder, keys: [ProviderKey]) {
        host = ready.host
        port = ready.port
        controlPort = ready.controlPort
        environment = ready.environment
        caPath = ready.certificateAuthorityPath
        keyPath = folder.keyPath
        keyId = SimulatorFolder.keyID
        teamId = SimulatorFolder.teamID
        providerKeys = keys.map { KeyDocument(keyId: $0.keyID, teamId: $0.teamID) }
    }
}
