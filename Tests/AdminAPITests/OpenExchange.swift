// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A request on a plain socket that stays open until it is closed: one whose body does not end, or
/// whose answer does not.
final class OpenExchange: Sendable {
    private let descriptor: Int32

    /// Connects, sends these bytes, and keeps the connection.
    init(_ text: String, port: Int) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var patience = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        let isConnected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else { throw POSIXError(.ECONNREFUSED) }
        let bytes = Array(text.utf8)
        guard Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
            throw POSIXError(.EPIPE)
        }
    }

    /// Ends the caller's side and the server's: a pending ``read(until:)`` returns.
    func end() { _ = Glibc.shutdown(descriptor, Int32(SHUT_RDWR)) }

    deinit { close(descriptor) }

    /// What comes, until the text is in it, the server closes, or patience is over.
    func read(until text: String) async -> String {
        await withCheckedContinuation { continuation in
            // The calls block, so they have a thread of their own.
            Thread.detachNewThread { [self] in
                var answer: [UInt8] = []
                var buffer = [UInt8](repeating: 0, count: 4_096)
                while !String(decoding: answer, as: UTF8.self).contains(text) {
                    let count = recv(descriptor, &buffer, buffer.count, 0)
                    guard count > 0 else { break }
                    answer += buffer[..<count]
                }
                continuation.resume(returning: String(decoding: answer, as: UTF8.self))
            }
        }
    }
}
