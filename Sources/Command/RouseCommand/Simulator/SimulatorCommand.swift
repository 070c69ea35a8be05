// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import WakeModel

/// `rouse apns-simulator`: an APNs simulator.
struct SimulatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apns-simulator",
        abstract: "Run an APNs simulator on this machine.",
        discussion: """
            It speaks HTTP/2 over TLS and says no the way Apple does. It makes its certificate \
            by itself, and a signing key that clients may use. When it is ready it prints where \
            it listens, and a command to try. It runs until SIGTERM or SIGINT.

            Started bare, it takes any well-formed provider token. With --folder, \
            --provider-key or --strict-authentication it knows its keys, the one it made \
            included, and answers tokens of any other key, team or signature with 403 \
            InvalidProviderToken, as Apple does.

            Like APNs it takes HTTP/2 without ALPN, tokens signed in DER, and an iat that is a \
            text, and warns of each on standard error; --strict-alpn, --strict-signature and \
            --strict-issued-at refuse them.

            Clients with a certificate instead of a token are served with --client-ca, which \
            names their authority; a self-signed certificate is its own.

            The control endpoint (--control-port) is plain HTTP: GET /pushes, POST /faults, POST \
            /devices, POST /goaway and others inject faults and tell what arrived.

            With --device-model there is a phone behind each device token, which launches the \
            app, holds pushes back or drops them as iOS would; GET /devices/<token>/pushes tells \
            what became of them. With --receipts its app tells a gateway on this machine of its \
            launches, with the API key in ROUSE_RECEIPTS_KEY.

            Examples:

              rouse apns-simulator --port 2197 --control-port 2198
              rouse apns-simulator --provider-key TEAM123456:AuthKey_ABCDE12345.p8
              rouse apns-simulator --device-model commuter --receipts http://127.0.0.1:8080
            """)

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "The port; 0 lets the system choose.")
    var port = 0

    @Option(help: "Serve the control endpoint on this port; 0 lets the system choose.")
    var controlPort: Int?

    @Flag(help: "Which of Apple's environments it imitates.")
    var environment: EnvironmentFlag = .sandbox

    @Option(
        help: ArgumentHelp(
            "Write the certificate authority and the key into this folder. Without it: a "
                + "temporary one.", valueName: "path"), completion: .directory)
    var folder: String?

    @Option(
        name: .customLong("client-ca"),
        help: ArgumentHelp(
            "Serve clients whose certificate comes from these authorities (PEM).",
            valueName: "file"), completion: .file())
    var clientCA: String?

    @Option(
        help: ArgumentHelp(
            "Know this key, a .p8 file or its public half in PEM, as team:file or "
                + "team:key-id:file. May be repeated.", valueName: "key"))
    var providerKey: [ProviderKeyArgument] = []

    @Flag(
        inversion: .prefixedNo,
        help: ArgumentHelp(
            "Answer provider tokens of keys that it does not know with InvalidProviderToken. On "
                + "with --folder or --provider-key, otherwise off."))
    var strictAuthentication: Bool?

    @Flag(name: .customLong("strict-alpn"), help: "Refuse connections without h2 in ALPN.")
    var strictALPN = false

    @Flag(help: "Answer provider tokens that are signed in DER with InvalidProviderToken.")
    var strictSignature = false

    @Flag(help: "Answer provider tokens whose iat is a text with InvalidProviderToken.")
    var strictIssuedAt = false

    @Flag(help: "Answer device tokens that nobody registered with BadDeviceToken.")
    var refuseUnknownTokens = false

    @Flag(help: "Answer background pushes with priority 10 with BadPriority.")
    var strictPriority = false

    @Option(
        help: ArgumentHelp(
            "Put a modelled device with such days behind each token.", valueName: "profile"))
    var deviceModel: DeviceProfileName?

    @Option(
        help: ArgumentHelp(
            "Tell the gateway there, on a loopback address, what reached the apps on modelled "
                + "devices.", valueName: "url"))
    var receipts: String?

    @Flag(help: "Receipts do not say that the app fetched everything.")
    var noSync = false

    @Option(help: "Fixes everything that looks random, modelled devices included.")
    var seed: UInt64 = 1

    @Flag(help: "Write the ready line as JSON.")
    var json = false

    func validate() throws {
        guard (0...65_535).contains(port), (0...65_535).contains(controlPort ?? 0) else {
            throw ValidationError("A port is not between 0 and 65535.")
        }
        guard providerKey.isEmpty || strictAuthentication != false else {
            throw ValidationError(
                "--provider-key names the keys to know, and --no-strict-authentication takes all.")
        }
        guard receipts == nil || deviceModel != nil || controlPort != nil else {
            throw ValidationError(
                "--receipts needs --device-model, or --control-port to register devices with.")
        }
        guard !noSync || receipts != nil else {
            throw ValidationError("--no-sync is about --receipts, which is not given.")
        }
    }

    func run() async throws {
        try await SimulatorRun(self, variables: .current).run(Console(.current))
    }
}
