// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// A proxy between a client and the server that cuts a connection at a chosen moment.
///
/// It reads PostgreSQL's messages on their way, so that the moment is exact: before a `COMMIT` goes
/// to the server, or after the server has answered it and before the client gets the answer. Not
/// for connections with TLS.
package final class CuttingProxy: Sendable {
    /// When the next connection on which it happens is cut.
    package enum Cut: Sendable {
        /// What the client sent up to its `COMMIT` goes to the server, `COMMIT` does not.
        case beforeCommit
        /// `COMMIT` goes to the server, and the connection ends before the server can have
        /// answered: whether it was carried out is chance.
        case inCommit
        /// `COMMIT` goes to the server; nothing of what the server answers comes back.
        case afterCommit
        /// At once, all of them.
        case now
    }

    /// The port on which it listens.
    package let port: Int
    private let listener: Int32
    private let serverPort: Int
    private let state = Mutex(State())

    private struct State {
        var cut: Cut?
        var cuts = 0
        var connections: Set<Int32> = []
        var isRefusing = false
        var isFrozen = false
    }

    /// Listens on a free port for a server on another one.
    package init(to serverPort: Int) throws {
        self.serverPort = serverPort
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        port = try Sockets.listen(listener)
        Thread.detachNewThread { [self] in accept() }
    }

    /// Ends it and all connections.
    package func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        cutAll()
    }

    /// Cuts at the next such moment; `now` at once.
    package func cut(_ cut: Cut) {
        if case .now = cut { return cutAll() }
        state.withLock { $0.cut = cut }
    }

    /// How many connections were cut at a `COMMIT`.
    package var cutCount: Int { state.withLock { $0.cuts } }

    /// Whether new connections are closed at once.
    package var isRefusing: Bool {
        get { state.withLock { $0.isRefusing } }
        set { state.withLock { $0.isRefusing = newValue } }
    }

    /// Whether nothing goes to and fro, while connections stay: as for a process that is stopped.
    package var isFrozen: Bool {
        get { state.withLock { $0.isFrozen } }
        set { state.withLock { $0.isFrozen = newValue } }
    }

    private func waitWhileFrozen() { while isFrozen { usleep(2_000) } }

    private func cutAll() {
        state.withLock { state in
            for connection in state.connections { shutdown(connection, Int32(SHUT_RDWR)) }
        }
    }

    // MARK: Connections

    private func accept() {
        while case let client = Foundation.accept(listener, nil, nil), client >= 0 {
            guard !isRefusing, let server = Sockets.connect(to: serverPort) else {
                close(client)
                continue
            }
            state.withLock { _ = $0.connections.insert(client) }
            let pair = ProxiedPair(client: client, server: server)
            Thread.detachNewThread { [self] in
                forwardAnswers(pair)
                pair.end { state.withLock { _ = $0.connections.remove(client) } }
            }
            Thread.detachNewThread { [self] in
                forwardRequests(pair)
                pair.end { state.withLock { _ = $0.connections.remove(client) } }
            }
        }
        close(listener)
    }

    private func forwardRequests(_ pair: ProxiedPair) {
        var messages = MessageReader()
        while let bytes = Sockets.receive(pair.client) {
            messages.append(bytes)
            while let message = messages.next() {
                waitWhileFrozen()
                if message.isCommit, let cut = takeCut() {
                    if case .inCommit = cut {
                        pair.isMute.store(true, ordering: .sequentiallyConsistent)
                        _ = Sockets.send(message.bytes + MessageReader.run, to: pair.server)
                    }
                    if case .afterCommit = cut {
                        pair.isMute.store(true, ordering: .sequentiallyConsistent)
                        // With the synchronization behind it, without which nothing is flushed.
                        guard Sockets.send(message.bytes + MessageReader.run, to: pair.server)
                        else { return }
                        pair.isCommitAnswered.wait()
                    }
                    return
                }
                guard Sockets.send(message.bytes, to: pair.server) else { return }
            }
        }
    }

    private func forwardAnswers(_ pair: ProxiedPair) {
        var kept = ""
        while let bytes = Sockets.receive(pair.server) {
            waitWhileFrozen()
            guard pair.isMute.load(ordering: .sequentiallyConsistent) else {
                guard Sockets.send(bytes, to: pair.client) else { return }
                continue
            }
            kept += String(decoding: bytes, as: UTF8.self)
            // Its answer has come, so the server has committed.
            if kept.contains("COMMIT\0") { break }
        }
        pair.isCommitAnswered.signal()
    }

    private func takeCut() -> Cut? {
        state.withLock { state in
            guard let cut = state.cut.take() else { return nil }
            state.cuts += 1
            return cut
        }
    }
}

/// The two ends of a connection through the proxy, closed when both directions have ended.
private final class ProxiedPair: Sendable {
    let client: Int32
    let server: Int32
    /// Whether nothing goes to the client any more.
    let isMute = Atomic(false)
    let isCommitAnswered = DispatchSemaphore(value: 0)
    private let endedDirections = Atomic(0)

    init(client: Int32, server: Int32) {
        self.client = client
        self.server = server
    }

    /// One direction has ended: the other one does too.
    func end(_ forget: () -> Void) {
        shutdown(client, Int32(SHUT_RDWR))
        shutdown(server, Int32(SHUT_RDWR))
        guard endedDirections.add(1, ordering: .sequentiallyConsistent).newValue == 2 else {
            return
        }
        forget()
        close(client)
        close(server)
    }
}

/// Cuts what a client sends into PostgreSQL's messages: a type, the length, and the rest.
private struct MessageReader {
    struct Message {
        let bytes: [UInt8]

        /// The parse of a COMMIT: libpq sends parse, bind, describe and execute in this order.
        var isCommit: Bool {
            bytes.first == UInt8(ascii: "P")
                && String(decoding: bytes, as: UTF8.self).contains("COMMIT\0")
        }
    }

    /// Bind, execute and synchronize an unnamed statement.
    static let run: [UInt8] =
        [UInt8(ascii: "B"), 0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0]
        + [UInt8(ascii: "E"), 0, 0, 0, 9, 0, 0, 0, 0, 0] + [UInt8(ascii: "S"), 0, 0, 0, 4]

    private var buffer: [UInt8] = []
    /// Whether the first message, which has no type, is still to come.
    private var hasStartup = true

    mutating func append(_ bytes: [UInt8]) { buffer += bytes }

    mutating func next() -> Message? {
        let start = hasStartup ? 0 : 1
        guard buffer.count >= start + 4 else { return nil }
        let length = buffer[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
        guard buffer.count >= start + length else { return nil }
        let message = Message(bytes: Array(buffer[..<(start + length)]))
        // What asks for TLS or Kerberos comes before the true startup message.
        let code = hasStartup ? message.bytes[4..<8].reduce(0) { $0 << 8 | Int($1) } : 0
        if hasStartup, code != 80_877_103, code != 80_877_104 { hasStartup = false }
        buffer.removeFirst(start + length)
        return message
    }
}
