// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A request on a plain socket that stays open until it is closed: one whose body does not end, or
/// whose answer does not.
final class OpenExchange: Sendable {
    private let descriptor: Int32

    /// Connects, sends these bytes, and keeps the connection, for which the system may keep so many
    /// received bytes.
    init(_ text: String, port: Int, receiveByteCount: Int32? = nil) throws {
        descriptor = try LoopbackSocket.connect(
            port: port, patienceSeconds: 30, receiveByteCount: receiveByteCount)
        try send(text)
    }

    /// Sends more.
    func send(_ text: String) throws {
        let bytes = Array(text.utf8)
        guard Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
            throw POSIXError(.EPIPE)
        }
    }

    /// Ends the caller's side and the server's: a pending ``read(until:)`` returns.
    func end() { _ = Glibc.shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Says that nothing more is sent, and goes on reading.
    func closeSendingHalf() { _ = Glibc.shutdown(descriptor, Int32(SHUT_WR)) }

    deinit { close(descriptor) }

    /// What comes, until the text is in it, the server closes, or patience is over.
    func read(until text: String? = nil) async -> String {
        await withCheckedContinuation { continuation in
            // The calls block, so they have a thread of their own.
            Thread.detachNewThread { [self] in
                var answer: [UInt8] = []
                var buffer = [UInt8](repeating: 0, count: 65_536)
                let isThere = { text.map(String(decoding: answer, as: UTF8.self).contains) == true }
                while !isThere() {
                    let count = recv(descriptor, &buffer, buffer.count, 0)
                    guard count > 0 else { break }
                    answer += buffer[..<count]
                }
                continuation.resume(returning: String(decoding: answer, as: UTF8.self))
            }
        }
    }
}
