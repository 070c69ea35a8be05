// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// A server on a plain socket that answers each connection with the same bytes and keeps what it
/// was sent. It reads until the head, and the body that the head announces, are there.
package final class OneShotServer: Sendable {
    package let port: Int
    private let listener: Int32
    private let answer: [UInt8]
    private let isServed: Bool
    private let requests = Mutex<[String]>([])

    /// What was asked so far, as text.
    package var received: [String] { requests.withLock { $0 } }

    /// Listens on a port that the system chooses; an empty answer closes the connection. Without
    /// any answer it takes connections and lets them wait.
    package init(_ answer: String?) throws {
        self.answer = Array((answer ?? "").utf8)
        isServed = answer != nil
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        self.listener = listener
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(listener, pointer, length) == 0 && listen(listener, 8) == 0
                    && getsockname(listener, pointer, &length) == 0
            }
        }
        guard isBound else { throw POSIXError(.EADDRNOTAVAIL) }
        port = Int(UInt16(bigEndian: address.sin_port))
        // The system takes connections by itself until somebody accepts them.
        if isServed { Thread.detachNewThread { [self] in serve() } }
    }

    /// Ends it. Whoever accepts closes the descriptor: closed here, its number could be another
    /// server's by the time of the next accept, which would then take that one's connections.
    package func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        if !isServed { close(listener) }
    }

    private func serve() {
        while case let connection = accept(listener, nil, nil), connection >= 0 {
            let text = Self.read(connection)
            requests.withLock { $0.append(text) }
            _ = answer.withUnsafeBytes {
                send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            close(connection)
        }
        close(listener)
    }

    private static func read(_ connection: Int32) -> String {
        var text = ""
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return text }
            text += String(decoding: buffer[..<count], as: UTF8.self)
            guard let end = text.range(of: "\r\n\r\n") else { continue }
            let length = text.firstMatch(of: /(?i)content-length: (\d+)/).flatMap { Int($0.1) } ?? 0
            if text[end.upperBound...].utf8.count >= length { return text }
        }
    }
}
