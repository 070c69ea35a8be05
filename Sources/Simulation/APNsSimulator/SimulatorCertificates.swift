// SPDX-License-Identifier: Apache-2.0

import Crypto
import FoundationEssentials
import SwiftASN1
import X509

/// A certificate authority made for one run, and the server certificate it signed.
struct SimulatorCertificates {
    /// The CA's certificate in PEM: what clients must trust.
    let authorityPEM: String
    /// The server's certificate in PEM, for `localhost`, 127.0.0.1, ::1 and the listening host.
    let serverPEM: String
    /// The server's private key in PEM. It lives in memory only.
    let serverKeyPEM: String

    /// How long both certificates are good for, in seconds: 30 days either way of now, because
    /// the clock of a machine that runs tests may be off.
    private static let validity: TimeInterval = 30 * 24 * 3600

    /// Makes both, with fresh ECDSA P-256 keys.
    init(host: String) throws {
        let authorityKey = P256.Signing.PrivateKey()
        let serverKey = P256.Signing.PrivateKey()
        // A name of its own for each run: a file that trusts several simulators would otherwise
        // hold authorities that only their keys tell apart, and OpenSSL chooses by name.
        let run = String(UInt64.random(in: .min ... .max), radix: 16)
        let authorityName = try DistinguishedName {
            CommonName("APNs simulator CA \(run)")
        }
        let authority = try Self.certificate(
            for: authorityKey, named: authorityName, issuer: authorityName, signedBy: authorityKey,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true, cRLSign: true))
            })
        let names = Self.names(host: host)
        let server = try Self.certificate(
            for: serverKey, named: try DistinguishedName { CommonName("APNs simulator") },
            issuer: authorityName, signedBy: authorityKey,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth])
                SubjectAlternativeNames(names)
            })
        authorityPEM = try authority.serializeAsPEM().pemString
        serverPEM = try server.serializeAsPEM().pemString
        serverKeyPEM = serverKey.pemRepresentation
    }

    private static func certificate(
        for key: P256.Signing.PrivateKey, named subject: DistinguishedName,
        issuer: DistinguishedName, signedBy issuerKey: P256.Signing.PrivateKey,
        extensions: Certificate.Extensions
    ) throws -> Certificate {
        let now = Date()
        return try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(),
            publicKey: Certificate.PublicKey(key.publicKey),
            notValidBefore: now.addingTimeInterval(-validity),
            notValidAfter: now.addingTimeInterval(validity), issuer: issuer, subject: subject,
            signatureAlgorithm: .ecdsaWithSHA256, extensions: extensions,
            issuerPrivateKey: Certificate.PrivateKey(issuerKey))
    }

    private static func names(host: String) -> [GeneralName] {
        let loopback6: [UInt8] = Array(repeating: 0, count: 15) + [1]
        var names: [GeneralName] = [
            .dnsName("localhost"),
            .ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1])),
            .ipAddress(ASN1OctetString(contentBytes: loopback6[...])),
        ]
        let parts = host.split(separator: ".").compactMap { UInt8($0) }
        if parts.count == 4 {
            names.append(.ipAddress(ASN1OctetString(contentBytes: parts[...])))
        } else if !host.contains(":"), host != "localhost" {
            names.append(.dnsName(host))
        }
        return names
    }
}
