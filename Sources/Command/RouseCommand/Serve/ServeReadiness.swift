// SPDX-License-Identifier: Apache-2.0

import APNsClient
import AdminAPI
import CurlHTTP
import WakeModel

/// The problems that prevent the start of a gateway with a configuration.
enum ServeReadiness {
    /// Each problem, with its fix, in sentences; empty for a usable configuration.
    ///
    /// A gateway without a key is a mistake where it is set up. It is none where the last key was
    /// revoked or has expired: the gateway has wakes to send, and must start again and reload.
    static func problems(
        of configuration: ServeConfiguration, keysFile: KeysFile, isReload: Bool = false
    ) -> [String] {
        var problems: [String] = []
        if configuration.apps.isEmpty {
            problems.append("apps is empty. Add the app that is to be woken.")
        }
        do throws(InvalidField) {
            let keys = try configuration.keys(with: keysFile)
            if let conflict = APIKey.conflict(among: keys) {
                problems.append(
                    "api-keys and keys-file (\(configuration.effectiveKeysPath)): \(conflict)")
            }
        } catch {
            problems.append("keys-file (\(configuration.effectiveKeysPath)): \(error)")
        }
        let hasKey =
            !configuration.apiKeys.isEmpty || keysFile.keys.contains { $0.revokedAt == nil }
        if !hasKey, !isReload {
            problems.append(
                "There is no API key, so that nobody could ask for a wake. Make one: rouse keys "
                    + "create --name backend --keys-file \(configuration.effectiveKeysPath)")
        }
        if !configuration.listen.isLocal, configuration.tls == nil,
            !configuration.allowsInsecureListen
        {
            problems.append(
                "listen is not a loopback address, and there is no TLS: keys and device tokens "
                    + "would cross the network in the clear. Give tls.certificate-file and "
                    + "tls.key-file, or listen on 127.0.0.1 behind a proxy that speaks TLS, or set "
                    + "insecure: true.")
        }
        for webhook in configuration.webhooks
        where webhook.url.hasPrefix("http://") && !HTTPCaller.isLoopback(url: webhook.url)
            && !configuration.allowsInsecureListen
        {
            problems.append(
                "\(webhook.place).url is http to another machine: outcomes and device tokens "
                    + "would cross the network in the clear. Write it as https://host/path, or "
                    + "set insecure: true.")
        }
        return problems
    }
}

extension ServeConfiguration {
    /// All keys of the API: those of the configuration, then those of the keys' file that are not
    /// revoked.
    func keys(with file: KeysFile) throws(InvalidField) -> [APIKey] {
        try configuredKeys() + file.activeKeys()
    }

    /// The keys of `api-keys`.
    func configuredKeys() throws(InvalidField) -> [APIKey] {
        var keys: [APIKey] = []
        for key in apiKeys { keys.append(try key.apiKey()) }
        return keys
    }
}
