// SPDX-License-Identifier: Apache-2.0

import APNsClient
import PushTransport
import WakeModel

/// All checks of `rouse doctor`, in the order of the report.
struct DoctorChecks: Sendable {
    /// What was found.
    private(set) var findings: [Finding] = []

    /// One thing that was looked at.
    struct Finding: Hashable, Sendable {
        /// What it is, in one word for a program: `libcurl`, `key`, `server`.
        let subject: String
        /// Its state.
        let state: State
        /// What was found, as a sentence.
        let message: String
        /// What to do, as a sentence; `nil` where there is nothing to do.
        let fix: String?
        /// How the command ends because of it.
        let status: ExitStatus

        /// The result of a check.
        enum State: String, Hashable, Sendable {
            case fine
            case warning
            case wrong
            /// It was not looked at.
            case skipped
        }

        static func fine(_ subject: String, _ message: String) -> Finding {
            Finding(
                subject: subject, state: .fine, message: message, fix: nil, status: .success)
        }

        static func warning(_ subject: String, _ message: String, _ fix: String) -> Finding {
            Finding(
                subject: subject, state: .warning, message: message, fix: fix, status: .success)
        }

        static func wrong(
            _ subject: String, _ message: String, _ fix: String? = nil,
            _ status: ExitStatus = .configuration
        ) -> Finding {
            Finding(subject: subject, state: .wrong, message: message, fix: fix, status: status)
        }

        static func skipped(_ subject: String, _ message: String) -> Finding {
            Finding(
                subject: subject, state: .skipped, message: message, fix: nil, status: .success)
        }
    }

    /// Looks at everything.
    init(_ command: DoctorCommand, variables: Variables) async {
        findings.append(.fine("rouse", "Version \(RouseVersion.current)."))
        let settings: AppSettings
        do throws(CommandFailure) {
            settings = try AppSettings(command.options, variables: variables, mustChoose: false)
        } catch {
            findings += LibraryCheck.findings(for: command.options.server.transport ?? .native)
            findings.append(.wrong("configuration", error.message))
            return
        }
        findings += LibraryCheck.findings(for: Self.transportKind(command, settings))
        await checkConfiguration(settings, variables)
        checkCredential(settings, variables)
        await checkServers(command, settings)
        checkReceivers(command, settings, variables)
    }

    /// The exit status: local faults take precedence over faults elsewhere.
    var status: ExitStatus {
        let wrong = findings.map(\.status)
        if wrong.contains(.configuration) { return .configuration }
        return wrong.first { $0 != .success } ?? .success
    }

    // MARK: What is configured

    private mutating func checkConfiguration(
        _ settings: AppSettings, _ variables: Variables
    ) async {
        guard let configuration = settings.configuration else {
            findings.append(.skipped("configuration", "None was named (--config)."))
            return
        }
        let apps = configuration.apps.map { "\($0.bundleID) (\($0.environment))" }
        findings.append(
            .fine(
                "configuration",
                apps.isEmpty ? "Readable." : "Readable; apps: \(apps.joined(separator: ", "))."))
        findings += ListenerCheck.findings(of: configuration)
        findings += WebhookCheck.findings(of: configuration, variables)
        findings += await StoreCheck.findings(of: configuration)
        for app in configuration.apps where app.credential != settings.credential {
            findings += CredentialCheck.findings(
                of: app.credential, for: "\(app.bundleID) (\(app.environment))", variables)
        }
        findings += await Self.appFaults(configuration, variables)
    }

    /// Other faults of the apps that prevent a gateway's start: those not visible in one app's own
    /// file, and those found by performing the steps of a start.
    private static func appFaults(
        _ configuration: ServeConfiguration, _ variables: Variables
    ) async -> [Finding] {
        var faults: [Finding] = []
        do throws(CommandFailure) {
            try ServedApp.refuseTwoFilesForOneKey(configuration.apps)
        } catch {
            faults.append(.wrong("key", error.message))
        }
        for app in configuration.apps {
            do throws(CommandFailure) {
                _ = try ServedApp.transport(app, configuration.transport)
            } catch {
                let fault = Finding.wrong("server", error.message)
                if !faults.contains(fault) { faults.append(fault) }
            }
        }
        // A fault of an app's own file was reported already.
        guard faults.isEmpty, let apps = try? ServedApp.open(configuration, variables) else {
            return faults
        }
        do throws(CommandFailure) {
            await (try ClientGroup(apps)).shutDown()
        } catch {
            faults.append(.wrong("transport", error.message))
        }
        return faults
    }

