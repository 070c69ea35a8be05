// SPDX-License-Identifier: Apache-2.0

import AdminAPI
import Foundation
import Gateway
import GatewayTestKit
import Logging
import ServiceLifecycle

/// A small HTTP/1.1 client on a plain socket, independent of the server's code.
struct HTTPExchange {
    let status: Int
    let head: String
    let body: String

    func json() throws -> [String: Any] {
        try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any] ?? [:]
    }

    /// Sends raw bytes to the port and reads until the server closes or five seconds are over.
    static func raw(_ bytes: [UInt8], port: Int) async throws -> HTTPExchange {
        try await withCheckedThrowingContinuation { continuation in
            // The calls block, so they have a thread of their own.
            Thread.detachNewThread {
                continuation.resume(with: Result { try exchange(bytes, port: port) })
            }
        }
    }

    /// One request with its own connection.
    static func send(
        _ method: String, _ path: String, body: String? = nil, headers: [String: String] = [:],
        port: Int
    ) async throws -> HTTPExchange {
        var lines = ["\(method) \(path) HTTP/1.1", "Host: localhost", "Connection: close"]
        lines += headers.map { "\($0): \($1)" }
        if let body { lines.append("Content-Length: \(body.utf8.count)") }
        let text = lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? "")
        return try await raw(Array(text.utf8), port: port)
    }

    private static func exchange(_ bytes: [UInt8], port: Int) throws -> HTTPExchange {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var patience = timeval(tv_sec: 5, tv_usec: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        let isConnected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else { throw POSIXError(.ECONNREFUSED) }
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { break }
            sent += count
        }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            answer += buffer[..<count]
        }
        return parse(String(decoding: answer, as: UTF8.self))
    }

    private static func parse(_ text: String) -> HTTPExchange {
        let parts = text.components(separatedBy: "\r\n\r\n")
        let head = parts.first ?? ""
        let status = head.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return HTTPExchange(
            status: status, head: head, body: parts.dropFirst().joined(separator: "\r\n\r\n"))
    }
}

/// Runs a gateway and its API on a port that the system chose.
func withAPI(
    _ gateway: Gateway, configuration: AdminConfiguration, logger: Logger = .silent,
    _ body: (Int) async throws -> Void
) async throws {
    let (ports, continuation) = AsyncStream<Int>.makeStream()
    let service = AdminAPI(configuration: configuration, gateway: gateway, logger: logger)
        .service(on: .tcp(host: "127.0.0.1", port: 0)) { address in
            if case .tcp(_, let port) = address { continuation.yield(port) }
        }
    let group = ServiceGroup(
        configuration: .init(
            services: [.init(service: gateway), .init(service: service)], logger: .silent))
    let run = Task { try await group.run() }
    var failure: (any Error)?
    for await port in ports {
        do { try await body(port) } catch { failure = error }
        break
    }
    await group.triggerGracefulShutdown()
    try await run.value
    if let failure { throw failure }
}
