// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import OpenSSLCrypto

/// A certificate authority made for one run, and the server certificate it signed.
struct SimulatorCertificates {
    /// The CA's certificate in PEM: what clients must trust.
    let authorityPEM: String
    /// The server's certificate in PEM, for `localhost`, 127.0.0.1, ::1 and the listening host.
    let serverPEM: String
    /// The server's private key in PEM. It is in memory only.
    let serverKeyPEM: String

    /// The validity of both certificates, in seconds: 30 days before and after now, because the
    /// clock of a test machine may be wrong.
    private static let validitySeconds: Int64 = 30 * 24 * 3600

    /// Makes both, with fresh ECDSA P-256 keys.
    init(host: String) throws(CertificateAuthorityError) {
        let now = Int64(Date().timeIntervalSince1970)
        // A unique name for each run: a file of several simulators' authorities would otherwise
        // contain some that differ only in their keys, and OpenSSL chooses by name.
        let run = String(UInt64.random(in: .min ... .max), radix: 16)
        let authority = try CertificateAuthority(
            commonName: "APNs simulator CA \(run)",
            validity: now - Self.validitySeconds..<now + Self.validitySeconds)
        let key = P256PrivateKey()
        authorityPEM = authority.certificatePEM
        serverPEM = try authority.certificate(
            for: key.publicKey, commonName: "APNs simulator",
            purpose: .server(Self.names(host: host)))
        serverKeyPEM = key.pem
    }

    private static func names(host: String) -> [CertificateAuthority.AlternativeName] {
        let names: [CertificateAuthority.AlternativeName] = [
            .host("localhost"), .address("127.0.0.1"), .address("::1"),
        ]
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        if parts.count == 4, parts.allSatisfy({ UInt8($0) != nil }) {
            return names + [.address(host)]
        }
        return host.contains(":") || host == "localhost" ? names : names + [.host(host)]
    }
}
