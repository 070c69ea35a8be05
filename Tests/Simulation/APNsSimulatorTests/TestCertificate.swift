// SPDX-License-Identifier: Apache-2.0

import Crypto
import FoundationEssentials
import SwiftASN1
import X509

/// A client certificate with the CA that signed it.
struct TestCertificate {
    let authorityPEM: String
    let certificatePEM: String
    let keyPEM: String

    init() throws {
        let authorityKey = P256.Signing.PrivateKey()
        let key = P256.Signing.PrivateKey()
        // Distinct names, so that a chain to the wrong CA does not fail for its name alone.
        let authority = try DistinguishedName { CommonName("Test client CA") }
        authorityPEM = try Self.certificate(
            authority, authorityKey.publicKey, authority, authorityKey,
            Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
            })
        certificatePEM = try Self.certificate(
            DistinguishedName { CommonName("Test client") }, key.publicKey, authority, authorityKey,
            Certificate.Extensions { try ExtendedKeyUsage([.clientAuth]) })
        keyPEM = key.pemRepresentation
    }

    private static func certificate(
        _ subject: DistinguishedName, _ key: P256.Signing.PublicKey, _ issuer: DistinguishedName,
        _ issuerKey: P256.Signing.PrivateKey, _ extensions: Certificate.Extensions
    ) throws -> String {
        try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(),
            publicKey: Certificate.PublicKey(key),
            notValidBefore: Date().addingTimeInterval(-3600),
            notValidAfter: Date().addingTimeInterval(3600), issuer: issuer, subject: subject,
            signatureAlgorithm: .ecdsaWithSHA256, extensions: extensions,
            issuerPrivateKey: Certificate.PrivateKey(issuerKey)
        ).serializeAsPEM().pemString
    }
}
