// SPDX-License-Identifier: Apache-2.0

/// What keeps a gateway with a configuration from being started.
enum ServeReadiness {
    /// Each problem, with its fix, in sentences; empty for a configuration that serves.
    static func problems(of configuration: ServeConfiguration) -> [String] {
        var problems: [String] = []
        if configuration.apps.isEmpty {
            problems.append("apps is empty. Add the app that is to be woken.")
        }
        if configuration.apiKeys.isEmpty {
            problems.append(
                "api-keys is empty, so that nobody could ask for a wake. Add a name, and as sha256 "
                    + "the output of: printf %s \"$KEY\" | sha256sum")
        }
        if !configuration.listen.isLocal, !configuration.allowsInsecureListen {
            problems.append(
                "listen is not a loopback address, and Rouse speaks no TLS: keys and device tokens "
                    + "would cross the network in the clear. Listen on 127.0.0.1 behind a proxy "
                    + "that speaks TLS, or set insecure: true.")
        }
        return problems
    }
}
