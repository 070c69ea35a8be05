// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import Glibc

/// A server on its own processor, in a process of its own.
struct MeasuredServer {
    enum Kind: String, CaseIterable, Codable, ExpressibleByArgument {
        /// nghttp2's file server: nobody here wrote it, and it knows nothing of pushes.
        case nghttpd
        /// Our APNs simulator, which checks every request.
        case simulator = "simulator"
    }

    let kind: Kind
    let port: Int
    /// The PEM file of the authority that vouches for it.
    let authorityPath: String
    private let process: ChildProcess

    /// Starts one and returns when it takes connections.
    /// Without a processor it shares all of them.
    static func start(
        _ kind: Kind, on bench: Bench, processor: Int32? = ChildProcess.serverProcessor
    ) throws -> MeasuredServer {
        switch kind {
        case .nghttpd: try startNghttpd(on: bench, processor)
        case .simulator: try startSimulator(on: bench, processor)
        }
    }

    /// Its user and system time so far, in seconds.
    var cpuSeconds: Double { ProcessClocks.cpuSeconds(of: process.id) }

    func stop() throws { try process.end(SIGTERM) }

    private static func startNghttpd(
        on bench: Bench, _ processor: Int32?
    ) throws -> MeasuredServer {
        let port = try Loopback.freePort()
        let process = try ChildProcess(
            "nghttpd",
            [
                "--address=127.0.0.1", "--workers=1", "--max-concurrent-streams=1000",
                "--htdocs=" + bench.documentsPath, String(port), bench.keyPath,
                bench.certificatePath,
            ], processor: processor)
        guard Loopback.waitUntilListening(port: port) else {
            throw ChildProcess.Failure(
                description: "nghttpd does not listen; Debian's nghttp2-server has it")
        }
        return MeasuredServer(
            kind: .nghttpd, port: port, authorityPath: bench.certificatePath, process: process)
    }

    private static func startSimulator(
        on bench: Bench, _ processor: Int32?
    ) throws -> MeasuredServer {
        let process = try ChildProcess.ourselves(
            ["serve-simulator"], processor: processor)
        guard let line = process.readLine() else {
            throw ChildProcess.Failure(description: "the simulator did not start")
        }
        let address = try JSONDecoder().decode(SimulatorAddress.self, from: Data(line.utf8))
        let authorityPath = bench.directory + "/simulator-authority.pem"
        try Data(address.authorityPEM.utf8).write(to: URL(filePath: authorityPath))
        return MeasuredServer(
            kind: .simulator, port: address.port, authorityPath: authorityPath, process: process)
    }
}

/// TCP on 127.0.0.1.
enum Loopback {
    /// How long a server may take to listen, in milliseconds.
    private static let patienceMilliseconds = 5000

    /// A port that was free a moment ago.
    static func freePort() throws -> Int {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = address(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withSocketAddress(&address) { bind(socket, $0, length) == 0 }
        guard isBound, withSocketAddress(&address, { getsockname(socket, $0, &length) == 0 }) else {
            throw ChildProcess.Failure(description: "no TCP port is free")
        }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// Tries to connect until it succeeds.
    static func waitUntilListening(port: Int) -> Bool {
        for _ in 0..<(patienceMilliseconds / 10) {
            if let socket = connect(port: port) {
                close(socket)
                return true
            }
            usleep(10_000)
        }
        return false
    }

    /// A connected socket, which the caller closes; `nil` when nobody listens.
    static func connect(port: Int) -> Int32? {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = address(port: port)
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isConnected = withSocketAddress(&address) { Glibc.connect(socket, $0, length) == 0 }
        guard isConnected else {
            close(socket)
            return nil
        }
        return socket
    }

    private static func address(port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        return address
    }

    /// SAFETY: every socket address begins as `sockaddr` does, and the calls get its real length.
    private static func withSocketAddress<R>(
        _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>) -> R
    ) -> R {
        withUnsafeMutableBytes(of: &address) { bytes in
            guard let start = bytes.baseAddress else {
                preconditionFailure("A variable has an address.")
            }
            return body(start.assumingMemoryBound(to: sockaddr.self))
        }
    }
}
