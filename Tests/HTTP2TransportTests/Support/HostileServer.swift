// SPDX-License-Identifier: Apache-2.0

import CLibssl
import Foundation
import Glibc
import Synchronization
import Testing
import TransportTestKit

/// A TLS server on raw sockets that agrees to h2 and then says whatever its script wants.
final class HostileServer: Sendable {
    /// One connection, as the script sees it.
    struct Peer {
        fileprivate let tls: OpaquePointer

        /// The name that the client sent in TLS (RFC 6066 §3).
        var serverName: String? {
            SSL_get_servername(tls, TLSEXT_NAMETYPE_host_name).map { String(cString: $0) }
        }

        /// False once the client is gone.
        func send(_ bytes: [UInt8]) -> Bool {
            SSL_write(tls, bytes, Int32(bytes.count)) == Int32(bytes.count)
        }

        /// Waits for bytes; `nil` once the client is gone.
        func receive() -> [UInt8]? {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = SSL_read(tls, &buffer, Int32(buffer.count))
            return count > 0 ? Array(buffer.prefix(Int(count))) : nil
        }

        /// Reads until a request's HEADERS have come.
        func awaitRequest() -> Bool {
            while let bytes = receive() {
                // The preface and SETTINGS are shorter than any request.
                if bytes.count > 100 { return true }
            }
            return false
        }
    }

    let port: Int
    let certificate: MadeCertificate
    private let directory: TemporaryDirectory
    private let listener: Int32
    private let ended = Atomic(0)
    private let script: @Sendable (Peer) -> Void

    init(_ script: @escaping @Sendable (Peer) -> Void) async throws {
        // A client that closes under a script must not end the tests.
        signal(SIGPIPE, SIG_IGN)
        directory = try TemporaryDirectory()
        certificate = try await MadeCertificate(
            for: "IP:127.0.0.1,DNS:localhost", in: directory)
        listener = Socket.listening()
        port = Socket.port(of: listener)
        self.script = script
        Thread.detachNewThread { [self] in acceptAll() }
    }

    /// Scripts that have come to their end.
    var endedScripts: Int { ended.load(ordering: .relaxed) }

    func close() { shutdown(listener, Int32(SHUT_RDWR)) }

    private func acceptAll() {
        guard let context = SSL_CTX_new(TLS_server_method()) else { return }
        SSL_CTX_use_certificate_file(context, certificate.certificatePath, SSL_FILETYPE_PEM)
        SSL_CTX_use_PrivateKey_file(context, certificate.keyPath, SSL_FILETYPE_PEM)
        SSL_CTX_set_alpn_select_cb(
            context,
            { _, out, length, offered, _, _ in
                // The client offers h2 alone, behind its length.
                out?.pointee = offered.map { $0 + 1 }
                length?.pointee = 2
                return SSL_TLSEXT_ERR_OK
            }, nil)
        while true {
            let client = accept(listener, nil, nil)
            guard client >= 0 else { break }
            let tls = SSL_new(context)
            SSL_set_fd(tls, client)
            if let tls, SSL_accept(tls) == 1 { script(Peer(tls: tls)) }
            SSL_free(tls)
            Glibc.close(client)
            ended.add(1, ordering: .relaxed)
        }
        SSL_CTX_free(context)
        Glibc.close(listener)
    }
}
