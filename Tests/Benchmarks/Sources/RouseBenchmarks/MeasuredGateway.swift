// SPDX-License-Identifier: Apache-2.0

import AdminAPI
import FoundationEssentials
import Gateway
import Glibc
import StoreSQLite

/// A gateway in a process of its own, as `rouse serve` runs it, with an API key and a new store.
struct MeasuredGateway {
    let port: Int
    /// The keys of the API.
    let keys: [String]
    private let folder: String
    private let process: ChildProcess

    /// Starts one that pushes to this server, and returns when it takes connections.
    static func start(
        against server: MeasuredServer, keyCount: Int = 1, on bench: Bench
    ) throws -> MeasuredGateway {
        let port = try Loopback.freePort()
        let folder = "\(bench.directory)/gateway-\(port)"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        let secrets = (0..<keyCount).map { _ in
            KeySecret(
                (
                    .random(in: 0 ... .max), .random(in: 0 ... .max), .random(in: 0 ... .max),
                    .random(in: 0 ... .max)
                ))
        }
        _ = try makeSigningKey(folder)
        let path = folder + "/rouse.yaml"
        try Data(configuration(port: port, secrets, server).utf8)
            .write(to: URL(filePath: path))
        let process = try ChildProcess.ourselves(
            [ServeGateway.name, "--config", path], processor: nil)
        guard Loopback.waitUntilListening(port: port) else {
            throw ChildProcess.Failure(description: "the gateway does not listen")
        }
        return MeasuredGateway(
            port: port, keys: secrets.map(\.text), folder: folder, process: process)
    }

    /// The first key of the API.
    var key: String { keys[0] }

    /// The number of its process.
    var processID: pid_t { process.id }

    /// Its user and system time so far, in seconds.
    var cpuSeconds: Double { ProcessClocks.cpuSeconds(of: process.id) }

    /// Ends it as an operator does, and returns what is on disk then, counted row by row.
    func stop() async throws -> StoreCount {
        try process.end(SIGTERM)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let store = try SQLiteWakeStore(path: folder + "/" + Self.storeName)
        let count = try await store.perform(RecountWakes())
        try store.close()
        return count
    }

    private static let storeName = "wakes.sqlite"
    private static var signingKeyName: String { "AuthKey_\(Sample.keyID).p8" }

    /// Makes a key for provider tokens in a folder; returns the file's path.
    static func makeSigningKey(_ folder: String) throws -> String {
        let path = "\(folder)/\(signingKeyName)"
        _ = try ChildProcess(
            "openssl",
            [
                "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", path,
            ], processor: nil
        ).waitForEnd()
        return path
    }

    /// Everything as it is by default, but a rate that does not limit what is measured.
    private static func configuration(
        port: Int, _ secrets: [KeySecret], _ server: MeasuredServer
    ) -> String {
        let keys = secrets.enumerated().map { place, secret in
            """
              - name: benchmark-\(place)
                sha256: \(secret.sha256)
                requests-per-second: 100000
            """
        }
        return """
            listen: 127.0.0.1:\(port)
            store: \(storeName)
            store-durability: disk
            log-level: warning
            api-keys:
            \(keys.joined(separator: "\n"))
            apps:
              - bundle-id: \(Sample.bundleID)
                environment: production
                team-id: \(Sample.teamID)
                key-file: \(signingKeyName)
                server:
                  host: 127.0.0.1
                  port: \(server.port)
                  ca-file: \(server.authorityPath)
            transport:
              kind: native
              proxy: none

            """
    }
}
