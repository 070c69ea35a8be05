// SPDX-License-Identifier: Apache-2.0

import APNsClient
import Glibc
import WakeModel

/// Looks at a key or a certificate: is it there, is it the right kind, is it still valid, and who
/// else can read it?
enum CredentialCheck {
    /// How long before its end a certificate causes a warning, in seconds: 30 days.
    private static let renewalSeconds: Int64 = 30 * 86_400

    /// What was found of the credential for an app, whose name is for a person.
    static func findings(
        of source: CredentialSource, for app: String, _ variables: Variables
    ) -> [DoctorChecks.Finding] {
        let subject = source.subject
        let credential: Credential
        do throws(CommandFailure) {
            credential = try source.open(variables)
        } catch {
            return [.wrong(subject, "For \(app): \(error.message)")]
        }
        var findings = [finding(credential, subject, app)]
        for path in source.secretPaths {
            if let warning = permissions(of: path, subject) { findings.append(warning) }
        }
        return findings
    }

    private static func finding(
        _ credential: Credential, _ subject: String, _ app: String
    ) -> DoctorChecks.Finding {
        guard case .certificate(let certificate) = credential else {
            return .fine(subject, "For \(app): a P-256 signing key, \(credential.summary).")
        }
        let text = "For \(app): \(credential.summary), valid until \(certificate.notAfter)."
        let now = WallInstant.now
        if now < certificate.notBefore || certificate.notAfter < now {
            return .wrong(subject, text + " It is not valid now.", "Renew it at Apple.")
        }
        if certificate.notAfter < now.advanced(bySeconds: renewalSeconds) {
            return .warning(subject, text, "Renew it soon, or move to a signing key.")
        }
        return .fine(subject, text)
    }

    private static func permissions(
        of path: String, _ subject: String
    ) -> DoctorChecks.Finding? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & 0o077 != 0 else { return nil }
        return .warning(
            subject, "\(path) can be read by other users of this machine.", "Run: chmod 600 \(path)"
        )
    }
}

extension CredentialSource {
    /// What a finding is about.
    fileprivate var subject: String {
        switch self {
        case .key: "key"
        case .certificate, .pkcs12: "certificate"
        }
    }

    /// The files that only the owner should be able to read.
    fileprivate var secretPaths: [String] {
        switch self {
        case .key(.file(let path), _, _): [path]
        case .key(.variable, _, _): []
        case .certificate(_, let keyPath): [keyPath]
        case .pkcs12(let path): [path]
        }
    }
}
