// SPDX-License-Identifier: Apache-2.0

import CurlHTTP

/// What keeps a gateway with a configuration from being started.
enum ServeReadiness {
    /// Each problem, with its fix, in sentences; empty for a configuration that serves.
    static func problems(
        of configuration: ServeConfiguration, keysFile: KeysFile
    ) -> [String] {
        var problems: [String] = []
        if configuration.apps.isEmpty {
            problems.append("apps is empty. Add the app that is to be woken.")
        }
        if configuration.apiKeys.isEmpty, !keysFile.keys.contains(where: { $0.revokedAt == nil }) {
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
