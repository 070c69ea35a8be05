// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Synchronization

/// A TCP relay on raw sockets that can break connections the hard way; also a small HTTP proxy that
/// understands CONNECT with basic authentication.
package final class Relay: Sendable {
    package enum Mode: Sendable {
        /// Every connection goes on to this port of 127.0.0.1.
        case plain(port: Int)
        /// Where it goes, CONNECT says; `credentials` are `user:password`.
        case proxy(credentials: String?)
    }

    package let port: Int
    private let listener: Int32
    private let mode: Mode
    private let state = Mutex(State())

    private struct State {
        var accepted = 0
        var targets: [String] = []
        var clients: [Int32] = []
        var servers: [Int32] = []
        var isOpen = true
    }

    package init(_ mode: Mode) {
        self.mode = mode
        listener = Socket.listening()
        port = Socket.port(of: listener)
        Thread.detachNewThread { [self] in acceptAll() }
    }

    /// Connections accepted so far.
    package var accepted: Int { state.withLock { $0.accepted } }
    /// What CONNECT asked for, one by one.
    package var targets: [String] { state.withLock { $0.targets } }

    /// Ends every connection towards the client with a TCP reset.
    package func resetClients() {
        state.withLock { state in
            for socket in state.clients {
                var linger = linger(l_onoff: 1, l_linger: 0)
                setsockopt(
                    socket, SOL_SOCKET, SO_LINGER, &linger,
                    socklen_t(MemoryLayout.size(ofValue: linger)))
                // A reset follows from the close, but a reader in another thread holds the
                // descriptor; disconnecting does it immediately.
                var nowhere = sockaddr(
                    sa_family: sa_family_t(AF_UNSPEC),
                    sa_data: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
                connect(socket, &nowhere, socklen_t(MemoryLayout.size(ofValue: nowhere)))
            }
            for socket in state.servers { shutdown(socket, Int32(SHUT_RDWR)) }
        }
    }

    /// Stops listening and ends every connection.
    package func close() {
        state.withLock { state in
            state.isOpen = false
            for socket in state.clients + state.servers { shutdown(socket, Int32(SHUT_RDWR)) }
        }
        shutdown(listener, Int32(SHUT_RDWR))
    }

    private func acceptAll() {
        while true {
            let client = accept(listener, nil, nil)
            guard client >= 0, state.withLock({ $0.isOpen }) else {
                if client >= 0 { Glibc.close(client) }
                Glibc.close(listener)
                return
            }
            state.withLock { $0.accepted += 1 }
            Thread.detachNewThread { [self] in serve(client) }
        }
    }

    private func serve(_ client: Int32) {
        var target: Int?
        switch mode {
        case .plain(let port): target = port
        case .proxy(let credentials): target = negotiate(client, credentials)
        }
        guard let target, let server = Socket.connected(to: target) else {
            Glibc.close(client)
            return
        }
        state.withLock { state in
            state.clients.append(client)
            state.servers.append(server)
        }
        let half = Thread { pump(from: server, to: client) }
        half.start()
        pump(from: client, to: server)
        shutdown(server, Int32(SHUT_RDWR))
        while !half.isFinished { usleep(1000) }
        state.withLock { state in
            state.clients.removeAll { $0 == client }
            state.servers.removeAll { $0 == server }
            Glibc.close(client)
            Glibc.close(server)
        }
    }

    /// Reads CONNECT, answers it, and returns the port to connect to.
    private func negotiate(_ client: Int32, _ credentials: String?) -> Int? {
        var head = ""
        while !head.hasSuffix("\r\n\r\n") {
            var byte: UInt8 = 0
            guard recv(client, &byte, 1, 0) == 1 else { return nil }
            head.unicodeScalars.append(Unicode.Scalar(byte))
        }
        let words = head.split(separator: " ")
        guard words.count > 1, words[0] == "CONNECT" else { return nil }
        state.withLock { $0.targets.append(String(words[1])) }
        if let credentials {
            let expected =
                "Proxy-Authorization: Basic " + Data(credentials.utf8).base64EncodedString()
            guard head.contains(expected) else {
                Socket.send(
                    "HTTP/1.1 407 Proxy Authentication Required\r\n"
                        + "Proxy-Authenticate: Basic realm=\"test\"\r\nContent-Length: 0\r\n\r\n",
                    to: client)
                return nil
            }
        }
        Socket.send("HTTP/1.1 200 Connection established\r\n\r\n", to: client)
        return words[1].split(separator: ":").last.flatMap { Int($0) }
    }
}

private func pump(from source: Int32, to sink: Int32) {
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
        let count = recv(source, &buffer, buffer.count, 0)
        guard count > 0 else { break }
        var offset = 0
        while offset < count {
            let sent = send(
                sink, Array(buffer[offset..<count]), count - offset, Int32(MSG_NOSIGNAL))
            guard sent > 0 else { return }
            offset += sent
        }
    }
    shutdown(sink, Int32(SHUT_WR))
}
