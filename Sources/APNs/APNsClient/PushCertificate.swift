// SPDX-License-Identifier: Apache-2.0

internal import CCryptoShims
public import PushTransport
public import WakeModel

/// A push certificate with its key, read and checked: the older way to authenticate (facts
/// §1.2). It serves one app in both environments and expires after a year.
public struct PushCertificate: Sendable {
    /// The form in which a transport takes it.
    public let clientCertificate: TransportConfiguration.ClientCertificate
    /// The subject's common name, such as `Apple Push Services: com.example.app`.
    public let commonName: String
    /// From when on it is valid.
    public let notBefore: WallInstant
    /// Until when it is valid.
    public let notAfter: WallInstant

    /// A PEM certificate (or chain) and its PEM key. Throws ``WakeModel/InvalidField`` when either
    /// cannot be read, the password does not fit, or the key is not the certificate's.
    public init(
        certificatePEM: [UInt8], keyPEM: [UInt8], password: String? = nil
    ) throws(InvalidField) {
        var read = CCryptoCertificate()
        // SAFETY: the shim reads both buffers within their lengths, the password up to its null.
        let fault = Self.withOptionalCString(password) { password in
            certificatePEM.withUnsafeBufferPointer { certificate in
                keyPEM.withUnsafeBufferPointer { key in
                    guard let start = certificate.baseAddress, let keyStart = key.baseAddress else {
                        return CCryptoFaultNotPEM
                    }
                    return CCryptoCertificate_read_pem(
                        start, certificate.count, keyStart, key.count, password, &read)
                }
            }
        }
        let form = TransportConfiguration.ClientCertificate(
            .pem(certificate: certificatePEM, key: keyPEM), password: password)
        try self.init(form, fault, read)
    }

    /// A PKCS#12 archive, as Keychain Access exports it. Throws ``WakeModel/InvalidField`` when it
    /// cannot be read or opened, or lacks the certificate or its key.
    public init(pkcs12: [UInt8], password: String? = nil) throws(InvalidField) {
        var read = CCryptoCertificate()
        // SAFETY: as above.
        let fault = Self.withOptionalCString(password) { password in
            pkcs12.withUnsafeBufferPointer { archive in
                guard let start = archive.baseAddress else { return CCryptoFaultOther }
                return CCryptoCertificate_read_pkcs12(start, archive.count, password, &read)
            }
        }
        let form = TransportConfiguration.ClientCertificate(.pkcs12(pkcs12), password: password)
        try self.init(form, fault, read)
    }

    /// Files: a PEM pair, or a PKCS#12 archive when `keyPath` is `nil`.
    public init(
        certificatePath: String, keyPath: String?, password: String? = nil
    ) throws(InvalidField) {
        let certificate = try KeyFile.read(certificatePath, field: "certificate file")
        if let keyPath {
            let key = try KeyFile.read(keyPath, field: "certificate key file")
            try self.init(certificatePEM: certificate, keyPEM: key, password: password)
        } else {
            try self.init(pkcs12: certificate, password: password)
        }
    }

    private init(
        _ form: TransportConfiguration.ClientCertificate, _ fault: CCryptoFault,
        _ read: CCryptoCertificate
    ) throws(InvalidField) {
        guard fault == CCryptoFaultNone else { throw Self.complaint(fault) }
        clientCertificate = form
        notBefore = WallInstant(secondsSinceEpoch: read.notBefore)
        notAfter = WallInstant(secondsSinceEpoch: read.notAfter)
        // SAFETY: the shim leaves a null-terminated text in the array.
        commonName = withUnsafeBytes(of: read.commonName) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    private static func withOptionalCString(
        _ text: String?, _ body: (UnsafePointer<CChar>?) -> CCryptoFault
    ) -> CCryptoFault {
        guard let text else { return body(nil) }
        return text.withCString(body)
    }

    private static func complaint(_ fault: CCryptoFault) -> InvalidField {
        let (problem, remedy) =
            switch fault {
            case CCryptoFaultEncrypted:
                ("has an encrypted key and no password", "Configure the password.")
            case CCryptoFaultWrongPassword:
                ("cannot be opened with this password", "Check the password.")
            case CCryptoFaultOutdatedCipher:
                (
                    "is a PKCS#12 archive in an outdated cipher that OpenSSL 3 does not read",
                    "Convert it with: openssl pkcs12 -legacy -in OLD -nodes -out all.pem; openssl "
                        + "pkcs12 -export -in all.pem -out NEW; then delete all.pem."
                )
            case CCryptoFaultMismatch:
                (
                    "and its key do not belong together",
                    "Export certificate and key together from Keychain Access."
                )
            case CCryptoFaultNoKey:
                ("comes without a private key that can be read", "Name the key's PEM file.")
            case CCryptoFaultNoCertificate, CCryptoFaultNotPEM:
                ("cannot be read as a certificate", "Give a PEM certificate and its PEM key.")
            default:
                (
                    "cannot be read as a PKCS#12 archive",
                    "Name the key's file too if this is a PEM certificate."
                )
            }
        return InvalidField(field: "certificate", problem: problem, remedy: remedy)
    }
}
