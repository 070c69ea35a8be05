// SPDX-License-Identifier: Apache-2.0

import APNsClient
import AdminAPI
import FoundationEssentials
import Glibc
import WakeModel

/// Looks at what a gateway's listener needs: API keys, an address, a certificate.
enum ListenerCheck {
    /// How long before its end a certificate causes a warning, in seconds: 7 days. Automatic
    /// renewal happens earlier.
    private static let renewalSeconds: Int64 = 7 * 86_400
    /// How long before its end an API key causes a warning, in seconds: 14 days.
    private static let lapseSeconds: Int64 = 14 * 86_400
    /// The most bytes of a socket's path: `sun_path` with its final zero (unix(7)).
    private static let socketPathByteCount = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    /// What was found.
    static func findings(of configuration: ServeConfiguration) -> [DoctorChecks.Finding] {
        keys(configuration) + audit(configuration) + address(configuration) + tls(configuration)
    }

    private static func keys(_ configuration: ServeConfiguration) -> [DoctorChecks.Finding] {
        let file: KeysFile
        do throws(CommandFailure) {
            file = try KeysFile(path: configuration.effectiveKeysPath)
        } catch {
            return [.wrong("api-keys", error.message)]
        }
        let problems = ServeReadiness.problems(of: configuration, keysFile: file)
        guard problems.isEmpty else { return problems.map { .wrong("configuration", $0) } }
        let names =
            file.keys.filter { $0.revokedAt == nil }.map(\.name)
            + configuration.apiKeys.map(\.name)
        return [.fine("api-keys", "For \(names.sorted().joined(separator: ", ")).")]
            + lapses(configuration, file) + strangers(configuration, file)
    }

    /// Keys that expire soon, or have expired.
    private static func lapses(
        _ configuration: ServeConfiguration, _ file: KeysFile
    ) -> [DoctorChecks.Finding] {
        guard let keys = try? configuration.keys(with: file) else { return [] }
        let now = WallInstant.now
        return keys.compactMap { key in
            guard let end = key.expiresAt, end < now.advanced(bySeconds: lapseSeconds) else {
                return nil
            }
            return .warning(
                "api-keys",
                now < end
                    ? "The key \(key.name) expires at \(end)."
                    : "The key \(key.name) has expired at \(end).",
                "Give it more time: rouse keys rotate --name \(key.name) --expires 90d, or change "
                    + "its expires in api-keys.")
        }
    }

    /// Keys for apps that are not configured, which a key of the configuration cannot be.
    private static func strangers(
        _ configuration: ServeConfiguration, _ file: KeysFile
    ) -> [DoctorChecks.Finding] {
        let known = Set(configuration.apps.map(\.bundleID.value))
        return file.keys.filter { $0.revokedAt == nil }.compactMap { key in
            let missing = (key.apps ?? []).filter { !known.contains($0) }
            guard !missing.isEmpty else { return nil }
            return .warning(
                "api-keys",
                "The key \(key.name) is for \(missing.joined(separator: ", ")), which is not "
                    + "configured.",
                "Add the app to apps, or revoke the key.")
        }
    }

    private static func audit(_ configuration: ServeConfiguration) -> [DoctorChecks.Finding] {
        guard let path = configuration.auditPath else { return [] }
        do throws(AuditFile.Failure) {
            try AuditFile(path: path).check()
        } catch {
            return [
                .wrong(
                    "audit-file", "\(error)", "Name a file that this user can append to.",
                    .notAllowed)
            ]
        }
        return [.fine("audit-file", "\(path) can be appended to.")]
    }

    private static func tls(_ configuration: ServeConfiguration) -> [DoctorChecks.Finding] {
        guard let files = configuration.tls else { return [] }
        do throws(InvalidField) {
            _ = try ListenerTLS(certificatePath: files.certificatePath, keyPath: files.keyPath)
        } catch {
            return [.wrong("tls", error.description)]
        }
        let text = "The listener's certificate and key belong together"
        // What is read for its dates alone: that the files are good is known by now.
        guard
            let certificate = try? PushCertificate(
                certificatePath: files.certificatePath, keyPath: files.keyPath)
        else { return [.fine("tls", text + ".")] }
        let now = WallInstant.now
        let times = text + "; valid from \(certificate.notBefore), valid until "
        let words = times + "\(certificate.notAfter)."
        if now < certificate.notBefore {
            return [.wrong("tls", words + " It is not valid yet.", "Set the clock, or wait.")]
        }
        if certificate.notAfter < now {
            return [.wrong("tls", words + " It is not valid any more.", "Renew it.")]
        }
        guard now.advanced(bySeconds: renewalSeconds) < certificate.notAfter else {
            return [.warning("tls", words, "Renew it, and let the gateway read it by SIGHUP.")]
        }
        return [.fine("tls", words)]
    }

    /// Whether a socket can be made. Whether a port is free is not asked: the gateway whose
    /// configuration this is may be running.
    private static func address(_ configuration: ServeConfiguration) -> [DoctorChecks.Finding] {
        guard case .unixSocket(let path) = configuration.listen else { return [] }
        do throws(InvalidField) {
            _ = try configuration.socketAccess()
        } catch {
            return [.wrong("listen", error.description)]
        }
        let folder = URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false)
        guard path.utf8.count <= socketPathByteCount else {
            return [
                .wrong(
                    "listen", "The socket's path is too long: \(path)",
                    "Use one of at most \(socketPathByteCount) bytes.")
            ]
        }
        guard access(folder, F_OK) == 0 else {
            return [
                .wrong("listen", "The socket \(path) has no folder.", "Make it: mkdir \(folder)")
            ]
        }
        guard access(folder, W_OK) == 0 else {
            return [
                .wrong(
                    "listen", "The socket \(path) cannot be made.",
                    "Let this user write its folder.", .notAllowed)
            ]
        }
        var status = stat()
        guard stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFSOCK else {
            return [
                .wrong(
                    "listen", "\(path) is no socket.", "Move it away, or listen on another path.")
            ]
        }
        return []
    }
}
