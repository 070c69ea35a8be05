// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLCrypto
public import PushTransport
public import WakeModel

/// A push certificate with its key, read and checked: the older way to authenticate (facts
/// §1.2). It serves one app in both environments and expires after a year.
public struct PushCertificate: Sendable {
    /// The form in which a transport takes it.
    public let clientCertificate: TransportConfiguration.ClientCertificate
    /// The subject's common name, such as `Apple Push Services: com.example.app`.
    public let commonName: String
    /// The start of its validity.
    public let notBefore: WallInstant
    /// The end of its validity.
    public let notAfter: WallInstant

    /// A PEM certificate (or chain) and its PEM key. Throws ``WakeModel/InvalidField`` when either
    /// cannot be read, the password does not fit, or the key is not the certificate's.
    public init(
        certificatePEM: [UInt8], keyPEM: [UInt8], password: String? = nil
    ) throws(InvalidField) {
        let form = TransportConfiguration.ClientCertificate(
            .pem(certificate: certificatePEM, key: keyPEM), password: password)
        try self.init(form) { () throws(CertificateReadError) in
            try ClientCertificate(
                certificatePEM: certificatePEM, keyPEM: keyPEM, password: password)
        }
    }

    /// A PKCS#12 archive, as Keychain Access exports it. Throws ``WakeModel/InvalidField`` when it
    /// cannot be read or opened, or lacks the certificate or its key.
    public init(pkcs12: [UInt8], password: String? = nil) throws(InvalidField) {
        let form = TransportConfiguration.ClientCertificate(.pkcs12(pkcs12), password: password)
        try self.init(form) { () throws(CertificateReadError) in
            try ClientCertificate(pkcs12: pkcs12, password: password)
        }
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
        _ form: TransportConfiguration.ClientCertificate,
        reading read: () throws(CertificateReadError) -> ClientCertificate
    ) throws(InvalidField) {
        let certificate: ClientCertificate
        do throws(CertificateReadError) {
            certificate = try read()
        } catch {
            throw Self.complaint(error)
        }
        clientCertificate = form
        commonName = certificate.commonName
        notBefore = WallInstant(secondsSinceEpoch: certificate.notBefore)
        notAfter = WallInstant(secondsSinceEpoch: certificate.notAfter)
    }

    private static func complaint(_ error: CertificateReadError) -> InvalidField {
        let (problem, remedy) =
            switch error {
            case .encrypted: ("has an encrypted key and no password", "Configure the password.")
            case .wrongPassword: ("cannot be opened with this password", "Check the password.")
            case .outdatedCipher:
                (
                    "is a PKCS#12 archive in an outdated cipher that OpenSSL 3 does not read",
                    "Convert it with: openssl pkcs12 -legacy -in OLD -nodes -out all.pem; openssl "
                        + "pkcs12 -export -in all.pem -out NEW; then delete all.pem."
                )
            case .mismatch:
                (
                    "and its key do not belong together",
                    "Export certificate and key together from Keychain Access."
                )
            case .noKey:
                ("comes without a private key that can be read", "Name the key's PEM file.")
            case .noCertificate:
                ("cannot be read as a certificate", "Give a PEM certificate and its PEM key.")
            case .unreadable:
                (
                    "cannot be read as a PKCS#12 archive",
                    "Name the key's file too if this is a PEM certificate."
                )
            }
        return InvalidField(field: "certificate", problem: problem, remedy: remedy)
    }
}
