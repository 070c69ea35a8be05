// SPDX-License-Identifier: Apache-2.0

internal import CCryptoShims

/// What a client certificate says of itself, read together with its private key.
public struct ClientCertificate: Hashable, Sendable {
    /// The subject's common name; empty without one.
    public let commonName: String
    /// From when on it is valid, in seconds since the epoch.
    public let notBefore: Int64
    /// Until when it is valid, in seconds since the epoch.
    public let notAfter: Int64

    /// Reads a PEM certificate (the first of a chain) and checks that the PEM key is its own.
    /// `password` opens an encrypted key.
    public init(
        certificatePEM: [UInt8], keyPEM: [UInt8], password: String?
    ) throws(CertificateReadError) {
        try self.init { found in
            read(certificatePEM) { certificate, count in
                read(keyPEM) { key, keyCount in
                    Self.withOptionalCString(password) { password in
                        CCryptoCertificate_read_pem(
                            certificate, count, key, keyCount, password, &found)
                    }
                }
            }
        }
    }

    /// Reads a PKCS#12 archive and checks that it holds a certificate and its key.
    public init(pkcs12: [UInt8], password: String?) throws(CertificateReadError) {
        try self.init { found in
            read(pkcs12) { archive, count in
                Self.withOptionalCString(password) { password in
                    CCryptoCertificate_read_pkcs12(archive, count, password, &found)
                }
            }
        }
    }

    private init(
        _ read: (inout CCryptoCertificate) -> CCryptoFault
    ) throws(CertificateReadError) {
        var found = CCryptoCertificate()
        let fault = read(&found)
        guard fault == CCryptoFaultNone else { throw CertificateReadError(fault) }
        notBefore = found.notBefore
        notAfter = found.notAfter
        // SAFETY: the bytes of a field of a struct that is alive; the shim leaves a null-terminated
        // text in it.
        commonName = withUnsafeBytes(of: found.commonName) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    private static func withOptionalCString(
        _ text: String?, _ body: (UnsafePointer<CChar>?) -> CCryptoFault
    ) -> CCryptoFault {
        guard let text else { return body(nil) }
        return text.withCString(body)
    }
}

/// Why a client certificate cannot be used. It quotes nothing of the files.
public enum CertificateReadError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Neither PEM nor a PKCS#12 archive.
    case unreadable
    /// The key or the archive is encrypted, and there is no password.
    case encrypted
    /// The password does not open it.
    case wrongPassword
    /// The password is right, but this OpenSSL lacks the archive's cipher.
    case outdatedCipher
    /// The private key is not the certificate's.
    case mismatch
    /// There is no private key that can be read.
    case noKey
    /// There is no certificate that can be read.
    case noCertificate

    init(_ fault: CCryptoFault) {
        self =
            switch fault {
            case CCryptoFaultEncrypted: .encrypted
            case CCryptoFaultWrongPassword: .wrongPassword
            case CCryptoFaultOutdatedCipher: .outdatedCipher
            case CCryptoFaultMismatch: .mismatch
            case CCryptoFaultNoKey: .noKey
            case CCryptoFaultNoCertificate: .noCertificate
            default: .unreadable
            }
    }

    /// The error as a sentence.
    public var description: String {
        switch self {
        case .unreadable: "The file is neither PEM nor a PKCS#12 archive."
        case .encrypted: "The private key is encrypted, and there is no password."
        case .wrongPassword: "The password does not open the private key."
        case .outdatedCipher: "The archive is in an outdated cipher that OpenSSL 3 does not read."
        case .mismatch: "The private key does not belong to the certificate."
        case .noKey: "There is no private key that can be read."
        case .noCertificate: "There is no certificate that can be read."
        }
    }
}