    private mutating func checkCredential(_ settings: AppSettings, _ variables: Variables) {
        guard let credential = settings.credential else {
            if settings.configuration == nil {
                findings.append(.skipped("key", "None was named (--key, --cert, --p12)."))
            }
            return
        }
        let name = settings.bundleID?.value ?? "any app"
        findings += CredentialCheck.findings(of: credential, for: name, variables)
    }

    // MARK: Servers

    private mutating func checkServers(_ command: DoctorCommand, _ settings: AppSettings) async {
        guard !command.offline else {
            findings.append(.skipped("server", "Not asked (--offline)."))
            return
        }
        do throws(CommandFailure) {
            for transport in try Self.servers(command, settings) {
                findings += await ServerCheck(
                    transport, by: Self.transportKind(command, settings),
                    timeoutSeconds: settings.server.timeoutSeconds
                ).findings()
            }
        } catch {
            let fault = Finding.wrong("server", error.message)
            if !findings.contains(fault) { findings.append(fault) }
        }
    }

    private mutating func checkReceivers(
        _ command: DoctorCommand, _ settings: AppSettings, _ variables: Variables
    ) {
        guard !command.offline, let configuration = settings.configuration else { return }
        findings += WebhookCheck.onlineFindings(of: configuration, variables)
    }

    /// What carries the pushes: what was typed, else what the configuration says, else what `rouse
    /// push` takes.
    static func transportKind(
        _ command: DoctorCommand, _ settings: AppSettings
    ) -> TransportKind {
        command.options.server.transport ?? settings.configuration?.transport.kind
            ?? settings.server.transportKind
    }

    /// The servers to ask: what was typed, else those of the configuration's apps, else Apple's.
    private static func servers(
        _ command: DoctorCommand, _ settings: AppSettings
    ) throws(CommandFailure) -> [TransportConfiguration] {
        if command.options.server.host != nil {
            return [try settings.server.transport(for: settings.environment)]
        }
        if let configuration = settings.configuration, command.options.environment == nil {
            var servers: [TransportConfiguration] = []
            for app in configuration.apps {
                let server = try ServedApp.transport(app, configuration.transport)
                let isKnown = servers.contains {
                    $0.host == server.host && $0.port == server.port
                }
                if !isKnown { servers.append(server) }
            }
            return servers
        }
        let environments = settings.environment.map { [$0] } ?? APNsEnvironment.allCases
        return try environments.map { (environment) throws(CommandFailure) in
            try settings.server.transport(for: environment)
        }
    }

    // MARK: Telling

    /// Writes one line for each finding, and how many are wrong.
    func tell(_ console: Console) {
        for finding in findings {
            let (word, colour): (String, Console.Colour?) =
                switch finding.state {
                case .fine: ("fine", .good)
                case .warning: ("warning", .doubtful)
                case .wrong: ("wrong", .bad)
                case .skipped: ("skipped", nil)
                }
            console.say(word, "\(finding.subject): \(finding.message)", colour)
            if let fix = finding.fix { console.say("", fix) }
        }
        let wrong = findings.count { $0.state == .wrong }
        let warnings = findings.count { $0.state == .warning }
        console.say(
            "Result", "\(wrong) wrong, \(warnings) warning\(warnings == 1 ? "" : "s").",
            wrong == 0 ? .good : .bad)
    }
}

/// `rouse doctor --json`.
///
/// | Key | Value |
/// |---|---|
/// | `healthy` | whether nothing is wrong |
/// | `findings` | each with `subject`, `state` (`fine`, `warning`, `wrong`, `skipped`), |
/// | | `message`, and `fix` where there is something to do |
struct DoctorDocument: Encodable {
    let healthy: Bool
    let findings: [FindingDocument]

    /// One finding.
    struct FindingDocument: Encodable {
        let subject: String
        let state: String
        let message: String
        let fix: String?
    }

    /// Describes an examination.
    init(_ checks: DoctorChecks) {
        healthy = checks.status == .success
        findings = checks.findings.map {
            FindingDocument(
                subject: $0.subject, state: $0.state.rawValue, message: $0.message, fix: $0.fix)
        }
    }
}
