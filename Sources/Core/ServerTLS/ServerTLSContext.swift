// SPDX-License-Identifier: Apache-2.0

internal import CServerTLS

/// What the TLS connections of a server share: its certificate, its key, and what it asks of
/// clients. Immutable; may be used from any thread.
///
/// TLS 1.2 and 1.3 with OpenSSL's defaults, without compression and renegotiation. Sessions are
/// resumed by tickets that only this context can read.
///
/// `@unchecked Sendable`: the pointer is to a context that nothing changes after it was made;
/// OpenSSL counts its references atomically and lets any thread make connections of it.
package final class ServerTLSContext: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Reads a PEM chain, the server's certificate first, and its PEM key.
    ///
    /// `applicationProtocols` are those for ALPN (RFC 7301), in the order of preference, each of 1
    /// to 255 bytes and 256 with a byte for each: a client that offers only others gets the alert
    /// `no_application_protocol`, and with `requiresALPN` also one that offers none. With
    /// `clientAuthorities` (PEM) a client may show a certificate, which has to be one of theirs.
    package init(
        certificateChain: [UInt8], key: [UInt8], applicationProtocols: [String],
        requiresALPN: Bool = false, clientAuthorities: [UInt8]? = nil
    ) throws(ServerTLSContextError) {
        var fault = CServerTLSFaultNone
        let protocols = applicationProtocols.flatMap { [UInt8(clamping: $0.utf8.count)] + $0.utf8 }
        // SAFETY: the shim reads the texts in their lengths before it returns, and keeps none.
        let made = certificateChain.withUnsafeBufferPointer { chain in
            key.withUnsafeBufferPointer { key in
                (clientAuthorities ?? []).withUnsafeBufferPointer { authorities in
                    protocols.withUnsafeBufferPointer { protocols -> OpaquePointer? in
                        guard let chainStart = chain.baseAddress, let keyStart = key.baseAddress,
                            let protocolsStart = protocols.baseAddress
                        else { return nil }
                        var settings = CServerTLSSettings(
                            certificate: chainStart, certificateLength: chain.count,
                            key: keyStart, keyLength: key.count,
                            authorities: clientAuthorities == nil ? nil : authorities.baseAddress,
                            authoritiesLength: authorities.count, protocols: protocolsStart,
                            protocolsLength: protocols.count, requiresALPN: requiresALPN)
                        return CServerTLSContext_create(&settings, &fault)
                    }
                }
            }
        }
        guard let made else {
            throw ServerTLSContextError(
                fault, hasNoCertificate: certificateChain.isEmpty, hasNoKey: key.isEmpty)
        }
        pointer = made
    }

    deinit { CServerTLSContext_destroy(pointer) }
}

/// Why a context cannot be made. It quotes nothing of the files.
package enum ServerTLSContextError: Error, Hashable, Sendable {
    /// The chain holds no certificate that can be read, or one that is damaged.
    case noCertificate
    /// The certificate, or its key, is too weak for OpenSSL's security level.
    case weak
    /// There is no private key that can be read, or it is encrypted.
    case noKey
    /// The private key does not belong to the certificate.
    case mismatch
    /// The authorities hold no certificate that can be read.
    case noAuthority
    /// OpenSSL lacks memory or TLS 1.2.
    case other

    init(_ fault: CServerTLSFault, hasNoCertificate: Bool, hasNoKey: Bool) {
        self =
            switch fault {
            case _ where hasNoCertificate: .noCertificate
            case _ where hasNoKey: .noKey
            case CServerTLSFaultNoCertificate: .noCertificate
            case CServerTLSFaultWeak: .weak
            case CServerTLSFaultNoKey: .noKey
            case CServerTLSFaultMismatch: .mismatch
            case CServerTLSFaultNoAuthority: .noAuthority
            default: .other
            }
    }
}
