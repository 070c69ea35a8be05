// SPDX-License-Identifier: Apache-2.0

import APNsSimulator
import APNsWire
import ArgumentParser
import WakeModel

/// What `--provider-key` takes: a team id, a key id, and the file of the key, with colons between.
/// The key id may be left out where the file has the name that Apple gave it.
struct ProviderKeyArgument: ExpressibleByArgument {
    /// The largest key file that is read, in bytes.
    private static let maximumByteCount = 65_536

    private let teamID: DeveloperID
    private let keyID: DeveloperID
    private let path: String

    static var defaultCompletionKind: CompletionKind { .file() }

    /// `nil` without a team id or a file, and for a file whose name has no key id.
    init?(argument: String) {
        let parts = argument.split(
            separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let team = Self.identifier(parts[0]) else { return nil }
        let rest = parts[1].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        if rest.count == 2, let key = Self.identifier(rest[0]) {
            keyID = key
            path = String(rest[1])
        } else {
            path = String(parts[1])
            guard let id = CredentialSource.KeyPlace.file(path: path).guessedKeyID,
                let key = Self.identifier(id[...])
            else { return nil }
            keyID = key
        }
        guard !path.isEmpty else { return nil }
        teamID = team
    }

    /// Reads the file. Fails with 66 or 77 where it cannot be read, and with 65 where it holds no
    /// key on P-256.
    func read() throws(CommandFailure) -> ProviderKey {
        try Self.read(path, "--provider-key", teamID: teamID.value, keyID: keyID.value)
    }

    /// Reads the key file that `option` names, and fails in the same way.
    static func read(
        _ path: String, _ option: String, teamID: String, keyID: String
    ) throws(CommandFailure) -> ProviderKey {
        let bytes = try InputFile.read(path, option, limit: maximumByteCount)
        let key = ProviderKey(
            teamID: teamID, keyID: keyID, pem: String(decoding: bytes, as: UTF8.self))
        try failing(with: .data) { () throws(InvalidField) in try key.check() }
        return key
    }

    private static func identifier(_ text: Substring) -> DeveloperID? {
        try? DeveloperID(String(text), field: "provider key")
    }
}
