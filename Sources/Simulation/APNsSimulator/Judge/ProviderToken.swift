// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import OpenSSLCrypto

/// A provider token (JWT), taken apart but not yet verified (facts §4.1).
struct ProviderToken: Sendable {
    /// `kid`: 10 characters.
    let keyID: String
    /// `iss`: 10 characters.
    let teamID: String
    /// `iat`, in seconds since the epoch.
    let issuedAtSeconds: Int64
    /// What the signature covers: header and claims in Base64URL with the dot between.
    let signedBytes: [UInt8]
    /// r and s.
    let signature: ES256Signature
    /// In what it differs from the letter of the rules.
    let deviations: Deviations

    /// What RFC 7518 and Apple's text do not allow, and what APNs takes from clients that are
    /// widely used (facts §4.1).
    struct Deviations: OptionSet, Hashable, Sendable {
        let rawValue: UInt8

        /// The signature is in DER, as OpenSSL writes it, instead of 64 bytes.
        static let derSignature = Deviations(rawValue: 1)
        /// `iat` is a text instead of a number.
        static let textualTime = Deviations(rawValue: 2)
    }

    /// The length of a key id and of a team id.
    static let identifierLength = 10

    /// Takes a JWS in compact form apart; `nil` unless it is an ES256 token with everything that
    /// Apple asks for, in the types that Apple asks for or in those of ``Deviations``.
    init?(compact: some StringProtocol) {
        let parts = compact.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3,
            let headerBytes = Base64URL.decode(parts[0]),
            let claimBytes = Base64URL.decode(parts[1]),
            let signatureBytes = Base64URL.decode(parts[2]),
            let signature = Self.signature(signatureBytes),
            let header = try? JSONDecoder().decode(Header.self, from: Data(headerBytes)),
            let claims = try? JSONDecoder().decode(Claims.self, from: Data(claimBytes)),
            header.alg == "ES256",
            header.kid.utf8.count == Self.identifierLength,
            claims.iss.utf8.count == Self.identifierLength,
            let issuedAt = Int64(exactly: claims.iat.seconds.rounded(.towardZero))
        else { return nil }
        keyID = header.kid
        teamID = claims.iss
        issuedAtSeconds = issuedAt
        signedBytes = Array(parts[0].utf8) + [UInt8(ascii: ".")] + Array(parts[1].utf8)
        self.signature = signature
        var deviations: Deviations = []
        if signatureBytes.count != ES256Signature.byteCount { deviations.insert(.derSignature) }
        if claims.iat.isText { deviations.insert(.textualTime) }
        self.deviations = deviations
    }

    /// Reads 64 bytes as r and s, and any other number as DER; `nil` for what is neither.
    private static func signature(_ bytes: [UInt8]) -> ES256Signature? {
        ES256Signature(bytes: bytes) ?? ES256Signature(der: bytes)
    }

    private struct Header: Decodable {
        let alg: String
        let kid: String
    }

    private struct Claims: Decodable {
        let iss: String
        let iat: Time
    }

    /// `iat` as a number, or as the text of one.
    private struct Time: Decodable {
        let seconds: Double
        let isText: Bool

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                guard let seconds = Double(text), seconds.isFinite else {
                    throw DecodingError.dataCorruptedError(
                        in: container, debugDescription: "iat is no number")
                }
                self.seconds = seconds
                isText = true
            } else {
                seconds = try container.decode(Double.self)
                isText = false
            }
        }
    }
}
