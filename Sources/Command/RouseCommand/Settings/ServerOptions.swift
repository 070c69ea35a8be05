// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
public import PushTransport
import WakeModel

/// Which of Apple's two environments, as a flag.
enum EnvironmentFlag: String, EnumerableFlag {
    case production
    case sandbox

    /// The environment.
    var environment: APNsEnvironment { self == .production ? .production : .sandbox }

    static func help(for value: EnvironmentFlag) -> ArgumentHelp? {
        switch value {
        case .production: "Apps from TestFlight and the App Store, and Ad hoc builds."
        case .sandbox: "Builds signed for development."
        }
    }
}

/// How the server is reached, as it was typed.
struct ServerOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Another server than Apple's, such as a simulator."))
    var host: String?

    @Option(help: ArgumentHelp("Its port: 443, or 2197 which Apple listens on too."))
    var port: Int?

    @Option(
        help: ArgumentHelp(
            "Trust these certificate authorities (PEM) instead of the system's.",
            valueName: "file"), completion: .file())
    var ca: String?

    @Option(
        help: ArgumentHelp(
            "Go through this HTTP proxy; 'none' for no proxy. Otherwise https_proxy counts.",
            valueName: "url"))
    var proxy: String?

    @Option(
        help: ArgumentHelp(
            "native, or curl, which knows every kind of proxy and is the default with one, and "
                + "with libcurl 8.19 or later.",
            valueName: "kind"))
    var transport: TransportKind?

    @Option(help: ArgumentHelp("Give up after so long.", valueName: "seconds"))
    var timeout: Int = 30

    /// Checks ranges.
    func validate() throws {
        if let port, !(1...65_535).contains(port) {
            throw ValidationError("--port is not between 1 and 65535.")
        }
        guard (1...600).contains(timeout) else {
            throw ValidationError("--timeout is not between 1 and 600 seconds.")
        }
    }
}

extension TransportKind: ExpressibleByArgument {}

/// Which app, as it was typed.
struct AppOptions: ParsableArguments {
    @Option(
        name: [.customLong("bundle-id"), .customLong("topic")],
        help: ArgumentHelp(
            "The app's bundle id, without a suffix such as .voip.", valueName: "id"))
    var bundleID: String?

    @Option(
        help: ArgumentHelp("Take what is not given from this configuration.", valueName: "file"),
        completion: .file())
    var config: String?
}
