// SPDX-License-Identifier: Apache-2.0

import OpenSSLCrypto
import WakeModel

/// A registered provider key with its PEM parsed.
struct VerifyingKey: Sendable {
    /// What names a key: the team and the key id together.
    struct Identity: Hashable, Sendable {
        let teamID: String
        let keyID: String
    }

    let identity: Identity
    let environment: APNsEnvironment?
    let topics: Set<String>?
    let relatedKeyID: String?
    private let publicKey: P256PublicKey

    /// Parses the PEM. Throws `InvalidField` when it holds no P-256 key, or an id is not of
    /// 10 characters.
    init(_ key: ProviderKey) throws(InvalidField) {
        for (field, text) in [("provider key: team id", key.teamID), ("key id", key.keyID)]
        where text.utf8.count != ProviderToken.identifierLength {
            throw InvalidField(
                field: field, problem: "does not have 10 characters",
                remedy: "Copy it from Apple's developer site.")
        }
        guard let publicKey = try? P256PublicKey(pem: key.pem.utf8) else {
            throw InvalidField(
                field: "provider key \(key.keyID)", problem: "is not a P-256 key in PEM",
                remedy: "Give the text of the .p8 file, or of its public key.")
        }
        identity = Identity(teamID: key.teamID, keyID: key.keyID)
        environment = key.environment
        topics = key.topics
        relatedKeyID = key.relatedKeyID
        self.publicKey = publicKey
    }

    /// Whether `token` carries this key's signature.
    func verifies(_ token: ProviderToken) -> Bool {
        publicKey.isValid(token.signature, for: token.signedBytes)
    }
}
