// SPDX-License-Identifier: Apache-2.0

public import WakeModel

/// A ten-character identifier of Apple's developer account: a team id or a key id.
public struct DeveloperID: Hashable, Sendable, CustomStringConvertible {
    /// The length that Apple's ids have (rule AU002).
    public static let characterCount = 10

    /// The id, for example `ABCDE12345`.
    public let value: String

    /// Checks length and characters: ten ASCII letters or digits. `field` names the id in the
    /// error, for example `team id`. Throws ``WakeModel/InvalidField``.
    public init(_ value: String, field: String) throws(InvalidField) {
        guard value.utf8.count == Self.characterCount else {
            throw InvalidField(
                field: field,
                problem: "has \(value.utf8.count) characters instead of \(Self.characterCount)",
                remedy: "Copy it from Apple's developer account.")
        }
        guard
            value.utf8.allSatisfy({ byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
            })
        else {
            throw InvalidField(
                field: field, problem: "holds a character that is neither a letter nor a digit",
                remedy: "Copy it from Apple's developer account.")
        }
        self.value = value
    }

    /// The id.
    public var description: String { value }
}

/// The claims of a provider token: its key, its team, and its time (facts §4.1).
public struct ProviderTokenClaims: Hashable, Sendable {
    /// `kid`: the key.
    public let keyID: DeveloperID
    /// `iss`: the team.
    public let teamID: DeveloperID
    /// `iat`: when it was signed; whole seconds count.
    public let issuedAt: WallInstant

    /// Creates claims.
    public init(keyID: DeveloperID, teamID: DeveloperID, issuedAt: WallInstant) {
        self.keyID = keyID
        self.teamID = teamID
        self.issuedAt = issuedAt
    }

    /// The bytes to sign with ES256: header and claims, each in Base64URL, with a dot between
    /// (RFC 7515 §5.1). The ids are letters and digits, so nothing needs escaping.
    public var signingInput: String {
        let header = #"{"alg":"ES256","kid":"\#(keyID)"}"#
        let claims = #"{"iss":"\#(teamID)","iat":\#(issuedAt.secondsSinceEpoch)}"#
        return Base64URL.encode(header.utf8) + "." + Base64URL.encode(claims.utf8)
    }

    /// The finished token. `signature` is r‖s, 64 bytes big-endian (RFC 7518 §3.4), not DER.
    public func token(signature: [UInt8]) -> String {
        precondition(signature.count == 64, "An ES256 signature has 64 bytes.")
        return signingInput + "." + Base64URL.encode(signature)
    }
}
