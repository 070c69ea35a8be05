// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsSimulator
import Foundation
import Logging
import WakeModel

/// A simulator in this process, with a key that it knows and the files that a command needs.
final class RunningSimulator: Sendable {
    static let keyID = "ABCDE12345"
    static let teamID = "TEAM123456"
    static let bundleID = "com.example.app"
    static let device = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

    let simulator: APNsSimulator
    let folder: TestFolder
    let key: SigningKey
    let keyPath: String
    let authorityPath: String

    private init(_ simulator: APNsSimulator, _ key: SigningKey) throws {
        self.simulator = simulator
        self.key = key
        folder = try TestFolder()
        keyPath = try folder.write(key.privateKeyPEM, to: "AuthKey_\(Self.keyID).p8")
        authorityPath = try folder.write(simulator.certificateAuthorityPEM, to: "ca.pem")
    }

    /// Runs `body` against a simulator that is shut down afterwards.
    static func with<Value>(
        _ change: (inout APNsSimulator.Configuration) -> Void = { _ in },
        _ body: (RunningSimulator) async throws -> Value
    ) async throws -> Value {
        let key = SigningKey.generate()
        var configuration = APNsSimulator.Configuration()
        configuration.providerKeys = [
            ProviderKey(teamID: teamID, keyID: keyID, pem: key.publicKeyPEM)
        ]
        change(&configuration)
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let simulator = try await APNsSimulator.start(configuration, logger: logger)
        let result: Result<Value, any Error>
        do {
            result = .success(try await body(try RunningSimulator(simulator, key)))
        } catch {
            result = .failure(error)
        }
        try await simulator.shutdown()
        return try result.get()
    }

    /// The device token as a value.
    static var deviceToken: DeviceToken {
        get throws { try DeviceToken(hex: device) }
    }

    /// The options that name key, team and app.
    var credential: [String] {
        ["--key", keyPath, "--team-id", Self.teamID, "--bundle-id", Self.bundleID]
    }

    /// The options that name the server.
    var server: [String] {
        ["--host", "127.0.0.1", "--port", "\(simulator.port)", "--ca", authorityPath]
    }

    /// Credential, server and device token.
    var all: [String] { credential + server + [Self.device] }
}
