// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `rouse probe`: what kind of device token is this, and does it work?
struct ProbeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "probe",
        abstract: "Test a device token: which environment, does the topic fit, is it dead?",
        discussion: """
            A probe is a real background push with an empty hint, one to production and one to \
            sandbox, or one to the server that the configuration has for the app: the app may be \
            woken by it, and it counts against the device's budget. There is no other way to ask \
            APNs. It never sends a VoIP push.

            With --why it goes on from there: what can keep the app from being woken, on the \
            server, at Apple's, on the phone and in the app, and what to look at for each. The \
            manual's page "Why did my app not wake?" has the sources.

            Ends with 0 when APNs accepts the token for this app, 1 when it does not, 77 when the \
            credential kept APNs from saying, 69 when no server could be reached.

            Example:

              rouse probe --bundle-id com.example.app \\
                --key AuthKey_ABCDE12345.p8 --team-id TEAM123456 $DEVICE_TOKEN
            """)

    @Argument(help: ArgumentHelp("The device token, in hexadecimal.", valueName: "token"))
    var deviceToken: String

    @Flag(help: "Say what can keep the app from being woken all the same.")
    var why = false

    @Flag(help: "Write the result as JSON.")
    var json = false

    @OptionGroup(title: "App")
    var app: AppOptions

    @Flag(help: "Ask this environment only.")
    var environment: EnvironmentFlag?

    @OptionGroup(title: "Credential")
    var credential: CredentialOptions

    @OptionGroup(title: "Server")
    var server: ServerOptions

    @Option(
        help: ArgumentHelp("Ask this server for production.", valueName: "host:port"))
    var productionServer: String?

    @Option(
        help: ArgumentHelp("Ask this server for sandbox.", valueName: "host:port"))
    var sandboxServer: String?

    func validate() throws {
        if server.host != nil, productionServer != nil || sandboxServer != nil {
            throw ValidationError(
                "--host is one server; with --production-server or --sandbox-server leave it out.")
        }
    }

    func run() async throws {
        let variables = Variables.current
        let console = Console(variables)
        let plan = try ProbePlan(self, variables: variables)
        plan.announce(console, asJSON: json)
        let findings = try await plan.run()
        if json {
            try console.write(ProbeDocument(plan, findings, withCauses: why))
        } else {
            ProbeText(console).tell(findings)
            if why { ProbeText(console).tell(findings.causes) }
        }
        let status = findings.verdict.status
        guard status == .success else { throw ExitCode(status.rawValue) }
    }
}
