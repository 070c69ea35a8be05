// SPDX-License-Identifier: Apache-2.0

import CLibssl
import Foundation
import Glibc
package import PushTransport
import Synchronization
import Testing

/// A TLS server on raw sockets that agrees to h2 and then says whatever its script wants. Each
/// connection has a thread of its own, which runs the script once.
package final class HostileServer: Sendable {
    /// One connection, as the script sees it.
    package struct Peer {
        /// Its place among the connections, from 1, in the order in which they were accepted.
        package let connection: Int
        fileprivate let tls: OpaquePointer

        /// The name that the client sent in TLS (RFC 6066 §3).
        package var serverName: String? {
            SSL_get_servername(tls, TLSEXT_NAMETYPE_host_name).map { String(cString: $0) }
        }

        /// Whether the TLS session is that of an earlier connection.
        package var isResumed: Bool { SSL_session_reused(tls) == 1 }

        /// Whether the client sent, or tried to send, anything before the handshake was done.
        package var hasEarlyData: Bool {
            SSL_get_early_data_status(tls) != SSL_EARLY_DATA_NOT_SENT
        }

        /// False once the client is gone.
        package func send(_ bytes: [UInt8]) -> Bool {
            SSL_write(tls, bytes, Int32(bytes.count)) == Int32(bytes.count)
        }

        /// Waits for bytes; `nil` once the client is gone.
        package func receive() -> [UInt8]? {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = SSL_read(tls, &buffer, Int32(buffer.count))
            return count > 0 ? Array(buffer.prefix(Int(count))) : nil
        }

        /// Reads until a request's HEADERS have come.
        package func awaitRequest() -> Bool {
            while let bytes = receive() {
                // The preface and SETTINGS are shorter than any request.
                if bytes.count > 100 { return true }
            }
            return false
        }

        /// Reads until the client is gone.
        package func listen() { while receive() != nil {} }
    }

    /// What the TLS tickets of one connection are to another.
    package enum Tickets: Sendable {
        /// Unreadable; the handshake is a full one.
        case foreign
        /// Good: the session is resumed.
        case shared
        /// A reason to end the handshake. OpenSSL does so where clients are verified and the server
        /// has no session id context.
        case fatal
    }

    package let port: Int
    package let certificate: MadeCertificate
    private let directory: TemporaryDirectory

    /// A configuration that reaches it, without a proxy.
    package var reach: TransportConfiguration {
        get throws {
            var reach = TransportConfiguration(host: "127.0.0.1")
            reach.port = port
            reach.trust = .pem(try certificate.pem)
            reach.proxy = .none
            return reach
        }
    }

    private let listener: Int32
    private let isOld: Bool
    private let tickets: Tickets
    private let silentConnections: Int
    private let accepted = Atomic(0)
    private let ended = Atomic(0)
    private let script: @Sendable (Peer) -> Void

    /// Listens on 127.0.0.1, unless another listener is given; `isOld` keeps it to TLS 1.1. The
    /// first `silentConnections` connections are accepted and get no byte.
    package init(
        on listener: Int32 = Socket.listening(), isOld: Bool = false, tickets: Tickets = .foreign,
        silentConnections: Int = 0,
        _ script: @escaping @Sendable (Peer) -> Void
    ) async throws {
        // A client that closes under a script must not end the tests.
        signal(SIGPIPE, SIG_IGN)
        directory = try TemporaryDirectory()
        certificate = try await MadeCertificate(
            for: "IP:127.0.0.1,IP:::1,DNS:localhost", in: directory)
        self.listener = listener
        self.isOld = isOld
        self.tickets = tickets
        self.silentConnections = silentConnections
        port = Socket.port(of: listener)
        self.script = script
        Thread.detachNewThread { [self] in acceptAll() }
    }

    /// Scripts that have come to their end; a handshake that fails counts as one.
    package var endedScripts: Int { ended.load(ordering: .acquiring) }
    /// Connections so far.
    package var connections: Int { accepted.load(ordering: .acquiring) }
    /// Those of them that have not come to their end.
    package var openConnections: Int { connections - endedScripts }

    package func close() { shutdown(listener, Int32(SHUT_RDWR)) }

    private func acceptAll() {
        while true {
            let client = accept(listener, nil, nil)
            guard client >= 0 else { break }
            let number = accepted.add(1, ordering: .acquiringAndReleasing).newValue
            Thread.detachNewThread { [self] in
                serve(client, number)
                Glibc.close(client)
                ended.add(1, ordering: .acquiringAndReleasing)
            }
        }
        Glibc.close(listener)
    }

    private func serve(_ client: Int32, _ number: Int) {
        if number <= silentConnections {
            var byte: UInt8 = 0
            while recv(client, &byte, 1, 0) > 0 {}
            return
        }
        // One for each connection: then no thread has another's.
        guard let context = makeContext() else { return }
        let tls = SSL_new(context)
        SSL_set_fd(tls, client)
        if let tls, SSL_accept(tls) == 1 { script(Peer(connection: number, tls: tls)) }
        SSL_free(tls)
        SSL_CTX_free(context)
    }

    private func makeContext() -> OpaquePointer? {
        guard let context = SSL_CTX_new(TLS_server_method()) else { return nil }
        if isOld {
            // OpenSSL's ordinary security level has no digest that TLS 1.1 could sign with.
            SSL_CTX_set_cipher_list(context, "ALL:@SECLEVEL=0")
            SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_VERSION), nil)
            SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(TLS1_1_VERSION), nil)
        }
        SSL_CTX_use_certificate_file(context, certificate.certificatePath, SSL_FILETYPE_PEM)
        SSL_CTX_use_PrivateKey_file(context, certificate.keyPath, SSL_FILETYPE_PEM)
        if tickets != .foreign {
            var key = [UInt8](repeating: 7, count: 80)
            SSL_CTX_ctrl(context, SSL_CTRL_SET_TLSEXT_TICKET_KEYS, key.count, &key)
            // So that early data would be seen; without SSL_OP_NO_ANTI_REPLAY, bit 24, OpenSSL then
            // wants the tickets' sessions in a cache.
            SSL_CTX_set_max_early_data(context, 16_384)
            SSL_CTX_set_options(context, 1 << 24)
        }
        if tickets == .fatal { SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil) }
        SSL_CTX_set_alpn_select_cb(
            context,
            { _, out, length, offered, _, _ in
                // The client offers h2, behind its length, before anything else.
                out?.pointee = offered.map { $0 + 1 }
                length?.pointee = 2
                return SSL_TLSEXT_ERR_OK
            }, nil)
        return context
    }
}
