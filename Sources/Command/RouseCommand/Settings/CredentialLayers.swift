// SPDX-License-Identifier: Apache-2.0

import APNsWire
import WakeModel

/// Finds the credential in the three layers that may name it: options, environment, configuration.
struct CredentialLayers {
    let options: CredentialOptions
    let variables: Variables
    let configured: CredentialSource?

    /// The credential of the uppermost layer that names one; ids may come from another layer.
    /// `nil` when no layer names one.
    func source() throws(CommandFailure) -> CredentialSource? {
        if let path = options.cert, let keyPath = options.certKey {
            return .certificate(path: path, keyPath: keyPath)
        }
        if let path = options.pkcs12 { return .pkcs12(path: path) }
        if let path = options.key { return try key(.file(path: path)) }
        if variables[.key] != nil { return try key(.variable) }
        if let path = variables[.keyFile] { return try key(.file(path: path)) }
        if let path = variables[.certificate], let keyPath = variables[.certificateKey] {
            return .certificate(path: path, keyPath: keyPath)
        }
        if let path = variables[.pkcs12] { return .pkcs12(path: path) }
        return configured
    }

    /// A key with its ids. The id in a file's name is used unless another is given.
    private func key(_ place: CredentialSource.KeyPlace) throws(CommandFailure) -> CredentialSource
    {
        var configuredIDs: (key: DeveloperID, team: DeveloperID)?
        if case .key(_, let keyID, let teamID) = configured { configuredIDs = (keyID, teamID) }
        let keyID = options.keyID ?? place.guessedKeyID ?? variables[.keyID]
        let teamID = options.teamID ?? variables[.teamID]
        return .key(
            place,
            keyID: try identifier(
                for: place, keyID, configuredIDs?.key, "key id", "--key-id", .keyID),
            teamID: try identifier(
                for: place, teamID, configuredIDs?.team, "team id", "--team-id", .teamID))
    }

    private func identifier(
        for place: CredentialSource.KeyPlace, _ text: String?, _ configured: DeveloperID?,
        _ field: String, _ option: String, _ variable: Variable
    ) throws(CommandFailure) -> DeveloperID {
        guard let text else {
            if let configured { return configured }
            // Reports a wrong path, and not a missing id that its name would have had.
            if case .file(let path) = place { try InputFile.check(path, "key file") }
            throw CommandFailure(
                .usage,
                "The \(field) is missing. Give \(option) or \(variable.rawValue); it is shown in "
                    + "Apple's developer account.")
        }
        return try failing(with: .usage) { () throws(InvalidField) in
            try DeveloperID(text, field: field)
        }
    }
}
