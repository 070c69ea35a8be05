// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import OpenSSLCrypto

/// A client certificate with the CA that signed it.
struct TestCertificate {
    let authorityPEM: String
    let certificatePEM: String
    let keyPEM: String

    init() throws {
        let now = Int64(Date().timeIntervalSince1970)
        // Another name than the server's CA has, so that a chain to the wrong CA does not fail for
        // its name alone.
        let authority = try CertificateAuthority(
            commonName: "Test client CA", validity: now - 3600..<now + 3600)
        let key = P256PrivateKey()
        authorityPEM = authority.certificatePEM
        certificatePEM = try authority.certificate(
            for: key.publicKey, commonName: "Test client", purpose: .client)
        keyPEM = key.pem
    }
}
