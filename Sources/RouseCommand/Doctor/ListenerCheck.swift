// SPDX-License-Identifier: Apache-2.0

import AdminAPI
import Foundation
import StoreSQLite
import WakeModel

/// Looks at what a gateway's own side needs: API keys, the listener's certificate, the webhooks'
/// secret, the store's folder.
enum ListenerCheck {
    /// What was found.
    static func findings(
        of configuration: ServeConfiguration, _ variables: Variables
    ) -> [Examination.Finding] {
        keys(configuration) + tls(configuration) + webhooks(configuration, variables)
            + store(configuration)
    }

    private static func keys(_ configuration: ServeConfiguration) -> [Examination.Finding] {
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
    }

    private static func tls(_ configuration: ServeConfiguration) -> [Examination.Finding] {
        guard let files = configuration.tls else { return [] }
        do throws(InvalidField) {
            _ = try ListenerTLS(certificatePath: files.certificatePath, keyPath: files.keyPath)
            return [.fine("tls", "The listener's certificate and key belong together.")]
        } catch {
            return [.wrong("tls", error.description)]
        }
    }

    private static func webhooks(
        _ configuration: ServeConfiguration, _ variables: Variables
    ) -> [Examination.Finding] {
        do throws(CommandFailure) {
            return try configuration.webhookEndpoints(variables).map { endpoint in
                guard endpoint.url.hasPrefix("https://") else {
                    return .warning(
                        "webhook", "Events go to \(endpoint) without TLS.", "Use an https URL.")
                }
                return .fine("webhook", "Events go to \(endpoint).")
            }
        } catch {
            return [.wrong("webhook", error.message)]
        }
    }

    /// Whether the store can be made or written.
    private static func store(_ configuration: ServeConfiguration) -> [Examination.Finding] {
        let path = configuration.storePath
        let folder = URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false)
        let isThere = access(path, F_OK) == 0
        guard access(folder, F_OK) == 0 else {
            return [
                .wrong(
                    "store", "\(path) has no folder yet.",
                    "Make it for the gateway's user: install -d -m 0700 \(folder)", .notAllowed)
            ]
        }
        guard access(folder, W_OK) == 0, !isThere || access(path, R_OK | W_OK) == 0 else {
            return [
                .wrong(
                    "store", "\(path) cannot be written.",
                    "Let this user write the file and its folder.", .notAllowed)
            ]
        }
        var findings: [Examination.Finding] = [
            .fine("store", isThere ? "\(path) can be written." : "\(path) will be made.")
        ]
        if configuration.storeDurability != .disk {
            findings.append(
                .warning(
                    "store",
                    "store-durability is \(configuration.storeDurability.rawValue): a power cut "
                        + "may take the last second of what was answered.",
                    "Write disk if an accepted wake must survive that."))
        }
        return findings
    }
}
