// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsWire
import FoundationEssentials
import PushTransport
import WakeModel

/// The place of an app's credential, before any file is opened.
enum CredentialSource: Hashable, Sendable {
    /// A signing key, with its id and its team's.
    case key(KeyPlace, keyID: DeveloperID, teamID: DeveloperID)
    /// A certificate and its key, in PEM.
    case certificate(path: String, keyPath: String)
    /// A PKCS#12 archive.
    case pkcs12(path: String)

    /// The place of a signing key.
    enum KeyPlace: Hashable, Sendable {
        /// In a file.
        case file(path: String)
        /// In the environment, as PEM text, which only ``Variables`` holds.
        case variable
    }

    /// Opens it. `variables` hold the password of a certificate, and the key that is a variable.
    func open(_ variables: Variables) throws(CommandFailure) -> Credential {
        switch self {
        case .key(let place, let keyID, let teamID):
            let key = try place.open(variables)
            return .key(ProviderTokenSource(key: key, keyID: keyID, teamID: teamID), key)
        case .certificate(let path, let keyPath):
            try InputFile.check(path, "certificate file")
            try InputFile.check(keyPath, "certificate key file")
            return .certificate(try Self.certificate(path, keyPath, variables))
        case .pkcs12(let path):
            try InputFile.check(path, "PKCS#12 file")
            return .certificate(try Self.certificate(path, nil, variables))
        }
    }

    private static func certificate(
        _ path: String, _ keyPath: String?, _ variables: Variables
    ) throws(CommandFailure) -> PushCertificate {
        let password = variables[.certificatePassword]
        do throws(InvalidField) {
            return try PushCertificate(certificatePath: path, keyPath: keyPath, password: password)
        } catch {
            // The library's error does not have the source of the password; the command adds it.
            guard error.problem.hasSuffix("password") else {
                throw CommandFailure(.configuration, error)
            }
            let name = Variable.certificatePassword.rawValue
            throw CommandFailure(
                .configuration,
                InvalidField(
                    field: "\(error.field) (\(keyPath ?? path))", problem: error.problem,
                    remedy: password == nil ? "Put it into \(name)." : "Check \(name)."))
        }
    }
}

extension CredentialSource.KeyPlace {
    /// The prefix of Apple's name of a key's file, before the key id.
    private static let fileNamePrefix = "AuthKey_"

    /// Reads the key.
    func open(_ variables: Variables) throws(CommandFailure) -> SigningKey {
        switch self {
        case .file(let path):
            try InputFile.check(path, "key file")
            return try failing(with: .configuration) { () throws(InvalidField) in
                try SigningKey(path: path)
            }
        case .variable:
            guard let pem = variables[.key] else {
                throw CommandFailure(.configuration, "\(Variable.key.rawValue) is not set.")
            }
            do throws(InvalidField) {
                return try SigningKey(pem: pem.utf8)
            } catch {
                throw CommandFailure(
                    .configuration, "\(Variable.key.rawValue) \(error.problem). \(error.remedy)")
            }
        }
    }

    /// The key id in a file's name, if Apple's name was kept.
    var guessedKeyID: String? {
        guard case .file(let path) = self else { return nil }
        let name = URL(filePath: path).deletingPathExtension().lastPathComponent
        guard name.hasPrefix(Self.fileNamePrefix) else { return nil }
        let id = String(name.dropFirst(Self.fileNamePrefix.count))
        return id.utf8.count == DeveloperID.characterCount ? id : nil
    }
}

/// A credential that was opened and is of the right kind.
enum Credential: Sendable {
    /// A signing key and the one source of its provider tokens.
    case key(ProviderTokenSource, SigningKey)
    /// A certificate.
    case certificate(PushCertificate)

    /// The authentication of a client with it.
    var authentication: APNsClient.Authentication {
        switch self {
        case .key(let source, _): .providerToken(source)
        case .certificate(let certificate): .certificate(certificate)
        }
    }

    /// A description for a person: ids and names, without secrets.
    var summary: String {
        switch self {
        case .key(let source, _): "key \(source.keyID) of team \(source.teamID)"
        case .certificate(let certificate): "certificate \"\(certificate.commonName)\""
        }
    }
}
