// SPDX-License-Identifier: Apache-2.0

import OpenSSLCrypto
public import WakeModel

/// A signing key that the simulator accepts, with Apple's restrictions of keys (facts §4.2 and
/// §4.3).
///
/// With no key registered, the simulator takes any well-formed ES256 token without verifying its
/// signature. With at least one, a token must name a registered key and carry its signature.
public struct ProviderKey: Hashable, Sendable {
    /// The 10-character team id: the token's `iss`.
    public var teamID: String
    /// The 10-character key id: the token's `kid`.
    public var keyID: String
    /// The key in PEM: a `PUBLIC KEY`, or the `.p8` file itself, of which only the public half is
    /// kept.
    public var pem: String
    /// The one environment the key is for; `nil` for a legacy key, which is for both.
    public var environment: APNsEnvironment?
    /// The bundle ids that a topic-specific key is for; `nil` for all of the team.
    public var topics: Set<String>?
    /// The key id of the one related key that may share a connection with a topic-specific key.
    public var relatedKeyID: String?

    /// Names a key. Without the last three it is a legacy team key, good everywhere.
    public init(
        teamID: String, keyID: String, pem: String, environment: APNsEnvironment? = nil,
        topics: Set<String>? = nil, relatedKeyID: String? = nil
    ) {
        self.teamID = teamID
        self.keyID = keyID
        self.pem = pem
        self.environment = environment
        self.topics = topics
        self.relatedKeyID = relatedKeyID
    }

    /// A new key, whose ``pem`` is the text of the `.p8` file that a client signs with.
    public static func generated(
        teamID: String = "TEAM123456", keyID: String = "ABCDE12345"
    ) -> ProviderKey {
        ProviderKey(teamID: teamID, keyID: keyID, pem: P256PrivateKey().pem)
    }

    /// Throws `InvalidField` for what ``APNsSimulator/start(_:logger:)`` would refuse: an id that
    /// has not 10 characters, or a text that holds no P-256 key.
    public func check() throws(InvalidField) { _ = try VerifyingKey(self) }
}
