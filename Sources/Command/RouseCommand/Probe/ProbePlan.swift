// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsWire
import PushTransport
import WakeModel

/// What `rouse probe` needs: the token, the app, and the servers to ask.
struct ProbePlan {
    /// One attempt: a probe that cannot be delivered now is to be forgotten.
    static let expiration = Expiration.immediately

    /// The device token.
    let deviceToken: DeviceToken
    /// The app.
    let bundleID: BundleID
    /// Who asks.
    let credential: Credential
    /// Whom to ask.
    let servers: [Server]
    /// What carries the probes.
    let transportKind: TransportKind
    /// How long to wait for each answer.
    let timeout: Duration

    /// One server to ask.
    struct Server {
        /// Its environment; `nil` for a server that was only named by its host.
        let environment: APNsEnvironment?
        /// How it is reached.
        let transport: TransportConfiguration

        /// What it is called in the result.
        var name: String {
            environment?.rawValue ?? "\(transport.host):\(transport.port)"
        }
    }

    /// Reads what was typed.
    init(_ command: ProbeCommand, variables: Variables) throws(CommandFailure) {
        let settings = try AppSettings(
            app: command.app, credential: command.credential, environment: command.environment,
            server: command.server, variables: variables)
        deviceToken = try failing(with: .data) { () throws(InvalidField) in
            try DeviceToken(pasted: command.deviceToken)
        }
        bundleID = try settings.requiredBundleID()
        transportKind = settings.server.transportKind
        timeout = .seconds(settings.server.timeoutSeconds)
        servers = try Self.servers(command, settings)
        credential = try settings.requiredCredential().open(variables)
    }

    private static func servers(
        _ command: ProbeCommand, _ settings: AppSettings
    ) throws(CommandFailure) -> [Server] {
        let asked = EnvironmentFlag.allCases.filter {
            command.environment == nil || command.environment == $0
        }
        func named(_ flag: EnvironmentFlag) -> String? {
            flag == .production ? command.productionServer : command.sandboxServer
        }
        let hasOwn = settings.server.host != nil
        // An app with a server of its own is asked about there, as with --host, and not at Apple.
        if hasOwn, asked.allSatisfy({ named($0) == nil }) {
            let environment = command.environment?.environment
            return [
                Server(
                    environment: environment,
                    transport: try settings.server.transport(for: environment))
            ]
        }
        var apple = settings.server
        apple.host = nil
        var servers: [Server] = []
        for flag in asked where !hasOwn || named(flag) != nil {
            let transport =
                if let named = named(flag) {
                    try transport(to: named, settings.server)
                } else {
                    try apple.transport(for: flag.environment)
                }
            servers.append(Server(environment: flag.environment, transport: transport))
        }
        return servers
    }

    private static func transport(
        to text: String, _ settings: ServerSettings
    ) throws(CommandFailure) -> TransportConfiguration {
        guard
            case .tcp(let host, let port)? = try? ServeConfiguration.Listen(text), port != 0
        else {
            throw CommandFailure(.usage, "A server to probe is not written as host:port.")
        }
        return settings.transport(host: host, port: port)
    }

    /// Says what is about to happen, before it does. Beside JSON it goes to standard error.
    func announce(_ console: Console, asJSON: Bool) {
        let names = servers.map(\.name).joined(separator: " and ")
        let text =
            "A probe is a real background push: sending one to \(names) for \(bundleID) on "
            + "\(deviceToken), as \(credential.summary). It may wake the app."
        if asJSON { console.remark(text) } else { console.say("Probe", text) }
    }

    /// Asks the servers one after the other, each on a connection of its own.
    func run() async throws(CommandFailure) -> ProbeFindings {
        var answers: [ProbeFindings.Answer] = []
        for server in servers {
            let push = try failing(with: .bug) { () throws(InvalidField) in
                try Push.background(
                    to: deviceToken, of: bundleID,
                    payload: Array(#"{"aps":{"content-available":1}}"#.utf8),
                    expiration: Self.expiration)
            }
            var configuration = APNsClient.Configuration(
                transport: server.transport, authentication: credential.authentication)
            configuration.transportKind = transportKind
            configuration.pushTimeout = timeout
            let reply = try await SingleReply(to: push, configuration)
            answers.append(
                ProbeFindings.Answer(
                    name: server.name, environment: server.environment, result: reply.result,
                    milliseconds: reply.milliseconds))
        }
        return ProbeFindings(answers: answers)
    }
}
