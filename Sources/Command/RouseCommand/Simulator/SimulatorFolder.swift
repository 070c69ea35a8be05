// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsWire
import FoundationEssentials
import Glibc
import OpenSSLCrypto
import WakeModel

/// A folder with what clients of a simulator need: the certificate authority and a signing key.
struct SimulatorFolder: Sendable {
    /// The id of the key that is made for simulators. No key at Apple has it.
    static let keyID = "LOCALKEY01"
    /// The id of the team that is made up for simulators.
    static let teamID = "LOCALTEAM1"

    /// The folder's path.
    let path: String
    /// Whether it is removed at the end.
    let isTemporary: Bool

    /// Opens the folder at `path`, or makes it; without a path, a new temporary one. Only its
    /// owner can enter a folder that is made here.
    init(path: String?) throws(CommandFailure) {
        let folder =
            path.map { URL(filePath: $0, directoryHint: .isDirectory) }
            ?? FileManager.default.temporaryDirectory.appending(
                path: "rouse-\(APNsID.generate())", directoryHint: .isDirectory)
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        } catch {
            throw CommandFailure(
                .notAllowed, "The folder \(folder.path(percentEncoded: false)) cannot be made.")
        }
        self.path = folder.standardizedFileURL.path(percentEncoded: false)
        isTemporary = path == nil
    }

    /// A file in the folder.
    func file(_ name: String) -> String {
        path.hasSuffix("/") ? path + name : path + "/" + name
    }

    /// The file of the certificate authority.
    var certificateAuthorityPath: String { file("ca.pem") }

    /// The file of the signing key.
    var keyPath: String { file("AuthKey_\(Self.keyID).p8") }

    /// The signing key: the one that is there, or a new one, which only its owner can read.
    func key() throws(CommandFailure) -> CredentialSource {
        if access(keyPath, F_OK) != 0 {
            var pem = Array(SigningKey.generate().privateKeyPEM.utf8)
            defer { pem.cleanse() }
            try OwnerFile(keyPath, "The simulator's key").create(with: pem)
        }
        return try failing(with: .bug) { () throws(InvalidField) in
            .key(
                .file(path: keyPath), keyID: try DeveloperID(Self.keyID, field: "key id"),
                teamID: try DeveloperID(Self.teamID, field: "team id"))
        }
    }

    /// Removes a temporary folder and what is in it.
    func remove() {
        guard isTemporary else { return }
        try? FileManager.default.removeItem(atPath: path)
    }
}
