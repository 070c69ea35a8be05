// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

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
    /// r and s, 32 bytes each (RFC 7518 §3.4).
    let signature: [UInt8]

    /// The length of a key id and of a team id.
    static let identifierLength = 10
    /// The length of an ES256 signature, in bytes.
    static let signatureByteCount = 64

    /// Takes a JWS in compact form apart; `nil` unless it is an ES256 token with everything that
    /// Apple asks for, in the types that Apple asks for.
    init?(compact: some StringProtocol) {
        let parts = compact.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3,
            let headerBytes = Base64URL.decode(parts[0]),
            let claimBytes = Base64URL.decode(parts[1]),
            let signature = Base64URL.decode(parts[2]),
            signature.count == Self.signatureByteCount,
            let header = try? JSONDecoder().decode(Header.self, from: Data(headerBytes)),
            let claims = try? JSONDecoder().decode(Claims.self, from: Data(claimBytes)),
            header.alg == "ES256",
            header.kid.utf8.count == Self.identifierLength,
            claims.iss.utf8.count == Self.identifierLength,
            let issuedAt = Int64(exactly: claims.iat.rounded(.towardZero))
        else { return nil }
        keyID = header.kid
        teamID = claims.iss
        issuedAtSeconds = issuedAt
        signedBytes = Array(parts[0].utf8) + [UInt8(ascii: ".")] + Array(parts[1].utf8)
        self.signature = signature
    }

    private struct Header: Decodable {
        let alg: String
        let kid: String
    }

    private struct Claims: Decodable {
        let iss: String
        let iat: Double
    }
}
