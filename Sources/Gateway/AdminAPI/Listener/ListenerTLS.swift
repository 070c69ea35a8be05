// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ServerTLS
import Synchronization
public import WakeModel

/// The certificate and the key of the listener. They can be reloaded while connections are open:
/// those keep the old ones, new connections use the new ones. May be used from any thread.
///
/// TLS 1.2 and 1.3 with the defaults of OpenSSL; by ALPN, `h2`, `http/1.1` and
/// `http/1.0`.
public final class ListenerTLS: Sendable {
    private let context: Mutex<ServerTLSContext>

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
    var current: ServerTLSContext { context.withLock { $0 } }

    private static func read(
        _ certificatePath: String, _ keyPath: String
    ) throws(InvalidField) -> ServerTLSContext {
        let chain = try contents(
            of: certificatePath,
            or: InvalidField(
                field: "tls.certificate-file",
                problem: "is no readable PEM file (\(certificatePath))",
                remedy: "Name a file with the certificate first and its issuers behind it."))
        let noKey = InvalidField(
            field: "tls.key-file", problem: "is no readable PEM key (\(keyPath))",
            remedy: "Name the certificate's key, unencrypted and readable to this user.")
        let key = try contents(of: keyPath, or: noKey)
        do {
            return try ServerTLSContext(
                certificateChain: chain, key: key,
                applicationProtocols: [HTTPVersionChoice.http2Name, "http/1.1", "http/1.0"])
        } catch {
            switch error {
            case .noCertificate:
                throw InvalidField(
                    field: "tls.certificate-file",
                    problem: "holds no certificate, or a damaged one (\(certificatePath))",
                    remedy: "Name a file with the certificate first and its issuers behind it.")
            case .weak:
                throw InvalidField(
                    field: "tls.certificate-file",
                    problem: "is too weak for OpenSSL, or of a kind that it does not take "
                        + "(\(certificatePath))",
                    remedy: "Use an RSA key of 2048 bits or more, or one of an elliptic curve.")
            case .noKey: throw noKey
            case .noAuthority, .other:
                throw InvalidField(
                    field: "tls.certificate-file",
                    problem: "cannot be used by OpenSSL (\(certificatePath))",
                    remedy: "Look whether memory is short, and what OpenSSL's configuration allows."
                )
            case .mismatch:
                throw InvalidField(
                    field: "tls.key-file",
                    problem: "does not belong to the certificate (\(keyPath))",
                    remedy: "Name the key that the certificate was made for.")
            }
        }
    }

    private static func contents(
        of path: String, or error: InvalidField
    ) throws(InvalidField) -> [UInt8] {
        guard let data = FileManager.default.contents(atPath: path) else { throw error }
        return Array(data)
    }
}
