// SPDX-License-Identifier: Apache-2.0

import APNsSimulator
import Foundation
import Testing

/// Signals that come while `rouse serve` still reads its files: a secret in a named pipe holds it
/// up for as long as a test likes.
@Suite("Signals before the gateway runs", .timeLimit(.minutes(10)))
struct ServeSignalsTests {
    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    /// Starts a gateway and gives it to `body` while it waits for its secret, with what is to be
    /// written to and the secret's path.
    private static func withHeldGateway(
        _ body: (RunningRouse, FileHandle, String) async throws -> Void
    ) async throws {
        try await RunningSimulator.with { simulator in
            let path = try await ServeTests.keyedConfiguration(simulator)
            let pipe = simulator.folder.path + "/hook"
            try #require(mkfifo(pipe, 0o600) == 0)
            let text = try String(contentsOfFile: path, encoding: .utf8)
            try "webhooks: [{ url: \"http://127.0.0.1:1/\", secret-file: hook }]\n\(text)"
                .write(toFile: path, atomically: true, encoding: .utf8)
            let gateway = try RunningRouse(["serve", "--config", path])
            try await body(gateway, try await Self.writer(of: pipe), pipe)
        }
    }

    /// The end of a pipe to write to, once the gateway has opened the other one.
    private static func writer(of pipe: String) async throws -> FileHandle {
        for _ in 0..<600 {
            let descriptor = open(pipe, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
            if descriptor >= 0 {
                return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw POSIXError(.ENXIO)
    }

    @Test("SIGHUP ends nothing, and the configuration is read again once the gateway runs")
    func hangUp() async throws {
        try await Self.withHeldGateway { gateway, writer, pipe in
            gateway.signal(SIGHUP)
            // What is read again is an ordinary file.
            try Self.secret.write(toFile: pipe + ".new", atomically: false, encoding: .utf8)
            try #require(rename(pipe + ".new", pipe) == 0)
            try writer.write(contentsOf: Data(Self.secret.utf8))
            try writer.close()
            _ = try await gateway.lines { $0.hasPrefix("Ready") }
            for _ in 0..<600 where !gateway.error.contains("was read again") {
                try await Task.sleep(for: .milliseconds(50))
            }
            #expect(gateway.error.contains("was read again"), "\(gateway.error)")
            #expect(try await gateway.end(SIGTERM) == 0)
        }
    }

    @Test("SIGTERM ends it at once, also after a SIGHUP")
    func terminate() async throws {
        try await Self.withHeldGateway { gateway, writer, _ in
            gateway.signal(SIGHUP)
            #expect(try await gateway.end(SIGTERM) != 0)
            #expect(!gateway.error.contains("rror"), "\(gateway.error)")
            try writer.close()
        }
    }
}
