// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
public import Logging
import NIOCore
import WakeModel

extension APNsSimulator {
    /// The data of a simulator's ready line, which a program needs to use a simulator in another
    /// process.
    public struct ReadyLine: Codable, Hashable, Sendable {
        /// The address it listens on.
        public var host: String
        /// The TCP port it listens on.
        public var port: Int
        /// The port of the control endpoint on the same address; `nil` when there is none.
        public var controlPort: Int?
        /// `sandbox` or `production`.
        public var environment: String
        /// The file with the certificate authority that clients must trust.
        public var certificateAuthorityPath: String
    }

    /// Starts a simulator, calls `body` with it, and shuts it down, also if `body` throws.
    ///
    /// Throws what ``start(_:logger:)`` throws, and what `body` throws.
    public static func withRunning<Value>(
        _ configuration: Configuration = Configuration(),
        logger: Logger = Logger(label: "apns-simulator"),
        isolation: isolated (any Actor)? = #isolation,
        _ body: (APNsSimulator) async throws -> Value
    ) async throws -> Value {
        let simulator = try await start(configuration, logger: logger)
        let result: Result<Value, any Error>
        do {
            result = .success(try await body(simulator))
        } catch {
            result = .failure(error)
        }
        try await simulator.shutdown()
        return try result.get()
    }

    /// Runs a simulator until the task is cancelled, then shuts it down.
    ///
    /// The certificate authority is written to `certificateAuthorityPath`, in PEM, before
    /// `whenReady` is called, once. Throws what ``start(_:logger:)`` throws, and the error of
    /// writing the file.
    public static func run(
        _ configuration: Configuration, certificateAuthorityPath: String,
        logger: Logger = Logger(label: "apns-simulator"),
        whenReady: @Sendable (ReadyLine) -> Void
    ) async throws {
        let simulator = try await start(configuration, logger: logger)
        do {
            try Data(simulator.certificateAuthorityPEM.utf8)
                .write(to: URL(filePath: certificateAuthorityPath), options: .atomic)
        } catch {
            try await simulator.shutdown()
            throw error
        }
        whenReady(
            ReadyLine(
                host: simulator.host, port: simulator.port, controlPort: simulator.controlPort,
                environment: configuration.environment.rawValue,
                certificateAuthorityPath: certificateAuthorityPath))
        await simulator.waitUntilCancelled()
        try await simulator.shutdown()
    }

    /// The listening socket is the one thing that cancelling ends; closing it is the event.
    private func waitUntilCancelled() async {
        await withTaskCancellationHandler {
            try? await listener.closeFuture.get()
        } onCancel: {
            listener.close(promise: nil)
        }
    }
}
