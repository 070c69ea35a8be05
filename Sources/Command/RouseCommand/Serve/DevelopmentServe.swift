// SPDX-License-Identifier: Apache-2.0

import APNsClient
import APNsSimulator
import AdminAPI
import FoundationEssentials
import Logging
import PushTransport
import UnixSignals
import WakeModel

/// `rouse serve --dev`: the whole gateway without any configuration, against an APNs simulator.
struct DevelopmentServe {
    /// The demo app.
    static let bundleID = "com.example.demo"

    private let folder: SimulatorFolder
    private let configuration: ServeConfiguration
    private let credential: CredentialSource
    private let variables: Variables

    /// Reads address and log level from the options, and then creates the folder and the key, so
    /// that a refusal leaves nothing. Throws for a variable that would have no effect.
    init(_ command: ServeCommand, variables: Variables) throws(CommandFailure) {
        try OuterSettings.check(variables, withoutFileBut: [.listen, .logLevel, .logFormat])
        var configuration = ServeConfiguration()
        if let text = variables[.listen] {
            configuration.listen = try failing(with: .usage) { () throws(InvalidField) in
                try ServeConfiguration.Listen(text)
            }
        }
        configuration.logLevel = .warning
        if let word = variables[.logLevel] {
            configuration.logLevel = try ServeConfiguration.level(word, Variable.logLevel.rawValue)
        }
        if let word = variables[.logFormat] {
            configuration.logFormat = try ServeConfiguration.format(
                word, Variable.logFormat.rawValue)
        }
        try configuration.apply(command)
        // Without API keys, so only this machine may reach it.
        guard configuration.listen.isLocal else {
            throw CommandFailure(
                .usage, "--dev asks for no API key, so it listens on loopback addresses only.")
        }
        folder = try SimulatorFolder(path: command.folder)
        credential = try folder.key()
        configuration.storePath = folder.file("rouse.sqlite")
        self.configuration = configuration
        self.variables = variables
    }

    /// Runs the simulator and the gateway until a signal ends them.
    func run(
        _ console: Console, hangUps: UnixSignalsSequence
    ) async throws(CommandFailure) {
        defer { folder.remove() }
        let simulator: APNsSimulator
        do {
            simulator = try await APNsSimulator.start(
                .init(), logger: configuration.logFormat.logger("apns-simulator", .warning))
        } catch {
            throw CommandFailure(.unavailable, "The simulator cannot listen: \(error)")
        }
        let result: Result<Void, CommandFailure>
        do throws(CommandFailure) {
            result = .success(try await serve(against: simulator, console, hangUps))
        } catch {
            result = .failure(error)
        }
        try? await simulator.shutdown()
        try result.get()
    }

    private func serve(
        against simulator: APNsSimulator, _ console: Console, _ hangUps: UnixSignalsSequence
    ) async throws(CommandFailure) {
        let bundleID = try failing(with: .bug) { () throws(InvalidField) in
            try BundleID(Self.bundleID)
        }
        var configuration = configuration
        configuration.apps = [
            ServeConfiguration.App(
                bundleID: bundleID, environment: .sandbox, credential: credential,
                server: ServeConfiguration.Server(
                    host: simulator.host, port: simulator.port,
                    certificateAuthorityPath: try write(simulator.certificateAuthorityPEM)))
        ]
        configuration.transport.proxy = .none
        let assembly = GatewayAssembly(
            plan: ServePlan(
                configuration: configuration, apps: try ServedApp.open(configuration, variables)),
            authentication: .disabled, reread: nil, hangUps: hangUps)
        try await assembly.run { address in
            Commands(address: address, folder: folder).say(console)
        }
    }

    private func write(_ pem: String) throws(CommandFailure) -> String {
        let path = folder.certificateAuthorityPath
        do {
            try pem.write(toFile: path, atomically: true, encoding: .utf8)
        } catch {
            throw CommandFailure(.notAllowed, "\(path) cannot be written.")
        }
        return path
    }
}

extension DevelopmentServe {
    /// The commands to paste into a shell.
    struct Commands {
        /// The address of the API.
        let address: ListenAddress
        /// The file for the answer to the first command, which the third one reads.
        let folder: SimulatorFolder

        /// Writes the address and three commands.
        func say(_ console: Console) {
            let token = Self.deviceToken()
            let now = WallInstant.now.secondsSinceEpoch
            let answer = folder.file("last-wake.json")
            console.say("The gateway listens on \(base), with an APNs simulator behind it.")
            if let page = address.dashboardAddress(isEncrypted: false) {
                console.say("The dashboard: \(page)")
            }
            console.say("Store, key and CA: \(folder.path)")
            console.say("")
            console.say("# Send a silent wake:")
            console.say(
                post(
                    #""kind":"background","ttl_seconds":3600"#, token,
                    #"{"aps":{"content-available":1},"version":1}"#)
                    + " | tee '\(answer)'")
            console.say("# Send a VoIP wake:")
            console.say(
                post(
                    #""kind":"voip","ttl_seconds":0"#, token,
                    #"{"callUUID":"\#(APNsID.generate())","handle":"Ann","timestamp":\#(now)}"#))
            console.say("# Read what became of the first one:")
            console.say(
                "\(curl) \(base)/v1/wakes/$(sed 's/.*\"id\":\"\\([^\"]*\\)\".*/\\1/' '\(answer)')")
            console.say("")
            console.say("Stop it with Ctrl-C or SIGTERM.")
        }

        private var base: String {
            switch address {
            case .tcp: "http://\(address)"
            case .unixSocket: "http://localhost"
            }
        }

        private var curl: String {
            switch address {
            case .tcp: "curl -sS -w '\\n'"
            case .unixSocket(let path): "curl -sS -w '\\n' --unix-socket '\(path)'"
            }
        }

        private func post(_ kind: String, _ token: String, _ payload: String) -> String {
            let members =
                #"{\#(kind),"app":"\#(DevelopmentServe.bundleID)","device_token":"\#(token)","#
                + #""payload":\#(payload)}"#
            return "\(curl) \(base)/v1/wakes -H 'Content-Type: application/json' -d '\(members)'"
        }

        /// A device token of 32 random bytes: the simulator accepts any.
        private static func deviceToken() -> String {
            var generator = SystemRandomNumberGenerator()
            return (0..<4).map { _ in
                let digits = String(generator.next(), radix: 16)
                return String(repeating: "0", count: 16 - digits.count) + digits
            }.joined()
        }
    }
}
