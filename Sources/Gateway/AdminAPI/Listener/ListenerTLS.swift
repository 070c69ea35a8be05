// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOSSL
import Synchronization
public import WakeModel

/// The certificate and the key of the listener. They can be reloaded while connections are open:
/// those keep the old ones, new connections use the new ones. May be used from any thread.
///
/// TLS 1.2 and 1.3 with the defaults of swift-nio-ssl; ALPN offers `http/1.1`.
public final class ListenerTLS: Sendable {
    private let context: Mutex<NIOSSLContext>

    /// Reads a certificate chain and its key, both PEM files. Throws ``WakeModel/InvalidField``
    /// when a file cannot be read, or when key and certificate do not belong together.
    public init(certificatePath: String, keyPath: String) throws(InvalidField) {
        context = Mutex(try Self.read(certificatePath, keyPath))
    }

    /// Reads other files, or the same ones again. When it throws, the old ones stay.
    public func reload(certificatePath: String, keyPath: String) throws(InvalidField) {
        let new = try Self.read(certificatePath, keyPath)
        context.withLock { $0 = new }
    }

    /// The context for a new connection.
    var current: NIOSSLContext { context.withLock { $0 } }

    private static func read(
        _ certificatePath: String, _ keyPath: String
    ) throws(InvalidField) -> NIOSSLContext {
        let chain: [NIOSSLCertificate]
        do {
            chain = try NIOSSLCertificate.fromPEMFile(certificatePath)
        } catch {
            throw InvalidField(
                field: "tls.certificate-file",
                problem: "is no readable PEM file (\(certificatePath))",
                remedy: "Name a file with the certificate first and its issuers behind it.")
        }
        guard !chain.isEmpty else {
            throw InvalidField(
                field: "tls.certificate-file", problem: "holds no certificate (\(certificatePath))",
                remedy: "Name a file with the certificate first and its issuers behind it.")
        }
        let key: NIOSSLPrivateKey
        do {
            key = try NIOSSLPrivateKey(file: keyPath, format: .pem)
        } catch {
            throw InvalidField(
                field: "tls.key-file", problem: "is no readable PEM key (\(keyPath))",
                remedy: "Name the certificate's key, unencrypted and readable to this user.")
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        // A caller that does not answer the close keeps its descriptor no longer than that.
        configuration.shutdownTimeout = .seconds(1)
        do {
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw InvalidField(
                field: "tls.key-file", problem: "does not belong to the certificate (\(keyPath))",
                remedy: "Name the key that the certificate was made for.")
        }
    }
}
