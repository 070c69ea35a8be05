// SPDX-License-Identifier: Apache-2.0

import Foundation
import Gateway
import GatewayTestKit
import Logging

@testable import AdminAPI

/// A small HTTP/1.1 client on a plain socket, independent of the server's code.
struct HTTPExchange {
    let status: Int
    let head: String
    let body: String

    func json() throws -> [String: Any] {
        try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any] ?? [:]
    }

    /// Sends raw bytes to the port and reads until the server closes or says nothing for so long.
    static func raw(
        _ bytes: [UInt8], port: Int, patienceSeconds: Int = 15
    ) async throws -> HTTPExchange {
        try await withCheckedThrowingContinuation { continuation in
            // The calls block, so they have a thread of their own.
            Thread.detachNewThread {
                continuation.resume(with: Result { try exchange(bytes, port, patienceSeconds) })
            }
        }
    }

    /// One request with its own connection.
    static func send(
        _ method: String, _ path: String, body: String? = nil, headers: [String: String] = [:],
        port: Int, patienceSeconds: Int = 15
    ) async throws -> HTTPExchange {
        var lines = ["\(method) \(path) HTTP/1.1", "Host: localhost", "Connection: close"]
        lines += headers.map { "\($0): \($1)" }
        if let body { lines.append("Content-Length: \(body.utf8.count)") }
        let text = lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? "")
        return try await raw(
            Array(text.utf8), port: port, patienceSeconds: patienceSeconds)
    }

    private static func exchange(
        _ bytes: [UInt8], _ port: Int, _ patienceSeconds: Int
    ) throws -> HTTPExchange {
        let descriptor = try LoopbackSocket.connect(port: port, patienceSeconds: patienceSeconds)
        defer { close(descriptor) }
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
    audit: AuditLog? = nil, webhooks: [WebhookHealth] = [],
    channels: (any ChannelService)? = nil, _ body: (Int) async throws -> Void
) async throws {
    let (ports, continuation) = AsyncStream<Int>.makeStream()
    let metrics = MetricsRegistry()
    metrics.serve(gateway.apps.map(\.app))
    let service = AdminAPI(
        configuration: configuration, gateway: gateway, metrics: metrics, logger: logger,
        audit: audit,
        webhooks: { webhooks }, channels: { channels }
    ).service(on: .tcp(host: "127.0.0.1", port: 0)) { address in
        if case .tcp(_, let port) = address { continuation.yield(port) }
    }
    try await withRunning(gateway, with: [service]) {
        for await port in ports {
            try await body(port)
            break
        }
    }
}
