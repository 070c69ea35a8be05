// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc

/// The server in Go of Tests/Benchmarks/Peers/go, in a process of its own: what one would write
/// with that language's standard library, with everything in memory.
struct MeasuredPeer {
    let port: Int
    /// The key of its API.
    let key: String
    private let process: ChildProcess

    /// Compiles it; returns the program's path.
    static func build(on bench: Bench) throws -> String {
        let source = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Peers/go/main.go").standardized.path
        let program = bench.directory + "/peer-go"
        do {
            _ = try ChildProcess(
                "env", ["GO111MODULE=off", "go", "build", "-o", program, source], processor: nil
            ).waitForEnd()
        } catch {
            throw ChildProcess.Failure(
                description: "go does not compile the peer; Debian's golang-go has it: \(error)")
        }
        return program
    }

    /// Starts it, and returns when it takes connections.
    static func start(
        _ program: String, against server: MeasuredServer, on bench: Bench
    ) throws -> MeasuredPeer {
        let port = try Loopback.freePort()
        let folder = "\(bench.directory)/peer-\(port)"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        let key = String(UInt64.random(in: 0 ... .max), radix: 16)
        try Data(key.utf8).write(to: URL(filePath: folder + "/api-key"))
        let signingKey = try MeasuredGateway.makeSigningKey(folder)
        let process = try ChildProcess(
            program,
            [
                "-listen", "127.0.0.1:\(port)", "-server", "127.0.0.1:\(server.port)",
                "-ca", server.authorityPath, "-key", signingKey, "-key-id", Sample.keyID,
                "-team-id", Sample.teamID, "-api-key-file", folder + "/api-key",
            ], processor: nil)
        guard Loopback.waitUntilListening(port: port) else {
            throw ChildProcess.Failure(description: "the peer in Go does not listen")
        }
        return MeasuredPeer(port: port, key: key, process: process)
    }

    /// Its user and system time so far, in seconds.
    var cpuSeconds: Double { ProcessClocks.cpuSeconds(of: process.id) }

    /// Ends it. Throws when a push of it was not accepted.
    func stop(_ load: HTTPLoad) throws {
        let stats = try load.askForStats()
        try process.end(SIGTERM)
        guard stats.failed ?? 0 == 0 else {
            throw ChildProcess.Failure(
                description: "\(stats.failed ?? 0) pushes of the peer in Go failed")
        }
    }
}
