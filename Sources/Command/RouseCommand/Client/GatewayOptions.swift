// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// Which gateway is asked, as it was typed.
struct GatewayOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The gateway, as http(s)://host:port or unix:path. Or ROUSE_GATEWAY. Without it: "
                + "http://127.0.0.1:8080.", valueName: "url"))
    var gateway: String?

    @Option(
        help: ArgumentHelp(
            "The file with the API key. Or ROUSE_API_KEY_FILE, or the key itself in ROUSE_API_KEY.",
            valueName: "file"), completion: .file())
    var keyFile: String?

    @Option(
        help: ArgumentHelp(
            "Trust these certificate authorities (PEM) for the gateway.", valueName: "file"),
        completion: .file())
    var gatewayCA: String?
}
