// SPDX-License-Identifier: Apache-2.0

internal import CCryptoShims

/// A certificate authority with a new key, for a run: it signs certificates of servers and clients,
/// and no other authorities.
public struct CertificateAuthority: Sendable {
    /// What a certificate is for.
    public enum Purpose: Hashable, Sendable {
        /// A server that is reached under these names.
        case server([AlternativeName])
        /// A client.
        case client
    }

    /// A name under which a server is reached (RFC 5280 §4.2.1.6).
    public enum AlternativeName: Hashable, Sendable {
        /// A host name, in ASCII.
        case host(String)
        /// An IPv4 or IPv6 address in text.
        case address(String)
    }

    /// The authority's certificate in PEM, signed by itself.
    public let certificatePEM: String
    private let key = P256PrivateKey()
    private let validity: Range<Int64>

    /// Makes an authority with a new key. `validity` is in seconds since the epoch, and holds for
    /// what it issues, too. A common name has 1 to 64 characters.
    public init(
        commonName: String, validity: Range<Int64>
    ) throws(CertificateAuthorityError) {
        self.validity = validity
        certificatePEM = try Self.make(
            commonName, CCryptoRoleAuthority, validity: validity, for: key.publicKey,
            issuer: nil, signedBy: key)
    }

    /// A certificate for a key, in PEM.
    public func certificate(
        for publicKey: P256PublicKey, commonName: String, purpose: Purpose
    ) throws(CertificateAuthorityError) -> String {
        switch purpose {
        case .client:
            return try Self.make(
                commonName, CCryptoRoleClient, validity: validity, for: publicKey,
                issuer: certificatePEM, signedBy: key)
        case .server(let names):
            var texts: [String] = []
            for name in names { texts.append(try name.text) }
            return try Self.make(
                commonName, CCryptoRoleServer, validity: validity, for: publicKey,
                issuer: certificatePEM, signedBy: key, names: texts.joined(separator: ","))
        }
    }

    private static func make(
        _ commonName: String, _ role: CCryptoRole, validity: Range<Int64>,
        for subject: P256PublicKey, issuer: String?, signedBy issuerKey: P256PrivateKey,
        names: String = ""
    ) throws(CertificateAuthorityError) -> String {
        let issuer = issuer.map { Array($0.utf8) } ?? []
        // SAFETY: the shim reads the texts and `issuer.count` bytes, keeps none of them, writes at
        // most `buffer.count` bytes and returns how many; a certificate takes about 800.
        let pem = String(unsafeUninitializedCapacity: 8192) { buffer in
            commonName.withCString { commonName in
                names.withCString { names in
                    issuer.withUnsafeBufferPointer { issuer in
                        guard let start = buffer.baseAddress else { return 0 }
                        var template = CCryptoTemplate(
                            commonName: commonName, notBefore: validity.lowerBound,
                            notAfter: validity.upperBound, role: role, alternativeNames: names)
                        return CCryptoCertificate_make(
                            &template, subject.key.pointer,
                            issuer.isEmpty ? nil : issuer.baseAddress, issuer.count,
                            issuerKey.key.pointer, start, buffer.count)
                    }
                }
            }
        }
        guard !pem.isEmpty else { throw .unusable(commonName: commonName) }
        return pem
    }
}

extension CertificateAuthority.AlternativeName {
    /// The name as OpenSSL's configuration writes it. The characters of a name are checked, because
    /// a comma would begin another one.
    fileprivate var text: String {
        get throws(CertificateAuthorityError) {
            let (kind, name) =
                switch self {
                case .host(let name): ("DNS", name)
                case .address(let name): ("IP", name)
                }
            let isPlain = name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"),
                    UInt8(ascii: "_"), UInt8(ascii: ":"), UInt8(ascii: "*"):
                    true
                default: false
                }
            }
            guard isPlain, !name.isEmpty else { throw .invalidName(name) }
            return kind + ":" + name
        }
    }
}

/// Why a certificate was not made.
public enum CertificateAuthorityError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name of a server has other characters than letters, digits and `. - _ : *`, or none.
    case invalidName(String)
    /// OpenSSL made no certificate: the common name is empty or has more than 64 characters, a
    /// server's names are none or not what they are said to be, or there is no memory.
    case unusable(commonName: String)

    /// The error as a sentence.
    public var description: String {
        switch self {
        case .invalidName(let name): "\"\(name)\" cannot be a server's name in a certificate."
        case .unusable(let name): "OpenSSL could not make the certificate of \"\(name)\"."
        }
    }
}
